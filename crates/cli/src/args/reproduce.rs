//! Arguments of `reproduce` for programs on cores.

use std::path::{Path, PathBuf};

use clap::Args;
use rowclone_config::{Failure, MachineConfig, Overrides, quantity};

use super::Format;

/// The machine on which programs run.
#[derive(Debug, Args)]
pub struct MachineArgs {
    /// The machine: a TOML file (docs/cores.md lists its keys), or `paper` or `ddr4-desktop` [default: that of the RowClone
    /// paper]
    #[arg(long, value_name = "MACHINE")]
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
        self.read_with(&self.set)
    }

    /// Reads and checks the machine for a comparison with the paper, which copies whole rows: the copy unit is a row set unless
    /// `--set` gives it. `further` keys are set last.
    ///
    /// # Errors
    /// The file or a `--set` has an error; the machine has no current set, as the paper compares energies.
    pub fn read_for_paper(&self, further: &[String]) -> Result<MachineConfig, Failure> {
        let machine = self.read_with(&[&["kernel.copy_unit=row-set".to_owned()], &*self.set, further].concat())?;
        let system = machine.system.memory.system();
        if machine.system.memory.prices().is_none() {
            let message = format!("{}: the comparison needs energies, but the system has no current set", machine.name);
            let help = energy::fitting(system.standard(), system.geometry.width());
            return Err(Failure::new(message).with_help(format!("give `device.currents` in the system file: {help}")));
        }
        Ok(machine)
    }

    fn read_with(&self, sets: &[String]) -> Result<MachineConfig, Failure> {
        let overrides = Overrides::parse(sets)?;
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
    /// Memory of the parent, in MiB or with a unit such as `1GiB`: S
    #[arg(long, value_name = "MIB", value_delimiter = ',', default_values_t = [64, 128], value_parser = mebibytes)]
    pub mebibytes: Vec<u64>,
    /// Updates of the child: N
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [2, 8, 32, 128, 512, 1024, 4096, 16_384], value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
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

/// A number of MiB, or a size that is one.
fn mebibytes(text: &str) -> Result<u64, String> {
    let size = quantity::size(text).filter(|bytes| bytes.is_multiple_of(1 << 20)).map(|bytes| bytes >> 20);
    let mebibytes = size.or_else(|| quantity::number(text)).filter(|mebibytes| (1..=1024).contains(mebibytes));
    mebibytes.ok_or_else(|| "give 1 to 1024 MiB: `64`, or `64MiB`".to_owned())
}

/// `reproduce multicore`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rowclone-sim reproduce multicore\n  \
    rowclone-sim reproduce multicore --cores 4 --schedulers bliss --details\n  \
    rowclone-sim reproduce multicore --mixes 9 --schedulers fr-fcfs --plot gains.svg\n  \
    rowclone-sim reproduce multicore --cores 2 --trace traces/samples/forkset-rc.gz --instructions 100000")]
pub struct MulticoreArgs {
    /// The machine
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Numbers of cores, each even
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [2, 4, 8], value_parser = even)]
    pub cores: Vec<usize>,
    /// Schedulers, instead of that of the machine
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_values_t = ["fr-fcfs", "bliss", "par-bs"].map(str::to_owned))]
    pub schedulers: Vec<String>,
    /// Mixes per number of cores: 3 or 6 contain each program equally often, 9 also each pair on 2 cores
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=9))]
    pub mixes: u64,
    /// Instructions of each program before its measured region
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub warm_up: u64,
    /// Instructions of each measured region
    #[arg(long, value_name = "N", default_value_t = 4_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub instructions: u64,
    /// Replaces the program of a core by a program trace or a memory trace of the format `rc`, `cpu` or `lackey`: the first `--trace`
    /// on core 0, the second on core 1
    #[arg(long = "trace", value_name = "FILE")]
    pub traces: Vec<PathBuf>,
    /// Seed of the programs
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Draws the gain of each mix over its copy share, with the paper's means as lines; the name ends with `.svg` or `.png`
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Replaces an existing picture
    #[arg(long, requires = "plot")]
    pub force: bool,
    /// Checks commands against the rules, and each load against a flat, coherent memory
    #[arg(long)]
    pub check: bool,
    /// Prints also a line per core of each run
    #[arg(long)]
    pub details: bool,
    /// Format of the tables
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// An even number of cores.
fn even(text: &str) -> Result<usize, String> {
    let cores = text.parse().ok().filter(|cores| (2..=16).contains(cores) && cores % 2 == 0);
    cores.ok_or_else(|| "half of the cores run each kind of program: give 2, 4, 6, ... 16".to_owned())
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
#[command(after_help = "Examples:\n  \
    rowclone-sim programs traces/programs/fork.program --details\n  \
    rowclone-sim programs traces/samples/forkset-rc.gz traces/samples/403.gcc.gz --warm-up 10000 --instructions 50000")]
pub struct ProgramsArgs {
    /// A program trace (docs/cores.md) or a memory trace of the format `rc`, `cpu` or `lackey` (docs/formats.md) per core, plain, gzip or
    /// Zstandard
    #[arg(value_name = "FILE", required = true, num_args = 1..=16)]
    pub programs: Vec<PathBuf>,
    /// The machine
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Instructions of each program before its measured region
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub warm_up: u64,
    /// Instructions of each measured region; a shorter program begins again [default: to the end of each program]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub instructions: Option<u64>,
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
