//! `rowclone-sim reproduce apps`: recorded programs beside the published applications.

use std::path::{Path, PathBuf};

use clap::Args;
use host::machine::{ChosenCopies, RECORDED_COPIER_MIN_BYTES, Region};
use indicatif::ProgressBar;
use rayon::prelude::*;
use report::ApplicationTable;
use report::apps::{ApplicationRow, ApplicationRun, PUBLISHED, SCHEMA_VERSION};
use rowclone_config::{Failure, MachineConfig, quantity};
use rowclone_sim::CopyMethod;
use rowclone_sweep::programs::{baseline, open, recording_settings};

use crate::args::{Format, MachineArgs, copies};
use crate::commands::core_runs::run_programs;
use crate::commands::reproduce::recordings;

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
    #[arg(
        long,
        value_name = "BYTES",
        value_delimiter = ',',
        value_parser = size,
        default_values_t = [256 << 10, 4 << 20]
    )]
    pub cache_sizes: Vec<u64>,
    /// Copies that the copier of a policy executes: `kernel`, `library` or `all`
    #[arg(long, value_name = "NAME", value_parser = copies(), default_value = "kernel")]
    pub copies: ChosenCopies,
    /// Checks commands against the rules, and each load against a flat, coherent memory
    #[arg(long)]
    pub check: bool,
    /// Format of the tables
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

fn size(text: &str) -> Result<u64, String> {
    let bytes = quantity::size(text).or_else(|| quantity::number(text));
    bytes.ok_or_else(|| "give a size: `262144`, or `256KiB`".to_owned())
}

/// A run.
struct Job<'args> {
    recording: &'args Path,
    machine: &'args MachineConfig,
    method: CopyMethod,
}

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
    let mut jobs = Vec::new();
    for recording in &recordings {
        for machine in &machines {
            let methods = [CopyMethod::BASELINE, CopyMethod::ROWCLONE, CopyMethod::ROWCLONE_ZI];
            jobs.extend(methods.map(|method| Job { recording, machine, method }));
        }
    }
    // Hidden unless standard error is a terminal.
    let bar = ProgressBar::new(jobs.len() as u64);
    let figures = |job: &Job<'_>| {
        let run = figures(job, args);
        bar.inc(1);
        run
    };
    // The first error in the order of the jobs, independent of the threads.
    let found: Vec<Result<ApplicationRun, Failure>> = jobs.par_iter().map(figures).collect();
    bar.finish_and_clear();
    let mut runs = found.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter();
    let mut rows = Vec::new();
    for recording in &recordings {
        for machine in &machines {
            let runs = std::array::from_fn(|_| runs.next().expect("each job has a run"));
            let last_level_bytes = machine.settings.last_level.bytes;
            rows.push(ApplicationRow { program: recordings::name(recording), last_level_bytes, runs });
        }
    }
    let table = ApplicationTable {
        schema_version: SCHEMA_VERSION,
        machine: machines[0].name.clone(),
        baseline: baseline(&machines[0]),
        min_bytes: machines[0].settings.kernel.copier_min_bytes.unwrap_or(RECORDED_COPIER_MIN_BYTES),
        copies: args.copies.name(),
        published: PUBLISHED,
        rows,
    };
    args.format.render(|| table.to_text(), &table)
}

fn figures(job: &Job<'_>, args: &AppsArgs) -> Result<ApplicationRun, Failure> {
    let settings = recording_settings(args.copies, job.method);
    let program = open(job.recording, job.machine, settings)?;
    let (outcome, cores) = run_programs(job.machine, job.method, vec![program], Region::default(), args.check)?;
    Ok(ApplicationRun {
        method: job.method.name(),
        ipc: cores.cores[0].ipc,
        energy_nj: outcome.figures.energy_nj.expect("`read_for_paper` refuses a machine without currents"),
        channel_bytes: cores.channel_bytes,
        bandwidth_gb_s: cores.bandwidth_gb_s.unwrap_or(0.0),
        copy_share_of_channel_bytes: cores.copy_share_of_channel_bytes.unwrap_or(0.0),
    })
}
