//! Writes a trace of a number of records in a format, or reads a trace: `traces write native 200000
//! FILE`, `traces read native FILE`. A file whose name ends in `.gz` or `.zst` is compressed. Reads the first
//! instructions of a recording of a program: `traces recording 1000000 FILE`.
//!
//! `cargo xtask instructions` counts the instructions of reading.

use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::num::NonZeroU32;
use std::path::Path;
use std::process::ExitCode;

use dram_spec::address::{Location, PhysicalAddress};
use dram_spec::{BankId, Channel, Column, Cycle, Cycles, Row};
use flate2::{Compression, write::GzEncoder};
use trace_io::recording::{self, BlockEntry};
use trace_io::trace::{AccessKind, Arrival, Event, Format, Record, RecordTiming, TraceReader, TraceWriter};

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "an example talks to the terminal")]
fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["write", format, records, file] => write(format, records, file),
        ["read", format, file] => read(format, file),
        ["recording", instructions, file] => read_recording(instructions, file),
        _ => Err("usage: traces write FORMAT RECORDS FILE | read FORMAT FILE | recording INSTRUCTIONS FILE".into()),
    };
    match done {
        Ok(message) => {
            println!("{message}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn read_recording(instructions: &str, file: &str) -> Result<String, Box<dyn Error>> {
    let mut reader = recording::RecordingReader::new(File::open(file)?)?;
    let (mut remaining, mut sum) = (instructions.parse::<u64>()?, 0_u64);
    while remaining > 0
        && let Some(block) = reader.next_block()?
    {
        let block = block.first(remaining);
        remaining -= block.instructions;
        for entry in block.entries() {
            if let BlockEntry::Access(access) = entry {
                sum = sum.wrapping_add(access.address);
            }
        }
        if block.is_cut {
            break;
        }
    }
    Ok(format!("the sum of the addresses is {:#x}", black_box(sum)))
}

fn write(format: &str, records: &str, file: &str) -> Result<String, Box<dyn Error>> {
    let format = Format::named(format).ok_or("there is no such format")?;
    let mut text = Vec::new();
    for number in 0..records.parse()? {
        if format.is_written() {
            write_record(number, format, &mut text)?;
        } else {
            write_fault(number, &mut text)?;
        }
    }
    let bytes = match Path::new(file).extension().and_then(|extension| extension.to_str()) {
        Some("gz") => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(&text)?;
            encoder.finish()?
        }
        Some("zst") => zstd::encode_all(&text[..], 1)?,
        _ => text,
    };
    std::fs::write(file, bytes)?;
    Ok(format!("{records} records of {}", format.name))
}

/// Writes a record similar to recorded programs: addresses within 4 GiB, one write in four reads, and
/// a copy or fill of a page in twenty records. A format that cannot express an event gets the next
/// one of the list.
fn write_record(number: u64, format: &'static Format, text: &mut Vec<u8>) -> Result<(), Box<dyn Error>> {
    let chance = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let address = PhysicalAddress(chance >> 32 & !63);
    let other = PhysicalAddress((chance >> 8 & 0xffff_ffff & !63) + 64);
    let recorded = format.timing == RecordTiming::Instructions;
    let instructions = if recorded { 1000 + (chance % 1000) as u32 } else { 0 };
    let read = Event::Read { address, bytes: None, writeback: None };
    let access = |bytes| match number % 40 {
        0..10 => Event::Write { address, bytes },
        _ => Event::Read { address, bytes, writeback: None },
    };
    let events = [
        match number % 40 {
            0 => Event::Copy { dst: address, src: other, bytes: 4096, instructions },
            1 => Event::Fill { dst: address, value: 0, bytes: 4096, instructions },
            2..10 => Event::Read { address, bytes: None, writeback: Some(other) },
            _ => read,
        },
        access(None),
        access(NonZeroU32::new(8)),
        located(number, chance),
        read,
    ];
    let mut refused = None;
    for event in events {
        let record = Record { arrival: arrival(number, chance, format, &event), event };
        match TraceWriter::new(&mut *text, format).write_record(&record) {
            Ok(()) => return Ok(()),
            Err(error) => refused = Some(error),
        }
    }
    Err(refused.expect("there are events").into())
}

fn located(number: u64, chance: u64) -> Event {
    let bank = BankId { rank: (number % 2) as u8, bank: (chance >> 40 & 7) as u8 };
    let (row, column) = (Row((chance >> 45 & 0x7fff) as u32), Column((chance >> 20 & 127) as u16));
    let location = Location { channel: Channel(0), bank, row, column, offset: 0 };
    Event::Located {
        access: if number % 40 < 10 { AccessKind::Write } else { AccessKind::Read },
        location,
        group: None,
    }
}

fn arrival(number: u64, chance: u64, format: &Format, event: &Event) -> Arrival {
    match format.timing {
        RecordTiming::None => Arrival::WhenTaken,
        RecordTiming::AtCycles | RecordTiming::Times => Arrival::AtCycle(Cycle(number * 20)),
        RecordTiming::AfterCycles => Arrival::AfterCycles(Cycles(20)),
        RecordTiming::Instructions if matches!(event, Event::Copy { .. } | Event::Fill { .. }) => {
            Arrival::AfterInstructions(0)
        }
        // A line of lackey per instruction, of every instruction; the other programs ran with caches.
        RecordTiming::Instructions if format.name == "lackey" => Arrival::AfterInstructions(chance % 7),
        RecordTiming::Instructions => Arrival::AfterInstructions(chance % 300),
    }
}

/// Writes a page fault as `perf script` prints it.
fn write_fault(number: u64, text: &mut Vec<u8>) -> std::io::Result<()> {
    let address = 0x7f1c_0000_0000 + (number << 12);
    let (code, microseconds) = ([6, 7, 4][(number % 3) as usize], number % 1_000_000);
    writeln!(
        text,
        "         python3  8067 [000] 46123.{microseconds:06}:   exceptions:page_fault_user: address={address:#x} \
         ip={address:#x} error_code={code:#x}"
    )
}

fn read(format: &str, file: &str) -> Result<String, Box<dyn Error>> {
    let mut records = 0_u64;
    for record in TraceReader::new(File::open(file)?, Format::named(format))? {
        black_box(record?);
        records += 1;
    }
    Ok(format!("{records} records"))
}
