//! Sweeps as job arrays of Slurm: each task runs a shard, and shards that are not finished can be submitted again.
//!
//! `docs/cluster.md` describes the options.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use rowclone_config::{AtomicFile, Existing, Failure, overrides::quoted};

use super::directory::claim;
use super::journal::Journals;
use super::run::Sweep;
use super::shard::Shard;

/// Maximum number of shards if the user gives no number of points per task. Slurm takes one to two seconds per task.
const TASKS: u64 = 100;
/// File name of the script, in the directory of the results.
const SCRIPT: &str = "slurm.sh";
/// Directory of the output of tasks, in the directory of the results.
const LOGS: &str = "slurm-logs";
/// File name of the submitted jobs, in the directory of the results: a line `JOB SHARDS` for each, with the job number
/// of Slurm and the number of shards of the sweep.
const JOBS: &str = "slurm-jobs";

/// Options of a job array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Maximum number of points per shard.
    pub points_per_task: Option<NonZeroU64>,
    /// Maximum number of tasks that run at once.
    pub max_running: Option<NonZeroU64>,
    /// Further options of `sbatch`, one word each.
    pub more: Vec<String>,
    /// Processors per task.
    pub jobs: NonZeroUsize,
    /// Arguments that each task adds to the command line of its sweep.
    pub arguments: Vec<String>,
    /// Path of the sweep file, as given by the user.
    pub sweep: PathBuf,
    /// Directory of the results, as given by the user.
    pub directory: PathBuf,
}

/// The unfinished part of a sweep, with its job array.
#[derive(Debug)]
pub struct Submission<'a> {
    options: &'a Options,
    /// Name of the sweep and of the job.
    name: &'a str,
    /// Shards that are neither finished nor in the queue, ascending. Each is a task of the array.
    pub shards: Vec<u64>,
    /// Number of shards of the sweep.
    of: u64,
    /// Number of shards that wait or run.
    pub waiting: usize,
    /// Number of points that cannot run.
    pub wrong: u64,
    /// The first point that cannot run, with its error.
    pub first_wrong: Option<(u64, String)>,
}

impl<'a> Submission<'a> {
    /// Determines the shards of a sweep that are neither finished nor in the queue. A failed run is not finished.
    ///
    /// # Errors
    /// A journal cannot be read, or the queue has tasks with another number of shards.
    pub fn new(sweep: &'a Sweep<'_>, options: &'a Options) -> Result<Submission<'a>, Failure> {
        let points = sweep.points.count();
        let each = options.points_per_task.map_or(points.div_ceil(TASKS), NonZeroU64::get);
        let of = points.div_ceil(each);
        let waiting = waiting(&options.directory, of)?;
        let mut journals = Journals::default();
        journals.read(&options.directory)?;
        let numbers = sweep.numbers(None);
        let (mut shards, mut wrong, mut first_wrong) = (BTreeSet::new(), 0, None);
        for (&number, plan) in numbers.iter().zip(sweep.plans(&numbers)?) {
            match plan {
                Ok(planned) if planned.runs.iter().all(|run| journals.has_done(run.digest)) => {}
                Ok(_) => {
                    shards.insert(Shard::of(number, of).number);
                }
                Err(error) => {
                    wrong += 1;
                    first_wrong = first_wrong.or(Some((number, error)));
                }
            }
        }
        let shards = shards.difference(&waiting).copied().collect();
        Ok(Submission { options, name: &sweep.file.name, shards, of, waiting: waiting.len(), wrong, first_wrong })
    }

    /// Writes the script into the directory, and submits it; returns the number of the job, or none if every shard is
    /// finished or in the queue.
    ///
    /// # Errors
    /// The directory has files of another sweep or cannot be written, or Slurm refuses the job.
    pub fn submit(&self, sweep: &Sweep<'_>, force: bool) -> Result<Option<u64>, Failure> {
        let directory = &self.options.directory;
        claim(sweep, directory, None, force)?;
        if self.shards.is_empty() {
            return Ok(None);
        }
        let text = self.script()?;
        let logs = self.logs();
        fs::create_dir_all(&logs).map_err(|error| Failure::writing(&logs, &error))?;
        let script = self.script_path();
        AtomicFile::create(&script, Existing::Replace)?.complete(text.as_bytes())?;
        // Options of the command line take precedence over the environment, and those of a script do not.
        let mut sbatch = Command::new("sbatch");
        let output = output(sbatch.arg("--parsable").args(self.head()?).arg(&script))?;
        if !output.status.success() {
            let script = quoted(&script.display().to_string());
            let help = format!(
                "`sinfo` lists partitions and time limits, `scontrol show config` has the most tasks of an array \
                 (`MaxArraySize`), `--points-per-task` gives fewer; `sbatch --test-only {script}` tries what was to be \
                 submitted"
            );
            return Err(Failure::new(format!("sbatch refuses: {}", said(&output))).with_help(help));
        }
        let answer = String::from_utf8_lossy(&output.stdout);
        // With several clusters, the name of the cluster follows.
        let Some(job) = answer.trim().split(';').next().and_then(|job| job.parse().ok()) else {
            return Err(Failure::new(format!("sbatch answered `{}`, which is no job", answer.trim())));
        };
        let jobs = directory.join(JOBS);
        let file = OpenOptions::new().create(true).append(true).open(&jobs);
        file.and_then(|mut file| writeln!(file, "{job} {}", self.of)).map_err(|error| {
            let help = format!("it runs as job {job}, which is not recorded here: submit nothing before it has ended");
            Failure::writing(&jobs, &error).with_help(help)
        })?;
        Ok(Some(job))
    }

    /// Path of the script.
    pub fn script_path(&self) -> PathBuf {
        self.options.directory.join(SCRIPT)
    }

    /// Directory of the output of the tasks.
    pub fn logs(&self) -> PathBuf {
        self.options.directory.join(LOGS)
    }

    /// Text of the script.
    ///
    /// # Errors
    /// A path has characters that a script cannot contain, or the paths of the program and of the working directory are
    /// unknown.
    pub fn script(&self) -> Result<String, Failure> {
        let Submission { options, of, .. } = self;
        let program = env::current_exe();
        let program = program.map_err(|error| Failure::new(format!("the path of this program is unknown: {error}")))?;
        let head = self.head()?;
        let head = head.iter().flat_map(|option| ["#SBATCH ".to_owned(), for_sbatch(option), "\n".to_owned()]);
        let head = head.collect::<String>();
        let mut words = vec![text(&program)?, "sweep", text(&options.sweep)?, "--out", text(&options.directory)?];
        words.extend(options.arguments.iter().map(String::as_str));
        let command = words.into_iter().map(quoted).collect::<Vec<_>>().join(" ");
        let here = quoted(text(&here()?)?);
        Ok(format!(
            r#"#!/bin/sh
# A job array for Slurm, as `rowclone-sim sweep --slurm` submits it. Task K runs shard K of the sweep, and records
# each run when it ends: a task may be killed or requeued at any time, and the same command submits the rest.
{head}
cd {here} || exit 2
exec {command} --shard "$SLURM_ARRAY_TASK_ID/{of}" --jobs "${{SLURM_CPUS_PER_TASK:-1}}"
"#
        ))
    }

    /// Options of `sbatch`. Of repeated options, `sbatch` uses the last.
    fn head(&self) -> Result<Vec<String>, Failure> {
        let Options { max_running, more, jobs, .. } = self.options;
        let throttle = max_running.map_or(String::new(), |running| format!("%{running}"));
        let logs = here()?.join(self.logs());
        let head = [
            format!("--job-name={}", self.name),
            format!("--array={}{throttle}", ranges(&self.shards)),
            // `%` begins a pattern of `sbatch`, and a backslash escapes the next character.
            format!("--output={}/%A_%a.log", text(&logs)?.replace('%', "%%")),
            "--open-mode=append".to_owned(),
            format!("--cpus-per-task={jobs}"),
        ];
        Ok(head.into_iter().chain(more.iter().cloned()).collect())
    }
}

/// Shards of earlier jobs of a directory that are in the queue.
fn waiting(directory: &Path, of: u64) -> Result<BTreeSet<u64>, Failure> {
    let path = directory.join(JOBS);
    let lines = match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        read => read.map_err(|error| Failure::reading(&path, &error))?,
    };
    let two = |line: &str| line.trim().split_once(' ').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    let jobs = (1..).zip(lines.lines()).map(|(number, line)| {
        two(line).ok_or_else(|| {
            let error = Failure::new(format!("{}:{number}: is no job: {line}", path.display()));
            error.with_help("see with `squeue` that no job of this sweep is in the queue, and remove the file")
        })
    });
    let jobs = jobs.collect::<Result<BTreeMap<u64, u64>, Failure>>()?;
    if jobs.is_empty() {
        return Ok(BTreeSet::new());
    }
    let output = output(Command::new("squeue").args(["--noheader", "--array", "--me", "--format=%F %K"]))?;
    if !output.status.success() {
        let message = format!("squeue does not say which tasks are still in the queue: {}", said(&output));
        return Err(Failure::new(message).with_help("try again when `squeue` works"));
    }
    let mut waiting = BTreeSet::new();
    for (job, shard) in String::from_utf8_lossy(&output.stdout).lines().filter_map(two) {
        match jobs.get(&job) {
            Some(&then) if then != of => {
                let message = format!("job {job} is in the queue, and runs {then} shards of this sweep, not {of}");
                return Err(Failure::new(message).with_help(format!(
                    "give the `--points-per-task` of this job, wait until it has ended, or cancel it: `scancel {job}`"
                )));
            }
            known => waiting.extend(known.map(|_| shard)),
        }
    }
    Ok(waiting)
}

/// Output of a program of Slurm, or its error.
fn output(command: &mut Command) -> Result<Output, Failure> {
    command.output().map_err(|error| {
        let program = command.get_program().display();
        if error.kind() != io::ErrorKind::NotFound {
            return Failure::new(format!("`{program}` cannot be started: {error}"));
        }
        let help =
            "submit from a login node of the cluster; `--shard K/N` runs a part of a sweep under any other scheduler";
        Failure::new(format!("`{program}` cannot be found: Slurm is not installed here")).with_help(help)
    })
}

/// The error message of a program of Slurm, on one line.
fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines = text.lines().map(|line| line.trim_start_matches("sbatch: ").trim_start_matches("error: ").trim());
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    if lines.is_empty() { output.status.to_string() } else { lines.join("; ") }
}

/// The working directory, in which the tasks start.
fn here() -> Result<PathBuf, Failure> {
    env::current_dir().map_err(|error| Failure::new(format!("the working directory is unknown: {error}")))
}

/// Ascending numbers as a list of ranges: `1-57,60,63-200`.
fn ranges(numbers: &[u64]) -> String {
    let range = |range: &[u64]| match range {
        [one] => one.to_string(),
        _ => format!("{}-{}", range[0], range[range.len() - 1]),
    };
    numbers.chunk_by(|number, next| number + 1 == *next).map(range).collect::<Vec<_>>().join(",")
}

/// A path in the form for a script.
fn text(path: &Path) -> Result<&str, Failure> {
    let plain = |text: &&str| !text.contains(|c: char| c.is_control() || c == '\\');
    path.to_str().filter(plain).ok_or_else(|| {
        Failure::at(path, "this path cannot be written in a job script")
            .with_help("use a path without backslashes and control characters, in UTF-8")
    })
}

/// Quotes a text as one word of an option of `sbatch`, which reads quotes, and backslashes within them.
fn for_sbatch(option: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-[]".contains(c);
    if option.chars().all(plain) {
        return option.to_owned();
    }
    format!("\"{}\"", option.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbors_are_one_range() {
        assert_eq!(ranges(&[1, 2, 3, 5, 8, 9]), "1-3,5,8-9");
        assert_eq!(ranges(&[]), "");
    }

    #[test]
    fn sbatch_takes_any_option_for_one_word() {
        assert_eq!(for_sbatch("--array=1-20%5"), "--array=1-20%5");
        assert_eq!(for_sbatch("--job-name=a \"b\" #1"), "\"--job-name=a \\\"b\\\" #1\"");
    }

    #[test]
    fn a_path_that_would_break_the_script_is_refused() {
        for wrong in ["a\nb", "a\\b"] {
            assert!(text(Path::new(wrong)).is_err());
        }
        assert_eq!(text(Path::new("it's 5%")), Ok("it's 5%"));
    }
}
