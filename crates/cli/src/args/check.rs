//! Arguments of `check`.

use std::path::PathBuf;

use clap::Args;
use dram_spec::Dialect;
use protocol_check::ViolationReport;
use trace_io::commands::{self, FORMATS};

use super::{Named, OutputFormat, TraceSystemArgs, named, one_of};

/// Which commands a trace may hold.
const DIALECTS: [Named<Dialect>; 2] = [
    ("jedec", "The plain standard", Dialect::Jedec),
    ("rowclone", "The standard with copy activations and TRANSFER", Dialect::RowClone),
];

/// `check`.
#[derive(Debug, Args)]
#[command(
    after_help = "Ends with 0 for a trace without a violation, 1 with violations, 2 for a file that is no command \
        trace.\n\n\
    Examples:\n  \
    rowclone-sim check page-copy.csv --dialect jedec\n  \
    rowclone-sim check dramsim3ch_0cmd.trace --system ddr3-1600-8gb-dimm\n  \
    rowclone-sim check ramulator2.ch0 --standard DDR4"
)]
pub struct CheckArgs {
    /// The command trace, plain, gzip or Zstandard: a command log, or a trace of another simulator
    /// (docs/command-traces.md); `-` is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The memory system.
    #[command(flatten)]
    pub system: TraceSystemArgs,
    /// Format of the trace [default: that of its first line, then of its extension]
    #[arg(long, value_name = "NAME", value_parser = one_of(readable()))]
    pub input_format: Option<&'static commands::CommandFormat>,
    /// Which commands it may hold [default: what a log says of itself; jedec for other traces]
    #[arg(long, value_parser = named(&DIALECTS))]
    pub dialect: Option<Dialect>,
    /// Most violations that are listed, as text and as JSON; all are counted
    #[arg(long, value_name = "N", default_value_t = ViolationReport::KEPT)]
    pub limit: usize,
    /// How to print the verdict
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
}

/// The formats that are read, by name.
fn readable() -> impl Iterator<Item = (&'static str, &'static commands::CommandFormat)> {
    FORMATS.iter().filter(|format| format.is_read()).map(|format| (format.name, format))
}
