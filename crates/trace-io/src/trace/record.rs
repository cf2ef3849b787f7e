//! What a line of a trace says.

use dram_spec::Cycle;
use dram_spec::address::PhysicalAddress;

/// One record of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// When the memory is asked.
    pub arrival: Arrival,
    /// What it is asked for.
    pub event: Event,
}

/// When a record arrives at the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arrival {
    /// As soon as the record before it has been taken.
    WhenTaken,
    /// When the CPU has executed this number of instructions since the record before. A copy or fill before them blocks them.
    AfterInstructions(u64),
    /// At this cycle of the memory's command clock.
    AtCycle(Cycle),
    /// At this time since reset, ps.
    AtPicoseconds(u64),
}

/// What the memory is asked for. An access is to the line of 64 bytes that holds its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// A line read, and perhaps the victim that a cache wrote back for it.
    Read {
        /// The address read.
        address: PhysicalAddress,
        /// The address of the dirty victim, where there was one.
        writeback: Option<PhysicalAddress>,
    },
    /// A line written.
    Write {
        /// The address written.
        address: PhysicalAddress,
    },
    /// A copy of memory to memory.
    Copy {
        /// Where the first byte goes.
        dst: PhysicalAddress,
        /// Where the first byte comes from.
        src: PhysicalAddress,
        /// Bytes, at least 1.
        bytes: u64,
        /// Instructions that the copy takes on a CPU; 0 where the trace has no instructions.
        instructions: u64,
    },
    /// A fill of memory with one value.
    Fill {
        /// The first byte.
        dst: PhysicalAddress,
        /// What each byte becomes.
        value: u8,
        /// Bytes, at least 1.
        bytes: u64,
        /// Instructions that the fill takes on a CPU; 0 where the trace has no instructions.
        instructions: u64,
    },
}

/// Why a record makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordFault {
    /// A copy or fill of no bytes.
    #[error("`bytes` is 0")]
    NoBytes,
    /// A range that ends beyond 2^64 - 1.
    #[error("{bytes} bytes from {key} {start:x} on run past the last address, ffffffffffffffff", start = start.0)]
    PastTheEnd {
        /// Which end of the copy or fill: `destination` or `source`.
        key: &'static str,
        /// Its first byte.
        start: PhysicalAddress,
        /// Its length.
        bytes: u64,
    },
}

impl RecordFault {
    /// What to do next.
    pub fn help(&self) -> String {
        match self {
            Self::NoBytes => "give at least 1, or leave the record out".into(),
            Self::PastTheEnd { start, .. } => {
                format!("give at most the {} bytes that are left there", (u64::MAX - start.0).saturating_add(1))
            }
        }
    }
}

impl Record {
    /// Checks what the types leave open: lengths and ends of ranges.
    ///
    /// # Errors
    /// [`RecordFault::NoBytes`] or [`RecordFault::PastTheEnd`].
    #[inline]
    pub fn check(&self) -> Result<(), RecordFault> {
        match self.event {
            Event::Read { .. } | Event::Write { .. } => Ok(()),
            Event::Copy { dst, src, bytes, .. } => {
                check_range("destination", dst, bytes)?;
                check_range("source", src, bytes)
            }
            Event::Fill { dst, bytes, .. } => check_range("destination", dst, bytes),
        }
    }
}

fn check_range(key: &'static str, start: PhysicalAddress, bytes: u64) -> Result<(), RecordFault> {
    let last = bytes.checked_sub(1).ok_or(RecordFault::NoBytes)?;
    start.0.checked_add(last).map(|_| ()).ok_or(RecordFault::PastTheEnd { key, start, bytes })
}
