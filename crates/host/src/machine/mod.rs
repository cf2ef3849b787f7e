//! A machine: cores, caches, processes and their kernel, in front of the memory controller.
//!
//! The machine is a [`RequestSource`](memctrl::RequestSource). A core computes the cycle of its next action from what it
//! knows; an action that affects another core or the memory waits until the controller has reached
//! that cycle, and actions of all cores take effect in the order of their cycles. Nothing advances
//! cycle by cycle. `docs/cores.md` has the model.

mod access;
mod bulk;
mod cache;
mod clock;
mod coherence_check;
mod core;
mod counters;
mod error;
mod forkbench;
mod kernel;
mod kernel_data;
mod memcopy;
mod mix;
mod outbox;
mod pipeline;
mod processes;
mod program;
mod region;
mod settings;
mod source;
#[cfg(test)]
mod tests;
mod trace_program;
mod virtual_check;

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

use dram_spec::AddressMap;
use os_alloc_sim::{Report, ZeroOnFree};
use trace_io::program::Step;
use trace_io::trace::Recorded;

use self::cache::Cache;
use self::coherence_check::CoherenceCheck;
use self::core::{Away, Core, Limits, Next, Pause, Stall, Translations, Work};
use self::counters::StallSlots;
use self::outbox::Outbox;
use self::processes::Processes;
use self::program::StepsAhead;
use self::region::{Interval, Marks};
use crate::aged_memory::AgedMemories;
use crate::contents::Contents;
use crate::flat_memory::FlatMemory;
use crate::virtual_memory::WrongByte;

pub use self::cache::CacheShape;
pub use self::clock::{ClockRatio, CoreCycle};
pub use self::coherence_check::WrongLoad;
pub use self::counters::{CoherenceCounts, CoreCounters, LineCounts, Purpose};
pub use self::error::MachineError;
pub use self::forkbench::Forkbench;
pub use self::memcopy::Memcopy;
pub use self::mix::MixProgram;
pub use self::pipeline::{Order, Pipeline, Slot};
pub use self::processes::ProgramFault;
pub use self::program::{Program, Repeated, Steps};
pub use self::region::{Phase, Region};
pub use self::settings::{Copier, CoreSettings, DirtySource, KernelSettings, MachineSettings, Sharing};
pub use self::trace_program::TraceProgram;

/// Figures of a core after a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoreOutcome {
    /// Counts of the region.
    pub counters: CoreCounters,
    /// Core cycles of the region: up to its last dispatch or, at the end of the program, to the
    /// retirement of the last instruction and the end of the last copy.
    pub cycles: CoreCycle,
    /// Counts of the interval that covers the regions of all cores.
    pub interval: CoreCounters,
}

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
    /// The last-level caches: one per core, or one.
    caches: Vec<Cache>,
    processes: Processes,
    outbox: Outbox,
    region: Region,
    interval: Interval,
    /// Cycle and core of the first action of all cores; [`CoreCycle::NEVER`] if none acts without an
    /// event.
    first_action: (CoreCycle, usize),
    /// Cores may execute actions without effect on others before this cycle.
    horizon: CoreCycle,
    check: Option<CoherenceCheck>,
    error: Option<MachineError>,
}

/// Result of an attempt to execute work.
#[derive(Clone, Copy, Debug)]
enum Outcome {
    Done,
    /// A part is done, or work has been added that precedes the rest.
    Part,
    /// The work can be executed at a cycle.
    Later(CoreCycle),
    /// The work waits for a completion.
    Blocked,
    /// The controller executes the work, and the core waits for its completion.
    Issued,
    /// The program has ended.
    Ended,
}

impl Outcome {
    /// Whether work is left to do.
    const fn is_unfinished(self) -> bool {
        matches!(self, Outcome::Part | Outcome::Later(_) | Outcome::Blocked)
    }
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
        Machine::with_memories(&AgedMemories::default(), settings, region, programs, map, contents)
    }

    /// Creates a machine as [`Machine::new`] does; its aged memory is built only if `memories` does
    /// not keep it.
    ///
    /// # Errors
    /// As of [`Machine::new`].
    pub fn with_memories(
        memories: &AgedMemories,
        settings: MachineSettings,
        region: Region,
        programs: Vec<Box<dyn Program>>,
        map: &AddressMap,
        contents: Option<Contents>,
    ) -> Result<Machine, MachineError> {
        let kernel = memories.kernel(&settings.allocator, map, ZeroOnFree::Off)?;
        let has_data = contents.is_some();
        let caches = match settings.sharing {
            Sharing::Private => programs.len(),
            Sharing::Shared => 1,
        };
        let processes = Processes::new(kernel, programs.len());
        let core = |program: Box<dyn Program>| Core {
            is_uncached: program.recorded() == Recorded::BehindLastLevel,
            l1: settings
                .l1
                .filter(|_| program.recorded() == Recorded::EveryAccess)
                .map(|shape| Cache::new(shape, false)),
            program,
            marks: Marks { next: region.warm_up, ..Marks::default() },
            pipeline: Pipeline::new(settings.core.order, settings.core.width, settings.core.window),
            steps: StepsAhead::default(),
            work: Vec::new(),
            kernel_data: VecDeque::new(),
            away: None,
            mshrs: Vec::new(),
            stores: 0,
            translations: Translations::new(),
            counters: CoreCounters::default(),
            stall: None,
            next: Next::Blocked,
        };
        let mut machine = Machine {
            settings,
            cores: programs.into_iter().map(core).collect(),
            caches: (0..caches).map(|_| Cache::new(settings.last_level, has_data)).collect(),
            processes,
            outbox: Outbox::default(),
            region,
            interval: Interval::default(),
            first_action: (CoreCycle::NEVER, 0),
            horizon: CoreCycle(0),
            check: contents.map(|contents| CoherenceCheck::new(FlatMemory::new(contents))),
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
        Rc::clone(&self.interval.phase)
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
        (0..self.cores.len()).for_each(|index| self.compare_core(index));
        let intervals = self.interval.begin.iter().zip(&self.interval.end);
        let cores = self.cores.iter().zip(intervals).map(|(core, (&from, &to))| {
            assert_eq!(core.next, Next::Ended, "a run ends after all regions");
            let Marks { begin: Some(begin), end: Some(end), .. } = core.marks else {
                unreachable!("all regions ended")
            };
            let cycles = CoreCycle((end.slots - begin.slots).div_ceil(self.settings.core.width));
            CoreOutcome { counters: end.counters - begin.counters, cycles, interval: to - from }
        });
        Ok(MachineOutcome {
            cores: cores.collect(),
            os: self.processes.report(),
            check: self.check.as_ref().map(|check| (check.loads, check.wrong)),
            wrong: self.check.as_ref().and_then(|check| check.memories.wrong),
        })
    }

    /// Index of the last-level cache of a core.
    const fn cache_of(&self, core: usize) -> usize {
        match self.settings.sharing {
            Sharing::Private => core,
            Sharing::Shared => 0,
        }
    }

    /// Executes a core's work up to the first action that affects others at or after `until`.
    fn settle(&mut self, index: usize, until: CoreCycle) {
        self.cores[index].next = loop {
            match self.execute(index, until) {
                Outcome::Done | Outcome::Part => self.mark(index),
                Outcome::Later(at) => break Next::At(at),
                Outcome::Blocked | Outcome::Issued => break Next::Blocked,
                Outcome::Ended => break Next::Ended,
            }
        };
        let at = |(index, core): (usize, &Core)| match core.next {
            Next::At(at) => (at, index),
            Next::Blocked | Next::Ended => (CoreCycle::NEVER, index),
        };
        self.first_action = self.cores.iter().enumerate().map(at).min().expect("there is a core");
    }

    /// Executes the work of a core that comes first, as far as possible before `until`; the rest
    /// stays first.
    #[inline]
    fn execute(&mut self, index: usize, until: CoreCycle) -> Outcome {
        let core = &mut self.cores[index];
        if self.interval.phase.get() == Phase::Over {
            core.steps.clear();
            core.away = None;
            if !std::mem::take(&mut core.work).is_empty()
                && let Some(check) = &mut self.check
            {
                check.is_cut.insert(index);
            }
            return self.ended(index, until);
        }
        if let Some(work) = core.work.pop() {
            return self.attempt(index, work, until);
        }
        let (limits, cache) = (self.limits(index, until), self.cache_of(index));
        let (core, cache) = (&mut self.cores[index], &mut self.caches[cache]);
        // With contents, the flat memory executes each step, too.
        let pause = if self.check.is_some() {
            Pause::Step
        } else if let Some(pause) = core.retry(cache, limits) {
            pause
        } else {
            core.run_steps(cache, limits)
        };
        match pause {
            Pause::Away(slot) => {
                let Away { access, way, .. } = core.away.expect("it is first");
                let outcome = self.access_away(index, &access, way, (slot, until));
                if !outcome.is_unfinished() {
                    let core = &mut self.cores[index];
                    core.away = None;
                    core.steps.advance();
                }
                outcome
            }
            Pause::Waits(outcome) => outcome,
            Pause::Boundary => Outcome::Part,
            Pause::Step => match self.cores[index].steps.first() {
                Some(step) => self.step(index, step, until),
                None => self.read_steps(index, until),
            },
        }
    }

    /// Reads further steps, or ends the program.
    #[inline(never)]
    fn read_steps(&mut self, index: usize, until: CoreCycle) -> Outcome {
        let core = &mut self.cores[index];
        match core.steps.read(&mut *core.program) {
            Ok(true) => Outcome::Part,
            Ok(false) => self.ended(index, until),
            Err(source) => self.fail(MachineError::Program { core: index, source }),
        }
    }

    /// Ends a program because of an error, of which the first is kept.
    #[cold]
    fn fail(&mut self, error: MachineError) -> Outcome {
        self.error.get_or_insert(error);
        Outcome::Ended
    }

    /// The end of a core's program, once its last action is over: the program may begin again.
    #[cold]
    fn ended(&mut self, index: usize, until: CoreCycle) -> Outcome {
        let core = &self.cores[index];
        match core.pipeline.drained().filter(|_| core.mshrs.is_empty()) {
            Some(at) if at >= until => Outcome::Later(at),
            Some(at) => match self.begin_again(index, at) {
                Ok(true) => Outcome::Done,
                Ok(false) => Outcome::Ended,
                Err(error) => self.fail(error),
            },
            None => Outcome::Blocked,
        }
    }

    #[inline(never)]
    fn attempt(&mut self, index: usize, mut work: Work, until: CoreCycle) -> Outcome {
        let outcome = match &mut work {
            Work::Run { count, purpose } => self.run_instructions(index, count, *purpose, until),
            Work::Access(access) => self.access(index, access, until),
            Work::Bulk(bulk) => self.begin_bulk(index, *bulk, until),
            Work::Loop(bulk) => self.loop_step(index, *bulk),
            Work::Pages { pages, cycles, data } => self.next_page(index, *pages, *cycles, *data),
            Work::Kernel { cycles } => self.pause(index, *cycles, |stalls| &mut stalls.kernel),
            Work::InsertZeros(bulk) => self.insert_zeros(index, *bulk, until),
        };
        if outcome.is_unfinished() {
            self.cores[index].work.push(work);
        }
        outcome
    }

    /// Executes a step of the program.
    #[inline]
    fn step(&mut self, index: usize, mut step: Step, until: CoreCycle) -> Outcome {
        let attempted = match &mut step {
            Step::Compute { instructions } => Ok(self.run_instructions(index, instructions, Purpose::Program, until)),
            Step::Load { address } | Step::Store { address } => {
                let address = *address;
                self.touch(index, address, matches!(step, Step::Store { .. }), until)
            }
            Step::Copy { dst, src, bytes } => self.virtual_bulk(index, Some(src), dst, bytes, until),
            Step::Zero { address, bytes } => self.virtual_bulk(index, None, address, bytes, until),
            Step::Map { .. }
            | Step::Filled { .. }
            | Step::Present { .. }
            | Step::Renew { .. }
            | Step::Fork { .. }
            | Step::Run { .. }
            | Step::Exit => self.request(index, step, until),
        };
        match attempted {
            Ok(outcome) => {
                let steps = &mut self.cores[index].steps;
                if outcome.is_unfinished() {
                    steps.replace(step);
                } else {
                    steps.advance();
                }
                outcome
            }
            Err(source) => self.fail(MachineError::Fault { core: index, source }),
        }
    }

    /// Dispatches instructions without memory access; `count` is the number of those left.
    fn run_instructions(&mut self, index: usize, count: &mut u64, purpose: Purpose, until: CoreCycle) -> Outcome {
        let limit = self.limits(index, until).run;
        self.cores[index].run_instructions(count, purpose, limit)
    }

    /// The slots before which a core may execute actions without effect on others. An access to a line
    /// of a private cache is one, and may be ahead of the controller.
    #[inline]
    fn limits(&self, index: usize, until: CoreCycle) -> Limits {
        let pipeline = &self.cores[index].pipeline;
        let run = pipeline.first_slot(until.max(self.horizon));
        let hit = if self.settings.sharing == Sharing::Private { run } else { pipeline.first_slot(until) };
        Limits { run, hit }
    }

    /// Dispatches nothing for a time.
    fn pause(&mut self, index: usize, cycles: u64, cause: impl Fn(&mut StallSlots) -> &mut u64) -> Outcome {
        if cycles == 0 {
            return Outcome::Done;
        }
        let core = &mut self.cores[index];
        let Some(slot) = core.pipeline.next_slot() else { return Outcome::Blocked };
        let end = CoreCycle(core.pipeline.cycle(slot).0 + cycles);
        *cause(&mut core.counters.stalls) += core.pipeline.delay_until(end);
        Outcome::Done
    }

    /// The cycle in which a core without instructions, lines and stores in progress acts; `None`,
    /// and a stall, if any is in progress.
    fn quiet_cycle(&mut self, index: usize) -> Option<CoreCycle> {
        let core = &mut self.cores[index];
        let drained = core.pipeline.drained().filter(|_| core.mshrs.is_empty() && core.stores == 0);
        if drained.is_none() && !core.pipeline.is_blocked() {
            core.stall = Some(Stall::Drain);
        }
        drained
    }

    /// Executes the actions before a cycle, in the order of their cycles and then of the cores.
    fn run_before(&mut self, until: CoreCycle) {
        while self.first_action.0 < until {
            let (at, index) = self.first_action;
            self.settle(index, CoreCycle(at.0 + 1));
        }
    }

    /// Continues a core after an event for which it may have waited.
    fn resume(&mut self, index: usize, at: CoreCycle) {
        let core = &mut self.cores[index];
        if core.next != Next::Blocked || matches!(core.stall, Some(Stall::Controller(_))) {
            return;
        }
        if let Some(stall) = core.stall.take() {
            let slots = core.pipeline.delay_until(at);
            *match stall {
                Stall::Mshr => &mut core.counters.stalls.mshr,
                Stall::StoreBuffer => &mut core.counters.stalls.store_buffer,
                Stall::Drain => &mut core.counters.stalls.kernel,
                Stall::Controller(_) => unreachable!("excluded above"),
            } += slots;
        }
        self.settle(index, at);
    }
}
