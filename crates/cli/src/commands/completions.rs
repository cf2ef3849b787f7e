//! `rowclone-sim completions`.

use std::process::ExitCode;

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs};
use crate::output::Stdout;
use rowclone_config::Failure;

/// Prints the script that makes a shell complete this program's commands and options.
///
/// # Errors
/// If standard output cannot be written.
pub fn run(args: &CompletionsArgs) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "rowclone-sim", &mut script);
    let mut stdout = Stdout::lock();
    stdout.print(String::from_utf8_lossy(&script))?;
    stdout.finish()?;
    Ok(ExitCode::SUCCESS)
}
