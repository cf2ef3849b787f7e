//! The two trace formats of `DRAMSys`: bursts at clocks of the trace player, absolute (`.stl`) or
//! relative to the record before (`.rstl`).
//!
//! ```text
//! <clock>: [(<bytes>)] read <address>
//! <clock>: [(<bytes>)] write <address> [<data>]
//! ```
//!
//! An address is hexadecimal with `0x`. Data are `0x` and two hexadecimal digits per byte, from the
//! byte at the address upwards; [`TraceReader::data`](super::TraceReader::data) returns them.

use std::io::Write;
use std::num::NonZeroU32;

use dram_spec::{Cycle, Cycles, LINE_BYTES};

use super::batch::parser;
use super::format::{Addresses, Format, RecordTiming, Recorded};
use super::record::{AccessKind, Arrival, Event, Record, no_bytes};
use crate::LineError;
use crate::fields::Fields;
use crate::number;

pub(super) static ABSOLUTE: Format = Format {
    name: "stl",
    aliases: &[],
    extension: Some("stl"),
    example: "31: read 0x400140",
    timing: RecordTiming::AtCycles,
    addresses: Addresses::Physical,
    recorded: Recorded::BehindLastLevel,
    recognizes,
    parser: || parser(|fields| parse(fields, |clock| Arrival::AtCycle(Cycle(clock)))),
    write: Some(write),
};

pub(super) static RELATIVE: Format = Format {
    name: "rstl",
    extension: Some("rstl"),
    timing: RecordTiming::AfterCycles,
    parser: || parser(|fields| parse(fields, |clock| Arrival::AfterCycles(Cycles(clock)))),
    ..ABSOLUTE
};

const READ: &str = "<clock>: [(<bytes>)] read <address>";
const WRITE: &str = "<clock>: [(<bytes>)] write <address> [<data>]";
const BYTES: &str = "a decimal number below 2^32 in parentheses";
const DATA: &str = "`0x` and two hexadecimal digits per byte of the burst (64 bytes if none are given)";

fn recognizes(mut fields: Fields<'_>) -> bool {
    matches!(fields.word(), [digits @ .., b':'] if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit))
}

#[inline]
fn parse(fields: &mut Fields<'_>, arrival: impl Fn(u64) -> Arrival) -> Result<Option<Record>, LineError> {
    fields.expect("<clock>: [(<bytes>)] read|write <address>");
    let clock = fields.decimal_and_colon("clock")?;
    let (access, bytes) = if fields.takes(b"read") {
        (AccessKind::Read, None)
    } else if fields.takes(b"write") {
        (AccessKind::Write, None)
    } else {
        sized(fields)?
    };
    fields.expect(access.either(READ, WRITE));
    let address = fields.prefixed_hex("address")?;
    if access == AccessKind::Write && !fields.is_empty() {
        let digits = data(fields.word(), bytes)?;
        fields.set_data(digits);
    }
    Ok(Some(Record { arrival: arrival(clock), event: Event::of_bytes(access, address, bytes) }))
}

/// Takes the operation, and the size before it, if any.
fn sized(fields: &mut Fields<'_>) -> Result<(AccessKind, Option<NonZeroU32>), LineError> {
    let (mut word, mut bytes) = (fields.word(), None);
    if word.starts_with(b"(") {
        bytes = Some(burst(word)?);
        word = fields.word();
    }
    match word {
        b"read" => Ok((AccessKind::Read, bytes)),
        b"write" => Ok((AccessKind::Write, bytes)),
        [] => fields.wrong_count(),
        found => Fields::wrong(found, "operation", "read or write"),
    }
}

/// The size of a burst, in parentheses.
fn burst(word: &[u8]) -> Result<NonZeroU32, LineError> {
    let digits = word.strip_prefix(b"(").and_then(|word| word.strip_suffix(b")"));
    let bytes = digits.and_then(number::decimal).and_then(|bytes| u32::try_from(bytes).ok());
    let Some(bytes) = bytes else { return Fields::wrong(word, "bytes", BYTES) };
    NonZeroU32::new(bytes).ok_or_else(no_bytes)
}

/// The digits of the data of a burst.
fn data(word: &[u8], bytes: Option<NonZeroU32>) -> Result<&[u8], LineError> {
    let bytes = bytes.map_or(LINE_BYTES, |bytes| bytes.get().into());
    let digits = word.strip_prefix(b"0x").unwrap_or_default();
    if digits.len() as u64 == 2 * bytes && digits.iter().all(u8::is_ascii_hexdigit) {
        Ok(digits)
    } else {
        Fields::wrong(word, "data", DATA)
    }
}

fn write(record: &Record, line: &mut Vec<u8>) -> Result<(), &'static str> {
    let (access, address, bytes) = record.event.as_bytes()?;
    // Writing to a vector cannot fail.
    let _ = write!(line, "{}: ", record.arrival.number());
    let _ = bytes.map(|bytes| write!(line, "({bytes}) "));
    let _ = write!(line, "{} {:#x}", access.either("read", "write"), address.0);
    Ok(())
}
