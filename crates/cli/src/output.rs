//! Standard output and standard error.

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use rowclone_config::Failure;
use serde_json::Value;

/// Prints the output of a command to standard output.
///
/// # Errors
/// Standard output cannot be written; [`FailureCause::ClosedPipe`](rowclone_config::error::FailureCause) if its reader
/// has closed it.
pub fn print(text: impl fmt::Display) -> Result<ExitCode, Failure> {
    let mut output = BufWriter::new(io::stdout().lock());
    write!(output, "{text}").and_then(|()| output.flush()).map_err(|source| stdout_error(&source))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints a message to standard error.
///
/// Results do not depend on messages: if standard error cannot be written, the message is lost and the program
/// continues.
pub fn message(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Columns of a line of text: `COLUMNS` if it is set, else those of the terminal, else 80.
pub fn width() -> usize {
    let set = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
    let of_terminal = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    set.or_else(of_terminal).unwrap_or(80)
}

/// A number in JSON: an integer if it has no fraction.
pub fn number(number: f64) -> Value {
    if number.fract() == 0.0 { Value::from(number as i64) } else { Value::from(number) }
}

/// The failure to write standard output.
pub fn stdout_error(source: &io::Error) -> Failure {
    match source.kind() {
        io::ErrorKind::BrokenPipe => Failure::closed_pipe(),
        _ => Failure::writing(Path::new("standard output"), source),
    }
}
