//! Why the program could not do what it was asked.

use std::fmt;
use std::io;
use std::path::Path;

use report::plot::TableError;
use rowclone_sim::ExperimentError;

/// Why a command could not be carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CliError {
    /// Something is wrong with the input, or the output cannot be written.
    Refused {
        /// What, and where; printed after `error:`.
        message: String,
        /// What to do next; printed after `help:`.
        help: Option<String>,
    },
    /// A signal ended the command.
    Interrupted {
        /// What became of the results, or what to do next; printed after `help:`.
        help: Option<String>,
    },
    /// The reader of standard output has gone (`| head -1`): nothing is left to say.
    ClosedPipe,
}

impl CliError {
    /// An error that has this to say.
    pub fn new(message: impl fmt::Display) -> CliError {
        CliError::Refused { message: message.to_string(), help: None }
    }

    /// The same, with what to do next.
    #[must_use]
    pub fn with_help(self, next: impl fmt::Display) -> CliError {
        match self {
            CliError::Refused { message, help: _ } => CliError::Refused { message, help: Some(next.to_string()) },
            CliError::Interrupted { help: _ } => CliError::Interrupted { help: Some(next.to_string()) },
            CliError::ClosedPipe => CliError::ClosedPipe,
        }
    }

    /// The same, with what to do next if anything is known.
    #[must_use]
    pub fn with_help_of(self, error: &TableError) -> CliError {
        match &error.help {
            Some(help) => self.with_help(help),
            None => self,
        }
    }

    /// A file that cannot be read.
    pub fn reading(path: &Path, source: &io::Error) -> CliError {
        let error = CliError::new(format!("{}: cannot be read: {}", path.display(), reason(source)));
        match source.kind() {
            io::ErrorKind::NotFound => {
                error.with_help("check the spelling of the path, and the directory it starts from")
            }
            io::ErrorKind::PermissionDenied => error.with_help("ask for the permission to read it"),
            io::ErrorKind::IsADirectory => error.with_help("give a file in it"),
            io::ErrorKind::InvalidData => error.with_help("give a text file in UTF-8"),
            // What `input::file` refuses.
            io::ErrorKind::InvalidInput => error.with_help("write what it gives into a file, and give that"),
            io::ErrorKind::FileTooLarge => error.with_help("this looks like another kind of file: give a TOML file"),
            _ => error,
        }
    }

    /// A file that cannot be written.
    pub fn writing(path: &Path, source: &io::Error) -> CliError {
        let error = CliError::new(format!("{}: cannot be written: {}", path.display(), reason(source)));
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
    pub const fn interrupted() -> CliError {
        CliError::Interrupted { help: None }
    }

    /// What to do next, if anything is known.
    pub fn help(&self) -> Option<&str> {
        match self {
            CliError::Refused { help, .. } | CliError::Interrupted { help } => help.as_deref(),
            CliError::ClosedPipe => None,
        }
    }
}

/// What the system says, without its number.
fn reason(source: &io::Error) -> String {
    match source.kind() {
        io::ErrorKind::NotFound => "no such file or directory".to_owned(),
        io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::StorageFull => "no space left on the device".to_owned(),
        _ => source.to_string(),
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CliError::Refused { message, .. } => f.write_str(message),
            CliError::Interrupted { .. } => f.write_str("interrupted"),
            CliError::ClosedPipe => f.write_str("the reader of standard output has gone"),
        }
    }
}

impl std::error::Error for CliError {}

impl From<&ExperimentError> for CliError {
    fn from(error: &ExperimentError) -> CliError {
        match (error, error.help()) {
            (ExperimentError::Stopped, _) => CliError::interrupted(),
            (_, Some(help)) => CliError::new(error).with_help(help),
            (_, None) => CliError::new(error),
        }
    }
}

impl From<ExperimentError> for CliError {
    fn from(error: ExperimentError) -> CliError {
        CliError::from(&error)
    }
}
