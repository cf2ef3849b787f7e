//! Knows file names, TOML, threads and the terminal.
//!
//! [`main()`] is the whole program `rowclone-sim`. Data go to standard output, messages to standard error; it ends with 0
//! for a clean result, 1 for a finding (a log that breaks a rule, a point of a sweep that failed), 2 where the input or the
//! output was at fault, and 3 where something is left to be done (a sweep whose points are not all there).

pub mod args;
pub mod binding;
pub mod commands;
pub mod error;
pub mod experiment;
pub mod input;
pub mod instant;
pub mod interrupt;
pub mod metered;
pub mod observer;
pub mod output;
pub mod pricing;
pub mod progress;
pub mod served;
pub mod sweep;
pub mod warnings;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use anstyle::{AnsiColor, Effects, Style};
use clap::Parser;

pub use error::CliError;

/// Input or output was at fault, or the run was interrupted.
const AT_FAULT: u8 = 2;

/// How the words `error:` and `help:` look on a terminal that has colours, unless `NO_COLOR` is set; anything else gets the words alone.
const ERROR: Style = AnsiColor::Red.on_default().effects(Effects::BOLD);
const HELP: Style = AnsiColor::Cyan.on_default().effects(Effects::BOLD);

/// Runs the program with these arguments, of which the first is its name.
pub fn main<I, T>(args: I) -> ExitCode
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    let outcome = match args::Cli::try_parse_from(args) {
        Ok(cli) => commands::dispatch(&cli.command),
        Err(error) => answer(&error),
    };
    outcome.unwrap_or_else(|error| report(&error))
}

/// Says what clap has to say: help and version are data, the rest are messages.
fn answer(error: &clap::Error) -> Result<ExitCode, CliError> {
    error.print().map_err(|source| output::stdout_error(&source))?;
    std::io::stdout().flush().map_err(|source| output::stdout_error(&source))?;
    Ok(if error.use_stderr() { ExitCode::from(AT_FAULT) } else { ExitCode::SUCCESS })
}

/// Says on standard error what went wrong. Nobody is left to be told where that fails too.
fn report(error: &CliError) -> ExitCode {
    match error {
        CliError::ClosedPipe => ExitCode::SUCCESS,
        CliError::Refused { message, help } => {
            let mut stderr = anstream::stderr().lock();
            let _ = writeln!(stderr, "{ERROR}error:{ERROR:#} {message}");
            if let Some(help) = help {
                let _ = writeln!(stderr, "{HELP}help:{HELP:#} {help}");
            }
            ExitCode::from(AT_FAULT)
        }
    }
}
