//! The frames of a memory, who uses them, and the processes.

use std::collections::BTreeMap;
use std::fmt;

use crate::allocator::{FrameAllocator, Grant, Policy, PolicyError, Request};
use crate::fault::Fault;
use crate::frame::{Frame, FrameMap};
use crate::frame_set::{FrameSet, Units};
use crate::operation::{Cause, MemoryOperation};
use crate::page_table::AddressSpace;
use crate::report::{HugePages, Report, Traffic};

/// A process, numbered from 0 in the order of their beginnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessId(pub u32);

/// As a message prints it: `process 3`.
impl fmt::Display for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}", self.0)
    }
}

/// A checkpoint, numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CheckpointId(pub u32);

/// As a message prints it: `checkpoint 3`.
impl fmt::Display for CheckpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "checkpoint {}", self.0)
    }
}

/// Whether a frame is zeroed when nobody uses it any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ZeroOnFree {
    /// It keeps its contents; who touches it first has it zeroed.
    #[default]
    Off,
    /// It is zeroed, and the first touch need not do it again. The memory that is free at the start holds zeros, too: Linux zeroes
    /// it at boot with `init_on_free=1`.
    On,
}

/// Processes over the frames of a memory.
///
/// An event appends what has to be issued to a list of [`MemoryOperation`]s; one that ends in a [`Fault`] has changed
/// nothing and appends nothing. Page tables and the kernel's own memory take no frames.
#[derive(Debug)]
pub struct Kernel {
    pub(crate) map: FrameMap,
    pub(crate) set: FrameSet,
    pub(crate) allocator: Box<dyn FrameAllocator>,
    /// By grain: who uses it. Pages, checkpoints, and the background that ageing leaves.
    pub(crate) references: Vec<u32>,
    zero_on_free: ZeroOnFree,
    pub(crate) spaces: BTreeMap<ProcessId, AddressSpace>,
    pub(crate) checkpoints: BTreeMap<CheckpointId, Vec<Frame>>,
    /// Grains of users that do nothing.
    pub(crate) background: Vec<Frame>,
    pub(crate) next_process: u32,
    pub(crate) next_checkpoint: u32,
    traffic: Traffic,
    pub(crate) huge_pages: HugePages,
}

impl Kernel {
    /// A kernel that has all frames of a memory to hand out, and no process.
    ///
    /// # Errors
    ///
    /// If the policy cannot hand out such units.
    pub fn new(
        map: FrameMap,
        units: Units,
        policy: Policy,
        seed: u64,
        zero_on_free: ZeroOnFree,
    ) -> Result<Kernel, PolicyError> {
        let set = FrameSet::new(&map, units);
        Kernel::over(map, set, policy, seed, zero_on_free)
    }

    /// The same over the frames of a set of that memory.
    ///
    /// # Errors
    ///
    /// If the policy cannot hand out such units.
    pub fn over(
        map: FrameMap,
        set: FrameSet,
        policy: Policy,
        seed: u64,
        zero_on_free: ZeroOnFree,
    ) -> Result<Kernel, PolicyError> {
        let allocator = policy.allocator(&map, &set, seed)?;
        let grains = set.end() as usize;
        Ok(Kernel {
            map,
            set,
            allocator,
            references: vec![0; grains],
            zero_on_free,
            spaces: BTreeMap::new(),
            checkpoints: BTreeMap::new(),
            background: Vec::new(),
            next_process: 0,
            next_checkpoint: 0,
            traffic: Traffic::default(),
            huge_pages: HugePages::default(),
        })
    }

    /// Where its frames lie.
    pub const fn frame_map(&self) -> &FrameMap {
        &self.map
    }

    /// The frames that it has.
    pub const fn frame_set(&self) -> &FrameSet {
        &self.set
    }

    /// The allocator that it uses.
    pub fn allocator(&self) -> &dyn FrameAllocator {
        self.allocator.as_ref()
    }

    /// The pages of a process, if it lives.
    pub fn address_space(&self, process: ProcessId) -> Option<&AddressSpace> {
        self.spaces.get(&process)
    }

    /// The grains that ageing left in use, by their first frames.
    pub fn background(&self) -> &[Frame] {
        &self.background
    }

    /// How many use a frame: 0 if it is free or reserved.
    pub fn references(&self, frame: Frame) -> u32 {
        self.references[self.set.grain(frame) as usize]
    }

    /// What it did, and how it left the memory.
    pub fn report(&self) -> Report {
        Report {
            policy: self.allocator.policy(),
            sharing: self.set.sharing(),
            traffic: self.traffic,
            huge_pages: self.huge_pages,
            frames: self.set.frames(),
            free: self.allocator.free_blocks(),
            reservation: self.set.reservation(),
        }
    }

    /// Forgets all copies and zeroings so far, and the huge pages: what came before is not to be reported.
    pub fn reset_counts(&mut self) {
        self.traffic = Traffic::default();
        self.huge_pages = HugePages::default();
    }

    /// Frames of a grain.
    pub(crate) const fn grain_frames(&self) -> u32 {
        self.set.grain_frames()
    }

    pub(crate) fn space(&self, process: ProcessId) -> Result<&AddressSpace, Fault> {
        self.spaces.get(&process).ok_or(Fault::NoProcess { process })
    }

    pub(crate) fn space_mut(&mut self, process: ProcessId) -> Result<&mut AddressSpace, Fault> {
        self.spaces.get_mut(&process).ok_or(Fault::NoProcess { process })
    }

    /// Issues and counts an operation.
    pub(crate) fn issue(&mut self, operation: MemoryOperation, operations: &mut Vec<MemoryOperation>) {
        self.traffic.count(&self.map, &operation);
        operations.push(operation);
    }

    /// Fails unless there is room for so many grains.
    pub(crate) fn need(&self, grains: usize) -> Result<(), Fault> {
        let (needed, free) = (grains as u64 * u64::from(self.grain_frames()), self.allocator.free_frames());
        if needed > free { Err(Fault::OutOfMemory { needed, free }) } else { Ok(()) }
    }

    /// Takes a grain that nobody uses; one is free.
    pub(crate) fn take(&mut self, source: Option<Frame>) -> Result<Grant, Fault> {
        self.need(1)?;
        let grant = self.allocator.allocate(Request { order: 0, source });
        let grant = grant.expect("every policy hands out single grains as long as one is free");
        self.begin(grant.frame, self.grain_frames());
        Ok(grant)
    }

    /// Takes a huge page, if the policy has one.
    pub(crate) fn take_huge(&mut self, source: Option<Frame>) -> Option<Grant> {
        self.huge_pages.wanted += 1;
        let grant = self.allocator.allocate(Request { order: crate::HUGE_ORDER, source })?;
        self.huge_pages.served += 1;
        self.begin(grant.frame, 1 << crate::HUGE_ORDER);
        Some(grant)
    }

    fn begin(&mut self, first: Frame, frames: u32) {
        let grain = self.set.grain(first);
        for grain in grain..grain + (frames >> self.set.grain_order()) {
            let references = &mut self.references[grain as usize];
            assert_eq!(*references, 0, "grain {grain} was handed out twice");
            *references = 1;
        }
    }

    /// One more uses a grain.
    pub(crate) fn share(&mut self, frame: Frame) {
        self.references[self.set.grain(frame) as usize] += 1;
    }

    /// One fewer uses a grain; the last one frees it.
    pub(crate) fn release(&mut self, frame: Frame, operations: &mut Vec<MemoryOperation>) {
        let grain = self.set.grain(frame);
        let references = &mut self.references[grain as usize];
        *references = references.checked_sub(1).unwrap_or_else(|| panic!("{frame} was released by nobody"));
        if *references == 0 {
            self.allocator.free(frame);
            if self.free_frames_hold_zeros() {
                let frames = self.grain_frames();
                self.issue(MemoryOperation::Zero { dst: frame, frames, cause: Cause::ZeroOnFree }, operations);
            }
        }
    }

    /// Whether free frames hold zeros.
    pub(crate) fn free_frames_hold_zeros(&self) -> bool {
        self.zero_on_free == ZeroOnFree::On
    }
}
