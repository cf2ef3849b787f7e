//! `rowclone-sim programs`: program traces on cores, under each copy method.

use std::path::PathBuf;

use host::machine::{ChosenCopies, Region};
use indicatif::ProgressBar;
use report::programs::{MethodRow, ProgramsTable, SCHEMA_VERSION};
use rowclone_config::programs::{assumptions, baseline, label, open, recording_settings};
use rowclone_config::{Failure, MachineConfig};
use rowclone_sim::CopyMethod;

use super::core_runs::{break_even_bytes, run_programs};
use crate::args::{ProgramsArgs, compared};

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
    let compared = compared(&args.policies, &CopyMethod::ALL);
    let bar = ProgressBar::new((alone.len() + compared.len()) as u64);
    let alone_ipc = alone_ipc(&machine, alone, (region, args.copies), args.check, || bar.inc(1))?;
    // The first method is the baseline.
    let (mut methods, mut reference) = (Vec::new(), None);
    for method in compared {
        let settings = recording_settings(args.copies, method);
        let programs = args.programs.iter().map(|path| open(path, &machine, settings)).collect::<Result<_, _>>()?;
        let (mut outcome, report) = run_programs(&machine, method, programs, region, args.check)?;
        outcome.compare(reference.get_or_insert_with(|| outcome.reference()));
        let row = MethodRow::new(&outcome, report.mix(&alone_ipc));
        let break_even_bytes = break_even_bytes(&machine, method)?;
        methods.extend(row.map(|row| MethodRow { break_even_bytes, ..row }));
        bar.inc(1);
    }
    bar.finish_and_clear();
    let table = ProgramsTable {
        schema_version: SCHEMA_VERSION,
        machine: machine.name.clone(),
        baseline: baseline(&machine),
        programs,
        assumptions: assumptions(&args.programs, &machine, args.check)?,
        warm_up: args.warm_up,
        instructions: args.instructions,
        alone_ipc,
        methods,
    };
    args.format.render(|| table.to_text(args.details), &table)
}

/// Instructions per cycle of each program alone on the machine, under the baseline. `advance` is called after each run.
///
/// # Errors
/// As [`run`].
pub(super) fn alone_ipc(
    machine: &MachineConfig,
    programs: &[PathBuf],
    (region, copies): (Region, ChosenCopies),
    is_checked: bool,
    advance: impl Fn(),
) -> Result<Vec<f64>, Failure> {
    let method = CopyMethod::BASELINE;
    let settings = recording_settings(copies, method);
    let run = |path: &PathBuf| {
        let programs = vec![open(path, machine, settings)?];
        let (_, report) = run_programs(machine, method, programs, region, is_checked)?;
        advance();
        Ok(report.cores[0].ipc)
    };
    programs.iter().map(run).collect()
}
