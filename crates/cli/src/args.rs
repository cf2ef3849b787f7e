//! The command line.

mod plot;
mod report;
mod sweep;

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use dram_spec::Dialect;

use crate::instant::Instant;

pub use plot::PlotArgs;
pub use report::ReportArgs;
pub use sweep::{CollectArgs, SlurmArgs, SweepArgs, SweepCommand};

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
    /// Makes one HTML page of what a sweep or a run has written: warnings, tables, plots, decisions, energy
    Report(ReportArgs),
    /// Judges a command log against every rule of the standard and of RowClone
    Check(CheckArgs),
    /// Explains an address, the rules, a plan, an energy or a timeline
    Explain(ExplainArgs),
    /// Computes a published table anew, beside the published numbers
    Reproduce(ReproduceArgs),
    /// Prints what makes a shell complete this program's commands and options
    Completions(CompletionsArgs),
    /// Prints the manual pages of the program and its commands
    #[command(after_help = "Example:\n  rowclone-sim man > ~/.local/share/man/man1/rowclone-sim.1")]
    Man,
    /// Draws a picture of a table
    Plot(PlotArgs),
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
    rowclone-sim run traces/fork.toml --details\n  \
    rowclone-sim run traces/page-copy.toml --set system.device.bin=1600K --format json\n  \
    rowclone-sim run traces/page-copy.toml --set 'policies=[\"rowclone\"]' --commands page-copy.csv --check\n  \
    rowclone-sim run traces/mixed.toml --timeline mixed.pftrace --from 50us --to 60us")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
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
    /// Accepts that more than 1 % of a trace's records are left out, which otherwise ends with 1
    #[arg(long)]
    pub allow_skipped: bool,
    /// Replaces files that exist already
    #[arg(long)]
    pub force: bool,
    /// Prints all tables, in the width of the terminal
    #[arg(long, conflicts_with = "quiet")]
    pub details: bool,
    /// Prints nothing but errors
    #[arg(long)]
    pub quiet: bool,
    /// Does not run the baseline where the scenario does not; speedup and energy ratio are then empty
    #[arg(long)]
    pub no_baseline: bool,
}

/// A value of an option: its name, its description, and its meaning.
type Named<T> = (&'static str, &'static str, T);

/// The parser of an option with named values.
fn named<T: Copy + Send + Sync>(values: &'static [Named<T>]) -> impl TypedValueParser<Value = T> {
    let names = PossibleValuesParser::new(values.iter().map(|(name, help, _)| PossibleValue::new(name).help(*help)));
    names.map(|found| values.iter().find(|(name, ..)| *name == found).expect("clap has checked it").2)
}

/// Which commands a log may hold.
const DIALECTS: [Named<Dialect>; 2] = [
    ("jedec", "Plain DDR3", Dialect::Jedec),
    ("rowclone", "DDR3 with copy activations and TRANSFER", Dialect::RowClone),
];

/// `check`.
#[derive(Debug, Args)]
#[command(
    after_help = "Ends with 0 for a log without a violation, 1 with violations, 2 for a file that is no log.\n\n\
    Example:\n  rowclone-sim check page-copy.csv --dialect jedec"
)]
pub struct CheckArgs {
    /// The command log, plain, gzip or Zstandard
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Which commands it may hold [default: what the log says of itself]
    #[arg(long, value_parser = named(&DIALECTS))]
    pub dialect: Option<Dialect>,
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
#[command(
    after_help = "Example:\n  rowclone-sim explain plan traces/unaligned.toml\n  rowclone-sim explain plan traces/fork.toml --request 3"
)]
pub struct ExplainPlanArgs {
    /// What to plan.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// The N-th request, from 1: of a workload or a trace in the order in which the controller takes them [default: of operations all, of a
    /// workload the first that copies or initialises]
    #[arg(long, value_name = "N")]
    pub request: Option<NonZeroU64>,
}

/// `explain energy`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rowclone-sim explain energy traces/page-copy.toml --set 'policies=[\"rowclone\"]'")]
pub struct ExplainEnergyArgs {
    /// What to price.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// The N-th request, from 1: of a workload or a trace in the order in which the controller takes them [default: of operations all, of a
    /// workload the first that copies or initialises]
    #[arg(long, value_name = "N")]
    pub request: Option<NonZeroU64>,
}

/// `explain timeline`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rowclone-sim explain timeline traces/page-copy.toml --set 'policies=[\"rowclone\"]'\n  \
    rowclone-sim explain timeline traces/mixed.toml --from 50us --count 40")]
pub struct ExplainTimelineArgs {
    /// What to play.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// Begins when the controller takes the N-th request, from 1
    #[arg(long, value_name = "N", conflicts_with = "from")]
    pub request: Option<NonZeroU64>,
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
