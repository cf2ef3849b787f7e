//! Runs of programs on the cores of a machine.

use std::fs::File;
use std::path::Path;

use host::machine::{Copier, Program, Region, Repeated, TraceProgram};
use rowclone_config::{Failure, MachineConfig};
use rowclone_sim::{Attachments, CopyMethod, CoresReport, Experiment, Outcome, Programs, Workload};
use trace_io::LineError;
use trace_io::program::{ProgramError, ProgramReader};
use trace_io::trace::{Reader, TraceError};

use crate::interrupt;

/// What the baseline does, in words.
pub fn baseline(machine: &MachineConfig) -> String {
    let kernel = &machine.settings.kernel;
    let stores = if kernel.copier == Copier::NonTemporalLoop { "non-temporal" } else { "cached" };
    let policy = machine.settings.allocator.policy;
    format!("a {stores} copy loop of {}-byte words, with page frames of `{policy}`", kernel.word_bytes)
}

/// Runs programs on the cores of a machine under a copy method.
///
/// # Errors
/// An error of the machine or a program; a signal; a failed check.
pub fn run_programs(
    machine: &MachineConfig,
    method: CopyMethod,
    programs: Vec<Box<dyn Program>>,
    region: Region,
    is_checked: bool,
) -> Result<(Outcome, CoresReport), Failure> {
    let settings = method.applied_to(machine.settings);
    let workload = Workload::Programs(Programs { settings, programs, region });
    let experiment =
        Experiment { is_checked, ..Experiment::new(&machine.system.memory, workload).policy(method.policy) };
    let stop = interrupt::flag();
    let attachments = Attachments { stop: Some(&stop), ..Attachments::default() };
    let mut outcome = experiment.run_with(attachments)?;
    let cores = outcome.cores.take().expect("programs ran on cores");
    let commands = outcome.check.as_ref().is_none_or(rowclone_sim::CheckReport::passed);
    if !commands || !cores.passed() {
        let wrong = cores.wrong_load.as_deref().unwrap_or("a command or a line of memory");
        return Err(Failure::new(format!("a check failed under `{}`: {wrong}", method.name))
            .with_help("this is a defect of the simulator: report the command line"));
    }
    Ok((outcome, cores))
}

/// Opens a program trace, or a memory trace with instructions, which begins again at its end.
///
/// # Errors
/// The file cannot be read, or its first record has an error.
pub fn open(path: &Path) -> Result<Box<dyn Program>, Failure> {
    File::open(path).map_err(|source| Failure::reading(path, &source))?;
    let file = path.to_owned();
    let program = Repeated::new(move || opened(&file));
    let program =
        program.map_err(|error| Failure::new(format!("{}: {error}", path.display())).with_help(error.help()))?;
    Ok(Box::new(program))
}

fn opened(path: &Path) -> Result<Box<dyn Program>, ProgramError> {
    let file = || File::open(path).map_err(|source| LineError::Read { line: 1, offset: 0, source });
    match Reader::with_name(file()?, path) {
        Ok(records) => Ok(Box::new(TraceProgram::new(records)?)),
        // A file without records of a memory trace is a program trace.
        Err(TraceError::UnknownFormat { .. } | TraceError::Empty { .. }) => Ok(Box::new(ProgramReader::new(file()?)?)),
        Err(error) => Err(error.into()),
    }
}

/// Name of a file in reports: a memory trace was recorded behind a cache, and has no L1.
///
/// # Errors
/// As [`open`].
pub fn label(path: &Path) -> Result<String, Failure> {
    let is_filtered = open(path)?.is_filtered();
    let note = if is_filtered { " (memory trace recorded behind a cache: its core has no L1)" } else { "" };
    Ok(format!("{}{note}", path.display()))
}
