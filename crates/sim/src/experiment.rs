//! An experiment: one workload on one system under one copy policy.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dram_spec::{Channel, Cycle, Cycles, Dialect, EventSink};
use energy::{ByRequest, Counts};
use host::workload::Settings;
use host::{
    AllocatorSettings, Contents, Copier, FlatMemory, OperationSpec, Replay, ReplaySettings, Sequence, UnusableRecords,
    Witnessed,
};
use memctrl::policy::copy::{BASELINE, CopyPolicy, ROWCLONE};
use memctrl::stats::Stats;
use memctrl::{Completion, Config, Controller, RequestSource};
use os_alloc_sim::Units;
use protocol_check::Checker;
use rowclone::Operation;
use trace_io::trace::{Format, Reader};

use crate::allocator_report::{AllocatorReport, MemoryState};
use crate::backlog::Offered;
use crate::check_report::CheckReport;
use crate::error::ExperimentError;
use crate::metered::Metered;
use crate::observer::{Commands, Observed, Shared};
use crate::outcome::{Outcome, Played};
use crate::progress::{Progress, Watched};
use crate::range::{CYCLES_MAX, within};
use crate::served::Served;
use crate::system::MemorySystem;
use crate::trace_report::TraceReport;

/// The traffic of an experiment.
pub enum Workload<'a> {
    /// Operations, one after another or at set cycles.
    Operations(Vec<OperationSpec>),
    /// Traffic made from a few settings and the seed.
    Made {
        /// The settings.
        settings: Settings,
        /// Places the pages, where the workload has processes.
        allocator: Option<AllocatorSettings>,
    },
    /// A recorded trace.
    Trace(Trace<'a>),
}

/// A recorded trace, as it is read.
pub struct Trace<'a> {
    /// Its name in reports.
    pub name: String,
    /// Its text, plain or compressed.
    pub text: Box<dyn Read + 'a>,
    /// Its format; without it, the one of its first record.
    pub format: Option<&'static Format>,
    /// What to do with records that the system cannot take.
    pub unusable: UnusableRecords,
    /// Instructions per clock of the memory, where the format counts instructions.
    pub instructions_per_clock: Option<f64>,
    /// Places the pages; without it, they lie where they were recorded.
    pub allocator: Option<AllocatorSettings>,
}

/// One workload on one system under one copy policy.
pub struct Experiment<'a> {
    /// The system.
    pub system: &'a MemorySystem,
    /// Chooses the mechanism of each part of a copy.
    pub policy: &'static dyn CopyPolicy,
    /// The traffic.
    pub workload: Workload<'a>,
    /// What a made workload leaves to chance.
    pub seed: u64,
    /// The figures leave out the cycles before this one; at most [`CYCLES_MAX`].
    pub warm_up: Cycles,
    /// Length of an epoch, of each of which there are figures; from [`Experiment::EPOCH_MIN`] to [`CYCLES_MAX`].
    pub epoch: Option<Cycles>,
    /// Whether to check the commands against the rules, and the memory against a flat array. The seed decides what memory holds at reset.
    pub is_checked: bool,
}

/// What accompanies a run. All of it may be left out.
#[derive(Default)]
pub struct Attachments<'a, 'o> {
    /// Raised by the caller to stop the run.
    pub stop: Option<&'a AtomicBool>,
    /// Reads the commands, as a log does.
    pub commands: Option<&'a mut dyn EventSink>,
    /// Reads commands and requests.
    pub observer: Option<Shared<'o>>,
    /// Called every [`Progress::STEP_REQUESTS`] requests.
    pub progress: Option<&'a dyn Fn(Progress)>,
}

/// The rules that the commands of a policy are checked against: those of the baseline are plain DDR3.
pub fn dialect(policy: &'static dyn CopyPolicy) -> Dialect {
    if policy == BASELINE { Dialect::Jedec } else { Dialect::RowClone }
}

impl<'a> Experiment<'a> {
    /// The shortest epoch: the figures of each are kept, and a run has many cycles.
    pub const EPOCH_MIN: u64 = 100;

    /// That workload under the paper's rule, with seed 1, without warm-up, epochs and check.
    pub fn new(system: &'a MemorySystem, workload: Workload<'a>) -> Experiment<'a> {
        Experiment { system, policy: ROWCLONE, workload, seed: 1, warm_up: Cycles(0), epoch: None, is_checked: false }
    }

    /// Those operations under the paper's rule.
    pub fn operations(system: &'a MemorySystem, operations: impl Into<Vec<OperationSpec>>) -> Experiment<'a> {
        Experiment::new(system, Workload::Operations(operations.into()))
    }

    /// The same under another copy policy.
    #[must_use]
    pub fn policy(self, policy: &'static dyn CopyPolicy) -> Experiment<'a> {
        Experiment { policy, ..self }
    }

    /// The same with another seed.
    #[must_use]
    pub fn seed(self, seed: u64) -> Experiment<'a> {
        Experiment { seed, ..self }
    }

    /// The same with figures that begin after this number of cycles, at most [`CYCLES_MAX`].
    #[must_use]
    pub fn warm_up(self, warm_up: Cycles) -> Experiment<'a> {
        Experiment { warm_up, ..self }
    }

    /// The same with figures of epochs of this length, in cycles: from [`Experiment::EPOCH_MIN`] to [`CYCLES_MAX`].
    #[must_use]
    pub fn epoch(self, epoch: Cycles) -> Experiment<'a> {
        Experiment { epoch: Some(epoch), ..self }
    }

    /// The same, checked: the commands against the rules, and the memory against a flat array.
    #[must_use]
    pub fn checked(self) -> Experiment<'a> {
        Experiment { is_checked: true, ..self }
    }

    /// Runs it.
    ///
    /// # Errors
    /// A workload or a trace that the system cannot take.
    pub fn run(self) -> Result<Outcome, ExperimentError> {
        self.run_with(Attachments::default())
    }

    /// Runs it with readers of its commands and requests.
    ///
    /// # Errors
    /// As [`Experiment::run`]; the run was stopped.
    pub fn run_with(self, attachments: Attachments<'_, '_>) -> Result<Outcome, ExperimentError> {
        let Experiment { system, policy, workload, seed, warm_up, epoch, is_checked } = self;
        within("warm_up", warm_up.0, 0, CYCLES_MAX)?;
        within("epoch", epoch.map_or(Experiment::EPOCH_MIN, |epoch| epoch.0), Experiment::EPOCH_MIN, CYCLES_MAX)?;
        let check = is_checked.then(|| Contents::new(seed, system.map().clone()));
        let is_listed = matches!(workload, Workload::Operations(_));
        let run = Run { system, policy, seed, warm_up, epoch, check, is_listed };
        match workload {
            Workload::Operations(specs) => run.operations(&specs, attachments),
            Workload::Made { settings, allocator } => run.made(&settings, allocator, attachments),
            Workload::Trace(trace) => run.trace(trace, attachments),
        }
    }
}

/// An experiment apart from its workload.
struct Run<'a> {
    system: &'a MemorySystem,
    policy: &'static dyn CopyPolicy,
    seed: u64,
    warm_up: Cycles,
    epoch: Option<Cycles>,
    check: Option<Contents>,
    /// Whether the operations are listed, so that the commands of each are counted.
    is_listed: bool,
}

impl Run<'_> {
    fn operations(self, specs: &[OperationSpec], attachments: Attachments<'_, '_>) -> Result<Outcome, ExperimentError> {
        let planner = self.system.planner();
        let resolve = |(index, spec): (usize, &OperationSpec)| {
            within(format!("operations[{index}].at"), spec.at.map_or(0, |at| at.0), 0, CYCLES_MAX)?;
            let operation = spec.resolve(planner).map_err(|source| ExperimentError::Operation { index, source })?;
            Ok::<_, ExperimentError>((operation, spec.at))
        };
        let operations = specs.iter().enumerate().map(resolve).collect::<Result<Vec<_>, _>>()?;
        let total = Some(operations.len() as u64);
        let source = Watched::new(Sequence::new(operations, self.check.clone()), total, attachments.progress);
        let (source, played) = self.play(source, attachments)?;
        let mut outcome = Outcome::new(self.system, self.policy, played);
        outcome.list(self.system, self.policy, specs, source.finish().into_completions());
        Ok(outcome)
    }

    fn made(
        self,
        settings: &Settings,
        allocator: Option<AllocatorSettings>,
        attachments: Attachments<'_, '_>,
    ) -> Result<Outcome, ExperimentError> {
        let planner = self.system.planner();
        // The memory as it is before the workload, for the report: the run's own one changes.
        let before = allocator.map(|settings| settings.memory(planner.map(), settings.units)).transpose()?;
        let source = settings.source(planner, allocator.as_ref(), self.seed, self.check.clone())?;
        let total = source.requests();
        let (source, played) = self.play(Watched::new(source, total, attachments.progress), attachments)?;
        let os = source.finish().into_outcome().os;
        let allocator = before.zip(os).map(|(before, os)| {
            let before = MemoryState::new(before.set.frames(), &before.allocator.free_blocks());
            AllocatorReport::new(before, &os.report)
        });
        Ok(Outcome { allocator, ..Outcome::new(self.system, self.policy, played) })
    }

    fn trace(self, trace: Trace<'_>, attachments: Attachments<'_, '_>) -> Result<Outcome, ExperimentError> {
        let Trace { name, text, format, unusable, instructions_per_clock, allocator } = trace;
        let reader = Reader::new(text, format).map_err(host::ReplayError::from)?;
        let settings = ReplaySettings {
            unusable,
            clock: self.system.system().clock(),
            instructions_per_clock,
            copier: if self.policy == BASELINE { Copier::Cpu } else { Copier::Controller },
            placement: allocator.map_or(host::Placement::AsRecorded, host::Placement::Allocator),
        };
        // The memory as it is before the first record, for the report: the run's own one changes.
        let before = allocator.map(|settings| settings.memory(self.system.map(), Units::Marked)).transpose();
        let before = before.map_err(host::ReplayError::from)?;
        let source = Replay::new(reader, self.system.planner(), settings, self.check.clone())?;
        let (source, played) = self.play(Watched::new(source, None, attachments.progress), attachments)?;
        let replayed = source.finish().into_outcome()?;
        let allocator = before.zip(replayed.pages.as_ref()).map(|(before, pages)| {
            let before = MemoryState::new(before.set.frames(), &before.allocator.free_blocks());
            AllocatorReport::new(before, &pages.allocator)
        });
        let trace = Some(TraceReport::new(name, &replayed));
        Ok(Outcome { allocator, trace, ..Outcome::new(self.system, self.policy, played) })
    }

    /// Plays a source to its end.
    fn play<S: RequestSource>(
        &self,
        source: S,
        attachments: Attachments<'_, '_>,
    ) -> Result<(S, Played), ExperimentError> {
        let Attachments { stop, commands: mut log, observer, progress: _ } = attachments;
        let never = AtomicBool::new(false);
        let stop = stop.unwrap_or(&never);
        let source = Served::new(Offered::new(source), Cycle::ZERO + self.warm_up);
        let mut source = Observed::new(source, observer);
        let system = self.system.system();
        let meters = Metered::new(system, self.warm_up, self.epoch);
        let mut checker = self.check.is_some().then(|| Checker::new(system, dialect(self.policy)));
        let mut commands = self.is_listed.then(|| ByRequest::new(system.geometry));
        let mut heard = observer.map(Commands);
        let mut sink = (meters, readers(&mut commands, &mut checker, &mut log, &mut heard));
        let mut controller = Controller::new(&Config {
            warm_up: self.warm_up,
            epoch: self.epoch,
            contents: self.check.clone().map(|contents| Arc::new(contents) as _),
            ..self.system.config(self.policy)
        });
        let (source, stats, memory) = match self.check.clone() {
            None => {
                let stats = drive(&mut controller, &mut source, &mut sink, stop)?;
                (source, stats, None)
            }
            Some(contents) => {
                let mut witnessed = Witnessed::new(source, FlatMemory::new(contents));
                let stats = drive(&mut controller, &mut witnessed, &mut sink, stop)?;
                let (source, memory) = witnessed.finish(&controller, system.geometry.channels());
                (source, stats, Some(memory))
            }
        };
        let measured = sink.0.report(self.system.prices(), &stats)?;
        let channels = (0..system.geometry.channels()).map(Channel);
        let (source, served) = source.finish().finish();
        let (source, backlog) = source.finish();
        let played = Played {
            stats,
            measured,
            served,
            backlog,
            commands,
            check: checker
                .zip(memory)
                .map(|(checker, memory)| CheckReport::new(&checker, &memory, dialect(self.policy))),
            dropped_activations: channels.map(|channel| controller.device(channel).dropped()).sum(),
        };
        Ok((source, played))
    }
}

/// Those readers of the command stream that a run has: a reader that is missing costs nothing per command.
fn readers<'a>(
    commands: &'a mut Option<ByRequest>,
    checker: &'a mut Option<Checker>,
    log: &'a mut Option<&mut dyn EventSink>,
    heard: &'a mut Option<Commands<'_>>,
) -> Vec<&'a mut dyn EventSink> {
    let mut readers: Vec<&'a mut dyn EventSink> = Vec::new();
    readers.extend(commands.iter_mut().map(|reader| reader as &mut dyn EventSink));
    readers.extend(checker.iter_mut().map(|reader| reader as &mut dyn EventSink));
    readers.extend(log.iter_mut().map(|reader| &mut **reader as &mut dyn EventSink));
    readers.extend(heard.iter_mut().map(|reader| reader as &mut dyn EventSink));
    readers
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
    /// One operation on an idle memory under a policy, with the count of its commands.
    ///
    /// # Errors
    /// An operation that cannot be done on the system; `stop` was raised.
    ///
    /// # Panics
    /// If the controller drains without completing the operation: a bug there.
    pub fn alone(
        &self,
        policy: &'static dyn CopyPolicy,
        operation: Operation,
        stop: Option<&AtomicBool>,
    ) -> Result<(Completion, Counts), ExperimentError> {
        let refused = |source| ExperimentError::Operation { index: 0, source };
        self.planner().check(&operation).map_err(|error| refused(error.into()))?;
        let mut source = Sequence::new([(operation, None)], None);
        let mut commands = ByRequest::new(self.system().geometry);
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
    use host::Kind;

    use super::*;
    use crate::SystemBuilder;

    /// What the check finds of one operation where the flat array has another address map than its controller: the line lies in the
    /// other channel.
    fn check(kind: Kind, bytes: u64) -> CheckReport {
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
            (Kind::Read, 64, "read 0 returned a wrong byte at offset 0"),
            (Kind::Write, 64, "memory at 0x"),
            (Kind::Zero, 4096, "memory at 0x"),
        ] {
            let report = check(kind, bytes);
            let mismatch = report.memory_mismatch.as_deref().unwrap_or_default();
            assert!(mismatch.starts_with(found), "{kind:?}: {mismatch}");
            assert!(!report.memory_equal && !report.passed(), "{kind:?}");
            assert_eq!((report.violations, report.first_violations.len()), (0, 0), "the commands are legal");
        }
    }
}
