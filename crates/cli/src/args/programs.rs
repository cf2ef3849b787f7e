//! Arguments of programs on cores.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use host::machine::ChosenCopies;
use memctrl::policy::copy::{CopyPolicy, POLICIES, WITH_CORES, named};
use rowclone_config::{Failure, MachineConfig, Overrides};
use rowclone_sim::CopyMethod;

use super::{OutputFormat, one_of};

/// The copy method of a policy's name.
///
/// # Panics
/// Never: the name is one of a policy.
pub fn method() -> impl TypedValueParser<Value = CopyMethod> {
    let names = POLICIES.into_iter().chain(WITH_CORES).map(CopyPolicy::name);
    let parser = PossibleValuesParser::new(names.collect::<Vec<_>>());
    parser.map(|name| CopyMethod::of(named(&name).expect("it is one of the names")))
}

/// The methods of a comparison: the baseline, to which the ratios refer, and those that are wanted, each once; by
/// default `others`.
pub fn compared(wanted: &[CopyMethod], others: &[CopyMethod]) -> Vec<CopyMethod> {
    let mut methods = vec![CopyMethod::BASELINE];
    for method in if wanted.is_empty() { others } else { wanted } {
        if !methods.contains(method) {
            methods.push(*method);
        }
    }
    methods
}

/// The machine on which programs run.
#[derive(Debug, Args)]
pub struct MachineArgs {
    /// The machine: a TOML file (docs/cores.md lists its keys), or the name of a preset, which `systems` lists
    /// [default: that of the RowClone paper]
    #[arg(long, value_name = "MACHINE")]
    pub machine: Option<PathBuf>,
    /// Sets a key of the machine, or after `system.` of its system file: `cores.mshrs=16`,
    /// `kernel.copy_loop=non-temporal`
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

    /// Reads and checks the machine for a comparison with the paper, which copies whole rows: the copy unit is a row
    /// set unless `--set` gives it. `further` keys are set last.
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

/// The copies of recordings that the copier of a run executes.
pub fn copies() -> impl TypedValueParser<Value = ChosenCopies> {
    one_of(ChosenCopies::ALL.map(|it| (it.name(), it)))
}

/// `programs`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rowclone-sim programs traces/programs/fork.program --details\n  \
    rowclone-sim programs traces/programs/fork.program --policies copy-engine-async,copy-engine-async-rowclone\n  \
    rowclone-sim programs traces/samples/forkset-rc.gz traces/samples/403.gcc.gz --warm-up 10000 --instructions 50000")]
pub struct ProgramsArgs {
    /// A program trace (docs/cores.md), a memory trace of the format `rc`, `cpu` or `lackey` (docs/formats.md) or a
    /// recording (docs/recordings.md) per core, plain, gzip or Zstandard
    #[arg(value_name = "FILE", required = true, num_args = 1..=16)]
    pub programs: Vec<PathBuf>,
    /// The machine
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Copy policies to compare with the baseline [default: controller-copy, psm-only, rowclone, rowclone-zi]
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = method(), hide_possible_values = true)]
    pub policies: Vec<CopyMethod>,
    /// Copies of recordings that the copier of a policy executes: those of the kernel, of library routines, or both
    #[arg(long, value_name = "NAME", value_parser = copies(), default_value = "kernel")]
    pub copies: ChosenCopies,
    /// Instructions of each program before its measured region
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub warm_up: u64,
    /// Instructions of each measured region; a shorter program begins again [default: to the end of each program]
    #[arg(long, value_name = "N", value_parser = super::count(1..))]
    pub instructions: Option<u64>,
    /// Checks commands against the rules, and each load against a flat, coherent memory
    #[arg(long)]
    pub check: bool,
    /// Prints also a line per core
    #[arg(long)]
    pub details: bool,
    /// Format of the tables
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
}
