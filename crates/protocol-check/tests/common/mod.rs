//! Short names for the commands of rank 0, and logs of them.

#![allow(dead_code, reason = "each test binary uses some of the functions")]

pub mod planted;

use dram_spec::{
    AutoPrecharge, BankId, Channel, Column, Command, CommandLog, Cycle, Density, Dialect, EventSink, RawGeometry,
    Refresh, Row, SpeedBin, System, Width,
};
use protocol_check::{Rule, audit};

pub const fn bank(bank: u8) -> BankId {
    BankId { rank: 0, bank }
}

pub const fn act(id: u8, row: u32) -> Command {
    Command::Activate { bank: bank(id), row: Row(row) }
}

pub const fn pre(id: u8) -> Command {
    Command::Precharge { bank: bank(id) }
}

pub const PREA: Command = Command::PrechargeAll { rank: 0 };
pub const REF: Command = Command::Refresh { rank: 0 };
pub const PDE: Command = Command::PowerDownEnter { rank: 0 };
pub const PDX: Command = Command::PowerDownExit { rank: 0 };
pub const SRE: Command = Command::SelfRefreshEnter { rank: 0 };
pub const SRX: Command = Command::SelfRefreshExit { rank: 0 };

pub const fn rd(id: u8, column: u16) -> Command {
    Command::Read { bank: bank(id), column: Column(column), auto_precharge: AutoPrecharge::No }
}

pub const fn rda(id: u8, column: u16) -> Command {
    Command::Read { bank: bank(id), column: Column(column), auto_precharge: AutoPrecharge::Yes }
}

pub const fn wr(id: u8, column: u16) -> Command {
    Command::Write { bank: bank(id), column: Column(column), auto_precharge: AutoPrecharge::No }
}

pub const fn transfer(src: u8, dst: u8, column: u16) -> Command {
    Command::Transfer { src: bank(src), src_column: Column(column), dst: bank(dst), dst_column: Column(column) }
}

/// A log of the commands, sorted by cycle, that ends at the last of them.
pub fn log(mut listing: Vec<(u64, Command)>) -> CommandLog {
    listing.sort_by_key(|&(at, _)| at);
    ending(listing.last().map_or(0, |&(at, _)| at), &listing)
}

/// A log of the commands in the given order that ends at `end`.
pub fn ending(end: u64, listing: &[(u64, Command)]) -> CommandLog {
    let mut log = CommandLog::default();
    for (at, command) in listing {
        log.push(Cycle(*at), Channel(0), command);
    }
    log.finish(Cycle(end));
    log
}

/// The rule of each violation of a log, in order.
pub fn broken(system: &System, dialect: Dialect, log: &CommandLog) -> Vec<Rule> {
    audit(system, dialect, log).iter().map(|violation| violation.rule).collect()
}

/// The rules that a log breaks, sorted, each once.
pub fn rules(system: &System, dialect: Dialect, log: &CommandLog) -> Vec<Rule> {
    let mut rules = broken(system, dialect, log);
    rules.sort_unstable();
    rules.dedup();
    rules
}

/// A system of two ranks of each standard but DDR3, refresh off; of DDR5 with two widths of chips.
pub fn other_standards() -> [System; 4] {
    let system = |bin, density, width, row_bytes| {
        let bin = SpeedBin::named(bin).expect("a bin of the tables");
        let (standard, channels, ranks, rows_per_subarray) = (bin.standard, 1, 2, 512.into());
        let raw = RawGeometry { standard, channels, ranks, density, width, row_bytes, rows_per_subarray };
        System { refresh: Refresh::Off, ..System::new(bin, raw.try_into().expect("chips of the tables")) }
    };
    [
        system("DDR2-400B", Density::Gb1, Width::X8, 8192),
        system("DDR4-2400R", Density::Gb8, Width::X8, 8192),
        system("DDR5-4800B", Density::Gb16, Width::X8, 4096),
        system("DDR5-4800B", Density::Gb16, Width::X4, 8192),
    ]
}
