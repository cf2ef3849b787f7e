//! What a trace format is made of.

use std::fmt;

use super::FORMATS;
use super::error::Fault;
use super::fields::Fields;
use super::record::Record;

/// A format of memory traces.
pub struct Format {
    /// As scenarios name it.
    pub name: &'static str,
    /// A record in it, for messages.
    pub example: &'static str,
    /// How its records say when they arrive.
    pub timing: Timing,
    /// Whether a line is a record of this format, as far as its first fields tell.
    pub(super) recognises: fn(Fields<'_>) -> bool,
    /// A parser, before the first line.
    pub(super) parser: fn() -> Parser,
    /// Appends the line of a record, without its end. An error names what of the record this format cannot express.
    pub(super) write: fn(&Record, &mut Vec<u8>) -> Result<(), &'static str>,
}

/// Makes records of lines. It is given each line that is neither blank nor a comment, in order, and takes its fields, all of them
/// for a record; a line without a record gives nothing. It may keep what later lines need.
pub(super) type Parser = Box<dyn FnMut(&mut Fields<'_>) -> Result<Option<Record>, Box<Fault>> + Send>;

/// How the records of a format say when they arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// By the instructions between them. How many pass per clock of the memory, the trace does not say.
    Instructions,
    /// By their times, or not at all.
    Times,
}

impl Format {
    /// The format of that name.
    pub fn named(name: &str) -> Option<&'static Format> {
        FORMATS.into_iter().find(|format| format.name == name)
    }

    /// The format that a line is a record of.
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
