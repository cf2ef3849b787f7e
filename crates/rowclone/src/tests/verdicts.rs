use dram_spec::address::{AddressMap, MapPreset, RawAddressMap};
use dram_spec::{BankId, Channel, Command, PhysicalAddress, Row};

use super::arbitrary::{at, paper, whole_rows};
use super::{opened, programs};
use crate::{
    CopyStep, CopySupport, FPM, FaultyRows, LISA, MECHANISMS, Mechanism, Operation, PSM, PSM2, PlanError, Planner,
};

fn planner(channels: u64, row_bytes: u64, preset: MapPreset, faulty: &[(u8, u32)]) -> Planner {
    planner_of(channels, row_bytes, &preset.raw(), faulty)
}

fn planner_of(channels: u64, row_bytes: u64, raw: &RawAddressMap, faulty: &[(u8, u32)]) -> Planner {
    let row = |&(bank, row): &(u8, u32)| (Channel(0), BankId { rank: 0, bank }, Row(row));
    Planner::new(AddressMap::new(paper(channels, row_bytes), raw).unwrap(), faulty.iter().map(row).collect())
}

/// Mechanisms that the first part of an operation's first block allows, the best last, and the
/// reasons against the others: `psm -other-bank`.
fn verdict(planner: &Planner, operation: &Operation) -> String {
    let block = planner.blocks(operation).next().unwrap();
    let of = |mechanism: Mechanism| match block.parts()[0].allows(mechanism) {
        Ok(()) => mechanism.name().to_owned(),
        Err(reason) => format!("-{}", reason.name()),
    };
    [PSM, PSM2, FPM].map(of).join(" ")
}

/// Source and destination as (channel, bank, row, column), and bytes.
type Copy = ((u8, u8, u32, u16), (u8, u8, u32, u16), u64);

fn copy(planner: &Planner, (src, dst, bytes): Copy) -> Operation {
    let address = |(channel, bank, row, column)| at(planner.map(), channel, bank, row, column);
    Operation::Copy { src: address(src), dst: address(dst), bytes }
}

#[test]
fn where_the_rows_lie_decides_the_mechanism() {
    let planner = planner(2, 4096, MapPreset::RowInterleaved, &[(0, 7), (1, 65_534)]);
    let cases: [(Copy, &str); 12] = [
        (((0, 0, 1, 0), (0, 0, 2, 0), 4096), "-same-bank psm2 fpm"),
        (((0, 0, 1, 0), (0, 0, 600, 0), 4096), "-same-bank psm2 -other-subarray"),
        (((0, 0, 1, 0), (0, 3, 1, 0), 4096), "psm -other-bank -other-bank"),
        (((0, 0, 1, 0), (1, 0, 1, 0), 4096), "-other-channel -other-channel -other-channel"),
        (((0, 0, 1, 0), (0, 0, 7, 0), 4096), "-same-bank psm2 -faulty-row"),
        (((0, 0, 7, 0), (0, 0, 1, 0), 4096), "-same-bank psm2 -faulty-row"),
        (((0, 0, 7, 0), (0, 1, 1, 0), 4096), "psm -other-bank -other-bank"),
        (((0, 0, 1, 0), (0, 0, 2, 0), 2048), "-same-bank psm2 -partial-row"),
        (((0, 0, 1, 0), (0, 3, 2, 0), 2048), "psm -other-bank -partial-row"),
        (((0, 0, 1, 0), (0, 0, 1, 32), 2048), "-same-row -same-row -partial-row"),
        (((0, 0, 1, 3), (0, 0, 2, 0), 4096), "-same-bank psm2 -columns-differ"),
        (((0, 0, 1, 0), (0, 0, 2, 0), 63), "-partial-line -partial-line -partial-line"),
    ];
    for (case, expected) in cases {
        assert_eq!(verdict(&planner, &copy(&planner, case)), expected, "{case:?}");
    }
    let askew = Operation::Copy { src: PhysicalAddress(0), dst: PhysicalAddress(0x1_0001), bytes: 4096 };
    assert_eq!(verdict(&planner, &askew), ["-line-misaligned"; 3].join(" "));
    let close = Operation::Copy { src: PhysicalAddress(0), dst: PhysicalAddress(2048), bytes: 4096 };
    assert_eq!(verdict(&planner, &close), ["-overlap"; 3].join(" "));
}

/// Subarrays of 512 rows; the row buffer moves from the source to the destination in either direction.
#[test]
fn lisa_copies_between_subarrays_of_a_bank_over_their_distance() {
    let map = AddressMap::preset(paper(1, 4096), MapPreset::RowInterleaved);
    let faulty = [(Channel(0), BankId { rank: 0, bank: 0 }, Row(7))].into_iter().collect();
    let planner = Planner::of_chips(map, faulty, CopySupport::offering(["lisa"]));
    let verdict = |case: Copy| {
        let operation = copy(&planner, case);
        let block = planner.blocks(&operation).next().unwrap();
        if let Err(reason) = block.parts()[0].allows(LISA) {
            return Err(reason.name());
        }
        let steps = &programs(&block, &[LISA], 64)[0].threads[0].steps;
        let [
            _,
            CopyStep::LeaveRow { command: Command::MoveRowBuffer { row, .. }, units: hops, .. },
            CopyStep::CopyOpen { row: first, .. },
            _,
            CopyStep::Open { row: second, .. },
            _,
        ] = steps[..]
        else {
            panic!("{steps:?}")
        };
        assert!(row == first && first == second, "{steps:?}");
        Ok(hops)
    };
    let of_rows = |src, dst| verdict(((0, 0, src, 0), (0, 0, dst, 0), 4096));
    assert_eq!([of_rows(1, 512), of_rows(600, 1), of_rows(1, 65_000)], [Ok(1), Ok(1), Ok(126)]);
    assert_eq!(
        [of_rows(1, 2), of_rows(7, 600), of_rows(600, 7)],
        ["same-subarray", "faulty-row", "faulty-row"].map(Err)
    );
    assert_eq!(verdict(((0, 0, 1, 0), (0, 3, 600, 0), 4096)), Err("other-bank"));
    assert_eq!(verdict(((0, 0, 1, 0), (0, 0, 600, 0), 2048)), Err("partial-row"));
    assert_eq!(verdict(((0, 0, 1, 3), (0, 0, 600, 0), 4096)), Err("columns-differ"));
}

#[test]
fn the_help_of_a_reason_has_its_numbers() {
    let said = |planner: Planner, case: Copy| {
        let operation = copy(&planner, case);
        let block = planner.blocks(&operation).next().unwrap();
        let reason = block.parts()[0].allows(FPM).unwrap_err();
        format!("{reason}; {}", reason.help().unwrap_or_default())
    };
    let near = |bytes| ((0, 0, 1, 0), (0, 0, 2, 0), bytes);
    assert_eq!(
        said(planner(1, 8192, MapPreset::RowInterleaved, &[]), near(4096)),
        "the row is 8192 bytes and the operation covers 4096 of it: a page is smaller than the row; \
         copy 8192-byte blocks aligned to 8192, or use a system whose row is one page"
    );
    assert_eq!(
        said(planner(2, 4096, MapPreset::LineInterleaved, &[]), near(4096)),
        "line interleaving spreads each row over 2 channels: the rows fill 8192 bytes together, and the operation \
         covers 2048 of this row's 4096; copy blocks of 8192 bytes aligned to 8192, or use row interleaving"
    );
    assert_eq!(
        said(planner(2, 4096, MapPreset::BankInterleaved, &[]), near(4096)),
        "line interleaving spreads each row over 2 channels of 8 banks each: the rows fill 65536 bytes together, and \
         the operation covers 256 of this row's 4096; copy blocks of 65536 bytes aligned to 65536, or use row \
         interleaving"
    );
    assert_eq!(
        said(planner(1, 4096, MapPreset::RowInterleaved, &[]), ((0, 0, 1, 1), (0, 0, 2, 1), 4096)),
        "the row is 4096 bytes and the operation covers 4032 of it: it begins or ends within the row; \
         begin and end the operation at multiples of 4096 bytes"
    );
    assert_eq!(
        said(planner(1, 4096, MapPreset::RowInterleaved, &[]), ((0, 0, 1, 1), (0, 0, 2, 0), 4096)),
        "source and destination lie at different columns: both must begin at the same place of a row; \
         let source and destination differ by a multiple of 4096 bytes"
    );
}

/// A block of the granularity consists of whole rows, with any interleaving: one part per row.
#[test]
fn a_granule_is_copied_by_one_copy_activation_a_row() {
    for (channels, preset, rows) in [
        (1, MapPreset::RowInterleaved, 1),
        (2, MapPreset::RowInterleaved, 1),
        (2, MapPreset::LineInterleaved, 2),
        (2, MapPreset::BankInterleaved, 16),
    ] {
        let planner = planner(channels, 4096, preset, &[]);
        let operation = copy(&planner, ((0, 0, 1, 0), (0, 0, 2, 0), planner.map().granularity()));
        let blocks: Vec<_> = planner.blocks(&operation).collect();
        assert_eq!(blocks.len(), rows, "{preset:?}");
        for block in blocks {
            let programs = programs(&block, &[FPM], 64);
            let [program] = programs.as_slice() else { panic!("{programs:#?}") };
            let steps = &program.threads[0].steps[..];
            let is_copy = matches!(
                steps,
                [CopyStep::Open { row: Row(1), .. }, CopyStep::CopyOpen { row: Row(2), .. }, CopyStep::Close { .. }]
            );
            assert!(is_copy, "{program:?}");
        }
    }
}

#[test]
fn zeros_come_from_the_subarrays_zero_row_or_from_the_next_bank() {
    let check = |faulty: &[(u8, u32)], bank: u8, row: u32, bytes: u64, verdicts: &str, psm_from: Option<(u8, u32)>| {
        let planner = planner(1, 4096, MapPreset::RowInterleaved, faulty);
        let init = Operation::Init { dst: at(planner.map(), 0, bank, row, 0), bytes, value: 0 };
        assert_eq!(verdict(&planner, &init), verdicts, "{init}");
        let block = planner.blocks(&init).next().unwrap();
        let src = psm_from.map(|_| opened(&programs(&block, &[PSM], 64)[0], 0));
        assert_eq!(src, psm_from);
    };
    check(&[], 0, 1, 4096, "psm -psm-suffices fpm", Some((1, 511)));
    check(&[], 7, 600, 4096, "psm -psm-suffices fpm", Some((0, 1023)));
    check(&[], 0, 1, 4032, "psm -psm-suffices -partial-row", Some((1, 511)));
    check(&[(0, 511)], 0, 1, 4096, "psm -psm-suffices -faulty-row", Some((1, 511)));
    check(&[(0, 1)], 0, 1, 4096, "psm -psm-suffices -faulty-row", Some((1, 511)));
    check(&[(1, 511), (2, 511)], 0, 1, 4096, "psm -psm-suffices fpm", Some((3, 511)));
    check(&[1, 2, 3, 4, 5, 6, 7].map(|bank| (bank, 511)), 0, 1, 4096, "-no-zero-row -psm-suffices fpm", None);
    check(&[], 0, 1, 63, "-partial-line -partial-line -partial-line", None);
}

#[test]
fn the_temporary_row_is_that_of_the_next_sound_bank() {
    let temporary = |faulty: &[(u8, u32)]| {
        let planner = planner(1, 4096, MapPreset::RowInterleaved, faulty);
        let operation = copy(&planner, ((0, 6, 1, 0), (0, 6, 600, 0), 4096));
        let block = planner.blocks(&operation).next().unwrap();
        block.parts()[0]
            .allows(PSM2)
            .map_err(|reason| reason.name())
            .map(|()| opened(&programs(&block, &[PSM2], 64)[0], 1))
    };
    assert_eq!(temporary(&[]), Ok((7, 65_534)));
    assert_eq!(temporary(&[(7, 65_534), (0, 65_534)]), Ok((1, 65_534)));
    assert_eq!(temporary(&[0, 1, 2, 3, 4, 5, 7].map(|bank| (bank, 65_534))), Err("no-temporary-row"));
}

/// Two channels, with consecutive rows in consecutive channels and then banks: the source of each
/// row of a `memset`.
#[test]
fn a_value_is_written_once_and_then_copied() {
    let verdicts_of = |raw: &RawAddressMap, faulty: &[(u8, u32)], row: u32| -> Vec<String> {
        let planner = planner_of(2, 4096, raw, faulty);
        let init = Operation::Init { dst: at(planner.map(), 0, 0, row, 0), bytes: 18 * 4096, value: 0xff };
        let of = |allowed: Result<(), crate::Reason>| allowed.map_or_else(|reason| reason.name(), |()| "yes");
        planner
            .blocks(&init)
            .map(|block| {
                let part = &block.parts()[0];
                [PSM, PSM2, FPM].map(|mechanism| of(part.allows(mechanism))).join(" ")
            })
            .collect()
    };
    let verdicts = |faulty: &[(u8, u32)], row| verdicts_of(&whole_rows(), faulty, row);
    let rows = verdicts(&[], 1);
    assert_eq!(rows[0], ["first-row-is-written"; 3].join(" "));
    assert_eq!(rows[1], ["first-row-is-written"; 3].join(" "), "the first of its channel");
    assert_eq!(rows[2], "yes other-bank no-source");
    assert_eq!(rows[16], "same-bank yes yes", "the same subarray again");
    assert_eq!(rows[17], "same-bank yes yes", "its channel has a row of its own");
    assert_eq!(verdicts(&[(0, 1)], 1)[16], "same-bank yes no-source", "a remapped row is no source of FPM");
    assert_eq!(verdicts(&[(0, 2)], 1)[16], "same-bank yes faulty-row");
    let rows = verdicts_of(&MapPreset::RowInterleaved.raw(), &[], 1);
    assert_eq!(rows[2], "yes other-bank no-source");
    assert_eq!(rows[16], "same-bank yes no-source", "the next subarray of the first bank");
}

#[test]
fn mechanisms_are_known_by_their_names() {
    for mechanism in MECHANISMS {
        assert_eq!(crate::mechanism(mechanism.name()), Some(mechanism));
    }
}

/// 100 bytes from 32 on: 32 of the first line, all of the second, 4 of the third.
#[test]
fn ragged_lines_are_merged_with_what_they_held() {
    let planner = planner(1, 4096, MapPreset::RowInterleaved, &[]);
    let write = Operation::Write { address: PhysicalAddress(32), bytes: 100 };
    let block = planner.blocks(&write).next().unwrap();
    let program = &programs(&block, &[Mechanism::CHANNEL], 64)[0];
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    for step in program.steps() {
        match step {
            CopyStep::Read { run, .. } => reads.extend(run.lines().map(|line| line.address.0)),
            CopyStep::Write { write, .. } => {
                writes.extend(write.writes().map(|it| (it.line.address.0, it.from, it.to)));
            }
            _ => {}
        }
    }
    assert_eq!(program.bytes, 100);
    assert_eq!((reads, writes), (vec![0, 128], vec![(0, 32, 64), (64, 0, 64), (128, 0, 4)]));
}

#[test]
fn the_error_of_an_impossible_operation_has_help() {
    let of_preset = planner(1, 4096, MapPreset::RowInterleaved, &[]);
    let planner = planner_of(1, 4096, &whole_rows(), &[]);
    let check_with = |planner: &Planner, operation: Operation, message: &str, help: &str| {
        let error: PlanError = planner.check(&operation).unwrap_err();
        assert_eq!((error.to_string().as_str(), error.help().as_str()), (message, help));
    };
    let check = |operation, message, help| check_with(&planner, operation, message, help);
    let (zero, temporary) = (at(planner.map(), 0, 3, 511, 0), at(planner.map(), 0, 0, 65_534, 2));
    check(
        Operation::Read { address: PhysicalAddress(0), bytes: 0 },
        "the operation is about zero bytes",
        "leave the operation out, or give it a size",
    );
    check(
        Operation::Copy { src: PhysicalAddress(0x7fff_f000), dst: PhysicalAddress(0), bytes: 4097 },
        "`src` = 0x7ffff000 with 4097 bytes reaches past the end of the usable memory at 0x80000000",
        "the last address that fits is 0x7fffefff; the usable capacity is 2147483648 bytes",
    );
    check_with(
        &of_preset,
        Operation::Copy { src: PhysicalAddress(0x7fbf_7000), dst: PhysicalAddress(0), bytes: 4097 },
        "`src` = 0x7fbf7000 with 4097 bytes reaches past the end of the usable memory at 0x7fbf8000",
        "the last address that fits is 0x7fbf6fff; the usable capacity is 2143256576 bytes",
    );
    check(
        Operation::Init { dst: PhysicalAddress(u64::MAX), bytes: u64::MAX, value: 0 },
        "`dst` = 0xffffffffffffffff with 18446744073709551615 bytes reaches past the end of the usable memory at \
            0x80000000",
        "the usable capacity is 2147483648 bytes",
    );
    check(
        Operation::Copy { src: PhysicalAddress(zero.0 - 4096 * 4), dst: zero, bytes: 64 },
        "`dst` reaches 0xffb000, which lies in a reserved zero row: channel 0 rank 0 bank 3 row 511 column 0",
        "the last row of each subarray is its zero row: choose addresses in other rows, or take a preset map, or \
         list `row` above `subarray` as the highest fields: all reserved rows are then the end of the memory, if \
         `rows_per_subarray` is a power of two",
    );
    check(
        Operation::Read { address: temporary, bytes: 1 },
        "`address` reaches 0x7fff0080, which lies in a reserved temporary row: channel 0 rank 0 bank 0 row 65534 \
            column 2",
        "the last row but one of each bank is the intermediate row of 2 x PSM: choose addresses in other rows",
    );
}

#[test]
#[should_panic(expected = "that does not allow it: source and destination lie in different banks")]
fn a_mechanism_that_is_not_allowed_is_refused() {
    let planner = Planner::new(AddressMap::preset(paper(1, 4096), MapPreset::RowInterleaved), FaultyRows::default());
    let operation = copy(&planner, ((0, 0, 1, 0), (0, 1, 1, 0), 4096));
    programs(&planner.blocks(&operation).next().unwrap(), &[FPM], 64);
}
