//! Single parts of a plan: reasons against a mechanism, printed form and programs; operations at
//! the end of the memory.

use dram_spec::address::{AddressMap, MapPreset, RawAddressMap, RawXor};
use dram_spec::{PhysicalAddress, Row};

use super::arbitrary::{at, paper, whole_rows};
use super::programs;
use crate::{
    Block, CopyStep, FPM, FaultyRows, MAX_WINDOW_BYTES, Mechanism, Operation, PSM, PSM2, PlanError, Planner, Reason,
};

const ROW: u64 = 4096;
/// The next row of a bank.
const STRIDE: u64 = 8 * ROW;

/// One channel; consecutive rows lie in consecutive banks, and those of a bank in one subarray.
fn planner() -> Planner {
    Planner::new(AddressMap::new(paper(1, 4096), &whole_rows()).unwrap(), FaultyRows::default())
}

/// 2 GiB without 8 banks x (128 zero rows + 1 temporary row) of 4 KB.
#[test]
fn every_address_below_the_usable_capacity_of_a_preset_can_be_used() {
    let end = (2 << 30) - 8 * 129 * ROW;
    for preset in MapPreset::ALL {
        let planner = Planner::new(AddressMap::preset(paper(1, 4096), preset), FaultyRows::default());
        assert_eq!(planner.check(&Operation::Read { address: PhysicalAddress(0), bytes: end }), Ok(()));
        let copy = Operation::Copy { src: PhysicalAddress(0x123), dst: PhysicalAddress(1 << 30), bytes: 64 << 20 };
        assert_eq!(planner.check(&copy), Ok(()));
        let past = |address, bytes| match planner.check(&Operation::Write { address: PhysicalAddress(address), bytes })
        {
            Err(PlanError::PastEnd { end, .. }) => end.0,
            other => panic!("{other:?}"),
        };
        assert_eq!((past(end - 64, 65), past(end, 1), past(u64::MAX, 1)), (end, end, end), "{preset:?}");
    }
}

/// Row 511 of each bank is a zero row, and the first reserved row of the memory is that of bank 0.
#[test]
fn an_operation_may_end_where_a_reserved_row_begins() {
    let planner = planner();
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
    let planner = planner();
    let end = planner.map().geometry().bytes();
    let last = |bytes| planner.check(&Operation::Read { address: PhysicalAddress(end - 64), bytes }).unwrap_err();
    assert!(matches!(last(64), PlanError::Reserved { .. }), "{:?}", last(64));
    assert!(matches!(last(65), PlanError::PastEnd { .. }), "{:?}", last(65));
}

fn fpm_reasons(planner: &Planner, operation: &Operation) -> Vec<&'static str> {
    let blocks: Vec<Block> = planner.blocks(operation).collect();
    let parts = blocks.iter().flat_map(Block::parts);
    parts.map(|part| part.allows(FPM).map_or_else(|reason| reason.name(), |()| "yes")).collect()
}

/// An operation smaller than a row cannot cover one: this reason precedes the location of the rows.
/// An operation of the size of a row can: the location of the rows precedes its alignment.
#[test]
fn a_size_below_the_row_is_named_before_the_place_of_the_rows() {
    let planner = planner();
    let (src, dst) = (at(planner.map(), 0, 0, 1, 32), at(planner.map(), 0, 3, 1, 32));
    let copy = |bytes| fpm_reasons(&planner, &Operation::Copy { src, dst, bytes });
    assert_eq!(copy(ROW - 64), ["partial-row"; 2]);
    assert_eq!(copy(ROW), ["other-bank"; 2]);
}

/// Lines alternate over two channels; the granularity is 8192. The operation covers one granule and
/// one line of the next.
#[test]
fn the_ragged_end_of_a_long_copy_is_a_partial_row_and_not_the_interleaving() {
    let map = AddressMap::preset(paper(2, 4096), MapPreset::LineInterleaved);
    let granularity = map.granularity();
    let planner = Planner::new(map, FaultyRows::default());
    let (src, dst) = (at(planner.map(), 0, 0, 1, 0), at(planner.map(), 0, 0, 2, 0));
    let reasons = |bytes| fpm_reasons(&planner, &Operation::Copy { src, dst, bytes });
    assert_eq!(reasons(granularity + 64), ["yes", "yes", "partial-row"]);
    assert_eq!(reasons(granularity - 64), ["yes", "interleaved"]);
}

/// Bank bit 0 is hashed with row bit 1 and the lowest column bit, bank bits 1 and 2 with row bits 0
/// and 1. At a distance of one bank and some rows, the even columns of bank 0 row 8 then come from
/// row 2 of the bank, and the odd columns from row 3.
#[test]
fn a_row_that_two_rows_fill_is_no_copy_activation_though_the_columns_agree() {
    let xor = |bit, address_bits: &[u32]| RawXor { field: "bank".into(), bit, address_bits: address_bits.to_vec() };
    let raw = RawAddressMap { xor: vec![xor(0, &[6, 16]), xor(1, &[15, 16]), xor(2, &[15, 16])], ..whole_rows() };
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

/// With an interleaving of a row over more bytes than one window of the planner, no operation
/// contains whole rows.
#[test]
fn no_block_size_is_advised_beyond_the_window() {
    let advice = |granularity| {
        let (covered, row_bytes, run_bytes, channels, banks) = (64, 4096, 64, 1, 8);
        Reason::Interleaved { covered, row_bytes, granularity, run_bytes, channels, banks }.help().unwrap()
    };
    assert_eq!(advice(MAX_WINDOW_BYTES), "copy blocks of 16777216 bytes aligned to 16777216, or use row interleaving");
    assert_eq!(advice(2 * MAX_WINDOW_BYTES), "use row interleaving");
}

#[test]
fn the_reason_of_a_partial_row_names_its_missing_part() {
    let said = |operation_bytes, row_bytes| {
        Reason::PartialRow { covered: 64, row_bytes, operation_bytes, granularity: row_bytes }.to_string()
    };
    assert!(said(4096, 8192).ends_with("of it: a page is smaller than the row"));
    assert!(said(4096, 4096).ends_with("of it: it begins or ends within the row"));
    assert!(said(2048, 4096).ends_with("of it: the operation is smaller than the row"));
    assert!(said(8192, 4096).ends_with("of it: it begins or ends within the row"));
}

#[test]
fn operations_and_rows_are_printed_with_their_addresses() {
    let planner = planner();
    let (src, dst) = (PhysicalAddress(0x1000), PhysicalAddress(0x9000));
    let copy = Operation::Copy { src, dst, bytes: 4096 };
    let part = planner.blocks(&copy).next().unwrap().parts()[0].clone();
    assert_eq!(part.src().unwrap().to_string(), "channel 0 rank 0 bank 1 row 0");
    assert_eq!(part.dst().to_string(), "channel 0 rank 0 bank 1 row 1");
    let init = Operation::Init { dst, bytes: 64, value: 7 };
    assert_eq!(planner.blocks(&init).next().unwrap().parts()[0].src(), None);
    let texts = [copy, init, Operation::Read { address: src, bytes: 8 }, Operation::Write { address: dst, bytes: 9 }]
        .map(|operation| operation.to_string());
    assert_eq!(
        texts,
        [
            "copy 4096 bytes 0x1000 -> 0x9000",
            "init 64 bytes 0x9000 with 0x07",
            "read 8 bytes 0x1000",
            "write 9 bytes 0x9000"
        ]
    );
}

/// A write of 100 bytes from 32 on covers three lines, two of them partially.
#[test]
fn the_lines_that_a_program_reads_and_writes_are_counted() {
    let write = Operation::Write { address: PhysicalAddress(32), bytes: 100 };
    let block = planner().blocks(&write).next().unwrap();
    let program = &programs(&block, &[Mechanism::CHANNEL], 64)[0];
    assert_eq!((program.lines_read(), program.lines_written()), (2, 3));
}

/// A row has 64 lines, which are not adjacent under line interleaving. From channel to channel,
/// each line is written when it arrives: one program for any size of the staging buffer.
#[test]
fn the_staging_buffer_divides_copies_within_a_channel_alone() {
    let count = |preset: MapPreset, dst_channel: u8, staging_lines: usize| {
        let planner = Planner::new(AddressMap::preset(paper(2, 4096), preset), FaultyRows::default());
        let (src, dst) = (at(planner.map(), 0, 0, 1, 0), at(planner.map(), dst_channel, 0, 2, 0));
        let block = planner.blocks(&Operation::Copy { src, dst, bytes: 2 * ROW }).next().unwrap();
        programs(&block, &[Mechanism::CHANNEL], staging_lines).len()
    };
    for preset in [MapPreset::RowInterleaved, MapPreset::LineInterleaved] {
        assert_eq!([64, 63, 16].map(|lines| count(preset, 0, lines)), [1, 2, 4], "{preset:?} within the channel");
        assert_eq!([64, 63, 16].map(|lines| count(preset, 1, lines)), [1; 3], "{preset:?} to the other channel");
    }
}

/// A copy shifted by a line has two source rows per destination row.
#[test]
fn the_programs_of_a_part_are_those_of_the_block() {
    let planner = planner();
    let (src, dst) = (at(planner.map(), 0, 0, 1, 1), at(planner.map(), 0, 0, 2, 0));
    let block = planner.blocks(&Operation::Copy { src, dst, bytes: ROW }).next().unwrap();
    assert_eq!(block.parts().len(), 2);
    let together = programs(&block, &[PSM2, PSM], 64);
    for (part, mechanism) in [(0, PSM2), (1, PSM)] {
        let [alone] = block.programs_of(part, mechanism, 64).try_into().unwrap();
        assert_eq!((alone.part, alone.bytes), (0, [63 * 64, 64][part]));
        assert_eq!(alone.threads, together[part].threads);
    }
}

/// Lines alternate over four channels: the lines of a page in one channel are one step.
#[test]
fn lines_equally_far_apart_are_one_step() {
    let map = AddressMap::preset(paper(4, 4096), MapPreset::LineInterleaved);
    let planner = Planner::new(map, FaultyRows::default());
    let operation = Operation::Copy { src: PhysicalAddress(0), dst: PhysicalAddress(4096), bytes: 4096 };
    let blocks: Vec<Block> = planner.blocks(&operation).collect();
    assert_eq!(blocks.len(), 4);
    for block in blocks {
        let program = &programs(&block, &[Mechanism::CHANNEL], 64)[0];
        let lines: Vec<_> = program.threads[0].steps.iter().filter_map(CopyStep::lines).collect();
        assert_eq!(lines, [16, 16]);
    }
}

/// Lines around the first and the last reserved row, and around the end of the memory.
#[test]
fn a_line_is_usable_if_its_access_passes_the_check() {
    let maps = MapPreset::ALL.map(|preset| AddressMap::preset(paper(1, 4096), preset));
    for map in maps.into_iter().chain([AddressMap::new(paper(1, 4096), &whole_rows()).unwrap()]) {
        let planner = Planner::new(map, FaultyRows::default());
        for around in [0, 511 * STRIDE, 512 * STRIDE, (2 << 30) - 8 * 129 * ROW, 2 << 30, u64::MAX - 63] {
            for line in -200..200_i64 {
                let address = PhysicalAddress(around.wrapping_add_signed(64 * line));
                let check = planner.check(&Operation::Read { address, bytes: 64 });
                assert_eq!(planner.is_usable_line(address), check.is_ok(), "{address:?}");
            }
        }
    }
}
