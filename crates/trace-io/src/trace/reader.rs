//! Trace reader.

use std::io::{Cursor, Read};
use std::mem;
use std::path::Path;

use super::FORMATS;
use super::batch::{Batch, Parser};
use super::format::Format;
use super::perf;
use super::record::Record;
use super::recorded_faults::RecordedFaults;
use crate::fields::Fields;
use crate::line::{Lines, is_too_long, too_long};
use crate::number;
use crate::recording::MAGIC;
use crate::text::Text;
use crate::{ErrorKind, LineError};

/// Iterator over the records of a trace in plain, gzip or zstd text, or of a recording of page faults, which has those
/// of the format `perf`. Blank lines and comments are skipped.
///
/// It ends with the input or after the first error. Its memory does not depend on the length of the
/// trace. A trace without records is an error.
#[derive(derive_more::Debug)]
#[debug("TraceReader {{ format: {format:?}, line: {}, state: {state:?} }}", self.line())]
pub struct TraceReader<R: Read> {
    source: RecordSource<R>,
    format: &'static Format,
    /// Records read ahead, and the number of those returned.
    batch: Batch,
    returned: usize,
    state: State,
}

/// Where the records are from.
enum RecordSource<R: Read> {
    Lines(RecordLines<R>),
    Faults(Box<RecordedFaults<R>>),
}

/// Lines with records.
struct RecordLines<R: Read> {
    lines: Lines<Text<R>>,
    format: &'static Format,
    parser: Parser,
    /// Reason why the line after the batch cannot be read.
    stop: Option<LineError>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No record has been read.
    Searching,
    Reading,
    Ended,
}

impl<R: Read> TraceReader<R> {
    /// Opens a trace of the given format, or of the format that its first record matches.
    ///
    /// # Errors
    /// If the first record cannot be read, or a recording is damaged or is not of page faults.
    /// [`ErrorKind::Unrecognized`] if the trace has no record, or no format is given and none matches;
    /// [`ErrorKind::Ambiguous`] if several do.
    pub fn new(input: R, format: Option<&'static Format>) -> Result<Self, LineError> {
        Self::open(input, format, None)
    }

    /// Opens a trace of the format that its first record matches. The extension of the file name
    /// decides if several formats match, or none.
    ///
    /// # Errors
    /// Those of [`Self::new`].
    pub fn with_name(input: R, file_name: &Path) -> Result<Self, LineError> {
        Self::open(input, None, Format::of_name(file_name))
    }

    fn open(input: R, format: Option<&'static Format>, by_name: Option<&'static Format>) -> Result<Self, LineError> {
        let text = Text::new(input).map_err(|source| LineError::reading(1, 0, source))?;
        let mut lines = Lines::new(text);
        let ahead = lines.look_ahead();
        if lines.begins_with(&MAGIC) && format.is_none_or(|format| *format == perf::FORMAT) {
            let (start, rest) = lines.into_bytes();
            let faults = RecordedFaults::new(Cursor::new(start).chain(rest))?;
            return Ok(Self::of_source(RecordSource::Faults(Box::new(faults)), &perf::FORMAT));
        }
        ahead?;
        if !find_fields(&mut lines)? {
            return Err(empty(lines.number()));
        }
        let (first, line) = (Fields::new(lines.ahead()), lines.number() + 1);
        let format = match (format, &Format::matching(first)[..]) {
            (Some(format), _) | (None, &[format]) => format,
            (None, []) => by_name.ok_or_else(|| unknown_format(first).in_line(line))?,
            (None, several) => by_name
                .filter(|format| several.contains(format))
                .ok_or_else(|| ambiguous(first, several).in_line(line))?,
        };
        let lines = RecordLines { lines, format, parser: (format.parser)(), stop: None };
        Ok(Self::of_source(RecordSource::Lines(lines), format))
    }

    fn of_source(source: RecordSource<R>, format: &'static Format) -> Self {
        TraceReader { source, format, batch: Batch::default(), returned: 0, state: State::Searching }
    }

    /// Format of the trace.
    pub const fn format(&self) -> &'static Format {
        self.format
    }

    /// Bytes that the last record returned writes, if the trace has them. They begin at its address;
    /// without a size, they are those of its line.
    pub fn data(&self) -> Option<Vec<u8>> {
        let byte = |digits: &[u8]| number::hex(digits).map_or(0, |byte| byte as u8);
        self.has_data().then(|| self.batch.data.chunks(2).map(byte).collect())
    }

    /// Whether the trace has the data that the last record returned writes.
    #[inline]
    pub const fn has_data(&self) -> bool {
        !self.batch.data.is_empty() && self.returned == self.batch.records.len()
    }

    /// Line of the last record returned, counted from 1; at the end, the last line. Of a recording, the
    /// number of the block.
    pub fn line(&self) -> u64 {
        let last = self.returned.checked_sub(1).and_then(|last| self.batch.records.get(last));
        last.map_or_else(
            || match &self.source {
                RecordSource::Lines(source) => source.lines.number(),
                RecordSource::Faults(faults) => faults.block(),
            },
            |(_, line)| *line,
        )
    }

    /// Reads the next record; `None` at the end, and after an error.
    ///
    /// # Errors
    /// If the next line cannot be read, or is not a record of the format.
    #[inline]
    pub fn read(&mut self) -> Result<Option<&Record>, LineError> {
        if self.returned == self.batch.records.len() && !self.read_batch()? {
            return Ok(None);
        }
        self.returned += 1;
        Ok(self.batch.records.get(self.returned - 1).map(|(record, _)| record))
    }

    /// Reads a batch of at least one record; `false` at the end, and after an error.
    #[inline(never)]
    fn read_batch(&mut self) -> Result<bool, LineError> {
        self.returned = 0;
        self.batch.records.clear();
        self.batch.data.clear();
        while self.batch.records.is_empty() && self.state != State::Ended {
            let read = match &mut self.source {
                RecordSource::Lines(lines) => lines.read(&mut self.batch),
                RecordSource::Faults(faults) => faults.read(&mut self.batch),
            };
            if !matches!(read, Ok(true)) {
                return match (mem::replace(&mut self.state, State::Ended), read) {
                    (State::Searching, Ok(_)) => Err(empty(self.line())),
                    (_, read) => read,
                };
            }
        }
        if self.state == State::Searching {
            self.state = State::Reading;
        }
        Ok(self.state != State::Ended)
    }
}

impl<R: Read> RecordLines<R> {
    /// Reads records of the next lines, or none; `false` at the end of the input.
    fn read(&mut self, batch: &mut Batch) -> Result<bool, LineError> {
        if let Some(stop) = self.stop.take() {
            return Err(self.fault(stop));
        }
        if !find_fields(&mut self.lines)? {
            return Ok(false);
        }
        let number = self.lines.number();
        batch.line = number;
        let (length, stop) = (self.parser)(self.lines.ahead(), batch);
        self.lines.take(batch.line - number, length);
        self.stop = stop;
        Ok(true)
    }

    /// The error for the next line, which was read ahead.
    #[cold]
    fn fault(&self, stop: LineError) -> LineError {
        // The error of a line that is too long has its line.
        if stop.line() > 0 {
            return stop;
        }
        let matching = Format::matching(Fields::new(self.lines.ahead()));
        let other = matching.first().filter(|_| !matching.contains(&self.format));
        let stop = match other {
            Some(Format { name, .. }) => stop.with_help(format!(
                "this is a record of another format: read the whole trace as that (`format = \"{name}\"`)"
            )),
            None => stop,
        };
        stop.in_line(self.lines.number() + 1)
    }
}

/// The error for a trace without records, which ends at a line.
fn empty(line: u64) -> LineError {
    let help = "give a trace of at least one record; docs/formats.md says what a record is";
    LineError::new("the trace holds no record", help).at(line.max(1)).of_kind(ErrorKind::Unrecognized)
}

/// The error for a first record that matches no format.
fn unknown_format(first: Fields<'_>) -> LineError {
    let formats = FORMATS.map(|format| format!("`{}`", format.name)).join(", ");
    let help = format!("give a trace in one of the formats {formats}, plain, gzip or zstd; docs/formats.md shows each");
    LineError::new(format!("`{}` is a record of no trace format", first.shown()), help).of_kind(ErrorKind::Unrecognized)
}

/// The error for a first record that matches several formats.
fn ambiguous(first: Fields<'_>, formats: &[&Format]) -> LineError {
    let names = |name: fn(&str) -> String, separator| {
        formats.iter().map(|format| name(format.name)).collect::<Vec<_>>().join(separator)
    };
    let endings: Vec<&str> = formats.iter().filter_map(|format| format.extension).collect();
    let help = format!(
        "give {}, or a file name that ends in `.{}`; docs/formats.md has the difference",
        names(|name| format!("`format = \"{name}\"`"), " or "),
        endings.join("` or `.")
    );
    let names = names(|name| format!("`{name}`"), " and ");
    LineError::new(format!("`{}` is a record of the formats {names}", first.shown()), help)
        .of_kind(ErrorKind::Ambiguous)
}

/// Skips lines without fields; `false` at the end of the input.
fn find_fields<R: Read>(lines: &mut Lines<Text<R>>) -> Result<bool, LineError> {
    while lines.look_ahead()? {
        let mut fields = Fields::new(lines.ahead());
        if !fields.is_empty() {
            return Ok(true);
        }
        let length = fields.length();
        let is_too_long = is_too_long(&lines.ahead()[..length]);
        lines.take(1, length);
        if is_too_long {
            return Err(too_long(lines.number()));
        }
    }
    Ok(false)
}

impl<R: Read> Iterator for TraceReader<R> {
    type Item = Result<Record, LineError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.read().map(Option::<&Record>::copied).transpose()
    }
}

impl<R: Read> std::iter::FusedIterator for TraceReader<R> {}
