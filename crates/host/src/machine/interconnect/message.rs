//! Messages between cores and devices.

use super::super::bulk::{Bulk, CopyId};
use super::super::counters::CoherenceCounts;

/// Who sends or receives a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    /// A core.
    Core(usize),
    /// A device.
    Device(usize),
}

impl Agent {
    /// Whether it is a core.
    pub const fn is_core(self) -> bool {
        matches!(self, Agent::Core(_))
    }
}

/// A message.
#[derive(Clone, Copy, Debug)]
pub enum Message {
    /// A device is to copy, for a core.
    Copy {
        /// Number of the copy.
        id: CopyId,
        /// The core.
        core: usize,
        /// The copy.
        bulk: Bulk,
    },
    /// All cores have entered a copy in their pending copy tables.
    Entered(CopyId),
    /// A copy is complete.
    Completed {
        /// Number of the copy.
        id: CopyId,
        /// Its steps of coherence.
        counts: CoherenceCounts,
        /// Bytes that it moved over memory channels: those read, and those written.
        channel_bytes: u64,
    },
    /// A device continues by itself.
    Continue,
}

impl Message {
    /// Addresses that it carries over a bus: those of source and destination, and for an end the
    /// destination.
    pub(super) const fn addresses(&self) -> u64 {
        match self {
            Message::Copy { .. } => 2,
            Message::Entered(_) | Message::Completed { .. } => 1,
            Message::Continue => 0,
        }
    }
}
