//! First ready, first come, first served.

use super::{Priority, RowState, Scheduler};
use crate::access::QueuedAccess;

/// FR-FCFS: accesses to open rows first, then the oldest.
///
/// Source: Rixner et al., "Memory Access Scheduling", ISCA 2000.
#[derive(Clone, Copy, Debug, Default)]
pub struct FrFcfs;

impl FrFcfs {
    /// Name in the configuration.
    pub const NAME: &str = "fr-fcfs";
}

impl Scheduler for FrFcfs {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn clone_box(&self) -> Box<dyn Scheduler> {
        Box::new(*self)
    }

    fn has_state(&self) -> bool {
        false
    }

    #[inline]
    fn priority(&self, access: &QueuedAccess, row: RowState) -> Priority {
        Priority::new(row.is_hit, access.stamp())
    }
}
