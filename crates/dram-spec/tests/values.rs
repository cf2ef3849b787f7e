//! Values and names of the public types, worked by hand. Geometry of the tests: DDR3-1066 with two
//! channels, two ranks, 2 Gb x8, rows of 4 KB, 512 rows per subarray: 65,536 rows per bank.

use std::collections::BTreeMap;

use dram_spec::address::{Locator, MapPreset};
use dram_spec::{
    AddressMap, AutoPrecharge, BankId, BankIndex, BankSet, Channel, Clock, Column, Command, CommandLog, Cycle, Cycles,
    Density, Dialect, EventSink, Geometry, GeometryError, IssueCause, Mechanism, MechanismInfo, Min, Operation,
    PhysicalAddress, Picojoule, RawGeometry, Refresh, RequestId, Row, SpeedBin, Standard, System, TimingParameter,
    Width,
};

fn geometry() -> Geometry {
    let (density, width) = (Density::Gb2, Width::X8);
    let raw = RawGeometry {
        standard: Standard::Ddr3,
        channels: 2,
        ranks: 2,
        density,
        width,
        row_bytes: 4096,
        rows_per_subarray: 512.into(),
    };
    Geometry::try_from(raw).expect("the numbers are valid")
}

const BANK: BankId = BankId { rank: 1, bank: 3 };
const NO: AutoPrecharge = AutoPrecharge::No;
const YES: AutoPrecharge = AutoPrecharge::Yes;

/// Each command with its text; its mnemonic is the first word, its rank is 1.
fn commands() -> [(Command, &'static str); Command::MNEMONICS.len()] {
    let (bank, row, column, rank) = (BANK, Row(1000), Column(17), 1);
    let dst = BankId { rank, bank: 5 };
    [
        (Command::Activate { bank, row }, "ACT r1 b3 row 1000"),
        (Command::Precharge { bank }, "PRE r1 b3"),
        (Command::PrechargeAll { rank }, "PREA r1"),
        (Command::Read { bank, column, auto_precharge: NO }, "RD r1 b3 col 17"),
        (Command::Read { bank, column, auto_precharge: YES }, "RDA r1 b3 col 17"),
        (Command::Write { bank, column, auto_precharge: NO }, "WR r1 b3 col 17"),
        (Command::Write { bank, column, auto_precharge: YES }, "WRA r1 b3 col 17"),
        (
            Command::Transfer { src: bank, src_column: column, dst, dst_column: Column(9) },
            "TRANSFER r1 b3 col 17 -> b5 col 9",
        ),
        (Command::MoveRowBuffer { bank, row }, "RBM r1 b3 row 1000"),
        (Command::Refresh { rank }, "REF r1"),
        (Command::RefreshSameBank { bank }, "REFsb r1 b3"),
        (Command::PowerDownEnter { rank }, "PDE r1"),
        (Command::PowerDownExit { rank }, "PDX r1"),
        (Command::SelfRefreshEnter { rank }, "SRE r1"),
        (Command::SelfRefreshExit { rank }, "SRX r1"),
    ]
}

#[test]
fn commands_are_printed_with_their_coordinates() {
    for ((command, text), mnemonic) in commands().into_iter().zip(Command::MNEMONICS) {
        assert_eq!((command.to_string().as_str(), command.mnemonic(), command.rank()), (text, mnemonic, 1));
        assert_eq!(text.split(' ').next(), Some(mnemonic));
    }
    let zero = BankId { rank: 0, bank: 3 };
    assert_eq!((Command::Precharge { bank: zero }.rank(), zero.to_string().as_str()), (0, "rank 0 bank 3"));
}

/// Each coordinate at its last value, and one above it.
#[test]
fn a_geometry_holds_the_commands_to_its_banks_rows_and_columns() {
    let geometry = geometry();
    let (bank, column, dst) = (BANK, Column(63), BankId { rank: 1, bank: 7 });
    for (command, _) in commands() {
        assert!(geometry.holds_command(Channel(1), &command), "{command}");
        assert!(!geometry.holds_command(Channel(2), &command), "{command}");
    }
    let transfer = |src_column, dst_column| Command::Transfer { src: bank, src_column, dst, dst_column };
    for (command, is_held) in [
        (Command::Activate { bank, row: Row(65_535) }, true),
        (Command::Activate { bank, row: Row(65_536) }, false),
        (Command::Read { bank, column, auto_precharge: NO }, true),
        (Command::Read { bank, column: Column(64), auto_precharge: NO }, false),
        (Command::Precharge { bank: BankId { rank: 1, bank: 8 } }, false),
        (Command::Refresh { rank: 2 }, false),
        (transfer(column, column), true),
        (transfer(Column(64), column), false),
        (transfer(column, Column(64)), false),
    ] {
        assert_eq!(geometry.holds_command(Channel(0), &command), is_held, "{command}");
    }
}

#[test]
fn rows_have_subarrays_and_reserved_rows() {
    let geometry = geometry();
    assert_eq!((geometry.row_bytes(), geometry.subarrays_per_bank()), (4096, 128));
    assert_eq!((geometry.subarray(Row(511)), geometry.subarray(Row(512)), geometry.subarray(Row(1535))), (0, 1, 2));
    assert_eq!((geometry.zero_row(0), geometry.zero_row(2)), (Row(511), Row(1535)));
    // A zero row per subarray and a temporary row, in 8 banks of 4 ranks.
    assert_eq!(geometry.reserved_bytes(), 129 * 4096 * 8 * 4);
}

#[test]
fn a_wrong_number_of_rows_per_subarray_names_its_key() {
    let key = |rows: u64, row_bytes| {
        let raw = RawGeometry { rows_per_subarray: rows.into(), row_bytes, ..geometry().raw() };
        Geometry::try_from(raw).as_ref().map_err(GeometryError::key).map(|_| ())
    };
    assert_eq!((key(127, 4096), key(1025, 4096)), (Err("rows_per_subarray"), Err("rows_per_subarray")));
    assert_eq!((key(128, 4096), key(1024, 4096), key(512, 1024)), (Ok(()), Ok(()), Err("row_bytes")));
}

#[test]
fn densities_and_widths_have_numbers() {
    let gigabits = [1.0, 2.0, 3.0, 4.0, 8.0].map(Density::from_gigabits);
    assert_eq!(gigabits, [Some(Density::Gb1), Some(Density::Gb2), None, Some(Density::Gb4), Some(Density::Gb8)]);
    assert_eq!([4, 8, 16, 32].map(Width::from_pins), [Some(Width::X4), Some(Width::X8), Some(Width::X16), None]);
}

#[test]
fn a_log_is_replayed_with_its_end() {
    let mut log = CommandLog::default();
    for (at, (command, _)) in (1..).zip(commands()) {
        log.push(Cycle(at), Channel(1), &command);
    }
    log.finish(Cycle(100));
    assert_eq!((log.commands.len(), log.commands[2].at, log.end), (Command::MNEMONICS.len(), Cycle(3), Cycle(100)));
    let mut copy = CommandLog::default();
    log.replay(geometry(), &mut copy);
    assert_eq!(copy, log);
    // References and options pass the end on; no sink wants queues.
    let mut end = CommandLog::default();
    EventSink::finish(&mut &mut end, Cycle(7));
    assert_eq!((end.end, EventSink::wants_queues(&&mut end)), (Cycle(7), false));
}

#[test]
fn causes_know_their_request() {
    let request = RequestId(9);
    assert_eq!(
        [IssueCause::Read(request), IssueCause::Write(request), IssueCause::Refresh].map(|cause| cause.request()),
        [Some(request), Some(request), None]
    );
}

#[test]
fn mechanisms_are_ordered_by_their_ranks() {
    use std::hash::BuildHasher;
    const FIRST: Mechanism = Mechanism::new(&MechanismInfo { name: "first", label: "first", rank: 0, commands: &[] });
    const SAME: Mechanism = Mechanism::new(&MechanismInfo { name: "same", label: "same", rank: 0, commands: &[] });
    const THIRD: Mechanism = Mechanism::new(&MechanismInfo { name: "third", label: "third", rank: 2, commands: &[] });
    assert_eq!((FIRST.name(), THIRD.name(), FIRST.rank(), THIRD.rank()), ("first", "third", 0, 2));
    assert_eq!((format!("{FIRST:7}|"), Mechanism::CHANNEL.name()), ("first  |".to_owned(), "channel"));
    assert!(FIRST != THIRD && FIRST == SAME && FIRST < THIRD && THIRD < Mechanism::CHANNEL);
    let hashes = std::hash::RandomState::new();
    assert_ne!(hashes.hash_one(FIRST), hashes.hash_one(THIRD));
}

#[test]
fn operations_are_printed_with_their_ranges() {
    let (src, dst, bytes) = (PhysicalAddress(0x1000), PhysicalAddress(0x9000), 4096);
    for (operation, text, source) in [
        (Operation::Copy { src, dst, bytes }, "copy 4096 bytes 0x1000 -> 0x9000", Some(src)),
        (Operation::Init { dst, bytes, value: 7 }, "init 4096 bytes 0x9000 with 0x07", None),
        (Operation::Read { address: dst, bytes }, "read 4096 bytes 0x9000", None),
        (Operation::Write { address: dst, bytes }, "write 4096 bytes 0x9000", None),
    ] {
        assert_eq!((operation.to_string().as_str(), operation.src()), (text, source));
        assert_eq!((operation.bytes(), operation.target()), (bytes, dst));
    }
}

#[test]
fn intervals_and_dialects_have_their_values() {
    let interval = |refresh| System { refresh, ..System::paper(1, Density::Gb2, Width::X8) }.t_refi_ps();
    assert_eq!(interval(Refresh::Every { t_refi_ps: 1_950_000 }), 1_950_000);
    assert_eq!((interval(Refresh::NORMAL), interval(Refresh::Off)), (7_800_000, 7_800_000));
    assert_eq!((Dialect::Jedec.name(), Dialect::RowClone.name()), ("jedec", "rowclone"));
}

/// At 1.875 ns, 10 ns are 6 clocks.
#[test]
fn the_exit_from_self_refresh_follows_a_replaced_refresh_time() {
    let mut system = System::paper(1, Density::Gb2, Width::X8);
    system.bin = SpeedBin::named("1066G").unwrap().with_timings(&BTreeMap::from([(TimingParameter::Rfc, Cycles(50))]));
    let clock = system.clock();
    assert_eq!((clock.at_least(system.t_rfc()).0, clock.at_least(system.t_xs()).0), (50, 56));
}

/// tACTPDEN, tPRPDEN and tREFPDEN: 1 nCK, and 2 nCK at DDR3-2133.
#[test]
fn a_command_precedes_power_down_by_two_clocks_in_the_fastest_bin() {
    let of = |name| SpeedBin::named(name).unwrap().t_pden;
    assert_eq!(["1066G", "1866M"].map(of), [Min::ck(1); 2]);
    assert_eq!(of("2133N"), Min::ck(2));
}

#[test]
fn timings_are_replaced_within_the_range_of_the_mode_registers() {
    let ranges =
        [TimingParameter::Cl, TimingParameter::Cwl, TimingParameter::Ccd, TimingParameter::Rfc, TimingParameter::Rp];
    assert_eq!(ranges.map(|one| one.range(Standard::Ddr3)), [(5, 16), (5, 12), (4, 256), (1, 4096), (1, 256)]);
}

#[test]
fn times_and_energies_are_computed_in_their_units() {
    let (mut at, mut energy) = (Cycle(5) + Cycles(3), Picojoule(2.0));
    at += Cycles(4);
    energy += Picojoule(1.5) * 3.0;
    assert_eq!((at, Cycles(5) - Cycles(3), Cycles(5) * 3), (Cycle(12), Cycles(2), Cycles(15)));
    assert!((energy.0 - 6.5).abs() < 1e-12 && (Clock::DDR3_1066.t_ck_ns() - 1.875).abs() < 1e-12);
    assert_eq!((at.to_string().contains("12"), Cycles(7).to_string().contains('7')), (true, true));
}

#[test]
fn banks_are_inserted_into_sets() {
    let banks: Vec<BankIndex> = geometry().topology().indices().collect();
    let mut set = BankSet::EMPTY;
    assert!(set.is_empty());
    for &bank in &banks[3..5] {
        set.insert(bank);
        assert!(set.contains(bank) && !set.contains(banks[0]));
        set.set(bank, true);
    }
    assert_eq!((set.into_iter().collect::<Vec<_>>(), set.is_empty()), (banks[3..5].to_vec(), false));
    assert_eq!(set.union(BankSet::of(banks[3])), set);
}

/// Addresses forwards, backwards and far apart, against the map itself.
#[test]
fn a_locator_agrees_with_its_map() {
    for preset in [MapPreset::RowInterleaved, MapPreset::LineInterleaved] {
        let map = AddressMap::preset(geometry(), preset);
        let mut locator = Locator::default();
        let mut decoded = 0;
        let mut check = |address: u64| {
            let found = locator.locate(&map, PhysicalAddress(address), |location| {
                decoded += 1;
                (location.channel, location.bank, location.row, location.column)
            });
            let expected = map.locate(PhysicalAddress(address));
            let found = found.map(|((channel, bank, row, column), further)| (channel, bank, row, column.0 + further));
            assert_eq!(found, expected.map(|at| (at.channel, at.bank, at.row, at.column.0)), "{preset:?} {address:#x}");
        };
        (0..256).chain((64..200).rev()).for_each(|line| check(line * 64 + line % 64));
        [0, geometry().bytes() - 64, geometry().bytes(), 4096, 4095, 1 << 62].into_iter().for_each(&mut check);
        let runs = 16_384 / map.run_bytes();
        assert!((runs..=2 * runs + 6).contains(&decoded), "{decoded} runs of {} bytes were decoded", map.run_bytes());
    }
}

/// With rows interleaved a frame of 4 KB is a row; with lines interleaved it is in both channels.
#[test]
fn a_frame_lies_in_the_subarrays_of_its_rows() {
    let of = |preset, frame| {
        let subarrays = AddressMap::preset(geometry(), preset).frame_subarrays(frame);
        subarrays.iter().map(|at| (at.channel.0, at.subarray)).collect::<Vec<_>>()
    };
    assert_eq!(of(MapPreset::RowInterleaved, 0), [(0, 0)]);
    assert_eq!(of(MapPreset::LineInterleaved, 0), [(0, 0), (1, 0)]);
    let frames = geometry().bytes() / 4096;
    assert_eq!((of(MapPreset::RowInterleaved, frames - 1).len(), of(MapPreset::RowInterleaved, frames).len()), (1, 0));
}

#[test]
fn addresses_and_locations_are_printed() {
    let map = AddressMap::preset(geometry(), MapPreset::RowInterleaved);
    let at = map.locate(PhysicalAddress(0x1040)).unwrap();
    assert_eq!(PhysicalAddress(0x1040).to_string(), "0x1040");
    assert_eq!(at.to_string(), format!("channel {} {} row {} column {}", at.channel.0, at.bank, at.row.0, at.column.0));
    assert_eq!(map.parts().iter().map(|part| part.bits).sum::<u32>(), 33, "8 GB");
}
