//! A line of a read or write.

use dram_core::Line;
use dram_spec::{Location, RequestId, SourceId};

/// Reads and writes wait in different queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
}

/// The age of an access or a thread: a cycle, then an order within it (8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    pub cycle: u64,
    pub order: u64,
}

impl Stamp {
    /// After all accesses of a cycle (20).
    pub fn after_accesses(cycle: u64) -> Stamp {
        Stamp { cycle, order: u64::MAX }
    }
}

/// An access that has an entry of a queue.
#[derive(Clone, Debug)]
pub struct Access {
    /// The number of its request, in order of acceptance.
    pub request: usize,
    pub id: RequestId,
    pub source: SourceId,
    pub kind: Kind,
    /// The first byte of the line.
    pub line: u64,
    pub place: Location,
    /// None while it waits for a copy (6).
    pub stamp: Option<Stamp>,
    /// Whether an ACT, and a PRE, were issued for it.
    pub activated: bool,
    pub precharged: bool,
    /// The line that a write writes.
    pub data: Option<Line>,
}

impl Access {
    /// Whether it is queued in its bank.
    pub fn is_queued(&self) -> bool {
        self.stamp.is_some()
    }
}
