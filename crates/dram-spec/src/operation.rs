//! What may be asked of the memory.

use std::fmt;

use crate::address::PhysicalAddress;

/// One operation on a range of physical addresses, which need not be aligned to anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// `memmove`: the ranges may overlap.
    Copy {
        /// The first byte read.
        src: PhysicalAddress,
        /// The first byte written.
        dst: PhysicalAddress,
        /// How many bytes.
        bytes: u64,
    },
    /// `memset`.
    Init {
        /// The first byte written.
        dst: PhysicalAddress,
        /// How many bytes.
        bytes: u64,
        /// The value of each of them.
        value: u8,
    },
    /// Reads a range to the other side of the channel.
    Read {
        /// The first byte.
        address: PhysicalAddress,
        /// How many bytes.
        bytes: u64,
    },
    /// Writes a range from the other side of the channel.
    Write {
        /// The first byte.
        address: PhysicalAddress,
        /// How many bytes.
        bytes: u64,
    },
}

impl Operation {
    /// How many bytes it is about.
    pub const fn bytes(&self) -> u64 {
        match self {
            Operation::Copy { bytes, .. }
            | Operation::Init { bytes, .. }
            | Operation::Read { bytes, .. }
            | Operation::Write { bytes, .. } => *bytes,
        }
    }

    /// The first byte written or, where it writes none, read: the range that blocks are cut from.
    pub const fn target(&self) -> PhysicalAddress {
        match self {
            Operation::Copy { dst, .. } | Operation::Init { dst, .. } => *dst,
            Operation::Read { address, .. } | Operation::Write { address, .. } => *address,
        }
    }

    /// The first byte that a copy reads.
    pub const fn src(&self) -> Option<PhysicalAddress> {
        match self {
            Operation::Copy { src, .. } => Some(*src),
            Operation::Init { .. } | Operation::Read { .. } | Operation::Write { .. } => None,
        }
    }
}

/// As a listing prints it: `copy 4096 bytes 0x1000 -> 0x9000`.
impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operation::Copy { src, dst, bytes } => write!(f, "copy {bytes} bytes {src} -> {dst}"),
            Operation::Init { dst, bytes, value } => write!(f, "init {bytes} bytes {dst} with {value:#04x}"),
            Operation::Read { address, bytes } => write!(f, "read {bytes} bytes {address}"),
            Operation::Write { address, bytes } => write!(f, "write {bytes} bytes {address}"),
        }
    }
}
