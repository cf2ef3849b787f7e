//! Runs of a scenario as experiments of the library, with files and progress bars.

use std::cell::OnceCell;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dram_spec::{EventSink, Min};
use host::machine::MachineError;
use host::{AllocatorSettings, OperationSpec};
use rowclone::Operation;
use rowclone_sim::{
    Attachments, CopyMethod, Experiment, ExperimentError, Outcome, Programs, Progress, Shared, dialect,
};
use trace_io::command_log::LogWriter;

use crate::atomic_file::AtomicFile;
use crate::{bars, programs};
use rowclone_config::{Failure, Scenario, SystemConfig, TraceWorkload, Variant, Workload, file};

/// Optional checks and outputs of a run.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// Whether to check the commands against the rules, and the memory against a flat array.
    pub check: bool,
    /// Flag that stops the run when it is set.
    pub stop: &'a Arc<AtomicBool>,
    /// Observer of commands and requests.
    pub observer: Option<Shared<'a>>,
    /// Whether to show the progress on a terminal.
    pub progress: bool,
}

impl<'a> Wanted<'a> {
    /// Options of a run that shows its progress and reads its files.
    pub const fn new(stop: &'a Arc<AtomicBool>) -> Wanted<'a> {
        Wanted { check: false, stop, progress: true, observer: None }
    }
}

/// Converts the specification of an operation to an operation on this memory.
///
/// # Errors
/// The operation is impossible there. Loading a scenario checks each operation, so its operations have no error.
pub fn resolve(system: &SystemConfig, spec: &OperationSpec) -> Result<Operation, Failure> {
    spec.resolve(system.memory.planner()).map_err(|error| Failure::new(&error).with_help(error.help()))
}

/// Name of the allocator of a variant; none if no allocator places its pages.
fn allocator(scenario: &Scenario, variant: Variant) -> Option<AllocatorSettings> {
    let (config, policy) = scenario.allocator.as_ref().zip(variant.placement.allocator())?;
    Some(config.settings(policy, scenario.seed))
}

/// Opens a trace for the library, with a bar of the bytes read.
fn trace<'a>(
    scenario: &Scenario,
    trace: &TraceWorkload,
    variant: Variant,
    wanted: Wanted<'a>,
) -> Result<rowclone_sim::Workload<'a>, Failure> {
    let TraceWorkload { path, format, unusable, timing, fault_ps, .. } = trace;
    let text = file::open(path).map_err(|error| Failure::reading(path, &error))?;
    let bytes = text.size();
    let text: Box<dyn Read + 'a> = if wanted.progress {
        Box::new(bars::of_file(&variant.label("/"), bytes).wrap_read(text))
    } else {
        Box::new(text)
    };
    Ok(rowclone_sim::Workload::Trace(rowclone_sim::Trace {
        name: path.display().to_string(),
        text,
        format: Some(format),
        unusable: *unusable,
        timing: *timing,
        allocator: allocator(scenario, variant),
        fault: scenario.system.memory.system().clock().at_least(Min::ps(*fault_ps)),
    }))
}

/// Converts one run of a scenario to an experiment.
///
/// # Errors
/// A trace or a program cannot be read.
///
/// # Panics
/// If the scenario has programs and no machine, which loading a scenario excludes.
pub fn experiment<'a>(scenario: &'a Scenario, variant: Variant, wanted: Wanted<'a>) -> Result<Experiment<'a>, Failure> {
    let memory = &scenario.system.memory;
    let workload = match &scenario.workload {
        Workload::Operations(specs) => rowclone_sim::Workload::Operations(specs.clone()),
        Workload::Made(settings) => {
            rowclone_sim::Workload::Made { settings: settings.clone(), allocator: allocator(scenario, variant) }
        }
        Workload::Trace(workload) => trace(scenario, workload, variant, wanted)?,
        Workload::Programs(workload) => {
            let machine = scenario.machine.as_ref().expect("programs have a machine");
            let method = CopyMethod::of(variant.policy);
            let settings = programs::recording_settings(workload.copies, method);
            rowclone_sim::Workload::Programs(Box::new(Programs {
                settings: variant.copier().applied_to(&machine.settings),
                devices: machine.devices,
                programs: programs::of_workload(workload, machine, settings)?,
                region: workload.region,
            }))
        }
    };
    Ok(Experiment {
        policy: variant.policy,
        seed: scenario.seed,
        warm_up: scenario.warm_up,
        epoch: scenario.epoch,
        is_checked: wanted.check,
        ..Experiment::new(memory, workload)
    })
}

/// Executes one run of a scenario. Afterwards the command log is complete, but not committed.
///
/// # Errors
/// A trace cannot be read, a log cannot be written, the current set lacks a current, or the run was interrupted.
pub fn run<'a>(
    scenario: &'a Scenario,
    variant: Variant,
    wanted: Wanted<'a>,
    log: Option<AtomicFile>,
) -> Result<(Outcome, Option<AtomicFile>), Failure> {
    let target = log.as_ref().map(|log| log.target().to_path_buf()).unwrap_or_default();
    let writing = |error: std::io::Error| Failure::writing(&target, &error);
    let system = scenario.system.memory.system();
    let log = log.map(|file| LogWriter::new(file, system, dialect(variant.policy))).transpose();
    let mut log = log.map_err(writing)?;
    let bar = OnceCell::new();
    let show = |progress: Progress| {
        let bar = bar.get_or_init(|| bars::of_requests(&variant.label("/"), progress.total));
        bar.set_position(progress.done);
    };
    let attachments = Attachments {
        stop: Some(wanted.stop),
        commands: log.as_mut().map(|log| log as &mut dyn EventSink),
        observer: wanted.observer,
        progress: if wanted.progress { Some(&show) } else { None },
    };
    let outcome = experiment(scenario, variant, wanted)?.run_with(attachments);
    if let Some(bar) = bar.get() {
        bar.finish_and_clear();
    }
    let mut outcome = outcome.map_err(|error| refused(scenario, error))?;
    outcome.policy = variant.name();
    Ok((outcome, log.map(LogWriter::into_result).transpose().map_err(writing)?))
}

/// Converts an error of an experiment; errors of a trace or a program name its file.
fn refused(scenario: &Scenario, error: ExperimentError) -> Failure {
    match (&error, &scenario.workload) {
        (ExperimentError::Stopped, _) => Failure::interrupted().with_help("no file was written"),
        (ExperimentError::Trace(error), Workload::Trace(trace)) => {
            Failure::of_reader(&trace.path, error).with_help(error.help())
        }
        (
            ExperimentError::Machine(MachineError::Program { core, .. } | MachineError::Fault { core, .. }),
            Workload::Programs(programs),
        ) => match programs.files().get(*core) {
            Some(path) => Failure::new(format!("{}: {error}", path.display())).with_help_if(error.help().as_deref()),
            None => Failure::from(error),
        },
        _ => Failure::from(error),
    }
}
