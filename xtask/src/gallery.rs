//! The pictures of `docs/gallery.md`: runs and draws every shipped sweep, a comparison of copiers, and tables with
//! published figures.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use super::succeed;

/// Directory of the pictures of the page.
const PICTURES: &str = "docs/gallery";
/// Directory of the results.
const RESULTS: &str = "target/gallery";

/// Runs all sweeps and replaces the pictures; fails if a picture changed, so that the change is
/// inspected and committed.
#[expect(clippy::print_stderr, reason = "the task reports to the terminal")]
pub fn draw() -> ExitCode {
    let all = || {
        let mut changed = sweeps()?.iter().map(|sweep| of_sweep(sweep)).collect::<Result<Vec<_>, String>>()?;
        changed.push(drawn("compare", &COMPARISON.map(OsStr::new))?);
        for (name, arguments) in TABLES {
            changed.push(of_table(name, arguments)?);
        }
        Ok::<_, String>(changed)
    };
    match all() {
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

/// The comparison whose pictures are shown.
const COMPARISON: [&str; 7] = ["compare", "--operations", "copy", "--sources", "cold", "--reads", "0"];

/// Names of the pictures of tables with published figures, and the arguments of `reproduce`.
const TABLES: [(&str, &[&str]); 2] =
    [("fastcopy", &["fastcopy", "--plot-machine", "pentium-133"]), ("injection", &["injection"])];

/// Runs a sweep; replaces the pictures that differ, and returns them.
fn of_sweep(sweep: &Path) -> Result<Vec<PathBuf>, String> {
    let name = sweep.file_stem().ok_or("a sweep has no name")?;
    drawn(&name.to_string_lossy(), &["sweep".as_ref(), sweep.as_os_str()])
}

/// Draws the picture of a table; returns it if it differs, and replaces it.
fn of_table(name: &str, arguments: &[&str]) -> Result<Vec<PathBuf>, String> {
    let out = empty(name)?;
    fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    let picture = out.join(format!("{name}.svg"));
    rowclone_sim(&["reproduce"], name, |run| run.args(arguments).arg("--plot").arg(&picture))?;
    replaced(&out)
}

/// Runs the program with a directory for its results; replaces the pictures that differ, and returns them.
fn drawn(name: &str, arguments: &[&OsStr]) -> Result<Vec<PathBuf>, String> {
    let out = empty(name)?;
    rowclone_sim(arguments, name, |run| run.arg("--out").arg(&out))?;
    replaced(&out)
}

/// Runs the program with arguments, and with those that `with` adds.
fn rowclone_sim(
    arguments: &[impl AsRef<OsStr>],
    name: &str,
    with: impl FnOnce(&mut Command) -> &mut Command,
) -> Result<(), String> {
    let mut run = Command::new("cargo");
    with(run.args(["run", "--release", "--quiet", "--"]).args(arguments)).stdout(Stdio::null());
    succeed(&mut run, name)
}

/// The directory of results with a name, which does not exist afterwards.
fn empty(name: &str) -> Result<PathBuf, String> {
    let out = Path::new(RESULTS).join(name);
    if out.exists() {
        fs::remove_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    }
    Ok(out)
}

/// Replaces the shown pictures that differ from those of a directory; returns them.
fn replaced(out: &Path) -> Result<Vec<PathBuf>, String> {
    let mut changed = Vec::new();
    for picture in files(out)?.into_iter().filter(|file| file.extension().is_some_and(|ending| ending == "svg")) {
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
