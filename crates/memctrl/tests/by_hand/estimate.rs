//! Duration of programs on idle banks, and their energy.

use dram_spec::address::MapPreset;
use dram_spec::{
    Channel, Column, CommandKind, Location, Mechanism, Operation, PhysicalAddress, Picojoule, Refresh, Row,
};
use memctrl::price::{PriceTable, energy};
use memctrl::{Config, Durations};
use rowclone::{Block, FPM, PSM, PSM2, Program};

use crate::{bank, config_of, system};

/// A channel, a bank and a row.
type BankRow = (u8, u8, u32);

fn config(channels: u64) -> Config {
    config_of(system(channels, Refresh::Off), MapPreset::RowInterleaved)
}

fn address(config: &Config, (channel, id, row): BankRow, column: u16) -> PhysicalAddress {
    let (channel, bank, row, column) = (Channel(channel), bank(id), Row(row), Column(column));
    config.planner.map().address(Location { channel, bank, row, column, offset: 0 }).unwrap()
}

fn copy(config: &Config, src: BankRow, dst: BankRow, bytes: u64) -> Block {
    let operation = Operation::Copy { src: address(config, src, 0), dst: address(config, dst, 0), bytes };
    config.planner.blocks(&operation).next().unwrap()
}

fn program(block: &Block, mechanism: Mechanism) -> Program {
    block.programs_of(0, mechanism, 64).remove(0)
}

#[test]
fn a_program_takes_the_cycles_of_its_commands() {
    let config = config(2);
    let durations = Durations::new(&config);
    let cycles = |src, dst, mechanism| {
        // One line, then a row of 64: 63 more bursts of 4 cycles.
        [64, 4096].map(|bytes| durations.of(&program(&copy(&config, src, dst, bytes), mechanism)).0)
    };
    let (here, near) = ((0, 0, 1), (0, 0, 2));
    let (far, other_bank, other_channel) = ((0, 0, 600), (0, 1, 1), (1, 0, 1));
    let fpm = durations.of(&program(&copy(&config, here, near, 4096), FPM)).0;
    assert_eq!(fpm, 20 + 20 + 8, "2 tRAS + tRP");
    // tRRD + tRCD + bursts + CWL + BL/2 + tWR + tRP
    assert_eq!(cycles(here, other_bank, PSM), [4 + 8 + 26, 4 + 8 + 252 + 26]);
    // The first row is open for tRRD + tRCD + bursts + tRTP, at least for tRAS; then tRP + tRCD + bursts + 26.
    assert_eq!(cycles(here, far, PSM2), [20 + 8 + 8 + 26, 4 + 8 + 252 + 4 + 8 + 8 + 252 + 26]);
    // Within a bank: the first row is open for tRCD + bursts + tRTP, at least for tRAS; then tRP + tRCD + bursts + 26.
    assert_eq!(cycles(here, far, Mechanism::CHANNEL), [20 + 8 + 8 + 26, 8 + 252 + 4 + 8 + 8 + 252 + 26]);
    // Between banks: tRCD + bursts + RD to WR (8 + 4 + 2 - 6) + bursts + 26.
    assert_eq!(cycles(here, other_bank, Mechanism::CHANNEL), [8 + 8 + 26, 8 + 252 + 8 + 252 + 26]);
    // Between channels: tRCD + bursts + CL + BL/2 - CWL + 26.
    assert_eq!(cycles(here, other_channel, Mechanism::CHANNEL), [8 + 6 + 26, 8 + 252 + 6 + 26]);
    let fill = |bytes| {
        let operation = Operation::Init { dst: address(&config, here, 0), bytes, value: 1 };
        durations.of(&program(&config.planner.blocks(&operation).next().unwrap(), Mechanism::CHANNEL)).0
    };
    // tRCD + bursts + 26.
    assert_eq!([fill(64), fill(4096)], [8 + 26, 8 + 252 + 26]);
}

/// Prices of which no two sum to a third.
const PRICES: PriceTable = PriceTable::new(Picojoule(0.0))
    .with(CommandKind::Activate, Picojoule(1000.0))
    .with(CommandKind::CopyActivate, Picojoule(700.0))
    .with(CommandKind::Read, Picojoule(30.0))
    .with(CommandKind::Write, Picojoule(20.0))
    .with(CommandKind::Transfer, Picojoule(1.0));

#[test]
fn a_program_costs_the_sum_of_its_commands() {
    let config = config(1);
    let cost = |src, dst, mechanism| energy(&program(&copy(&config, src, dst, 4096), mechanism), &PRICES).0;
    let same = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
    let (here, near, far, other_bank) = ((0, 0, 1), (0, 0, 2), (0, 0, 600), (0, 1, 1));
    same(cost(here, near, FPM), 1000.0 + 700.0);
    same(cost(here, other_bank, PSM), 2.0 * 1000.0 + 64.0);
    same(cost(here, far, PSM2), 3.0 * 1000.0 + 2.0 * 64.0);
    same(cost(here, far, Mechanism::CHANNEL), 2.0 * 1000.0 + 64.0 * (30.0 + 20.0));
    // 32 lines of a row to the other half of it: one activation.
    let operation = Operation::Copy { src: address(&config, here, 0), dst: address(&config, here, 32), bytes: 2048 };
    let within_a_row = program(&config.planner.blocks(&operation).next().unwrap(), Mechanism::CHANNEL);
    same(energy(&within_a_row, &PRICES).0, 1000.0 + 32.0 * (30.0 + 20.0));
}
