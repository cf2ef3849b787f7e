//! Hand-computed choices of mechanisms: DDR3-1066 8-8-8, rows of 64 lines.

use std::sync::Arc;

use dram_core::Device;
use dram_spec::address::{AddressMap, MapPreset};
use dram_spec::{
    BankId, Column, Command, CommandKind, Cycle, Density, Location, Mechanism, Operation, PhysicalAddress, Picojoule,
    Refresh, RequestId, Row, SourceId, System, Width,
};
use rowclone::{Block, FPM, FaultyRows, PSM, PSM2, Planner};

use super::{Estimator, Present};
use crate::access::{AccessKind, LineAccess};
use crate::channel::Channel;
use crate::config::{Config, RefreshPolicy};
use crate::policy::copy::{CopyPolicy, FASTEST, LEAST_ENERGY, Outlook};
use crate::price::PriceTable;

/// A bank and a row.
type BankRow = (u8, u32);

const NOW: Cycle = Cycle(1000);
/// Another subarray of bank 0. The indirect way leads through the temporary row of bank 1.
const WITHIN_A_BANK: (BankRow, BankRow) = ((0, 1), (0, 600));
/// Prices of which no two sum to a third.
const PRICES: PriceTable = PriceTable::new(Picojoule(0.0))
    .with(CommandKind::Activate, Picojoule(1000.0))
    .with(CommandKind::CopyActivate, Picojoule(700.0))
    .with(CommandKind::Read, Picojoule(30.0))
    .with(CommandKind::Write, Picojoule(20.0))
    .with(CommandKind::Transfer, Picojoule(1.0));

const fn bank(bank: u8) -> BankId {
    BankId { rank: 0, bank }
}

fn config(refresh: Refresh, postpone_max: u64) -> Config {
    let system = System { refresh, ..System::paper(1, Density::Gb2, Width::X8) };
    let map = AddressMap::preset(system.geometry, MapPreset::RowInterleaved);
    let refresh = RefreshPolicy { postpone_max, ..RefreshPolicy::default() };
    Config { refresh, ..Config::new(system, Arc::new(Planner::new(map, FaultyRows::default())), FASTEST) }
}

/// A channel and its bookings.
struct Memory {
    config: Config,
    channels: Vec<Channel>,
    estimator: Estimator,
}

impl Memory {
    fn new(config: Config) -> Memory {
        let device = Device::new(&config.system, None);
        let channels = vec![Channel::new(dram_spec::Channel(0), device, &config)];
        let estimator = Estimator::new(&config, &channels);
        Memory { config, channels, estimator }
    }

    /// State after these commands from cycle 0 on, each at its earliest cycle.
    fn after(mut self, commands: &[Command]) -> Memory {
        for command in commands {
            let at = self.channels[0].device.earliest(command).unwrap().until();
            self.channels[0].device.issue(at, command);
        }
        self
    }

    /// With that many reads queued in a bank, and a write that does not count.
    fn reading(mut self, number: u8, reads: u64) -> Memory {
        let index = self.channels[0].topology().index(bank(number));
        let (row, column, source) = (Row(9), Column(0), SourceId(0));
        for at in 0..=reads {
            let kind = if at == reads { AccessKind::Write } else { AccessKind::Read };
            let access = LineAccess {
                id: RequestId(at),
                arrival: Cycle(0),
                address: PhysicalAddress(0),
                slot: 0,
                kind,
                source,
                bank: index,
                row,
                column,
                filter: crate::queues::line_hash(index, row, column),
            };
            self.channels[0].queues().queue(&access, Cycle(0));
        }
        self
    }

    fn copy(&self, (src, dst): (BankRow, BankRow)) -> Block {
        let address = |(number, row): BankRow| -> PhysicalAddress {
            let (channel, bank, row, column) = (dram_spec::Channel(0), bank(number), Row(row), Column(0));
            self.config.planner.map().address(Location { channel, bank, row, column, offset: 0 }).unwrap()
        };
        let operation = Operation::Copy { src: address(src), dst: address(dst), bytes: 4096 };
        self.config.planner.blocks(&operation).next().unwrap()
    }

    fn choose(&self, policy: &dyn CopyPolicy, places: (BankRow, BankRow), now: Cycle) -> Mechanism {
        let (estimator, channels, prices) = (&self.estimator, &self.channels[..], self.config.prices.as_ref());
        let present = Present { estimator, channels, now };
        let outlook = Outlook { forecast: &present, prices, staging_lines: 64 };
        policy.choose(&self.copy(places), 0, &outlook)
    }

    /// For a copy of a row within bank 0.
    fn fastest(&self) -> Mechanism {
        self.choose(FASTEST, WITHIN_A_BANK, NOW)
    }

    fn book(&mut self, places: (BankRow, BankRow), mechanism: Mechanism, now: Cycle) {
        let program = self.copy(places).programs_of(0, mechanism, 64).remove(0);
        self.estimator.book(&program, &self.channels, now);
    }
}

fn memory() -> Memory {
    Memory::new(config(Refresh::Off, 0))
}

/// On idle banks 2 x PSM takes 562 cycles and the channel 558, plus 4 for each earlier read of the
/// channel; of equal ones, 2 x PSM is preferred.
#[test]
fn the_fastest_is_the_one_that_is_done_first() {
    assert_eq!(memory().reading(3, 0).fastest(), Mechanism::CHANNEL, "a write does not count");
    assert_eq!(memory().reading(3, 1).fastest(), PSM2, "562 cycles each way");
    let in_the_way = memory().reading(1, 1).fastest();
    assert_eq!(in_the_way, Mechanism::CHANNEL, "the indirect way waits for the read in its bank: 4 + tRC");
    let in_common = memory().reading(0, 1).fastest();
    assert_eq!(in_common, Mechanism::CHANNEL, "both wait 32 cycles for their common bank, and the bus is free by then");
    assert_eq!(memory().choose(FASTEST, ((0, 1), (0, 2)), NOW), FPM, "48 cycles");
    assert_eq!(memory().choose(FASTEST, ((0, 1), (1, 1)), NOW), PSM, "290 cycles");
}

#[test]
fn a_row_that_is_open_on_the_indirect_way_is_closed_first() {
    let open = || memory().after(&[Command::Activate { bank: bank(1), row: Row(7) }]);
    assert_eq!(open().reading(3, 2).fastest(), Mechanism::CHANNEL, "8 + 558 against tRP + 562");
    assert_eq!(open().reading(3, 3).fastest(), PSM2, "12 + 558 against 8 + 562");
    // 65,534 is the temporary row itself.
    let ready = memory().after(&[Command::Activate { bank: bank(1), row: Row(65_534) }]);
    assert_eq!(ready.reading(3, 1).fastest(), PSM2, "nothing is closed: 562 cycles each way");
}

#[test]
fn a_rank_that_is_not_awake_delays_its_banks_and_not_the_bus() {
    let asleep = || memory().after(&[Command::PowerDownEnter { rank: 0 }]);
    assert_eq!(asleep().reading(3, 1).fastest(), Mechanism::CHANNEL, "tXP 4 hides a read of 4 cycles");
    assert_eq!(asleep().reading(3, 2).fastest(), PSM2, "8 + 558 against 4 + 562");
    let deeper = || memory().after(&[Command::SelfRefreshEnter { rank: 0 }]);
    assert_eq!(deeper().reading(3, 128).fastest(), Mechanism::CHANNEL, "tDLLK 512 hides 128 reads");
    assert_eq!(deeper().reading(3, 129).fastest(), PSM2, "516 + 558 against 512 + 562");
}

/// The first REF is due at 4160: 94 cycles, tRP + tRFC, delay both mechanisms.
#[test]
fn a_refresh_that_is_owed_delays_its_banks_and_not_the_bus() {
    let reads = |refresh, postpone_max, reads, now| {
        Memory::new(config(refresh, postpone_max)).reading(3, reads).choose(FASTEST, WITHIN_A_BANK, Cycle(now))
    };
    assert_eq!(reads(Refresh::NORMAL, 0, 23, 4159), PSM2, "92 + 558 against 562");
    assert_eq!(reads(Refresh::NORMAL, 0, 23, 4160), Mechanism::CHANNEL, "94 cycles hide 23 reads");
    assert_eq!(reads(Refresh::NORMAL, 0, 25, 4160), PSM2, "100 + 558 against 94 + 562");
    assert_eq!(reads(Refresh::NORMAL, 1, 23, 4160), PSM2, "one may be owed");
    assert_eq!(reads(Refresh::NORMAL, 1, 23, 8319), PSM2, "one may be owed");
    assert_eq!(reads(Refresh::NORMAL, 1, 23, 8320), Mechanism::CHANNEL, "but not two");
}

/// Bank 0 is free in 36 cycles (a read: 8 + tRC): a REF that is due by then precedes.
#[test]
fn a_refresh_that_falls_due_before_the_banks_are_free_delays_them() {
    let done = |now: u64| {
        let memory = Memory::new(config(Refresh::NORMAL, 0)).reading(0, 2);
        let program = memory.copy(WITHIN_A_BANK).programs_of(0, PSM2, 64).remove(0);
        memory.estimator.done(&program, &memory.channels, Cycle(now)).0 - now
    };
    assert_eq!(done(4160 - 37), 36 + 562);
    assert_eq!(done(4160 - 36), 36 + 94 + 562);
}

#[test]
fn what_is_booked_delays_what_comes_after_it() {
    // Between banks 4 and 5 over the channel: the bus is booked for 128 lines of 4 cycles.
    let mut bus = memory();
    bus.book(((4, 1), (5, 1)), Mechanism::CHANNEL, NOW);
    let chosen = |after: u64| bus.choose(FASTEST, WITHIN_A_BANK, Cycle(1000 + after));
    assert_eq!(chosen(0), PSM2, "562 against 512 + 558");
    assert_eq!(chosen(508), PSM2, "562 cycles each way");
    assert_eq!(chosen(509), Mechanism::CHANNEL, "the bus is free in 3 cycles");
    // From bank 1 to bank 2 by PSM: 290 cycles.
    let mut banks = memory().reading(3, 1);
    banks.book(((1, 1), (2, 1)), PSM, NOW);
    let chosen = |after: u64| banks.choose(FASTEST, WITHIN_A_BANK, Cycle(1000 + after));
    assert_eq!(chosen(289), Mechanism::CHANNEL, "4 + 558 against 1 + 562");
    assert_eq!(chosen(290), PSM2, "562 cycles each way");
    // A second booking begins where the first ends.
    banks.book(((1, 1), (2, 1)), PSM, NOW);
    let chosen = |after: u64| banks.choose(FASTEST, WITHIN_A_BANK, Cycle(1000 + after));
    assert_eq!([chosen(579), chosen(580)], [Mechanism::CHANNEL, PSM2]);
}

/// Between banks, 128 lines on the bus take 64 (30 + 20) = 3200; 64 TRANSFERs at 50 take as much.
#[test]
fn the_cheapest_is_the_one_that_costs_least() {
    let chosen = |transfer| {
        let prices = Some(PRICES.with(CommandKind::Transfer, Picojoule(transfer)));
        Memory::new(Config { prices, ..config(Refresh::Off, 0) }).choose(LEAST_ENERGY, ((0, 1), (1, 1)), NOW)
    };
    assert_eq!(chosen(50.0), PSM, "of equals, the first of the paper's rule");
    assert_eq!(chosen(50.1), Mechanism::CHANNEL);
}
