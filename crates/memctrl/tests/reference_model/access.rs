//! Accesses: lines of reads or writes.

use dram_core::LineBytes;
use dram_spec::{Location, RequestId, SourceId};

/// Kind of an access; reads and writes have separate queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
}

/// Age of an access or a thread: a cycle, then an order within it (8).
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
    /// Number of its request, in order of acceptance.
    pub request: usize,
    pub id: RequestId,
    pub source: SourceId,
    pub kind: Kind,
    /// First byte of the line.
    pub line: u64,
    pub place: Location,
    /// Stamp; `None` while it waits for a copy (6).
    pub stamp: Option<Stamp>,
    /// Whether an ACT, and a PRE, were issued for the access.
    pub activated: bool,
    pub precharged: bool,
    /// Line that a write stores.
    pub data: Option<LineBytes>,
}

impl Access {
    /// Whether it is queued in its bank.
    pub fn is_queued(&self) -> bool {
        self.stamp.is_some()
    }
}
