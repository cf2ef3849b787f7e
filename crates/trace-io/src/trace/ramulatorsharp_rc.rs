//! The newer format of CMU-SAFARI's `RamulatorSharp`: the accesses of one program, and the copies
//! and fills of its kernel.
//!
//! ```text
//! R <read> <writeback, 0 = none> <instructions>
//! C <destination> <source> <bytes> <instructions>
//! S <destination> <value> <bytes> <instructions>
//! ```
//!
//! Addresses are hexadecimal without a prefix, all other numbers decimal. The instructions of an
//! access precede it; those of a copy or fill are what a CPU executes to perform it.

use std::io::Write;

use dram_spec::PhysicalAddress;

use super::batch::parser;
use super::format::{Addresses, Format, RecordTiming, Recorded};
use super::record::{Arrival, Event, Record};
use crate::LineError;
use crate::fields::Fields;

pub(super) static FORMAT: Format = Format {
    name: "rc",
    aliases: &[],
    extension: None,
    example: "R 7c025cc0 0 5",
    timing: RecordTiming::Instructions,
    addresses: Addresses::Physical,
    recorded: Recorded::BehindFirstLevel,
    recognizes,
    parser: || parser(parse),
    write: Some(write),
};

const ACCESS: &str = "R <read> <writeback, 0 = none> <instructions>";
const COPY: &str = "C <destination> <source> <bytes> <instructions>";
const FILL: &str = "S <destination> <value> <bytes> <instructions>";

fn recognizes(mut fields: Fields<'_>) -> bool {
    match (fields.word(), fields.word()) {
        (b"C", _) => true,
        // An `R` with a prefix is of `native`; a comma joins numbers in `ramulator2-rw` and `lackey`.
        (b"R" | b"S", address) => !address.starts_with(b"0x") && !address.contains(&b','),
        _ => false,
    }
}

#[inline]
fn parse(fields: &mut Fields<'_>) -> Result<Option<Record>, LineError> {
    let mut arrival = Arrival::AfterInstructions(0);
    let event = match fields.word() {
        b"R" => {
            fields.expect(ACCESS);
            let (address, writeback) = (fields.hex("read")?, fields.hex("writeback")?);
            arrival = Arrival::AfterInstructions(fields.decimal("instructions")?);
            Event::Read { address, bytes: None, writeback: (writeback.0 != 0).then_some(writeback) }
        }
        b"C" => {
            fields.expect(COPY);
            let (dst, src) = (fields.hex("destination")?, fields.hex("source")?);
            Event::Copy { dst, src, bytes: fields.decimal("bytes")?, instructions: fields.decimal_u32("instructions")? }
        }
        b"S" => {
            fields.expect(FILL);
            let (dst, value) = (fields.hex("destination")?, fields.byte("value")?);
            Event::Fill {
                dst,
                value,
                bytes: fields.decimal("bytes")?,
                instructions: fields.decimal_u32("instructions")?,
            }
        }
        found => return Fields::unknown(found, "R, C or S"),
    };
    Ok(Some(Record { arrival, event }))
}

fn write(record: &Record, line: &mut Vec<u8>) -> Result<(), &'static str> {
    let before = record.arrival.number();
    // Writing to a vector cannot fail.
    let _ = match &record.event {
        Event::Copy { .. } | Event::Fill { .. } if before > 0 => return Err("instructions before a copy or fill"),
        Event::Read { writeback: Some(PhysicalAddress(0)), .. } => return Err("a writeback of address 0"),
        Event::Read { address, bytes: None, writeback } => {
            write!(line, "R {:x} {:x} {before}", address.0, writeback.map_or(0, |writeback| writeback.0))
        }
        Event::Copy { dst, src, bytes, instructions } => {
            write!(line, "C {:x} {:x} {bytes} {instructions}", dst.0, src.0)
        }
        Event::Fill { dst, value, bytes, instructions } => write!(line, "S {:x} {value} {bytes} {instructions}", dst.0),
        other => return Err(other.what()),
    };
    Ok(())
}
