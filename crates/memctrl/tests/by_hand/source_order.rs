//! The scheduler of `docs/extending.md`.

use memctrl::policy::scheduler::{Priority, RowState, Scheduler};
use memctrl::{AccessKind, QueuedAccess};

/// Reads of the source with the smallest number first, then row hits, then the oldest. Writes in FR-FCFS order.
#[derive(Clone, Copy, Debug)]
pub struct SourceOrder;

impl Scheduler for SourceOrder {
    fn name(&self) -> &'static str {
        "source-order"
    }

    fn clone_box(&self) -> Box<dyn Scheduler> {
        Box::new(*self)
    }

    fn priority(&self, access: &QueuedAccess, row: RowState) -> Priority {
        let fr_fcfs = Priority::new(row.is_hit, access.stamp());
        match access.kind() {
            AccessKind::Read => fr_fcfs.with_class(access.source().0.min(15) as u8),
            // Two writes of one line must keep their order, even from different sources.
            AccessKind::Write => fr_fcfs,
        }
    }
}
