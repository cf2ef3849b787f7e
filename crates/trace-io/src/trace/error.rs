//! Why a trace cannot be read.

use super::FORMATS;
use super::format::Format;
use super::record::RecordFault;
use crate::line::LineError;

/// What is wrong with a trace, and in which line (counted from 1).
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The line cannot be read at all.
    #[error(transparent)]
    Line(#[from] LineError),
    /// A trace without any record.
    #[error("the trace holds no record")]
    Empty {
        /// The line at which it ends.
        line: u64,
    },
    /// The first record is of no format.
    #[error("line {line}: `{found}` is a record of no trace format")]
    UnknownFormat {
        /// The line.
        line: u64,
        /// What stands there.
        found: String,
    },
    /// A line that is no record of the trace's format.
    #[error("line {line}: {fault}")]
    Record {
        /// The line.
        line: u64,
        /// What is wrong.
        fault: Box<Fault>,
        /// Another format that the line is a record of.
        other: Option<&'static Format>,
    },
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A line that begins with the name of no kind of record.
    #[error("begins with `{found}`, but must begin with {expected}")]
    UnknownRecord {
        /// Its first field.
        found: String,
        /// The kinds of record.
        expected: &'static str,
    },
    /// Too few or too many fields.
    #[error("has {found} fields, but must be `{shape}`")]
    FieldCount {
        /// How many fields it has.
        found: usize,
        /// What it should look like.
        shape: &'static str,
    },
    /// A field that is not what it should be.
    #[error("`{key}` is `{found}`, but must be {expected}")]
    Field {
        /// The field.
        key: &'static str,
        /// What stands there.
        found: String,
        /// What should stand there.
        expected: &'static str,
    },
    /// Fields that are right one by one, and make no sense together.
    #[error(transparent)]
    Record(#[from] RecordFault),
}

impl TraceError {
    /// The line, counted from 1.
    pub const fn line(&self) -> u64 {
        match self {
            Self::Line(error) => error.line(),
            Self::Empty { line } | Self::UnknownFormat { line, .. } | Self::Record { line, .. } => *line,
        }
    }

    /// What to do next.
    pub fn help(&self) -> String {
        match self {
            Self::Line(error) => error.help(),
            Self::Empty { .. } => "give a trace of at least one record; docs/formats.md says what a record is".into(),
            Self::UnknownFormat { .. } => {
                let formats = FORMATS.map(|format| format!("{} (`{}`)", format.name, format.example));
                format!(
                    "give a trace in one of the formats {}, plain, gzip or zstd; see docs/formats.md",
                    formats.join(", ")
                )
            }
            Self::Record { other: Some(other), .. } => {
                format!(
                    "this is a record of another format: read the whole trace as that (`format = \"{}\"`)",
                    other.name
                )
            }
            Self::Record { fault, other: None, .. } => fault.help(),
        }
    }
}

impl Fault {
    fn help(&self) -> String {
        match self {
            Self::UnknownRecord { .. } => "correct the line, or leave it out; docs/formats.md has the grammar".into(),
            Self::FieldCount { shape, .. } => format!("separate by blanks just these: {shape}"),
            Self::Field { key, expected, .. } => format!("write `{key}` as {expected}, without sign and separators"),
            Self::Record(fault) => fault.help(),
        }
    }
}
