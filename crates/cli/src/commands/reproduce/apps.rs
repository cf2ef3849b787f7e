//! `rowclone-sim reproduce apps`: recorded programs beside the published applications.

use std::path::{Path, PathBuf};

use clap::Args;
use host::machine::{ChosenCopies, RECORDED_COPIER_MIN_BYTES, Region};
use report::apps::{ApplicationRow, ApplicationRun, ApplicationTable, SCHEMA_VERSION};
use report::published::published;
use rowclone_config::programs::{baseline, open, recording_settings};
use rowclone_config::{Failure, MachineConfig, quantity};
use rowclone_sim::CopyMethod;

use crate::args::{MachineArgs, copies};
use crate::commands::core_runs::{in_parallel, run_programs};
use crate::commands::reproduce::output::OutputArgs;
use crate::commands::reproduce::recordings;

/// Further sizes of the last-level cache by default.
const CACHE_SIZES: [u64; 2] = [256 << 10, 4 << 20];

/// `reproduce apps`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rowclone-sim reproduce apps\n  \
    rowclone-sim reproduce apps traces/recorded/redis.rct.zst --cache-sizes 256KiB,1MiB,4MiB")]
pub struct AppsArgs {
    /// Recordings of programs, compared with published ones by their names [default: those of `traces/recorded`]
    #[arg(value_name = "RECORDING")]
    pub recordings: Vec<PathBuf>,
    /// The machine
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Further sizes of the last-level cache
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = size, default_values_t = CACHE_SIZES)]
    pub cache_sizes: Vec<u64>,
    /// Copies that the copier of a policy executes: `kernel`, `library` or `all`
    #[arg(long, value_name = "NAME", value_parser = copies(), default_value = "kernel")]
    pub copies: ChosenCopies,
    /// Checks and format
    #[command(flatten)]
    pub output: OutputArgs,
}

fn size(text: &str) -> Result<u64, String> {
    let bytes = quantity::size(text).or_else(|| quantity::number(text));
    bytes.ok_or_else(|| "give a size: `262144`, or `256KiB`".to_owned())
}

/// The methods of a row.
const METHODS: [CopyMethod; 3] = [CopyMethod::BASELINE, CopyMethod::ROWCLONE, CopyMethod::ROWCLONE_ZI];

/// Simulates all recordings, and returns the tables.
///
/// # Errors
/// An error of the machine or a recording; a signal; a failed check.
pub fn run(args: &AppsArgs) -> Result<String, Failure> {
    let machine = args.machine.read_for_paper(&[])?;
    let recordings = if args.recordings.is_empty() { recordings::shipped()? } else { args.recordings.clone() };
    let own = machine.settings.last_level.bytes;
    let others = args.cache_sizes.iter().filter(|bytes| **bytes != own);
    let others = others.map(|bytes| args.machine.read_for_paper(&[format!("caches.last_level_bytes={bytes}")]));
    let machines = std::iter::once(Ok(machine)).chain(others).collect::<Result<Vec<_>, _>>()?;
    let rows: Vec<(&PathBuf, &MachineConfig)> =
        recordings.iter().flat_map(|recording| machines.iter().map(move |machine| (recording, machine))).collect();
    let runs: Vec<_> =
        rows.iter().flat_map(|&(recording, machine)| METHODS.map(|method| (recording, machine, method))).collect();
    let runs = in_parallel(&runs, |&(recording, machine, method)| figures(recording, machine, method, args))?;
    let rows = rows.into_iter().zip(runs.chunks_exact(METHODS.len())).map(|((recording, machine), runs)| {
        let last_level_bytes = machine.settings.last_level.bytes;
        let runs = std::array::from_fn(|method| runs[method].clone());
        ApplicationRow { program: recordings::name(recording), last_level_bytes, runs }
    });
    let table = ApplicationTable {
        schema_version: SCHEMA_VERSION,
        machine: machines[0].name.clone(),
        baseline: baseline(&machines[0]),
        min_bytes: machines[0].settings.kernel.copier_min_bytes.unwrap_or(RECORDED_COPIER_MIN_BYTES),
        copies: args.copies.name(),
        published: published("apps"),
        rows: rows.collect(),
    };
    args.output.format.render(|| table.to_text(), &table)
}

fn figures(
    recording: &Path,
    machine: &MachineConfig,
    method: CopyMethod,
    args: &AppsArgs,
) -> Result<ApplicationRun, Failure> {
    let program = open(recording, machine, recording_settings(args.copies, method))?;
    let (outcome, cores) = run_programs(machine, method, vec![program], Region::default(), args.output.check)?;
    Ok(ApplicationRun {
        method: method.name(),
        ipc: cores.cores[0].ipc,
        energy_nj: outcome.figures.energy_nj.expect("`read_for_paper` refuses a machine without currents"),
        channel_bytes: cores.channel_bytes,
        bandwidth_gb_s: cores.bandwidth_gb_s.unwrap_or(0.0),
        copy_share_of_channel_bytes: cores.copy_share_of_channel_bytes.unwrap_or(0.0),
    })
}
