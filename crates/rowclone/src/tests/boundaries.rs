//! The planner at its limits, and one step beyond each.

use dram_spec::address::{AddressMap, MapPreset};
use dram_spec::{BankId, Channel, PhysicalAddress, Row};

use super::arbitrary::{at, paper, whole_rows};
use super::memory::Memory;
use super::{opened, programs};
use crate::{Block, FPM, FaultyRows, Mechanism, Operation, PSM, PSM2, Planner};

/// One channel; consecutive rows lie in consecutive banks, and those of a bank in one subarray.
fn planner(faulty: &[(u8, u32)]) -> Planner {
    let row = |&(bank, row): &(u8, u32)| (Channel(0), BankId { rank: 0, bank }, Row(row));
    Planner::new(AddressMap::new(paper(1, 4096), &whole_rows()).unwrap(), faulty.iter().map(row).collect())
}

const ROW: u64 = 4096;
/// The next row of a bank.
const STRIDE: u64 = 8 * ROW;

/// The best mechanism that each block allows, in the order of the plan; each byte ends where
/// `memmove` puts it.
fn mechanisms(planner: &Planner, operation: &Operation) -> Vec<&'static str> {
    let fastest = |block: &Block| {
        let part = &block.parts()[0];
        [FPM, PSM].into_iter().find(|&one| part.allows(one).is_ok()).unwrap_or(Mechanism::CHANNEL)
    };
    let blocks: Vec<Block> = planner.blocks(operation).collect();
    let (before, mut after) = (Memory::new(planner.map()), Memory::new(planner.map()));
    for block in &blocks {
        for program in programs(block, &vec![fastest(block); block.parts().len()], 64) {
            after.execute(operation, &program, |_| 0);
        }
    }
    let (dst, bytes) = (operation.target().0, operation.bytes());
    for address in dst..dst + bytes {
        assert_eq!(after.byte(address), before.byte(address - dst + operation.src().unwrap().0), "at {address:#x}");
    }
    blocks.iter().map(|block| fastest(block).name()).collect()
}

/// Copies by a distance of eight rows: nine rows overlap in one row, which is read before it is
/// written; eight rows do not overlap, and ten overlap in two. Each row is copied whole.
#[test]
fn an_overlap_of_exactly_one_row_is_copied_by_rows() {
    let planner = planner(&[]);
    let low = at(planner.map(), 0, 0, 8, 0);
    let high = PhysicalAddress(low.0 + STRIDE);
    for (src, dst) in [(low, high), (high, low)] {
        let rows_of =
            |rows: u64| -> Vec<&'static str> { mechanisms(&planner, &Operation::Copy { src, dst, bytes: rows * ROW }) };
        assert_eq!(rows_of(8), ["fpm"; 8], "no overlap");
        assert_eq!(rows_of(9), ["fpm"; 9], "one row");
        assert_eq!(rows_of(10), ["fpm"; 10], "two rows");
    }
    let first = |src, dst| {
        let operation = Operation::Copy { src, dst, bytes: 9 * ROW };
        let block = planner.blocks(&operation).next().unwrap();
        (block.parts()[0].dst().bank.bank, block.parts()[0].dst().row)
    };
    assert_eq!(first(low, high), (0, Row(10)), "the common row is read before it is written: from the last row down");
    assert_eq!(first(high, low), (0, Row(8)), "from the first row up");
}

/// The shortest distance at which rows can be copied is one row, the granularity of this map.
#[test]
fn operands_one_row_apart_are_copied_by_rows_and_any_closer_over_the_channel() {
    let planner = planner(&[]);
    let low = at(planner.map(), 0, 0, 8, 0).0;
    let copy = |distance: u64, up: bool| {
        let (low, high) = (PhysicalAddress(low), PhysicalAddress(low + distance));
        let (src, dst) = if up { (low, high) } else { (high, low) };
        Operation::Copy { src, dst, bytes: 2 * ROW }
    };
    for up in [true, false] {
        assert_eq!(mechanisms(&planner, &copy(ROW, up)), ["psm"; 2], "the rows of two banks");
        for distance in [ROW - 1, ROW - 64] {
            let operation = copy(distance, up);
            assert!(mechanisms(&planner, &operation).iter().all(|&name| name == "channel"), "{distance}");
            let block = planner.blocks(&operation).next().unwrap();
            assert_eq!(block.parts()[0].allows(PSM).unwrap_err().name(), "overlap", "{distance}");
        }
        let beyond = mechanisms(&planner, &copy(ROW + 64, up));
        assert!(beyond.iter().all(|&name| name == "psm"), "{beyond:?}");
    }
}

/// Bank and row of the temporary row of a copy within a bank, or why there is none.
fn temporary(bank: u8, faulty: &[(u8, u32)]) -> Result<(u8, u32), &'static str> {
    let planner = planner(faulty);
    let place = |row| at(planner.map(), 0, bank, row, 0);
    let operation = Operation::Copy { src: place(1), dst: place(600), bytes: ROW };
    let block = planner.blocks(&operation).next().unwrap();
    block.parts()[0].allows(PSM2).map_err(|reason| reason.name())?;
    Ok(opened(&programs(&block, &[PSM2], 64)[0], 1))
}

/// The temporary row of each bank is its last row but one, 65,534.
#[test]
fn the_last_sound_temporary_row_is_used_wherever_it_is() {
    const TEMPORARY: u32 = 65_534;
    for bank in 0..8 {
        for sound in (0..8).filter(|&sound| sound != bank) {
            let all_but_one: Vec<_> = (0..8).filter(|&other| other != sound).map(|other| (other, TEMPORARY)).collect();
            assert_eq!(temporary(bank, &all_but_one), Ok((sound, TEMPORARY)), "from bank {bank}");
        }
        let own_alone: Vec<_> = (0..8).filter(|&other| other != bank).map(|other| (other, TEMPORARY)).collect();
        assert_eq!(
            temporary(bank, &own_alone),
            Err("no-temporary-row"),
            "the row of bank {bank} itself is no way round"
        );
        let all: Vec<_> = (0..8).map(|other| (other, TEMPORARY)).collect();
        assert_eq!(temporary(bank, &all), Err("no-temporary-row"));
    }
}

/// The remapped temporary row of another rank does not affect this one.
#[test]
fn temporary_rows_are_those_of_the_copys_own_rank() {
    let raw = dram_spec::RawGeometry { ranks: 2, ..paper(1, 4096).raw() };
    let map = AddressMap::preset(raw.try_into().unwrap(), MapPreset::RowInterleaved);
    let remapped = |rank: u8| (0..8).map(move |bank| (Channel(0), BankId { rank, bank }, Row(65_534)));
    for (rank, allowed) in [(0, false), (1, true)] {
        let planner = Planner::new(map.clone(), remapped(rank).collect::<FaultyRows>());
        let place = |row| at(planner.map(), 0, 3, row, 0);
        let operation = Operation::Copy { src: place(1), dst: place(600), bytes: ROW };
        let block = planner.blocks(&operation).next().unwrap();
        assert_eq!(block.parts()[0].allows(PSM2).is_ok(), allowed, "rank {rank}");
    }
}
