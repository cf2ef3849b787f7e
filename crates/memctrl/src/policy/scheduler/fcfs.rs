//! First come, first served.

use dram_spec::SourceId;

use super::{Candidacy, Key, RowState, Scheduler};
use crate::access::QueuedAccess;

/// FCFS: the oldest access of the kind that the write drain serves, and no other before it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fcfs;

impl Scheduler for Fcfs {
    fn name(&self) -> &'static str {
        "fcfs"
    }

    fn about(&self) -> &'static str {
        "the oldest first of reads, or of writes in a write drain"
    }

    fn has_state(&self) -> bool {
        false
    }

    fn key(&self, _: &QueuedAccess, _: RowState) -> Key {
        Key::EQUAL
    }

    fn copy_key(&self, _: SourceId) -> Key {
        Key::EQUAL
    }

    fn candidacy(&self) -> Candidacy {
        Candidacy::First
    }
}
