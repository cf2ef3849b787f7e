//! How long a mechanism takes, what it costs, and which one is taken for it.

use std::sync::Arc;

use dram_core::{Device, Timings};
use dram_spec::address::{AddressMap, Preset};
use dram_spec::{BankId, Channel, Column, Command, Cycle, Location, PhysicalAddress, Picojoule, Refresh, Row};
use memctrl::estimate::{Estimator, Outlook, duration, energy};
use memctrl::{Config, Policy, PriceTable};
use rowclone::{Block, FaultyRows, Mechanism, Operation, Planner, Work};

use crate::{bank, system};

/// A channel, a bank and a row.
type Place = (u8, u8, u32);

fn config(channels: u64, policy: Policy) -> Config {
    let system = system(channels, Refresh::Off);
    let map = AddressMap::preset(system.geometry, Preset::RowInterleaved);
    Config::new(system, Arc::new(Planner::new(map, FaultyRows::default())), policy)
}

fn address(config: &Config, (channel, id, row): Place, column: u16) -> PhysicalAddress {
    let (channel, bank, row, column) = (Channel(channel), bank(id), Row(row), Column(column));
    config.planner.map().address(Location { channel, bank, row, column, offset: 0 }).unwrap()
}

fn copy(config: &Config, src: Place, dst: Place, bytes: u64) -> Block {
    let operation = Operation::Copy { src: address(config, src, 0), dst: address(config, dst, 0), bytes };
    config.planner.blocks(&operation).next().unwrap()
}

fn work(block: &Block, mechanism: Mechanism) -> Work {
    block.segments(&[mechanism], 64).remove(0).work
}

#[test]
fn a_segment_takes_the_clocks_of_its_commands() {
    let config = config(2, Policy::Fastest);
    let timings = Timings::new(&config.system);
    let clocks = |src, dst, mechanism| {
        // One line, then a row of 64: 63 more bursts of 4 clocks.
        [64, 4096].map(|bytes| duration(&work(&copy(&config, src, dst, bytes), mechanism), &timings).0)
    };
    let (here, near) = ((0, 0, 1), (0, 0, 2));
    let (far, other_bank, other_channel) = ((0, 0, 600), (0, 1, 1), (1, 0, 1));
    let fpm = duration(&work(&copy(&config, here, near, 4096), Mechanism::Fpm), &timings).0;
    assert_eq!(fpm, 20 + 20 + 8, "2 tRAS + tRP");
    // tRRD + tRCD + bursts + CWL + BL/2 + tWR + tRP
    assert_eq!(clocks(here, other_bank, Mechanism::Psm), [4 + 8 + 26, 4 + 8 + 252 + 26]);
    // The first row is open for tRRD + tRCD + bursts + tRTP, at least for tRAS; then tRP + tRCD + bursts + 26.
    assert_eq!(clocks(here, far, Mechanism::Psm2), [20 + 8 + 8 + 26, 4 + 8 + 252 + 4 + 8 + 8 + 252 + 26]);
    // Within a bank: the first row is open for tRCD + bursts + tRTP, at least for tRAS; then tRP + tRCD + bursts + 26.
    assert_eq!(clocks(here, far, Mechanism::Channel), [20 + 8 + 8 + 26, 8 + 252 + 4 + 8 + 8 + 252 + 26]);
    // Between banks: tRCD + bursts + RD to WR (8 + 4 + 2 - 6) + bursts + 26.
    assert_eq!(clocks(here, other_bank, Mechanism::Channel), [8 + 8 + 26, 8 + 252 + 8 + 252 + 26]);
    // Between channels: tRCD + bursts + CL + BL/2 - CWL + 26.
    assert_eq!(clocks(here, other_channel, Mechanism::Channel), [8 + 6 + 26, 8 + 252 + 6 + 26]);
    let fill = |bytes| {
        let operation = Operation::Init { dst: address(&config, here, 0), bytes, value: 1 };
        duration(&work(&config.planner.blocks(&operation).next().unwrap(), Mechanism::Channel), &timings).0
    };
    // tRCD + bursts + 26.
    assert_eq!([fill(64), fill(4096)], [8 + 26, 8 + 252 + 26]);
}

/// Prices that no two of which add up to a third.
const PRICES: PriceTable = PriceTable {
    activate: Picojoule(1000.0),
    copy_activate: Picojoule(700.0),
    read: Picojoule(30.0),
    write: Picojoule(20.0),
    transfer: Picojoule(1.0),
};

#[test]
fn a_segment_costs_the_sum_of_its_commands() {
    let config = config(1, Policy::LeastEnergy);
    let cost = |src, dst, mechanism| energy(&work(&copy(&config, src, dst, 4096), mechanism), &PRICES).0;
    let same = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
    let (here, near, far, other_bank) = ((0, 0, 1), (0, 0, 2), (0, 0, 600), (0, 1, 1));
    same(cost(here, near, Mechanism::Fpm), 1000.0 + 700.0);
    same(cost(here, other_bank, Mechanism::Psm), 2.0 * 1000.0 + 64.0);
    same(cost(here, far, Mechanism::Psm2), 3.0 * 1000.0 + 2.0 * 64.0);
    same(cost(here, far, Mechanism::Channel), 2.0 * 1000.0 + 64.0 * (30.0 + 20.0));
    // 32 lines of a row to the other half of it: one activation.
    let operation = Operation::Copy { src: address(&config, here, 0), dst: address(&config, here, 32), bytes: 2048 };
    let within_a_row = work(&config.planner.blocks(&operation).next().unwrap(), Mechanism::Channel);
    same(energy(&within_a_row, &PRICES).0, 1000.0 + 32.0 * (30.0 + 20.0));
}

/// A device, and the reads queued in each bank.
struct Seen {
    device: Device,
    reads: [u64; 8],
}

impl Outlook for Seen {
    fn device(&self, _: Channel) -> &Device {
        &self.device
    }

    fn reads_in(&self, _: Channel, bank: BankId) -> u64 {
        self.reads[usize::from(bank.bank)]
    }

    fn reads_on(&self, _: Channel) -> u64 {
        self.reads.iter().sum()
    }
}

const NOW: Cycle = Cycle(1000);
/// Another subarray of bank 0. The way round leads through bank 1.
const WITHIN_A_BANK: (Place, Place) = ((0, 0, 1), (0, 0, 600));

/// What is chosen for a copy of a row within bank 0, after these commands from cycle 0 on, with so many reads queued in a bank.
fn chosen(commands: &[Command], (queued_in, reads): (u8, u64)) -> Mechanism {
    let config = config(1, Policy::Fastest);
    let mut seen = Seen { device: Device::new(&config.system, None), reads: [0; 8] };
    for command in commands {
        let at = seen.device.earliest(command).unwrap().until;
        seen.device.issue(at, command);
    }
    seen.reads[usize::from(queued_in)] = reads;
    let block = copy(&config, WITHIN_A_BANK.0, WITHIN_A_BANK.1, 4096);
    Estimator::new(&config).choose(&config, &seen, &block, NOW)[0]
}

/// On idle banks 2 x PSM takes 562 clocks and the channel 558, plus 4 for each read that the channel has before it; of equals, 2 x PSM
/// goes first.
#[test]
fn the_fastest_is_the_one_that_is_done_first() {
    assert_eq!(chosen(&[], (3, 0)), Mechanism::Channel);
    assert_eq!(chosen(&[], (3, 1)), Mechanism::Psm2, "562 clocks each way");
    assert_eq!(chosen(&[], (1, 1)), Mechanism::Channel, "the way round waits for the read in its bank: 4 + tRC");
    assert_eq!(
        chosen(&[], (0, 1)),
        Mechanism::Channel,
        "both wait for their common bank: 32 clocks, and the bus is free by then"
    );
}

#[test]
fn a_row_that_is_open_on_the_way_round_is_closed_first() {
    let open = [Command::Activate { bank: bank(1), row: Row(7) }];
    assert_eq!(chosen(&open, (3, 2)), Mechanism::Channel, "8 + 558 against tRP + 562");
    assert_eq!(chosen(&open, (3, 3)), Mechanism::Psm2, "12 + 558 against 8 + 562");
    // 65,534 is the temporary row itself.
    let ready = [Command::Activate { bank: bank(1), row: Row(65_534) }];
    assert_eq!(chosen(&ready, (3, 1)), Mechanism::Psm2, "nothing is closed: 562 clocks each way");
}

#[test]
fn a_rank_that_is_not_awake_delays_its_banks_and_not_the_bus() {
    let power_down = [Command::PowerDownEnter { rank: 0 }];
    assert_eq!(chosen(&power_down, (3, 1)), Mechanism::Channel, "tXP 4 hides a read of 4 clocks");
    assert_eq!(chosen(&power_down, (3, 2)), Mechanism::Psm2, "8 + 558 against 4 + 562");
    let self_refresh = [Command::SelfRefreshEnter { rank: 0 }];
    assert_eq!(chosen(&self_refresh, (3, 128)), Mechanism::Channel, "tDLLK 512 hides 128 reads");
    assert_eq!(chosen(&self_refresh, (3, 129)), Mechanism::Psm2, "516 + 558 against 512 + 562");
}

#[test]
fn what_is_booked_delays_what_comes_after_it() {
    let config = config(1, Policy::Fastest);
    let seen = Seen { device: Device::new(&config.system, None), reads: [0; 8] };
    let choose = |estimator: &Estimator, (src, dst): (Place, Place), at: u64| {
        estimator.choose(&config, &seen, &copy(&config, src, dst, 4096), Cycle(at))[0]
    };
    // Between banks 4 and 5 over the channel: the bus is booked for 128 lines of 4 clocks.
    let mut bus = Estimator::new(&config);
    bus.book(&config, &seen, &work(&copy(&config, (0, 4, 1), (0, 5, 1), 4096), Mechanism::Channel), NOW);
    assert_eq!(choose(&bus, WITHIN_A_BANK, 1000), Mechanism::Psm2, "562 against 512 + 558");
    assert_eq!(choose(&bus, WITHIN_A_BANK, 1000 + 508), Mechanism::Psm2, "562 clocks each way");
    assert_eq!(choose(&bus, WITHIN_A_BANK, 1000 + 509), Mechanism::Channel, "the bus is free in 3 clocks");
    // From bank 1 to bank 2 by PSM: 290 clocks.
    let mut banks = Estimator::new(&config);
    banks.book(&config, &seen, &work(&copy(&config, (0, 1, 1), (0, 2, 1), 4096), Mechanism::Psm), NOW);
    let mut one_read = Seen { device: Device::new(&config.system, None), reads: [0; 8] };
    one_read.reads[3] = 1;
    let chosen =
        |at| banks.choose(&config, &one_read, &copy(&config, WITHIN_A_BANK.0, WITHIN_A_BANK.1, 4096), Cycle(at))[0];
    assert_eq!(chosen(1000 + 289), Mechanism::Channel, "4 + 558 against 1 + 562");
    assert_eq!(chosen(1000 + 290), Mechanism::Psm2, "562 clocks each way");
}

/// Between banks, 128 lines on the bus cost 64 (30 + 20) = 3200; 64 TRANSFERs at 50 cost as much.
#[test]
fn the_cheapest_is_the_one_that_costs_least() {
    let chosen = |transfer| {
        let prices = PriceTable { transfer: Picojoule(transfer), ..PRICES };
        let config = Config { prices: Some(prices), ..config(1, Policy::LeastEnergy) };
        let seen = Seen { device: Device::new(&config.system, None), reads: [0; 8] };
        Estimator::new(&config).choose(&config, &seen, &copy(&config, (0, 0, 1), (0, 1, 1), 4096), NOW)[0]
    };
    assert_eq!(chosen(50.0), Mechanism::Psm, "of equals, the first of the paper's rule");
    assert_eq!(chosen(50.1), Mechanism::Channel);
}
