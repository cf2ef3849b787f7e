//! Memory operations that events cause.

use crate::allocator::Found;
use crate::frame::Frame;

dram_spec::named! {
    /// Reason why memory is copied or zeroed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Cause {
        /// The first touch of a page.
        DemandZero = "demand-zero",
        /// A write to a page shared by a fork.
        CopyOnWrite = "copy-on-write",
        /// A checkpoint of a process.
        Checkpoint = "checkpoint",
        /// The clone of a virtual machine.
        Clone = "clone",
        /// A write to a page shared by de-duplication.
        DedupUndo = "dedup-undo",
        /// The migration of a page to another frame.
        Migration = "migration",
        /// A frame without users.
        ZeroOnFree = "zero-on-free",
    }
}

/// A memory operation for the caller to issue. The operations of one event, and of successive
/// events, must take effect in the order returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryOperation {
    /// Copies consecutive frames.
    Copy {
        /// First frame read.
        src: Frame,
        /// First frame written.
        dst: Frame,
        /// Number of frames.
        frames: u32,
        /// Cause of the copy.
        cause: Cause,
        /// Place of the destination relative to the source.
        found: Found,
    },
    /// Sets consecutive frames to zero.
    Zero {
        /// First frame written.
        dst: Frame,
        /// Number of frames.
        frames: u32,
        /// Cause of the zeroing.
        cause: Cause,
    },
}
