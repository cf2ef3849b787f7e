//! Requests of programs to the kernel, and page faults.

use dram_spec::address::FRAME_BYTES;
use dram_spec::{LINE_BYTES, PhysicalAddress};
use os_alloc_sim::{Frame, MemoryOperation};
use rustc_hash::FxHashMap;
use trace_io::program::Step;

use super::cache::{LineNumber, LineState};
use super::clock::CoreCycle;
use super::core::{Bulk, Work};
use super::counters::Purpose;
use super::processes::ProgramFault;
use super::{Machine, Outcome};
use crate::decisions::{Decided, Decisions};

impl Machine {
    /// Handles the page fault of a step once all earlier instructions have retired; the step is then
    /// executed again.
    #[cold]
    pub(super) fn page_fault(
        &mut self,
        index: usize,
        address: PhysicalAddress,
        is_store: bool,
        until: CoreCycle,
    ) -> Result<Outcome, ProgramFault> {
        let Some(at) = self.quiet_cycle(index) else { return Ok(Outcome::Blocked) };
        if at >= until {
            return Ok(Outcome::Later(at));
        }
        let (operation, event) = self.processes.fault(index, address, is_store)?;
        let core = &mut self.cores[index];
        core.counters.faults += 1;
        core.counters.stalls.kernel += core.pipeline.delay_until(at);
        core.translations.clear();
        core.work.extend(Decided::is_executed(&operation).then(|| Work::Bulk(bulk(&operation))));
        self.add_pages(index, &event, self.settings.kernel.fault_cycles, at)?;
        Ok(Outcome::Part)
    }

    /// Executes a request to the kernel: `map` and `present`, which take no time, before the next
    /// instruction dispatches; the others once all earlier instructions have retired.
    #[cold]
    pub(super) fn request(&mut self, index: usize, step: Step, until: CoreCycle) -> Result<Outcome, ProgramFault> {
        let at = if matches!(step, Step::Map { .. } | Step::Present { .. }) {
            self.cores[index].pipeline.next_cycle()
        } else {
            self.quiet_cycle(index)
        };
        let Some(at) = at else { return Ok(Outcome::Blocked) };
        if at >= until {
            return Ok(Outcome::Later(at));
        }
        let core = &mut self.cores[index];
        core.counters.stalls.kernel += core.pipeline.delay_until(at);
        core.translations.clear();
        let event = match step {
            Step::Map { address, bytes } => {
                self.processes.map(index, address, bytes)?;
                self.joined(index, address, bytes);
                None
            }
            Step::Filled { address, bytes } => self.fill(index, address, bytes, at).map(|()| None)?,
            Step::Present { address, bytes } => self.populate(index, address, bytes, false, at).map(|()| None)?,
            Step::Renew { page, source, bytes } => self.renew(index, page, source, bytes, at).map(|()| None)?,
            Step::Fork { child } => {
                let event = self.processes.fork(index, child)?;
                self.forked(index, child);
                Some(event)
            }
            Step::Run { process } => self.processes.run(index, process).map(|()| None)?,
            Step::Exit => {
                self.exits(index);
                Some(self.processes.exit(index)?)
            }
            Step::Compute { .. } | Step::Load { .. } | Step::Store { .. } | Step::Copy { .. } | Step::Zero { .. } => {
                unreachable!("no request to the kernel")
            }
        };
        if let Some(event) = event {
            self.add_pages(index, &event, self.settings.kernel.page_table_cycles, at)?;
        }
        Ok(Outcome::Done)
    }

    /// Gives the pages of a range frames, and the cache the dirty lines that fit and were written
    /// last. The memory holds the contents at reset, which the program wrote.
    fn fill(&mut self, index: usize, address: PhysicalAddress, bytes: u64, at: CoreCycle) -> Result<(), ProgramFault> {
        self.populate(index, address, bytes, true, at)?;
        let end = address.0 + bytes;
        let cache = self.cache_of(index);
        let shape = self.settings.last_level;
        let sets = shape.bytes / LINE_BYTES / shape.ways as u64;
        let mut per_set = FxHashMap::<u64, usize>::default();
        let mut last = Vec::new();
        for virtual_line in (address.0 / LINE_BYTES..end.div_ceil(LINE_BYTES)).rev() {
            if last.len() as u64 == sets * shape.ways as u64 {
                break;
            }
            let at = PhysicalAddress(virtual_line * LINE_BYTES);
            let physical = self.translate(index, at, true)?.expect("the page was written");
            let line = LineNumber::of(physical);
            let used = per_set.entry(line.0 % sets).or_default();
            if *used < shape.ways {
                *used += 1;
                last.push(line);
            }
        }
        for line in last.into_iter().rev() {
            let cache = &mut self.caches[cache];
            if cache.find(line).is_some() {
                continue;
            }
            let Some(way) = cache.victim(line).filter(|&way| cache.is_empty(way)) else { continue };
            cache.insert(way, line, LineState { is_pending: false, dirty: Some(Purpose::Program) });
            if let (Some(data), Some(check)) = (cache.data_mut(way), &self.check) {
                data.copy_from_slice(&check.expected(line.address(), LINE_BYTES));
            }
        }
        Ok(())
    }

    /// Gives the pages of a range frames. If the program `filled` them, a shared page gets a frame of
    /// its own.
    fn populate(
        &mut self,
        index: usize,
        address: PhysicalAddress,
        bytes: u64,
        is_filled: bool,
        at: CoreCycle,
    ) -> Result<(), ProgramFault> {
        for page in address.0 / FRAME_BYTES..(address.0 + bytes).div_ceil(FRAME_BYTES) {
            let address = PhysicalAddress(page * FRAME_BYTES);
            let before = self.processes.frame(index, address, false)?;
            if before.is_some() && !is_filled {
                continue;
            }
            let populated = self.processes.populate(index, address)?;
            if before != self.processes.frame(index, address, false)? {
                self.unit_found(index, address);
            }
            if let Some(frame) = populated {
                self.clean(index, frame, at);
            }
        }
        Ok(())
    }

    /// Gives each copy unit that lies as a whole in the pages of a range new frames, for a copy of
    /// `source`. Other units keep theirs: their other pages would lose their data.
    fn renew(
        &mut self,
        index: usize,
        address: PhysicalAddress,
        source: PhysicalAddress,
        bytes: u64,
        at: CoreCycle,
    ) -> Result<(), ProgramFault> {
        let pages_per_unit = self.processes.pages_per_unit();
        let (first, last) = (address.0 / FRAME_BYTES, (address.0 + (bytes - 1)) / FRAME_BYTES);
        for unit in first / pages_per_unit..=last / pages_per_unit {
            let start = unit * pages_per_unit;
            if !Decided::is_renewed(first <= start && start + (pages_per_unit - 1) <= last) {
                continue;
            }
            let source = source.0 / FRAME_BYTES + start.saturating_sub(first);
            let (unit, source) = (PhysicalAddress(start * FRAME_BYTES), PhysicalAddress(source * FRAME_BYTES));
            let frame = self.processes.renew(index, unit, source)?;
            self.clean(index, frame, at);
            self.found(index, unit, first..=last);
        }
        Ok(())
    }

    /// Removes the lines of a copy unit, of which a frame is given, and which changes hands without a
    /// copy or a zeroing, from the caches of other cores; the core that gets it writes dirty ones back.
    pub(super) fn clean(&mut self, index: usize, frame: Frame, at: CoreCycle) {
        if !self.processes.has_freed() {
            return;
        }
        let own = self.cache_of(index);
        let first = LineNumber::of(self.processes.first_of_unit(frame).address()).0;
        let lines = self.processes.pages_per_unit() * FRAME_BYTES / LINE_BYTES;
        for line in (first..first + lines).map(LineNumber) {
            for other in (0..self.caches.len()).filter(|&other| other != own) {
                let Some(way) = self.caches[other].find(line) else { continue };
                if let Some(removed) = self.remove(other, way) {
                    self.write_back(index, &removed, None, self.after_lookup(at));
                }
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
