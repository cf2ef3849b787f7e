//! An experiment executes requests on one system under one copy policy.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dram_spec::{Channel, CommandCounts, Cycle, Cycles, Dialect, EventSink};
use energy::ByRequest;
use host::machine::Machine;
use host::workload::Settings;
use host::{
    AllocatorSettings, CheckedSource, Contents, FlatMemory, ListedOperation, MemoryCheck, OperationSpec, Replay,
    ReplayCopier, ReplaySettings, Sequence,
};
use memctrl::policy::copy::{BASELINE, CopyPolicy, ROWCLONE};
use memctrl::stats::Stats;
use memctrl::{Completion, Config, Controller, RequestSource};
use os_alloc_sim::Policy;
use protocol_check::Checker;
use rowclone::Operation;
use trace_io::trace::TraceReader;

use crate::allocator_report::AllocatorReport;
use crate::check_report::CheckReport;
use crate::copy_method::CopyMethod;
use crate::cores_report::CoresReport;
use crate::error::ExperimentError;
use crate::interval::IntervalMeter;
use crate::metered::Metered;
use crate::observer::{Attachments, ObserverSink};
use crate::outcome::{Outcome, Played};
use crate::page_mode;
use crate::range::{CYCLES_MAX, within};
use crate::requests::{Programs, RecordedTrace, Requests};
use crate::system::MemorySystem;
use crate::trace_report::TraceReport;
use crate::tracked::Tracked;

/// Requests to execute on one system under one copy policy.
pub struct Experiment<'a> {
    /// The system.
    pub system: &'a MemorySystem,
    /// Copy policy.
    pub policy: &'static dyn CopyPolicy,
    /// Requests.
    pub requests: Requests<'a>,
    /// Seed of generated workloads, and of memory contents.
    pub seed: u64,
    /// Length of the warm-up, which the figures exclude; at most [`CYCLES_MAX`].
    pub warm_up: Cycles,
    /// Length of an epoch, if figures of epochs are required; from [`Experiment::EPOCH_MIN`] to
    /// [`CYCLES_MAX`].
    pub epoch: Option<Cycles>,
    /// Whether to check the commands against the rules, and the memory against a flat memory. The
    /// seed determines the contents at reset.
    pub is_checked: bool,
}

impl<'a> Experiment<'a> {
    /// Shortest epoch. The figures of all epochs are stored, so short epochs take much memory.
    pub const EPOCH_MIN: u64 = 100;

    /// Creates an experiment under the paper's rule with seed 1, without warm-up, epochs and
    /// checks.
    pub fn new(system: &'a MemorySystem, requests: Requests<'a>) -> Experiment<'a> {
        Experiment { system, policy: ROWCLONE, requests, seed: 1, warm_up: Cycles(0), epoch: None, is_checked: false }
    }

    /// Creates an experiment with a list of operations under the paper's rule.
    ///
    /// # Errors
    /// If an operation is not possible on the system.
    pub fn operations(
        system: &'a MemorySystem,
        operations: impl IntoIterator<Item = OperationSpec>,
    ) -> Result<Experiment<'a>, ExperimentError> {
        let resolve = |(index, spec): (usize, OperationSpec)| {
            spec.resolve(system.planner()).map_err(|source| ExperimentError::Operation { index, source })
        };
        let listed = operations.into_iter().enumerate().map(resolve).collect::<Result<_, _>>()?;
        Ok(Experiment::new(system, Requests::Operations(listed)))
    }

    /// Creates an experiment with programs on cores, under the paper's rule.
    pub fn programs(system: &'a MemorySystem, programs: Programs) -> Experiment<'a> {
        Experiment::new(system, Requests::Programs(Box::new(programs)))
    }

    /// Sets the copy policy.
    #[must_use]
    pub fn policy(self, policy: &'static dyn CopyPolicy) -> Experiment<'a> {
        Experiment { policy, ..self }
    }

    /// Turns the experiment into the reference of its ratios: its requests under the policy
    /// `baseline`, with pages placed by `allocator` where an allocator places them. The settings of
    /// programs on cores already name their allocator of the baseline.
    #[must_use]
    pub fn reference(mut self, allocator: Policy) -> Experiment<'a> {
        if let Requests::Made { allocator: Some(placed), .. }
        | Requests::Trace(RecordedTrace { allocator: Some(placed), .. }) = &mut self.requests
        {
            placed.policy = allocator;
        }
        self.policy(BASELINE)
    }

    /// Enables the checks of commands and memory.
    #[must_use]
    pub fn checked(self) -> Experiment<'a> {
        Experiment { is_checked: true, ..self }
    }

    /// Runs the experiment.
    ///
    /// # Errors
    /// If the workload or trace is not possible on the system.
    pub fn run(self) -> Result<Outcome, ExperimentError> {
        self.run_with(Attachments::default())
    }

    /// Runs the experiment with observers.
    ///
    /// # Errors
    /// As [`Experiment::run`], or the run was stopped.
    pub fn run_with(self, attachments: Attachments<'_, '_>) -> Result<Outcome, ExperimentError> {
        let Experiment { system, policy, requests, seed, warm_up, epoch, is_checked } = self;
        within("warm_up", warm_up.0, 0, CYCLES_MAX)?;
        within("epoch", epoch.map_or(Experiment::EPOCH_MIN, |epoch| epoch.0), Experiment::EPOCH_MIN, CYCLES_MAX)?;
        let check = is_checked.then(|| Contents::new(seed, system.map().clone()));
        let is_listed = matches!(requests, Requests::Operations(_));
        let run = RunSettings { system, policy, seed, warm_up, epoch, check, is_listed };
        match requests {
            Requests::Operations(listed) => run.operations(&listed, attachments),
            Requests::Made { settings, allocator } => run.made(&settings, allocator, attachments),
            Requests::Trace(trace) => run.trace(trace, attachments),
            Requests::Programs(programs) => run.programs(*programs, attachments),
        }
    }
}

/// The dialect in which the commands of a policy are checked: the plain standard for a policy whose
/// mechanisms need no other commands.
pub fn dialect(policy: &'static dyn CopyPolicy) -> Dialect {
    let is_plain = policy.admits().iter().all(|mechanism| mechanism.commands().is_empty());
    if is_plain { Dialect::Jedec } else { Dialect::RowClone }
}

/// The settings of an experiment except its requests.
struct RunSettings<'a> {
    system: &'a MemorySystem,
    policy: &'static dyn CopyPolicy,
    seed: u64,
    warm_up: Cycles,
    epoch: Option<Cycles>,
    check: Option<Contents>,
    /// Whether the requests are a list of operations, for each of which commands are counted.
    is_listed: bool,
}

impl RunSettings<'_> {
    fn operations(
        self,
        listed: &[ListedOperation],
        attachments: Attachments<'_, '_>,
    ) -> Result<Outcome, ExperimentError> {
        let timed = |(index, listed): (usize, &ListedOperation)| {
            let at = listed.spec().at;
            within(format!("operations[{index}].at"), at.map_or(0, |at| at.0), 0, CYCLES_MAX)?;
            let operation = listed.on(self.system.planner());
            Ok((operation.map_err(|source| ExperimentError::Operation { index, source })?, at))
        };
        let operations = listed.iter().enumerate().map(timed).collect::<Result<Vec<_>, ExperimentError>>()?;
        let total = Some(listed.len() as u64);
        let source = Sequence::new(operations, self.check.clone());
        let (source, played) = self.play(source, total, attachments)?;
        let mut outcome = Outcome::new(self.system, self.policy, played);
        outcome.list(self.system, self.policy, listed, source.into_completions());
        Ok(outcome)
    }

    fn made(
        self,
        settings: &Settings,
        allocator: Option<AllocatorSettings>,
        attachments: Attachments<'_, '_>,
    ) -> Result<Outcome, ExperimentError> {
        let planner = self.system.planner();
        let memories = self.system.aged_memories();
        let source = settings.source_with(memories, planner, allocator.as_ref(), self.seed, self.check.clone())?;
        let total = source.requests();
        let (source, mut played) = self.play(source, total, attachments)?;
        let host::workload::WorkloadOutcome { os, wrong } = source.into_outcome();
        played.check.iter_mut().for_each(|check| check.add_wrong_byte(wrong));
        let allocator = os.map(|os| AllocatorReport::new(&os.report));
        let fixed_arrivals = settings.has_fixed_arrivals();
        Ok(Outcome { fixed_arrivals, allocator, ..Outcome::new(self.system, self.policy, played) })
    }

    fn trace(self, trace: RecordedTrace<'_>, attachments: Attachments<'_, '_>) -> Result<Outcome, ExperimentError> {
        let RecordedTrace { name, text, format, unusable, timing, allocator, fault } = trace;
        let reader = TraceReader::new(text, format).map_err(host::ReplayError::from)?;
        let format = reader.format();
        let settings = ReplaySettings {
            unusable,
            clock: self.system.system().clock(),
            timing,
            copier: if self.policy == BASELINE { ReplayCopier::Cpu } else { ReplayCopier::Controller },
            allocator,
            fault,
        };
        let is_checked = self.check.is_some();
        let (memories, planner) = (self.system.aged_memories(), self.system.planner());
        let source = Replay::with_memories(memories, reader, planner, settings, self.check.clone())?;
        let (source, mut played) = self.play(source, None, attachments)?;
        let replayed = source.into_outcome()?;
        played.check.iter_mut().for_each(|check| check.add_wrong_byte(replayed.wrong));
        let allocator = replayed.pages.as_ref().map(|pages| AllocatorReport::new(&pages.allocator));
        let is_data_used = is_checked && replayed.counts.writes_with_data > 0;
        let trace = Some(TraceReport::new(name, format, settings, is_data_used, &replayed));
        let fixed_arrivals = replayed.has_times;
        Ok(Outcome { fixed_arrivals, allocator, trace, ..Outcome::new(self.system, self.policy, played) })
    }

    /// Runs programs on the cores of a machine, whose copier and allocator are those of the policy.
    fn programs(self, programs: Programs, attachments: Attachments<'_, '_>) -> Result<Outcome, ExperimentError> {
        let Programs { settings, devices, programs, regions } = programs;
        let method = CopyMethod::of(self.policy);
        let settings = method.applied_to(&settings, &devices);
        let system = &self.system.with_controller(method.controller(self.system.controller(), &devices));
        let run = RunSettings { system, ..self };
        let (cores, memories) = (programs.len(), system.aged_memories());
        let machine = Machine::with_memories(memories, settings, regions, programs, system.map(), run.check.clone())?;
        let mut meter = IntervalMeter::new(system, &machine, cores, attachments.commands);
        let attached = Attachments { commands: Some(&mut meter), ..attachments };
        let (source, mut played) = run.play(machine, None, attached)?;
        let machine = source.into_outcome()?;
        played.check.iter_mut().for_each(|check| check.add_wrong_byte(machine.wrong));
        let interval = meter.report(system)?.expect("all regions ended");
        let clock = system.system().clock();
        let cores = CoresReport::new(&machine, &settings, &interval, (clock, system.page_mode().is_none()));
        let longest = machine.cores.iter().map(|core| core.cycles).max().unwrap_or_default();
        Ok(Outcome {
            latency_cycles: settings.clock.memory_at(longest).0,
            latency_ns: longest.0 as f64 * clock.ns(Cycles(1)) / settings.clock.per_clock(),
            allocator: Some(AllocatorReport::new(&machine.os)),
            cores: Some(cores),
            ..Outcome::new(system, run.policy, played)
        })
    }

    /// Runs a source to its end; `total` is the number of its requests, if known.
    fn play<S: RequestSource>(
        &self,
        source: S,
        total: Option<u64>,
        attachments: Attachments<'_, '_>,
    ) -> Result<(S, Played), ExperimentError> {
        self.system.check_policy(self.policy)?;
        let Attachments { stop, commands: mut log, observer, progress } = attachments;
        let never = AtomicBool::new(false);
        let stop = stop.unwrap_or(&never);
        let source = Tracked::new(source, total, Cycle::ZERO + self.warm_up, progress, observer);
        let system = self.system.system();
        let meters = Metered::new(system, self.warm_up, self.epoch);
        let mut checker = self.check.is_some().then(|| Checker::new(system, dialect(self.policy)));
        let mut commands = self.is_listed.then(ByRequest::default);
        let mut observed = observer.map(ObserverSink);
        // An absent sink takes no time per command.
        let sinks: [Option<&mut dyn EventSink>; 4] = [
            commands.as_mut().map(|sink| sink as _),
            checker.as_mut().map(|sink| sink as _),
            log.as_mut().map(|sink| &mut **sink as _),
            observed.as_mut().map(|sink| sink as _),
        ];
        let mut sink = (meters, sinks.into_iter().flatten().collect::<Vec<_>>());
        let (source, stats, memory, dropped_activations) = match self.system.page_mode() {
            Some(&page_mode) => {
                let (settings, contents) = ((page_mode, self.warm_up), self.check.as_ref());
                let (source, stats, memory) = page_mode::drive(settings, contents, source, &mut sink, stop)?;
                (source, stats, memory, 0)
            }
            None => self.control(source, &mut sink, stop)?,
        };
        let measured = sink.0.report(self.system.prices(), &stats)?;
        let (source, backlog, served) = source.finish();
        let checked = checker.zip(memory);
        let check = checked.map(|(checker, memory)| CheckReport::new(&checker, &memory, dialect(self.policy)));
        Ok((source, Played { stats, measured, served, backlog, commands, check, dropped_activations }))
    }

    /// Runs a source on a memory controller; with contents, compares the memory with a flat one. Returns also the
    /// activations that the chips dropped.
    fn control<S: RequestSource>(
        &self,
        mut source: S,
        sink: &mut impl EventSink,
        stop: &AtomicBool,
    ) -> Result<(S, Stats, Option<MemoryCheck>, u64), ExperimentError> {
        let mut controller = Controller::new(&Config {
            warm_up: self.warm_up,
            epoch: self.epoch,
            contents: self.check.clone().map(|contents| Arc::new(contents) as _),
            ..self.system.config(self.policy)
        });
        let channels = self.system.system().geometry.channels();
        let (source, stats, memory) = match self.check.clone() {
            None => {
                let stats = drive(&mut controller, &mut source, sink, stop)?;
                (source, stats, None)
            }
            Some(contents) => {
                let mut checked = CheckedSource::new(source, FlatMemory::new(contents));
                let stats = drive(&mut controller, &mut checked, sink, stop)?;
                let (source, memory) = checked.finish(&controller, channels);
                (source, stats, Some(memory))
            }
        };
        let dropped = (0..channels).map(|channel| controller.device(Channel(channel)).dropped()).sum();
        Ok((source, stats, memory, dropped))
    }
}

fn drive(
    controller: &mut Controller,
    source: &mut impl RequestSource,
    sink: &mut impl EventSink,
    stop: &AtomicBool,
) -> Result<Stats, ExperimentError> {
    controller.run(source, sink, stop).map_err(|_| ExperimentError::Stopped)
}

impl MemorySystem {
    /// Runs one operation on an idle memory; returns its completion and its command counts.
    ///
    /// # Errors
    /// If the operation is not possible on the system, or `stop` was set.
    ///
    /// # Panics
    /// If the controller does not complete the operation, which is an error of the controller.
    pub fn alone(
        &self,
        policy: &'static dyn CopyPolicy,
        operation: Operation,
        stop: Option<&AtomicBool>,
    ) -> Result<(Completion, CommandCounts), ExperimentError> {
        self.check_policy(policy)?;
        let refused = |source| ExperimentError::Operation { index: 0, source };
        self.planner().check(&operation).map_err(|error| refused(error.into()))?;
        let mut source = Sequence::new([(operation, None)], None);
        let mut commands = ByRequest::default();
        let never = AtomicBool::new(false);
        let mut controller = Controller::new(&self.config(policy));
        drive(&mut controller, &mut source, &mut commands, stop.unwrap_or(&never))?;
        let completion = source.into_completions().pop().expect("one operation arrived, and the run drained");
        let counts = commands.of(completion.id);
        Ok((completion, counts))
    }
}

#[cfg(test)]
mod tests;
