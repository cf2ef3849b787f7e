//! Programs of the cores of a machine, from files.

use std::fs::File;
use std::path::Path;

use dram_spec::address::FRAME_BYTES;
use host::machine::{Program, Repeated, TraceProgram};
use rowclone_config::{CorePrograms, CoreWorkload, Failure, MachineConfig, larger_copy_unit};
use trace_io::LineError;
use trace_io::program::{ProgramError, ProgramReader};
use trace_io::trace::{Reader, Recorded, TraceError};

/// What the baseline does, in words, and the copy unit of all methods where it is not a page.
///
/// # Panics
/// The baseline of the machine is no loop, which its settings exclude.
pub fn baseline(machine: &MachineConfig) -> String {
    let kernel = &machine.settings.kernel;
    let stores = kernel.copy_loop.name();
    let (policy, unit) = (machine.settings.allocator.policy, machine.settings.allocator.copy_unit);
    let unit = larger_copy_unit(unit, &machine.system).map_or_else(String::new, |text| format!("; {text}"));
    format!("a {stores} copy loop of {}-byte words, frames of `{policy}`{unit}", kernel.word_bytes)
}

/// The programs of a workload, one per core.
///
/// # Errors
/// As [`open`].
pub fn of_workload(workload: &CoreWorkload, machine: &MachineConfig) -> Result<Vec<Box<dyn Program>>, Failure> {
    match &workload.programs {
        CorePrograms::Files(files) => files.iter().map(|path| open(path, machine)).collect(),
        CorePrograms::Forkbench(bench) => Ok(vec![bench.program()]),
        CorePrograms::Memcopy(copies) => Ok(vec![copies.program(machine.unit_bytes())]),
    }
}

/// Opens a program trace, or a memory trace with instructions, which begins again at its end, for a
/// core of a machine.
///
/// # Errors
/// The file cannot be read, or its first record has an error.
pub fn open(path: &Path, machine: &MachineConfig) -> Result<Box<dyn Program>, Failure> {
    open_in_units(path, machine.unit_bytes())
}

fn open_in_units(path: &Path, unit: u64) -> Result<Box<dyn Program>, Failure> {
    File::open(path).map_err(|source| Failure::reading(path, &source))?;
    let file = path.to_owned();
    let program = Repeated::new(move || opened(&file, unit));
    let program =
        program.map_err(|error| Failure::new(format!("{}: {error}", path.display())).with_help(error.help()))?;
    Ok(Box::new(program))
}

fn opened(path: &Path, unit: u64) -> Result<Box<dyn Program>, ProgramError> {
    let file = || File::open(path).map_err(|source| LineError::Read { line: 1, offset: 0, source });
    match Reader::with_name(file()?, path) {
        Ok(records) => Ok(Box::new(TraceProgram::new(records, unit)?)),
        // A file without records of a memory trace is a program trace.
        Err(TraceError::UnknownFormat { .. } | TraceError::Empty { .. }) => Ok(Box::new(ProgramReader::new(file()?)?)),
        Err(error) => Err(error.into()),
    }
}

/// Name of a file in reports, with the caches that its core lacks because the accesses were recorded behind them.
///
/// # Errors
/// As [`open`].
pub fn label(path: &Path) -> Result<String, Failure> {
    let note = match open_in_units(path, FRAME_BYTES)?.recorded() {
        Recorded::EveryAccess | Recorded::OsEvents => "",
        Recorded::BehindFirstLevel => " (recorded behind a first-level cache: its core has no L1)",
        Recorded::BehindLastLevel => " (recorded behind the last-level cache: its core has no cache)",
    };
    Ok(format!("{}{note}", path.display()))
}
