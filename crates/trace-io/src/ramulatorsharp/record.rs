//! What a line of a trace says.

use dram_spec::address::PhysicalAddress;

/// One record of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Record {
    /// A miss of the recorded cache: a line read, and perhaps its victim written back.
    Access {
        /// The address read.
        read: PhysicalAddress,
        /// The address of the dirty victim, where there was one.
        writeback: Option<PhysicalAddress>,
        /// Instructions since the record before.
        instructions: u64,
    },
    /// A copy of memory to memory.
    Copy {
        /// Where the first byte goes.
        dst: PhysicalAddress,
        /// Where the first byte comes from.
        src: PhysicalAddress,
        /// Bytes, at least 1.
        bytes: u64,
        /// Instructions that the copy takes on a CPU.
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
        /// Instructions that the fill takes on a CPU.
        instructions: u64,
    },
}

/// How the records are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Three kinds of line, addresses in hex, all other numbers decimal:
    /// `R <read> <writeback, 0 = none> <instructions>`, `C <destination> <source> <bytes> <instructions>`,
    /// `S <destination> <value> <bytes> <instructions>`.
    Rc,
    /// One kind of line, all decimal: `<instructions> <read> [<writeback>]`.
    Cpu,
}

impl Format {
    /// The format that a line beginning with this field is of.
    pub(super) fn of_first_field(field: &[u8]) -> Option<Format> {
        match field {
            b"R" | b"C" | b"S" => Some(Format::Rc),
            [_, ..] if field.iter().all(u8::is_ascii_digit) => Some(Format::Cpu),
            _ => None,
        }
    }
}

/// Why a record makes no sense, or has no line in a format.
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
    /// A writeback of address 0 in [`Format::Rc`], where 0 means none.
    #[error("a writeback of address 0 cannot be written, for there 0 means none")]
    WritebackOfZero,
    /// A copy or fill in [`Format::Cpu`], which has none.
    #[error("a copy or a fill cannot be written, for this format has accesses alone")]
    AccessesAlone,
}

impl RecordFault {
    /// What to do next.
    pub fn help(&self) -> String {
        match self {
            Self::NoBytes => "give at least 1, or leave the record out".into(),
            Self::PastTheEnd { start, .. } => {
                format!("give at most the {} bytes that are left there", (u64::MAX - start.0).saturating_add(1))
            }
            Self::WritebackOfZero => {
                "place the data elsewhere than at address 0, or write the all-decimal format".into()
            }
            Self::AccessesAlone => "write the R/C/S format".into(),
        }
    }
}

impl Record {
    /// Checks what the types leave open: lengths and ends of ranges.
    ///
    /// # Errors
    /// [`RecordFault::NoBytes`] or [`RecordFault::PastTheEnd`].
    pub fn check(&self) -> Result<(), RecordFault> {
        match *self {
            Record::Access { .. } => Ok(()),
            Record::Copy { dst, src, bytes, .. } => {
                check_range("destination", dst, bytes)?;
                check_range("source", src, bytes)
            }
            Record::Fill { dst, bytes, .. } => check_range("destination", dst, bytes),
        }
    }
}

fn check_range(key: &'static str, start: PhysicalAddress, bytes: u64) -> Result<(), RecordFault> {
    let last = bytes.checked_sub(1).ok_or(RecordFault::NoBytes)?;
    start.0.checked_add(last).map(|_| ()).ok_or(RecordFault::PastTheEnd { key, start, bytes })
}
