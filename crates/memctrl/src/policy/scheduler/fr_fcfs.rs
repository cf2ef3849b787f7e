//! First ready, first come, first served.

use dram_spec::SourceId;

use super::{Key, RowState, Scheduler};
use crate::access::QueuedAccess;

/// FR-FCFS: accesses to open rows first, then the oldest.
///
/// Source: Rixner et al., "Memory Access Scheduling", ISCA 2000.
#[derive(Clone, Copy, Debug, Default)]
pub struct FrFcfs;

impl Scheduler for FrFcfs {
    fn name(&self) -> &'static str {
        "fr-fcfs"
    }

    fn about(&self) -> &'static str {
        "row hits first, then the oldest"
    }

    fn has_state(&self) -> bool {
        false
    }

    #[inline]
    fn key(&self, _: &QueuedAccess, row: RowState) -> Key {
        self.best_key(row)
    }

    fn copy_key(&self, _: SourceId) -> Key {
        Key::EQUAL.first_if(false)
    }

    #[inline]
    fn best_key(&self, row: RowState) -> Key {
        Key::EQUAL.first_if(row.is_hit)
    }
}
