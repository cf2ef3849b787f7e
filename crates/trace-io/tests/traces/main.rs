//! Properties of the trace formats.

mod arbitrary;
mod examples;
mod input;
mod malformed;
mod perf;
mod properties;
mod recognition;
mod refused;

use std::io::{Read, Write};
use std::num::NonZeroU32;

use dram_spec::address::{Location, PhysicalAddress};
use dram_spec::{BankId, Channel, Column, Row};
use flate2::{Compression, write::GzEncoder};
use trace_io::LineError;
use trace_io::trace::{AccessKind, Arrival, Event, Format, Record, TraceReader, TraceWriter};

fn format(name: &str) -> &'static Format {
    Format::named(name).expect("a format")
}

fn read(input: &[u8], format: Option<&'static Format>) -> Result<Vec<Record>, LineError> {
    TraceReader::new(input, format)?.collect()
}

fn write(records: &[Record], format: &'static Format) -> Vec<u8> {
    let mut writer = TraceWriter::new(Vec::new(), format);
    for record in records {
        writer.write_record(record).expect("a vector takes all, and the format these records");
    }
    writer.into_inner()
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).expect("a vector takes all");
    encoder.finish().expect("a vector takes all")
}

fn zstd(text: &[u8]) -> Vec<u8> {
    zstd::encode_all(text, 1).expect("a vector takes all")
}

const fn at(address: u64) -> PhysicalAddress {
    PhysicalAddress(address)
}

/// A read of a program with preceding instructions.
const fn read_after(instructions: u64, address: u64, writeback: Option<PhysicalAddress>) -> Record {
    let event = Event::Read { address: at(address), bytes: None, writeback };
    Record { arrival: Arrival::AfterInstructions(instructions), event }
}

const fn untimed(event: Event) -> Record {
    Record { arrival: Arrival::WhenTaken, event }
}

/// A read or write of a line, or of a size.
fn accessed(access: AccessKind, address: u64, bytes: u32) -> Event {
    let (address, bytes) = (at(address), NonZeroU32::new(bytes));
    match access {
        AccessKind::Read => Event::Read { address, bytes, writeback: None },
        AccessKind::Write => Event::Write { address, bytes },
    }
}

fn located(access: AccessKind, [channel, rank, bank]: [u8; 3], row: u32, column: u16, offset: u16) -> Event {
    let (channel, bank) = (Channel(channel), BankId { rank, bank });
    let location = Location { channel, bank, row: Row(row), column: Column(column), offset };
    Event::Located { access, location, group: None }
}

/// Reads to the end; returns the number of items.
fn items(input: impl Read, format: Option<&'static Format>) -> usize {
    let Ok(mut reader) = TraceReader::new(input, format) else { return 1 };
    let items = reader.by_ref().count();
    assert!(reader.next().is_none(), "what has ended stays ended");
    items
}
