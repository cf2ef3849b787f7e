//! Definition of a trace format.

use std::fmt;

use super::FORMATS;
use super::error::Fault;
use super::fields::Fields;
use super::record::Record;

/// A format of memory traces.
pub struct Format {
    /// Name in scenarios.
    pub name: &'static str,
    /// An example record, for messages.
    pub example: &'static str,
    /// Specification of arrivals in its records.
    pub timing: Timing,
    /// Whether the first fields of a line match this format.
    pub(super) recognises: fn(Fields<'_>) -> bool,
    /// Creates a parser at the first line.
    pub(super) parser: fn() -> Parser,
    /// Appends the line of a record, without its end. The error names what this format cannot
    /// express.
    pub(super) write: fn(&Record, &mut Vec<u8>) -> Result<(), &'static str>,
}

/// A parser of records. It is called with each line that is neither blank nor a comment, in order,
/// and takes all fields of a record; it returns `None` for a line without a record. It may store
/// state for later lines.
pub(super) type Parser = Box<dyn FnMut(&mut Fields<'_>) -> Result<Option<Record>, Box<Fault>> + Send>;

/// Specification of arrivals in the records of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// By the instructions between records. The trace does not specify the instructions per memory
    /// clock.
    Instructions,
    /// By times, or not at all.
    Times,
}

impl Format {
    /// The format with this name.
    pub fn named(name: &str) -> Option<&'static Format> {
        FORMATS.into_iter().find(|format| format.name == name)
    }

    /// The format that a line matches.
    pub(super) fn of(line: Fields<'_>) -> Option<&'static Format> {
        FORMATS.into_iter().find(|format| (format.recognises)(line))
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Format) -> bool {
        self.name == other.name
    }
}

impl Eq for Format {}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
