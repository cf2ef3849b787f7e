//! Decisions that tests replace by wrong ones.

use os_alloc_sim::{Frame, MemoryOperation};

/// Decisions of system software and of the machine. Tests replace one by a wrong one, which a check
/// must find.
pub(crate) trait Decisions {
    /// The frame to which a store goes, from that of its page.
    fn stored_to(frame: Frame) -> Frame {
        frame
    }

    /// Whether an operation of a page fault is executed.
    fn is_executed(_operation: &MemoryOperation) -> bool {
        true
    }

    /// Whether a copy unit of a destination gets other frames, by whether the operation covers it.
    fn is_renewed(is_whole: bool) -> bool {
        is_whole
    }

    /// Whether dirty lines of the source leave the caches before a copy by the controller.
    fn writes_source_back() -> bool {
        true
    }

    /// Whether the lines of a destination leave the caches.
    fn invalidates_destination() -> bool {
        true
    }

    /// Whether a core waits for its copy by the controller.
    fn waits_for_copy() -> bool {
        true
    }

    /// Whether stores to a line leave the write buffers before the line is read or changed.
    fn flushes_stores() -> bool {
        true
    }

    /// Whether prefetches of lines that change in memory are dropped.
    fn drops_prefetches() -> bool {
        true
    }

    /// Whether an injected line, whose data memory lacks, is dirty.
    fn injects_dirty() -> bool {
        true
    }

    /// Whether memory is zeroed whose zero lines are inserted into a cache.
    fn zeroes_memory() -> bool {
        true
    }

    /// Whether a device completes a copy after its writes.
    fn completes_after_writes() -> bool {
        true
    }

    /// Whether loads and stores wait for pending copies that they touch.
    fn defers_accesses() -> bool {
        true
    }

    /// Whether a device reports the end of a copy.
    fn reports_completion() -> bool {
        true
    }
}

/// Sound decisions.
#[cfg(not(test))]
pub(crate) struct Decided;

#[cfg(not(test))]
impl Decisions for Decided {}

#[cfg(test)]
pub(crate) use planted::{Decided, PLANTED, Planted};

#[cfg(test)]
mod planted {
    use std::cell::Cell;

    use os_alloc_sim::{Frame, MemoryOperation};

    use super::Decisions;

    /// A defect.
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

    thread_local! {
        /// The defect of the tests of a thread.
        pub(crate) static PLANTED: Cell<Option<Planted>> = const { Cell::new(None) };
    }

    /// Decisions with the defect of the thread.
    pub(crate) struct Decided;

    impl Decisions for Decided {
        fn stored_to(frame: Frame) -> Frame {
            Frame(frame.0 ^ u32::from(PLANTED.get() == Some(Planted::WrongFrame)))
        }

        fn is_executed(operation: &MemoryOperation) -> bool {
            PLANTED.get() != Some(Planted::LostCopyOnWrite) || !matches!(operation, MemoryOperation::Copy { .. })
        }

        fn is_renewed(is_whole: bool) -> bool {
            is_whole || PLANTED.get() == Some(Planted::RenewedInPart)
        }

        fn writes_source_back() -> bool {
            PLANTED.get() != Some(Planted::NoSourceWriteBack)
        }

        fn invalidates_destination() -> bool {
            PLANTED.get() != Some(Planted::NoInvalidation)
        }

        fn waits_for_copy() -> bool {
            PLANTED.get() != Some(Planted::NoWait)
        }

        fn flushes_stores() -> bool {
            PLANTED.get() != Some(Planted::NoFlush)
        }

        fn drops_prefetches() -> bool {
            PLANTED.get() != Some(Planted::StalePrefetch)
        }

        fn injects_dirty() -> bool {
            PLANTED.get() != Some(Planted::CleanInjection)
        }

        fn zeroes_memory() -> bool {
            PLANTED.get() != Some(Planted::NoZeroing)
        }

        fn completes_after_writes() -> bool {
            PLANTED.get() != Some(Planted::EarlyCompletion)
        }

        fn defers_accesses() -> bool {
            PLANTED.get() != Some(Planted::IgnoredPendingCopies)
        }

        fn reports_completion() -> bool {
            PLANTED.get() != Some(Planted::LostCompletion)
        }
    }
}
