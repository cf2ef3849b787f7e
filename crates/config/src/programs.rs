//! Program traces and recordings of the cores of a machine, from files.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};

use dram_spec::address::FRAME_BYTES;
use host::machine::{
    ChosenCopies, ContentsCounts, OtherByte, Program, RECORDED_COPIER_MIN_BYTES, RecordedProgram, RecordingSettings,
    Repeated, TraceProgram,
};
use rowclone_sim::CopyMethod;
use rowclone_sim::quantity::{counted, grouped};
use trace_io::program::ProgramReader;
use trace_io::recording::{self, Metadata};
use trace_io::trace::{Recorded, TraceReader};
use trace_io::{ErrorKind, LineError};

use crate::{CorePrograms, CoreWorkload, Failure, MachineConfig, larger_copy_unit};

/// Description of the baseline, and of the copy unit of all methods if it is not a page.
pub fn baseline(machine: &MachineConfig) -> String {
    let kernel = &machine.settings.kernel;
    let stores = kernel.copy_loop.name();
    let (policy, unit) = (machine.settings.allocator.policy, machine.settings.allocator.copy_unit);
    let unit = larger_copy_unit(unit, &machine.system).map_or_else(String::new, |text| format!("; {text}"));
    let article = if stores.starts_with(['a', 'i']) { "an" } else { "a" };
    format!("{article} {stores} copy loop of {}-byte words, frames of `{policy}`{unit}", kernel.word_bytes)
}

/// Opens the programs of a workload, one per core.
///
/// # Errors
/// As [`open`].
pub fn of_workload(
    workload: &CoreWorkload,
    machine: &MachineConfig,
    settings: RecordingSettings,
) -> Result<Vec<Box<dyn Program>>, Failure> {
    match &workload.programs {
        CorePrograms::Files(files) => files.iter().map(|path| open(path, machine, settings)).collect(),
        CorePrograms::Forkbench(bench) => Ok(vec![bench.program()]),
        CorePrograms::Memcopy(copies) => Ok(vec![copies.program(machine.unit_bytes())]),
    }
}

/// Settings with which a copy method executes recordings.
pub fn recording_settings(copies: ChosenCopies, method: CopyMethod) -> RecordingSettings {
    RecordingSettings { copies, is_by_cpu: method == CopyMethod::BASELINE }
}

/// Opens a program trace, a memory trace with instructions, or a recording, for a core of a machine. The program begins
/// again at its end.
///
/// # Errors
/// The file cannot be read, or its first record has an error.
pub fn open(path: &Path, machine: &MachineConfig, settings: RecordingSettings) -> Result<Box<dyn Program>, Failure> {
    open_in_units(path, machine.unit_bytes(), settings)
}

fn open_in_units(path: &Path, unit: u64, settings: RecordingSettings) -> Result<Box<dyn Program>, Failure> {
    File::open(path).map_err(|source| Failure::reading(path, &source))?;
    let file = path.to_owned();
    let program = Repeated::new(move || opened(&file, unit, settings));
    Ok(Box::new(program.map_err(|error| failure(path, &error))?))
}

fn failure(path: &Path, error: &LineError) -> Failure {
    Failure::new(format!("{}: {error}", path.display())).with_help(error.help())
}

fn opened(path: &Path, unit: u64, settings: RecordingSettings) -> Result<Box<dyn Program>, LineError> {
    let file = || File::open(path).map_err(|source| LineError::reading(1, 0, source));
    match recording::RecordingReader::new(file()?) {
        Ok(reader) => return Ok(Box::new(RecordedProgram::new(reader, settings)?)),
        Err(error) if is_other_format(path, &error) => {}
        Err(error) => return Err(error),
    }
    match TraceReader::with_name(file()?, path) {
        Ok(records) => Ok(Box::new(TraceProgram::new(records, unit)?)),
        // A file that is no memory trace is read as a program trace.
        Err(error) if matches!(error.kind(), ErrorKind::Unrecognized) => Ok(Box::new(ProgramReader::new(file()?)?)),
        Err(error) => Err(error),
    }
}

/// Whether a file does not begin like a recording.
fn is_other_format(path: &Path, error: &LineError) -> bool {
    let name = path.to_string_lossy();
    let is_named = name.ends_with(".rct") || name.ends_with(".rct.zst");
    !is_named && matches!(error.kind(), ErrorKind::Unrecognized | ErrorKind::Io(_))
}

/// Metadata of a recording; none if the file is no recording.
///
/// # Errors
/// The file cannot be read, or is a damaged recording.
pub fn recorded(path: &Path) -> Result<Option<Metadata>, Failure> {
    let file = File::open(path).map_err(|source| Failure::reading(path, &source))?;
    match recording::RecordingReader::new(file) {
        Ok(reader) => Ok(Some(reader.metadata().clone())),
        Err(error) if is_other_format(path, &error) => Ok(None),
        Err(error) => Err(failure(path, &error)),
    }
}

/// Description of what the loads of a recording with contents compare.
///
/// # Errors
/// As [`recorded`]; a load reads another byte than a store before it has written.
pub fn compared(path: &Path) -> Result<String, Failure> {
    let file = File::open(path).map_err(|source| Failure::reading(path, &source))?;
    let counts = recording::RecordingReader::new(file).and_then(RecordedProgram::compare_contents);
    let ContentsCounts { equal, unknown, different, first } = counts.map_err(|error| failure(path, &error))?;
    let all = counted(equal + unknown + different, "byte");
    let mut text = format!(
        "of {all} loaded, {} had been written or read before, and {} were not known",
        grouped(equal),
        grouped(unknown)
    );
    if let Some(OtherByte { block, process, address, found, expected }) = first {
        let different = grouped(different);
        let _ = write!(
            text,
            "; {different} differ, whose writes were not recorded, the first in block {block}: process {process} reads \
             {found:#04x} at {address:#x}, where {expected:#04x} was written"
        );
    }
    Ok(text)
}

/// Assumptions of runs of recordings on a machine, one sentence per recording. In checked runs, the contents of
/// recordings that have them are compared, and another sentence has the number of correct bytes.
///
/// # Errors
/// As [`compared`].
pub fn assumptions(paths: &[PathBuf], machine: &MachineConfig, is_checked: bool) -> Result<Vec<String>, Failure> {
    let least = machine.settings.kernel.copier_min_bytes.unwrap_or(RECORDED_COPIER_MIN_BYTES);
    let mut sentences = Vec::new();
    for path in paths.iter().collect::<BTreeSet<_>>() {
        let Some(metadata) = recorded(path)? else { continue };
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let unseen = match metadata.unseen.len() {
            0 => String::new(),
            _ => format!("; `rowclone-sim trace info {}` lists what was not recorded", path.display()),
        };
        sentences.push(format!(
            "{name}: pages of files are in the page cache from the start, unless the recording reads them; the loop \
                makes \
             copies of fewer than {} bytes (`kernel.copier_min_bytes` of the machine){unseen}",
            grouped(least)
        ));
        if is_checked && metadata.contents {
            sentences.push(format!("{name}: {}", compared(path)?));
        }
    }
    Ok(sentences)
}

/// Name of a file in reports. It names the caches that the core lacks because the accesses were recorded behind them.
///
/// # Errors
/// As [`open`].
pub fn label(path: &Path) -> Result<String, Failure> {
    let note = match open_in_units(path, FRAME_BYTES, RecordingSettings::default())?.recorded() {
        Recorded::EveryAccess | Recorded::OsEvents => "",
        Recorded::BehindFirstLevel => " (recorded behind a first-level cache: its core has no L1)",
        Recorded::BehindLastLevel => " (recorded behind the last-level cache: its core has no cache)",
    };
    Ok(format!("{}{note}", path.display()))
}
