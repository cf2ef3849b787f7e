//! The pictures of `docs/gallery.md`: every shipped sweep, run and drawn anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use super::succeed;

/// Where the pictures lie that the page shows.
const PICTURES: &str = "docs/gallery";
/// Where the sweeps are run.
const RESULTS: &str = "target/gallery";

/// Runs all sweeps and replaces the pictures; fails if one was not as it is now, so that it is looked at and committed.
#[expect(clippy::print_stderr, reason = "a chore tells on the terminal what it found")]
pub fn draw() -> ExitCode {
    match sweeps().and_then(|sweeps| sweeps.iter().map(|sweep| drawn(sweep)).collect::<Result<Vec<_>, String>>()) {
        Ok(changed) => {
            let changed = changed.concat();
            for picture in &changed {
                eprintln!("{}: is new: look at it, and commit it", picture.display());
            }
            if changed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(why) => {
            eprintln!("gallery: {why}");
            ExitCode::FAILURE
        }
    }
}

fn sweeps() -> Result<Vec<PathBuf>, String> {
    let mut sweeps = files("sweeps")?;
    sweeps.sort();
    Ok(sweeps)
}

/// Runs a sweep; its pictures that differ from those of the page, which they replace.
fn drawn(sweep: &Path) -> Result<Vec<PathBuf>, String> {
    let name = sweep.file_stem().ok_or("a sweep has no name")?;
    let out = Path::new(RESULTS).join(name);
    if out.exists() {
        fs::remove_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    }
    let program = ["run", "--release", "--quiet", "--", "sweep"];
    let mut run = Command::new("cargo");
    succeed(run.args(program).arg(sweep).arg("--out").arg(&out), &sweep.display().to_string())?;
    let mut changed = Vec::new();
    for picture in files(&out)?.into_iter().filter(|file| file.extension().is_some_and(|ending| ending == "svg")) {
        let shown = Path::new(PICTURES).join(picture.file_name().unwrap_or_default());
        let read = |path: &Path| fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
        if read(&shown).ok() != Some(read(&picture)?) {
            fs::copy(&picture, &shown).map_err(|error| format!("{}: {error}", shown.display()))?;
            changed.push(shown);
        }
    }
    Ok(changed)
}

fn files(directory: impl AsRef<Path>) -> Result<Vec<PathBuf>, String> {
    let fault = |error: std::io::Error| format!("{}: {error}", directory.as_ref().display());
    let entries = fs::read_dir(&directory).map_err(fault)?;
    entries.map(|entry| entry.map(|entry| entry.path()).map_err(fault)).collect()
}
