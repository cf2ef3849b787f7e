//! Shared definitions of this crate's tests.

#![allow(dead_code, clippy::unwrap_used, reason = "test helpers, of which each test file uses a part")]

#[path = "../../examples/current-sets/files.rs"]
pub mod files;
pub mod plain;

use dram_spec::{
    AutoPrecharge, BankId, Channel, Column, Command, CommandLog, Cycle, Density, EventSink, Geometry, RawGeometry, Row,
    SpeedBin, Standard, System, Width,
};
use energy::Currents;

/// A 1066G system with 2 Gb chips and the paper's rows.
pub fn system(channels: u64, ranks: u64, width: Width) -> System {
    let raw = RawGeometry {
        standard: Standard::Ddr3,
        channels,
        ranks,
        density: Density::Gb2,
        width,
        row_bytes: 4096,
        rows_per_subarray: 512.into(),
    };
    System::new(SpeedBin::named("1066G").unwrap(), Geometry::try_from(raw).unwrap())
}

/// The set with this name.
pub fn set(name: &str) -> Currents {
    files::all().into_iter().map(|(_, set)| set).find(|set| set.name() == name).unwrap()
}

pub const fn bank(rank: u8, bank: u8) -> BankId {
    BankId { rank, bank }
}

pub const fn act(bank: BankId, row: u32) -> Command {
    Command::Activate { bank, row: Row(row) }
}

pub const fn rd(bank: BankId) -> Command {
    Command::Read { bank, column: Column(0), auto_precharge: AutoPrecharge::No }
}

pub const fn wr(bank: BankId) -> Command {
    Command::Write { bank, column: Column(0), auto_precharge: AutoPrecharge::No }
}

pub const fn rda(bank: BankId) -> Command {
    Command::Read { bank, column: Column(0), auto_precharge: AutoPrecharge::Yes }
}

pub const fn wra(bank: BankId) -> Command {
    Command::Write { bank, column: Column(0), auto_precharge: AutoPrecharge::Yes }
}

pub const fn pre(bank: BankId) -> Command {
    Command::Precharge { bank }
}

pub const fn transfer(src: BankId, dst: BankId) -> Command {
    Command::Transfer { src, src_column: Column(0), dst, dst_column: Column(0) }
}

/// A log of channel 0.
pub fn log(commands: &[(u64, Command)], end: u64) -> CommandLog {
    let mut log = CommandLog::default();
    for (at, command) in commands {
        log.push(Cycle(*at), Channel(0), command);
    }
    log.finish(Cycle(end));
    log
}
