//! One run of a scenario: the library's experiment, with the files and the terminal of this program.

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

/// Outputs of a run besides its numbers.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// Check the commands against the rules, and memory against a flat array.
    pub check: bool,
    /// Raised to stop the run.
    pub stop: &'a Arc<AtomicBool>,
    /// Who else hears commands and requests.
    pub observer: Option<Shared<'a>>,
    /// Whether to show the progress on a terminal.
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

/// The operation that a specification stands for, on this memory.
///
/// # Errors
/// It cannot be done there; loading a scenario has already said so of each.
pub fn resolve(system: &SystemConfig, spec: &OperationSpec) -> Result<Operation, Failure> {
    spec.resolve(system.memory.planner()).map_err(|error| Failure::new(&error).with_help(error.help()))
}

/// The allocator of a variant, where one places its pages.
fn allocator(scenario: &Scenario, variant: Variant) -> Option<AllocatorSettings> {
    let (config, policy) = scenario.allocator.as_ref().zip(variant.placement.allocator())?;
    Some(config.settings(policy, scenario.seed))
}

/// A trace as the library reads it, beside a bar of the bytes read.
fn trace<'a>(
    scenario: &Scenario,
    trace: &TraceWorkload,
    variant: Variant,
    wanted: Wanted<'a>,
) -> Result<rowclone_sim::Workload<'a>, Failure> {
    let TraceWorkload { path, format, unusable, timing, fault_ps, .. } = trace;
    let (bytes, text): (u64, Box<dyn Read + 'a>) = if let Some(bytes) = wanted.trace {
        (bytes.len() as u64, Box::new(bytes))
    } else {
        let file = file::open(path).map_err(|error| Failure::reading(path, &error))?;
        (file.size(), Box::new(file))
    };
    let text = if wanted.progress { Box::new(bars::of_file(&variant.label("/"), bytes).wrap_read(text)) } else { text };
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

/// One run of a scenario as an experiment.
///
/// # Errors
/// A trace or a program that cannot be read.
///
/// # Panics
/// If programs have no machine, which reading the scenario excludes.
pub fn experiment<'a>(scenario: &'a Scenario, variant: Variant, wanted: Wanted<'a>) -> Result<Experiment<'a>, Failure> {
    let memory = &scenario.system.memory;
    let workload = match &scenario.workload {
        Workload::Operations(specs) => rowclone_sim::Workload::Operations(specs.clone()),
        Workload::Made(settings) => {
            rowclone_sim::Workload::Made { settings: *settings, allocator: allocator(scenario, variant) }
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

/// Runs the whole scenario once. The command log is complete afterwards, and not yet under its name.
///
/// # Errors
/// A trace that cannot be read, a log that cannot be written, a current that the set lacks, or the user's Ctrl-C.
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

/// An error of an experiment: of a trace or a program, with its file.
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
