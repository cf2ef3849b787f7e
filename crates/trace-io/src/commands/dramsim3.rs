//! Lines of `DRAMsim3`, compiled with `CMD_TRACE`: `clock command channel rank bankgroup bank 0xrow
//! 0xcolumn`.

use dram_spec::AutoPrecharge::{No, Yes};
use dram_spec::{Column, Command, Cycle, Issued, Row};

use super::file_rank::FileChannel;
use super::memory::Memory;
use super::trace_line::{TraceField, TraceLine, wrong_shape};
use crate::LineError;
use crate::line::first_fields;
use crate::number::decimal;

const FIELDS: [&str; 8] = ["clock", "command", "channel", "rank", "bankgroup", "bank", "row", "column"];
const COMMANDS: [&str; 9] = [
    "read",
    "read_p",
    "write",
    "write_p",
    "activate",
    "precharge",
    "refresh",
    "self_refresh_enter",
    "self_refresh_exit",
];

fn cut(text: &[u8]) -> Option<[&[u8]; FIELDS.len()]> {
    let (words, count) = first_fields(text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()));
    (count == FIELDS.len()).then_some(words)
}

/// Parses a line. Rank-wide commands have -1 in the fields that they do not use.
pub(super) fn parse(text: &[u8], memory: Memory, file: &mut FileChannel) -> Result<TraceLine, LineError> {
    let expected = "eight fields: clock command channel rank bankgroup bank 0xrow 0xcolumn";
    let words = cut(text).ok_or_else(|| wrong_shape(text, expected))?;
    let field = |index: usize| TraceField { name: FIELDS[index], text: words[index] };
    let at = Cycle(field(0).number()?);
    for index in 2..FIELDS.len() {
        field(index).unused()?;
    }
    let channel = file.check(field(2).number_or_none()?)?;
    let rank = field(3).number()?;
    let bank = || memory.bank(rank, field(4).number_or_none()?.unwrap_or(0), field(5).number()?);
    let column = || field(7).hex().map(Column);
    let command = match words[1] {
        b"activate" => Command::Activate { bank: bank()?, row: Row(field(6).hex()?) },
        b"precharge" => Command::Precharge { bank: bank()? },
        b"read" => Command::Read { bank: bank()?, column: column()?, auto_precharge: No },
        b"read_p" => Command::Read { bank: bank()?, column: column()?, auto_precharge: Yes },
        b"write" => Command::Write { bank: bank()?, column: column()?, auto_precharge: No },
        b"write_p" => Command::Write { bank: bank()?, column: column()?, auto_precharge: Yes },
        b"refresh" => Command::Refresh { rank },
        b"self_refresh_enter" => Command::SelfRefreshEnter { rank },
        b"self_refresh_exit" => Command::SelfRefreshExit { rank },
        b"refresh_bank" => {
            let refreshes = if memory.has_same_bank_refresh() { "no single bank" } else { "all banks at once" };
            let what = format!("`refresh_bank`, but {} refreshes {refreshes}", memory.standard.name());
            return Err(memory.lacks(what));
        }
        name => return Ok(TraceLine::unknown(name, &COMMANDS)),
    };
    Ok(TraceLine::Command(Issued { at, channel, command }))
}

/// The channel of the first line that names one.
pub(super) fn first_channel(head: &[u8]) -> Option<u8> {
    let channel = |line: &[u8]| cut(line).and_then(|words| u8::try_from(decimal(words[2])?).ok());
    head.split(|&byte| byte == b'\n').find_map(channel)
}
