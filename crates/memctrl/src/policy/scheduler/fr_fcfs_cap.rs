//! FR-FCFS with a cap on row hits.

use super::{Parameter, Priority, RowState, Scheduler};
use crate::access::QueuedAccess;

/// FR-FCFS, except that after `cap` accesses to an open row further hits have no precedence: an
/// older access to another row of the bank is served first.
///
/// Source: Mutlu and Moscibroda, "Stall-Time Fair Memory Access Scheduling", MICRO 2007.
#[derive(Clone, Copy, Debug)]
pub struct FrFcfsCap {
    /// Accesses to an open row, at least 1.
    pub cap: u32,
}

impl FrFcfsCap {
    /// Name in the configuration.
    pub const NAME: &str = "fr-fcfs-cap";
}

impl Scheduler for FrFcfsCap {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn summary(&self) -> String {
        format!("fr-fcfs with a cap of {}", self.cap)
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![Parameter { name: "scheduler_cap", value: self.cap.into(), least: 1, most: 1 << 30 }]
    }

    fn clone_box(&self) -> Box<dyn Scheduler> {
        Box::new(*self)
    }

    fn has_state(&self) -> bool {
        false
    }

    fn priority(&self, access: &QueuedAccess, row: RowState) -> Priority {
        Priority::new(row.is_hit && row.served < self.cap, access.stamp())
    }
}
