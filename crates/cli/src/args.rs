//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

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
    /// Judges a command log against every rule of the standard and of RowClone
    Check(CheckArgs),
    /// Explains an address, the rules, a plan or an energy
    Explain(ExplainArgs),
    /// Computes a published table anew, beside the published numbers
    Reproduce(ReproduceArgs),
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
    rowclone-sim run traces/page-copy.toml --set system.device.bin=1600K --format json\n  \
    rowclone-sim run traces/page-copy.toml --set 'policies=[\"rule\"]' --commands page-copy.csv --check")]
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
    /// Judges every command, and compares memory with a flat array; ends with 1 where either finds something
    #[arg(long)]
    pub check: bool,
    /// Replaces files that exist already
    #[arg(long)]
    pub force: bool,
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

/// How `plot` shows points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PlotKind {
    /// Lines with marks; of repeated points the median, and a bar from the least to the greatest
    #[default]
    Line,
    /// Bars side by side, of repeated points as for lines
    Bar,
    /// Bars of parts: of several `--y`, or of the values of `--by`; of repeated points the mean
    Stacked,
    /// Coloured cells: `--x` lies across, `--by` up, and the colour is `--y`; of repeated points the median
    Heat,
    /// Boxes: quartiles, median, least and greatest of repeated points
    Box,
}

impl From<PlotKind> for report::plot::Kind {
    fn from(kind: PlotKind) -> report::plot::Kind {
        match kind {
            PlotKind::Line => report::plot::Kind::Lines,
            PlotKind::Bar => report::plot::Kind::Bars,
            PlotKind::Stacked => report::plot::Kind::Stacked,
            PlotKind::Heat => report::plot::Kind::Heat,
            PlotKind::Box => report::plot::Kind::Boxes,
        }
    }
}

/// `plot`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_help = "Examples:\n  \
    rowclone-sim plot out/results.csv --kind stacked --x policy -o energy.png \\\n    \
    --y energy_activate_nj,energy_copy_activation_nj,energy_read_nj,energy_write_nj\n  \
    rowclone-sim plot out/operations.csv --kind bar --x operation --y latency_ns --by policy")]
pub struct PlotArgs {
    /// The table, a CSV file with a line of column names
    #[arg(value_name = "TABLE.csv")]
    pub table: PathBuf,
    /// The column that lies across
    #[arg(long, value_name = "COLUMN")]
    pub x: String,
    /// The column that lies up; several of one unit are a series each
    #[arg(long, value_name = "COLUMN", required = true, value_delimiter = ',')]
    pub y: Vec<String>,
    /// The column whose values are a series each; several are taken together
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub by: Vec<String>,
    /// What to draw
    #[arg(long, value_enum, default_value_t)]
    pub kind: PlotKind,
    /// Takes only lines with this value; several on one column admit each
    #[arg(long = "where", value_name = "COLUMN=VALUE")]
    pub r#where: Vec<String>,
    /// Spreads `--x` by its logarithm
    #[arg(long)]
    pub log_x: bool,
    /// Spreads `--y` by its logarithm
    #[arg(long)]
    pub log_y: bool,
    /// What stands above
    #[arg(long)]
    pub title: Option<String>,
    /// What stands at the x axis, in place of the column's name
    #[arg(long, value_name = "TEXT")]
    pub x_label: Option<String>,
    /// What stands at the y axis, in place of the columns' name
    #[arg(long, value_name = "TEXT")]
    pub y_label: Option<String>,
    /// Published values with the same column names, drawn over the others as hollow marks
    #[arg(long, value_name = "FILE.csv")]
    pub published: Option<PathBuf>,
    /// Marks where lines cross
    #[arg(long)]
    pub crossovers: bool,
    /// The picture: its name ends with `.svg` or `.png` [default: the table's name with `.svg`]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replaces a file that exists already
    #[arg(long)]
    pub force: bool,
}
