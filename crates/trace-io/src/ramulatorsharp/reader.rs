//! Lines to records.

use std::io::Read;

use dram_spec::address::PhysicalAddress;

use super::error::TraceError;
use super::record::{Format, Record};
use crate::line::{LineError, Lines, shown};
use crate::number::{decimal, hex};
use crate::text::Text;

const ACCESS: &str = "R <read> <writeback, 0 = none> <instructions>";
const COPY: &str = "C <destination> <source> <bytes> <instructions>";
const FILL: &str = "S <destination> <value> <bytes> <instructions>";
const CPU: &str = "<instructions> <read> [<writeback>]";

const ADDRESS_HEX: &str = "a hexadecimal number below 2^64";
const DECIMAL: &str = "a decimal number below 2^64";
const BYTE: &str = "a decimal number from 0 to 255";

/// The records of a trace, one by one, out of plain or gzip text; blank lines are passed over.
///
/// It ends with the input or with the first error. Its memory does not depend on the length of the trace.
#[derive(Debug)]
pub struct Reader<R: Read> {
    lines: Lines<Text<R>>,
    format: Format,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The first line has been read, to see the format, and not yet been returned.
    FirstLine,
    Reading,
    Ended,
}

impl<R: Read> Reader<R> {
    /// Begins to read a trace of that format, or of the format that its first line is of. (A trace without lines has
    /// no records in either.)
    ///
    /// # Errors
    /// [`TraceError::Line`] where the first line cannot be had, [`TraceError::UnknownFormat`] where no format is given
    /// and the first line is of neither.
    pub fn new(input: R, format: Option<Format>) -> Result<Self, TraceError> {
        let mut lines = Lines::new(Text::new(input).map_err(|source| LineError::Read { line: 1, source })?);
        let state = if lines.advance()? { State::FirstLine } else { State::Ended };
        let format = match (format, state) {
            (Some(format), _) => format,
            (None, State::Ended) => Format::Rc,
            (None, State::FirstLine | State::Reading) => {
                let first = fields(lines.line()).next().unwrap_or_default();
                Format::of_first_field(first)
                    .ok_or_else(|| TraceError::UnknownFormat { line: lines.number(), found: shown(first) })?
            }
        };
        Ok(Reader { lines, format, state })
    }

    /// The format that the lines are taken to be of.
    pub const fn format(&self) -> Format {
        self.format
    }

    /// The line of the record returned last, counted from 1.
    pub const fn line(&self) -> u64 {
        self.lines.number()
    }

    fn record(&mut self) -> Result<Option<Record>, TraceError> {
        if self.state == State::Reading && !self.lines.advance()? {
            return Ok(None);
        }
        self.state = State::Reading;
        parse(self.format, self.lines.line(), self.lines.number()).map(Some)
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Record, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.state == State::Ended {
            return None;
        }
        let record = self.record().transpose();
        if !matches!(record, Some(Ok(_))) {
            self.state = State::Ended;
        }
        record
    }
}

impl<R: Read> std::iter::FusedIterator for Reader<R> {}

fn fields(text: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    text.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty())
}

fn parse(format: Format, text: &[u8], line: u64) -> Result<Record, TraceError> {
    let record = match format {
        Format::Rc => parse_rc(text, line)?,
        Format::Cpu => parse_cpu(text, line)?,
    };
    record.check().map_err(|fault| TraceError::Record { line, fault })?;
    Ok(record)
}

fn parse_rc(text: &[u8], line: u64) -> Result<Record, TraceError> {
    let first = fields(text).next().unwrap_or_default();
    let shape = match first {
        b"R" => ACCESS,
        b"C" => COPY,
        b"S" => FILL,
        _ => return Err(TraceError::UnknownRecord { line, found: shown(first) }),
    };
    let found = fields(text).count();
    if found != if first == b"R" { 4 } else { 5 } {
        return Err(TraceError::FieldCount { line, found, shape });
    }
    let mut fields = Fields { fields: fields(text).skip(1), line };
    Ok(match first {
        b"R" => Record::Access {
            read: fields.address_hex("read")?,
            writeback: Some(fields.address_hex("writeback")?).filter(|address| address.0 != 0),
            instructions: fields.decimal("instructions")?,
        },
        b"C" => Record::Copy {
            dst: fields.address_hex("destination")?,
            src: fields.address_hex("source")?,
            bytes: fields.decimal("bytes")?,
            instructions: fields.decimal("instructions")?,
        },
        _ => Record::Fill {
            dst: fields.address_hex("destination")?,
            value: fields.byte("value")?,
            bytes: fields.decimal("bytes")?,
            instructions: fields.decimal("instructions")?,
        },
    })
}

fn parse_cpu(text: &[u8], line: u64) -> Result<Record, TraceError> {
    let found = fields(text).count();
    let mut fields = Fields { fields: fields(text), line };
    // Before the fields are counted, so that a line of the other format is named by its letter.
    let instructions = fields.decimal("instructions")?;
    if !(2..=3).contains(&found) {
        return Err(TraceError::FieldCount { line, found, shape: CPU });
    }
    let read = PhysicalAddress(fields.decimal("read")?);
    let writeback = if found == 3 { Some(PhysicalAddress(fields.decimal("writeback")?)) } else { None };
    Ok(Record::Access { read, writeback, instructions })
}

/// The fields of one line, taken from the left as the numbers that they must be.
struct Fields<I> {
    fields: I,
    line: u64,
}

impl<'a, I: Iterator<Item = &'a [u8]>> Fields<I> {
    fn take<T>(
        &mut self,
        key: &'static str,
        expected: &'static str,
        parse: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<T, TraceError> {
        let field = self.fields.next().unwrap_or_default();
        parse(field).ok_or_else(|| TraceError::Field { line: self.line, key, found: shown(field), expected })
    }

    fn address_hex(&mut self, key: &'static str) -> Result<PhysicalAddress, TraceError> {
        self.take(key, ADDRESS_HEX, |field| hex(field).map(PhysicalAddress))
    }

    fn decimal(&mut self, key: &'static str) -> Result<u64, TraceError> {
        self.take(key, DECIMAL, decimal)
    }

    fn byte(&mut self, key: &'static str) -> Result<u8, TraceError> {
        self.take(key, BYTE, |field| u8::try_from(decimal(field)?).ok())
    }
}
