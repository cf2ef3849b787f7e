//! Errors of commands.

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rowclone_sim::ExperimentError;

use crate::file::located;

/// Error of a command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// What ended the command.
    pub cause: FailureCause,
    /// Place and finding; printed after `error:`.
    pub message: String,
    /// What would work, or the state of the results; printed after `help:`.
    pub help: Option<String>,
}

/// What ends a command before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureCause {
    /// Error in the input, or an output that cannot be written.
    Refused,
    /// A signal.
    Interrupted,
    /// The reader of standard output has closed it (`| head -1`): no message is printed.
    ClosedPipe,
}

impl Failure {
    /// Creates an error with a message.
    pub fn new(message: impl Display) -> Failure {
        Failure { cause: FailureCause::Refused, message: message.to_string(), help: None }
    }

    /// Creates an error of a file or a directory.
    pub fn at(path: &Path, message: impl Display) -> Failure {
        Failure::new(format!("{}: {message}", path.display()))
    }

    /// Creates an error of a file's reader, whose message names at most the line.
    pub fn of_reader(path: &Path, message: impl Display) -> Failure {
        Failure::new(located(path, &message.to_string()))
    }

    /// Adds the help.
    #[must_use]
    pub fn with_help(self, next: impl Display) -> Failure {
        Failure { help: Some(next.to_string()), ..self }
    }

    /// Adds the help, if there is any.
    #[must_use]
    pub fn with_help_if(self, help: Option<&str>) -> Failure {
        Failure { help: help.map(str::to_owned).or(self.help), ..self }
    }

    /// Creates the error of a file that cannot be read.
    pub fn reading(path: &Path, source: &io::Error) -> Failure {
        let error = Failure::new(format!("{}: cannot be read: {}", path.display(), reason(source)));
        error.with_help_if(match source.kind() {
            io::ErrorKind::NotFound => Some("check the spelling of the path, and the directory it starts from"),
            io::ErrorKind::PermissionDenied => Some("ask for the permission to read it"),
            io::ErrorKind::IsADirectory => Some("give a file in it"),
            io::ErrorKind::InvalidData => Some("give a text file in UTF-8"),
            // Errors of [`crate::file`].
            io::ErrorKind::InvalidInput => Some("write its output to a file, and give that file"),
            io::ErrorKind::FileTooLarge => Some("this looks like another kind of file: give a TOML file"),
            _ => None,
        })
    }

    /// Creates the error of a file that cannot be written.
    pub fn writing(path: &Path, source: &io::Error) -> Failure {
        use io::ErrorKind::{NotFound, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        let error = Failure::new(format!("{}: cannot be written: {}", path.display(), reason(source)));
        error.with_help_if(match source.kind() {
            NotFound => Some("make its directory first"),
            PermissionDenied | ReadOnlyFilesystem => Some("write to a directory that is yours"),
            StorageFull | QuotaExceeded => Some("make room there, or write elsewhere"),
            _ => None,
        })
    }

    /// A signal ended the command.
    pub fn interrupted() -> Failure {
        Failure { cause: FailureCause::Interrupted, ..Failure::new("interrupted") }
    }

    /// Checks the flag that a signal raises.
    ///
    /// # Errors
    /// It is raised.
    pub fn if_raised(flag: &AtomicBool) -> Result<(), Failure> {
        if flag.load(Ordering::Relaxed) { Err(Failure::interrupted()) } else { Ok(()) }
    }

    /// The reader of standard output has closed it.
    pub fn closed_pipe() -> Failure {
        Failure { cause: FailureCause::ClosedPipe, ..Failure::new("the reader of standard output has gone") }
    }
}

/// Message of the operating system, without its number.
fn reason(source: &io::Error) -> String {
    match source.kind() {
        io::ErrorKind::NotFound => "no such file or directory".to_owned(),
        io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::StorageFull => "no space left on the device".to_owned(),
        _ => source.to_string(),
    }
}

impl From<ExperimentError> for Failure {
    fn from(error: ExperimentError) -> Failure {
        match error {
            ExperimentError::Stopped => Failure::interrupted(),
            _ => Failure::new(&error).with_help_if(error.help().as_deref()),
        }
    }
}
