//! `rowclone-sim reproduce forkbench`: the published figures of forkbench beside the simulated ones.

use host::machine::{Copier, Forkbench, Program};
use report::ForkbenchTable;
use report::forkbench::{ForkRow, MethodFigures, PUBLISHED, SCHEMA_VERSION};
use rowclone_config::{Failure, MachineConfig};
use rowclone_sim::{Attachments, CopyMethod, CoresReport, Experiment, Outcome, Programs, Workload};

use crate::args::ForkbenchArgs;
use crate::interrupt;

/// The methods of a row, in the order of [`ForkRow::methods`].
const METHODS: [CopyMethod; 3] = [CopyMethod::BASELINE, CopyMethod::ROWCLONE, CopyMethod::PSM];

/// Simulates all sizes and numbers of updates, and returns the table.
///
/// # Errors
/// An error of the machine; a size that does not fit its memory; a signal; a failed check.
pub fn run(args: &ForkbenchArgs) -> Result<String, Failure> {
    let machine = args.machine.read()?;
    let mut rows = Vec::new();
    for &mebibytes in &args.mebibytes {
        for &updates in &args.updates {
            let bench = Forkbench { bytes: mebibytes << 20, updates, seed: args.seed };
            rows.push(row(&machine, bench, args.check)?);
        }
    }
    let table = ForkbenchTable {
        schema_version: SCHEMA_VERSION,
        machine: machine.name.clone(),
        baseline: baseline(&machine),
        published: PUBLISHED,
        rows,
    };
    args.format.render(|| table.to_text(), &table)
}

/// What the baseline does, in words.
pub fn baseline(machine: &MachineConfig) -> String {
    let kernel = &machine.settings.kernel;
    let stores = if kernel.copier == Copier::NonTemporalLoop { "non-temporal" } else { "cached" };
    let policy = machine.settings.allocator.policy;
    format!("a {stores} copy loop of {}-byte words, with page frames of `{policy}`", kernel.word_bytes)
}

fn row(machine: &MachineConfig, bench: Forkbench, is_checked: bool) -> Result<ForkRow, Failure> {
    let mut figures = Vec::with_capacity(METHODS.len());
    for method in METHODS {
        let (outcome, cores) = run_programs(machine, method, vec![bench.program()], is_checked)?;
        figures.push((method.name, cores.cores[0].ipc, outcome.figures.energy_nj, cores.copy_share_of_channel_bytes));
    }
    let (_, ipc, energy, _) = figures[0];
    let methods = figures.iter().map(|&(method, of_ipc, of_energy, share)| MethodFigures {
        method,
        ipc: of_ipc,
        energy_nj: of_energy,
        copy_share_of_channel_bytes: share.unwrap_or(0.0),
        ipc_ratio: of_ipc / ipc,
        energy_ratio: of_energy / energy,
    });
    let methods = methods.collect::<Vec<_>>().try_into().expect("figures of each method");
    Ok(ForkRow { bytes: bench.bytes, updates: bench.updates, methods })
}

/// Runs programs on the cores of a machine under a copy method.
///
/// # Errors
/// As [`run`].
pub fn run_programs(
    machine: &MachineConfig,
    method: CopyMethod,
    programs: Vec<Box<dyn Program>>,
    is_checked: bool,
) -> Result<(Outcome, CoresReport), Failure> {
    let settings = method.applied_to(machine.settings);
    let workload = Workload::Programs(Programs { settings, programs });
    let experiment =
        Experiment { is_checked, ..Experiment::new(&machine.system.memory, workload).policy(method.policy) };
    let stop = interrupt::flag();
    let attachments = Attachments { stop: Some(&stop), ..Attachments::default() };
    let mut outcome = experiment.run_with(attachments)?;
    let cores = outcome.cores.take().expect("programs ran on cores");
    let commands = outcome.check.as_ref().is_none_or(rowclone_sim::CheckReport::passed);
    if !commands || !cores.passed() {
        let wrong = cores.wrong_load.as_deref().unwrap_or("a command or a line of memory");
        return Err(Failure::new(format!("a check failed under `{}`: {wrong}", method.name))
            .with_help("this is a defect of the simulator: report the command line"));
    }
    Ok((outcome, cores))
}
