//! Lines of `DRAMPower` 4 and of Ramulator 1: `clock,command[,bank]`.

use dram_spec::AutoPrecharge::{No, Yes};
use dram_spec::PrechargePowerDown::{FastExit, SlowExit};
use dram_spec::{BankId, Column, Command, Cycle, Issued, Row};

use super::FileRank;
use super::memory::Memory;
use super::trace_line::{TraceField, TraceLine, wrong_shape};
use crate::LineError;
use crate::line::{cells, shown};

/// Commands. `PDE`, `PDX`, `SRE` and `SRX` are Ramulator's names.
#[rustfmt::skip]
const COMMANDS: [&str; 21] = [
    "ACT", "PRE", "PREA", "RD", "RDA", "WR", "WRA", "REF", "PDN_F_ACT", "PDN_S_ACT", "PDN_F_PRE", "PDN_S_PRE", "PUP_ACT",
    "PUP_PRE", "SREN", "SREX", "END", "PDE", "PDX", "SRE", "SRX",
];

/// Parses a line. Rows and columns, which the format does not have, are 0.
pub(super) fn parse(text: &[u8], place: FileRank, memory: Memory) -> Result<TraceLine, LineError> {
    let mut cells = cells(text);
    let (Some(clock), Some(name), bank, None) = (cells.next(), cells.next(), cells.next(), cells.next()) else {
        return Err(wrong_shape(text, "a clock, a command and a bank, with commas"));
    };
    let at = Cycle(TraceField { name: "clock", text: clock }.number()?);
    let bank_field = TraceField { name: "bank", text: bank.unwrap_or(b"") };
    let bank = || bank_field.number().map(|bank| BankId { rank: place.rank, bank });
    let (row, column) = (Row(0), Column(0));
    let rank_wide = |command: Command| match bank_field.text {
        b"" => Ok(command),
        _ => bank_field.number_or_none::<u8>().map(|_| command),
    };
    let rank = place.rank;
    let (exit, is_of_active) = memory.exit();
    let command = match name {
        b"ACT" => Command::Activate { bank: bank()?, row },
        b"PRE" => Command::Precharge { bank: bank()? },
        b"RD" => Command::Read { bank: bank()?, column, auto_precharge: No },
        b"RDA" => Command::Read { bank: bank()?, column, auto_precharge: Yes },
        b"WR" => Command::Write { bank: bank()?, column, auto_precharge: No },
        b"WRA" => Command::Write { bank: bank()?, column, auto_precharge: Yes },
        b"PREA" => rank_wide(Command::PrechargeAll { rank })?,
        b"REF" => rank_wide(Command::Refresh { rank })?,
        b"PDN_F_PRE" if exit == SlowExit && !is_of_active => return Err(other_exit(name, "slow-exit")),
        b"PDN_S_PRE" if exit == FastExit && !is_of_active => return Err(other_exit(name, "fast-exit")),
        b"PDN_F_ACT" if exit == SlowExit && is_of_active => return Err(other_exit(name, "slow-exit")),
        b"PDN_S_ACT" if exit == FastExit && is_of_active => return Err(other_exit(name, "fast-exit")),
        b"PDN_F_ACT" | b"PDN_S_ACT" | b"PDN_F_PRE" | b"PDN_S_PRE" | b"PDE" => {
            rank_wide(Command::PowerDownEnter { rank })?
        }
        b"PUP_ACT" | b"PUP_PRE" | b"PDX" => rank_wide(Command::PowerDownExit { rank })?,
        b"SREN" | b"SRE" => rank_wide(Command::SelfRefreshEnter { rank })?,
        b"SREX" | b"SRX" => rank_wide(Command::SelfRefreshExit { rank })?,
        b"END" => return rank_wide(Command::PrechargeAll { rank }).map(|_| TraceLine::End(at)),
        _ => return Ok(TraceLine::unknown(name, &COMMANDS)),
    };
    Ok(TraceLine::Command(Issued { at, channel: place.channel, command }))
}

fn other_exit(name: &[u8], system: &str) -> LineError {
    let what = format!("is `{}`, but the system has `precharge_power_down = \"{system}\"`", shown(name));
    LineError::new(what, "give the system that the trace is of")
}
