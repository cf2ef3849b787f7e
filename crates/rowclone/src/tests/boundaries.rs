//! The planner at its limits, and one step beyond each.

use dram_spec::address::{AddressMap, Preset, RawAddressMap, RawXor};
use dram_spec::{BankId, Channel, PhysicalAddress, Row};

use super::arbitrary::{at, paper};
use super::memory::Memory;
use crate::{Block, FaultyRows, Mechanism, Operation, PlanError, Planner, Work};

/// One channel; consecutive rows lie in consecutive banks.
fn planner(faulty: &[(u8, u32)]) -> Planner {
    let row = |&(bank, row): &(u8, u32)| (Channel(0), BankId { rank: 0, bank }, Row(row));
    Planner::new(AddressMap::preset(paper(1, 4096), Preset::RowInterleaved), faulty.iter().map(row).collect())
}

const ROW: u64 = 4096;
/// The next row of a bank.
const STRIDE: u64 = 8 * ROW;

/// The mechanisms that each block allows, the fastest alone, in the order of the plan; each byte ends where `memmove` puts it.
fn mechanisms(planner: &Planner, operation: &Operation) -> Vec<&'static str> {
    let fastest = |block: &Block| {
        let part = &block.parts()[0];
        [Mechanism::Fpm, Mechanism::Psm].into_iter().find(|&one| part.allows(one).is_ok()).unwrap_or(Mechanism::Channel)
    };
    let blocks: Vec<Block> = planner.blocks(operation).collect();
    let (before, mut after) = (Memory::new(planner.map()), Memory::new(planner.map()));
    for block in &blocks {
        for segment in block.segments(&vec![fastest(block); block.parts().len()], 64) {
            after.execute(operation, &segment, |_| 0);
        }
    }
    let (dst, bytes) = (operation.target().0, operation.bytes());
    for address in dst..dst + bytes {
        assert_eq!(after.byte(address), before.byte(address - dst + operation.src().unwrap().0), "at {address:#x}");
    }
    blocks.iter().map(|block| fastest(block).name()).collect()
}

/// Nine rows by eight rows' worth, so that the last row of one operand is the first of the other: each row is copied whole, the
/// common one first where it is a source. One row fewer, and nothing overlaps; a line more, and still each row is copied whole.
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
            assert_eq!(block.parts()[0].allows(Mechanism::Psm).unwrap_err().name(), "overlap", "{distance}");
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
    block.parts()[0].allows(Mechanism::Psm2).map_err(|reason| reason.name())?;
    match block.segments(&[Mechanism::Psm2], 64)[0].work {
        Work::Psm2 { temporary, .. } => Ok((temporary.0.bank, temporary.1.0)),
        ref other => panic!("{other:?}"),
    }
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

/// The remapped temporary row of another rank takes nothing from this one.
#[test]
fn temporary_rows_are_those_of_the_copys_own_rank() {
    let raw = dram_spec::RawGeometry { ranks: 2, ..paper(1, 4096).raw() };
    let map = AddressMap::preset(raw.try_into().unwrap(), Preset::RowInterleaved);
    let remapped = |rank: u8| (0..8).map(move |bank| (Channel(0), BankId { rank, bank }, Row(65_534)));
    for (rank, allowed) in [(0, false), (1, true)] {
        let planner = Planner::new(map.clone(), remapped(rank).collect::<FaultyRows>());
        let place = |row| at(planner.map(), 0, 3, row, 0);
        let operation = Operation::Copy { src: place(1), dst: place(600), bytes: ROW };
        let block = planner.blocks(&operation).next().unwrap();
        assert_eq!(block.parts()[0].allows(Mechanism::Psm2).is_ok(), allowed, "rank {rank}");
    }
}

/// Row 511 of each bank is a zero row, and the first reserved row of the memory is that of bank 0.
#[test]
fn an_operation_may_end_where_a_reserved_row_begins() {
    let planner = planner(&[]);
    let reserved = at(planner.map(), 0, 0, 511, 0);
    let before = |bytes| {
        let operation = Operation::Read { address: PhysicalAddress(reserved.0 - ROW), bytes };
        planner.check(&operation)
    };
    assert_eq!(before(ROW), Ok(()));
    assert!(matches!(before(ROW + 1), Err(PlanError::Reserved { address, .. }) if address == reserved));
}

/// The last row of the memory is a zero row: an operation up to the end is refused for that row.
#[test]
fn an_operation_may_reach_the_end_of_the_memory_and_not_beyond() {
    let planner = planner(&[]);
    let end = planner.map().geometry().bytes();
    let last = |bytes| planner.check(&Operation::Read { address: PhysicalAddress(end - 64), bytes }).unwrap_err();
    assert!(matches!(last(64), PlanError::Reserved { .. }), "{:?}", last(64));
    assert!(matches!(last(65), PlanError::PastEnd { .. }), "{:?}", last(65));
}

fn fpm_reasons(planner: &Planner, operation: &Operation) -> Vec<&'static str> {
    let blocks: Vec<Block> = planner.blocks(operation).collect();
    let parts = blocks.iter().flat_map(Block::parts);
    parts.map(|part| part.allows(Mechanism::Fpm).map_or_else(|reason| reason.name(), |()| "yes")).collect()
}

/// An operation smaller than a row can never cover one: that is its reason, before where the rows lie. An operation of the
/// size of a row can: where the rows lie stands before how it begins.
#[test]
fn a_size_below_the_row_is_named_before_the_place_of_the_rows() {
    let planner = planner(&[]);
    let (src, dst) = (at(planner.map(), 0, 0, 1, 32), at(planner.map(), 0, 3, 1, 32));
    let copy = |bytes| fpm_reasons(&planner, &Operation::Copy { src, dst, bytes });
    assert_eq!(copy(ROW - 64), ["partial-row"; 2]);
    assert_eq!(copy(ROW), ["other-bank"; 2]);
}

/// Lines alternate over two channels; the granularity is 8192. The operation covers one granule and the first line of the next.
#[test]
fn the_ragged_end_of_a_long_copy_is_a_partial_row_and_not_the_interleaving() {
    let map = AddressMap::preset(paper(2, 4096), Preset::LineInterleaved);
    let granularity = map.granularity();
    let planner = Planner::new(map, FaultyRows::default());
    let (src, dst) = (at(planner.map(), 0, 0, 1, 0), at(planner.map(), 0, 0, 2, 0));
    let reasons = |bytes| fpm_reasons(&planner, &Operation::Copy { src, dst, bytes });
    assert_eq!(reasons(granularity + 64), ["yes", "yes", "partial-row"]);
    assert_eq!(reasons(granularity - 64), ["yes", "interleaved"]);
}

/// Bank bit 0 is hashed with row bit 1 and the lowest column bit, bank bits 1 and 2 with row bits 0 and 1. A distance of one
/// bank and some rows then takes the even columns of bank 0 row 8 from row 2 of the bank and the odd columns from row 3.
#[test]
fn a_row_that_two_rows_fill_is_no_copy_activation_though_the_columns_agree() {
    let xor = |bit, address_bits: &[u32]| RawXor { field: "bank".into(), bit, address_bits: address_bits.to_vec() };
    let raw = RawAddressMap {
        xor: vec![xor(0, &[6, 16]), xor(1, &[15, 16]), xor(2, &[15, 16])],
        ..Preset::RowInterleaved.raw()
    };
    let map = AddressMap::new(paper(1, 4096), &raw).unwrap();
    let dst = at(&map, 0, 0, 8, 0).0;
    let planner = Planner::new(map, FaultyRows::default());
    let operation = Operation::Copy {
        src: PhysicalAddress(dst - 5 * STRIDE - ROW),
        dst: PhysicalAddress(dst),
        bytes: planner.map().granularity(),
    };
    let block = planner.blocks(&operation).find(|block| block.parts()[0].dst().bank.bank == 0).unwrap();
    let sources: Vec<_> =
        block.parts().iter().map(|part| part.src().unwrap()).map(|src| (src.bank.bank, src.row)).collect();
    assert_eq!(sources, [(0, Row(2)), (0, Row(3))]);
    assert_eq!(fpm_reasons(&planner, &operation)[..2], ["columns-differ"; 2]);
}

/// A row has 64 lines, which lie apart under line interleaving. From channel to channel, each line is written as it arrives:
/// one segment, however small the staging buffer.
#[test]
fn the_staging_buffer_divides_copies_within_a_channel_alone() {
    let segments = |preset: Preset, dst_channel: u8, staging_lines: usize| {
        let planner = Planner::new(AddressMap::preset(paper(2, 4096), preset), FaultyRows::default());
        let (src, dst) = (at(planner.map(), 0, 0, 1, 0), at(planner.map(), dst_channel, 0, 2, 0));
        let block = planner.blocks(&Operation::Copy { src, dst, bytes: 2 * ROW }).next().unwrap();
        block.segments(&[Mechanism::Channel], staging_lines).len()
    };
    for preset in [Preset::RowInterleaved, Preset::LineInterleaved] {
        assert_eq!([64, 63, 16].map(|lines| segments(preset, 0, lines)), [1, 2, 4], "{preset:?} within the channel");
        assert_eq!([64, 63, 16].map(|lines| segments(preset, 1, lines)), [1; 3], "{preset:?} to the other channel");
    }
}

/// A copy that is shifted by a line takes the lines of a row from two rows.
#[test]
fn the_segments_of_a_part_are_those_of_the_block() {
    let planner = planner(&[]);
    let (src, dst) = (at(planner.map(), 0, 0, 1, 1), at(planner.map(), 0, 0, 2, 0));
    let block = planner.blocks(&Operation::Copy { src, dst, bytes: ROW }).next().unwrap();
    assert_eq!(block.parts().len(), 2);
    let together = block.segments(&[Mechanism::Psm2, Mechanism::Psm], 64);
    for (part, mechanism) in [(0, Mechanism::Psm2), (1, Mechanism::Psm)] {
        let [alone] = block.segments_of(part, mechanism, 64).try_into().unwrap();
        assert_eq!((alone.part, alone.bytes), (0, [63 * 64, 64][part]));
        assert_eq!(alone.work, together[part].work);
    }
}
