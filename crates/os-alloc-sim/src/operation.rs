//! Memory operations that events cause.

use crate::allocator::Found;
use crate::frame::Frame;

/// Reason why memory is copied or zeroed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// The first touch of a page.
    DemandZero,
    /// A write to a page shared by a fork.
    CopyOnWrite,
    /// A checkpoint of a process.
    Checkpoint,
    /// The clone of a virtual machine.
    Clone,
    /// A write to a page shared by de-duplication, or the reversal of de-duplication.
    DedupUndo,
    /// The migration of a page to another frame.
    Migration,
    /// A frame without users.
    ZeroOnFree,
}

impl Cause {
    /// All causes, in the order of reports.
    pub const ALL: [Cause; 7] = [
        Cause::DemandZero,
        Cause::CopyOnWrite,
        Cause::Checkpoint,
        Cause::Clone,
        Cause::DedupUndo,
        Cause::Migration,
        Cause::ZeroOnFree,
    ];

    /// Name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::DemandZero => "demand-zero",
            Cause::CopyOnWrite => "copy-on-write",
            Cause::Checkpoint => "checkpoint",
            Cause::Clone => "clone",
            Cause::DedupUndo => "dedup-undo",
            Cause::Migration => "migration",
            Cause::ZeroOnFree => "zero-on-free",
        }
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
