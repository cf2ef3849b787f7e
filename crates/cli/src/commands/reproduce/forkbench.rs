//! `rowclone-sim reproduce forkbench`: the published figures of forkbench beside the simulated ones.

use clap::Args;
use host::machine::{CopyLoop, Forkbench, Purpose, Region};
use report::forkbench::{APPLICATION, Application, ForkRow, ForkbenchTable, RunFigures, SCHEMA_VERSION};
use report::published::published;
use rowclone_config::programs::baseline;
use rowclone_config::{Failure, MachineConfig, quantity};
use rowclone_sim::CopyMethod;

use crate::args::{MachineArgs, count};
use crate::commands::core_runs::{in_parallel, run_programs};
use crate::commands::reproduce::output::OutputArgs;

/// Updates at most.
const MANY: u64 = 1_000_000;
/// Numbers of updates by default.
const UPDATES: [u64; 8] = [2, 8, 32, 128, 512, 1024, 4096, 16_384];

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
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = UPDATES, value_parser = count(1..=MANY))]
    pub updates: Vec<u64>,
    /// Seed of the random pages
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Checks and format
    #[command(flatten)]
    pub output: OutputArgs,
}

/// A number of MiB, or a size that is one.
fn mebibytes(text: &str) -> Result<u64, String> {
    let size = quantity::size(text).filter(|bytes| bytes.is_multiple_of(1 << 20)).map(|bytes| bytes >> 20);
    let mebibytes = size.or_else(|| quantity::number(text)).filter(|mebibytes| (1..=1024).contains(mebibytes));
    mebibytes.ok_or_else(|| "give 1 to 1024 MiB: `64`, or `64MiB`".to_owned())
}

/// A run: whether it contains the initialization, its method, and the loop of the baseline.
type Job = (Forkbench, bool, CopyMethod, CopyLoop);

/// Simulates all sizes and numbers of updates, and returns the tables.
///
/// # Errors
/// An error of the machine; a size that does not fit its memory; a signal; a failed check.
pub fn run(args: &ForkbenchArgs) -> Result<String, Failure> {
    let machine = args.machine.read_for_paper(&[])?;
    let sizes = args.mebibytes.iter().flat_map(|&mebibytes| args.updates.iter().map(move |&it| (mebibytes << 20, it)));
    let benches: Vec<Forkbench> = sizes.map(|(bytes, updates)| Forkbench { bytes, updates, seed: args.seed }).collect();
    let jobs: Vec<Job> = benches.iter().flat_map(|&bench| jobs(bench, machine.settings.kernel.copy_loop)).collect();
    let mut found = in_parallel(&jobs, |job| figures(&machine, *job, args.output.check))?.into_iter();
    let table = ForkbenchTable {
        schema_version: SCHEMA_VERSION,
        machine: machine.name.clone(),
        baseline: baseline(&machine),
        published: published("forkbench"),
        rows: benches.iter().map(|&bench| row(bench, machine.settings.kernel.copy_loop, &mut found)).collect(),
    };
    args.output.format.render(|| table.to_text(), &table)
}

/// Whether the paper's table of applications has this size and number of updates.
fn is_application(bench: Forkbench) -> bool {
    (bench.bytes, bench.updates) == APPLICATION
}

/// The loops of the baselines, that of the machine first.
fn loops(own: CopyLoop) -> Vec<CopyLoop> {
    let others = CopyLoop::BY_LINES.into_iter().filter(|&copy_loop| copy_loop != own);
    std::iter::once(own).chain(others).collect()
}

/// The runs of a row, in the order in which [`row`] takes them: `own` is the loop of the machine.
fn jobs(bench: Forkbench, own: CopyLoop) -> Vec<Job> {
    let job = |has_initialization, method| (bench, has_initialization, method, own);
    let mut jobs: Vec<Job> =
        loops(own).into_iter().map(|copy_loop| (bench, false, CopyMethod::BASELINE, copy_loop)).collect();
    jobs.extend([CopyMethod::ROWCLONE, CopyMethod::PSM].map(|method| job(false, method)));
    jobs.push(job(true, CopyMethod::BASELINE));
    if is_application(bench) {
        jobs.push(job(false, CopyMethod::ROWCLONE_ZI));
        jobs.extend([CopyMethod::ROWCLONE, CopyMethod::ROWCLONE_ZI].map(|method| job(true, method)));
    }
    jobs
}

/// The row of the next runs.
fn row(bench: Forkbench, own: CopyLoop, found: &mut impl Iterator<Item = RunFigures>) -> ForkRow {
    let mut next = || found.next().expect("each job has figures");
    let baselines: Vec<RunFigures> = loops(own).iter().map(|_| next()).collect();
    let [fpm, psm, with_initialization] = [(); 3].map(|()| next());
    let application = is_application(bench).then(|| {
        let [zi, fpm_with, zi_with] = [(); 3].map(|()| next());
        Application {
            from_fork: [baselines[0].clone(), fpm.clone(), zi],
            with_initialization: [with_initialization.clone(), fpm_with, zi_with],
        }
    });
    let Forkbench { bytes, updates, .. } = bench;
    ForkRow { bytes, updates, baselines, fpm, psm, with_initialization, application }
}

fn figures(
    machine: &MachineConfig,
    (bench, has_initialization, method, copy_loop): Job,
    is_checked: bool,
) -> Result<RunFigures, Failure> {
    let mut machine = machine.clone();
    machine.settings.kernel.copy_loop = copy_loop;
    let program = if has_initialization { bench.program_with_initialization() } else { bench.program() };
    let (outcome, cores) = run_programs(&machine, method, vec![program], Region::default(), is_checked)?;
    let is_baseline = method == CopyMethod::BASELINE;
    let zeroings = cores.cores[0].accesses.iter().find(|row| row.purpose == Purpose::KernelZero.name());
    Ok(RunFigures {
        method: if is_baseline { copy_loop.name() } else { method.name() },
        ipc: cores.cores[0].ipc,
        energy_nj: outcome.figures.energy_nj.expect("`read_for_paper` refuses a machine without currents"),
        channel_bytes: cores.channel_bytes,
        copy_bytes: cores.copy_channel_bytes,
        copy_bytes_without_write_backs: cores.copy_channel_bytes - cores.copy_write_back_bytes,
        zeroing_bytes: zeroings.map_or(0, |row| row.channel_bytes),
    })
}
