//! `rowclone-sim programs`: program traces on cores, under each copy method.

use std::fs::File;
use std::path::Path;

use host::machine::Program;
use report::ProgramsTable;
use report::programs::{MethodRow, SCHEMA_VERSION};
use rowclone_config::{Failure, MachineConfig};
use rowclone_sim::CopyMethod;
use trace_io::program::ProgramReader;

use super::reproduce_forkbench::{baseline, run_programs};
use crate::args::ProgramsArgs;

/// Runs the programs under each method, and returns the tables.
///
/// # Errors
/// A file that cannot be read or has an error; an error of the machine; a signal; a failed check.
pub fn run(args: &ProgramsArgs) -> Result<String, Failure> {
    let machine = args.machine.read()?;
    let mut methods: Vec<MethodRow> = Vec::new();
    for method in CopyMethod::ALL {
        let row = row(&machine, method, args, methods.first())?;
        methods.push(row);
    }
    let table = ProgramsTable {
        schema_version: SCHEMA_VERSION,
        machine: machine.name.clone(),
        baseline: baseline(&machine),
        programs: args.programs.iter().map(|path| path.display().to_string()).collect(),
        methods,
    };
    args.format.render(|| table.to_text(args.details), &table)
}

fn row(
    machine: &MachineConfig,
    method: CopyMethod,
    args: &ProgramsArgs,
    baseline: Option<&MethodRow>,
) -> Result<MethodRow, Failure> {
    let programs = args.programs.iter().map(|path| open(path)).collect::<Result<_, _>>()?;
    let (outcome, report) = run_programs(machine, method, programs, args.check)?;
    let cycles = report.cores.iter().map(|core| core.cycles).max().unwrap_or(0);
    let energy_nj = outcome.figures.energy_nj;
    let instructions: u64 = report.cores.iter().map(|core| core.instructions).sum();
    let ratio = |of: f64, to: f64| if to > 0.0 { of / to } else { 1.0 };
    Ok(MethodRow {
        method: method.name,
        ipc_sum: report.cores.iter().map(|core| core.ipc).sum(),
        cycles,
        speedup: ratio(baseline.map_or(cycles, |row| row.cycles) as f64, cycles as f64),
        energy_nj,
        energy_ratio: ratio(energy_nj, baseline.map_or(energy_nj, |row| row.energy_nj)),
        energy_per_instruction_nj: (instructions > 0).then(|| energy_nj / instructions as f64),
        report,
    })
}

fn open(path: &Path) -> Result<Box<dyn Program>, Failure> {
    let file = File::open(path).map_err(|source| Failure::reading(path, &source))?;
    let reader = ProgramReader::new(file);
    let reader =
        reader.map_err(|error| Failure::new(format!("{}: {error}", path.display())).with_help(error.help()))?;
    Ok(Box::new(reader))
}
