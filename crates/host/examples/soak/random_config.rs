//! Random controllers and memories.

use std::sync::Arc;

use dram_spec::address::{MapPreset, RawAddressMap, RawXor};
use dram_spec::geometry::{PAPER_ROW_BYTES, native_row_bytes};
use dram_spec::standard::Definition;
use dram_spec::{
    AddressMap, BankId, BankSet, Channel, Chip, CommandKind, CopyActivations, Cycles, Geometry, Picojoule,
    PrechargePowerDown, RawGeometry, ReferenceCycle, Refresh, Row, RowsPerSubarray, Standard, System,
};
use memctrl::RefreshPolicy;
use memctrl::policy::copy::POLICIES;
use memctrl::policy::row::RowPolicy;
use memctrl::policy::scheduler::{Bliss, Fcfs, FrFcfs, FrFcfsCap, ParBs};
use memctrl::{Config, PowerPolicy, PriceTable, QueueSettings, check_progress};
use os_alloc_sim::Generator;
use rowclone::{FaultyRows, Planner};

/// One of several values, with equal probability.
pub fn one_of<T: Copy>(generator: &mut Generator, all: &[T]) -> T {
    all[generator.below(all.len() as u32) as usize]
}

fn from_to(generator: &mut Generator, least: u32, most: u32) -> usize {
    (least + generator.below(most - least + 1)) as usize
}

fn cycles(generator: &mut Generator, least: u32, most: u32) -> Cycles {
    Cycles(from_to(generator, least, most) as u64)
}

/// `None` with probability one half.
fn optional<T>(generator: &mut Generator, some: impl FnOnce(&mut Generator) -> T) -> Option<T> {
    (generator.below(2) == 0).then(|| some(generator))
}

/// A random controller of a random memory with refresh.
pub fn config(generator: &mut Generator) -> Config {
    let system = system(generator);
    let map = AddressMap::new(system.geometry, &map(generator, &system.geometry))
        .expect("each map fits every geometry of four channels and ranks");
    let chips = [rowclone::CopySupport::ROWCLONE, rowclone::CopySupport::offering(rowclone::CopySupport::names())];
    let of_chips = |faulty, support| Arc::new(Planner::of_chips(map.clone(), faulty, support));
    let faulty = faulty_rows(generator, &system.geometry);
    let offered = of_chips(faulty.clone(), one_of(generator, &chips));
    // Through many subarrays, a row buffer movement may take longer than a REF can wait.
    let is_in_time = check_progress(&system, &offered, &FrFcfs).is_ok();
    let planner = if is_in_time { offered } else { of_chips(faulty, rowclone::CopySupport::ROWCLONE) };
    let write_entries = from_to(generator, 2, 64);
    let drain_high = from_to(generator, 1, write_entries as u32);
    Config {
        prices: Some(prices(generator)),
        staging_lines: from_to(generator, 1, 128),
        copy_hold_max: optional(generator, |generator| cycles(generator, 1, 2000)),
        queues: QueueSettings {
            read_entries: from_to(generator, 1, 64),
            write_entries,
            copy_entries: from_to(generator, 1, 32),
            admission_per_cycle: from_to(generator, 1, 4),
            drain_high,
            drain_low: from_to(generator, 0, drain_high as u32 - 1),
        },
        scheduler: match generator.below(5) {
            0 => Box::new(Fcfs),
            1 => Box::new(FrFcfs),
            2 => Box::new(FrFcfsCap { cap: from_to(generator, 1, 16) as u32 }),
            3 => Box::new(Bliss::DEFAULT),
            _ => Box::new(ParBs::new(from_to(generator, 1, 8))),
        },
        row_policy: match generator.below(3) {
            0 => RowPolicy::Open,
            1 => RowPolicy::Closed,
            _ => RowPolicy::Timeout { after: cycles(generator, 1, 500) },
        },
        refresh: RefreshPolicy { postpone_max: from_to(generator, 0, 8) as u64, idle: cycles(generator, 0, 500) },
        power: PowerPolicy {
            power_down_after: Some(cycles(generator, 1, 500)),
            self_refresh_after: optional(generator, |generator| cycles(generator, 100, 8000)),
        },
        warm_up: if generator.below(4) == 0 { cycles(generator, 0, 100_000) } else { Cycles(0) },
        epoch: optional(generator, |generator| cycles(generator, 50_000, 500_000)),
        ..Config::new(system, planner, one_of(generator, &POLICIES))
    }
}

/// A memory of any standard; half of them are DDR3.
fn system(generator: &mut Generator) -> System {
    let standard = if generator.below(2) == 0 { Standard::Ddr3 } else { one_of(generator, &Standard::ALL) };
    let Definition { bins, chips, refresh_modes, t_refi_ps, rank_banks_max, .. } = standard.definition();
    let bins: Vec<_> = bins.iter().filter(|bin| bin.has_latencies()).collect();
    let Chip { density, width, .. } = one_of(generator, chips);
    let raw = RawGeometry {
        standard,
        channels: one_of(generator, &[1, 2, 4]),
        ranks: one_of(generator, &[1, 2, 4]).min(BankSet::CAPACITY as u64 / u64::from(*rank_banks_max)),
        density,
        width,
        row_bytes: one_of(generator, &[PAPER_ROW_BYTES, native_row_bytes(standard, density, width)]),
        rows_per_subarray: rows_per_subarray(generator),
    };
    let refresh_mode = &refresh_modes[generator.below(refresh_modes.len() as u32) as usize];
    // A fine mode divides the interval itself.
    let divided = if refresh_mode.divisor == 1 { one_of(generator, &[1, 2, 4]) } else { 1 };
    System {
        copy_activations: one_of(generator, &[CopyActivations::Counted, CopyActivations::Free]),
        precharge_power_down: one_of(generator, &[PrechargePowerDown::FastExit, PrechargePowerDown::SlowExit]),
        reference_cycle: one_of(generator, &[ReferenceCycle::First, ReferenceCycle::Second]),
        refresh: Refresh::Every { t_refi_ps: t_refi_ps / divided },
        refresh_mode,
        ..System::new(one_of(generator, &bins), Geometry::try_from(raw).expect("each of these fits the others"))
    }
}

/// A power of two, or in one of four systems a pattern. Its numbers are even, so that no bank ends with a
/// subarray of one row.
fn rows_per_subarray(generator: &mut Generator) -> RowsPerSubarray {
    if generator.below(4) > 0 {
        return one_of(generator, &[128, 256, 512, 1024]).into();
    }
    let numbers = from_to(generator, 1, 8);
    (0..numbers).map(|_| 2 * from_to(generator, 64, 512) as u64).collect()
}

fn map(generator: &mut Generator, geometry: &Geometry) -> RawAddressMap {
    let [by_row, by_bank, by_line, _] = MapPreset::ALL.map(MapPreset::fields);
    let fields: &[&str] = one_of(
        generator,
        &[
            by_row,
            by_bank,
            by_line,
            &["row", "subarray", "rank", "bank", "channel", "column", "offset"],
            &["channel", "rank", "bank", "row", "column", "offset"],
            &["row", "column:2", "bank", "rank", "channel", "column", "offset"],
        ],
    );
    // Address bits of rows, mainly those above the other fields.
    let hash = RawXor { field: "bank".to_string(), bit: 0, address_bits: vec![25, 26] };
    let hashed = fields[0] == "row" && generator.below(3) == 0;
    let has_subarray = geometry.subarray_row_bits().is_some();
    let listed = fields.iter().filter(|&&field| has_subarray || field != "subarray");
    RawAddressMap {
        fields: listed.map(|&field| field.to_string()).collect::<Vec<_>>().into(),
        xor: if hashed { vec![hash] } else { Vec::new() },
    }
}

/// A few faulty rows among those that the requests use.
fn faulty_rows(generator: &mut Generator, geometry: &Geometry) -> FaultyRows {
    let count = one_of(generator, &[0, 0, 0, 40]);
    let row = |_| {
        let bank = BankId {
            rank: generator.below(u32::from(geometry.ranks())) as u8,
            bank: generator.below(u32::from(geometry.banks())) as u8,
        };
        (Channel(generator.below(u32::from(geometry.channels())) as u8), bank, Row(generator.below(64)))
    };
    (0..count).map(row).collect()
}

/// Random prices, such that each mechanism may be the cheapest.
fn prices(generator: &mut Generator) -> PriceTable {
    use CommandKind::{Activate, CopyActivate, MoveRowBuffer, Read, Transfer, Write};
    let mut price = || Picojoule(f64::from(1000 + generator.below(40_000)));
    let kinds = [Activate, CopyActivate, Read, Write, Transfer, MoveRowBuffer];
    kinds.into_iter().fold(PriceTable::default(), |prices, kind| prices.with(kind, price()))
}
