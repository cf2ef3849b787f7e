//! The scheduler of `docs/extending.md`.

use dram_spec::SourceId;
use memctrl::policy::scheduler::{Key, RowState, Scheduler};
use memctrl::{AccessKind, QueuedAccess};

/// Reads of the source with the smallest number first, then row hits, then the oldest. Writes in FR-FCFS order.
#[derive(Clone, Copy, Debug)]
pub struct SourceOrder;

impl Scheduler for SourceOrder {
    fn name(&self) -> &'static str {
        "source-order"
    }

    fn key(&self, access: &QueuedAccess, row: RowState) -> Key {
        let rank = match access.kind() {
            AccessKind::Read => access.source().0.into(),
            // Two writes of one line must keep their order, even from different sources.
            AccessKind::Write => 0,
        };
        Key::EQUAL.rank(rank, 16).first_if(row.is_hit)
    }

    fn copy_key(&self, source: SourceId) -> Key {
        Key::EQUAL.rank(source.0.into(), 16).first_if(false)
    }
}
