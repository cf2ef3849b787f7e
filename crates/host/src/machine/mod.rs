//! A machine: cores, caches, processes and their kernel, in front of the memory controller.
//!
//! The machine is a [`RequestSource`](memctrl::RequestSource). A core computes the cycle of its next action from what
//! it knows; an action that affects another core or the memory waits until the controller has reached
//! that cycle, and actions of all cores take effect in the order of their cycles. Nothing advances
//! cycle by cycle. `docs/cores.md` has the model.
//!
//! ```text
//! cores ──accesses──▶ memory: caches, interconnect ──requests──▶ controller
//!   ▲ work               ▲ coherence, copies, messages
//! kernel, copier, devices┘
//! ```
//!
//! Each part is a folder: `core`, `cache`, `prefetcher`, `interconnect`, `memory`, `kernel`, `copier`,
//! `device`. A part calls another one through
//! the methods of its type in `mod.rs`, and this file decides which core acts next.

mod bulk;
mod cache;
mod clock;
mod copier;
mod core;
mod counters;
mod device;
mod error;
mod interconnect;
mod kernel;
mod memory;
mod packet;
mod prefetcher;
mod programs;
mod region;
mod settings;
mod source;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::rc::Rc;

use dram_spec::{AddressMap, PhysicalAddress};
use os_alloc_sim::{Report, ZeroOnFree};
use trace_io::program::{DeviceStep, InstructionKind, Needs, Step};
use trace_io::trace::Recorded;

use self::bulk::Bulk;
use self::core::{Advance, Bounds, Core, NextAct, Pause, Work};
use self::kernel::Kernel;
use self::memory::{Lacking, Memory};
use self::region::{CoreMark, Regions};
use crate::aged_memory::AgedMemories;
use crate::contents::Contents;
use crate::flat_memory::FlatMemory;
use crate::virtual_memory::WrongByte;

pub use self::clock::{ClockRatio, CoreCycle};
pub use self::core::{Pipeline, Slot};
pub use self::counters::{
    CoherenceCounts, CoreCounters, DmaCounts, LineCounts, NetworkCounts, PrefetchCounts, Purpose, StallSlots,
    read_bursts, write_bursts,
};
pub use self::error::MachineError;
pub use self::kernel::ProgramFault;
pub use self::memory::WrongLoad;
pub use self::packet::{Buffer, Packet};
pub use self::programs::{
    AnswerSettings, BufferOperation, BufferRing, ChosenCopies, ContentsCounts, FileSettings, Forkbench,
    GroupInstruction, Memcopy, MessageReader, MessageReaderSettings, MixProgram, OtherByte, Program,
    RECORDED_COPIER_MIN_BYTES, ReadAgain, ReceiveStep, ReceiveWork, ReceivedPackets, Receiver, ReceiverSettings,
    RecordedProgram, RecordingSettings, Repeated, SourceState, Steps, TcpReceive, TraceProgram,
};
pub use self::region::{CoreOutcome, Phase};
pub use self::settings::{
    BusSettings, CacheShape, ClassSettings, ClassUnits, Classes, CopyLoop, CoreSettings, DirtySource, DmaCompletion,
    DmaSettings, EngineMode, EngineSettings, InjectionLevel, InjectionPolicy, InjectionSettings, KernelSettings,
    LineSettings, LoopSettings, MachineSettings, NetworkSettings, Order, PageCopier, PrefetchSettings, PrefetcherKind,
    Region, Sharing, Spread, StoreMiss, StringStores, WithoutBuffer, WriteMerging, WritePolicy,
};

/// Results of a machine.
#[derive(Clone, Debug)]
pub struct MachineOutcome {
    /// Each core.
    pub cores: Vec<CoreOutcome>,
    /// Counts of the kernel.
    pub os: Report,
    /// Loads compared with a flat, coherent memory, and the first that differed; `None` without
    /// contents.
    pub check: Option<(u64, Option<WrongLoad>)>,
    /// The first byte that a process reads wrong at a virtual address.
    pub wrong: Option<WrongByte>,
}

/// Cores, caches and the kernel.
#[derive(Debug)]
pub struct Machine {
    settings: MachineSettings,
    cores: Vec<Core>,
    memory: Memory,
    kernel: Kernel,
    copier: Box<dyn copier::Copier>,
    devices: Vec<Box<dyn device::Device>>,
    /// Whether hits affect no other core, and no device removes lines.
    hits_are_local: bool,
    regions: Regions,
    /// Cycle and core of the first action of all cores; [`CoreCycle::NEVER`] if none acts without an
    /// event.
    first_action: (CoreCycle, usize),
    /// Cycle and core of the latest action. In this cycle, the core and those before it act no more.
    latest_action: (CoreCycle, usize),
    /// Cores may execute actions without effect on others before this cycle.
    horizon: CoreCycle,
    error: Option<MachineError>,
}

impl Machine {
    /// Creates a machine with a core per program. With `contents`, caches hold data, and each load
    /// is compared with a flat, coherent memory. The run ends when the regions of all cores have
    /// ended.
    ///
    /// # Errors
    /// If the allocator cannot be built.
    pub fn new(
        settings: MachineSettings,
        region: Region,
        programs: Vec<Box<dyn Program>>,
        map: &AddressMap,
        contents: Option<Contents>,
    ) -> Result<Machine, MachineError> {
        let regions = vec![region; programs.len()];
        Machine::with_memories(&AgedMemories::default(), settings, regions, programs, map, contents)
    }

    /// Creates a machine as [`Machine::new`] does, with a region per program; its aged memory is built only
    /// if `memories` does not keep it.
    ///
    /// # Errors
    /// As of [`Machine::new`].
    ///
    /// # Panics
    /// If there are not as many regions as programs.
    pub fn with_memories(
        memories: &AgedMemories,
        mut settings: MachineSettings,
        regions: Vec<Region>,
        programs: Vec<Box<dyn Program>>,
        map: &AddressMap,
        contents: Option<Contents>,
    ) -> Result<Machine, MachineError> {
        assert_eq!(regions.len(), programs.len(), "each program has a region");
        if let Some(core) = settings.network.and_then(|network| network.injection.core)
            && core >= programs.len()
        {
            return Err(MachineError::NoCore { core, cores: programs.len() });
        }
        let min_bytes = &mut settings.kernel.copier_min_bytes;
        *min_bytes = min_bytes.or_else(|| programs.iter().map(|program| program.copier_min_bytes()).max());
        let kernel = memories.memory(&settings.allocator, map)?.into_kernel(ZeroOnFree::Off);
        let lacking = programs.iter().map(|program| match program.recorded() {
            Recorded::EveryAccess => Lacking::None,
            Recorded::BehindFirstLevel | Recorded::OsEvents => Lacking::L1,
            Recorded::BehindLastLevel => Lacking::UpperLevels,
        });
        let memory = Memory::new(&settings, lacking, contents.map(FlatMemory::new));
        let tickets = memory.caches.tickets();
        let core = |(index, program)| Core::new(index, &settings.core, tickets, program, regions[index].warm_up);
        let cores: Vec<Core> = programs.into_iter().enumerate().map(core).collect();
        let mut kernel = Kernel::new(&settings, kernel, cores.len(), device::network_adapter(&settings));
        let frames = kernel.device_frames(copier::frames(&settings.kernel, cores.len()));
        let frames = frames.map_err(|source| MachineError::Fault { core: 0, source })?;
        let devices = device::devices(&settings, cores.len());
        let mut machine = Machine {
            hits_are_local: settings.sharing == Sharing::Private && devices.is_empty(),
            settings,
            memory,
            kernel,
            copier: copier::copier(&settings.kernel, cores.len(), &frames),
            devices,
            regions: Regions::new(regions),
            cores,
            first_action: (CoreCycle::NEVER, 0),
            latest_action: (CoreCycle::NEVER, 0),
            horizon: CoreCycle(0),
            error: None,
        };
        (0..machine.cores.len()).for_each(|index| machine.mark(index));
        for index in 0..machine.cores.len() {
            machine.settle(index, CoreCycle(0));
        }
        Ok(machine)
    }

    /// The phase of the run, which changes as the run proceeds.
    pub fn phase(&self) -> Rc<Cell<Phase>> {
        Rc::clone(self.regions.phase())
    }

    /// Returns the results after a run.
    ///
    /// # Errors
    /// If a program did not run to its end.
    ///
    /// # Panics
    /// If requests are in progress.
    pub fn into_outcome(mut self) -> Result<MachineOutcome, MachineError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if let Some((core, address)) = self.memory.conflict {
            return Err(MachineError::WrittenInFlight { core, address });
        }
        if let Some(&lost) = self.copier.pending().first() {
            return Err(lost_copy(lost));
        }
        if let Some(core) = self.cores.iter().position(Core::is_idle) {
            return Err(MachineError::NoPackets { core });
        }
        (0..self.cores.len()).for_each(|index| self.kernel.compare_core(index, &mut self.memory));
        assert!(self.cores.iter().all(|core| core.next == NextAct::Ended), "a run ends after all regions");
        let check = self.memory.check.as_ref();
        Ok(MachineOutcome {
            cores: self.regions.outcomes(self.settings.core.width),
            os: self.kernel.report(),
            check: check.map(|check| (check.loads, check.wrong)),
            wrong: check.and_then(|check| check.memories.wrong),
        })
    }

    /// Executes a core's work up to the first action that affects others at or after `until`.
    fn settle(&mut self, index: usize, until: CoreCycle) {
        let next = loop {
            match self.execute(index, until) {
                Advance::Done | Advance::Part => self.mark(index),
                Advance::Later(at) => break NextAct::At(at),
                Advance::Blocked | Advance::Issued => break NextAct::Blocked,
                Advance::Ended => break NextAct::Ended,
            }
        };
        let core = &mut self.cores[index];
        core.next = if core.is_deferring() { core.next_beside_deferred(next) } else { next };
        let at = |(index, core): (usize, &Core)| match core.next {
            NextAct::At(at) => (at, index),
            NextAct::Blocked | NextAct::Ended => (CoreCycle::NEVER, index),
        };
        self.first_action = self.cores.iter().enumerate().map(at).min().expect("there is a core");
    }

    /// Executes the work of a core that comes first, as far as possible before `until`; the rest
    /// stays first.
    #[inline]
    fn execute(&mut self, index: usize, until: CoreCycle) -> Advance {
        let core = &mut self.cores[index];
        if core.is_deferring() && core.attempt_deferred(&mut self.memory, until) {
            return Advance::Part;
        }
        if self.regions.is_over() {
            if self.cores[index].abandon()
                && let Some(check) = &mut self.memory.check
            {
                check.is_cut.insert(index);
            }
            return self.ended(index, until);
        }
        let bounds = self.bounds(index, until);
        let core = &mut self.cores[index];
        if let Some(work) = core.take_work() {
            return self.attempt(index, work, bounds);
        }
        // With contents, the flat memory executes each step, too. Where hits are requests, they are made
        // step by step, and where interrupts may come, they come between steps.
        let is_stepwise = self.memory.check.is_some() || self.memory.caches.are_hits_requests();
        let pause =
            if is_stepwise || core.interrupts_due > 0 { Pause::Step } else { core.run(&mut self.memory, bounds) };
        match pause {
            Pause::Waits(outcome) => outcome,
            Pause::Step => match self.cores[index].first_step() {
                Some(step) => self.step(index, step, bounds),
                None => self.read_steps(index, until),
            },
        }
    }

    /// The slots before which a core may execute actions without effect on others. An access to a line
    /// of a private cache is one, and may be ahead of the controller, unless a device may remove the line. No
    /// instruction is ahead of an interrupt.
    #[inline]
    fn bounds(&self, index: usize, until: CoreCycle) -> Bounds {
        let run = if self.cores[index].interrupts_due > 0 { until } else { until.max(self.horizon) };
        let hit = if self.hits_are_local { run } else { until };
        self.cores[index].bounds(run, hit, until)
    }

    /// Reads further steps, or ends the program.
    #[inline(never)]
    fn read_steps(&mut self, index: usize, until: CoreCycle) -> Advance {
        match self.cores[index].read_steps() {
            Ok(true) => Advance::Part,
            Ok(false) if self.copier.has_begun(index) => {
                self.cores[index].add(Work::Wait);
                Advance::Part
            }
            Ok(false) => self.ended(index, until),
            Err(source) => self.fail(MachineError::Program { core: index, source }),
        }
    }

    /// Ends a program because of an error, of which the first is kept.
    #[cold]
    fn fail(&mut self, error: MachineError) -> Advance {
        self.error.get_or_insert(error);
        Advance::Ended
    }

    /// Executes work of a core, whose rest stays first.
    #[inline(never)]
    fn attempt(&mut self, index: usize, mut work: Work, bounds: Bounds) -> Advance {
        let (core, memory) = (&mut self.cores[index], &mut self.memory);
        let outcome = match &mut work {
            Work::Run { count, purpose } => core.run_instructions(count, *purpose, bounds),
            Work::Access(access) => core.access(access, memory, bounds),
            Work::Instruction { access, needs } => core.issue(access, *needs, memory, bounds),
            Work::Time(cycles) => core.pause(*cycles),
            Work::Interrupt { at, cycles } => core.interrupt(*at, *cycles),
            Work::Pages { pages, cycles, data } => {
                self.kernel.next_page(core, memory.line_size(), (*pages, *cycles, *data))
            }
            Work::Copy(bulk) => self.copier.begin(core, memory, *bulk, bounds),
            Work::CopyEnd => core.end_copy(),
            Work::Begin { bulk, is_last } => self.copier.begin_piece(core, memory, (*bulk, *is_last), bounds),
            Work::Issue => self.copier.issue(core),
            Work::Wait => self.copier.wait(core, bounds.until),
            Work::CopyRest(bulk) => {
                let outcome = self.copier.proceed(core, memory, *bulk, bounds.until);
                // The run ends, whatever the other cores do: their programs may repeat without end.
                if matches!(outcome, Advance::Issued)
                    && let Some(lost) = self.copier.given_up()
                {
                    return self.fail(lost_copy(lost));
                }
                outcome
            }
        };
        if outcome.is_unfinished() {
            self.cores[index].add(work);
        }
        outcome
    }

    /// Executes a step of the program.
    #[inline]
    fn step(&mut self, index: usize, mut step: Step, bounds: Bounds) -> Advance {
        let (core, memory) = (&mut self.cores[index], &mut self.memory);
        let attempted = match &mut step {
            Step::Compute { instructions } => Ok(core.run_instructions(instructions, Purpose::Program, bounds)),
            Step::Load { address } => self.touch(index, (*address, false), None, bounds),
            Step::Store { address } => self.touch(index, (*address, true), None, bounds),
            Step::Instruction { kind, needs } => match kind {
                InstructionKind::Compute { instructions } => {
                    Ok(core.run_class(instructions, *needs, Purpose::Program, bounds))
                }
                InstructionKind::Load { address } => self.touch(index, (*address, false), Some(*needs), bounds),
                InstructionKind::Store { address } => self.touch(index, (*address, true), Some(*needs), bounds),
            },
            Step::Copy { dst, src, bytes } => {
                let mut bulk = Bulk { src: Some(*src), dst: *dst, bytes: *bytes };
                let outcome = self.kernel.copy(core, memory, &mut bulk, |bulk, _| Work::Copy(bulk), bounds.until);
                (*dst, *src, *bytes) = (bulk.dst, bulk.src.unwrap_or(*src), bulk.bytes);
                outcome
            }
            Step::Zero { address, bytes } => {
                let mut bulk = Bulk { src: None, dst: *address, bytes: *bytes };
                let outcome = self.kernel.copy(core, memory, &mut bulk, |bulk, _| Work::Copy(bulk), bounds.until);
                (*address, *bytes) = (bulk.dst, bulk.bytes);
                outcome
            }
            Step::Device(step) => self.use_device(index, step, bounds.until),
            Step::Renew { .. }
            | Step::Unmap { .. }
            | Step::Discard { .. }
            | Step::Move { .. }
            | Step::Fork { .. }
            | Step::Run { .. }
            | Step::Exit
                if self.copier.has_begun(index) =>
            {
                core.add(Work::Wait);
                Ok(Advance::Part)
            }
            Step::Map { .. }
            | Step::Filled { .. }
            | Step::Present { .. }
            | Step::Renew { .. }
            | Step::Unmap { .. }
            | Step::Discard { .. }
            | Step::Move { .. }
            | Step::Share { .. }
            | Step::Fork { .. }
            | Step::Run { .. }
            | Step::Exit => self.kernel.request(core, memory, step, bounds.until),
        };
        match attempted {
            Ok(outcome) => {
                self.cores[index].proceed(outcome, step);
                outcome
            }
            Err(source) => self.fail(MachineError::Fault { core: index, source }),
        }
    }

    /// Executes a step that uses a device; `step` becomes the rest.
    #[cold]
    fn use_device(&mut self, index: usize, step: &mut DeviceStep, until: CoreCycle) -> Result<Advance, ProgramFault> {
        let (core, memory) = (&mut self.cores[index], &mut self.memory);
        match step {
            DeviceStep::Begin { dst, src, bytes } => {
                let mut bulk = Bulk { src: Some(*src), dst: *dst, bytes: *bytes };
                let begin = |bulk, is_last| Work::Begin { bulk, is_last };
                let outcome = self.kernel.copy(core, memory, &mut bulk, begin, until);
                (*dst, *src, *bytes) = (bulk.dst, bulk.src.unwrap_or(*src), bulk.bytes);
                outcome
            }
            DeviceStep::Issue | DeviceStep::Wait => {
                core.add(if *step == DeviceStep::Wait { Work::Wait } else { Work::Issue });
                Ok(Advance::Done)
            }
            DeviceStep::Post { .. } | DeviceStep::Await | DeviceStep::Send { .. } => {
                self.kernel.use_adapter(core, memory, *step, until)
            }
        }
    }

    /// Executes a load or store of the program at a virtual address, with needs unless it is plain.
    #[inline]
    fn touch(
        &mut self,
        index: usize,
        (address, is_store): (PhysicalAddress, bool),
        needs: Option<Needs>,
        bounds: Bounds,
    ) -> Result<Advance, ProgramFault> {
        let (core, memory) = (&mut self.cores[index], &mut self.memory);
        let Some(physical) = self.kernel.translate(core, address, is_store)? else {
            return self.kernel.page_fault(core, memory, (address, is_store), bounds.until);
        };
        let access = core.program_access(physical, is_store, memory.line_size());
        let outcome = match needs {
            None => core.access(&access, memory, bounds),
            Some(needs) => core.issue(&access, needs, memory, bounds),
        };
        if memory.check.is_some() && matches!(outcome, Advance::Done) {
            self.kernel.executed(index, memory, address, &access);
        }
        Ok(outcome)
    }

    /// The end of a core's program, once its last action is over: the program may begin again.
    #[cold]
    fn ended(&mut self, index: usize, until: CoreCycle) -> Advance {
        match self.cores[index].ended() {
            Some(at) if at >= until => Advance::Later(at),
            Some(at) => match self.begin_again(index, at) {
                Ok(true) => Advance::Done,
                Ok(false) => Advance::Ended,
                Err(error) => self.fail(error),
            },
            None => Advance::Blocked,
        }
    }

    /// Handles the end of a core's program: the program begins again, as a new process, while the
    /// region of any core lasts. Returns whether it does.
    ///
    /// # Errors
    /// If the program cannot begin again, and its region has not ended.
    fn begin_again(&mut self, index: usize, at: CoreCycle) -> Result<bool, MachineError> {
        let end = CoreMark { slots: at.0 * self.settings.core.width, counters: self.counters(index) };
        self.regions.program_ended(index, &end);
        self.advance_phase();
        if self.regions.is_over() {
            return Ok(false);
        }
        let core = &mut self.cores[index];
        let executed = core.counters.instructions;
        let error = |source| MachineError::Program { core: index, source };
        if self.settings.network.is_none()
            && self.regions.may_repeat(index, executed)
            && core.restart().map_err(error)?
        {
            if let Some(lost) = self.lost_copy() {
                return Err(lost);
            }
            self.regions.repeats(index, executed);
            let core = &mut self.cores[index];
            core.delay_until(at, |stalls| &mut stalls.kernel);
            self.kernel.restart(index, &mut self.memory);
            return Ok(true);
        }
        self.regions.require_end(index, executed).map(|()| false)
    }

    /// The error of a copy whose end no device will report: programs that repeat would not end the run.
    fn lost_copy(&self) -> Option<MachineError> {
        let &copy = self.copier.pending().first()?;
        let is_lost = self.devices.iter().all(|device| device.is_idle()) && !self.memory.interconnect.has_messages();
        is_lost.then(|| lost_copy(copy))
    }

    /// Records the boundaries that a core has reached by dispatching instructions.
    #[inline]
    fn mark(&mut self, index: usize) {
        while self.cores[index].counters.instructions == self.cores[index].boundary {
            self.mark_boundary(index);
        }
    }

    #[cold]
    fn mark_boundary(&mut self, index: usize) {
        let mark = CoreMark { slots: self.cores[index].position(), counters: self.counters(index) };
        self.cores[index].boundary = self.regions.reached(index, &mark);
        self.advance_phase();
    }

    fn advance_phase(&mut self) {
        let (cores, memory) = (&self.cores, &self.memory);
        self.regions.advance_phase(|| cores.iter().map(|core| counters(core, memory)).collect());
    }

    /// The counts of a core.
    fn counters(&self, index: usize) -> CoreCounters {
        counters(&self.cores[index], &self.memory)
    }

    /// The cycle of the first action of a core, or of what arrives at a core or device.
    #[inline]
    fn next_event(&self) -> CoreCycle {
        self.first_action.0.min(self.memory.interconnect.first_delivery())
    }

    /// Executes the first event. What arrives in a cycle precedes the actions of cores.
    #[inline]
    fn act(&mut self) {
        let (at, index) = self.first_action;
        if self.memory.interconnect.first_delivery() <= at {
            self.deliver();
        } else {
            self.latest_action = self.first_action;
            self.settle(index, CoreCycle(at.0 + 1));
        }
    }

    /// Executes the events before a cycle, in the order of their cycles and then of the cores.
    fn run_before(&mut self, until: CoreCycle) {
        while self.next_event() < until {
            self.act();
        }
    }

    /// Continues a core after an event for which it may have waited: a core that had its turn in this cycle, in the
    /// next one.
    fn resume(&mut self, index: usize, at: CoreCycle) {
        let (latest, core) = self.latest_action;
        let at = CoreCycle(at.0 + u64::from(at == latest && index <= core));
        if self.cores[index].wake(at) {
            self.settle(index, at);
        }
    }
}

/// The error of a copy whose end a core has not seen.
const fn lost_copy((core, Bulk { src, dst, bytes }): (usize, Bulk)) -> MachineError {
    let src = match src {
        Some(src) => src,
        None => dst,
    };
    MachineError::LostCopy { core, src, dst, bytes }
}

/// The counts of a core, with those of its accesses.
fn counters(core: &Core, memory: &Memory) -> CoreCounters {
    let caches = &memory.caches;
    let (lines, prefetches) = (*caches.counts(core.index()), caches.prefetch_counts(core.index()));
    let misses_after_copies = caches.misses_after_copies(core.index());
    CoreCounters { lines, prefetches, misses_after_copies, ..core.counters() }
}
