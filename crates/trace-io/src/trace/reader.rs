//! Trace reader.

use std::io::{Cursor, Read};
use std::path::Path;
use std::{fmt, mem};

use super::batch::{Batch, Parser, Stop};
use super::error::TraceError;
use super::format::Format;
use super::perf;
use super::record::Record;
use super::recorded_faults::RecordedFaults;
use crate::fields::Fields;
use crate::line::{LineError, Lines, is_too_long};
use crate::number;
use crate::recording::MAGIC;
use crate::text::Text;

/// Iterator over the records of a trace in plain, gzip or zstd text, or of a recording of page faults, which has those
/// of the format `perf`. Blank lines and comments are skipped.
///
/// It ends with the input or after the first error. Its memory does not depend on the length of the
/// trace. A trace without records is an error.
pub struct Reader<R: Read> {
    source: Source<R>,
    format: &'static Format,
    /// Records read ahead, and the number of those returned.
    batch: Batch,
    returned: usize,
    state: State,
}

/// Where the records are from.
enum Source<R: Read> {
    Lines(RecordLines<R>),
    Faults(Box<RecordedFaults<R>>),
}

/// Lines with records.
struct RecordLines<R: Read> {
    lines: Lines<Text<R>>,
    format: &'static Format,
    parser: Parser,
    /// Reason why the line after the batch cannot be read.
    stop: Option<Stop>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No record has been read.
    Searching,
    Reading,
    Ended,
}

impl<R: Read> Reader<R> {
    /// Opens a trace of the given format, or of the format that its first record matches.
    ///
    /// # Errors
    /// [`TraceError::Line`] if the first record cannot be read, [`TraceError::Empty`] if the trace
    /// has no record. If no format is given: [`TraceError::UnknownFormat`] if none matches,
    /// [`TraceError::Ambiguous`] if several do. [`TraceError::Recording`] or [`TraceError::Accesses`]
    /// if a recording is damaged, or is not of page faults.
    pub fn new(input: R, format: Option<&'static Format>) -> Result<Self, TraceError> {
        Self::open(input, format, None)
    }

    /// Opens a trace of the format that its first record matches. The extension of the file name
    /// decides if several formats match, or none.
    ///
    /// # Errors
    /// Those of [`Self::new`].
    pub fn with_name(input: R, file_name: &Path) -> Result<Self, TraceError> {
        Self::open(input, None, Format::of_name(file_name))
    }

    fn open(input: R, format: Option<&'static Format>, by_name: Option<&'static Format>) -> Result<Self, TraceError> {
        let text = Text::new(input).map_err(|source| LineError::Read { line: 1, offset: 0, source })?;
        let mut lines = Lines::new(text);
        let ahead = lines.look_ahead();
        if lines.begins_with(&MAGIC) && format.is_none_or(|format| *format == perf::FORMAT) {
            let (start, rest) = lines.into_bytes();
            let faults = RecordedFaults::new(Cursor::new(start).chain(rest))?;
            return Ok(Self::of_source(Source::Faults(Box::new(faults)), &perf::FORMAT));
        }
        ahead?;
        if !find_fields(&mut lines)? {
            return Err(TraceError::Empty { line: lines.number().max(1) });
        }
        let (first, line) = (Fields::new(lines.ahead()), lines.number() + 1);
        let format = match (format, &Format::matching(first)[..]) {
            (Some(format), _) | (None, &[format]) => format,
            (None, []) => by_name.ok_or_else(|| TraceError::UnknownFormat { line, found: first.shown() })?,
            (None, several) => by_name
                .filter(|format| several.contains(format))
                .ok_or_else(|| TraceError::Ambiguous { line, found: first.shown(), formats: several.to_vec() })?,
        };
        let lines = RecordLines { lines, format, parser: (format.parser)(), stop: None };
        Ok(Self::of_source(Source::Lines(lines), format))
    }

    fn of_source(source: Source<R>, format: &'static Format) -> Self {
        Reader { source, format, batch: Batch::default(), returned: 0, state: State::Searching }
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
                Source::Lines(source) => source.lines.number(),
                Source::Faults(faults) => faults.block(),
            },
            |(_, line)| *line,
        )
    }

    /// Reads the next record; `None` at the end, and after an error.
    ///
    /// # Errors
    /// If the next line cannot be read, or is not a record of the format.
    #[inline]
    pub fn read(&mut self) -> Result<Option<&Record>, TraceError> {
        if self.returned == self.batch.records.len() && !self.read_batch()? {
            return Ok(None);
        }
        self.returned += 1;
        Ok(self.batch.records.get(self.returned - 1).map(|(record, _)| record))
    }

    /// Reads a batch of at least one record; `false` at the end, and after an error.
    #[inline(never)]
    fn read_batch(&mut self) -> Result<bool, TraceError> {
        self.returned = 0;
        self.batch.records.clear();
        self.batch.data.clear();
        while self.batch.records.is_empty() && self.state != State::Ended {
            let read = match &mut self.source {
                Source::Lines(lines) => lines.read(&mut self.batch),
                Source::Faults(faults) => faults.read(&mut self.batch),
            };
            if !matches!(read, Ok(true)) {
                return match (mem::replace(&mut self.state, State::Ended), read) {
                    (State::Searching, Ok(_)) => Err(TraceError::Empty { line: self.line().max(1) }),
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
    fn read(&mut self, batch: &mut Batch) -> Result<bool, TraceError> {
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
    fn fault(&self, stop: Stop) -> TraceError {
        let line = self.lines.number() + 1;
        let fault = match stop {
            Stop::Fault(fault) => fault,
            Stop::TooLong => return LineError::TooLong { line }.into(),
        };
        let matching = Format::matching(Fields::new(self.lines.ahead()));
        let other = if matching.contains(&self.format) { None } else { matching.first().copied() };
        TraceError::Record { line, fault, other }
    }
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
            return Err(LineError::TooLong { line: lines.number() });
        }
    }
    Ok(false)
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Record, TraceError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.read().map(Option::<&Record>::copied).transpose()
    }
}

impl<R: Read> std::iter::FusedIterator for Reader<R> {}

impl<R: Read> fmt::Debug for Reader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("format", &self.format)
            .field("line", &self.line())
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}
