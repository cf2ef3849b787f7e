//! Arguments of `trace`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use rowclone_config::quantity;
use trace_io::trace::Format;
use trace_io::trace::copies::FindSettings;

use super::{ConvertArgs, OutputFormat, one_of, rate};

/// Commands about memory traces and recordings of programs.
#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// Prints the format of a trace, its records, addresses and footprint, and its first and last lines; of a
    /// recording, its program, totals, events and copies
    Info(TraceInfoArgs),
    /// Prints the first words and events of a recording, one per line
    Head(TraceHeadArgs),
    /// Converts a memory trace or a recording, as the command `convert`
    Convert(ConvertArgs),
    /// Checks all of a recording, with its digest
    Verify(TraceVerifyArgs),
    /// Finds copies in the reads and writes of a trace, and writes the trace with copies as records
    FindCopies(FindCopiesArgs),
}

/// `trace info`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rowclone-sim trace info traces/samples/forkset-rc.gz --format json\n  \
    zcat traces/samples/forkset-rc.gz | rowclone-sim trace info -\n  \
    rowclone-sim trace info program.rct.zst")]
pub struct TraceInfoArgs {
    /// The memory trace, in any format of docs/formats.md, or the recording, plain, gzip or Zstandard; `-` is standard
    /// input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The format of the trace [default: that of its first record, or of the extension of the file]
    #[arg(long, value_name = "NAME", value_parser = one_of(Format::names()))]
    pub input_format: Option<&'static Format>,
    /// How to print the description
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
}

/// `trace head`.
#[derive(Debug, Args)]
#[command(
    after_help = "Each line has the thread, the process, and the word or event. docs/recordings.md describes them.\n\n\
    Example:\n  \
    rowclone-sim trace head program.rct.zst -n 100"
)]
pub struct TraceHeadArgs {
    /// The recording, plain, gzip or Zstandard; `-` is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Maximum number of lines
    #[arg(short = 'n', long, value_name = "N", default_value = "10")]
    pub lines: usize,
}

/// `trace verify`.
#[derive(Debug, Args)]
#[command(
    after_help = "An error has the offset in the uncompressed bytes, the block and the reason; the exit code is then \
        2.\n\n\
    Example:\n  \
    rowclone-sim trace verify program.rct.zst"
)]
pub struct TraceVerifyArgs {
    /// The recording, plain, gzip or Zstandard; `-` is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// `trace find-copies`.
#[derive(Debug, Args)]
#[command(after_help = "docs/formats.md describes the search and its limits.\n\n\
    Examples:\n  \
    rowclone-sim trace find-copies memcpy.lackey\n  \
    rowclone-sim trace find-copies memcpy.lackey --min-bytes 4KiB --write memcpy.native\n  \
    rowclone-sim run --trace memcpy.native --placement allocator\n  \
    rowclone-sim trace find-copies program.rct.zst --write marked.rct.zst\n  \
    rowclone-sim run marked.rct.zst --copies library")]
pub struct FindCopiesArgs {
    /// The memory trace, in any format of docs/formats.md but `perf`, or a recording, plain, gzip or Zstandard; `-` is
    /// a trace at standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The format of the trace [default: that of its first record, or of the extension of the file]
    #[arg(long, value_name = "NAME", value_parser = one_of(Format::names()))]
    pub input_format: Option<&'static Format>,
    /// Greatest distance from a read to the write of its bytes, in accesses
    #[arg(
        long,
        value_name = "N",
        default_value_t = FindSettings::default().window,
        value_parser = super::count(2..=FindSettings::WINDOW_MAX)
    )]
    pub window: u64,
    /// Least size of a copy, such as `1024` or `4KiB`
    #[arg(long, value_name = "SIZE", default_value = "1KiB", value_parser = size)]
    pub min_bytes: u64,
    /// Writes the trace with copies, and fills with zeros, in the place of their reads and writes: format `native`;
    /// of a recording, the recording with `call` and `return` around the accesses of each, where they are contiguous in
    /// the words of a thread
    #[arg(long, value_name = "OUT")]
    pub write: Option<PathBuf>,
    /// The memory system of a trace with DRAM coordinates: a TOML file, or a name of `rowclone-sim systems`
    #[arg(long, value_name = "SYSTEM")]
    pub system: Option<PathBuf>,
    /// Instructions per clock of the memory, to convert the instructions of a trace to clocks
    #[arg(long, value_name = "RATE", default_value = "4", requires = "write", value_parser = rate)]
    pub instructions_per_clock: f64,
    /// Most copies that are listed; all are counted
    #[arg(long, value_name = "N", default_value = "10")]
    pub limit: usize,
    /// Replaces OUT
    #[arg(long, requires = "write")]
    pub force: bool,
    /// How to print the report
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
}

/// A size in bytes, with or without a unit, of at least 2.
fn size(text: &str) -> Result<u64, String> {
    let size = quantity::size(text).or_else(|| quantity::number(text)).filter(|bytes| *bytes >= 2);
    size.ok_or_else(|| "must be a size of at least 2 bytes, such as 1024 or 4KiB".to_owned())
}
