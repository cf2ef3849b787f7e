//! `rowclone-sim sweep --slurm`.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rowclone_sim::quantity::counted;

use crate::args::{SlurmArgs, SweepArgs};
use crate::output;
use rowclone_config::{Failure, overrides::quoted};
use rowclone_sweep::slurm::{Options, Submission};
use rowclone_sweep::{Sweep, SweepFile};

/// Exit code if a point cannot run; its row has the error.
const FAILED: u8 = 1;
/// Flag that tasks and `sweep collect` receive if the user gave it.
const ALLOW_SKIPPED: &str = "--allow-skipped";

/// Submits the unfinished part of a sweep, or prints the script.
///
/// # Errors
/// The directory cannot be used, or Slurm refuses.
pub(super) fn submit(path: &Path, file: &SweepFile, sweep: &Sweep<'_>, args: &SweepArgs) -> Result<ExitCode, Failure> {
    let options = options(path, file, args);
    let submission = Submission::new(sweep, &options)?;
    if args.dry_run && !submission.shards.is_empty() {
        return output::print(submission.script()?);
    }
    let job = if args.dry_run { None } else { submission.submit(sweep, args.force)? };
    if let Some((point, error)) = &submission.first_wrong {
        let points = counted(submission.wrong, "point");
        output::message(&format!("{points} cannot be run, the first is point {point}: {error}"));
    }
    if let Some(job) = job {
        // Standard output has only the job number, for scripts that submit sweeps.
        output::print(format_args!("{job}\n"))?;
        let shards = counted(submission.shards.len() as u64, "shard");
        let (script, logs) = (submission.script_path(), submission.logs());
        output::message(&format!("{}: {shards} submitted as job {job}", file.name));
        output::message(&format!("its script: {}; what its tasks say: {}", script.display(), logs.display()));
        output::message(&format!("to watch it: squeue --job {job}"));
        output::message("after a failure, the same command submits what is not finished");
    } else {
        let why = match submission.waiting {
            0 => "every run is done".to_owned(),
            1 => "1 shard is in the queue, every other run is done".to_owned(),
            waiting => format!("{} are in the queue, every other run is done", counted(waiting as u64, "shard")),
        };
        output::message(&format!("{}: nothing to submit: {why}", file.name));
    }
    output::message(&format!("to merge what has finished, at any time: {}", collect(&options)));
    Ok(ExitCode::from(if submission.wrong > 0 { FAILED } else { 0 }))
}

fn options(path: &Path, file: &SweepFile, args: &SweepArgs) -> Options {
    let SlurmArgs { slurm: _, points_per_task, max_running, partition, time, sbatch_options } = &args.slurm;
    let flags = [(args.force, "--force"), (args.allow_skipped, ALLOW_SKIPPED)];
    let arguments = flags.into_iter().filter(|(is_given, _)| *is_given).map(|(_, flag)| flag.to_owned()).collect();
    let partition = partition.iter().map(|partition| format!("--partition={partition}"));
    let time = time.iter().map(|time| format!("--time={time}"));
    Options {
        points_per_task: *points_per_task,
        max_running: *max_running,
        more: partition.chain(time).chain(sbatch_options.iter().cloned()).collect(),
        jobs: args.jobs.unwrap_or(NonZeroUsize::MIN),
        arguments,
        sweep: path.to_owned(),
        directory: args.out.clone().unwrap_or_else(|| PathBuf::from(&file.name)),
    }
}

/// The command that merges the finished runs.
fn collect(options: &Options) -> String {
    let word = |path: &Path| quoted(&path.display().to_string());
    let (sweep, directory) = (word(&options.sweep), word(&options.directory));
    let allow = options.arguments.iter().find(|argument| *argument == ALLOW_SKIPPED);
    let allow = allow.map_or(String::new(), |allow| format!(" {allow}"));
    format!("rowclone-sim sweep collect {sweep} {directory} --out {directory}{allow}")
}
