//! Definition of a trace format.

use std::iter;
use std::path::Path;

use super::FORMATS;
use super::batch::Parser;
use super::record::{Arrival, Record};
use crate::fields::Fields;
use crate::text::extension;
use crate::{ErrorKind, LineError};

/// A format of memory traces.
#[derive(derive_more::Debug)]
#[debug("{name}")]
pub struct Format {
    /// Name in scenarios.
    pub name: &'static str,
    /// Other names in scenarios.
    pub aliases: &'static [&'static str],
    /// Extension of file names, which decides between formats with equal records.
    pub extension: Option<&'static str>,
    /// An example record, for messages.
    pub example: &'static str,
    /// Specification of arrivals in its records.
    pub timing: RecordTiming,
    /// Address space of its records.
    pub addresses: Addresses,
    /// Accesses of the program that its records contain.
    pub recorded: Recorded,
    /// Whether the first fields of a line match this format.
    pub(super) recognizes: fn(Fields<'_>) -> bool,
    /// Creates a parser at the first line.
    pub(super) parser: fn() -> Parser,
    /// Appends the line of a record, without its end; `None` if the format is only read. The error
    /// names what this format cannot express. The kind of arrival is that of `timing`.
    pub(super) write: Option<WriteRecord>,
}

/// Writer of a record.
pub(super) type WriteRecord = fn(&Record, &mut Vec<u8>) -> Result<(), &'static str>;

/// Specification of arrivals in the records of a format: the kinds of
/// [`Arrival`](super::Arrival) that it reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordTiming {
    /// None: each record arrives when its predecessor has been taken.
    None,
    /// By the instructions between records. The trace does not specify the instructions per memory
    /// clock.
    Instructions,
    /// By the cycle of each record.
    AtCycles,
    /// By the cycles between records.
    AfterCycles,
    /// By cycles or times, or not at all, as each record specifies.
    Times,
}

/// Address space of the records of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// Physical addresses.
    Physical,
    /// Virtual addresses, to which a simulated kernel must assign page frames.
    Virtual,
    /// Physical or virtual addresses; the trace does not specify which.
    Either,
    /// Virtual addresses of several processes, whose page faults a simulated kernel serves.
    Processes,
    /// DRAM coordinates.
    Coordinates,
}

dram_spec::named! {
    /// Part of a program's accesses that the records of a format contain.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Recorded {
        /// All accesses.
        EveryAccess = "every-access",
        /// Misses and write-backs of a first-level cache.
        BehindFirstLevel = "behind-first-level",
        /// Misses and write-backs of a last-level cache, or other requests to memory.
        BehindLastLevel = "behind-last-level",
        /// None, but page faults, forks and exits.
        OsEvents = "os-events",
    }
}

impl Recorded {
    /// What the records are, in words.
    pub const fn description(self) -> &'static str {
        match self {
            Recorded::EveryAccess => "every access of the program, not filtered by a cache",
            Recorded::BehindFirstLevel => "accesses behind a first-level cache: its misses and write-backs",
            Recorded::BehindLastLevel => "requests to memory: misses and write-backs of the last-level cache",
            Recorded::OsEvents => "page faults, forks and exits, no accesses",
        }
    }
}

impl RecordTiming {
    /// Whether a record of a format with this timing may have the arrival.
    pub const fn admits(self, arrival: Arrival) -> bool {
        match arrival {
            Arrival::WhenTaken => matches!(self, RecordTiming::None | RecordTiming::Times),
            Arrival::AfterInstructions(_) => matches!(self, RecordTiming::Instructions),
            Arrival::AtCycle(_) => matches!(self, RecordTiming::AtCycles | RecordTiming::Times),
            Arrival::AfterCycles(_) => matches!(self, RecordTiming::AfterCycles),
            Arrival::AtPicoseconds(_) => matches!(self, RecordTiming::Times),
        }
    }
}

impl Format {
    /// The format with this name or alias.
    pub fn named(name: &str) -> Option<&'static Format> {
        Format::names().find(|(known, _)| *known == name).map(|(_, format)| format)
    }

    /// All names and aliases, with their formats.
    pub fn names() -> impl Iterator<Item = (&'static str, &'static Format)> {
        let names = |format: &'static Format| iter::once(&format.name).chain(format.aliases);
        FORMATS.into_iter().flat_map(move |format| names(format).map(move |name| (*name, format)))
    }

    /// Whether a [`TraceWriter`](super::TraceWriter) of this format exists.
    pub const fn is_written(&self) -> bool {
        self.write.is_some()
    }

    /// The error for what the format cannot express.
    pub(super) fn lacks(&self, what: &str) -> LineError {
        let help = "leave out and count such records with `--drop-unsupported`, or write another format: \
                    docs/formats.md has what each can express";
        LineError::new(format!("{what} cannot be written in the format `{}`", self.name), help)
            .of_kind(ErrorKind::Unsupported)
    }

    /// The formats that a line matches.
    pub(super) fn matching(line: Fields<'_>) -> Vec<&'static Format> {
        let mut matching: Vec<_> = FORMATS.into_iter().filter(|format| (format.recognizes)(line)).collect();
        // A line of a recording begins with the command of a process, which may look like any record.
        let is_recording = |format: &&Format| format.addresses == Addresses::Processes;
        if matching.iter().any(is_recording) {
            matching.retain(is_recording);
        }
        matching
    }

    /// The format of a file name: the extension, before `.gz` or `.zst` if the name ends in one.
    pub(super) fn of_name(name: &Path) -> Option<&'static Format> {
        let extension = extension(name.file_name()?.to_str()?)?;
        FORMATS.into_iter().find(|format| format.extension == Some(extension))
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Format) -> bool {
        self.name == other.name
    }
}

impl Eq for Format {}
