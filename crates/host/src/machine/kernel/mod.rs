//! The kernel: page tables, page faults, requests of programs, and the data that these read and write.
//!
//! An event of the kernel gives its core the work that the event costs: time, accesses to data of the
//! kernel, and copies and zeroings.

mod data;
mod fault;
mod frames;
mod network;
mod processes;
mod virtual_check;

use std::collections::VecDeque;

use dram_spec::PhysicalAddress;
use dram_spec::address::FRAME_BYTES;
use os_alloc_sim::{MemoryOperation, Report};
use trace_io::program::Step;

use self::frames::Written;
use self::network::Network;
use self::processes::Processes;
use super::bulk::Bulk;
use super::clock::CoreCycle;
use super::core::{Advance, Core, Work, within};
use super::memory::Memory;
use super::settings::{KernelSettings, MachineSettings};
use crate::defects::{is_executed, stored_to};

pub use self::fault::ProgramFault;

/// The kernel, and the processes of all cores.
#[derive(Debug)]
pub struct Kernel {
    settings: KernelSettings,
    processes: Processes,
    /// By core: addresses and sizes of the data that are left of [`Work::Pages`].
    data: Vec<VecDeque<(PhysicalAddress, u64)>>,
    network: Option<Network>,
}

impl Kernel {
    /// Starts process 1 of each core on the frames of `kernel`.
    /// The adapter is the device with a number.
    pub fn new(settings: &MachineSettings, kernel: os_alloc_sim::Kernel, cores: usize, adapter: usize) -> Kernel {
        Kernel {
            settings: settings.kernel,
            processes: Processes::new(kernel, cores),
            data: vec![VecDeque::new(); cores],
            network: settings.network.map(|network| Network::new(network, adapter, cores)),
        }
    }

    /// Counts of the run.
    pub fn report(&self) -> Report {
        self.processes.report()
    }

    /// Ends all processes of a core without cost, and starts process 1 again.
    pub fn restart(&mut self, core: usize, memory: &mut Memory) {
        self.compare_core(core, memory);
        self.processes.restart(core);
    }

    /// The physical address of a virtual one; `None` if the access faults.
    #[inline]
    pub fn translate(
        &self,
        core: &mut Core,
        address: PhysicalAddress,
        is_store: bool,
    ) -> Result<Option<PhysicalAddress>, ProgramFault> {
        match core.translations.find(address, is_store) {
            Some(physical) => Ok(Some(physical)),
            None => self.look_up(core, address, is_store),
        }
    }

    /// The physical address of a virtual one by the page table, which the translations then know.
    #[cold]
    fn look_up(
        &self,
        core: &mut Core,
        address: PhysicalAddress,
        is_store: bool,
    ) -> Result<Option<PhysicalAddress>, ProgramFault> {
        let found = self.processes.frame(core.index(), address, is_store)?;
        let stored_to = |frame| if is_store { stored_to(frame) } else { frame };
        let found = found.map(|(frame, is_writable)| (stored_to(frame), is_writable));
        if let Some(entry) = found {
            core.translations.insert(address, entry);
        }
        Ok(found.map(|(frame, _)| within(frame, address)))
    }

    /// Handles the page fault of a step once all earlier instructions have retired; the step is then
    /// executed again.
    #[cold]
    pub fn page_fault(
        &mut self,
        core: &mut Core,
        memory: &mut Memory,
        (address, is_store): (PhysicalAddress, bool),
        until: CoreCycle,
    ) -> Result<Advance, ProgramFault> {
        let at = match core.quiet_before(until) {
            Ok(at) => at,
            Err(outcome) => return Ok(outcome),
        };
        if self.has_pending_copy(core, memory, (address, 1)) {
            return Ok(core.stall_for_event());
        }
        if let Some(source) = self.processes.source_of(core.index(), address)? {
            if self.has_pending_copy(core, memory, (source, 1)) {
                return Ok(core.stall_for_event());
            }
            self.share_page(core, memory, (address, source), at)?;
        }
        let (operation, event) = self.processes.fault(core.index(), address, is_store)?;
        core.counters.faults += 1;
        core.delay_until(at, |stalls| &mut stalls.kernel);
        core.translations.clear();
        if let Some(operation) = operation.filter(is_executed) {
            core.add(Work::Copy(bulk(&operation)));
        }
        self.add_pages(core, memory, &event, self.settings.fault_cycles, at)?;
        Ok(Advance::Part)
    }

    /// Whether a copy that is not complete reads or writes frames of the copy units of a range.
    fn has_pending_copy(&self, core: &Core, memory: &Memory, (address, bytes): (PhysicalAddress, u64)) -> bool {
        if core.pending_copies().is_empty() {
            return false;
        }
        let size = memory.line_size();
        let is_pending = |(_, frame): (u64, os_alloc_sim::Frame)| {
            core.pending_copies().overlap(&size.span(frame.address(), FRAME_BYTES))
        };
        if self.processes.pages_per_unit() == 1 {
            let pages = self.processes.frames_of_range(core.index(), address, bytes.max(1));
            return pages.is_ok_and(|pages| pages.into_iter().any(is_pending));
        }
        let pages = address.0 / FRAME_BYTES..=(address.0 + bytes.max(1) - 1) / FRAME_BYTES;
        let mut units =
            pages.flat_map(|page| self.processes.unit_of(core.index(), PhysicalAddress(page * FRAME_BYTES)));
        units.any(is_pending)
    }

    /// The first cycle in which a request can be executed.
    fn earliest(&self, core: &mut Core, memory: &Memory, step: Step, until: CoreCycle) -> Result<CoreCycle, Advance> {
        match step {
            Step::Map { .. } | Step::Share { .. } | Step::Present { .. } => core.next_cycle().ok_or(Advance::Blocked),
            // The copies of other frames go on.
            Step::Renew { page: address, bytes, .. }
            | Step::Unmap { address, bytes }
            | Step::Discard { address, bytes }
            | Step::Move { from: address, bytes, .. }
                if self.has_pending_copy(core, memory, (address, bytes)) =>
            {
                Err(core.stall_for_event())
            }
            Step::Fork { .. } | Step::Exit => core.idle_before(until),
            _ => core.quiet_before(until),
        }
    }

    /// Executes a request to the kernel: `map`, `share` and `present`, which take no time, before the next
    /// instruction dispatches; the others once all earlier instructions have retired.
    #[cold]
    pub fn request(
        &mut self,
        core: &mut Core,
        memory: &mut Memory,
        step: Step,
        until: CoreCycle,
    ) -> Result<Advance, ProgramFault> {
        let at = match self.earliest(core, memory, step, until) {
            Ok(at) if at < until => at,
            Ok(at) => return Ok(Advance::Later(at)),
            Err(outcome) => return Ok(outcome),
        };
        core.delay_until(at, |stalls| &mut stalls.kernel);
        core.translations.clear();
        let index = core.index();
        match step {
            Step::Map { address, bytes } => {
                self.processes.map(index, address, bytes)?;
                self.joined(index, memory, address, bytes);
            }
            Step::Share { address, source, bytes } => self.processes.share(index, (address, source), bytes)?,
            Step::Unmap { address, bytes } | Step::Discard { address, bytes } => {
                self.released(index, memory, address, bytes);
                let is_unmapped = matches!(step, Step::Unmap { .. });
                let release = if is_unmapped { Processes::unmap } else { Processes::discard };
                let event = release(&mut self.processes, index, address, bytes)?;
                self.add_pages(core, memory, &event, self.settings.page_table_cycles, at)?;
            }
            Step::Move { from, to, bytes } => {
                let event = self.processes.move_pages(index, (from, to), bytes)?;
                self.moved(index, memory, (from, to), bytes);
                self.add_pages(core, memory, &event, self.settings.page_table_cycles, at)?;
            }
            Step::Filled { address, bytes } => self.fill(core, memory, (address, bytes), at)?,
            Step::Present { address, bytes } => self.populate(core, memory, (address, bytes), Written::No, at)?,
            Step::Renew { page, source, bytes } => self.renew(core, memory, (page, bytes), source, at)?,
            Step::Run { process } => self.processes.run(index, process)?,
            Step::Fork { child } => {
                let event = self.processes.fork(index, child)?;
                self.forked(index, memory, child);
                self.add_pages(core, memory, &event, self.settings.page_table_cycles, at)?;
            }
            Step::Exit => {
                self.exits(index, memory);
                let event = self.processes.exit(index)?;
                self.add_pages(core, memory, &event, self.settings.page_table_cycles, at)?;
            }
            Step::Compute { .. }
            | Step::Load { .. }
            | Step::Store { .. }
            | Step::Instruction { .. }
            | Step::Copy { .. }
            | Step::Zero { .. }
            | Step::Device(_) => unreachable!("no request to the kernel"),
        }
        Ok(Advance::Done)
    }

    /// Executes the next part of a `memcopy` or `meminit` of the program, which lies in one copy unit of
    /// each range, as work for the copier, given whether it is the last part; `virtual_bulk` becomes the rest.
    #[cold]
    pub fn copy(
        &mut self,
        core: &mut Core,
        memory: &mut Memory,
        virtual_bulk: &mut Bulk,
        work: impl Fn(Bulk, bool) -> Work,
        until: CoreCycle,
    ) -> Result<Advance, ProgramFault> {
        // The frames of a unit are consecutive, and become present and writable together.
        let next = virtual_bulk.next_part(self.processes.pages_per_unit() * FRAME_BYTES);
        if next.bytes > FRAME_BYTES {
            for start in next.src.into_iter().chain([next.dst]) {
                self.processes.require_mapped(core.index(), start, next.bytes)?;
            }
        }
        let from = match next.src {
            Some(src) => match self.translate(core, src, false)? {
                None => return self.page_fault(core, memory, (src, false), until),
                found => found,
            },
            None => None,
        };
        let Some(to) = self.translate(core, next.dst, true)? else {
            return self.page_fault(core, memory, (next.dst, true), until);
        };
        self.copied(core.index(), memory, &next);
        let rest = virtual_bulk.without(next);
        core.add(work(Bulk { src: from, dst: to, bytes: next.bytes }, rest.is_none()));
        match rest {
            None => {
                core.count_copy();
                Ok(Advance::Done)
            }
            Some(rest) => {
                *virtual_bulk = rest;
                Ok(Advance::Part)
            }
        }
    }
}

/// The copy or zeroing of a kernel's operation.
fn bulk(operation: &MemoryOperation) -> Bulk {
    let bytes = |frames: u32| u64::from(frames) * FRAME_BYTES;
    match *operation {
        MemoryOperation::Copy { src, dst, frames, .. } => {
            Bulk { src: Some(src.address()), dst: dst.address(), bytes: bytes(frames) }
        }
        MemoryOperation::Zero { dst, frames, .. } => Bulk { src: None, dst: dst.address(), bytes: bytes(frames) },
    }
}
