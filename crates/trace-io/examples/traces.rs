//! Writes a trace of a number of records in a format, or reads a trace: `traces write native 200000
//! FILE`, `traces read FILE`. A file whose name ends in `.gz` or `.zst` is compressed.
//!
//! `cargo xtask instructions` counts the instructions of reading.

use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use dram_spec::{Cycle, PhysicalAddress};
use flate2::{Compression, write::GzEncoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use trace_io::trace::{Arrival, Event, Format, Reader, Record, Timing, Writer};

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "an example talks to the terminal")]
fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["write", format, records, file] => write(format, records, file),
        ["read", file] => read(file),
        _ => Err("usage: traces write FORMAT RECORDS FILE | read FILE".into()),
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

fn write(format: &str, records: &str, file: &str) -> Result<String, Box<dyn Error>> {
    let format = Format::named(format).ok_or("there is no such format")?;
    let mut writer = Writer::new(Vec::new(), format);
    for number in 0..records.parse()? {
        writer.write_record(&record(number, format))?;
    }
    let text = writer.into_inner();
    let bytes = match Path::new(file).extension().and_then(|extension| extension.to_str()) {
        Some("gz") => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(&text)?;
            encoder.finish()?
        }
        Some("zst") => compress_to_vec(&text[..], CompressionLevel::Fastest),
        _ => text,
    };
    std::fs::write(file, bytes)?;
    Ok(format!("{records} records of {}", format.name))
}

/// A record similar to recorded programs: addresses within 4 GiB, a writeback with every fifth
/// read, and a copy or fill of a page in twenty records if the format has these.
fn record(number: u64, format: &Format) -> Record {
    let chance = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let address = PhysicalAddress(chance >> 32 & !63);
    let other = PhysicalAddress((chance >> 8 & 0xffff_ffff & !63) + 64);
    let (copies, recorded) = (format.name != "cpu", format.timing == Timing::Instructions);
    let instructions = if recorded { 1000 + chance % 1000 } else { 0 };
    let event = match number % 40 {
        0 if copies => Event::Copy { dst: address, src: other, bytes: 4096, instructions },
        1 if copies => Event::Fill { dst: address, value: 0, bytes: 4096, instructions },
        2..10 if recorded => Event::Read { address, writeback: Some(other) },
        2..10 => Event::Write { address },
        _ => Event::Read { address, writeback: None },
    };
    let arrival = match (recorded, event) {
        (false, _) => Arrival::AtCycle(Cycle(number * 20)),
        (true, Event::Read { .. }) => Arrival::AfterInstructions(chance % 300),
        (true, _) => Arrival::AfterInstructions(0),
    };
    Record { arrival, event }
}

fn read(file: &str) -> Result<String, Box<dyn Error>> {
    let mut records = 0_u64;
    for record in Reader::new(File::open(file)?, None)? {
        black_box(record?);
        records += 1;
    }
    Ok(format!("{records} records"))
}
