//! Trace reader.

use std::fmt;
use std::io::Read;

use super::error::{Fault, TraceError};
use super::fields::Fields;
use super::format::{Format, Parser};
use super::record::Record;
use crate::line::{LineError, Lines};
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
    /// has no record, [`TraceError::UnknownFormat`] if no format is given and none matches.
    pub fn new(input: R, format: Option<&'static Format>) -> Result<Self, TraceError> {
        let text = Text::new(input).map_err(|source| LineError::Read { line: 1, source })?;
        let mut lines = Lines::new(text);
        if !find_fields(&mut lines)? {
            return Err(TraceError::Empty { line: lines.number().max(1) });
        }
        let first = Fields::new(lines.ahead());
        let format = format.or_else(|| Format::of(first));
        let unknown = || TraceError::UnknownFormat { line: lines.number() + 1, found: first.shown() };
        let format = format.ok_or_else(unknown)?;
        Ok(Reader { lines, format, parser: (format.parser)(), state: State::Searching })
    }

    /// Format of the trace.
    pub const fn format(&self) -> &'static Format {
        self.format
    }

    /// Line of the last record returned, counted from 1.
    pub const fn line(&self) -> u64 {
        self.lines.number()
    }

    /// Returns the error for the next line, which was read ahead, and ends the iteration.
    #[cold]
    fn fail(&mut self, fault: Box<Fault>) -> TraceError {
        self.state = State::Ended;
        let other = Format::of(Fields::new(self.lines.ahead())).filter(|format| *format != self.format);
        TraceError::Record { line: self.lines.number() + 1, fault, other }
    }

    /// Skips lines without fields; `None` at the end of the input.
    #[cold]
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
        if self.state == State::Ended {
            return None;
        }
        loop {
            // Blank lines and comments begin with bytes up to `#`; records begin with greater
            // bytes.
            let mut ahead = self.lines.ahead();
            if ahead.first().is_none_or(|&byte| byte <= b'#') {
                if let Err(error) = self.find_fields()? {
                    return Some(Err(error));
                }
                ahead = self.lines.ahead();
            }
            let mut fields = Fields::new(ahead);
            let parsed = (self.parser)(&mut fields);
            let length = match &parsed {
                Ok(Some(record)) => record.check().map_err(|fault| Box::new(fault.into())).and_then(|()| fields.end()),
                Ok(None) | Err(_) => Ok(fields.length()),
            };
            let length = match length {
                Ok(length) => length,
                Err(fault) => return Some(Err(self.fail(fault))),
            };
            match parsed {
                Err(fault) => return Some(Err(self.fail(fault))),
                Ok(_) if !self.lines.take(length) => {
                    self.state = State::Ended;
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
