//! The DRAM mode of Ramulator 1: reads and writes of lines, without times.
//!
//! ```text
//! <address> R|W
//! ```
//!
//! An address is hexadecimal with `0x`.

use std::io::Write;

use super::batch::parser;
use super::format::{Addresses, Format, RecordTiming, Recorded};
use super::record::{AccessKind, Arrival, Event, Record};
use crate::LineError;
use crate::fields::Fields;

pub(super) static FORMAT: Format = Format {
    name: "ramulator-dram",
    aliases: &[],
    extension: None,
    example: "0x12345680 R",
    timing: RecordTiming::None,
    addresses: Addresses::Physical,
    recorded: Recorded::BehindLastLevel,
    recognizes: |mut fields| fields.word().starts_with(b"0x") && matches!(fields.word(), b"R" | b"W"),
    parser: || parser(parse),
    write: Some(write),
};

#[inline]
fn parse(fields: &mut Fields<'_>) -> Result<Option<Record>, LineError> {
    fields.expect("<address> R|W");
    let address = fields.prefixed_hex("address")?;
    let access = match fields.word() {
        b"R" => AccessKind::Read,
        b"W" => AccessKind::Write,
        [] => return fields.wrong_count(),
        found => return Fields::wrong(found, "operation", "R or W"),
    };
    Ok(Some(Record { arrival: Arrival::WhenTaken, event: Event::of_line(access, address) }))
}

fn write(record: &Record, line: &mut Vec<u8>) -> Result<(), &'static str> {
    let (access, address) = record.event.as_line()?;
    // Writing to a vector cannot fail.
    let _ = write!(line, "{:#x} {}", address.0, access.either("R", "W"));
    Ok(())
}
