//! Trace reader.

use std::fmt;
use std::io::Read;
use std::path::Path;

use super::batch::{Batch, Parser, Stop};
use super::error::TraceError;
use super::format::Format;
use super::record::Record;
use crate::fields::Fields;
use crate::line::{LineError, Lines, is_too_long};
use crate::number;
use crate::text::Text;

/// Iterator over the records of a trace in plain, gzip or zstd text. Blank lines and comments are
/// skipped.
///
/// It ends with the input or after the first error. Its memory does not depend on the length of the
/// trace. A trace without records is an error.
pub struct Reader<R: Read> {
    lines: Lines<Text<R>>,
    format: &'static Format,
    parser: Parser,
    /// Records read ahead, and the number of those returned.
    batch: Batch,
    returned: usize,
    /// Reason why the line after the batch cannot be read.
    stop: Option<Stop>,
    state: State,
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
    /// [`TraceError::Ambiguous`] if several do.
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
        Ok(Reader {
            lines,
            format,
            parser: (format.parser)(),
            batch: Batch::default(),
            returned: 0,
            stop: None,
            state: State::Searching,
        })
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

    /// Line of the last record returned, counted from 1; at the end, the last line.
    pub fn line(&self) -> u64 {
        let last = self.returned.checked_sub(1).and_then(|last| self.batch.records.get(last));
        last.map_or(self.lines.number(), |(_, line)| *line)
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
            if let Some(stop) = self.stop.take() {
                return Err(self.fail(stop));
            }
            if !self.find_fields()? {
                return Ok(false);
            }
            let number = self.lines.number();
            self.batch.line = number;
            let (length, stop) = (self.parser)(self.lines.ahead(), &mut self.batch);
            self.lines.take(self.batch.line - number, length);
            self.stop = stop;
        }
        if self.state == State::Searching {
            self.state = State::Reading;
        }
        Ok(self.state != State::Ended)
    }

    /// Returns the error for the next line, which was read ahead, and ends the iteration.
    #[cold]
    fn fail(&mut self, stop: Stop) -> TraceError {
        self.state = State::Ended;
        let line = self.lines.number() + 1;
        let fault = match stop {
            Stop::Fault(fault) => fault,
            Stop::TooLong => return LineError::TooLong { line }.into(),
        };
        let matching = Format::matching(Fields::new(self.lines.ahead()));
        let other = if matching.contains(&self.format) { None } else { matching.first().copied() };
        TraceError::Record { line, fault, other }
    }

    /// Skips lines without fields; `false` at the end of the input.
    fn find_fields(&mut self) -> Result<bool, TraceError> {
        let found = match find_fields(&mut self.lines) {
            Ok(true) => return Ok(true),
            Ok(false) if self.state == State::Searching => Err(TraceError::Empty { line: self.lines.number().max(1) }),
            Ok(false) => Ok(false),
            Err(error) => Err(error.into()),
        };
        self.state = State::Ended;
        found
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
