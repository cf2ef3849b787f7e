//! Arguments of `trace`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use trace_io::trace::Format;

use super::{Format as OutputFormat, one_of};

/// Commands about memory traces.
#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// Prints the format of a trace, its records, addresses and footprint, and its first and last lines
    Info(TraceInfoArgs),
}

/// `trace info`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rowclone-sim trace info traces/samples/forkset-rc.gz --format json")]
pub struct TraceInfoArgs {
    /// The memory trace, in any format of docs/formats.md, plain, gzip or Zstandard
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The format of the trace [default: that of its first record, or of the extension of the file]
    #[arg(long, value_name = "NAME", value_parser = one_of(Format::names()))]
    pub input_format: Option<&'static Format>,
    /// How to print the description
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
}
