//! FR-FCFS with a cap on row hits.

use dram_spec::SourceId;

use super::{Key, RowState, Scheduler, Setting};
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

impl Scheduler for FrFcfsCap {
    fn name(&self) -> &'static str {
        "fr-fcfs-cap"
    }

    fn summary(&self) -> String {
        format!("fr-fcfs with a cap of {}", self.cap)
    }

    fn about(&self) -> &'static str {
        "row hits first up to a cap"
    }

    fn settings(&self) -> &'static [Setting] {
        const ABOUT: &str = "accesses to an open row after which an older access to another row goes first";
        const { &[Setting { is_required: true, ..Setting::count("scheduler_cap", (1, 1 << 30), ABOUT) }] }
    }

    fn values(&self) -> Vec<u64> {
        vec![self.cap.into()]
    }

    fn set_values(&mut self, values: &[u64]) {
        *self = FrFcfsCap { cap: values[0] as u32 };
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
