//! Submission of the unfinished part of a sweep.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use crate::directory::claim;
use crate::journal::Journals;
use crate::run::Sweep;
use crate::shard::Shard;
use rowclone_config::{AtomicFile, Existing, Failure};

use super::client;
use super::options::Options;
use super::queued::{self, Job};

/// File name of the script, in the directory of the results.
const SCRIPT: &str = "slurm.sh";
/// Directory of the output of tasks, in the directory of the results.
pub(super) const LOGS: &str = "slurm-logs";

/// The unfinished part of a sweep, with its job array.
#[derive(Clone, Debug)]
pub struct Submission<'a> {
    pub(super) options: &'a Options,
    /// Name of the sweep and of the job.
    pub(super) name: &'a str,
    /// Shards that are neither finished nor in the queue.
    pub shards: Vec<u64>,
    /// Number of shards of the sweep.
    pub of: u64,
    /// Shards that wait or run.
    pub waiting: u64,
    /// Number of points that cannot run.
    pub wrong: u64,
    /// The first point that cannot run, with its error.
    pub first_wrong: Option<(u64, String)>,
    /// Tasks of the array.
    pub tasks: u64,
    /// Earlier jobs with tasks in the queue.
    jobs: Vec<Job>,
}

/// A job in the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submitted {
    /// Job number of Slurm.
    pub job: u64,
    /// The submitted job array.
    pub script: PathBuf,
    /// Path of the output of its tasks.
    pub logs: PathBuf,
}

impl<'a> Submission<'a> {
    /// Determines the shards of a sweep that are neither finished nor in the queue.
    ///
    /// # Errors
    /// There would be too many shards, a journal cannot be read, or the queue has tasks with another number of shards.
    pub fn new(sweep: &'a Sweep<'_>, options: &'a Options) -> Result<Submission<'a>, Failure> {
        let of = options.shards(sweep.points.count())?;
        let (jobs, waiting) = waiting(&options.directory, of)?;
        let (mut shards, wrong, first_wrong) = unfinished(sweep, &options.directory, of)?;
        shards.retain(|shard| !waiting.contains(shard));
        let queued_before: u64 = jobs.iter().map(|(_, tasks)| tasks.len() as u64).sum();
        let most = options.max_queued.map_or(u64::MAX, NonZeroU64::get);
        if !shards.is_empty() && queued_before >= most {
            let message = format!("{queued_before} tasks of this sweep are in the queue already");
            return Err(Failure::new(message).with_help("wait for them, or give more with `--max-queued`"));
        }
        let tasks = (shards.len() as u64).min(most - queued_before.min(most)).min(client::tasks_max());
        let jobs = jobs.into_iter().map(|(job, _)| job).collect();
        let (name, waiting) = (&sweep.file.name, waiting.len() as u64);
        Ok(Submission { options, name, shards, of, waiting, wrong, first_wrong, tasks, jobs })
    }

    /// Writes the script into the directory, and submits it; none if every shard is finished or in the queue.
    ///
    /// # Errors
    /// The directory has files of another sweep or cannot be written, or Slurm refuses the job.
    pub fn submit(self, sweep: &Sweep<'_>, force: bool) -> Result<Option<Submitted>, Failure> {
        let directory = &self.options.directory;
        claim(sweep, directory, None, force)?;
        if self.shards.is_empty() {
            return Ok(None);
        }
        let text = self.script()?;
        let logs = directory.join(LOGS);
        fs::create_dir_all(&logs).map_err(|error| Failure::writing(&logs, &error))?;
        let script = directory.join(SCRIPT);
        AtomicFile::create(&script, Existing::Replace)?.complete(text.as_bytes())?;
        let job = client::submit(&script, &self.decided())?;
        let Submission { mut jobs, tasks, of, shards, .. } = self;
        jobs.push(Job { id: job, tasks, of, shards });
        queued::write(directory, &jobs).map_err(|error| {
            let help = format!("it runs as job {job}, and will not be known to: submit nothing before it has ended");
            error.with_help(help)
        })?;
        Ok(Some(Submitted { job, script, logs }))
    }

    /// Environment variables that take precedence over options of the script in `sbatch`.
    fn decided(&self) -> Vec<&'static str> {
        let Options { partition, time, .. } = self.options;
        let chosen = [("SBATCH_PARTITION", partition.is_some()), ("SBATCH_TIMELIMIT", time.is_some())];
        let chosen = chosen.into_iter().filter(|(_, chosen)| *chosen).map(|(variable, _)| variable);
        ["SBATCH_ARRAY_INX", "SBATCH_JOB_NAME", "SBATCH_OPEN_MODE"].into_iter().chain(chosen).collect()
    }
}

/// Earlier jobs with tasks in the queue, and all shards of these tasks.
type Waiting = (Vec<(Job, BTreeSet<u64>)>, BTreeSet<u64>);

fn waiting(directory: &Path, of: u64) -> Result<Waiting, Failure> {
    let jobs = queued::read(directory)?;
    if jobs.is_empty() {
        return Ok((Vec::new(), BTreeSet::new()));
    }
    let mut queued = client::queued(&jobs.iter().map(|job| job.id).collect())?;
    let jobs = jobs.into_iter().filter_map(|job| queued.remove(&job.id).map(|tasks| (job, tasks)));
    let jobs: Vec<(Job, BTreeSet<u64>)> = jobs.collect();
    if let Some((job, _)) = jobs.iter().find(|(job, _)| job.of != of) {
        let Job { id, of: then, .. } = job;
        let message = format!("job {id} is in the queue, and runs {then} shards of this sweep, not {of}");
        let help = format!("give `--points-per-task` as then, wait until it has ended, or cancel it: `scancel {id}`");
        return Err(Failure::new(message).with_help(help));
    }
    let shards = jobs.iter().flat_map(|(job, tasks)| job.shards_of(tasks)).collect();
    Ok((jobs, shards))
}

/// Shards with an unfinished run, the number of points that cannot run, and the first of these with its error.
type Unfinished = (Vec<u64>, u64, Option<(u64, String)>);

/// Unfinished part of a sweep. A failed run is unfinished.
fn unfinished(sweep: &Sweep<'_>, directory: &Path, of: u64) -> Result<Unfinished, Failure> {
    let mut journals = Journals::default();
    journals.read(directory)?;
    let numbers = sweep.numbers(None);
    let mut left = vec![false; of as usize];
    let (mut wrong, mut first_wrong) = (0, None);
    for (&number, plan) in numbers.iter().zip(sweep.plans(&numbers)?) {
        match plan {
            Ok(planned) if planned.runs.iter().all(|run| journals.has_done(run.digest)) => {}
            Ok(_) => left[Shard::of(number, of).number as usize - 1] = true,
            Err(error) => {
                wrong += 1;
                first_wrong = first_wrong.or(Some((number, error)));
            }
        }
    }
    let shards = (1..).zip(left).filter(|(_, left)| *left).map(|(shard, _)| shard).collect();
    Ok((shards, wrong, first_wrong))
}
