//! Two runs compared with four other simulators, which agree on both to 0.2 %.

use memctrl::policy::copy::BASELINE;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dram_spec::address::RawAddressMap;
use dram_spec::{
    AddressMap, Cycles, Density, Geometry, PhysicalAddress, RawGeometry, SpeedBin, Standard, System, Width,
};
use host::workload::{CopyBy, PageCopies, Pairs, Pattern, Settings, Stream, StreamAccess};
use memctrl::{Config, Controller};
use rowclone::{FaultyRows, Planner};

/// Cycles to the end of the last data. DDR3-1600 11-11-11, 4 Gb x8 chips (8 KB rows), one channel,
/// one rank, the map row : rank : bank : column, FR-FCFS, open rows, no postponed refresh; requests
/// are taken as fast as the queues permit.
fn cycles(settings: &Settings) -> u64 {
    let (density, width) = (Density::Gb4, Width::X8);
    let raw = RawGeometry {
        standard: Standard::Ddr3,
        channels: 1,
        ranks: 1,
        density,
        width,
        row_bytes: 8192,
        rows_per_subarray: 512.into(),
    };
    let geometry = Geometry::try_from(raw).unwrap();
    let system = System { bin: SpeedBin::named("1600K").unwrap(), geometry, ..System::paper(1, density, width) };
    let fields = ["row", "rank", "bank", "channel", "column", "offset"].map(str::to_owned).to_vec();
    let map = AddressMap::new(geometry, &RawAddressMap { fields: fields.into(), xor: Vec::new() }).unwrap();
    let planner = Planner::new(map, FaultyRows::default());
    let mut workload = settings.source(&planner, None, 1, None).unwrap();
    let mut controller = Controller::new(&Config::new(system, Arc::new(planner), BASELINE));
    controller.run(&mut workload, &mut (), &AtomicBool::new(false)).unwrap().end.0
}

fn assert_within_half_a_percent(found: u64, expected: f64) {
    assert!((found as f64 / expected - 1.0).abs() <= 0.005, "{found} cycles, not {expected}");
}

/// A tenth of 1,000,000 reads, which take 4,157,000 cycles.
#[test]
fn sequential_reads_agree_with_other_simulators() {
    let (start, access) = (PhysicalAddress(0), StreamAccess::Pattern(Pattern::READS));
    let stream = Stream { start, count: 100_000, stride_bytes: 64, access, gap: Cycles(0).into() };
    assert_within_half_a_percent(cycles(&Settings::new(stream)), 415_700.0);
}

/// A tenth of 8,000 times 64 reads of page 2i and then 64 writes of page 2i + 1, which take
/// 4,417,000 cycles.
#[test]
fn page_copies_by_lines_agree_with_other_simulators() {
    let (start, page_bytes, count) = (PhysicalAddress(0), 4096, 800);
    let (pairs, by) = (Pairs::Neighbors, CopyBy::Lines);
    let copies =
        PageCopies { count, start, bytes: 2 * count * page_bytes, page_bytes, pairs, by, gap: Cycles(0).into() };
    assert_within_half_a_percent(cycles(&Settings::new(copies)), 441_700.0);
}
