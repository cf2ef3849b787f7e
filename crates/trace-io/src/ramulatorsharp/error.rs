//! Why a trace cannot be read.

use super::record::RecordFault;
use crate::line::LineError;

/// What is wrong with a trace, and in which line (counted from 1).
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The line cannot be had at all.
    #[error(transparent)]
    Line(#[from] LineError),
    /// The first line is of neither format.
    #[error("line {line}: begins with `{found}`, but a trace begins with R, C, S or a decimal number")]
    UnknownFormat {
        /// The line.
        line: u64,
        /// Its first field.
        found: String,
    },
    /// A line of the R/C/S format that begins with none of the three.
    #[error("line {line}: begins with `{found}`, but must begin with R, C or S")]
    UnknownRecord {
        /// The line.
        line: u64,
        /// Its first field.
        found: String,
    },
    /// Too few or too many fields.
    #[error("line {line}: has {found} fields, but must be `{shape}`")]
    FieldCount {
        /// The line.
        line: u64,
        /// How many fields it has.
        found: usize,
        /// What it should look like.
        shape: &'static str,
    },
    /// A field that is not the number that it should be.
    #[error("line {line}: `{key}` is `{found}`, but must be {expected}")]
    Field {
        /// The line.
        line: u64,
        /// The field.
        key: &'static str,
        /// What stands there.
        found: String,
        /// What should stand there.
        expected: &'static str,
    },
    /// Fields that are right one by one, and make no sense together.
    #[error("line {line}: {fault}")]
    Record {
        /// The line.
        line: u64,
        /// What is wrong.
        fault: RecordFault,
    },
}

impl TraceError {
    /// The line, counted from 1.
    pub const fn line(&self) -> u64 {
        match self {
            Self::Line(error) => error.line(),
            Self::UnknownFormat { line, .. }
            | Self::UnknownRecord { line, .. }
            | Self::FieldCount { line, .. }
            | Self::Field { line, .. }
            | Self::Record { line, .. } => *line,
        }
    }

    /// What to do next.
    pub fn help(&self) -> String {
        match self {
            Self::Line(error) => error.help(),
            Self::UnknownFormat { .. } => {
                "give a RamulatorSharp trace, plain or gzip: lines like `R 7c025cc0 0 5` or `5 2080529600`".into()
            }
            Self::UnknownRecord { found, .. } if found.bytes().all(|digit| digit.is_ascii_digit()) => {
                "lines that begin with a number are of the all-decimal format: read the trace as that (`format = \"cpu\"`)".into()
            }
            Self::UnknownRecord { .. } => {
                "correct the line, or leave it out: R is an access, C a copy, S a fill".into()
            }
            Self::FieldCount { shape, .. } => format!("separate by spaces just these: {shape}"),
            Self::Field { found, .. } if matches!(found.as_str(), "R" | "C" | "S") => {
                "lines that begin with a letter are of the R/C/S format: read the trace as that (`format = \"rc\"`)".into()
            }
            Self::Field { key, expected, .. } => {
                format!("write `{key}` as {expected}: digits alone, no sign and no prefix")
            }
            Self::Record { fault, .. } => fault.help(),
        }
    }
}
