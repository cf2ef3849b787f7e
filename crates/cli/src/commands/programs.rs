//! `rowclone-sim programs`: program traces on cores, under each copy method.

use host::machine::Region;
use indicatif::ProgressBar;
use report::ProgramsTable;
use report::programs::{MethodRow, SCHEMA_VERSION};
use rowclone_config::{Failure, MachineConfig};
use rowclone_sim::{CopyMethod, MixMetrics};

use super::core_runs::{baseline, label, open, run_programs};
use crate::args::ProgramsArgs;

/// Runs the programs under each method, and returns the tables.
///
/// # Errors
/// A file that cannot be read or has an error; an error of the machine; a signal; a failed check.
pub fn run(args: &ProgramsArgs) -> Result<String, Failure> {
    let machine = args.machine.read()?;
    let programs = args.programs.iter().map(|path| label(path)).collect::<Result<_, _>>()?;
    let region = Region { warm_up: args.warm_up, instructions: args.instructions };
    let alone = if args.programs.len() > 1 { &args.programs[..] } else { &[] };
    // Hidden unless standard error is a terminal.
    let bar = ProgressBar::new((alone.len() + CopyMethod::ALL.len()) as u64);
    let mut alone_ipc = Vec::new();
    for path in alone {
        let (_, report) = run_programs(&machine, CopyMethod::BASELINE, vec![open(path)?], region, args.check)?;
        alone_ipc.push(report.cores[0].ipc);
        bar.inc(1);
    }
    let mut methods: Vec<MethodRow> = Vec::new();
    for method in CopyMethod::ALL {
        let row = row(&machine, method, args, &alone_ipc, methods.first())?;
        methods.push(row);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let table = ProgramsTable {
        schema_version: SCHEMA_VERSION,
        machine: machine.name.clone(),
        baseline: baseline(&machine),
        programs,
        warm_up: args.warm_up,
        instructions: args.instructions,
        alone_ipc,
        methods,
    };
    args.format.render(|| table.to_text(args.details), &table)
}

fn row(
    machine: &MachineConfig,
    method: CopyMethod,
    args: &ProgramsArgs,
    alone_ipc: &[f64],
    baseline: Option<&MethodRow>,
) -> Result<MethodRow, Failure> {
    let programs = args.programs.iter().map(|path| open(path)).collect::<Result<_, _>>()?;
    let region = Region { warm_up: args.warm_up, instructions: args.instructions };
    let (_, report) = run_programs(machine, method, programs, region, args.check)?;
    let cycles = report.cores.iter().map(|core| core.cycles).max().unwrap_or(0);
    let ipc: Vec<f64> = report.cores.iter().map(|core| core.ipc).collect();
    // Without instructions, all of the energy.
    let energy = |energy_nj: f64, per_instruction: Option<f64>| per_instruction.unwrap_or(energy_nj);
    let own = energy(report.energy_nj, report.energy_per_instruction_nj);
    let ratio = |of: f64, to: f64| if to > 0.0 { of / to } else { 1.0 };
    Ok(MethodRow {
        method: method.name,
        ipc_sum: ipc.iter().sum(),
        cycles,
        speedup: ratio(baseline.map_or(cycles, |row| row.cycles) as f64, cycles as f64),
        energy_nj: report.energy_nj,
        energy_ratio: ratio(own, baseline.map_or(own, |row| energy(row.energy_nj, row.energy_per_instruction_nj))),
        energy_per_instruction_nj: report.energy_per_instruction_nj,
        mix: MixMetrics::new(&ipc, alone_ipc),
        report,
    })
}
