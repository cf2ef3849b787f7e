//! `rowclone-sim reproduce forkbench`: the published figures of forkbench beside the simulated ones.

use host::machine::{Forkbench, Region};
use report::ForkbenchTable;
use report::forkbench::{ForkRow, MethodFigures, PUBLISHED, SCHEMA_VERSION};
use rowclone_config::{Failure, MachineConfig};
use rowclone_sim::CopyMethod;
use rowclone_sweep::programs::baseline;

use super::core_runs::run_programs;
use crate::args::ForkbenchArgs;

/// The methods of a row, in the order of [`ForkRow::methods`].
const METHODS: [CopyMethod; 3] = [CopyMethod::BASELINE, CopyMethod::ROWCLONE, CopyMethod::PSM];

/// Simulates all sizes and numbers of updates, and returns the table.
///
/// # Errors
/// An error of the machine; a size that does not fit its memory; a signal; a failed check.
pub fn run(args: &ForkbenchArgs) -> Result<String, Failure> {
    let machine = args.machine.read_for_paper(&[])?;
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

fn row(machine: &MachineConfig, bench: Forkbench, is_checked: bool) -> Result<ForkRow, Failure> {
    let mut figures = Vec::with_capacity(METHODS.len());
    for method in METHODS {
        let (outcome, cores) = run_programs(machine, method, vec![bench.program()], Region::default(), is_checked)?;
        figures.push((method.name(), cores.cores[0].ipc, outcome.figures.energy_nj, cores.copy_share_of_channel_bytes));
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
