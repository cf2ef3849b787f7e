//! Refresh finds its place where the command bus is full.

use dram_spec::address::Preset;
use dram_spec::{
    AddressMap, BankId, Channel, Column, Cycle, Density, Dialect, Geometry, Location, RawGeometry, Refresh, Row,
    SpeedBin, System, Width,
};
use host::MemoryCheck;
use memctrl::refresh::RefreshPolicy;
use memctrl::{Config, Policy};
use rowclone::{FaultyRows, Operation};

use crate::common::{config, run};

/// Long copies in two ranks and short ones in the other two keep the command bus full while REFs are put off as long as can be: the
/// device and the checker see to it that none is late.
#[test]
fn refreshes_are_in_time_while_transfers_fill_the_command_bus() {
    let (density, width) = (Density::Gb8, Width::X4);
    let raw = RawGeometry { channels: 1, ranks: 4, density, width, row_bytes: 32_768, rows_per_subarray: 512 };
    let system = System {
        bin: SpeedBin::named("800E").unwrap(),
        geometry: Geometry::try_from(raw).unwrap(),
        refresh: Refresh::Every { t_refi_ps: 1_950_000 },
        ..System::paper(1, density, width)
    };
    let map = AddressMap::preset(system.geometry, Preset::RowInterleaved);
    let at = |rank: u8, bank: u8, row: u32| {
        let (channel, bank, column) = (Channel(0), BankId { rank, bank }, Column(0));
        map.address(Location { channel, bank, row: Row(row), column, offset: 0 }).unwrap()
    };
    let copy = |rank, bank, row, bytes, arrives| {
        (Operation::Copy { src: at(rank, bank, row), dst: at(rank, bank + 1, row), bytes }, Some(Cycle(arrives)))
    };
    let banks = [0, 2, 4, 6];
    // Two ranks are busy from the start, with short copies, until their refreshes can be put off no more. By then the other two,
    // refreshed while they were idle, have long copies under way that are older than the short ones then in flight.
    let mut copies = Vec::new();
    for row in 0..12 {
        for bank in banks {
            copies.extend([copy(2, bank, row, 8192, 0), copy(3, bank, row, 8192, 0)]);
        }
    }
    for bank in banks {
        copies.extend([copy(0, bank, 0, 32_768, 6000), copy(1, bank, 0, 32_768, 6000)]);
    }
    let config = config(system, map.clone(), FaultyRows::default(), Policy::Rule);
    let config = Config { refresh: RefreshPolicy { postpone_max: 8 }, ..config };
    let outcome = run(&config, 1, &copies, Dialect::RowClone);
    assert_eq!(outcome.memory, MemoryCheck::Equal);
    assert_eq!(outcome.stats.commands.transfers, 96 * 128 + 8 * 512);
    // Eight of those that fall due in a rank may be owed at the end; all others were issued.
    let due = 4 * (outcome.stats.end.0 / 780);
    assert!(
        (due - 32..=due).contains(&outcome.stats.commands.refreshes),
        "{} of {due}",
        outcome.stats.commands.refreshes
    );
}
