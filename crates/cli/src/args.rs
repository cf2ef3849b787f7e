//! The command line.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::instant::Instant;
use crate::sweep::Shard;

/// `rowclone-sim`.
#[derive(Debug, Parser)]
#[command(
    name = "rowclone-sim",
    version,
    about = "Cycle-accurate DDR3 with RowClone: copying and initialising memory inside DRAM",
    after_help = "Example:\n  rowclone-sim run traces/page-copy.toml"
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Runs a scenario under each of its policies, and reports latency, energy and traffic
    Run(RunArgs),
    /// Runs a scenario at many points, its keys varied along axes: one table of all results
    Sweep(SweepArgs),
    /// Judges a command log against every rule of the standard and of RowClone
    Check(CheckArgs),
    /// Explains an address, the rules, a plan, an energy or a timeline
    Explain(ExplainArgs),
    /// Computes a published table anew, beside the published numbers
    Reproduce(ReproduceArgs),
    /// Prints what makes a shell complete this program's commands and options
    Completions(CompletionsArgs),
}

/// A scenario, and what to change in it.
#[derive(Debug, Args)]
pub struct ScenarioArgs {
    /// The scenario, a TOML file (docs/input.md lists its keys)
    #[arg(value_name = "SCENARIO.toml")]
    pub scenario: PathBuf,
    /// Puts a value in the place of the file's: `seed=7`, `operation.0.bytes=8192`; with `system.` before the key, in the
    /// system file: `system.geometry.ranks=2`. Later ones win
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// How results of a run are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum RunFormat {
    /// For people
    #[default]
    Table,
    /// For programs: all numbers, in full
    Json,
    /// For spreadsheets: one line a policy (`--out` writes one line an operation as well)
    Csv,
}

/// How everything else is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Table,
    /// For programs
    Json,
}

/// `run`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rowclone-sim run traces/page-copy.toml\n  \
    rowclone-sim run traces/page-copy.toml --set system.device.bin=1600K --format json\n  \
    rowclone-sim run traces/page-copy.toml --set 'policies=[\"rule\"]' --commands page-copy.csv --check\n  \
    rowclone-sim run traces/mixed.toml --timeline mixed.pftrace --from 50us --to 60us")]
pub struct RunArgs {
    /// What to run.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// How to print the results
    #[arg(long, value_enum, default_value_t)]
    pub format: RunFormat,
    /// Writes the results into this directory as well: report.txt, results.json, results.csv, operations.csv
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Writes every command to this file, a command log; where several policies run, each gets its own, named after it
    #[arg(long, value_name = "FILE")]
    pub commands: Option<PathBuf>,
    /// Draws the run as a timeline into this file, a trace for Perfetto; where several policies run, each gets its own, named
    /// after it
    #[arg(long, value_name = "FILE")]
    pub timeline: Option<PathBuf>,
    /// Draws the timeline from this instant on: a cycle, or a time such as 90ns, 7.8us or 1ms [default: the beginning]
    #[arg(long, value_name = "CYCLE", requires = "timeline")]
    pub from: Option<Instant>,
    /// Draws the timeline up to this instant [default: the end]
    #[arg(long, value_name = "CYCLE", requires = "timeline")]
    pub to: Option<Instant>,
    /// Judges every command, and compares memory with a flat array; ends with 1 where either finds something
    #[arg(long)]
    pub check: bool,
    /// Replaces files that exist already
    #[arg(long)]
    pub force: bool,
}

/// `sweep`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Writes results.csv, results.parquet and times.csv. What is finished is kept: interrupted, the same command goes on.\n\n\
    Ends with 0 where every run was done, 1 where some failed (their rows say why), 2 where the sweep could not be done or was \
    interrupted.\n\n\
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
    /// The sweep, a TOML file (docs/sweeps.md lists its keys)
    #[arg(value_name = "SWEEP.toml", required = true)]
    pub sweep: Option<PathBuf>,
    /// Runs so many points at once [default: as many as there are processors]
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Keeps what is finished, and writes the tables, in this directory [default: the name of SWEEP.toml]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Says how many points there are, and which are the first, and runs none
    #[arg(long)]
    pub dry_run: bool,
    /// Runs every N-th point from the K-th on, and writes no tables: `sweep collect` does
    #[arg(long, value_name = "K/N")]
    pub shard: Option<Shard>,
    /// Keeps at most so many bytes of traces in memory, compressed: `512M`, `2G`; the others are read again for each run
    #[arg(long, value_name = "BYTES", value_parser = bytes, default_value = "512M")]
    pub trace_cache: u64,
    /// Uses a directory that holds the tables of something else, and replaces them
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
    /// Submits what is not finished as a job array of Slurm, whose tasks run shards; `--dry-run` prints its script
    #[arg(long, conflicts_with = "shard")]
    pub slurm: bool,
    /// Gives a shard at most so many points, and a task a shard [default: so many that there are at most 100]
    #[arg(long, value_name = "N", requires = "slurm")]
    pub points_per_task: Option<NonZeroU64>,
    /// Has at most so many tasks in the queue, waiting or running: where there are more shards, a task runs several
    #[arg(long, value_name = "N", requires = "slurm")]
    pub max_queued: Option<NonZeroU64>,
    /// Lets at most so many tasks run at once
    #[arg(long, value_name = "N", requires = "slurm")]
    pub max_running: Option<NonZeroU64>,
    /// Runs them in this partition [default: the cluster's]
    #[arg(long, value_name = "NAME", requires = "slurm", value_parser = one_line)]
    pub partition: Option<String>,
    /// Ends a task after this time: minutes, or [D-]HH:MM:SS [default: the partition's]
    #[arg(long, value_name = "LIMIT", requires = "slurm", value_parser = one_line)]
    pub time: Option<String>,
    /// Gives `sbatch` one more option: `--sbatch-option=--mem=4G`; may be repeated
    #[arg(
        long = "sbatch-option", value_name = "OPTION", requires = "slurm", allow_hyphen_values = true,
        value_parser = sbatch_option
    )]
    pub sbatch_options: Vec<String>,
}

/// What `sweep` does besides running.
#[derive(Debug, Subcommand)]
pub enum SweepCommand {
    /// Merges what has been finished in some directories into one table, at any time
    Collect(CollectArgs),
}

/// `sweep collect`.
#[derive(Debug, Args)]
#[command(
    after_help = "Ends with 0 where every run was done, 1 where some failed, 3 where some are not finished: the tables are without them.\n\n\
    Example:\n  rowclone-sim sweep collect sweeps/copy-size.toml copy-size --out copy-size"
)]
pub struct CollectArgs {
    /// The sweep
    #[arg(value_name = "SWEEP.toml")]
    pub sweep: PathBuf,
    /// The directories that shards of it were given, or the one that they share
    #[arg(value_name = "DIR", required = true)]
    pub from: Vec<PathBuf>,
    /// Writes the tables into this directory
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Works on so many points at once [default: as many as there are processors]
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Replaces files that exist already
    #[arg(long)]
    pub force: bool,
}

/// A number of bytes: `4096`, `512K`, `512M`, `2G`.
fn bytes(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.strip_suffix(['K', 'M', 'G']) {
        Some(digits) if text.ends_with('K') => (digits, 1 << 10),
        Some(digits) if text.ends_with('M') => (digits, 1 << 20),
        Some(digits) => (digits, 1 << 30),
        None => (text, 1),
    };
    let number: Option<u64> = digits.parse().ok();
    let bytes = number.and_then(|number| number.checked_mul(unit));
    bytes.ok_or_else(|| "write a number of bytes, or of K, M or G: `512M`".to_owned())
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
        return Err(
            "which tasks there are is said by `--points-per-task`, `--max-queued` and `--max-running`".to_owned()
        );
    }
    Ok(text)
}

/// Which commands a log may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DialectName {
    /// Plain DDR3
    Jedec,
    /// DDR3 with copy activations and TRANSFER
    #[value(name = "rowclone")]
    RowClone,
}

/// `check`.
#[derive(Debug, Args)]
#[command(
    after_help = "Ends with 0 for a log without a violation, 1 with violations, 2 for a file that is no log.\n\n\
    Example:\n  rowclone-sim check page-copy.csv --dialect jedec"
)]
pub struct CheckArgs {
    /// The command log, plain or gzip
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Which commands it may hold [default: what the log says of itself]
    #[arg(long, value_enum)]
    pub dialect: Option<DialectName>,
    /// How to print the verdict
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// `explain`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rowclone-sim explain address 0x400000 --system configs/ddr3-1066-paper.toml")]
pub struct ExplainArgs {
    /// What to explain.
    #[command(subcommand)]
    pub what: Explain,
}

/// What can be explained.
#[derive(Debug, Subcommand)]
pub enum Explain {
    /// Where an address lies, or which address a location has
    Address(ExplainAddressArgs),
    /// Every timing rule, in clocks and ns, with its source
    Rules(ExplainRulesArgs),
    /// How a scenario's operations are cut, which mechanism each part is given, and why not a faster one
    Plan(ExplainPlanArgs),
    /// What each picojoule of a scenario is spent on
    Energy(ExplainEnergyArgs),
    /// The first commands of a scenario, and which rule set the time of each
    Timeline(ExplainTimelineArgs),
}

/// `explain address`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rowclone-sim explain address channel=0,rank=0,bank=3,row=17,column=5 \\\n    \
    --system configs/ddr3-1066-paper.toml\n  \
    rowclone-sim explain address 0x400000 --system configs/ddr3-1066-paper.toml")]
pub struct ExplainAddressArgs {
    /// A physical address (`0x400000` or decimal), or coordinates: `channel=0,rank=0,bank=3,row=17,column=5[,offset=0]`
    #[arg(value_name = "ADDRESS|COORDINATES")]
    pub place: String,
    /// The system, a TOML file
    #[arg(long, value_name = "FILE")]
    pub system: PathBuf,
}

/// `explain rules`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rowclone-sim explain rules --bin 1600K\n  \
    rowclone-sim explain rules --system configs/ddr3-1600-8gb-dimm.toml --format json")]
pub struct ExplainRulesArgs {
    /// The speed bin, such as 1066G [default: the system's]
    #[arg(long, value_name = "BIN")]
    pub bin: Option<String>,
    /// The system, a TOML file [default: that of the RowClone paper]
    #[arg(long, value_name = "FILE")]
    pub system: Option<PathBuf>,
    /// How to print the rules
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// `explain plan`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rowclone-sim explain plan traces/unaligned.toml")]
pub struct ExplainPlanArgs {
    /// What to plan.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
}

/// `explain energy`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rowclone-sim explain energy traces/page-copy.toml --set 'policies=[\"rule\"]'")]
pub struct ExplainEnergyArgs {
    /// What to price.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
}

/// `explain timeline`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rowclone-sim explain timeline traces/page-copy.toml --set 'policies=[\"rule\"]'\n  \
    rowclone-sim explain timeline traces/mixed.toml --from 50us --count 40")]
pub struct ExplainTimelineArgs {
    /// What to play.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// Begins at this instant: a cycle, or a time such as 90ns, 7.8us or 1ms [default: the beginning]
    #[arg(long, value_name = "CYCLE")]
    pub from: Option<Instant>,
    /// Ends before this instant [default: the end]
    #[arg(long, value_name = "CYCLE")]
    pub to: Option<Instant>,
    /// How many commands to show
    #[arg(long, value_name = "N", default_value = "20")]
    pub count: NonZeroUsize,
}

/// `reproduce`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rowclone-sim reproduce table3")]
pub struct ReproduceArgs {
    /// What to reproduce.
    #[command(subcommand)]
    pub what: Reproduce,
}

/// The published tables.
#[derive(Debug, Subcommand)]
pub enum Reproduce {
    /// Table 3 of the RowClone paper: latency and energy of copying and zeroing 4 KB
    Table3(Table3Args),
}

/// `reproduce table3`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rowclone-sim reproduce table3 --currents \"2 Gb x8 D-die 1066\"")]
pub struct Table3Args {
    /// The current set: the name of a shipped one, or a TOML file [default: that of the paper's system]
    #[arg(long, value_name = "SET")]
    pub currents: Option<String>,
    /// How to print the table
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// `completions`.
#[derive(Debug, Args)]
#[command(after_help = "Example, for bash; `complete -c` and `fpath` do it in others:\n  \
    rowclone-sim completions bash > ~/.local/share/bash-completion/completions/rowclone-sim")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}
