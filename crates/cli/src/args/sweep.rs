//! The words of `sweep`.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

use clap::{Args, Subcommand};

use rowclone_sweep::Shard;

/// `sweep`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Writes results.csv, results.parquet and times.csv. Finished runs are kept: after an interruption, \
        the same command continues.\n\n\
    Exit codes: 0 if every run was done, 1 if some failed (the column `error` has the reason), 2 if the sweep could \
    not be run, \
    130 after Ctrl-C, 143 after SIGTERM.\n\n\
    Examples:\n  \
    rowclone-sim sweep sweeps/copy-size.toml --dry-run\n  \
    rowclone-sim sweep sweeps/copy-size.toml --out copy-size\n  \
    rowclone-sim sweep sweeps/copy-size.toml --out copy-size --shard 2/8\n  \
    rowclone-sim sweep sweeps/copy-size.toml --out copy-size --slurm --points-per-task 5"
)]
pub struct SweepArgs {
    /// What else to do.
    #[command(subcommand)]
    pub command: Option<SweepCommand>,
    /// The sweep file (docs/sweeps.md lists its keys)
    #[arg(value_name = "SWEEP.toml", required = true)]
    pub sweep: Option<PathBuf>,
    /// Number of runs at the same time [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub jobs: Option<NonZeroUsize>,
    /// Directory of the journal and the tables [default: the name of SWEEP.toml]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Prints the number of points and the first points, and runs none
    #[arg(long)]
    pub dry_run: bool,
    /// Runs every N-th point from the K-th on, without writing tables; `sweep collect` writes them
    #[arg(long, value_name = "K/N")]
    pub shard: Option<Shard>,
    /// Accepts runs that skip more than 1 % of the records of a trace, which otherwise fail
    #[arg(long)]
    pub allow_skipped: bool,
    /// Replaces the tables of another sweep in the directory
    #[arg(long)]
    pub force: bool,
    /// How a cluster runs it.
    #[command(flatten)]
    pub slurm: SlurmArgs,
}

/// `sweep --slurm`.
#[derive(Debug, Args)]
#[command(next_help_heading = "On a cluster (docs/cluster.md)")]
pub struct SlurmArgs {
    /// Submits the unfinished points as a job array of Slurm; with `--dry-run`, prints its script
    #[arg(long, conflicts_with = "shard")]
    pub slurm: bool,
    /// Maximum number of points per shard; a task runs one shard [default: the least that gives at most 100 shards]
    #[arg(long, value_name = "N", requires = "slurm")]
    pub points_per_task: Option<NonZeroU64>,
    /// Maximum number of running tasks
    #[arg(long, value_name = "N", requires = "slurm")]
    pub max_running: Option<NonZeroU64>,
    /// Partition of the tasks [default: that of the cluster]
    #[arg(long, value_name = "NAME", requires = "slurm", value_parser = one_line)]
    pub partition: Option<String>,
    /// Time limit of a task: minutes, or [D-]HH:MM:SS [default: that of the partition]
    #[arg(long, value_name = "LIMIT", requires = "slurm", value_parser = one_line)]
    pub time: Option<String>,
    /// An additional option of `sbatch`, such as `--sbatch-option=--mem=4G`; can be repeated
    #[arg(
        long = "sbatch-option", value_name = "OPTION", requires = "slurm", allow_hyphen_values = true,
        value_parser = sbatch_option
    )]
    pub sbatch_options: Vec<String>,
}

/// What `sweep` does besides running.
#[derive(Debug, Subcommand)]
pub enum SweepCommand {
    /// Merges the finished runs of one or several directories into one table, at any time
    Collect(CollectArgs),
}

/// `sweep collect`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 if every run was done, 1 if some failed, 3 if some are not finished, which the tables \
        lack.\n\n\
    Example:\n  rowclone-sim sweep collect sweeps/copy-size.toml copy-size --out copy-size"
)]
pub struct CollectArgs {
    /// The sweep file
    #[arg(value_name = "SWEEP.toml")]
    pub sweep: PathBuf,
    /// The directories of the shards, or the one that they share
    #[arg(value_name = "DIR", required = true)]
    pub from: Vec<PathBuf>,
    /// Directory of the tables
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Number of points that are checked at the same time [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub jobs: Option<NonZeroUsize>,
    /// Accepts runs that skip more than 1 % of the records of a trace, which otherwise fail
    #[arg(long)]
    pub allow_skipped: bool,
    /// Replaces the tables of another sweep, and takes matching runs from the journals of other sweeps
    #[arg(long)]
    pub force: bool,
}

/// More jobs than these take longer to start than to work.
const JOBS_MAX: usize = 1024;

fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    let jobs = text.parse().ok().filter(|jobs: &NonZeroUsize| jobs.get() <= JOBS_MAX);
    jobs.ok_or_else(|| format!("write a whole number from 1 to {JOBS_MAX}"))
}

/// A word that a job script can hold.
fn one_line(text: &str) -> Result<String, String> {
    let sound = !text.is_empty() && !text.contains(char::is_control);
    if sound { Ok(text.to_owned()) } else { Err("write it in one line".to_owned()) }
}

/// An option of `sbatch` that does not decide what the tasks are.
fn sbatch_option(text: &str) -> Result<String, String> {
    let text = one_line(text)?;
    if !text.starts_with('-') {
        return Err("write it as `sbatch` takes it, in one word: `--mem=4G`".to_owned());
    }
    let name = text.split('=').next().unwrap_or_default();
    if ["--array", "--wrap", "--parsable", "--test-only"].contains(&name) || text.starts_with("-a") {
        return Err("`--points-per-task` and `--max-running` determine the tasks".to_owned());
    }
    Ok(text)
}
