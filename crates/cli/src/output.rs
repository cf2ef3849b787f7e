//! Standard output and standard error.

use std::fmt;
use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::Path;

use rowclone_config::Failure;

/// Standard output, buffered. All commands print through it; [`Stdout::finish`] tells whether everything got there.
#[derive(Debug)]
#[must_use = "what is buffered is lost without `finish`"]
pub struct Stdout {
    output: BufWriter<StdoutLock<'static>>,
}

impl Stdout {
    /// Takes standard output for itself until it is dropped.
    pub fn lock() -> Stdout {
        Stdout { output: BufWriter::new(io::stdout().lock()) }
    }

    /// Prints a text as it is.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn print(&mut self, text: impl fmt::Display) -> Result<(), Failure> {
        write!(self.output, "{text}").map_err(|source| stdout_error(&source))
    }

    /// Prints a text and a line's end.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn line(&mut self, text: impl fmt::Display) -> Result<(), Failure> {
        writeln!(self.output, "{text}").map_err(|source| stdout_error(&source))
    }

    /// Writes out what is buffered.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn finish(mut self) -> Result<(), Failure> {
        self.output.flush().map_err(|source| stdout_error(&source))
    }
}

/// Standard output as a [`Write`]; [`stdout_error`] converts its errors.
impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.output.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

/// Prints a message, which is no result, to standard error.
///
/// Results do not depend on it: where standard error cannot be written, the message is lost and the program goes on.
pub fn message(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Columns of a line of text: `COLUMNS` where it is set, else those of the terminal, else 80.
pub fn width() -> usize {
    let set = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
    let of_terminal = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    set.or_else(of_terminal).unwrap_or(80)
}

/// What it means that standard output cannot be written.
pub fn stdout_error(source: &io::Error) -> Failure {
    match source.kind() {
        io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
        _ => Failure::writing(Path::new("standard output"), source),
    }
}
