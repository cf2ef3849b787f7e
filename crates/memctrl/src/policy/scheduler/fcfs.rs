//! First come, first served.

use super::{Priority, RowState, Scheduler};
use crate::access::QueuedAccess;

/// FCFS: the oldest access of the channel, and no other before it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fcfs;

impl Fcfs {
    /// Name in the configuration.
    pub const NAME: &str = "fcfs";
}

impl Scheduler for Fcfs {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn clone_box(&self) -> Box<dyn Scheduler> {
        Box::new(*self)
    }

    fn has_state(&self) -> bool {
        false
    }

    fn priority(&self, access: &QueuedAccess, _: RowState) -> Priority {
        Priority::new(false, access.stamp())
    }

    fn is_strict(&self) -> bool {
        true
    }
}
