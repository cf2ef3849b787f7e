//! One run of a scenario under one policy, with whatever reads its command stream.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dram_spec::{Channel, Cycle, Dialect, EventSink};
use energy::{ByRequest, Counts, Prices};
use host::workload::{Settings, WorkloadError};
use host::{
    AllocatorSettings, Contents, Copier, FlatMemory, MemoryCheck, OperationSpec, Replay, ReplayError, ReplayOutcome,
    ReplaySettings, Sequence, Witnessed,
};
use indicatif::ProgressBar;
use memctrl::policy::copy::{BASELINE, CopyPolicy};
use memctrl::stats::Stats;
use memctrl::{Completion, Config, Controller, RequestSource};
use os_alloc_sim::Units;
use protocol_check::Checker;
use report::allocator_report::MemoryState;
use report::table::bytes;
use report::{AllocatorReport, Backlog, CheckReport};
use rowclone::Operation;
use trace_io::command_log::LogWriter;

use crate::CliError;
use crate::backlog::Offered;
use crate::input::{ControllerConfig, Scenario, SystemConfig, TraceWorkload, Variant, Workload, file};
use crate::metered::{Measurements, Metered};
use crate::observer::{Commands, Observed, Shared};
use crate::output::AtomicFile;
use crate::pricing::{price_table, unpriced};
use crate::progress::{self, Watched};
use crate::served::{Served, ServedTally};

/// What is wanted of a run besides its numbers.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// Judge legality, and compare memory with a flat array.
    pub check: bool,
    /// Raised to stop the run.
    pub stop: &'a Arc<AtomicBool>,
    /// Who else hears commands and requests.
    pub observer: Option<Shared<'a>>,
    /// Whether to show on a terminal how far it has come.
    pub progress: bool,
    /// The trace's bytes, plain or compressed, if they are in memory.
    pub trace: Option<&'a [u8]>,
}

impl<'a> Wanted<'a> {
    /// A run that shows how far it has come, and reads its files itself.
    pub const fn new(stop: &'a Arc<AtomicBool>) -> Wanted<'a> {
        Wanted { check: false, stop, progress: true, trace: None, observer: None }
    }
}

/// What a run gave.
pub struct VariantRun {
    /// What the controller counted.
    pub stats: Stats,
    /// Energy and bus use of the stretches of `stats`.
    pub measured: Measurements,
    /// How copies, and how initialisations, were served.
    pub served: ServedTally,
    /// The requests that were waiting when the last one arrived.
    pub backlog: Backlog,
    /// The operations, where the scenario lists them.
    pub completions: Vec<Completion>,
    /// Their commands.
    pub commands: Option<ByRequest>,
    /// What the allocator did that placed the pages.
    pub allocator: Option<AllocatorReport>,
    /// What a trace held.
    pub trace: Option<ReplayOutcome>,
    /// What the second opinions found.
    pub check: Option<CheckReport>,
    /// Copy activations that the chips dropped.
    pub dropped_activations: u64,
    /// The command log, complete and not yet under its name.
    pub log: Option<AtomicFile>,
}

/// The rules that a policy's stream is judged by: the baseline may not borrow powers it lacks.
pub fn dialect(policy: &'static dyn CopyPolicy) -> Dialect {
    if policy == BASELINE { Dialect::Jedec } else { Dialect::RowClone }
}

/// The mechanisms that served an operation: `channel+fpm`; nothing of a read or a write.
pub fn mechanisms(completion: &Completion) -> String {
    let mut names: Vec<&str> = completion.parts().0.keys().map(|(mechanism, _)| mechanism.name()).collect();
    names.dedup();
    names.join("+")
}

/// A controller's configuration for a system.
fn config(system: &SystemConfig, prices: &Prices, policy: &'static dyn CopyPolicy) -> Config {
    let ControllerConfig { staging_lines, copy_hold_max, queues, scheduler, row_policy, power, refresh_idle: _ } =
        system.controller.clone();
    Config {
        prices: Some(price_table(prices)),
        staging_lines,
        copy_hold_max,
        queues,
        scheduler,
        row_policy,
        refresh: system.refresh,
        power,
        ..Config::new(system.system.clone(), Arc::clone(&system.planner), policy)
    }
}

/// One operation on an idle memory, with its commands.
///
/// # Errors
/// The run was stopped.
///
/// # Panics
/// If the controller drains without completing the operation: a bug there.
pub fn alone(
    system: &SystemConfig,
    prices: &Prices,
    policy: &'static dyn CopyPolicy,
    operation: Operation,
    stop: &AtomicBool,
) -> Result<(Completion, Counts), CliError> {
    let mut source = Sequence::new([(operation, None)], None);
    let mut commands = ByRequest::new(system.system.geometry);
    let mut controller = Controller::new(&config(system, prices, policy));
    controller.run(&mut source, &mut commands, stop).map_err(|_| CliError::interrupted())?;
    let mut completions = source.into_completions();
    let completion = completions.pop().expect("one operation went in, and the run drained");
    let counts = commands.of(completion.id);
    Ok((completion, counts))
}

/// The operation that a specification stands for, on this memory.
///
/// # Errors
/// It cannot be done there; loading a scenario has already said so of each.
pub fn resolve(system: &SystemConfig, spec: &OperationSpec) -> Result<Operation, CliError> {
    spec.resolve(&system.planner).map_err(|error| CliError::new(&error).with_help(error.help()))
}

/// What reports call an operation: `copy 4 KiB, same-subarray`.
pub fn label(spec: &OperationSpec) -> String {
    let place = spec.src.map_or(String::new(), |src| format!(", {}", src.name()));
    format!("{} {}{place}", spec.kind.name(), bytes(spec.bytes))
}

/// The operations that a scenario lists, for a command that explains them one by one.
///
/// # Errors
/// The scenario has a workload.
pub fn listed(scenario: &Scenario, command: &str) -> Result<Vec<(String, Operation)>, CliError> {
    match &scenario.workload {
        Workload::Operations(specs) => {
            specs.iter().map(|spec| Ok((label(spec), resolve(&scenario.system, spec)?))).collect()
        }
        Workload::Trace(_) | Workload::Made(_) => {
            let path = scenario.path.display();
            let message = format!("{path}: has a `workload`, and `{command}` explains operations that are listed");
            Err(CliError::new(message).with_help("give a scenario with `[[operation]]` entries"))
        }
    }
}

/// An error of a trace, with its file.
fn unusable_trace(path: &Path, error: &ReplayError) -> CliError {
    CliError::new(file::located(path, &error.to_string())).with_help(error.help())
}

/// Runs the whole scenario once.
///
/// # Errors
/// A trace that cannot be read, a log that cannot be written, a current that the set lacks, or the user's Ctrl-C.
pub fn run(
    scenario: &Scenario,
    prices: &Prices,
    variant: Variant,
    wanted: Wanted<'_>,
    log: Option<AtomicFile>,
) -> Result<VariantRun, CliError> {
    match &scenario.workload {
        Workload::Operations(specs) => {
            let mut operations = Vec::with_capacity(specs.len());
            for spec in specs {
                operations.push((resolve(&scenario.system, spec)?, spec.at));
            }
            let bar = bar(wanted, || progress::of_requests(&variant.label("/"), Some(operations.len() as u64)));
            let source = Watched::new(Sequence::new(operations, contents(scenario, wanted)), bar);
            let (source, run) = play(scenario, prices, variant.policy, wanted, source, log)?;
            Ok(VariantRun { completions: source.finish().into_completions(), ..run })
        }
        Workload::Trace(trace) => run_trace(scenario, trace, prices, variant, wanted, log),
        Workload::Made(settings) => run_made(scenario, settings, prices, variant, wanted, log),
    }
}

/// The allocator of a variant, where one places its pages.
fn allocator(scenario: &Scenario, variant: Variant) -> Option<AllocatorSettings> {
    let (config, policy) = scenario.allocator.as_ref().zip(variant.placement.allocator())?;
    Some(config.settings(policy, scenario.seed))
}

/// A bar, where one is wanted.
fn bar(wanted: Wanted<'_>, shown: impl FnOnce() -> ProgressBar) -> ProgressBar {
    if wanted.progress { shown() } else { ProgressBar::hidden() }
}

/// What a trace's file holds, and how many bytes that is.
fn trace_text<'a>(path: &Path, wanted: Wanted<'a>) -> Result<(u64, Box<dyn Read + 'a>), CliError> {
    if let Some(bytes) = wanted.trace {
        return Ok((bytes.len() as u64, Box::new(bytes)));
    }
    let file = file::open(path).map_err(|error| CliError::reading(path, &error))?;
    Ok((file.metadata().map_or(0, |file| file.len()), Box::new(file)))
}

fn run_trace(
    scenario: &Scenario,
    trace: &TraceWorkload,
    prices: &Prices,
    variant: Variant,
    wanted: Wanted<'_>,
    log: Option<AtomicFile>,
) -> Result<VariantRun, CliError> {
    let TraceWorkload { path, format, unusable, instructions_per_clock, .. } = trace;
    let fault = |error| unusable_trace(path, &error);
    let (bytes, text) = trace_text(path, wanted)?;
    let bar = bar(wanted, || progress::of_file(&variant.label("/"), bytes));
    let reader = trace_io::trace::Reader::new(bar.wrap_read(text), Some(format));
    let reader = reader.map_err(|error| fault(error.into()))?;
    let allocator = allocator(scenario, variant);
    let settings = ReplaySettings {
        unusable: *unusable,
        clock: scenario.system.system.clock(),
        instructions_per_clock: *instructions_per_clock,
        copier: if variant.policy == BASELINE { Copier::Cpu } else { Copier::Controller },
        placement: allocator.map_or(host::Placement::AsRecorded, host::Placement::Allocator),
    };
    // The memory as it is before the first record, for the report: the run's own one changes.
    let before = allocator.map(|settings| settings.memory(&scenario.system.map, Units::Marked)).transpose();
    let before = before.map_err(|error| fault(error.into()))?;
    let source = Replay::new(reader, &scenario.system.planner, settings, contents(scenario, wanted)).map_err(fault)?;
    let (source, run) = play(scenario, prices, variant.policy, wanted, source, log)?;
    bar.finish_and_clear();
    let outcome = source.into_outcome().map_err(fault)?;
    let allocator = before.zip(outcome.pages.as_ref()).map(|(before, pages)| {
        let before = MemoryState::new(before.set.frames(), &before.allocator.free_blocks());
        AllocatorReport::new(before, &pages.allocator)
    });
    Ok(VariantRun { allocator, trace: Some(outcome), ..run })
}

fn run_made(
    scenario: &Scenario,
    settings: &Settings,
    prices: &Prices,
    variant: Variant,
    wanted: Wanted<'_>,
    log: Option<AtomicFile>,
) -> Result<VariantRun, CliError> {
    let fault = |error: WorkloadError| CliError::new(&error).with_help(error.help());
    let (planner, allocator) = (&scenario.system.planner, allocator(scenario, variant));
    // The memory as it is before the workload, for the report: the run's own one changes.
    let before = allocator.map(|settings| settings.memory(planner.map(), settings.units)).transpose();
    let before = before.map_err(|error| fault(error.into()))?;
    let source = settings.source(planner, allocator.as_ref(), scenario.seed, contents(scenario, wanted));
    let source = source.map_err(fault)?;
    let bar = bar(wanted, || progress::of_requests(&variant.label("/"), source.requests()));
    let (source, run) = play(scenario, prices, variant.policy, wanted, Watched::new(source, bar), log)?;
    let os = source.finish().into_outcome().os;
    let allocator = before.zip(os).map(|(before, os)| {
        let before = MemoryState::new(before.set.frames(), &before.allocator.free_blocks());
        AllocatorReport::new(before, &os.report)
    });
    Ok(VariantRun { allocator, ..run })
}

/// What memory holds at reset, where it is to be compared with a flat array.
fn contents(scenario: &Scenario, wanted: Wanted<'_>) -> Option<Contents> {
    wanted.check.then(|| Contents::new(scenario.seed, scenario.system.map.clone()))
}

/// Plays a source to its end, with every reader that is wanted.
fn play<S: RequestSource>(
    scenario: &Scenario,
    prices: &Prices,
    policy: &'static dyn CopyPolicy,
    wanted: Wanted<'_>,
    source: S,
    log: Option<AtomicFile>,
) -> Result<(S, VariantRun), CliError> {
    let source = Served::new(Offered::new(source), Cycle::ZERO + scenario.warm_up);
    let mut source = Observed::new(source, wanted.observer);
    let system = &scenario.system.system;
    let mut meters = Metered::new(system, scenario.warm_up, scenario.epoch);
    let mut checker = wanted.check.then(|| Checker::new(system, dialect(policy)));
    let target = log.as_ref().map(|log| log.target().to_path_buf()).unwrap_or_default();
    let writing = |error: std::io::Error| CliError::writing(&target, &error);
    let mut log = log.map(|file| LogWriter::new(file, system, dialect(policy))).transpose().map_err(writing)?;
    let contents = contents(scenario, wanted);
    let mut controller = Controller::new(&Config {
        warm_up: scenario.warm_up,
        epoch: scenario.epoch,
        contents: contents.as_ref().map(|contents| Arc::new(contents.clone()) as _),
        ..config(&scenario.system, prices, policy)
    });
    let is_listed = matches!(scenario.workload, Workload::Operations(_));
    let mut commands = is_listed.then(|| ByRequest::new(system.geometry));
    let mut sink = (&mut meters, (&mut commands, (&mut checker, (&mut log, wanted.observer.map(Commands)))));
    let (source, stats, memory) = match contents {
        None => {
            let stats = drive(&mut controller, &mut source, &mut sink, wanted.stop)?;
            (source, stats, None)
        }
        Some(contents) => {
            let mut witnessed = Witnessed::new(source, FlatMemory::new(contents));
            let stats = drive(&mut controller, &mut witnessed, &mut sink, wanted.stop)?;
            let (source, memory) = witnessed.finish(&controller, system.geometry.channels());
            (source, stats, Some(memory))
        }
    };
    let log = log.map(LogWriter::into_result).transpose().map_err(writing)?;
    let measured = meters.report(prices, &stats).map_err(|error| unpriced(&error))?;
    let channels = (0..system.geometry.channels()).map(Channel);
    let (source, served) = source.finish().finish();
    let (source, backlog) = source.finish();
    let run = VariantRun {
        stats,
        measured,
        served,
        backlog,
        completions: Vec::new(),
        commands,
        allocator: None,
        trace: None,
        check: checker.zip(memory).map(|(checker, memory)| findings(&checker, &memory, dialect(policy))),
        dropped_activations: channels.map(|channel| controller.device(channel).dropped()).sum(),
        log,
    };
    Ok((source, run))
}

fn drive(
    controller: &mut Controller,
    source: &mut impl RequestSource,
    sink: &mut impl EventSink,
    stop: &AtomicBool,
) -> Result<Stats, CliError> {
    controller.run(source, sink, stop).map_err(|_| CliError::interrupted().with_help("no file was written"))
}

/// How many violations a report names; all are counted.
const VIOLATIONS_NAMED: usize = 10;

fn findings(checker: &Checker, memory: &MemoryCheck, dialect: Dialect) -> CheckReport {
    let memory_mismatch = match memory {
        MemoryCheck::Equal => None,
        MemoryCheck::Cells(mismatch) => Some(format!(
            "memory at {} ({}) holds {:#04x}, and a flat array {:#04x}",
            mismatch.address, mismatch.location, mismatch.found, mismatch.expected
        )),
        MemoryCheck::Read { id, at } => Some(format!("read {} returned a wrong byte at offset {at}", id.0)),
    };
    CheckReport {
        dialect: dialect.name(),
        violations: checker.total(),
        first_violations: checker.violations().iter().take(VIOLATIONS_NAMED).map(ToString::to_string).collect(),
        memory_equal: memory_mismatch.is_none(),
        memory_mismatch,
    }
}
