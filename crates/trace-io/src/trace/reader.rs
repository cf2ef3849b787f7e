//! Trace reader.

use std::fmt;
use std::io::Read;
use std::path::Path;

use super::error::{Fault, TraceError};
use super::fields::Fields;
use super::format::{Format, Parser};
use super::record::Record;
use crate::line::{LineError, Lines};
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
    /// The second record of the last line, if it is still to be returned.
    second: Option<Record>,
    /// Digits of the data of the last record.
    data: Vec<u8>,
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
        Ok(Reader { lines, format, parser: (format.parser)(), second: None, data: Vec::new(), state: State::Searching })
    }

    /// Format of the trace.
    pub const fn format(&self) -> &'static Format {
        self.format
    }

    /// Bytes that the last record returned writes, if the trace has them. They begin at its address;
    /// without a size, they are those of its line.
    pub fn data(&self) -> Option<Vec<u8>> {
        let byte = |digits: &[u8]| number::hex(digits).map_or(0, |byte| byte as u8);
        (!self.data.is_empty()).then(|| self.data.chunks(2).map(byte).collect())
    }

    /// Whether the trace has the data that the last record returned writes.
    pub const fn has_data(&self) -> bool {
        !self.data.is_empty()
    }

    /// Line of the last record returned, counted from 1.
    pub const fn line(&self) -> u64 {
        self.lines.number()
    }

    /// Returns the error for the next line, which was read ahead, and ends the iteration.
    #[cold]
    fn fail(&mut self, fault: Box<Fault>) -> TraceError {
        self.state = State::Ended;
        self.second = None;
        let matching = Format::matching(Fields::new(self.lines.ahead()));
        let other = if matching.contains(&self.format) { None } else { matching.first().copied() };
        TraceError::Record { line: self.lines.number() + 1, fault, other }
    }

    /// Skips lines without fields; `None` at the end of the input.
    fn find_fields(&mut self) -> Option<Result<(), TraceError>> {
        let error = match find_fields(&mut self.lines) {
            Ok(true) => return Some(Ok(())),
            Ok(false) if self.state == State::Searching => TraceError::Empty { line: self.lines.number().max(1) },
            Ok(false) => {
                self.state = State::Ended;
                return None;
            }
            Err(error) => error.into(),
        };
        self.state = State::Ended;
        Some(Err(error))
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
        if !lines.take(length) {
            return Err(LineError::TooLong { line: lines.number() });
        }
    }
    Ok(false)
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Record, TraceError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.second.is_some() {
            return self.second.take().map(Ok);
        }
        if self.state == State::Ended {
            return None;
        }
        loop {
            // Blank lines and comments begin with bytes up to `#`; records begin with greater
            // bytes, usually after at most one blank.
            let mut ahead = self.lines.ahead();
            if !matches!(ahead, [b'$'..=0xff, ..] | [b' ', b'$'..=0xff, ..]) {
                if let Err(error) = self.find_fields()? {
                    return Some(Err(error));
                }
                ahead = self.lines.ahead();
            }
            let mut fields = Fields::new(ahead);
            let parsed = (self.parser)(&mut fields);
            self.data.clear();
            self.data.extend_from_slice(fields.data());
            if fields.modifies() {
                self.second = parsed.as_ref().ok().and_then(Option::as_ref).and_then(Record::written_back);
            }
            let length = match &parsed {
                Ok(Some(record)) => record.check().map_err(|fault| Box::new(fault.into())).and_then(|()| fields.end()),
                Ok(None) => fields.end(),
                Err(_) => Ok(0),
            };
            let length = match length {
                Ok(length) => length,
                Err(fault) => return Some(Err(self.fail(fault))),
            };
            match parsed {
                Err(fault) => return Some(Err(self.fail(fault))),
                Ok(_) if !self.lines.take(length) => {
                    self.state = State::Ended;
                    self.second = None;
                    return Some(Err(LineError::TooLong { line: self.lines.number() }.into()));
                }
                Ok(Some(record)) => {
                    self.state = State::Reading;
                    return Some(Ok(record));
                }
                Ok(None) => {}
            }
        }
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
