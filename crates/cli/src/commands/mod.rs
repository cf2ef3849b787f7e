//! The commands: each reads its input, and prints its result or returns it as text.

pub mod check;
mod compare;
pub mod completions;
pub mod convert;
mod core_runs;
pub mod explain_address;
pub mod explain_energy;
pub mod explain_plan;
pub mod explain_rules;
pub mod explain_timeline;
pub mod find_copies;
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

use clap::{Parser, Subcommand};

use self::reproduce::Reproduce;
use crate::args::{
    CheckArgs, CompareArgs, CompletionsArgs, ConvertArgs, Explain, PlotArgs, ProgramsArgs, RecordArgs, ReportArgs,
    RunArgs, SweepArgs, SystemsArgs, TraceCommand,
};
use crate::{flags, output};
use rowclone_config::Failure;

/// `rowclone-sim`.
#[derive(Debug, Parser)]
#[command(
    name = "rowclone-sim",
    version,
    about = "Cycle-accurate DDR2 to DDR5 with RowClone: copying and initializing memory inside DRAM",
    after_help = "Example:\n  rowclone-sim run traces/page-copy.toml"
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Runs a scenario under each of its policies, and reports latency, energy and traffic
    Run(RunArgs),
    /// Runs a scenario at many points, with keys varied along axes, and writes one table of all results
    Sweep(SweepArgs),
    /// Writes one HTML page about the results of a sweep or a run: warnings, tables, charts, decisions, energy
    Report(ReportArgs),
    /// Checks a command trace against the rules of its standard and of RowClone
    Check(CheckArgs),
    /// Writes a trace in another format, for other tools
    Convert(ConvertArgs),
    /// Describes and checks memory traces and recordings of programs
    #[command(subcommand, after_help = "Example:\n  rowclone-sim trace info traces/samples/forkset-rc.gz")]
    Trace(TraceCommand),
    /// Explains an address, the rules, a plan, an energy or a timeline
    #[command(
        subcommand,
        after_help = "Example:\n  rowclone-sim explain address 0x400000 --system configs/ddr3-1066-paper.toml"
    )]
    Explain(Explain),
    /// Lists the memory systems that `--system` takes by name
    Systems(SystemsArgs),
    /// Records a program: its instructions, loads, stores and system calls, or its page faults
    Record(RecordArgs),
    /// Runs program traces on cores, and compares the kernel's copy loop with RowClone
    Programs(ProgramsArgs),
    /// Compares every way to copy on a machine: time, CPU time, energy and displaced lines
    Compare(CompareArgs),
    /// Simulates a published table, and prints it beside the published values
    #[command(subcommand, after_help = "Example:\n  rowclone-sim reproduce table3")]
    Reproduce(Reproduce),
    /// Prints the completion script of a shell
    Completions(CompletionsArgs),
    /// Prints the manual pages of the program and its commands
    #[command(after_help = "Example:\n  rowclone-sim man > ~/.local/share/man/man1/rowclone-sim.1")]
    Man,
    /// Draws a chart of a table
    Plot(PlotArgs),
}

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
