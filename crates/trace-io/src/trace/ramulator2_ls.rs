//! The `LoadStoreTrace` of Ramulator 2: reads and writes of lines, without times.
//!
//! ```text
//! LD <address>
//! ST <address>
//! ```
//!
//! An address is decimal, or hexadecimal with `0x`. Exactly one blank separates the fields.

use std::io::Write;

use super::batch::parser;
use super::format::{Addresses, Format, RecordTiming, Recorded};
use super::record::{AccessKind, Arrival, Event, Record};
use crate::LineError;
use crate::fields::Fields;

pub(super) static FORMAT: Format = Format {
    name: "ramulator2-ls",
    aliases: &[],
    extension: None,
    example: "LD 0x12340",
    timing: RecordTiming::None,
    addresses: Addresses::Physical,
    recorded: Recorded::BehindLastLevel,
    recognizes: |mut fields| matches!(fields.word(), b"LD" | b"ST"),
    parser: || parser(parse),
    write: Some(write),
};

#[inline]
fn parse(fields: &mut Fields<'_>) -> Result<Option<Record>, LineError> {
    let access = match fields.word() {
        b"LD" => AccessKind::Read,
        b"ST" => AccessKind::Write,
        found => return Fields::unknown(found, "LD or ST"),
    };
    fields.expect("LD|ST <address>");
    fields.check_one_blank()?;
    let event = Event::of_line(access, fields.prefixed_or_decimal("address")?);
    Ok(Some(Record { arrival: Arrival::WhenTaken, event }))
}

fn write(record: &Record, line: &mut Vec<u8>) -> Result<(), &'static str> {
    let (access, address) = record.event.as_line()?;
    // Writing to a vector cannot fail.
    let _ = write!(line, "{} {:#x}", access.either("LD", "ST"), address.0);
    Ok(())
}
