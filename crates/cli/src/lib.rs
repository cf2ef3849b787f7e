//! The command line program: arguments, files, configuration in TOML, threads, and the terminal.
//!
//! [`main()`] is the whole program `rowclone-sim`. Results go to standard output, messages to standard error. The exit
//! code is 0 for success, 1 for a finding (a log that breaks a rule, a failed point of a sweep), 2 for an error of the
//! input or output, 3 for unfinished work (a sweep with unfinished points), and 128 plus the number of the signal that
//! ended the program (130 for Ctrl-C).

pub mod args;
#[cfg(unix)]
mod child;
pub mod command_trace;
pub mod commands;
pub mod experiment;
pub mod faults;
pub mod flags;
pub mod formats;
pub mod instant;
pub mod interrupt;
pub mod output;
pub mod recording;
pub mod requests;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use anstyle::{AnsiColor, Effects, Style};
use clap::Parser;
use rowclone_config::{Failure, error::FailureCause};

/// Exit code of an error of the input or output.
const AT_FAULT: u8 = 2;

/// Styles of the words `error:` and `help:` on a terminal with colors, unless `NO_COLOR` is set; plain otherwise.
const ERROR: Style = AnsiColor::Red.on_default().effects(Effects::BOLD);
const HELP: Style = AnsiColor::Cyan.on_default().effects(Effects::BOLD);

/// Runs the program with these arguments; the first is the name of the program.
pub fn main(args: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> ExitCode {
    let outcome = match commands::Cli::try_parse_from(args) {
        Ok(cli) => interrupt::listen().and_then(|()| commands::dispatch(&cli.command)),
        Err(error) => answer(&error),
    };
    outcome.unwrap_or_else(|error| report(&error))
}

/// Prints an answer of clap: help and version to standard output, messages to standard error.
fn answer(error: &clap::Error) -> Result<ExitCode, Failure> {
    let printed = error.print();
    if error.use_stderr() {
        return Ok(ExitCode::from(AT_FAULT));
    }
    printed.and_then(|()| std::io::stdout().flush()).map_err(|source| output::stdout_error(&source))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints an error to standard error; an error of this output is ignored.
fn report(error: &Failure) -> ExitCode {
    let code = match error.cause {
        FailureCause::ClosedPipe => return ExitCode::SUCCESS,
        FailureCause::Refused => AT_FAULT,
        FailureCause::Interrupted => interrupt::exit_code(),
    };
    let mut stderr = anstream::stderr().lock();
    let _ = writeln!(stderr, "{ERROR}error:{ERROR:#} {error}");
    if let Some(help) = &error.help {
        let _ = writeln!(stderr, "{HELP}help:{HELP:#} {help}");
    }
    ExitCode::from(code)
}
