//! Runs of programs on the cores of a machine.

use host::machine::{Program, Region};
use rowclone_config::{Failure, MachineConfig};
use rowclone_sim::{Attachments, CopyMethod, CoresReport, Experiment, Outcome, Programs, Workload};

use crate::interrupt;

/// Runs programs on the cores of a machine under a copy method.
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
    let workload = Workload::Programs(Programs { settings: machine.settings, programs, region });
    let experiment =
        Experiment { is_checked, ..Experiment::new(&machine.system.memory, workload).policy(method.policy) };
    let stop = interrupt::flag();
    let attachments = Attachments { stop: Some(&stop), ..Attachments::default() };
    let outcome = experiment.run_with(attachments)?;
    let cores = outcome.cores.clone().expect("programs ran on cores");
    if !outcome.passed_checks() {
        let wrong = cores.wrong_load.as_deref().unwrap_or("a command or a line of memory");
        return Err(Failure::new(format!("a check failed under `{}`: {wrong}", method.name()))
            .with_help("this is a defect of the simulator: report the command line"));
    }
    Ok((outcome, cores))
}
