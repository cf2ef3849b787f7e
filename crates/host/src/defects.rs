//! Defects that tests plant, and that a check must find.

use os_alloc_sim::{Frame, MemoryOperation};

/// A defect of system software or of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Planted {
    /// A store goes to the next frame.
    WrongFrame,
    /// The copies of a copy-on-write are not made.
    LostCopyOnWrite,
    /// A destination that an operation covers in part gets other frames.
    RenewedInPart,
    /// Dirty source lines keep their data in the cache only.
    NoSourceWriteBack,
    /// Destination lines stay in the cache.
    NoInvalidation,
    /// Stores to a line stay in the write buffers while memory is read.
    NoFlush,
    /// Prefetched lines enter the cache although memory has changed.
    StalePrefetch,
    /// An injected line is clean, although memory lacks its data.
    CleanInjection,
    /// The core does not wait for the copy, whose request leaves after those of the next cycles.
    NoWait,
    /// Clean zero lines are inserted without zeroing the memory.
    NoZeroing,
    /// A copy is reported complete when its command arrives.
    EarlyCompletion,
    /// Loads and stores ignore the pending copy table.
    IgnoredPendingCopies,
    /// The end of a copy is not reported.
    LostCompletion,
}

/// Whether a test has planted the defect.
#[cfg(not(test))]
pub(crate) const fn is_planted(_: Planted) -> bool {
    false
}

/// The frame to which a store goes, from that of its page.
pub(crate) fn stored_to(frame: Frame) -> Frame {
    if is_planted(Planted::WrongFrame) { Frame(frame.0 ^ 1) } else { frame }
}

/// Whether an operation of a page fault is executed.
pub(crate) fn is_executed(operation: &MemoryOperation) -> bool {
    !(is_planted(Planted::LostCopyOnWrite) && matches!(operation, MemoryOperation::Copy { .. }))
}

#[cfg(test)]
pub(crate) use planted::{PLANTED, is_planted};

#[cfg(test)]
mod planted {
    use std::cell::Cell;

    use super::Planted;

    thread_local! {
        /// The defect of the tests of a thread.
        pub(crate) static PLANTED: Cell<Option<Planted>> = const { Cell::new(None) };
    }

    pub(crate) fn is_planted(defect: Planted) -> bool {
        PLANTED.get() == Some(defect)
    }
}
