//! Arguments of `reproduce` for programs on cores.

use std::path::{Path, PathBuf};

use clap::Args;
use rowclone_config::{Failure, MachineConfig, Overrides};

use super::Format;

/// The machine on which programs run.
#[derive(Debug, Args)]
pub struct MachineArgs {
    /// The machine, a TOML file (docs/cores.md lists its keys) [default: that of the RowClone paper]
    #[arg(long, value_name = "FILE")]
    pub machine: Option<PathBuf>,
    /// Sets a key of the machine, or after `system.` of its system file: `cores.mshrs=16`, `kernel.copy_loop=non-temporal`
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

impl MachineArgs {
    /// Reads and checks the machine.
    ///
    /// # Errors
    /// The file or a `--set` has an error.
    pub fn read(&self) -> Result<MachineConfig, Failure> {
        let overrides = Overrides::parse(&self.set)?;
        match &self.machine {
            Some(path) => MachineConfig::read(Path::new(path), &overrides),
            None => MachineConfig::paper(&overrides),
        }
    }
}

/// `reproduce forkbench`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rowclone-sim reproduce forkbench --mebibytes 64 --updates 2,1024,16384")]
pub struct ForkbenchArgs {
    /// The machine
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Memory of the parent in MiB: S
    #[arg(long, value_name = "MIB", value_delimiter = ',', default_values_t = [64, 128], value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub mebibytes: Vec<u64>,
    /// Updates of the child: N
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [2, 8, 32, 128, 512, 2048, 8192, 16_384], value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub updates: Vec<u64>,
    /// Seed of the random pages
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Checks commands against the rules, and each load against a flat, coherent memory
    #[arg(long)]
    pub check: bool,
    /// Format of the table
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// `reproduce zi`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rowclone-sim reproduce zi --pages 64,512")]
pub struct ZiArgs {
    /// The machine
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Pages that are zeroed, and then read and written
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [16, 64, 128, 192, 256, 512, 1024], value_parser = clap::value_parser!(u64).range(1..=65_536))]
    pub pages: Vec<u64>,
    /// Checks commands against the rules, and each load against a flat, coherent memory
    #[arg(long)]
    pub check: bool,
    /// Format of the table
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// `programs`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rowclone-sim programs traces/programs/fork.program --details")]
pub struct ProgramsArgs {
    /// A program trace per core (docs/cores.md), plain, gzip or Zstandard
    #[arg(value_name = "FILE", required = true, num_args = 1..=16)]
    pub programs: Vec<PathBuf>,
    /// The machine
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Checks commands against the rules, and each load against a flat, coherent memory
    #[arg(long)]
    pub check: bool,
    /// Prints also a line per core
    #[arg(long)]
    pub details: bool,
    /// Format of the tables
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}
