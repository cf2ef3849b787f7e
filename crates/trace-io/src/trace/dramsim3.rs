//! The trace format of `DRAMsim3`: reads and writes of lines, each at a cycle.
//!
//! ```text
//! <address> <operation> <cycle>
//! ```
//!
//! An address is hexadecimal with `0x`. `DRAMsim3` takes an unknown operation for a read; here it is
//! an error.

use std::io::Write;

use dram_spec::Cycle;

use super::batch::parser;
use super::format::{Addresses, Format, RecordTiming, Recorded};
use super::record::{AccessKind, Arrival, Event, Record};
use crate::LineError;
use crate::fields::Fields;

pub(super) static FORMAT: Format = Format {
    name: "dramsim3",
    aliases: &[],
    extension: None,
    example: "0x2000d5c0 READ 30",
    timing: RecordTiming::AtCycles,
    addresses: Addresses::Physical,
    recorded: Recorded::BehindLastLevel,
    recognizes,
    parser: || parser(parse),
    write: Some(write),
};

const OPERATIONS: &str = "READ, read, P_MEM_RD or P_FETCH, or WRITE, write, P_MEM_WR or BOFF";

/// The operation and the third field distinguish a record from those of `ramulator-dram`.
fn recognizes(mut fields: Fields<'_>) -> bool {
    fields.word().starts_with(b"0x") && !matches!(fields.word(), b"R" | b"W") && !fields.word().is_empty()
}

#[inline]
fn parse(fields: &mut Fields<'_>) -> Result<Option<Record>, LineError> {
    fields.expect("<address> <operation> <cycle>");
    let address = fields.prefixed_hex("address")?;
    let access = match fields.word() {
        b"READ" | b"read" | b"P_MEM_RD" | b"P_FETCH" => AccessKind::Read,
        b"WRITE" | b"write" | b"P_MEM_WR" | b"BOFF" => AccessKind::Write,
        [] => return fields.wrong_count(),
        found => return Fields::wrong(found, "operation", OPERATIONS),
    };
    let arrival = Arrival::AtCycle(Cycle(fields.decimal("cycle")?));
    Ok(Some(Record { arrival, event: Event::of_line(access, address) }))
}

fn write(record: &Record, line: &mut Vec<u8>) -> Result<(), &'static str> {
    let (access, address) = record.event.as_line()?;
    // Writing to a vector cannot fail.
    let _ = write!(line, "{:#x} {} {}", address.0, access.either("READ", "WRITE"), record.arrival.number());
    Ok(())
}
