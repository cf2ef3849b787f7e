//! Copies on DDR4 with subarrays whose size is no power of two. With 640, 640 and 768 rows, subarrays end with rows
//! 639, 1279 and 2047; with 576 rows, the last one of a bank of 65,536 rows is that of the rows from 65,088 on.

use std::sync::Arc;

use dram_spec::address::{AddressMap, MapPreset};
use dram_spec::{
    Column, Command, Density, Effect, Geometry, Location, Operation, PhysicalAddress, RawGeometry, Refresh, Row,
    RowsPerSubarray, SpeedBin, Standard, System, Width,
};
use memctrl::Config;
use memctrl::policy::copy::{CopyPolicy, LISA, ROWCLONE};
use rowclone::{CopySupport, FaultyRows, Planner};

use crate::drive::{Outcome, run_until};
use crate::{bank, requests};

const ROW_BYTES: u64 = 8192;

fn config(rows: impl Into<RowsPerSubarray>, policy: &'static dyn CopyPolicy) -> Config {
    let raw = RawGeometry {
        standard: Standard::Ddr4,
        channels: 1,
        ranks: 1,
        density: Density::Gb8,
        width: Width::X8,
        row_bytes: ROW_BYTES,
        rows_per_subarray: rows.into(),
    };
    let geometry = Geometry::try_from(raw).unwrap();
    let system = System { refresh: Refresh::Off, ..System::new(SpeedBin::named("DDR4-2400R").unwrap(), geometry) };
    let map = AddressMap::preset(geometry, MapPreset::RowInterleaved);
    let planner = Planner::of_chips(map, FaultyRows::default(), CopySupport::offering(CopySupport::names()));
    Config::new(system, Arc::new(planner), policy)
}

/// First byte of a row of bank 0.
fn start(config: &Config, row: u32) -> PhysicalAddress {
    let location = Location { bank: bank(0), row: Row(row), column: Column(0), ..Location::default() };
    config.planner.map().address(location).unwrap()
}

/// A copy of a row of bank 0.
fn copied(config: &Config, src: u32, dst: u32) -> Outcome {
    let operation = Operation::Copy { src: start(config, src), dst: start(config, dst), bytes: ROW_BYTES };
    run_until(config, requests(&[(0, operation)]), 10_000)
}

/// The zeroing of a row of bank 0.
fn zeroed(config: &Config, row: u32) -> Vec<String> {
    let operation = Operation::Init { dst: start(config, row), bytes: ROW_BYTES, value: 0 };
    commands(&run_until(config, requests(&[(0, operation)]), 10_000))
}

/// The commands, without their cycles.
fn commands(outcome: &Outcome) -> Vec<String> {
    outcome.events.iter().map(|event| event.command.to_string()).collect()
}

#[test]
fn fpm_copies_within_a_subarray_up_to_its_last_usable_row() {
    let config = config([640, 640, 768], ROWCLONE);
    for (src, dst) in [(0, 638), (638, 1), (640, 1278), (1278, 640), (1280, 2046), (2686, 2048)] {
        let expected = [format!("ACT r0 b0 row {src}"), format!("ACT r0 b0 row {dst}"), "PRE r0 b0".to_owned()];
        assert_eq!(commands(&copied(&config, src, dst)), expected);
    }
}

/// By way of the temporary row of another bank, the last row but one.
#[test]
fn rows_of_neighboring_subarrays_are_copied_by_two_transfers() {
    for (rows, src, dst) in [([640, 640, 768], 638, 640), ([640, 640, 768], 1280, 1278), ([576; 3], 575 - 1, 576)] {
        let outcome = copied(&config(rows, ROWCLONE), src, dst);
        let transfers = outcome.events.iter().filter(|event| matches!(event.command, Command::Transfer { .. })).count();
        assert_eq!(transfers, 2 * 128, "{src} to {dst}");
        let temporary =
            |event: &&dram_spec::CommandEvent| matches!(event.command, Command::Activate { row: Row(65_534), .. });
        assert!(outcome.events.iter().any(|event| temporary(&event)), "{:?}", outcome.listing);
    }
}

#[test]
fn zeros_come_from_the_last_row_of_the_subarray() {
    let expected =
        |zero: u32, row: u32| [format!("ACT r0 b0 row {zero}"), format!("ACT r0 b0 row {row}"), "PRE r0 b0".to_owned()];
    let pattern = config([640, 640, 768], ROWCLONE);
    for (zero, row) in [(639, 511), (639, 638), (1279, 640), (2047, 1280), (2687, 2048), (65_535, 65_533)] {
        assert_eq!(zeroed(&pattern, row), expected(zero, row));
    }
    let cut = config(576, ROWCLONE);
    for (zero, row) in [(575, 0), (1151, 1024), (65_087, 65_086), (65_535, 65_088)] {
        assert_eq!(zeroed(&cut, row), expected(zero, row));
    }
}

#[test]
fn a_row_buffer_moves_over_the_subarrays_of_the_pattern() {
    let hops = |rows: RowsPerSubarray, src, dst| {
        let outcome = copied(&config(rows, LISA), src, dst);
        let moved = outcome.events.iter().find_map(|event| match event.effect {
            Effect::Moved { hops, .. } => Some(hops),
            _ => None,
        });
        moved.expect("LISA copies between subarrays")
    };
    let pattern = RowsPerSubarray::from([640, 640, 768]);
    assert_eq!((hops(pattern, 638, 640), hops(pattern, 0, 1280), hops(pattern, 2048, 638)), (1, 2, 3));
    // Twelve times the three subarrays of 2048 rows.
    assert_eq!(hops(pattern, 5, 12 * 2048 + 700), 37);
    assert_eq!((hops(576.into(), 0, 65_100), hops(576.into(), 65_086, 65_088)), (113, 1));
}
