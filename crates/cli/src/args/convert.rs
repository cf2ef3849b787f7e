//! Arguments of `convert`.

use std::path::PathBuf;

use clap::Args;

use super::{TraceSystemArgs, one_of, rate};
use crate::formats::{self, FileFormat};

/// `convert`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Memory traces and recordings convert to memory traces or recordings, and command traces to \
        command traces. Command formats with one file per channel and rank write OUT with \
    `-chan-C-rank-R` before its extension where the memory has several.\n\n\
    Examples:\n  \
    rowclone-sim convert traces/samples/forkset-rc.gz forkset.native\n  \
    rowclone-sim convert forkset.native forkset.dramsim3 --drop-unsupported\n  \
    rowclone-sim convert mixed.csv mixed.cmdtrace --drop-unsupported\n  \
    rowclone-sim convert mixed.csv mixed.hdl\n  \
    rowclone-sim convert memcpy.lackey memcpy.rct.zst\n  \
    rowclone-sim convert program.rct.zst short.rct.zst --first 1000000 --level 19\n  \
    rowclone-sim convert dramsim3ch_0cmd.trace log.csv --system ddr3-1600-8gb-dimm")]
pub struct ConvertArgs {
    /// The trace, plain, gzip or Zstandard; `-` is standard input
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// The file to write
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// Format of IN [default: that of its first line, then of its extension]
    #[arg(long, value_name = "NAME", value_parser = one_of(formats(|format| format.is_read)))]
    pub from: Option<FileFormat>,
    /// Format of OUT [default: that of its extension]
    #[arg(long, value_name = "NAME", value_parser = one_of(formats(|format| format.is_written)))]
    pub to: Option<FileFormat>,
    /// The memory system.
    #[command(flatten)]
    pub system: TraceSystemArgs,
    /// Instructions per clock of the memory, to convert the instructions of a memory trace to clocks
    #[arg(long, value_name = "RATE", default_value = "4", value_parser = rate)]
    pub instructions_per_clock: f64,
    /// Leaves out and counts what OUT cannot express; without it, the first such command or record is an error
    #[arg(long)]
    pub drop_unsupported: bool,
    /// Level of Zstandard of a recording that is written, 1 to 22 [default: 3]
    #[arg(long, value_name = "LEVEL", value_parser = clap::value_parser!(i32).range(1..=22))]
    pub level: Option<i32>,
    /// Ends a recording that is read after this number of instructions
    #[arg(long, value_name = "N")]
    pub first: Option<u64>,
    /// Leaves out the contents of a recording
    #[arg(long)]
    pub without_contents: bool,
    /// Replaces files that exist already
    #[arg(long)]
    pub force: bool,
}

/// The formats with a use, by name.
fn formats(has_use: fn(&FileFormat) -> bool) -> impl Iterator<Item = (&'static str, FileFormat)> {
    formats::all().filter(has_use).map(|format| (format.name, format))
}
