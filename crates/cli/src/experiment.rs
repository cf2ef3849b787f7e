//! One run of a scenario under one policy, with whatever reads its command stream.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dram_spec::{Channel, CommandSink, Cycles, Dialect};
use energy::{Account, Counts, EnergyError, EnergyReport, Prices};
use host::{
    Contents, Copier, FlatMemory, MemoryCheck, OperationSpec, Placement, Replay, ReplayError, ReplaySettings, Sequence,
    TraceCounts, Witnessed,
};
use memctrl::{CommandCounts, Completion, Config, Controller, Policy, RequestSource, Stats};
use protocol_check::Checker;
use report::CheckReport;
use report::table::bytes;
use rowclone::Operation;
use trace_io::command_log::LogWriter;

use crate::CliError;
use crate::input::{Scenario, SystemConfig, Workload};
use crate::output::AtomicFile;
use crate::progress::{self, Watched};

/// What is wanted of a run besides its numbers.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// Judge legality, and compare memory with a flat array.
    pub check: bool,
    /// Raised to stop the run.
    pub stop: &'a Arc<AtomicBool>,
}

/// What a run gave.
pub struct PolicyRun {
    /// What the controller counted.
    pub stats: Stats,
    /// All energy, by cause.
    pub energy: EnergyReport,
    /// The operations, where the scenario lists them.
    pub completions: Vec<Completion>,
    /// What a trace held.
    pub trace: Option<TraceCounts>,
    /// What the second opinions found.
    pub check: Option<CheckReport>,
    /// Copy activations that the chips dropped.
    pub dropped_activations: u64,
    /// The command log, complete and not yet under its name.
    pub log: Option<AtomicFile>,
}

/// The rules that a policy's stream is judged by: the baseline may not borrow powers it lacks.
pub const fn dialect(policy: Policy) -> Dialect {
    match policy {
        Policy::Channel => Dialect::Jedec,
        Policy::Fpm | Policy::Psm | Policy::Rule | Policy::Fastest | Policy::LeastEnergy => Dialect::RowClone,
    }
}

/// The energy of an operation's own commands, above standby.
pub fn operation_energy(prices: &Prices, commands: &CommandCounts) -> EnergyReport {
    let CommandCounts {
        activates,
        copy_activates,
        dropped_activates,
        reads,
        writes,
        transfers,
        precharges: _,
        refreshes: _,
        power_downs: _,
        self_refreshes: _,
        wake_ups: _,
    } = *commands;
    let counts = Counts { activates, copy_activates, dropped_activates, reads, writes, transfers, ..Counts::default() };
    prices.operation(&counts)
}

/// A controller's configuration for a system.
fn config(system: &SystemConfig, policy: Policy, contents: Option<&Contents>) -> Config {
    Config {
        staging_lines: system.staging_lines,
        refresh: system.refresh,
        contents: contents.map(|contents| Arc::new(contents.clone()) as _),
        ..Config::new(system.system.clone(), Arc::clone(&system.planner), policy)
    }
}

/// Latency and commands of one operation on an idle memory.
///
/// # Errors
/// The run was stopped.
///
/// # Panics
/// If the controller drains without completing the operation: a bug there.
pub fn alone(
    system: &SystemConfig,
    policy: Policy,
    operation: Operation,
    stop: &AtomicBool,
) -> Result<(Cycles, CommandCounts), CliError> {
    let mut source = Sequence::new([(operation, None)], None);
    let mut controller = Controller::new(config(system, policy, None));
    controller.run(&mut source, &mut (), stop).map_err(|_| CliError::interrupted())?;
    let completions = source.into_completions();
    let completion = completions.first().expect("one operation went in, and the run drained");
    Ok((completion.latency(), completion.commands))
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
/// The scenario plays a trace.
pub fn listed(scenario: &Scenario, command: &str) -> Result<Vec<(String, Operation)>, CliError> {
    match &scenario.workload {
        Workload::Operations(specs) => {
            specs.iter().map(|spec| Ok((label(spec), resolve(&scenario.system, spec)?))).collect()
        }
        Workload::Trace { .. } => {
            let message =
                format!("{}: `workload` is a trace, and `{command}` explains operations", scenario.path.display());
            Err(CliError::new(message).with_help("give a scenario with `[[operation]]` entries"))
        }
    }
}

/// The prices of a system's commands.
///
/// # Errors
/// Its currents are of other chips.
pub fn prices(system: &SystemConfig) -> Result<Prices, CliError> {
    Prices::new(&system.system, &system.currents).map_err(|error| unpriced(&error))
}

fn unpriced(error: &EnergyError) -> CliError {
    CliError::new(error).with_help(error.help())
}

/// Readers, who know no file names, say `line 5: …`; with the name it reads like any other error.
fn unusable_trace(path: &Path, error: &ReplayError) -> CliError {
    let text = error.to_string();
    let message = match text.strip_prefix("line ").and_then(|rest| rest.split_once(": ")) {
        Some((line, what)) => format!("{}:{line}: {what}", path.display()),
        None => format!("{}: {text}", path.display()),
    };
    CliError::new(message).with_help(error.help())
}

/// Runs the whole scenario under one policy.
///
/// # Errors
/// A trace that cannot be read, a log that cannot be written, a current that the set lacks, or the user's Ctrl-C.
pub fn run(
    scenario: &Scenario,
    prices: &Prices,
    policy: Policy,
    wanted: Wanted<'_>,
    log: Option<AtomicFile>,
) -> Result<PolicyRun, CliError> {
    match &scenario.workload {
        Workload::Operations(specs) => {
            let mut operations = Vec::with_capacity(specs.len());
            for spec in specs {
                operations.push((resolve(&scenario.system, spec)?, spec.at));
            }
            let bar = progress::of_operations(policy.name(), operations.len() as u64);
            let source = Watched::new(Sequence::new(operations, contents(scenario, wanted)), bar);
            let (source, run) = play(scenario, prices, policy, wanted, source, log)?;
            Ok(PolicyRun { completions: source.finish().into_completions(), ..run })
        }
        Workload::Trace { path, format, unusable } => {
            let file = std::fs::File::open(path).map_err(|error| CliError::reading(path, &error))?;
            let bar = progress::of_file(policy.name(), file.metadata().map_or(0, |file| file.len()));
            let reader = trace_io::ramulatorsharp::Reader::new(bar.wrap_read(file), *format);
            let reader = reader.map_err(|error| unusable_trace(path, &error.into()))?;
            let (copier, placement) = (Copier::Controller, Placement::AsRecorded);
            let settings = ReplaySettings { unusable: *unusable, instructions_per_clock: 1.0, copier, placement };
            let source = Replay::new(reader, &scenario.system.planner, settings, contents(scenario, wanted));
            let source = source.map_err(|error| unusable_trace(path, &error))?;
            let (source, run) = play(scenario, prices, policy, wanted, source, log)?;
            bar.finish_and_clear();
            let counts = source.into_outcome().map_err(|error| unusable_trace(path, &error))?.counts;
            Ok(PolicyRun { trace: Some(counts), ..run })
        }
    }
}

/// What memory holds at reset, where it is to be compared with a flat array.
fn contents(scenario: &Scenario, wanted: Wanted<'_>) -> Option<Contents> {
    wanted.check.then(|| Contents::new(scenario.seed, scenario.system.map.clone()))
}

/// Plays a source to its end, with every reader that is wanted.
fn play<S: RequestSource>(
    scenario: &Scenario,
    prices: &Prices,
    policy: Policy,
    wanted: Wanted<'_>,
    mut source: S,
    log: Option<AtomicFile>,
) -> Result<(S, PolicyRun), CliError> {
    let system = &scenario.system.system;
    let mut account = Account::new(system);
    let mut checker = wanted.check.then(|| Checker::new(system, dialect(policy)));
    let target = log.as_ref().map(|log| log.target().to_path_buf()).unwrap_or_default();
    let writing = |error: std::io::Error| CliError::writing(&target, &error);
    let mut log = log.map(|file| LogWriter::new(file, system, dialect(policy))).transpose().map_err(writing)?;
    let contents = contents(scenario, wanted);
    let mut controller = Controller::new(config(&scenario.system, policy, contents.as_ref()));
    let mut sink = (&mut account, (&mut checker, &mut log));
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
    let energy = account.report(prices).map_err(|error| unpriced(&error))?;
    let channels = (0..system.geometry.channels()).map(Channel);
    let run = PolicyRun {
        stats,
        energy,
        completions: Vec::new(),
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
    sink: &mut impl CommandSink,
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
