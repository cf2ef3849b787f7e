//! System software for workloads of processes.

use dram_spec::address::FRAME_BYTES;
use dram_spec::{LINE_BYTES, PhysicalAddress};
use os_alloc_sim::{CheckpointId, Fault, Frame, Generator, Kernel, MemoryOperation, PageSize, ProcessId, ZeroOnFree};
use rowclone::{Operation, Planner};

use crate::aged_memory::{AgedMemories, AllocatorSettings};
use crate::defects::{is_executed, stored_to};
use crate::virtual_memory::{EventLog, Owner, ProcessEvent};

use super::error::WorkloadError;
use super::region::{below, positive_multiple};

/// Memory and random numbers of a workload.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// Name of the kind.
    pub workload: &'static str,
    /// The memory.
    pub planner: &'a Planner,
    /// The allocator, if one is set.
    pub allocator: Option<&'a AllocatorSettings>,
    /// Aged memories that are kept.
    pub memories: &'a AgedMemories,
    /// Determines all random choices.
    pub seed: u64,
}

impl Setup<'_> {
    /// A kernel without processes.
    pub(super) fn kernel(&self, zero_on_free: ZeroOnFree) -> Result<Kernel, WorkloadError> {
        let settings = self.allocator.ok_or(WorkloadError::NoAllocator { workload: self.workload })?;
        Ok(self.memories.memory(settings, self.planner.map())?.into_kernel(zero_on_free))
    }
}

/// A kernel, and the process on which it currently operates.
#[derive(Debug)]
pub struct RunningKernel {
    pub(super) kernel: Kernel,
    pub(super) process: ProcessId,
    /// Pages of 4 KiB per process.
    pub(super) pages: u64,
    /// What processes do, for the check of virtual addresses.
    pub(super) log: EventLog,
}

impl RunningKernel {
    /// Creates a process that has mapped `bytes` and touched none. Freed frames keep their
    /// contents.
    pub(super) fn new(setup: &Setup<'_>, bytes: u64) -> Result<RunningKernel, WorkloadError> {
        RunningKernel::with(ZeroOnFree::Off, setup, bytes)
    }

    /// Creates a process that has mapped `bytes` and touched none.
    pub(super) fn with(
        zero_on_free: ZeroOnFree,
        setup: &Setup<'_>,
        bytes: u64,
    ) -> Result<RunningKernel, WorkloadError> {
        positive_multiple("bytes", bytes, FRAME_BYTES)?;
        let mut kernel = setup.kernel(zero_on_free)?;
        let process = kernel.spawn();
        let mut machine = RunningKernel { kernel, process, pages: bytes / FRAME_BYTES, log: EventLog::new() };
        machine.ensure_free_frames("bytes", machine.grains(), 1)?;
        machine.map();
        Ok(machine)
    }

    fn map(&mut self) {
        self.kernel.map(self.process, self.pages, PageSize::Small).expect("the process lives");
    }

    /// Starts another process with equal untouched memory, which becomes [`RunningKernel::process`].
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
            let frame = self.kernel.touch(self.process, page, &mut unplayed).expect("there is room for all pages");
            unplayed.clear();
            self.log.push(ProcessEvent::Found { owner: owner(self.process), page, frame });
        }
        self.kernel.reset_counts();
    }

    /// Stores to a line of a page; appends the operations that precede the store, which is returned.
    pub(super) fn store(
        &mut self,
        process: ProcessId,
        page: u64,
        line: u64,
        operations: &mut Vec<MemoryOperation>,
    ) -> Result<Operation, Fault> {
        let is_new = self.kernel.address_space(process).is_some_and(|space| space.frame(page).is_none());
        let frame = self.kernel.write(process, page, operations)?;
        let frame = stored_to(frame);
        operations.retain(is_executed);
        if is_new && operations.is_empty() {
            let first = self.kernel.frame_set().first_of_grain(frame);
            let frames = (0..self.grain_frames() as u32).map(|at| first.plus(at));
            frames.for_each(|frame| self.log.push(ProcessEvent::FreeAndZero { frame }));
        }
        self.log.kernel_requests(operations.len());
        let address = page * FRAME_BYTES + line * LINE_BYTES;
        self.log.push(ProcessEvent::Store { owner: owner(process), address });
        Ok(write_line(frame, line))
    }

    /// Forks a process.
    pub(super) fn fork(&mut self, process: ProcessId) -> Result<ProcessId, Fault> {
        let child = self.kernel.fork(process)?;
        self.log.push(ProcessEvent::Fork { parent: owner(process), child: owner(child) });
        Ok(child)
    }

    /// Ends a process.
    pub(super) fn exit(&mut self, process: ProcessId, operations: &mut Vec<MemoryOperation>) -> Result<(), Fault> {
        self.compare(process);
        self.log.push(ProcessEvent::End { owner: owner(process) });
        let before = operations.len();
        self.kernel.exit(process, operations)?;
        self.log.kernel_requests(operations.len() - before);
        Ok(())
    }

    /// Copies all pages of the process to a checkpoint.
    pub(super) fn checkpoint(&mut self, operations: &mut Vec<MemoryOperation>) -> Result<CheckpointId, Fault> {
        let checkpoint = self.kernel.checkpoint(self.process, operations)?;
        let child = Owner::Checkpoint(checkpoint.0);
        self.log.push(ProcessEvent::Fork { parent: owner(self.process), child });
        self.log.kernel_requests(operations.len());
        Ok(checkpoint)
    }

    /// Frees a checkpoint of the process.
    pub(super) fn drop_checkpoint(&mut self, checkpoint: CheckpointId) -> Result<(), Fault> {
        self.compare_checkpoint(checkpoint);
        self.log.push(ProcessEvent::End { owner: Owner::Checkpoint(checkpoint.0) });
        self.kernel.drop_checkpoint(checkpoint, &mut Vec::new())
    }

    /// Copies the process.
    pub(super) fn clone_process(&mut self, operations: &mut Vec<MemoryOperation>) -> Result<ProcessId, Fault> {
        let child = self.kernel.clone_machine(self.process, operations)?;
        self.log.push(ProcessEvent::Fork { parent: owner(self.process), child: owner(child) });
        self.log.kernel_requests(operations.len());
        Ok(child)
    }

    /// Compares the pages of a process with its frames.
    fn compare(&mut self, process: ProcessId) {
        let (true, Some(space)) = (self.log.is_kept(), self.kernel.address_space(process)) else { return };
        let frames = (0..self.pages).filter_map(|page| Some((page, space.frame(page)?))).collect();
        self.log.push(ProcessEvent::Compare { owner: owner(process), frames });
    }

    /// Compares a checkpoint with its frames, which are of the grains in the order of their pages.
    fn compare_checkpoint(&mut self, checkpoint: CheckpointId) {
        let frames = self.kernel.checkpoint_frames(checkpoint);
        let of_grain = |first: &Frame| {
            let first = *first;
            (0..self.grain_frames() as u32).map(move |at| first.plus(at))
        };
        let frames = (0..self.pages).zip(frames.iter().flat_map(of_grain)).collect();
        self.log.push(ProcessEvent::Compare { owner: Owner::Checkpoint(checkpoint.0), frames });
    }

    /// Compares all processes and checkpoints, at the end of a run.
    pub(super) fn compare_all(&mut self) {
        self.kernel.processes().into_iter().for_each(|process| self.compare(process));
        self.kernel.checkpoints().into_iter().for_each(|checkpoint| self.compare_checkpoint(checkpoint));
    }

    /// A random page of the process.
    pub(super) fn draw_page(&self, generator: &mut Generator) -> u64 {
        below(generator, self.pages)
    }
}

/// Owner of the pages of a process.
pub(super) const fn owner(process: ProcessId) -> Owner {
    Owner::Process(process.0)
}

/// A random line of a page.
pub(super) fn a_line(generator: &mut Generator) -> u64 {
    below(generator, FRAME_BYTES / LINE_BYTES)
}

/// Write of line `number` of a frame.
fn write_line(frame: Frame, number: u64) -> Operation {
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
