//! Records of a trace.

use std::num::NonZeroU32;

use dram_spec::address::{Location, PhysicalAddress};
use dram_spec::{BankId, Cycle, Cycles, Topology};

use crate::LineError;
use crate::recording::FaultKind;

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
    /// At this cycle of the trace's clock.
    AtCycle(Cycle),
    /// This number of cycles of the trace's clock after the arrival of the preceding record.
    AfterCycles(Cycles),
    /// At this time since reset, in ps.
    AtPicoseconds(u64),
}

/// Request of a record, or an event of the operating system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// A read, optionally with the writeback of the line it evicts.
    Read {
        /// Address read.
        address: PhysicalAddress,
        /// Size in bytes; `None`: the 64-byte line that contains the address.
        bytes: Option<NonZeroU32>,
        /// Address of the dirty evicted line, if any.
        writeback: Option<PhysicalAddress>,
    },
    /// A write.
    Write {
        /// Address written.
        address: PhysicalAddress,
        /// Size in bytes; `None`: the 64-byte line that contains the address.
        bytes: Option<NonZeroU32>,
    },
    /// A read or write of the line at DRAM coordinates. They bypass the address map.
    Located {
        /// Read or write.
        access: AccessKind,
        /// Coordinates, which may lie outside the geometry of the simulated system.
        location: Location,
        /// Bank group in which the bank of `location` is counted; `None`: it is counted in its rank.
        group: Option<u8>,
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
        instructions: u32,
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
        instructions: u32,
    },
    /// An event of the operating system.
    Os(OsEvent),
}

/// Kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// A read.
    Read,
    /// A write.
    Write,
}

impl AccessKind {
    /// The value for a read or that for a write.
    pub(super) fn either<T>(self, read: T, write: T) -> T {
        match self {
            AccessKind::Read => read,
            AccessKind::Write => write,
        }
    }
}

/// Coordinates with the bank counted in its rank; `None` if `group` is given, and the memory lacks the group or the
/// group lacks the bank.
pub fn in_rank(location: Location, group: Option<u8>, topology: Topology) -> Option<Location> {
    let Some(group) = group else { return Some(location) };
    let (groups, per_group) = (topology.groups_per_rank(), topology.banks_per_group);
    let BankId { rank, bank } = location.bank;
    let exists = groups > 1 && group < groups && bank < per_group;
    exists.then(|| Location { bank: BankId { rank, bank: group * per_group + bank }, ..location })
}

/// Event of the operating system, which a simulated kernel turns into requests. Processes are named
/// by the recorded pid; threads belong to their process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OsEvent {
    /// A page fault.
    Fault {
        /// Process.
        pid: u32,
        /// Virtual address of the access.
        address: PhysicalAddress,
        /// Cause.
        kind: FaultKind,
    },
    /// A process was duplicated, with its address space.
    Fork {
        /// Process that called fork.
        parent: u32,
        /// New process.
        child: u32,
    },
    /// A process replaced its address space with that of another program.
    Exec {
        /// Process.
        pid: u32,
    },
    /// A process ended.
    Exit {
        /// Process.
        pid: u32,
    },
}

impl Arrival {
    /// Its kind, for messages.
    pub(super) const fn what(self) -> &'static str {
        match self {
            Arrival::WhenTaken => "a record without an arrival",
            Arrival::AfterInstructions(_) => "an arrival by instructions",
            Arrival::AtCycle(_) => "an arrival at a cycle",
            Arrival::AfterCycles(_) => "an arrival relative to the record before",
            Arrival::AtPicoseconds(_) => "an arrival at a time",
        }
    }

    /// Its number; 0 if it has none.
    pub(super) const fn number(self) -> u64 {
        match self {
            Arrival::WhenTaken => 0,
            Arrival::AfterInstructions(number) | Arrival::AtPicoseconds(number) => number,
            Arrival::AtCycle(cycle) => cycle.0,
            Arrival::AfterCycles(cycles) => cycles.0,
        }
    }
}

impl Event {
    /// An access to the line that contains an address.
    pub const fn of_line(access: AccessKind, address: PhysicalAddress) -> Event {
        Event::of_bytes(access, address, None)
    }

    /// An access of a size.
    pub const fn of_bytes(access: AccessKind, address: PhysicalAddress, bytes: Option<NonZeroU32>) -> Event {
        match access {
            AccessKind::Read => Event::Read { address, bytes, writeback: None },
            AccessKind::Write => Event::Write { address, bytes },
        }
    }

    /// The access to a line, for formats that express nothing else.
    ///
    /// # Errors
    /// The kind of the event, for messages.
    pub(super) const fn as_line(&self) -> Result<(AccessKind, PhysicalAddress), &'static str> {
        match self.as_bytes() {
            Ok((access, address, None)) => Ok((access, address)),
            Ok(_) => Err(self.what()),
            Err(what) => Err(what),
        }
    }

    /// The access of a size, for formats that express nothing else.
    ///
    /// # Errors
    /// The kind of the event, for messages.
    pub const fn as_bytes(&self) -> Result<(AccessKind, PhysicalAddress, Option<NonZeroU32>), &'static str> {
        match *self {
            Event::Read { address, bytes, writeback: None } => Ok((AccessKind::Read, address, bytes)),
            Event::Write { address, bytes } => Ok((AccessKind::Write, address, bytes)),
            _ => Err(self.what()),
        }
    }

    /// Its kind, for messages.
    pub(super) const fn what(&self) -> &'static str {
        match self {
            Event::Read { bytes: Some(_), .. } | Event::Write { bytes: Some(_), .. } => "an access with a size",
            Event::Read { writeback: Some(_), .. } => "a read with its writeback",
            Event::Read { .. } => "a read",
            Event::Write { .. } => "a write",
            Event::Located { .. } => "an access by DRAM coordinates",
            Event::Copy { .. } => "a copy",
            Event::Fill { .. } => "a fill",
            Event::Os(_) => "an event of the operating system",
        }
    }
}

impl Record {
    /// The write of the bytes that this record reads, without instructions in between; `None` if it
    /// is not a read.
    #[cold]
    pub(super) const fn written_back(&self) -> Option<Record> {
        match self.event {
            Event::Read { address, bytes, .. } => {
                Some(Record { arrival: Arrival::AfterInstructions(0), event: Event::Write { address, bytes } })
            }
            _ => None,
        }
    }

    /// Checks sizes and ends of ranges.
    ///
    /// # Errors
    /// If a size is 0, or a range ends beyond 2^64 - 1.
    #[inline]
    pub fn check(&self) -> Result<(), LineError> {
        match self.event {
            Event::Read { bytes: None, .. }
            | Event::Write { bytes: None, .. }
            | Event::Located { .. }
            | Event::Os(_) => Ok(()),
            Event::Read { address, bytes: Some(bytes), .. } | Event::Write { address, bytes: Some(bytes) } => {
                check_range("address", address, bytes.get().into())
            }
            Event::Copy { dst, src, bytes, .. } => {
                check_range("destination", dst, bytes)?;
                check_range("source", src, bytes)
            }
            Event::Fill { dst, bytes, .. } => check_range("destination", dst, bytes),
        }
    }
}

#[inline]
fn check_range(key: &'static str, start: PhysicalAddress, bytes: u64) -> Result<(), LineError> {
    let last = bytes.checked_sub(1).ok_or_else(no_bytes)?;
    start.0.checked_add(last).map(|_| ()).ok_or_else(|| past_the_end(key, start, bytes))
}

/// The error for a size of 0.
#[cold]
pub(super) fn no_bytes() -> LineError {
    LineError::new("`bytes` is 0", "give at least 1, or leave the record out")
}

#[cold]
fn past_the_end(key: &'static str, start: PhysicalAddress, bytes: u64) -> LineError {
    let left = (u64::MAX - start.0).saturating_add(1);
    let what = format!("{bytes} bytes from {key} {:x} on run past the last address, ffffffffffffffff", start.0);
    LineError::new(what, format!("give at most the {left} bytes that are left there"))
}

#[cfg(test)]
mod tests {
    use super::Record;

    /// A record passes through several moves per read.
    #[test]
    fn a_record_is_small() {
        assert_eq!(size_of::<Record>(), 48);
    }
}
