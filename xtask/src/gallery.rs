//! The pictures of `docs/gallery.md`: runs and draws every shipped sweep.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use super::succeed;

/// Directory of the pictures of the page.
const PICTURES: &str = "docs/gallery";
/// Directory of the results.
const RESULTS: &str = "target/gallery";

/// Runs all sweeps and replaces the pictures; fails if a picture changed, so that the change is
/// inspected and committed.
#[expect(clippy::print_stderr, reason = "the task reports to the terminal")]
pub fn draw() -> ExitCode {
    match sweeps().and_then(|sweeps| sweeps.iter().map(|sweep| drawn(sweep)).collect::<Result<Vec<_>, String>>()) {
        Ok(changed) => {
            let changed = changed.concat();
            for picture in &changed {
                eprintln!("{}: has changed: inspect and commit it", picture.display());
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

/// Runs a sweep; replaces the pictures that differ, and returns them.
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
