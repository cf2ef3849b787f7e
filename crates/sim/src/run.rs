//! Runs of experiments.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dram_spec::{Channel, CommandCounts, Cycle, Cycles, Dialect, EventSink};
use energy::ByRequest;
use host::machine::{Machine, MachineSettings, Program, Region};
use host::workload::Settings;
use host::{
    AllocatorSettings, CheckedSource, Contents, Copier, FlatMemory, MemoryCheck, OperationSpec, Replay, ReplaySettings,
    Sequence,
};
use memctrl::policy::copy::{BASELINE, CopyPolicy};
use memctrl::stats::Stats;
use memctrl::{Completion, Config, Controller, RequestSource};
use protocol_check::Checker;
use rowclone::Operation;
use trace_io::trace::Reader;

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
use crate::system::MemorySystem;
use crate::trace_report::TraceReport;
use crate::tracked::Tracked;
use crate::workload::{Programs, Trace};

/// The dialect in which the commands of a policy are checked: the plain standard for a policy whose
/// mechanisms need no other commands.
pub fn dialect(policy: &'static dyn CopyPolicy) -> Dialect {
    let is_plain = policy.admits().iter().all(|mechanism| mechanism.commands().is_empty());
    if is_plain { Dialect::Jedec } else { Dialect::RowClone }
}

/// The settings of an experiment except its workload.
pub(crate) struct Run<'a> {
    pub(crate) system: &'a MemorySystem,
    pub(crate) policy: &'static dyn CopyPolicy,
    pub(crate) seed: u64,
    pub(crate) warm_up: Cycles,
    pub(crate) epoch: Option<Cycles>,
    pub(crate) check: Option<Contents>,
    /// Whether the workload is a list of operations, for each of which commands are counted.
    pub(crate) is_listed: bool,
}

impl Run<'_> {
    /// The run on another system.
    pub(crate) fn on(self, system: &MemorySystem) -> Run<'_> {
        Run { system, ..self }
    }

    pub(crate) fn operations(
        self,
        specs: &[OperationSpec],
        attachments: Attachments<'_, '_>,
    ) -> Result<Outcome, ExperimentError> {
        let planner = self.system.planner();
        let resolve = |(index, spec): (usize, &OperationSpec)| {
            within(format!("operations[{index}].at"), spec.at.map_or(0, |at| at.0), 0, CYCLES_MAX)?;
            let operation = spec.resolve(planner).map_err(|source| ExperimentError::Operation { index, source })?;
            Ok::<_, ExperimentError>((operation, spec.at))
        };
        let operations = specs.iter().enumerate().map(resolve).collect::<Result<Vec<_>, _>>()?;
        let total = Some(operations.len() as u64);
        let source = Sequence::new(operations, self.check.clone());
        let (source, played) = self.play(source, total, attachments)?;
        let mut outcome = Outcome::new(self.system, self.policy, played);
        outcome.list(self.system, self.policy, specs, source.into_completions());
        Ok(outcome)
    }

    pub(crate) fn made(
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
        let host::workload::Outcome { os, wrong } = source.into_outcome();
        played.check.iter_mut().for_each(|check| check.add_wrong_byte(wrong));
        let allocator = os.map(|os| AllocatorReport::new(&os.report));
        let fixed_arrivals = settings.has_fixed_arrivals();
        Ok(Outcome { fixed_arrivals, allocator, ..Outcome::new(self.system, self.policy, played) })
    }

    pub(crate) fn trace(self, trace: Trace<'_>, attachments: Attachments<'_, '_>) -> Result<Outcome, ExperimentError> {
        let Trace { name, text, format, unusable, timing, allocator, fault } = trace;
        let reader = Reader::new(text, format).map_err(host::ReplayError::from)?;
        let format = reader.format();
        let settings = ReplaySettings {
            unusable,
            clock: self.system.system().clock(),
            timing,
            copier: if self.policy == BASELINE { Copier::Cpu } else { Copier::Controller },
            placement: allocator.map_or(host::Placement::AsRecorded, host::Placement::Allocator),
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

    /// Runs programs on cores.
    pub(crate) fn programs(
        self,
        programs: Programs,
        attachments: Attachments<'_, '_>,
    ) -> Result<Outcome, ExperimentError> {
        let Programs { settings, devices, programs, region } = programs;
        let method = CopyMethod::of(self.policy);
        let settings = method.applied_to(&settings, &devices);
        let system = self.system.with_controller(method.controller(self.system.controller(), &devices));
        self.on(&system).machine(settings, region, programs, attachments)
    }

    /// Runs programs on the cores of a machine, whose copier and allocator are those of the run.
    fn machine(
        self,
        settings: MachineSettings,
        region: Region,
        programs: Vec<Box<dyn Program>>,
        attachments: Attachments<'_, '_>,
    ) -> Result<Outcome, ExperimentError> {
        let (map, clock) = (self.system.map(), self.system.system().clock());
        let cores = programs.len();
        let memories = self.system.aged_memories();
        let machine = Machine::with_memories(memories, settings, region, programs, map, self.check.clone())?;
        let mut meter = IntervalMeter::new(self.system, &machine, cores, attachments.commands);
        let attached = Attachments { commands: Some(&mut meter), ..attachments };
        let (source, mut played) = self.play(machine, None, attached)?;
        let machine = source.into_outcome()?;
        played.check.iter_mut().for_each(|check| check.add_wrong_byte(machine.wrong));
        let interval = meter.report(self.system)?.expect("all regions ended");
        let has_bursts = self.system.page_mode().is_none();
        let cores = CoresReport::new(&machine, &settings, &interval, (clock, has_bursts));
        let longest = machine.cores.iter().map(|core| core.cycles).max().unwrap_or_default();
        Ok(Outcome {
            latency_cycles: settings.clock.memory_at(longest).0,
            latency_ns: longest.0 as f64 * clock.ns(Cycles(1)) / settings.clock.per_clock(),
            allocator: Some(AllocatorReport::new(&machine.os)),
            cores: Some(cores),
            ..Outcome::new(self.system, self.policy, played)
        })
    }

    /// Runs a source to its end; `total` is the number of its requests, if known.
    pub(crate) fn play<S: RequestSource>(
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
mod tests {
    use dram_spec::address::Preset;
    use dram_spec::{AddressMap, PhysicalAddress};
    use host::OperationKind;
    use memctrl::policy::copy::ROWCLONE;

    use super::*;
    use crate::SystemBuilder;

    /// Results of the checks of one operation if the flat memory has another address map than the
    /// controller: the line lies in the other channel.
    fn check(kind: OperationKind, bytes: u64) -> CheckReport {
        let system = SystemBuilder::default().build().unwrap();
        let other = AddressMap::preset(system.system().geometry, Preset::LineInterleaved);
        let check = Some(Contents::new(1, other));
        let (policy, seed, warm_up, epoch) = (ROWCLONE, 1, Cycles(0), None);
        let run = Run { system: &system, policy, seed, warm_up, epoch, check, is_listed: true };
        let spec = OperationSpec { kind, src: None, dst: PhysicalAddress(0x40_0040), bytes, value: 0, at: None };
        run.operations(&[spec], Attachments::default()).unwrap().check.unwrap()
    }

    #[test]
    fn a_wrong_read_and_wrong_cells_are_findings() {
        for (kind, bytes, found) in [
            (OperationKind::Read, 64, "read 0 returned a wrong byte at offset 0"),
            (OperationKind::Write, 64, "memory at 0x"),
            (OperationKind::Zero, 4096, "memory at 0x"),
        ] {
            let report = check(kind, bytes);
            let mismatch = report.memory_mismatch.as_deref().unwrap_or_default();
            assert!(mismatch.starts_with(found), "{kind:?}: {mismatch}");
            assert!(!report.memory_equal && !report.passed(), "{kind:?}");
            assert_eq!((report.violations, report.first_violations.len()), (0, 0), "the commands are legal");
        }
    }
}
