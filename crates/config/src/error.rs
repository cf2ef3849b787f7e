//! Errors of commands.

use std::fmt;
use std::io;
use std::path::Path;

use rowclone_sim::ExperimentError;

/// Error of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// Error in the input, or an output that cannot be written.
    Refused {
        /// Place and finding; printed after `error:`.
        message: String,
        /// What would work; printed after `help:`.
        help: Option<String>,
    },
    /// A signal ended the command.
    Interrupted {
        /// State of the results, or the next step; printed after `help:`.
        help: Option<String>,
    },
    /// The reader of standard output has closed it (`| head -1`): no message is printed.
    ClosedPipe,
}

impl Failure {
    /// Creates an error with a message.
    pub fn new(message: impl fmt::Display) -> Failure {
        Failure::Refused { message: message.to_string(), help: None }
    }

    /// Adds the help.
    #[must_use]
    pub fn with_help(self, next: impl fmt::Display) -> Failure {
        match self {
            Failure::Refused { message, help: _ } => Failure::Refused { message, help: Some(next.to_string()) },
            Failure::Interrupted { help: _ } => Failure::Interrupted { help: Some(next.to_string()) },
            Failure::ClosedPipe => Failure::ClosedPipe,
        }
    }

    /// Adds the help, if there is any.
    #[must_use]
    pub fn with_help_if(self, help: Option<&str>) -> Failure {
        match help {
            Some(help) => self.with_help(help),
            None => self,
        }
    }

    /// Creates the error of a file that cannot be read.
    pub fn reading(path: &Path, source: &io::Error) -> Failure {
        let error = Failure::new(format!("{}: cannot be read: {}", path.display(), reason(source)));
        match source.kind() {
            io::ErrorKind::NotFound => {
                error.with_help("check the spelling of the path, and the directory it starts from")
            }
            io::ErrorKind::PermissionDenied => error.with_help("ask for the permission to read it"),
            io::ErrorKind::IsADirectory => error.with_help("give a file in it"),
            io::ErrorKind::InvalidData => error.with_help("give a text file in UTF-8"),
            // Errors of [`crate::file`].
            io::ErrorKind::InvalidInput => error.with_help("write what it gives into a file, and give that"),
            io::ErrorKind::FileTooLarge => error.with_help("this looks like another kind of file: give a TOML file"),
            _ => error,
        }
    }

    /// Creates the error of a file that cannot be written.
    pub fn writing(path: &Path, source: &io::Error) -> Failure {
        let error = Failure::new(format!("{}: cannot be written: {}", path.display(), reason(source)));
        match source.kind() {
            io::ErrorKind::NotFound => error.with_help("make its directory first"),
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                error.with_help("write to a directory that is yours")
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                error.with_help("make room there, or write elsewhere")
            }
            _ => error,
        }
    }

    /// A signal ended the command.
    pub const fn interrupted() -> Failure {
        Failure::Interrupted { help: None }
    }

    /// The help, if there is any.
    pub fn help(&self) -> Option<&str> {
        match self {
            Failure::Refused { help, .. } | Failure::Interrupted { help } => help.as_deref(),
            Failure::ClosedPipe => None,
        }
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

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Refused { message, .. } => f.write_str(message),
            Failure::Interrupted { .. } => f.write_str("interrupted"),
            Failure::ClosedPipe => f.write_str("the reader of standard output has gone"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<&ExperimentError> for Failure {
    fn from(error: &ExperimentError) -> Failure {
        match (error, error.help()) {
            (ExperimentError::Stopped, _) => Failure::interrupted(),
            (_, Some(help)) => Failure::new(error).with_help(help),
            (_, None) => Failure::new(error),
        }
    }
}

impl From<ExperimentError> for Failure {
    fn from(error: ExperimentError) -> Failure {
        Failure::from(&error)
    }
}
