//! The words of `compare`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use host::machine::ChosenCopies;
use rowclone_config::quantity;
use rowclone_sim::compare::NamedCopier;

use super::programs::copies;
use super::{MachineArgs, RunFormat};

/// `compare`.
#[derive(Debug, Args)]
#[command(
    after_help = "Without a file: copies of 64 B to 4 MiB with a cold, warm or dirty source, zeroings, and received \
        messages, of which \
    0, 50 or 100 % are read afterwards, each under every copier, beside a working set (docs/copiers.md). With a file: \
    its programs, or \
    its operations, under every copier.\n\n\
    Examples:\n  \
    rowclone-sim compare\n  \
    rowclone-sim compare --copiers loop-cached,rowclone,dma --sizes 4KiB,64KiB --out compared\n  \
    rowclone-sim compare traces/programs/fork.program\n  \
    rowclone-sim compare traces/page-copy.toml"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct CompareArgs {
    /// A scenario (.toml), a program trace, a memory trace or a recording that runs under every copier, instead of the
    /// cases
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Prints the names of all copiers, and runs none
    #[arg(long)]
    pub list: bool,
    /// The copiers to compare, by their names [default: all of `--list`]
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = copier(), hide_possible_values = true)]
    pub copiers: Vec<NamedCopier>,
    /// The machine; of a scenario, its own, whose keys are set after `machine.`
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Copies of recordings that the copiers execute: those of the kernel, of library routines, or both
    #[arg(long, value_name = "NAME", value_parser = copies(), default_value = "kernel")]
    pub copies: ChosenCopies,
    /// Operations of the cases
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        conflicts_with = "file",
        value_parser = ["copy", "zero", "receive"]
    )]
    pub operations: Vec<String>,
    /// States of the source of a copy
    #[arg(
        long,
        value_name = "STATE",
        value_delimiter = ',',
        conflicts_with = "file",
        value_parser = ["cold", "warm", "dirty"]
    )]
    pub sources: Vec<String>,
    /// Sizes of the cases, such as `64,4KiB` [default: 64 B to 4 MiB, each four times the one before]
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = size, conflicts_with = "file")]
    pub sizes: Vec<u64>,
    /// Percent of the destination that the program reads afterwards [default: 0, 50, 100]
    #[arg(
        long,
        value_name = "PERCENT",
        value_delimiter = ',',
        value_parser = super::count(0..=100),
        conflicts_with = "file"
    )]
    pub reads: Vec<u64>,
    /// Working set beside which a program copies, such as `512KiB` [default: half of a last-level cache]
    #[arg(long, value_name = "BYTES", value_parser = bytes, conflicts_with = "file")]
    pub working_set: Option<u64>,
    /// Number of runs at the same time [default: the number of processors]
    #[arg(long, value_name = "N")]
    pub jobs: Option<std::num::NonZeroUsize>,
    /// Checks commands against the rules, and each load against a flat, coherent memory
    #[arg(long)]
    pub check: bool,
    /// Format of the results
    #[arg(long, value_enum, default_value_t)]
    pub format: RunFormat,
    /// Also writes report.txt, results.csv, results.json, compare.html and its pictures into this directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replaces existing files
    #[arg(long)]
    pub force: bool,
    /// Prints the figures of all cases
    #[arg(long)]
    pub details: bool,
}

/// The copier of a name.
fn copier() -> impl TypedValueParser<Value = NamedCopier> {
    let names = PossibleValuesParser::new(NamedCopier::names());
    names.map(|name| NamedCopier::named(&name).expect("it is one of the names"))
}

/// Bytes of an operation: 1 to 1 GiB.
fn size(text: &str) -> Result<u64, String> {
    let bytes = bytes(text)?;
    if (1..=1 << 30).contains(&bytes) { Ok(bytes) } else { Err(format!("{bytes} is not from 1 to 1 GiB")) }
}

/// A number of bytes: `4096`, `512K`, `512M`, `2G`, `512MiB`.
fn bytes(text: &str) -> Result<u64, String> {
    let is_short = text.ends_with(['K', 'M', 'G']);
    let bytes = if is_short { quantity::size(&format!("{text}iB")) } else { quantity::address(text) };
    bytes.ok_or_else(|| "write a number of bytes, or a size such as `512M` or `2GiB`".to_owned())
}
