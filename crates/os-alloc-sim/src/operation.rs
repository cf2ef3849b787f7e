//! What an event asks of the memory.

use crate::allocator::Found;
use crate::frame::Frame;

/// Why memory is copied or zeroed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// The first touch of a page.
    DemandZero,
    /// A write to a page that a fork left shared.
    CopyOnWrite,
    /// A checkpoint of a process.
    Checkpoint,
    /// The clone of a virtual machine.
    Clone,
    /// A write to a page that de-duplication left shared, or the undoing of de-duplication.
    DedupUndo,
    /// The move of a page to another frame.
    Migration,
    /// A frame that nobody uses any more.
    ZeroOnFree,
}

impl Cause {
    /// All, in the order in which reports list them.
    pub const ALL: [Cause; 7] = [
        Cause::DemandZero,
        Cause::CopyOnWrite,
        Cause::Checkpoint,
        Cause::Clone,
        Cause::DedupUndo,
        Cause::Migration,
        Cause::ZeroOnFree,
    ];

    /// The name, as in JSON.
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

/// An operation for the caller to issue. Those of one event, and of events one after the other, must take effect in
/// the order given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryOperation {
    /// Copies consecutive frames.
    Copy {
        /// The first frame read.
        src: Frame,
        /// The first frame written.
        dst: Frame,
        /// How many.
        frames: u32,
        /// Why.
        cause: Cause,
        /// How the destination was found.
        found: Found,
    },
    /// Sets consecutive frames to zero.
    Zero {
        /// The first frame written.
        dst: Frame,
        /// How many.
        frames: u32,
        /// Why.
        cause: Cause,
    },
}
