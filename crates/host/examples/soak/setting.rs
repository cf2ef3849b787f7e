//! A memory system and its controller, drawn from a seed.

use std::sync::Arc;

use dram_spec::address::{Preset, RawAddressMap, RawXor};
use dram_spec::datasheet::BINS;
use dram_spec::geometry::{PAPER_ROW_BYTES, native_row_bytes};
use dram_spec::{
    AddressMap, BankId, Channel, CopyActivations, Cycles, Density, Geometry, Picojoule, PrechargePowerDown,
    RawGeometry, Refresh, Row, System, Width,
};
use memctrl::refresh::RefreshPolicy;
use memctrl::{Config, Policy, PowerPolicy, PriceTable, Queues, RowPolicy, Scheduler};
use os_alloc_sim::Generator;
use rowclone::{FaultyRows, Planner};

/// One of a list, each as likely.
pub fn one_of<T: Copy>(chance: &mut Generator, list: &[T]) -> T {
    list[chance.below(list.len() as u32) as usize]
}

/// Refreshed, and with ranks that sleep; the rest as it comes.
pub fn draw(chance: &mut Generator) -> Config {
    let (system, map) = loop {
        let system = draw_system(chance);
        // Not every map fits every geometry.
        if let Ok(map) = AddressMap::new(system.geometry, &draw_map(chance)) {
            break (system, map);
        }
    };
    let faulty = (0..chance.below(4)).map(|_| {
        let bank = BankId { rank: 0, bank: chance.below(8) as u8 };
        (Channel(0), bank, Row(one_of(chance, &[0, 1, 2, 127, 511])))
    });
    let planner = Planner::new(map, faulty.collect::<FaultyRows>());
    let policy = one_of(chance, &Policy::ALL);
    Config {
        // Prices in some order that is as likely as another: `least-energy` then takes now this, now that.
        prices: Some(draw_prices(chance)),
        staging_lines: one_of(chance, &[1, 7, 64, 512]),
        copy_hold_max: one_of(chance, &[None, Some(1), Some(50), Some(200), Some(1000)]).map(Cycles),
        queues: draw_queues(chance),
        scheduler: draw_scheduler(chance),
        row_policy: one_of(
            chance,
            &[
                RowPolicy::Open,
                RowPolicy::Closed,
                RowPolicy::Timeout(Cycles(20)),
                RowPolicy::Timeout(Cycles(100)),
                RowPolicy::Timeout(Cycles(1000)),
            ],
        ),
        refresh: RefreshPolicy { postpone_max: u64::from(chance.below(9)) },
        power: PowerPolicy {
            power_down_after: Some(Cycles(one_of(chance, &[1, 10, 100, 1000]))),
            self_refresh_after: one_of(chance, &[None, Some(500), Some(3000), Some(20_000)]).map(Cycles),
        },
        warm_up: Cycles(one_of(chance, &[0, 10_000])),
        epoch: one_of(chance, &[None, Some(Cycles(100_000))]),
        ..Config::new(system, Arc::new(planner), policy)
    }
}

fn draw_system(chance: &mut Generator) -> System {
    let density = one_of(chance, &Density::ALL);
    let width = one_of(chance, &Width::ALL);
    let raw = RawGeometry {
        channels: one_of(chance, &[1, 2, 4]),
        ranks: one_of(chance, &[1, 2, 4]),
        density,
        width,
        row_bytes: one_of(chance, &[PAPER_ROW_BYTES, native_row_bytes(density, width)]),
        rows_per_subarray: one_of(chance, &[128, 256, 512, 1024]),
    };
    System {
        bin: &BINS[chance.below(BINS.len() as u32) as usize],
        geometry: Geometry::try_from(raw).expect("each count is one that a geometry can have"),
        copy_activations: one_of(chance, &[CopyActivations::Counted, CopyActivations::Free]),
        precharge_power_down: one_of(chance, &[PrechargePowerDown::FastExit, PrechargePowerDown::SlowExit]),
        refresh: Refresh::Every { t_refi_ps: one_of(chance, &[7_800_000, 3_900_000, 1_950_000]) },
    }
}

fn draw_map(chance: &mut Generator) -> RawAddressMap {
    let list =
        |fields: [&str; 7]| RawAddressMap { fields: fields.into_iter().map(str::to_string).collect(), xor: vec![] };
    match chance.below(7) {
        0 => Preset::BankInterleaved.raw(),
        1 => Preset::LineInterleaved.raw(),
        2 => list(["row", "subarray", "rank", "bank", "channel", "column", "offset"]),
        3 => list(["row", "column:2", "bank", "rank", "channel", "column", "offset"]),
        4 => RawAddressMap {
            xor: vec![RawXor { field: "bank".to_string(), bit: 0, address_bits: vec![21, 23] }],
            ..Preset::RowInterleaved.raw()
        },
        _ => Preset::RowInterleaved.raw(),
    }
}

fn draw_prices(chance: &mut Generator) -> PriceTable {
    let mut price = |most: u32| Picojoule(f64::from(1 + chance.below(most)));
    PriceTable {
        activate: price(30_000),
        copy_activate: price(30_000),
        read: price(20_000),
        write: price(30_000),
        transfer: price(20_000),
    }
}

fn draw_scheduler(chance: &mut Generator) -> Scheduler {
    let cap = Scheduler::FrFcfsCap(1 + chance.below(8));
    one_of(chance, &[Scheduler::Fcfs, Scheduler::FrFcfs, cap])
}

fn draw_queues(chance: &mut Generator) -> Queues {
    let write_entries = one_of(chance, &[1, 4, 64]);
    let drain_high = 1 + chance.below(write_entries) as usize;
    Queues {
        read_entries: one_of(chance, &[1, 4, 64]),
        write_entries: write_entries as usize,
        copy_entries: one_of(chance, &[1, 4, 32]),
        drain_high,
        drain_low: chance.below(drain_high as u32) as usize,
    }
}
