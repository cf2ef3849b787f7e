//! Runs of programs on the cores of a machine.

use host::machine::{Program, Region};
use indicatif::ProgressBar;
use rayon::prelude::*;
use rowclone_config::{Failure, MachineConfig};
use rowclone_sim::{Attachments, BreakEven, CopyMethod, CoresReport, Experiment, Outcome, Programs};

use crate::interrupt;

/// Runs programs on the cores of a machine under a copy method, with equal regions.
///
/// # Errors
/// An error of the machine or a program; a signal; a failed check.
pub fn run_programs(
    machine: &MachineConfig,
    method: CopyMethod,
    programs: Vec<Box<dyn Program>>,
    region: Region,
    is_checked: bool,
) -> Result<(Outcome, CoresReport), Failure> {
    let programs = programs.into_iter().map(|program| (program, region)).collect();
    run_in_regions(machine, method, programs, is_checked)
}

/// Runs programs, each with its region, on the cores of a machine under a copy method.
///
/// # Errors
/// As [`run_programs`].
pub fn run_in_regions(
    machine: &MachineConfig,
    method: CopyMethod,
    programs: Vec<(Box<dyn Program>, Region)>,
    is_checked: bool,
) -> Result<(Outcome, CoresReport), Failure> {
    let (programs, regions) = programs.into_iter().unzip();
    let programs = Programs { settings: machine.settings, devices: machine.devices, programs, regions };
    let experiment =
        Experiment { is_checked, ..Experiment::programs(&machine.system.memory, programs).policy(method.policy) };
    let stop = interrupt::flag();
    let attachments = Attachments { stop: Some(&stop), ..Attachments::default() };
    let outcome = experiment.run_with(attachments)?;
    let cores = outcome.cores.clone().expect("programs ran on cores");
    if !outcome.passed_checks() {
        let found = failed_checks(&outcome).join("; ");
        return Err(Failure::new(format!("a check failed under `{}`: {found}", method.name()))
            .with_help("this is a defect of the simulator: report the command line"));
    }
    Ok((outcome, cores))
}

/// Runs jobs in parallel, with a progress bar that is hidden unless standard error is a terminal. The results are in
/// the order of the jobs.
///
/// # Errors
/// The first error in the order of the jobs, independent of the threads.
pub fn in_parallel<J: Sync, R: Send>(
    jobs: &[J],
    run: impl Fn(&J) -> Result<R, Failure> + Sync,
) -> Result<Vec<R>, Failure> {
    let bar = ProgressBar::new(jobs.len() as u64);
    // Shown before the first job ends, which may take long.
    bar.tick();
    let run = |job| run(job).inspect(|_| bar.inc(1));
    let results: Vec<Result<R, Failure>> = jobs.par_iter().with_max_len(1).map(run).collect();
    bar.finish_and_clear();
    results.into_iter().collect()
}

/// The size from which the device of a method copies faster than the loop; none without a device, or if it is slower in
/// all sizes.
///
/// # Errors
/// An error of the machine; a signal.
pub fn break_even_bytes(machine: &MachineConfig, method: CopyMethod) -> Result<Option<u64>, Failure> {
    let MachineConfig { system, settings, devices, .. } = machine;
    Ok(BreakEven { system: &system.memory, settings, devices }.bytes(method, &interrupt::flag())?)
}

/// What the checks of a run found: the first illegal command, the first wrong byte of the memory or
/// of a process at a virtual address, and the first wrong load.
fn failed_checks(outcome: &Outcome) -> Vec<String> {
    let check = outcome.check.as_ref();
    let command = check.and_then(|check| check.first_violations.first().cloned());
    let memory = check.and_then(|check| check.memory_mismatch.clone());
    let load = outcome.cores.as_ref().and_then(|cores| cores.wrong_load.as_ref());
    let load = load.map(|load| format!("{load} returned wrong data"));
    command.into_iter().chain(memory).chain(load).collect()
}

#[cfg(test)]
mod tests {
    use rowclone_sim::CheckReport;

    use super::*;

    #[test]
    fn a_failed_check_names_the_command_the_process_and_the_load() {
        let mut outcome = Outcome::default();
        assert!(failed_checks(&outcome).is_empty());
        let byte = "process 2 of core 0 reads 0x01 at virtual address 0x3000, and a plain memory holds 0x02";
        outcome.check = Some(CheckReport {
            dialect: "rowclone",
            violations: 2,
            first_violations: vec!["PRE too early".to_owned(), "ACT too early".to_owned()],
            memory_equal: false,
            memory_mismatch: Some(byte.to_owned()),
        });
        assert_eq!(failed_checks(&outcome), ["PRE too early", byte]);
    }
}
