//! A machine: cores, caches, processes and their kernel, in front of the memory controller.
//!
//! The machine is a [`RequestSource`]. A core computes the cycle of its next action from what it
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
mod forkbench;
mod kernel;
mod outbox;
mod pipeline;
mod processes;
mod program;
mod settings;
#[cfg(test)]
mod tests;

use dram_spec::{AddressMap, Cycle, Operation, RequestId, SourceId};
use memctrl::{Completion, Request, RequestSource};
use os_alloc_sim::{Report, ZeroOnFree};
use trace_io::program::{ProgramError, Step};

use self::cache::Cache;
use self::coherence_check::CoherenceCheck;
use self::core::{Core, Next, Stall, Translations, Work};
use self::counters::StallSlots;
use self::outbox::Outbox;
use self::processes::Processes;
use crate::allocator_settings::AllocatorError;
use crate::contents::Contents;
use crate::flat_memory::FlatMemory;

pub use self::cache::CacheShape;
pub use self::clock::{ClockRatio, CoreCycle};
pub use self::coherence_check::WrongLoad;
pub use self::counters::{CoherenceCounts, CoreCounters, LineCounts, Purpose};
pub use self::forkbench::Forkbench;
pub use self::pipeline::{Order, Pipeline, Slot};
pub use self::processes::ProgramFault;
pub use self::program::Program;
pub use self::settings::{Copier, CoreSettings, DirtySource, KernelSettings, MachineSettings, Sharing};

/// Core cycles by which a core with a private cache may advance before the controller.
const RUN_AHEAD: u64 = 1 << 18;

/// Reason why a program did not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// The program cannot be read further.
    #[error("the program of core {core}: {source}")]
    Program {
        /// Core.
        core: usize,
        /// Reason.
        source: ProgramError,
    },
    /// The kernel refuses a request or an access of the program.
    #[error("the program of core {core}: {source}")]
    Fault {
        /// Core.
        core: usize,
        /// Reason.
        source: ProgramFault,
    },
    /// The allocator cannot be built.
    #[error(transparent)]
    Allocator(#[from] AllocatorError),
}

impl MachineError {
    /// Suggested change.
    pub fn help(&self) -> String {
        match self {
            Self::Program { source, .. } => source.help(),
            Self::Fault { source, .. } => source.help().to_owned(),
            Self::Allocator(error) => error.help(),
        }
    }
}

/// Figures of a core after a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoreOutcome {
    /// Counts.
    pub counters: CoreCounters,
    /// Core cycles from reset to the retirement of the last instruction and the end of the last copy.
    pub cycles: CoreCycle,
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
    /// Cores may execute actions without effect on others before this cycle.
    horizon: CoreCycle,
    check: Option<CoherenceCheck>,
    contents: Option<Contents>,
    error: Option<MachineError>,
}

/// Result of an attempt to execute work.
enum Outcome {
    Done,
    /// The work can be executed at a cycle.
    Later(CoreCycle),
    /// The work waits for a completion.
    Blocked,
    /// A part of the work was executed, and the rest waits for a completion.
    Rest(Work),
}

impl Machine {
    /// Creates a machine with a core per program. With `contents`, caches hold data, and each load
    /// is compared with a flat, coherent memory.
    ///
    /// # Errors
    /// If the allocator cannot be built.
    pub fn new(
        settings: MachineSettings,
        programs: Vec<Box<dyn Program>>,
        map: &AddressMap,
        contents: Option<Contents>,
    ) -> Result<Machine, MachineError> {
        let kernel = settings.allocator.kernel(map, ZeroOnFree::Off)?;
        let has_data = contents.is_some();
        let caches = match settings.sharing {
            Sharing::Private => programs.len(),
            Sharing::Shared => 1,
        };
        let processes = Processes::new(kernel, programs.len());
        let core = |program| Core {
            program,
            pipeline: Pipeline::new(settings.core.order, settings.core.width, settings.core.window),
            work: Vec::new(),
            mshrs: Vec::new(),
            stores: 0,
            l1: settings.l1.map(|shape| Cache::new(shape, false)),
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
            horizon: CoreCycle(0),
            check: contents.clone().map(|contents| CoherenceCheck::new(FlatMemory::new(contents))),
            contents,
            error: None,
        };
        for index in 0..machine.cores.len() {
            machine.settle(index, CoreCycle(0));
        }
        Ok(machine)
    }

    /// Returns the results after a run.
    ///
    /// # Errors
    /// If a program did not run to its end.
    ///
    /// # Panics
    /// If requests are in progress.
    pub fn into_outcome(self) -> Result<MachineOutcome, MachineError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let cores = self.cores.iter().map(|core| {
            assert_eq!(core.next, Next::Ended, "a run ends after all programs");
            let cycles = core.pipeline.drained().expect("no data are awaited");
            CoreOutcome { counters: core.counters.with_window(&core.pipeline), cycles }
        });
        Ok(MachineOutcome {
            cores: cores.collect(),
            os: self.processes.report(),
            check: self.check.as_ref().map(|check| (check.loads, check.wrong)),
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
        let next = loop {
            let core = &mut self.cores[index];
            let work = match core.work.pop() {
                Some(work) => work,
                None => match core.program.next_step() {
                    Ok(Some(step)) => Work::Step(step),
                    Ok(None) => break self.ended(index, until),
                    Err(source) => break self.fail(MachineError::Program { core: index, source }),
                },
            };
            let (rest, next) = match self.attempt(index, &work, until) {
                Ok(Outcome::Done) if self.cores[index].stall.is_none() => continue,
                Ok(Outcome::Done) => break Next::Blocked,
                Ok(Outcome::Later(at)) => (work, Next::At(at)),
                Ok(Outcome::Blocked) => (work, Next::Blocked),
                Ok(Outcome::Rest(rest)) => (rest, Next::Blocked),
                Err(source) => break self.fail(MachineError::Fault { core: index, source }),
            };
            self.cores[index].work.push(rest);
            break next;
        };
        self.cores[index].next = next;
    }

    /// Ends a program because of an error, of which the first is kept.
    fn fail(&mut self, error: MachineError) -> Next {
        self.error.get_or_insert(error);
        Next::Ended
    }

    /// State of a core whose program has ended: the run lasts until its last action is over.
    fn ended(&self, index: usize, until: CoreCycle) -> Next {
        let core = &self.cores[index];
        match core.pipeline.drained().filter(|_| core.mshrs.is_empty()) {
            Some(at) if at >= until => Next::At(at),
            Some(_) => Next::Ended,
            None => Next::Blocked,
        }
    }

    #[inline]
    fn attempt(&mut self, index: usize, work: &Work, until: CoreCycle) -> Result<Outcome, ProgramFault> {
        match *work {
            Work::Step(step) => self.step(index, step, until),
            Work::Run { count, purpose } => Ok(match self.run_instructions(index, count, purpose) {
                0 => Outcome::Done,
                count => Outcome::Rest(Work::Run { count, purpose }),
            }),
            Work::Access(access) => Ok(self.access(index, &access, until)),
            Work::Bulk(bulk) => Ok(self.begin_bulk(index, bulk, until)),
            Work::Loop(bulk, offset) => Ok(self.loop_step(index, bulk, offset)),
            Work::Kernel { cycles } => Ok(self.pause(index, cycles, |stalls| &mut stalls.kernel)),
            Work::InsertZeros(bulk) => Ok(self.insert_zeros(index, bulk, until)),
        }
    }

    /// Executes a step of the program.
    #[inline]
    fn step(&mut self, index: usize, step: Step, until: CoreCycle) -> Result<Outcome, ProgramFault> {
        match step {
            Step::Compute { instructions } => Ok(match self.run_instructions(index, instructions, Purpose::Program) {
                0 => Outcome::Done,
                instructions => Outcome::Rest(Work::Step(Step::Compute { instructions })),
            }),
            Step::Load { address } => self.touch(index, address, false, until),
            Step::Store { address } => self.touch(index, address, true, until),
            Step::Copy { dst, src, bytes } => self.virtual_bulk(index, (Some(src), dst, bytes), until),
            Step::Zero { address, bytes } => self.virtual_bulk(index, (None, address, bytes), until),
            Step::Map { .. } | Step::Filled { .. } | Step::Fork { .. } | Step::Run { .. } | Step::Exit => {
                self.request(index, step, until)
            }
        }
    }

    /// Dispatches instructions without memory access; returns how many must wait for data.
    fn run_instructions(&mut self, index: usize, count: u64, purpose: Purpose) -> u64 {
        let core = &mut self.cores[index];
        let done = core.pipeline.run(count);
        match purpose {
            Purpose::Program => core.counters.instructions += done,
            Purpose::KernelCopy | Purpose::KernelZero => core.counters.kernel_instructions += done,
        }
        count - done
    }

    /// Dispatches nothing for a time.
    fn pause(&mut self, index: usize, cycles: u64, cause: impl Fn(&mut StallSlots) -> &mut u64) -> Outcome {
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
        if drained.is_none() {
            core.stall = Some(Stall::Drain);
        }
        drained
    }

    /// Executes the actions before a cycle, in the order of their cycles and then of the cores.
    fn run_before(&mut self, until: CoreCycle) {
        while let Some((at, index)) = self.first_action().filter(|(at, _)| *at < until) {
            self.settle(index, CoreCycle(at.0 + 1));
        }
    }

    /// The first action of all cores.
    fn first_action(&self) -> Option<(CoreCycle, usize)> {
        let at = |(index, core): (usize, &Core)| match core.next {
            Next::At(at) => Some((at, index)),
            Next::Blocked | Next::Ended => None,
        };
        self.cores.iter().enumerate().filter_map(at).min()
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

impl RequestSource for Machine {
    fn next_arrival(&self) -> Option<Cycle> {
        if self.error.is_some() {
            return None;
        }
        let action = self.first_action().map(|(at, _)| at);
        let at = action.into_iter().chain(self.outbox.first()).min()?;
        Some(self.settings.clock.memory_at(at))
    }

    fn take(&mut self, now: Cycle) -> Option<Request> {
        let now_core = self.settings.clock.core_until(now);
        if self.settings.sharing == Sharing::Private {
            self.horizon = self.horizon.max(CoreCycle(now_core.0 + RUN_AHEAD));
        }
        let first = |machine: &Machine| machine.outbox.first().unwrap_or(now_core).min(now_core);
        while let Some((at, index)) = self.first_action().filter(|(at, _)| *at <= first(self)) {
            self.settle(index, CoreCycle(at.0 + 1));
        }
        let outgoing = self.outbox.take(now_core)?;
        if outgoing.holds_store_entry {
            // Actions before the free entry come first, so that all cores see one order.
            self.run_before(now_core);
            self.cores[outgoing.core].stores -= 1;
            self.resume(outgoing.core, now_core);
        }
        Some(Request {
            id: RequestId(outgoing.number),
            source: SourceId(outgoing.core as u16),
            arrival: self.settings.clock.memory_at(outgoing.at),
            operation: outgoing.operation,
            payload: outgoing.payload,
        })
    }

    fn complete(&mut self, completion: Completion) {
        let at = self.settings.clock.core_at(completion.done);
        let index = usize::from(completion.source.0);
        self.run_before(at);
        match completion.operation {
            Operation::Read { .. } => self.line_arrived(index, at, &completion),
            Operation::Write { .. } => return,
            Operation::Copy { .. } | Operation::Init { .. } => self.bulk_done(index, at, &completion),
        }
        self.resume(index, at);
        if self.settings.sharing == Sharing::Shared {
            // A core may wait for a way of a set in which all lines were pending.
            for other in (0..self.cores.len()).filter(|&other| other != index) {
                if self.cores[other].stall == Some(Stall::Mshr) {
                    self.resume(other, at);
                }
            }
        }
    }
}
