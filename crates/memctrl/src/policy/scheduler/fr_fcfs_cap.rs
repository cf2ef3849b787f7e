//! FR-FCFS with a cap on row hits.

use dram_spec::SourceId;

use super::{Key, RowState, Scheduler, Setting, Unit};
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

    fn about(&self) -> &'static str {
        "row hits first up to a cap"
    }

    fn settings(&self) -> &'static [Setting] {
        const CAP: Setting = Setting {
            name: "scheduler_cap",
            unit: Unit::Count,
            least: 1,
            most: 1 << 30,
            default: 4,
            is_required: true,
            about: "accesses to an open row after which an older access to another row goes first",
        };
        &[CAP]
    }

    fn values(&self) -> Vec<u64> {
        vec![self.cap.into()]
    }

    fn with_values(&self, values: &[u64]) -> Box<dyn Scheduler> {
        Box::new(FrFcfsCap { cap: values[0] as u32 })
    }

    fn clone_box(&self) -> Box<dyn Scheduler> {
        Box::new(*self)
    }

    fn has_state(&self) -> bool {
        false
    }

    fn key(&self, _: &QueuedAccess, row: RowState) -> Key {
        self.best_key(row)
    }

    fn copy_key(&self, _: SourceId) -> Key {
        Key::EQUAL.first_if(false)
    }

    fn best_key(&self, row: RowState) -> Key {
        Key::EQUAL.first_if(row.is_hit && row.served < self.cap)
    }
}
