//! Arguments of `explain`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use dram_spec::SpeedBin;

use super::{BinParser, OutputFormat, ScenarioArgs};
use crate::instant::Instant;

/// What can be explained.
#[derive(Debug, Subcommand)]
pub enum Explain {
    /// The coordinates of an address, or the address of coordinates
    Address(ExplainAddressArgs),
    /// The timing rules in clocks and ns, with their sources
    Rules(ExplainRulesArgs),
    /// The parts of each operation, the mechanism of each part, and the reasons against faster ones
    #[command(after_help = "Examples:\n  \
        rowclone-sim explain plan traces/unaligned.toml\n  \
        rowclone-sim explain plan traces/fork.toml --request 2")]
    Plan(ExplainRequestArgs),
    /// The energy of each operation, by command
    #[command(
        after_help = "Example:\n  rowclone-sim explain energy traces/page-copy.toml --set 'policies=[\"rowclone\"]'"
    )]
    Energy(ExplainRequestArgs),
    /// The first commands of a scenario, with the rule that determined the time of each
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
    /// The system: a TOML file, or a name of `rowclone-sim systems`
    #[arg(long, value_name = "SYSTEM")]
    pub system: PathBuf,
}

/// `explain rules`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rowclone-sim explain rules --bin 1600K\n  \
    rowclone-sim explain rules --system ddr4-3200-16gb-dimm --format json")]
pub struct ExplainRulesArgs {
    /// The speed bin, such as 1066G or DDR4-2400R, or one with other timings, such as `DDR5-5200[CL=42,tRCD=42,tRP=42]`
    /// [default: that of the system]
    #[arg(long, value_name = "BIN", value_parser = BinParser)]
    pub bin: Option<&'static SpeedBin>,
    /// The system: a TOML file, or a name of `rowclone-sim systems` [default: that of the RowClone paper]
    #[arg(long, value_name = "SYSTEM")]
    pub system: Option<PathBuf>,
    /// Format of the rules
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
}

/// `explain plan` and `explain energy`.
#[derive(Debug, Args)]
pub struct ExplainRequestArgs {
    /// Whose operations or requests.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// Explains only this request, counted from 0 in the order in which the controller accepts them [default: all
    /// listed operations; of a workload, the first request that copies or initializes]
    #[arg(long, value_name = "N")]
    pub request: Option<u64>,
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
    /// Starts when the controller accepts this request, counted from 0
    #[arg(long, value_name = "N", conflicts_with = "from")]
    pub request: Option<u64>,
    /// Starts at this instant: a cycle, or a time such as 90ns, 7.8us or 1ms [default: the beginning]
    #[arg(long, value_name = "CYCLE")]
    pub from: Option<Instant>,
    /// Ends before this instant [default: the end]
    #[arg(long, value_name = "CYCLE")]
    pub to: Option<Instant>,
    /// Number of commands
    #[arg(long, value_name = "N", default_value = "20")]
    pub count: NonZeroUsize,
}
