//! Errors of trace readers.

use super::FORMATS;
use super::format::Format;
use super::record::RecordFault;
use crate::line::LineError;
use crate::recording::RecordingError;

/// Reason why a trace cannot be read, with the line (counted from 1).
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The line cannot be read.
    #[error(transparent)]
    Line(#[from] LineError),
    /// The trace has no record.
    #[error("the trace holds no record")]
    Empty {
        /// Line at which the trace ends.
        line: u64,
    },
    /// The first record matches no format.
    #[error("line {line}: `{found}` is a record of no trace format")]
    UnknownFormat {
        /// Line.
        line: u64,
        /// Text of the line.
        found: String,
    },
    /// The first record matches several formats.
    #[error("line {line}: `{found}` is a record of the formats {}", names(formats))]
    Ambiguous {
        /// Line.
        line: u64,
        /// Text of the line.
        found: String,
        /// Formats.
        formats: Vec<&'static Format>,
    },
    /// A recording of page faults is damaged.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// A recording of accesses.
    #[error("is a recording of a program, which runs on cores, and no memory trace")]
    Accesses,
    /// A line is not a record of the trace's format.
    #[error("line {line}: {fault}")]
    Record {
        /// Line.
        line: u64,
        /// Reason.
        fault: Box<Fault>,
        /// Another format that the line matches.
        other: Option<&'static Format>,
    },
}

/// Reason why a line is not a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The first field names no kind of record.
    #[error("begins with `{found}`, but must begin with {expected}")]
    UnknownRecord {
        /// First field.
        found: String,
        /// Kinds of records.
        expected: &'static str,
    },
    /// The line has too few or too many fields.
    #[error("has {found} fields, but must be `{shape}`")]
    FieldCount {
        /// Number of fields.
        found: usize,
        /// Grammar of the record.
        shape: &'static str,
    },
    /// The value of a field is invalid.
    #[error("`{key}` is `{found}`, but must be {expected}")]
    Field {
        /// Field.
        key: &'static str,
        /// Value found.
        found: String,
        /// Valid values.
        expected: &'static str,
    },
    /// The line is valid in its source, but the simulator does not read it.
    #[error("{what}")]
    Refused {
        /// Property of the line.
        what: &'static str,
        /// Suggested change.
        help: &'static str,
    },
    /// The fields are valid, but their combination is not.
    #[error(transparent)]
    Record(#[from] RecordFault),
}

fn names(formats: &[&Format]) -> String {
    let names: Vec<String> = formats.iter().map(|format| format!("`{}`", format.name)).collect();
    names.join(" and ")
}

impl TraceError {
    /// Line, counted from 1. Of a recording, the number of the block.
    pub const fn line(&self) -> u64 {
        match self {
            Self::Line(error) => error.line(),
            Self::Recording(error) => error.block,
            Self::Accesses => 0,
            Self::Empty { line }
            | Self::UnknownFormat { line, .. }
            | Self::Ambiguous { line, .. }
            | Self::Record { line, .. } => *line,
        }
    }

    /// Suggested change.
    pub fn help(&self) -> String {
        match self {
            Self::Line(error) => error.help(),
            Self::Recording(error) => error.help(),
            Self::Accesses => {
                "run it without a scenario, `rowclone-sim run FILE.rct.zst`, or as one of `workload.programs`; \
                               `rowclone-sim convert` writes its accesses as a memory trace"
                    .into()
            }
            Self::Empty { .. } => "give a trace of at least one record; docs/formats.md says what a record is".into(),
            Self::UnknownFormat { .. } => {
                let formats = FORMATS.map(|format| format!("`{}`", format.name)).join(", ");
                format!("give a trace in one of the formats {formats}, plain, gzip or zstd; docs/formats.md shows each")
            }
            Self::Ambiguous { formats, .. } => {
                let keys: Vec<String> =
                    formats.iter().map(|format| format!("`format = \"{}\"`", format.name)).collect();
                let endings: Vec<&str> = formats.iter().filter_map(|format| format.extension).collect();
                format!(
                    "give {}, or a file name that ends in `.{}`; docs/formats.md has the difference",
                    keys.join(" or "),
                    endings.join("` or `.")
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
            Self::Field { key, expected, .. } if expected.contains("number") => {
                format!("write `{key}` as {expected}, without sign and separators")
            }
            Self::Field { key, expected, .. } => format!("write `{key}` as {expected}"),
            Self::Refused { help, .. } => (*help).into(),
            Self::Record(fault) => fault.help(),
        }
    }
}
