//! System software for workloads of processes.

use dram_spec::address::FRAME_BYTES;
use dram_spec::{LINE_BYTES, PhysicalAddress};
use os_alloc_sim::{Frame, Generator, Kernel, MemoryOperation, PageSize, ProcessId, ZeroOnFree};
use rowclone::{Operation, Planner};

use crate::allocator_settings::AllocatorSettings;

use super::error::WorkloadError;
use super::region::{below, positive_multiple};

/// A kernel, and the process on which it currently operates.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) kernel: Kernel,
    pub(super) process: ProcessId,
    /// Pages of 4 KiB per process.
    pub(super) pages: u64,
}

impl Machine {
    /// Creates a process that has mapped `bytes` and touched none. Freed frames keep their
    /// contents.
    pub(super) fn new(
        workload: &'static str,
        planner: &Planner,
        allocator: Option<&AllocatorSettings>,
        bytes: u64,
    ) -> Result<Machine, WorkloadError> {
        Machine::with(ZeroOnFree::Off, workload, planner, allocator, bytes)
    }

    /// Creates a process that has mapped `bytes` and touched none.
    pub(super) fn with(
        zero_on_free: ZeroOnFree,
        workload: &'static str,
        planner: &Planner,
        allocator: Option<&AllocatorSettings>,
        bytes: u64,
    ) -> Result<Machine, WorkloadError> {
        positive_multiple("bytes", bytes, FRAME_BYTES)?;
        let settings = allocator.ok_or(WorkloadError::NoAllocator { workload })?;
        let mut kernel = settings.kernel(planner.map(), zero_on_free)?;
        let process = kernel.spawn();
        let mut machine = Machine { kernel, process, pages: bytes / FRAME_BYTES };
        machine.ensure_free_frames("bytes", machine.grains(), 1)?;
        machine.map();
        Ok(machine)
    }

    fn map(&mut self) {
        self.kernel.map(self.process, self.pages, PageSize::Small).expect("the process lives");
    }

    /// Starts another process with equal untouched memory, which becomes [`Machine::process`].
    pub(super) fn begin_process(&mut self) {
        self.process = self.kernel.spawn();
        self.map();
    }

    /// Frames allocated together.
    pub(super) const fn grain_frames(&self) -> u64 {
        self.kernel.frame_set().grain_frames() as u64
    }

    /// Memory of a process in grains.
    pub(super) const fn grains(&self) -> u64 {
        self.pages.div_ceil(self.grain_frames())
    }

    /// Returns an error unless `times` times `grains` grains are free.
    pub(super) fn ensure_free_frames(&self, key: &'static str, grains: u64, times: u64) -> Result<(), WorkloadError> {
        let needed = grains.saturating_mul(times).saturating_mul(self.grain_frames());
        let free = self.kernel.allocator().free_frames();
        if needed > free { Err(WorkloadError::OutOfMemory { key, needed, free }) } else { Ok(()) }
    }

    /// Touches all pages of the process, without requests or counts.
    pub(super) fn fill(&mut self) {
        let mut unplayed = Vec::new();
        for page in 0..self.pages {
            self.kernel.touch(self.process, page, &mut unplayed).expect("there is room for all pages");
            unplayed.clear();
        }
        self.kernel.reset_counts();
    }

    /// A random page of the process.
    pub(super) fn draw_page(&self, generator: &mut Generator) -> u64 {
        below(generator, self.pages)
    }
}

/// Write of a random line of a frame.
pub(super) fn write_a_line(frame: Frame, generator: &mut Generator) -> Operation {
    write_line(frame, below(generator, FRAME_BYTES / LINE_BYTES))
}

/// Write of line `number` of a frame.
pub(super) fn write_line(frame: Frame, number: u64) -> Operation {
    Operation::Write { address: line(frame, number), bytes: LINE_BYTES }
}

/// Address of line `number` of a frame.
pub(super) fn line(frame: Frame, number: u64) -> PhysicalAddress {
    PhysicalAddress(frame.address().0 + number * LINE_BYTES)
}

/// The request for an operation of the kernel.
pub(crate) fn request(operation: &MemoryOperation) -> Operation {
    match *operation {
        MemoryOperation::Copy { src, dst, frames, .. } => {
            Operation::Copy { src: src.address(), dst: dst.address(), bytes: u64::from(frames) * FRAME_BYTES }
        }
        MemoryOperation::Zero { dst, frames, .. } => {
            Operation::Init { dst: dst.address(), bytes: u64::from(frames) * FRAME_BYTES, value: 0 }
        }
    }
}
