//! A sweep in its directory: what it finishes is kept there, and the tables are written there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::CliError;
use crate::output::Existing;

use super::journal::{self, Journals};
use super::progress::Progress;
use super::run::{Sweep, Tally};
use super::shard::Shard;
use super::tables::{self, Tables};

/// Runs what is left of a sweep, or of a shard of it, and writes its tables; of a shard, there are none.
///
/// # Errors
/// The directory is another's, a file cannot be written, or the sweep was interrupted; what was finished is kept.
pub fn run(
    sweep: &Sweep<'_>,
    directory: &Path,
    shard: Option<Shard>,
    force: bool,
) -> Result<(Tally, Option<Tables>), CliError> {
    claim(sweep, directory, shard, force)?;
    let numbers = sweep.numbers(shard);
    let progress = Progress::new(&sweep.file.name, numbers.len() as u64);
    let ran = sweep.run(&numbers, directory, shard, &progress);
    drop(progress);
    let (plans, tally) = ran.map_err(|error| keeps(error, directory))?;
    if shard.is_some() {
        return Ok((tally, None));
    }
    let mut journals = Journals::default();
    journals.read(directory)?;
    let tables = tables::write(sweep, &plans, &journals, directory, Existing::Replace);
    Ok((tally, Some(tables.map_err(|error| keeps(error, directory))?)))
}

/// Writes the tables of what has been finished in some directories.
///
/// # Errors
/// A directory has no journals, or a table cannot be written.
pub fn collect(sweep: &Sweep<'_>, from: &[PathBuf], directory: &Path, force: bool) -> Result<Tables, CliError> {
    let mut journals = Journals::default();
    for source in from {
        if journal::sweep_of(source)?.is_none() {
            let message = format!("{}: has no journal of a sweep", source.display());
            return Err(CliError::new(message).with_help("give the directories that were given to `sweep --out`"));
        }
        journals.read(source)?;
    }
    create(directory)?;
    let same =
        |source: &PathBuf| matches!((fs::canonicalize(source), fs::canonicalize(directory)), (Ok(a), Ok(b)) if a == b);
    // Among the journals, the tables are theirs.
    let existing = Existing::with_force(force || from.iter().any(same));
    let plans = sweep.plans(&sweep.numbers(None))?;
    tables::write(sweep, &plans, &journals, directory, existing)
}

/// The sweep whose journals lie in a directory; nothing where there are none.
///
/// # Errors
/// A journal cannot be read.
pub fn name_of(directory: &Path) -> Result<Option<String>, CliError> {
    journal::sweep_of(directory)
}

/// Makes the directory, and sees to it that what lies in it is this sweep's.
pub(super) fn claim(sweep: &Sweep<'_>, directory: &Path, shard: Option<Shard>, force: bool) -> Result<(), CliError> {
    create(directory)?;
    let name = &sweep.file.name;
    match journal::sweep_of(directory)? {
        _ if force => Ok(()),
        Some(other) if other != *name => {
            let message = format!("{}: holds the sweep `{other}`, and not `{name}`", directory.display());
            let help = "give another directory with `--out`, or have its tables replaced with `--force`";
            Err(CliError::new(message).with_help(help))
        }
        Some(_) => Ok(()),
        None if shard.is_some() => Ok(()),
        None => match tables::NAMES.iter().map(|name| directory.join(name)).find(|path| path.exists()) {
            Some(there) => {
                let help = "give another directory with `--out`, or replace it with `--force`";
                Err(CliError::new(format!("{}: exists already", there.display())).with_help(help))
            }
            None => Ok(()),
        },
    }
}

fn create(directory: &Path) -> Result<(), CliError> {
    fs::create_dir_all(directory).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            CliError::new(format!("{}: is a file", directory.display())).with_help("give `--out` a directory")
        }
        _ => CliError::writing(directory, &error),
    })
}

/// An error that ends a sweep, and what is to be done then.
fn keeps(error: CliError, directory: &Path) -> CliError {
    let next = "what is finished is kept: the same command goes on from there";
    let help = match &error {
        CliError::Refused { help: Some(help), .. } => format!("{help}; {next}"),
        CliError::Refused { help: None, .. } | CliError::ClosedPipe => {
            format!("{} keeps what is finished: the same command goes on from there", directory.display())
        }
    };
    error.with_help(help)
}
