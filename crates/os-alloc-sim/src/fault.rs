//! Errors of kernel events.

use crate::kernel::{CheckpointId, ProcessId};

/// Reason why an event failed. A failed event changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The process does not exist.
    #[error("{process} does not exist")]
    NoProcess {
        /// The process.
        process: ProcessId,
    },
    /// The checkpoint does not exist.
    #[error("{checkpoint} does not exist")]
    NoCheckpoint {
        /// The checkpoint.
        checkpoint: CheckpointId,
    },
    /// The page is not mapped.
    #[error("page {page:#x} of {process} is not mapped")]
    NotMapped {
        /// The process.
        process: ProcessId,
        /// The page.
        page: u64,
    },
    /// The page is mapped, but was never touched, and so has no frame.
    #[error("page {page:#x} of {process} has no frame yet")]
    NotPresent {
        /// The process.
        process: ProcessId,
        /// The page.
        page: u64,
    },
    /// The page has a frame.
    #[error("page {page:#x} of {process} has a frame")]
    Present {
        /// The process.
        process: ProcessId,
        /// The page.
        page: u64,
    },
    /// The page shares its frame, and therefore cannot be moved.
    #[error("page {page:#x} of {process} is shared")]
    Shared {
        /// The process.
        process: ProcessId,
        /// The page.
        page: u64,
    },
    /// Too few frames are free.
    #[error("{needed} frames are needed, but {free} are free")]
    OutOfMemory {
        /// Frames required.
        needed: u64,
        /// Frames free.
        free: u64,
    },
}
