//! The older format of CMU-SAFARI's `RamulatorSharp` and the CPU mode of Ramulator: cache-filtered
//! accesses of one program.
//!
//! ```text
//! <instructions before it> <read> [<writeback>]
//! ```
//!
//! All numbers are decimal.

use std::io::Write;

use dram_spec::PhysicalAddress;

use super::error::Fault;
use super::fields::Fields;
use super::format::{Format, Timing};
use super::record::{Arrival, Event, Record};

pub(super) static FORMAT: Format = Format {
    name: "cpu",
    example: "5 2080529600",
    timing: Timing::Instructions,
    recognises,
    parser: || Box::new(parse),
    write,
};

fn recognises(mut fields: Fields<'_>) -> bool {
    let first = fields.word();
    !first.is_empty() && first.iter().all(u8::is_ascii_digit)
}

fn parse(fields: &mut Fields<'_>) -> Result<Option<Record>, Box<Fault>> {
    fields.expect("<instructions> <read> [<writeback>]");
    let arrival = Arrival::AfterInstructions(fields.decimal("instructions")?);
    let address = PhysicalAddress(fields.long_decimal("read")?);
    let writeback = if fields.is_empty() { None } else { Some(PhysicalAddress(fields.long_decimal("writeback")?)) };
    Ok(Some(Record { arrival, event: Event::Read { address, writeback } }))
}

fn write(record: &Record, line: &mut Vec<u8>) -> Result<(), &'static str> {
    let Arrival::AfterInstructions(before) = record.arrival else { return Err("an arrival at a time") };
    let Event::Read { address, writeback } = record.event else { return Err("anything but a read with its writeback") };
    // Writing to a vector cannot fail.
    let _ = match writeback {
        Some(writeback) => write!(line, "{before} {} {}", address.0, writeback.0),
        None => write!(line, "{before} {}", address.0),
    };
    Ok(())
}
