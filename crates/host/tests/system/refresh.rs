//! Refresh while the command bus is full.

use dram_spec::address::RawAddressMap;
use dram_spec::{
    AddressMap, Cycle, Density, Dialect, Geometry, PhysicalAddress, RawGeometry, SpeedBin, Standard, System, Width,
};
use host::MemoryCheck;
use memctrl::Config;
use memctrl::RefreshPolicy;
use memctrl::policy::copy::PSM_ONLY;
use rowclone::{FaultyRows, Operation};

use crate::common::{config, run};

/// TRANSFERs of two ranks alone fill the command bus. In this smallest mix of operations, banks of
/// another rank, behind older threads, would not be closed in time for a REF that cannot be
/// postponed further, unless their precharges had priority. (The device panics if a REF is late.)
#[test]
fn precharges_for_a_due_refresh_have_priority_on_a_full_command_bus() {
    let (density, width) = (Density::Gb8, Width::X4);
    let raw = RawGeometry {
        standard: Standard::Ddr3,
        channels: 1,
        ranks: 4,
        density,
        width,
        row_bytes: 32_768,
        rows_per_subarray: 128.into(),
    };
    let system = System {
        bin: SpeedBin::named("800E").unwrap(),
        geometry: Geometry::try_from(raw).unwrap(),
        ..System::paper(1, density, width)
    };
    let fields = ["row", "column:2", "bank", "rank", "channel", "column", "offset"].map(String::from);
    let map = AddressMap::new(system.geometry, &RawAddressMap { fields: fields.to_vec().into(), xor: vec![] }).unwrap();
    let at = PhysicalAddress;
    let zero = |dst, bytes| Operation::Init { dst: at(dst), bytes, value: 0 };
    let copy = |src, dst, bytes| Operation::Copy { src: at(src), dst: at(dst), bytes };
    let operations = [
        (zero(0, 65_536), None),
        (zero(0, 1), None),
        (copy(0x10_a000, 0xa000, 65_536), None),
        (copy(0x11_4000, 0x1_4000, 65_536), Some(Cycle::ZERO)),
        (zero(0x380, 32_768), None),
        (copy(1, 0, 67_520), None),
        (copy(0x11_4000, 0x1_4000, 32_768), None),
        (copy(0x10_0000, 0, 1), None),
        (copy(0x10_0000, 0, 65_536), None),
        (copy(0x1_4001, 0x1_4000, 65_536), None),
        (Operation::Read { address: at(0x1_4000), bytes: 8192 }, None),
        (copy(0x810_0000, 0x10_0000, 98_304), None),
    ];
    let config = config(system, map, FaultyRows::default(), PSM_ONLY);
    let config =
        Config { staging_lines: 1, refresh: RefreshPolicy { postpone_max: 8, ..RefreshPolicy::default() }, ..config };
    let outcome = run(&config, 1, &operations, Dialect::RowClone);
    assert_eq!(outcome.memory, MemoryCheck::Equal);
}
