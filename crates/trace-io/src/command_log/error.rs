//! Errors of command logs.

use dram_spec::GeometryError;

use super::{COLUMNS, VERSION_LINE, header};
use crate::line::LineError;

/// Reason why a command log cannot be read, with the line (counted from 1).
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The line cannot be read.
    #[error(transparent)]
    Line(#[from] LineError),
    /// The first line is not that of a command log of this version.
    #[error("line {line}: is `{found}`, but a command log begins with `{VERSION_LINE}`")]
    Version {
        /// Line.
        line: u64,
        /// Text of the line.
        found: String,
    },
    /// A header line is neither `# key = value` nor the line of column names that ends the header.
    #[error("line {line}: is `{found}`, but the header has lines `# key = value`, and then the column names")]
    HeaderLine {
        /// Line.
        line: u64,
        /// Text of the line.
        found: String,
    },
    /// The log lacks the line of column names that ends the header.
    #[error("line {line}: the log ends within its header")]
    NoColumns {
        /// Line after the last.
        line: u64,
    },
    /// The header has no such key.
    #[error("line {line}: `{found}` is not a key of the header")]
    UnknownKey {
        /// Line.
        line: u64,
        /// Key.
        found: String,
    },
    /// A key occurs twice.
    #[error("line {line}: `{key}` was given in line {first} already")]
    Duplicate {
        /// Line.
        line: u64,
        /// Key.
        key: &'static str,
        /// Line of the first occurrence.
        first: u64,
    },
    /// The header lacks a key.
    #[error("line {line}: the header ends without `{key}`")]
    Missing {
        /// Line that ends the header.
        line: u64,
        /// Key.
        key: &'static str,
    },
    /// The header has both `t_refi_ps` and `refresh`.
    #[error("line {line}: refresh is off, and yet `t_refi_ps` is given")]
    RefreshTwice {
        /// The later of the two lines.
        line: u64,
    },
    /// The value of a key is invalid.
    #[error("line {line}: `{key}` is `{found}`, but must be {expected}")]
    Value {
        /// Line.
        line: u64,
        /// Key.
        key: &'static str,
        /// Value found.
        found: String,
        /// Valid values.
        expected: String,
    },
    /// A key that has no effect in the standard of the bin.
    #[error("line {line}: `{key}` is given, but has no effect in {standard}")]
    NoEffect {
        /// Line.
        line: u64,
        /// Key.
        key: &'static str,
        /// Name of the standard.
        standard: &'static str,
    },
    /// A value is inconsistent with the others.
    #[error("line {line}: {source}")]
    Geometry {
        /// Line of the inconsistent key.
        line: u64,
        /// Reason.
        source: GeometryError,
    },
    /// A command has too few or too many cells.
    #[error("line {line}: has {found} cells, but a command has {}", COLUMNS.len())]
    CellCount {
        /// Line.
        line: u64,
        /// Number of cells.
        found: usize,
    },
    /// A cell is invalid for its command.
    #[error("line {line}: `{column}` is {}, but must be {expected}", quoted(found))]
    Cell {
        /// Line.
        line: u64,
        /// Name of the column.
        column: &'static str,
        /// Value found.
        found: String,
        /// Valid values.
        expected: String,
    },
}

fn quoted(cell: &str) -> String {
    if cell.is_empty() { "empty".into() } else { format!("`{cell}`") }
}

impl LogError {
    /// Line, counted from 1.
    pub const fn line(&self) -> u64 {
        match self {
            Self::Line(error) => error.line(),
            Self::Version { line, .. }
            | Self::HeaderLine { line, .. }
            | Self::NoColumns { line }
            | Self::UnknownKey { line, .. }
            | Self::Duplicate { line, .. }
            | Self::Missing { line, .. }
            | Self::RefreshTwice { line }
            | Self::Value { line, .. }
            | Self::NoEffect { line, .. }
            | Self::Geometry { line, .. }
            | Self::CellCount { line, .. }
            | Self::Cell { line, .. } => *line,
        }
    }

    /// Suggested change.
    pub fn help(&self) -> String {
        match self {
            Self::Line(error) => error.help(),
            Self::Version { found, .. } if found.starts_with(VERSION_LINE.trim_end_matches(char::is_numeric)) => {
                "this program reads version 1: use the rowclone-sim that wrote the log, or write the log again".into()
            }
            Self::Version { .. } => {
                "give a log that `rowclone-sim` wrote, or put the header of one before the commands".into()
            }
            Self::HeaderLine { .. } => {
                format!("after the last key comes `{}`, and then the commands", COLUMNS.join(","))
            }
            Self::NoColumns { .. } => {
                format!("the log was cut short: write it again, or end the header with `{}`", COLUMNS.join(","))
            }
            Self::UnknownKey { .. } => format!("the keys are {}", header::KEYS.map(|(key, _)| key).join(", ")),
            Self::Duplicate { first, .. } => format!("keep one of lines {first} and {}", self.line()),
            Self::Missing { key: "t_refi_ps", .. } => {
                "add `# t_refi_ps = 7800000`, or `# refresh = off`, before the column names".into()
            }
            Self::Missing { key, .. } => {
                format!("add a line such as `# {key} = {}` before the column names", header::example(key))
            }
            Self::RefreshTwice { .. } => {
                "keep `t_refi_ps` for a run with refresh, `refresh = off` for one without".into()
            }
            Self::Value { key, .. } => format!("write for example `# {key} = {}`", header::example(key)),
            Self::NoEffect { .. } => "leave the line out".into(),
            Self::Geometry { source, .. } => source.help(),
            Self::CellCount { .. } => {
                format!("give each of `{}` its cell; those that a command does not use stay empty", COLUMNS.join(","))
            }
            Self::Cell { expected, .. } if expected.starts_with("empty") => {
                "empty the cell, or correct the command".into()
            }
            Self::Cell { column, expected, .. } => format!("write {expected} into `{column}`"),
        }
    }
}
