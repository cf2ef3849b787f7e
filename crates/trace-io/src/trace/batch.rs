//! Records of several lines, parsed at once.

use super::record::Record;
use crate::LineError;
use crate::fields::Fields;
use crate::line::{is_too_long, too_long};

/// Most lines of a batch with a record.
const RECORDS_MAX: usize = 64;

/// Records of consecutive lines. A record with data is the last one.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// The records with the numbers of their lines, counted from 1.
    pub(super) records: Vec<(Record, u64)>,
    /// Digits of the data that the last record writes; empty without data.
    pub(super) data: Vec<u8>,
    /// Number of the last line parsed.
    pub(super) line: u64,
}

/// A parser of the lines at the beginning of a text, each of which ends in a line feed. It appends
/// their records to an empty batch, and returns the length of the lines parsed; and why the next line
/// is not, if it is in error.
pub(super) type Parser = Box<dyn FnMut(&[u8], &mut Batch) -> (usize, Option<LineError>) + Send>;

/// A parser of lines by a parser of their fields. That one is called with each line that is neither
/// blank nor a comment, in order, and takes all its fields; it returns `None` for a line without a
/// record. It may store state for later lines.
pub(super) fn parser<P>(mut parse: P) -> Parser
where
    P: for<'a> FnMut(&mut Fields<'a>) -> Result<Option<Record>, LineError> + Send + 'static,
{
    Box::new(move |text, batch| {
        let mut rest = text;
        while !rest.is_empty() && batch.records.len() < RECORDS_MAX && batch.data.is_empty() {
            match parse_line(rest, &mut parse, batch) {
                Ok(length) => rest = &rest[length..],
                Err(error) => return (text.len() - rest.len(), Some(error)),
            }
        }
        (text.len() - rest.len(), None)
    })
}

/// Parses a line; returns its length including its end.
#[inline]
fn parse_line<'a>(
    text: &'a [u8],
    parse: &mut impl FnMut(&mut Fields<'a>) -> Result<Option<Record>, LineError>,
    batch: &mut Batch,
) -> Result<usize, LineError> {
    let mut fields = Fields::new(text);
    // Blank lines and comments begin with bytes up to `#`; records begin with greater bytes, usually
    // after at most one blank.
    let is_record = matches!(text, [b'$'..=0xff, ..] | [b' ', b'$'..=0xff, ..]) || !fields.is_empty();
    let record = if is_record { parse(&mut fields)? } else { None };
    if let Some(record) = &record {
        record.check()?;
    }
    let length = fields.end()?;
    if is_too_long(&text[..length]) {
        return Err(too_long(batch.line + 1));
    }
    batch.line += 1;
    if let Some(record) = record {
        batch.records.push((record, batch.line));
        if fields.modifies() {
            batch.records.extend(record.written_back().map(|write| (write, batch.line)));
        }
        batch.data.extend_from_slice(fields.data());
    }
    Ok(length)
}
