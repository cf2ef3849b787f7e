//! The simulator's native format: memory requests, optionally with their arrivals.
//!
//! ```text
//! R <address> [<time>]
//! W <address> [<time>]
//! COPY <dst> <src> <bytes> [<time>]
//! ZERO <address> <bytes> [<time>]
//! ```
//!
//! An address is hexadecimal with `0x`, `<bytes>` is decimal. A time is `@` and a decimal number of
//! memory clocks, or of nanoseconds or picoseconds if `ns` or `ps` follows.

use std::io::Write;

use dram_spec::Cycle;

use super::batch::parser;
use super::format::{Addresses, Format, RecordTiming, Recorded};
use super::record::{AccessKind, Arrival, Event, Record};
use crate::LineError;
use crate::fields::{Fields, TimeUnit};

pub(super) static FORMAT: Format = Format {
    name: "native",
    aliases: &[],
    extension: None,
    example: "R 0x7c025cc0 @1500",
    timing: RecordTiming::Times,
    addresses: Addresses::Physical,
    recorded: Recorded::BehindLastLevel,
    recognizes,
    parser: || parser(parse),
    write: Some(write),
};

const READ: &str = "R <address> [<time>]";
const WRITE: &str = "W <address> [<time>]";
const COPY: &str = "COPY <dst> <src> <bytes> [<time>]";
const ZERO: &str = "ZERO <address> <bytes> [<time>]";
const TIME: &str = "`@` and a decimal number below 2^64, of clocks, or with `ns` or `ps` behind it";

/// The prefix of the address distinguishes an `R` of this format from that of `rc`, and the missing
/// commas distinguish it from that of `ramulator2-rw`.
fn recognizes(mut fields: Fields<'_>) -> bool {
    match (fields.word(), fields.word()) {
        (b"R", address) => address.starts_with(b"0x") && !address.contains(&b','),
        (b"W", address) => !address.contains(&b','),
        (b"COPY" | b"ZERO", _) => true,
        _ => false,
    }
}

#[inline]
fn bulk(fields: &mut Fields<'_>) -> Result<Event, LineError> {
    match fields.word() {
        b"COPY" => {
            fields.expect(COPY);
            let (dst, src) = (fields.prefixed_hex("dst")?, fields.prefixed_hex("src")?);
            Ok(Event::Copy { dst, src, bytes: fields.decimal("bytes")?, instructions: 0 })
        }
        b"ZERO" => {
            fields.expect(ZERO);
            let dst = fields.prefixed_hex("address")?;
            Ok(Event::Fill { dst, value: 0, bytes: fields.decimal("bytes")?, instructions: 0 })
        }
        found => Fields::unknown(found, "R, W, COPY or ZERO"),
    }
}

#[inline]
fn parse(fields: &mut Fields<'_>) -> Result<Option<Record>, LineError> {
    let access = if fields.takes(b"R") {
        Some((AccessKind::Read, READ))
    } else if fields.takes(b"W") {
        Some((AccessKind::Write, WRITE))
    } else {
        None
    };
    let event = if let Some((access, shape)) = access {
        fields.expect(shape);
        Event::of_line(access, fields.prefixed_hex("address")?)
    } else {
        bulk(fields)?
    };
    let arrival = match fields.time(TIME)? {
        None => Arrival::WhenTaken,
        Some((clocks, TimeUnit::Clocks)) => Arrival::AtCycle(Cycle(clocks)),
        Some((ns, TimeUnit::Nanoseconds)) => Arrival::AtPicoseconds(ns.saturating_mul(1000)),
        Some((ps, TimeUnit::Picoseconds)) => Arrival::AtPicoseconds(ps),
    };
    Ok(Some(Record { arrival, event }))
}

fn write(record: &Record, line: &mut Vec<u8>) -> Result<(), &'static str> {
    let Record { arrival, event } = record;
    // Writing to a vector cannot fail.
    let _ = match event {
        Event::Copy { instructions: 1.., .. } | Event::Fill { instructions: 1.., .. } => {
            return Err("the instructions of a copy or fill");
        }
        Event::Fill { value: 1.., .. } => return Err("a fill with another value than 0"),
        Event::Copy { dst, src, bytes, .. } => write!(line, "COPY {:#x} {:#x} {bytes}", dst.0, src.0),
        Event::Fill { dst, bytes, .. } => write!(line, "ZERO {:#x} {bytes}", dst.0),
        _ => match event.as_line()? {
            (AccessKind::Read, address) => write!(line, "R {:#x}", address.0),
            (AccessKind::Write, address) => write!(line, "W {:#x}", address.0),
        },
    };
    let _ = match arrival {
        Arrival::AtCycle(cycle) => write!(line, " @{}", cycle.0),
        Arrival::AtPicoseconds(ps) if ps % 1000 == 0 => write!(line, " @{}ns", ps / 1000),
        Arrival::AtPicoseconds(ps) => write!(line, " @{ps}ps"),
        _ => Ok(()),
    };
    Ok(())
}
