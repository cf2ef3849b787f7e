//! A sweep in a directory: runs, journals and tables.

use std::path::{Path, PathBuf};

use rowclone_config::{Failure, create_directory};

pub use super::journal::sweep_of as name_of;
use super::journal::{self, JournalWriter, Journals};
use super::progress::Progress;
use super::progress::Tally;
use super::run::Sweep;
use super::shard::Shard;
use super::tables::{self, Tables};

/// Executes the runs of a sweep, or of a shard, that are not finished. Writes the tables, unless it is a shard.
///
/// # Errors
/// The directory has files of another sweep, a file cannot be written, or the sweep was interrupted. Finished runs stay
/// in the journal.
pub fn run(
    sweep: &Sweep<'_>,
    directory: &Path,
    shard: Option<Shard>,
    force: bool,
) -> Result<(Tally, Option<Tables>), Failure> {
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
    let tables = tables::write(sweep, &plans, &journals, directory);
    Ok((tally, Some(tables.map_err(|error| keeps(error, directory))?)))
}

/// Writes tables of the finished runs of some directories. `force` also accepts journals of another sweep.
///
/// A journal without records marks the target directory as one of this sweep, so that its tables can be written again
/// without `force`.
///
/// # Errors
/// A directory has no journals, the target directory has files of another sweep, or a table cannot be written.
pub fn collect(sweep: &Sweep<'_>, from: &[PathBuf], directory: &Path, force: bool) -> Result<Tables, Failure> {
    let mut journals = Journals::default();
    for source in from {
        let Some(other) = journal::sweep_of(source)? else {
            return Err(Failure::at(source, "has no journal of a sweep")
                .with_help("give the directories that were given to `sweep --out`"));
        };
        if other != sweep.file.name && !force {
            let message = format!("holds the sweep `{other}`, and not `{}`", sweep.file.name);
            let help = "give the sweep that was run there, or take what fits of it with `--force`";
            return Err(Failure::at(source, message).with_help(help));
        }
        journals.read(source)?;
    }
    claim(sweep, directory, None, force)?;
    let plans = sweep.plans(&sweep.numbers(None))?;
    if journal::sweep_of(directory)?.is_none() {
        JournalWriter::open(directory, &sweep.file.name, None)?;
    }
    tables::write(sweep, &plans, &journals, directory)
}

/// Creates the directory, and checks that its files are of this sweep.
pub(super) fn claim(sweep: &Sweep<'_>, directory: &Path, shard: Option<Shard>, force: bool) -> Result<(), Failure> {
    create_directory(directory)?;
    let name = &sweep.file.name;
    match journal::sweep_of(directory)? {
        _ if force => Ok(()),
        Some(other) if other != *name => {
            Err(Failure::at(directory, format_args!("holds the sweep `{other}`, and not `{name}`"))
                .with_help("give another directory with `--out`, or have its tables replaced with `--force`"))
        }
        None if shard.is_none() => foreign(sweep, directory).map_or(Ok(()), |there| {
            let help = "give another directory with `--out`, or replace it with `--force`";
            Err(Failure::at(&there, "exists already").with_help(help))
        }),
        _ => Ok(()),
    }
}

/// File in a directory without a journal whose name is that of an output of the sweep.
fn foreign(sweep: &Sweep<'_>, directory: &Path) -> Option<PathBuf> {
    let pictures = sweep.file.plots.iter().map(|plot| plot.file.as_str());
    let mut written = tables::NAMES.into_iter().chain(pictures).map(|name| directory.join(name));
    written.find(|path| path.exists()).or_else(|| journal::foreign(directory))
}

/// An error that ends a sweep, with the command that continues it.
fn keeps(error: Failure, directory: &Path) -> Failure {
    let next = "finished runs are kept, and this command continues from them";
    let help = match &error.help {
        Some(help) => format!("{help}; {next}"),
        None => format!("{} keeps the finished runs, and this command continues from them", directory.display()),
    };
    error.with_help(help)
}
