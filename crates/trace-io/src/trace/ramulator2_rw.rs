//! The `ReadWriteTrace` of Ramulator 2: accesses by DRAM coordinates, without times.
//!
//! ```text
//! R <channel>,<rank>,<bank>,<row>,<column>
//! W <channel>,<rank>,<bank>,<row>,<column>
//! R <channel>,<rank>,<bank group>,<bank>,<row>,<column>
//! W <channel>,<rank>,<bank group>,<bank>,<row>,<column>
//! ```
//!
//! A vector of a memory with bank groups has six numbers. All numbers are decimal. The column counts
//! columns of the device: 8 per line. Exactly one blank separates the fields.

use std::io::Write;

use dram_spec::address::Location;
use dram_spec::{BankId, Channel, Column, Row};

use super::batch::parser;
use super::format::{Addresses, Format, RecordTiming, Recorded};
use super::record::{AccessKind, Arrival, Event, Record};
use crate::LineError;
use crate::fields::Fields;

pub(super) static FORMAT: Format = Format {
    name: "ramulator2-rw",
    aliases: &[],
    extension: None,
    example: "R 0,1,2,100,32",
    timing: RecordTiming::None,
    addresses: Addresses::Coordinates,
    recorded: Recorded::BehindLastLevel,
    recognizes: |mut fields| matches!(fields.word(), b"R" | b"W") && fields.word().contains(&b','),
    parser: || parser(parse),
    write: Some(write),
};

/// Columns of the device per line, and bytes per column.
const COLUMNS: u64 = 8;
const COLUMN_BYTES: u16 = 8;

const BYTE: &str = "a decimal number from 0 to 255";
const WITH_GROUP: &str =
    "six decimal numbers `channel,rank,bankgroup,bank,row,column` with commas and no blanks between them";
const VECTOR: &str = "five decimal numbers `channel,rank,bank,row,column` with commas and no blanks between them";

#[inline]
fn parse(fields: &mut Fields<'_>) -> Result<Option<Record>, LineError> {
    let access = match fields.word() {
        b"R" => AccessKind::Read,
        b"W" => AccessKind::Write,
        found => return Fields::unknown(found, "R or W"),
    };
    fields.expect("R|W <channel>,<rank>,[<bankgroup>,]<bank>,<row>,<column>");
    fields.check_one_blank()?;
    let expected = |fields: Fields<'_>| if fields.commas() == 5 { WITH_GROUP } else { VECTOR };
    let (vector, group) = match fields.decimals(5, "vector", expected)? {
        ([channel, rank, group, bank, row, column], 6) => {
            if group >= 1 << 8 {
                return Fields::wrong(group.to_string().as_bytes(), "bankgroup", BYTE);
            }
            ([channel, rank, bank, row, column], Some(group as u8))
        }
        ([channel, rank, bank, row, column, _], _) => ([channel, rank, bank, row, column], None),
    };
    let event = Event::Located { access, location: location(vector)?, group };
    Ok(Some(Record { arrival: Arrival::WhenTaken, event }))
}

/// The coordinates of a vector. The caller compares them with a geometry.
fn location(vector: [u64; 5]) -> Result<Location, LineError> {
    let [channel, rank, bank, row, column] = vector;
    if channel.max(rank).max(bank) >= 1 << 8 || row >= 1 << 32 || column >= COLUMNS << 16 {
        return too_large(vector);
    }
    Ok(Location {
        channel: Channel(channel as u8),
        bank: BankId { rank: rank as u8, bank: bank as u8 },
        row: Row(row as u32),
        column: Column((column / COLUMNS) as u16),
        offset: (column % COLUMNS) as u16 * COLUMN_BYTES,
    })
}

#[cold]
fn too_large<T>(vector: [u64; 5]) -> Result<T, LineError> {
    let keys = ["channel", "rank", "bank", "row", "column"];
    let limits = [1 << 8, 1 << 8, 1 << 8, 1 << 32, COLUMNS << 16];
    let expected = [BYTE, BYTE, BYTE, "a decimal number below 2^32", "a decimal number below 2^19"];
    let at = (0..5).find(|&at| vector[at] >= limits[at]).unwrap_or_default();
    Fields::wrong(vector[at].to_string().as_bytes(), keys[at], expected[at])
}

fn write(record: &Record, line: &mut Vec<u8>) -> Result<(), &'static str> {
    let Event::Located { access, location, group } = record.event else { return Err(record.event.what()) };
    let Location { channel, bank: BankId { rank, bank }, row, column, offset } = location;
    if offset % COLUMN_BYTES != 0 {
        return Err("a byte within a column");
    }
    let column = u64::from(column.0) * COLUMNS + u64::from(offset / COLUMN_BYTES);
    // Writing to a vector cannot fail.
    let _ = write!(line, "{} {},{rank},", access.either("R", "W"), channel.0);
    let _ = group.map_or(Ok(()), |group| write!(line, "{group},"));
    let _ = write!(line, "{bank},{},{column}", row.0);
    Ok(())
}
