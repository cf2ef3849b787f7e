//! The output of valgrind's tool lackey with `--trace-mem=yes`: the instructions, loads and stores
//! of a program.
//!
//! ```text
//! I  <address>,<bytes>
//!  L <address>,<bytes>
//!  S <address>,<bytes>
//!  M <address>,<bytes>
//! ```
//!
//! An address is hexadecimal without a prefix, a size decimal. An `I` is an instruction executed
//! before the next access. An `M` reads and then writes. Messages of valgrind (`==pid==`, `--pid--`)
//! and system calls hold no record.

use std::io::Write;
use std::num::NonZeroU32;

use dram_spec::PhysicalAddress;

use super::batch::parser;
use super::format::{Addresses, Format, RecordTiming, Recorded};
use super::record::{AccessKind, Arrival, Event, Record, no_bytes};
use crate::LineError;
use crate::fields::Fields;

pub(super) static FORMAT: Format = Format {
    name: "lackey",
    aliases: &[],
    extension: None,
    example: " L 1ffeffe7e,8",
    timing: RecordTiming::Instructions,
    addresses: Addresses::Virtual,
    recorded: Recorded::EveryAccess,
    recognizes,
    parser: || parser(fields_parser()),
    write: Some(write),
};

/// Maximum number of instructions before an access that are written, one line each.
const WRITTEN_MAX: u64 = 1 << 16;

fn recognizes(mut fields: Fields<'_>) -> bool {
    match fields.word() {
        b"I" | b"L" | b"S" | b"M" => fields.word().contains(&b','),
        word => is_message(word),
    }
}

/// Whether a line with this first word is a message or a system call, or continues one.
fn is_message(word: &[u8]) -> bool {
    let of_process = |mark: &[u8]| {
        let pid = word.strip_prefix(mark).and_then(|word| word.strip_suffix(mark));
        pid.is_some_and(|pid| !pid.is_empty() && pid.iter().all(u8::is_ascii_digit))
    };
    of_process(b"==") || of_process(b"--") || word.starts_with(b"SYSCALL[") || word == b"-->"
}

fn fields_parser() -> impl FnMut(&mut Fields<'_>) -> Result<Option<Record>, LineError> {
    let mut instructions = 0_u64;
    move |fields| {
        let kind = fields.word();
        let access = match kind {
            b"I" => None,
            b"L" | b"M" => Some(AccessKind::Read),
            b"S" => Some(AccessKind::Write),
            word if is_message(word) => {
                fields.line();
                return Ok(None);
            }
            word => return Fields::unknown(word, "I, L, S or M, ==pid==, --pid--, --> or SYSCALL"),
        };
        fields.expect("I|L|S|M <address>,<bytes>");
        let (address, bytes) = operands(fields)?;
        let Some(access) = access else {
            instructions += 1;
            return Ok(None);
        };
        let arrival = Arrival::AfterInstructions(std::mem::take(&mut instructions));
        if kind == b"M" {
            fields.then_write();
        }
        Ok(Some(Record { arrival, event: Event::of_bytes(access, address, Some(bytes)) }))
    }
}

#[inline]
fn operands(fields: &mut Fields<'_>) -> Result<(PhysicalAddress, NonZeroU32), LineError> {
    const OPERANDS: &str = "a hexadecimal address, a comma, and a decimal number of bytes below 2^32";
    let (address, bytes) = fields.hex_and_decimal("access", OPERANDS, u32::MAX.into())?;
    let bytes = NonZeroU32::new(bytes as u32).ok_or_else(no_bytes)?;
    Ok((PhysicalAddress(address), bytes))
}

fn write(record: &Record, line: &mut Vec<u8>) -> Result<(), &'static str> {
    let (access, address, bytes) = record.event.as_bytes()?;
    let bytes = bytes.ok_or("an access without a size")?;
    if record.arrival.number() > WRITTEN_MAX {
        return Err("more than 65536 instructions before an access");
    }
    // Writing to a vector cannot fail.
    for _ in 0..record.arrival.number() {
        let _ = line.write_all(b"I  00000000,1\n");
    }
    let _ = write!(line, " {} {:08x},{bytes}", access.either("L", "S"), address.0);
    Ok(())
}
