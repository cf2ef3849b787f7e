//! The commands: each reads its input, and prints its result or returns it as text.

pub mod check;
mod compare;
pub mod completions;
pub mod convert;
mod convert_recording;
mod core_runs;
pub mod explain_address;
pub mod explain_energy;
pub mod explain_plan;
pub mod explain_rules;
pub mod explain_timeline;
pub mod find_copies;
mod find_copies_recording;
mod lanes;
pub mod plot;
mod programs;
#[cfg(unix)]
pub mod record;
mod recording_info;
pub mod report;
pub mod reproduce;
pub mod run;
mod same_bank;
pub mod sweep;
mod sweep_slurm;
pub mod systems;
pub mod trace_head;
pub mod trace_info;
pub mod trace_verify;

use std::process::ExitCode;

use crate::args::{Command, Explain, TraceCommand};
use crate::{flags, output};
use rowclone_config::Failure;

/// Executes a command.
///
/// # Errors
/// Error of a command.
pub fn dispatch(command: &Command) -> Result<ExitCode, Failure> {
    output::print(match command {
        Command::Run(args) => return run::run(args).map_err(|error| args.scenario.in_flags(error)),
        Command::Sweep(args) => return sweep::run(args),
        Command::Compare(args) => return compare::run(args),
        Command::Report(args) => return report::run(args),
        Command::Check(args) => return check::run(args),
        Command::Convert(args) | Command::Trace(TraceCommand::Convert(args)) => {
            return convert::run(args).map_err(|error| flags::in_flags(error, flags::of_from));
        }
        #[cfg(unix)]
        Command::Record(args) => return record::run(args),
        #[cfg(not(unix))]
        Command::Record(_) => return Err(Failure::new("programs can be recorded on Linux only")),
        Command::Plot(args) => return plot::run(args),
        Command::Completions(args) => completions::completions(args),
        Command::Man => completions::manual()?,
        Command::Systems(args) => systems::run(args)?,
        Command::Explain(what) => match what {
            Explain::Address(args) => explain_address::run(args)?,
            Explain::Rules(args) => explain_rules::run(args)?,
            Explain::Plan(args) => explain_plan::run(args).map_err(|error| args.scenario.in_flags(error))?,
            Explain::Energy(args) => explain_energy::run(args).map_err(|error| args.scenario.in_flags(error))?,
            Explain::Timeline(args) => explain_timeline::run(args).map_err(|error| args.scenario.in_flags(error))?,
        },
        Command::Trace(TraceCommand::Info(args)) => {
            trace_info::run(args).map_err(|error| flags::in_flags(error, flags::of_input_format))?
        }
        Command::Trace(TraceCommand::Head(args)) => trace_head::run(args)?,
        Command::Trace(TraceCommand::Verify(args)) => trace_verify::run(args)?,
        Command::Trace(TraceCommand::FindCopies(args)) => {
            find_copies::run(args).map_err(|error| flags::in_flags(error, flags::of_input_format))?
        }
        Command::Programs(args) => programs::run(args)?,
        Command::Reproduce(table) => table.run()?,
    })
}
