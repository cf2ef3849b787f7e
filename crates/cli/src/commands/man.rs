//! `rowclone-sim man`.

use std::process::ExitCode;

use clap::CommandFactory;
use clap_mangen::Man;

use crate::args::Cli;
use crate::output::{Stdout, stdout_error};
use rowclone_config::Failure;

/// Prints the manual page of the program and, after it, those of its commands, in roff.
///
/// # Errors
/// If standard output cannot be written.
pub fn run() -> Result<ExitCode, Failure> {
    let mut program = Cli::command();
    program.build();
    let mut stdout = Stdout::lock();
    let commands = program.get_subcommands().filter(|command| command.get_name() != "help").cloned();
    for command in std::iter::once(program.clone()).chain(commands) {
        Man::new(command).render(&mut stdout).map_err(|source| stdout_error(&source))?;
    }
    stdout.finish()?;
    Ok(ExitCode::SUCCESS)
}
