//! The system software that a workload of processes runs on.

use dram_spec::address::FRAME_BYTES;
use dram_spec::{LINE_BYTES, PhysicalAddress};
use os_alloc_sim::{Frame, Generator, Kernel, MemoryOperation, PageSize, ProcessId, ZeroOnFree};
use rowclone::{Operation, Planner};

use crate::allocator_settings::AllocatorSettings;

use super::error::WorkloadError;
use super::region::{below, some};

/// A kernel with a process that has mapped its memory, and room for what is to come.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) kernel: Kernel,
    pub(super) process: ProcessId,
    /// Pages of 4 KiB of the process.
    pub(super) pages: u64,
}

impl Machine {
    /// A process that has mapped `bytes`, and has touched none of them. Freed frames keep their contents.
    pub(super) fn new(
        workload: &'static str,
        planner: &Planner,
        allocator: Option<&AllocatorSettings>,
        bytes: u64,
    ) -> Result<Machine, WorkloadError> {
        Machine::with(ZeroOnFree::Off, workload, planner, allocator, bytes)
    }

    /// A process that has mapped `bytes`, and has touched none of them.
    pub(super) fn with(
        zero_on_free: ZeroOnFree,
        workload: &'static str,
        planner: &Planner,
        allocator: Option<&AllocatorSettings>,
        bytes: u64,
    ) -> Result<Machine, WorkloadError> {
        some("bytes", bytes, FRAME_BYTES)?;
        let settings = allocator.ok_or(WorkloadError::NoAllocator { workload })?;
        let mut kernel = settings.kernel(planner.map(), zero_on_free)?;
        let process = kernel.spawn();
        let mut machine = Machine { kernel, process, pages: bytes / FRAME_BYTES };
        machine.assure_room("bytes", machine.grains(), 1)?;
        machine.map();
        Ok(machine)
    }

    fn map(&mut self) {
        self.kernel.map(self.process, self.pages, PageSize::Small).expect("the process lives");
    }

    /// Begins another process with as much memory, none of it touched; [`Machine::process`] is that process then.
    pub(super) fn begin_process(&mut self) {
        self.process = self.kernel.spawn();
        self.map();
    }

    /// How many frames are handed out together.
    pub(super) const fn grain_frames(&self) -> u64 {
        self.kernel.frame_set().grain_frames() as u64
    }

    /// What the process has, in portions that are handed out together.
    pub(super) const fn grains(&self) -> u64 {
        self.pages.div_ceil(self.grain_frames())
    }

    /// Fails where there are not so many grains, so many times over.
    pub(super) fn assure_room(&self, key: &'static str, grains: u64, times: u64) -> Result<(), WorkloadError> {
        let needed = grains.saturating_mul(times).saturating_mul(self.grain_frames());
        let free = self.kernel.allocator().free_frames();
        if needed > free { Err(WorkloadError::OutOfMemory { key, needed, free }) } else { Ok(()) }
    }

    /// The process touches all of its memory. Neither played nor counted.
    pub(super) fn fill(&mut self) {
        let mut unplayed = Vec::new();
        for page in 0..self.pages {
            self.kernel.touch(self.process, page, &mut unplayed).expect("there is room for all pages");
            unplayed.clear();
        }
        self.kernel.reset_counts();
    }

    /// Any page of the process.
    pub(super) fn draw_page(&self, generator: &mut Generator) -> u64 {
        below(generator, self.pages)
    }
}

/// The write of any line of a frame.
pub(super) fn write_a_line(frame: Frame, generator: &mut Generator) -> Operation {
    write_line(frame, below(generator, FRAME_BYTES / LINE_BYTES))
}

/// The write of a line of a frame, counted from 0.
pub(super) fn write_line(frame: Frame, number: u64) -> Operation {
    Operation::Write { address: line(frame, number), bytes: LINE_BYTES }
}

/// A line, counted from the first of a frame.
pub(super) fn line(frame: Frame, number: u64) -> PhysicalAddress {
    PhysicalAddress(frame.address().0 + number * LINE_BYTES)
}

/// What is to be issued for an operation of the kernel.
pub(super) fn request(operation: &MemoryOperation) -> Operation {
    match *operation {
        MemoryOperation::Copy { src, dst, frames, .. } => {
            Operation::Copy { src: src.address(), dst: dst.address(), bytes: u64::from(frames) * FRAME_BYTES }
        }
        MemoryOperation::Zero { dst, frames, .. } => {
            Operation::Init { dst: dst.address(), bytes: u64::from(frames) * FRAME_BYTES, value: 0 }
        }
    }
}
