//! What an event cannot do.

use crate::kernel::{CheckpointId, ProcessId};

/// Why an event did nothing at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A process that does not live.
    #[error("{process} does not live")]
    NoProcess {
        /// The process.
        process: ProcessId,
    },
    /// A checkpoint that is not kept.
    #[error("{checkpoint} is not kept")]
    NoCheckpoint {
        /// The checkpoint.
        checkpoint: CheckpointId,
    },
    /// A page that is not mapped.
    #[error("page {page:#x} of {process} is not mapped")]
    NotMapped {
        /// The process.
        process: ProcessId,
        /// The page.
        page: u64,
    },
    /// A page that is mapped, but was never touched, and so has no frame.
    #[error("page {page:#x} of {process} has no frame yet")]
    NotPresent {
        /// The process.
        process: ProcessId,
        /// The page.
        page: u64,
    },
    /// A page whose frame others use too, and which therefore cannot be moved.
    #[error("page {page:#x} of {process} is shared")]
    Shared {
        /// The process.
        process: ProcessId,
        /// The page.
        page: u64,
    },
    /// Not enough free frames.
    #[error("{needed} frames are needed, but {free} are free")]
    OutOfMemory {
        /// Frames needed.
        needed: u64,
        /// Frames free.
        free: u64,
    },
}
