//! Maximum durations, at the limit and one clock beyond, where device and checker agree.
#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use dram_core::Device;
use dram_spec::geometry::native_row_bytes;
use dram_spec::{
    AutoPrecharge, BankId, Channel, Column, Command, CommandLog, Cycle, Density, Dialect, EventSink, Geometry,
    RawGeometry, Refresh, Row, SpeedBin, Standard, System, Width,
};

/// One rank at DDR3-1066: tREFI is 4160 clocks, tRFC 86.
fn system(refresh: Refresh) -> System {
    let (density, width) = (Density::Gb2, Width::X8);
    let row_bytes = native_row_bytes(Standard::Ddr3, density, width);
    let raw = RawGeometry {
        standard: Standard::Ddr3,
        channels: 1,
        ranks: 1,
        density,
        width,
        row_bytes,
        rows_per_subarray: 512.into(),
    };
    System { refresh, ..System::new(SpeedBin::named("1066G").unwrap(), Geometry::try_from(raw).unwrap()) }
}

const T_REFI: u64 = 4160;
const BANK: BankId = BankId { rank: 0, bank: 0 };
const ACT: Command = Command::Activate { bank: BANK, row: Row(5) };
const COPY: Command = Command::Activate { bank: BANK, row: Row(6) };
const PRE: Command = Command::Precharge { bank: BANK };
const PREA: Command = Command::PrechargeAll { rank: 0 };
const RDA: Command = Command::Read { bank: BANK, column: Column(0), auto_precharge: AutoPrecharge::Yes };
const REF: Command = Command::Refresh { rank: 0 };
const PDE: Command = Command::PowerDownEnter { rank: 0 };
const PDX: Command = Command::PowerDownExit { rank: 0 };
const SRE: Command = Command::SelfRefreshEnter { rank: 0 };
const SRX: Command = Command::SelfRefreshExit { rank: 0 };

/// The panic message of the device for a listing or its end; `None` if they are legal.
fn refusal(system: &System, listing: &[(u64, Command)], end: u64) -> Option<String> {
    let run = || {
        let mut device = Device::new(system, None);
        for &(at, command) in listing {
            device.issue(Cycle(at), &command);
        }
        device.finish(Cycle(end));
    };
    let panic = catch_unwind(AssertUnwindSafe(run)).err()?;
    Some(panic.downcast_ref::<String>().cloned().unwrap_or_default())
}

/// The rules that the checker reports.
fn found(system: &System, listing: &[(u64, Command)], end: u64) -> Vec<&'static str> {
    let mut log = CommandLog::default();
    for (at, command) in listing {
        log.push(Cycle(*at), Channel(0), command);
    }
    log.finish(Cycle(end));
    protocol_check::audit(system, Dialect::RowClone, &log).iter().map(|violation| violation.rule.name()).collect()
}

/// Asserts that `last` is legal at `limit` after a listing, and breaks these rules one clock later,
/// as does the end of the run.
fn check(refresh: Refresh, listing: &[(u64, Command)], last: Command, limit: u64, rules: &[&str]) {
    check_in(&system(refresh), listing, last, limit, rules);
}

/// [`check`] in a system.
fn check_in(system: &System, listing: &[(u64, Command)], last: Command, limit: u64, rules: &[&str]) {
    let at = |at| [listing, &[(at, last)]].concat();
    assert_eq!(refusal(system, &at(limit), limit), None, "{last} at {limit}");
    assert_eq!(found(system, &at(limit), limit), [""; 0], "{last} at {limit}");
    assert_eq!(refusal(system, listing, limit), None, "the end at {limit}");
    for late in [at(limit + 1), listing.to_vec()] {
        let refusal = refusal(system, &late, limit + 1).expect("one clock beyond the limit");
        assert!(rules.iter().any(|rule| refusal.contains(rule)), "{refusal}");
        assert_eq!(found(system, &late, limit + 1), rules, "{late:?}");
    }
}

/// One rank at DDR5-4800 with REFsb: four bank numbers, and one REFsb due in tREFI / 8 = 1170 clocks.
fn same_bank_system() -> System {
    let standard = Standard::Ddr5;
    let (density, width) = (Density::Gb16, Width::X8);
    let row_bytes = native_row_bytes(standard, density, width);
    let raw = RawGeometry { standard, density, width, row_bytes, ..system(Refresh::Off).geometry.raw() };
    let refresh_mode = standard.refresh_mode("same-bank").unwrap();
    let bin = SpeedBin::named("DDR5-4800B").unwrap();
    System { refresh_mode, ..System::new(bin, Geometry::try_from(raw).unwrap()) }
}

const INTERVAL: u64 = 1170;

const fn refsb(bank: u8) -> Command {
    Command::RefreshSameBank { bank: BankId { rank: 0, bank } }
}

/// JESD79-5: a REF refreshes the banks of all numbers, as a REFsb of each number does. At most 8 x 4 may be postponed.
#[test]
fn a_refresh_of_all_banks_counts_as_a_round_of_same_bank_refreshes() {
    let system = same_bank_system();
    let at = 32 * INTERVAL;
    for (first, counted) in [(REF, 4), (refsb(2), 1)] {
        let limit = (counted + 1 + 32) * INTERVAL;
        for last in [REF, refsb(1)] {
            check_in(&system, &[(at, first)], last, limit, &["REF-postponed"]);
        }
        let mut device = Device::new(&system, None);
        device.issue(Cycle(at), &first);
        assert_eq!(device.refresh(0).owed(Cycle(at)), 32 - counted);
    }
    // The gap of nine refreshes of all banks, 36 intervals, ends with either.
    for last in [REF, refsb(0)] {
        check_in(&system, &[(0, REF)], last, 36 * INTERVAL, &["REF-gap"]);
    }
}

/// JESD79-5: after SRX, one more REF, or a REFsb of each bank number, precedes SRE.
#[test]
fn a_round_of_same_bank_refreshes_permits_the_next_self_refresh() {
    let system = same_bank_system();
    let listing = |numbers: u8| {
        let refreshes = (0..numbers).map(|number| (2000 + 400 * u64::from(number), refsb(number)));
        let exit = [(100, SRE), (1000, SRX)].into_iter();
        exit.chain(refreshes).chain([(4000, SRE), (5000, SRX)]).collect::<Vec<_>>()
    };
    let three = refusal(&system, &listing(3), 6000).unwrap();
    assert!(three.contains("SRX-REF-SRE"), "{three}");
    assert_eq!(found(&system, &listing(3), 6000), ["SRX-REF-SRE"]);
    assert_eq!(refusal(&system, &listing(4), 6000), None);
    assert_eq!(found(&system, &listing(4), 6000), [""; 0]);
    // The three before the SRE do not count.
    let before = [(0, refsb(0)), (100, refsb(1)), (200, refsb(2))];
    let late = [&before[..], &[(700, SRE), (800, SRX), (2000, refsb(3)), (3000, SRE)]].concat();
    assert!(refusal(&system, &late, 3000).unwrap().contains("SRX-REF-SRE"));
    assert_eq!(found(&system, &late, 3000), ["SRX-REF-SRE"]);
}

#[test]
fn a_row_stays_open_for_nine_intervals_at_most() {
    for close in [PRE, PREA, RDA] {
        check(Refresh::Off, &[(100, ACT)], close, 100 + 9 * T_REFI, &["tRAS-max"]);
        check(Refresh::Off, &[(100, ACT), (20_000, COPY)], close, 20_000 + 9 * T_REFI, &["tRAS-max"]);
    }
}

#[test]
fn a_power_down_lasts_nine_intervals_at_most() {
    check(Refresh::Off, &[(100, PDE)], PDX, 100 + 9 * T_REFI, &["tPD-max"]);
    check(Refresh::Off, &[(100, PDE), (200, PDX), (300, PDE)], PDX, 300 + 9 * T_REFI, &["tPD-max"]);
    // The row must be closed as soon after its ACT: an active power-down has ended by then.
    check(Refresh::Off, &[(100, ACT), (101, PDE), (37_000, PDX)], PRE, 100 + 9 * T_REFI, &["tRAS-max"]);
}

#[test]
fn nine_intervals_pass_between_two_refreshes_at_most() {
    check(Refresh::NORMAL, &[], REF, 9 * T_REFI, &["REF-gap", "REF-postponed"]);
    check(Refresh::NORMAL, &[(0, REF)], REF, 9 * T_REFI, &["REF-gap"]);
    // The second REF is due at 2 tREFI, and may be eight intervals late.
    check(Refresh::NORMAL, &[(9 * T_REFI, REF)], REF, 10 * T_REFI, &["REF-postponed"]);
}

/// Self-refresh from 30,000 to 130,000: 37,440 clocks of the refresh clock end at 137,440.
#[test]
fn self_refresh_stops_the_refresh_clock_and_the_latest_entry_is_the_latest_refresh() {
    check(Refresh::NORMAL, &[(30_000, SRE), (130_000, SRX)], REF, 137_440, &["REF-gap", "REF-postponed"]);
    let system = system(Refresh::NORMAL);
    assert_eq!(refusal(&system, &[(9 * T_REFI, SRE)], 1_000_000), None, "self-refresh has no maximum");
    assert_eq!(found(&system, &[(9 * T_REFI, SRE)], 1_000_000), [""; 0]);
    let late = refusal(&system, &[(9 * T_REFI + 1, SRE)], 1_000_000).unwrap();
    assert!(late.contains("REF-gap or REF-postponed"), "{late}");
}

/// Self-refresh from 4,200 to 104,200, of which the refresh clock counts nothing: nine REFs in advance
/// count, and the limit is nine intervals after the last of them.
#[test]
fn the_gap_after_a_self_refresh_begins_at_the_latest_refresh() {
    let refreshes = (0..9).map(|number| (104_300 + 90 * number, REF));
    let listing: Vec<_> = [(4200, SRE), (104_200, SRX)].into_iter().chain(refreshes).collect();
    check(Refresh::NORMAL, &listing, REF, 104_300 + 8 * 90 + 9 * T_REFI, &["REF-gap"]);
}

/// After eight REFs in advance, a ninth counts from the first tREFI on.
#[test]
fn the_ninth_refresh_in_advance_does_not_count() {
    let eight = || (0..8).map(|number| (86 * number, REF));
    let system = system(Refresh::NORMAL);
    let next_due = |refreshes: &[(u64, Command)]| {
        let mut device = Device::new(&system, None);
        for (at, command) in refreshes {
            device.issue(Cycle(*at), command);
        }
        device.refresh(0).next_due(Cycle(0)).unwrap().0
    };
    for (number, counted) in [(1, 1), (7, 7), (8, 8)] {
        assert_eq!(next_due(&eight().take(number).collect::<Vec<_>>()), (counted + 1) * T_REFI, "{number} REF");
    }
    for (ninth, counted) in [(4159, 8), (4160, 9)] {
        let nine: Vec<_> = eight().chain([(ninth, REF)]).collect();
        assert_eq!(next_due(&nine), (counted + 1) * T_REFI, "the ninth at {ninth}");
    }
    // The REF at 41,598 is the ninth that counts, or the tenth. With nine, the tenth is due at 10
    // tREFI, and may be issued at 18; with ten, nine intervals after 41,598 end before 19 tREFI.
    let then = |ninth| eight().chain([(ninth, REF), (41_598, REF)]).collect::<Vec<_>>();
    check(Refresh::NORMAL, &then(4159), REF, 18 * T_REFI, &["REF-postponed"]);
    check(Refresh::NORMAL, &then(4160), REF, 41_598 + 9 * T_REFI, &["REF-gap"]);
}

#[test]
fn at_most_nine_refreshes_are_owed() {
    let device = Device::new(&system(Refresh::NORMAL), None);
    let ledger = device.refresh(0);
    let owed = [0, 4159, 4160, 8319, 8320, 9 * T_REFI - 1, 9 * T_REFI].map(|at| ledger.owed(Cycle(at)));
    assert_eq!(owed, [0, 0, 1, 1, 2, 8, 9]);
    assert_eq!(ledger.deadline(), Some(Cycle(9 * T_REFI)), "the ninth falls due when the first must have been issued");
    assert_eq!(ledger.next_due(Cycle(8319)), Some(Cycle(8320)));
    assert_eq!(ledger.next_due(Cycle(8320)), Some(Cycle(3 * T_REFI)));
    let off = Device::new(&system(Refresh::Off), None);
    assert_eq!(
        (off.refresh(0).owed(Cycle(1 << 40)), off.refresh(0).next_due(Cycle(0)), off.refresh(0).deadline()),
        (0, None, None)
    );
}

/// DDR3-1066G: tRAS 20, tRP 8, tRCD 8.
#[test]
fn a_command_that_is_early_or_to_a_sleeping_rank_is_refused() {
    let system = system(Refresh::Off);
    let closed = [(0, ACT), (20, PRE)];
    for (listing, command, legal) in [(&closed[..], ACT, 28), (&closed[..1], RDA, 8), (&closed[..1], PRE, 20)] {
        let at = |at| [listing, &[(at, command)]].concat();
        assert_eq!(refusal(&system, &at(legal), legal), None, "{command} at {legal}");
        assert!(refusal(&system, &at(legal - 1), legal).is_some(), "{command} at {}", legal - 1);
    }
    for command in [ACT, PREA, REF, PDE] {
        assert!(refusal(&system, &[(0, PDE), (100, command)], 200).is_some(), "{command} in power-down");
    }
}
