//! Operations on memory.

use crate::address::PhysicalAddress;

/// An operation on a range of physical addresses of any alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, derive_more::Display)]
pub enum Operation {
    /// `memmove`: the ranges may overlap.
    #[display("copy {bytes} bytes {src} -> {dst}")]
    Copy {
        /// First byte read.
        src: PhysicalAddress,
        /// First byte written.
        dst: PhysicalAddress,
        /// Size in bytes.
        bytes: u64,
    },
    /// `memset`.
    #[display("init {bytes} bytes {dst} with {value:#04x}")]
    Init {
        /// First byte written.
        dst: PhysicalAddress,
        /// Size in bytes.
        bytes: u64,
        /// Value of each byte.
        value: u8,
    },
    /// Reads a range over the channel.
    #[display("read {bytes} bytes {address}")]
    Read {
        /// First byte.
        address: PhysicalAddress,
        /// Size in bytes.
        bytes: u64,
    },
    /// Writes a range over the channel.
    #[display("write {bytes} bytes {address}")]
    Write {
        /// First byte.
        address: PhysicalAddress,
        /// Size in bytes.
        bytes: u64,
    },
}

impl Operation {
    /// Size in bytes.
    #[inline]
    pub const fn bytes(&self) -> u64 {
        match self {
            Operation::Copy { bytes, .. }
            | Operation::Init { bytes, .. }
            | Operation::Read { bytes, .. }
            | Operation::Write { bytes, .. } => *bytes,
        }
    }

    /// First byte written or, for a read, read. Blocks are divided by this range.
    #[inline]
    pub const fn target(&self) -> PhysicalAddress {
        match self {
            Operation::Copy { dst, .. } | Operation::Init { dst, .. } => *dst,
            Operation::Read { address, .. } | Operation::Write { address, .. } => *address,
        }
    }

    /// Whether it is a copy or an initialization, which DRAM may execute.
    pub const fn is_copy(&self) -> bool {
        matches!(self, Operation::Copy { .. } | Operation::Init { .. })
    }

    /// First byte read by a copy.
    #[inline]
    pub const fn src(&self) -> Option<PhysicalAddress> {
        match self {
            Operation::Copy { src, .. } => Some(*src),
            Operation::Init { .. } | Operation::Read { .. } | Operation::Write { .. } => None,
        }
    }
}
