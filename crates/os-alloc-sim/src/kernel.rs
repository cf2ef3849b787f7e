//! The kernel: frames with reference counts, processes, and errors of events.

use std::collections::BTreeMap;

use derive_more::Display;

use crate::age::Aged;
use crate::allocator::{FrameAllocator, FrameRequest, Grant};
use crate::blocks::FreeBlocks;
use crate::frame::{Frame, FrameMap};
use crate::frame_set::FrameSet;
use crate::operation::{Cause, MemoryOperation};
use crate::page_table::AddressSpace;
use crate::report::{HugePages, Report, Traffic};

/// A process, numbered from 0 in order of creation.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[display("process {_0}")]
pub struct ProcessId(pub u32);

/// A checkpoint, numbered from 0.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[display("checkpoint {_0}")]
pub struct CheckpointId(pub u32);

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

/// Whether a frame is zeroed when its last user releases it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ZeroOnFree {
    /// A freed frame keeps its contents; the next first touch zeroes it.
    #[default]
    Off,
    /// A freed frame is zeroed, and its next first touch does not zero it. Memory that is free at
    /// the start contains zeros, as Linux zeroes it at boot with `init_on_free=1`.
    On,
}

/// Processes over the frames of a memory.
///
/// An event appends the operations to issue to a list of [`MemoryOperation`]s. An event that
/// returns a [`Fault`] changes nothing and appends nothing. Page tables and kernel memory take no
/// frames.
#[derive(Debug)]
pub struct Kernel {
    pub(crate) map: FrameMap,
    pub(crate) set: FrameSet,
    pub(crate) allocator: Box<dyn FrameAllocator>,
    /// Number of users of each grain: pages, checkpoints, and the background that aging leaves.
    pub(crate) references: Vec<u32>,
    zero_on_free: ZeroOnFree,
    pub(crate) spaces: BTreeMap<ProcessId, AddressSpace>,
    pub(crate) checkpoints: BTreeMap<CheckpointId, Vec<Frame>>,
    /// Grains of idle users.
    pub(crate) background: Vec<Frame>,
    pub(crate) next_process: u32,
    pub(crate) next_checkpoint: u32,
    traffic: Traffic,
    pub(crate) huge_pages: HugePages,
    /// Free blocks before the first process, after aging.
    pub(crate) free_before: FreeBlocks,
}

impl Kernel {
    /// Creates a kernel without processes over an aged memory: a frame map, its allocatable frames,
    /// the allocator, and the grains in use, which belong to the background.
    pub fn aged(
        map: FrameMap,
        set: FrameSet,
        allocator: Box<dyn FrameAllocator>,
        aged: Aged,
        zero_on_free: ZeroOnFree,
    ) -> Kernel {
        let mut references = vec![0; set.end() as usize];
        aged.held.iter().for_each(|&grain| references[set.grain(grain) as usize] = 1);
        Kernel {
            map,
            set,
            allocator,
            references,
            zero_on_free,
            spaces: BTreeMap::new(),
            checkpoints: BTreeMap::new(),
            background: aged.held,
            next_process: 0,
            next_checkpoint: 0,
            traffic: Traffic::default(),
            huge_pages: HugePages::default(),
            free_before: aged.free,
        }
    }

    /// The kernel's frames.
    pub const fn frame_set(&self) -> &FrameSet {
        &self.set
    }

    /// The kernel's allocator.
    pub fn allocator(&self) -> &dyn FrameAllocator {
        self.allocator.as_ref()
    }

    /// The pages of a process, if it exists.
    pub fn address_space(&self, process: ProcessId) -> Option<&AddressSpace> {
        self.spaces.get(&process)
    }

    /// The processes, ascending.
    pub fn processes(&self) -> Vec<ProcessId> {
        self.spaces.keys().copied().collect()
    }

    /// The checkpoints, ascending.
    pub fn checkpoints(&self) -> Vec<CheckpointId> {
        self.checkpoints.keys().copied().collect()
    }

    /// First frames of the grains of a checkpoint, in the order of their pages; empty if it does not
    /// exist.
    pub fn checkpoint_frames(&self, checkpoint: CheckpointId) -> Vec<Frame> {
        self.checkpoints.get(&checkpoint).cloned().unwrap_or_default()
    }

    /// The grains that aging left in use, by their first frames.
    pub fn background(&self) -> &[Frame] {
        &self.background
    }

    /// Number of users of a frame; 0 if it is free or reserved.
    pub fn references(&self, frame: Frame) -> u32 {
        self.references[self.set.grain(frame) as usize]
    }

    /// Counts of copies and zeroings, and the state of the memory.
    pub fn report(&self) -> Report {
        Report::new(&*self.allocator, &self.set, self.traffic, self.huge_pages, self.free_before)
    }

    /// Resets the counts of copies, zeroings and huge pages, to exclude a warm-up from the report.
    pub fn reset_counts(&mut self) {
        self.traffic = Traffic::default();
        self.huge_pages = HugePages::default();
    }

    /// Frames per grain.
    pub(crate) const fn grain_frames(&self) -> u32 {
        self.set.grain_frames()
    }

    pub(crate) fn space(&self, process: ProcessId) -> Result<&AddressSpace, Fault> {
        self.spaces.get(&process).ok_or(Fault::NoProcess { process })
    }

    pub(crate) fn space_mut(&mut self, process: ProcessId) -> Result<&mut AddressSpace, Fault> {
        self.spaces.get_mut(&process).ok_or(Fault::NoProcess { process })
    }

    /// Appends and counts an operation.
    pub(crate) fn issue(&mut self, operation: MemoryOperation, operations: &mut Vec<MemoryOperation>) {
        self.traffic.count(&self.map, &operation);
        operations.push(operation);
    }

    /// Returns an error unless at least `grains` grains are free.
    pub(crate) fn need(&self, grains: usize) -> Result<(), Fault> {
        let (needed, free) = (grains as u64 * u64::from(self.grain_frames()), self.allocator.free_frames());
        if needed > free { Err(Fault::OutOfMemory { needed, free }) } else { Ok(()) }
    }

    /// Allocates a grain, with one user.
    pub(crate) fn take(&mut self, source: Option<Frame>) -> Result<Grant, Fault> {
        self.need(1)?;
        let grant = self.allocator.allocate(FrameRequest { order: 0, source });
        let grant = grant.expect("every policy hands out single grains as long as one is free");
        self.begin(grant.frame, self.grain_frames());
        Ok(grant)
    }

    /// Allocates a huge page, if the policy has a block for it.
    pub(crate) fn take_huge(&mut self, source: Option<Frame>) -> Option<Grant> {
        self.huge_pages.wanted += 1;
        let grant = self.allocator.allocate(FrameRequest { order: crate::HUGE_ORDER, source })?;
        self.huge_pages.served += 1;
        self.begin(grant.frame, 1 << crate::HUGE_ORDER);
        Some(grant)
    }

    fn begin(&mut self, first: Frame, frames: u32) {
        let grain = self.set.grain(first);
        for grain in grain..grain + (frames >> self.set.grain_order()) {
            let references = &mut self.references[grain as usize];
            assert_eq!(*references, 0, "grain {grain} is allocated twice");
            *references = 1;
        }
    }

    /// Adds a user of a grain.
    pub(crate) fn share(&mut self, frame: Frame) {
        self.references[self.set.grain(frame) as usize] += 1;
    }

    /// Removes a user of a grain; frees the grain after its last user.
    pub(crate) fn release(&mut self, frame: Frame, operations: &mut Vec<MemoryOperation>) {
        let grain = self.set.grain(frame);
        let references = &mut self.references[grain as usize];
        *references = references.checked_sub(1).unwrap_or_else(|| panic!("{frame} is released, but has no user"));
        if *references == 0 {
            self.allocator.free(frame);
            if self.free_frames_hold_zeros() {
                let frames = self.grain_frames();
                self.issue(MemoryOperation::Zero { dst: frame, frames, cause: Cause::ZeroOnFree }, operations);
            }
        }
    }

    /// Whether free frames contain zeros.
    pub(crate) fn free_frames_hold_zeros(&self) -> bool {
        self.zero_on_free == ZeroOnFree::On
    }
}
