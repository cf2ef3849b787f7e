//! One queue of reads and writes in the order of acceptance.

use dram_spec::SourceId;

use super::{Candidacy, Key, RowState, Scheduler};
use crate::access::QueuedAccess;

/// FIFO: the oldest access of the channel, read or write, and no other before it.
///
/// The write drain of the other schedulers would let reads pass older writes, and writes pass older
/// reads; [`super::Fcfs`] is strict within the kind that the drain serves. FIFO has no write drain:
/// the channel serves the kind of its oldest access.
///
/// An access in a bank that a copy holds waits for the bank, and younger ones go on: copies keep the
/// place that they have under every scheduler. An access to a rank that refreshes or is in a
/// low-power state delays all younger ones.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fifo;

impl Scheduler for Fifo {
    fn name(&self) -> &'static str {
        "fifo"
    }

    fn about(&self) -> &'static str {
        "the oldest first, reads and writes in one queue"
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
        Candidacy::Oldest
    }
}
