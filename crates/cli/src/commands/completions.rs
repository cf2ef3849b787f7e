//! Shell completions and manual pages, generated from the definition of the command line.

use clap::CommandFactory;
use clap_mangen::Man;

use super::Cli;
use crate::args::CompletionsArgs;
use rowclone_config::Failure;

/// Completion script of a shell for the commands and options of the program.
pub fn completions(args: &CompletionsArgs) -> String {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "rowclone-sim", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// The manual page of the program and, after it, those of its commands, in roff.
///
/// # Errors
/// A page cannot be rendered.
pub fn manual() -> Result<String, Failure> {
    let mut program = Cli::command();
    program.build();
    let mut pages = Vec::new();
    let commands = program.get_subcommands().filter(|command| command.get_name() != "help").cloned();
    for command in std::iter::once(program.clone()).chain(commands) {
        Man::new(command).render(&mut pages).map_err(Failure::new)?;
    }
    Ok(String::from_utf8_lossy(&pages).into_owned())
}
