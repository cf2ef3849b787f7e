//! Records of a trace.

use dram_spec::Cycle;
use dram_spec::address::PhysicalAddress;

/// A record of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// Arrival of the request.
    pub arrival: Arrival,
    /// Request.
    pub event: Event,
}

/// Arrival of a record at the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arrival {
    /// When its predecessor has been taken.
    WhenTaken,
    /// After the CPU has executed this number of instructions since the preceding record. A
    /// preceding copy or fill blocks their execution.
    AfterInstructions(u64),
    /// At this cycle of the memory's command clock.
    AtCycle(Cycle),
    /// At this time since reset, in ps.
    AtPicoseconds(u64),
}

/// Request of a record. An access is to the 64-byte line that contains its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// A read of a line, optionally with the writeback of the line it evicts.
    Read {
        /// Address read.
        address: PhysicalAddress,
        /// Address of the dirty evicted line, if any.
        writeback: Option<PhysicalAddress>,
    },
    /// A write of a line.
    Write {
        /// Address written.
        address: PhysicalAddress,
    },
    /// A copy of memory to memory.
    Copy {
        /// Address of the first byte written.
        dst: PhysicalAddress,
        /// Address of the first byte read.
        src: PhysicalAddress,
        /// Size in bytes, at least 1.
        bytes: u64,
        /// Instructions that a CPU executes for the copy; 0 in a trace without instructions.
        instructions: u64,
    },
    /// A fill of memory with one value.
    Fill {
        /// Address of the first byte.
        dst: PhysicalAddress,
        /// Value of each byte.
        value: u8,
        /// Size in bytes, at least 1.
        bytes: u64,
        /// Instructions that a CPU executes for the fill; 0 in a trace without instructions.
        instructions: u64,
    },
}

/// Reason why a record is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordFault {
    /// The size of a copy or fill is 0.
    #[error("`bytes` is 0")]
    NoBytes,
    /// The range ends beyond 2^64 - 1.
    #[error("{bytes} bytes from {key} {start:x} on run past the last address, ffffffffffffffff", start = start.0)]
    PastTheEnd {
        /// Operand of the copy or fill: `destination` or `source`.
        key: &'static str,
        /// Address of the first byte.
        start: PhysicalAddress,
        /// Size in bytes.
        bytes: u64,
    },
}

impl RecordFault {
    /// Suggested change.
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
    /// Checks sizes and ends of ranges.
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
