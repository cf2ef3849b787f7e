//! The older format of CMU-SAFARI's `RamulatorSharp`, the CPU mode of Ramulator, and the `SimpleO3`
//! core of Ramulator 2: accesses of one program.
//!
//! ```text
//! <instructions before it> <read> [<writeback>]
//! ```
//!
//! All numbers are decimal.

use std::io::Write;

use dram_spec::PhysicalAddress;

use super::batch::parser;
use super::format::{Addresses, Format, RecordTiming, Recorded};
use super::record::{Arrival, Event, Record};
use crate::LineError;
use crate::fields::Fields;

pub(super) static FORMAT: Format = Format {
    name: "cpu",
    aliases: &["simpleo3"],
    extension: None,
    example: "5 2080529600",
    timing: RecordTiming::Instructions,
    addresses: Addresses::Either,
    recorded: Recorded::BehindLastLevel,
    recognizes,
    parser: || parser(parse),
    write: Some(write),
};

fn recognizes(mut fields: Fields<'_>) -> bool {
    let (first, second) = (fields.word(), fields.word());
    !first.is_empty() && first.iter().all(u8::is_ascii_digit) && second.first().is_none_or(u8::is_ascii_digit)
}

#[inline]
fn parse(fields: &mut Fields<'_>) -> Result<Option<Record>, LineError> {
    fields.expect("<instructions> <read> [<writeback>]");
    let arrival = Arrival::AfterInstructions(fields.decimal("instructions")?);
    let address = PhysicalAddress(fields.long_decimal("read")?);
    let writeback = if fields.is_empty() { None } else { Some(PhysicalAddress(fields.long_decimal("writeback")?)) };
    Ok(Some(Record { arrival, event: Event::Read { address, bytes: None, writeback } }))
}

fn write(record: &Record, line: &mut Vec<u8>) -> Result<(), &'static str> {
    let Event::Read { address, bytes: None, writeback } = record.event else { return Err(record.event.what()) };
    // Writing to a vector cannot fail.
    let _ = write!(line, "{} {}", record.arrival.number(), address.0);
    let _ = writeback.map(|writeback| write!(line, " {}", writeback.0));
    Ok(())
}
