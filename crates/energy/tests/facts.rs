//! Comparison with hand-computed values.

#![expect(clippy::unwrap_used, reason = "tests: the helpers of this file too")]

mod common;

use common::{act, bank, log, plain, pre, rd, rda, set, system, transfer, wr, wra};
use dram_spec::{
    AutoPrecharge, Channel, Column, Command, CommandCounts, CommandEvent, CommandKind, Cycle, Effect, EventSink,
    Geometry, Picojoule, PrechargePowerDown, RawGeometry, SpeedBin, Standard, System, Width,
};
use energy::Component::{Core, IdleRankIo, Io};
use energy::{Account, Cause, Component, Counts, EnergyError, PowerState, Prices};

const A: dram_spec::BankId = bank(0, 0);
const B: dram_spec::BankId = bank(0, 1);

fn prices(name: &str, ranks: u64) -> Prices {
    Prices::new(&system(1, ranks, Width::X8), &set(name)).unwrap()
}

/// Kinds of ACT.
const ACTS: [CommandKind; 3] = [CommandKind::Activate, CommandKind::CopyActivate, CommandKind::DroppedActivate];

/// A command without effect on another row.
const fn event(at: u64, channel: Channel, command: Command) -> CommandEvent {
    CommandEvent::new(Cycle(at), channel, command, Effect::Plain)
}

fn account(system: &System, commands: &[(u64, Command)], end: u64) -> Account {
    let mut account = Account::new(system);
    log(commands, end).replay(system.geometry, &mut account);
    account
}

/// Dynamic energy of an operation, nJ.
fn operation(name: &str, commands: &[(u64, Command)]) -> f64 {
    let system = system(1, 1, Width::X8);
    account(&system, commands, 1000).report(&prices(name, 1)).unwrap().operation().nj()
}

/// Compares to half a unit of the last digit given.
fn near(found: f64, worked_out: f64, digit: f64) {
    assert!((found - worked_out).abs() <= digit / 2.0 + 1e-9, "{found}, not {worked_out}");
}

#[test]
fn core_energies_are_those_of_the_sets_own_bin() {
    let events = *prices("2 Gb x8 -25E", 1).events();
    near(events.of(CommandKind::Activate, Core).nj(), 24.75, 1e-9);
    near(events.of(CommandKind::Read, Core).nj(), 15.6, 1e-9);
    near(events.of(CommandKind::Write, Core).nj(), 19.8, 1e-9);
    near(events.of(CommandKind::Transfer, Core).nj(), 17.7, 1e-9);
    near(events.of(CommandKind::Refresh, Core).nj(), 403.2, 1e-9);
    for (name, activate) in [
        ("2 Gb x8 -25E", 24.8),
        ("2 Gb x8 early die 1066", 13.5),
        ("2 Gb x8 D-die 1066", 25.7),
        ("1 Gb x8 G-die 1066", 13.5),
    ] {
        near(prices(name, 1).events().of(CommandKind::Activate, Core).nj(), activate, 0.1);
    }
}

/// VDD (IDD5B - IDD3N) tRFC of 8 chips, with tRFC of the set's density in whole clocks of its bin.
#[test]
fn a_refresh_lasts_trfc_of_the_sets_density() {
    for (name, nanojoules) in [
        // 110 ns are 59 clocks of 1.875 ns: 1.5 V x (160 - 40) mA x 110.625 ns x 8.
        ("1 Gb x8 G-die 1066", 159.3),
        // 160 ns are 64 clocks of 2.5 ns: 1.5 V x (275 - 65) mA x 160 ns x 8.
        ("2 Gb x8 -25E", 403.2),
        // 260 ns are 243 clocks of 15/14 ns: 1.5 V x (242 - 41) mA x 243 x 15/14 ns x 8.
        ("4 Gb x8 1866", 1.5 * 201.0 * 243.0 * 15.0 / 14.0 * 8.0 / 1000.0),
        // 350 ns are 280 clocks of 1.25 ns: 1.5 V x (245 - 51) mA x 350 ns x 8.
        ("8 Gb x8 1600", 814.8),
    ] {
        near(prices(name, 1).events().of(CommandKind::Refresh, Core).nj(), nanojoules, 1e-9);
    }
    // Three REF cost three times as much.
    let counts = Counts { commands: CommandCounts::new(0).with(CommandKind::Refresh, 3), ..Counts::default() };
    near(prices("8 Gb x8 1600", 1).report(&counts).unwrap().of(Cause::Refresh).nj(), 3.0 * 814.8, 1e-9);
}

/// Each component of each kind that takes energy has a price and a cause; no other has one. The
/// dynamic energy of one command of a kind is the sum of its prices.
#[test]
fn what_has_a_price_has_a_cause() {
    let prices = prices("2 Gb x8 -25E", 2);
    for kind in CommandKind::ALL {
        for component in Component::ALL {
            let price = prices.events().of(kind, component).0;
            assert_eq!(price > 0.0, Cause::of(kind, component).is_some(), "{kind:?}, {component:?}");
        }
        let is_refresh = Cause::of(kind, Core) == Some(Cause::Refresh);
        let found = prices.operation(&CommandCounts::default().with(kind, 1)).operation().nj();
        near(found, if is_refresh { 0.0 } else { prices.events().total(kind).nj() }, 1e-9);
    }
}

#[test]
fn energy_of_pins_uses_the_clock_of_the_system() {
    let one = *prices("2 Gb x8 -25E", 1).events();
    near(one.of(CommandKind::Read, Io).nj(), 2.48, 0.01);
    near(one.of(CommandKind::Write, Io).nj(), 12.72, 1e-9);
    near(one.of(CommandKind::Read, IdleRankIo).nj(), 0.0, 1e-9);
    near(one.of(CommandKind::Write, IdleRankIo).nj(), 0.0, 1e-9);
    let two = *prices("2 Gb x8 -25E", 2).events();
    near(two.of(CommandKind::Read, IdleRankIo).nj(), 8.37, 1e-9);
    near(two.of(CommandKind::Write, IdleRankIo).nj(), 9.24, 1e-9);
    assert_eq!(prices("2 Gb x8 -25E", 4).events(), &two, "one other rank terminates, however many there are");

    let faster = System { bin: SpeedBin::named("2133N").unwrap(), ..system(1, 1, Width::X8) };
    let faster = *Prices::new(&faster, &set("2 Gb x8 -25E")).unwrap().events();
    near(faster.of(CommandKind::Write, Io).nj(), 6.36, 1e-9);
    near(faster.of(CommandKind::Write, Core).nj(), 19.8, 1e-9);
}

#[test]
fn wider_and_narrower_chips_have_their_own_pins() {
    // x4: 64 DQ + 16 DQS, no DM; x16: 64 + 8 + 8.
    for (width, name, read_pins) in [(Width::X4, "4 Gb x4 1600", 80.0), (Width::X16, "4 Gb x16 1600", 72.0)] {
        let prices = Prices::new(&system(1, 1, width), &set(name)).unwrap();
        near(prices.events().of(CommandKind::Read, Io).nj(), 4.6 * read_pins * 7.5 / 1000.0, 1e-9);
        near(prices.events().of(CommandKind::Write, Io).nj(), 12.72, 1e-9);
    }
}

#[test]
fn energy_of_copying_one_line_equals_the_hand_computed_one() {
    let channel = [(0, act(A, 0)), (8, rd(A)), (20, pre(A)), (28, act(A, 600)), (36, wr(A)), (54, pre(A))];
    // Through row 7 of bank 1.
    let psm2 = [
        (0, act(A, 0)),
        (4, act(B, 7)),
        (12, transfer(A, B)),
        (20, pre(A)),
        (28, act(A, 600)),
        (36, transfer(B, A)),
        (54, Command::PrechargeAll { rank: 0 }),
    ];
    near(operation("2 Gb x8 -25E", &channel), 100.1, 0.1);
    near(operation("2 Gb x8 -25E", &psm2), 109.7, 0.1);
    near(operation("2 Gb x8 early die 1066", &channel), 63.8, 0.1);
    near(operation("2 Gb x8 early die 1066", &psm2), 62.1, 0.1);
}

#[test]
fn an_fpm_copy_is_two_activations_and_a_dropped_one_is_free() {
    let system = system(1, 1, Width::X8);
    let fpm = account(&system, &[(0, act(A, 0)), (20, act(A, 511)), (40, pre(A))], 48);
    let report = fpm.report(&prices("2 Gb x8 -25E", 1)).unwrap();
    near(report.of(Cause::Activate).nj(), 24.75, 1e-9);
    near(report.of(Cause::CopyActivate).nj(), 24.75, 1e-9);
    near(report.operation().nj(), 49.5, 1e-9);
    // Row 512 lies in the next subarray. The open row stays row 0, so the third ACT is a copy activation again.
    let dropped = account(&system, &[(0, act(A, 0)), (20, act(A, 512)), (40, act(A, 5)), (60, pre(A))], 68);
    let counts = dropped.counts();
    assert_eq!(ACTS.map(|kind| counts.commands[kind]), [1, 1, 1]);
    near(dropped.report(&prices("2 Gb x8 -25E", 1)).unwrap().operation().nj(), 49.5, 1e-9);
}

fn clocks(system: &System, commands: &[(u64, Command)], end: u64) -> [u64; 6] {
    account(system, commands, end).counts().clocks.map(|clocks| clocks.0)
}

/// 1066G: tRTP 4, CWL + BL + tWR = 6 + 4 + 8 = 18, tRAS 20.
#[test]
fn a_bank_is_open_until_the_precharge_that_closes_it() {
    let system = system(1, 1, Width::X8);
    let open = |commands: &[(u64, Command)]| clocks(&system, commands, 100)[PowerState::ActiveStandby as usize];
    assert_eq!(open(&[(10, act(A, 0)), (40, pre(A))]), 30);
    assert_eq!(open(&[(10, act(A, 0)), (40, Command::PrechargeAll { rank: 0 })]), 30);
    assert_eq!(open(&[(10, act(A, 0)), (20, act(B, 0)), (40, pre(A)), (60, pre(B))]), 50, "any bank of the rank");
    assert_eq!(open(&[(10, act(A, 0)), (40, rda(A))]), 34, "tRTP after the read");
    assert_eq!(open(&[(10, act(A, 0)), (18, rda(A))]), 20, "but not before tRAS");
    assert_eq!(open(&[(10, act(A, 0)), (30, act(A, 1)), (38, rda(A))]), 40, "of the last activation");
    assert_eq!(open(&[(10, act(A, 0)), (18, wra(A))]), 26, "18 after the write");
    assert_eq!(open(&[(10, act(A, 0)), (18, wra(A)), (30, pre(A))]), 26, "a PRE of a closing bank changes nothing");
    assert_eq!(open(&[(10, act(A, 0)), (95, wra(A))]), 90, "no longer than the run lasts");
    assert_eq!(open(&[(10, rda(A)), (20, pre(A))]), 0, "a closed bank stays closed");
}

#[test]
fn power_states_are_distinguished() {
    let (pde, pdx) = (Command::PowerDownEnter { rank: 0 }, Command::PowerDownExit { rank: 0 });
    let (sre, srx) = (Command::SelfRefreshEnter { rank: 0 }, Command::SelfRefreshExit { rank: 0 });
    let commands = [(10, act(A, 0)), (20, pde), (32, pdx), (40, pre(A)), (50, pde), (57, pdx), (70, sre), (181, srx)];
    let mut system = system(1, 1, Width::X8);
    // open 10..20 and 32..40; closed 0..10, 40..50, 57..70, 181..200; down 20..32, 50..57; self-refresh 70..181, of
    // which 86 clocks of refresh count as active power-down
    assert_eq!(clocks(&system, &commands, 200), [18, 52, 98, 7, 0, 25]);
    system.precharge_power_down = PrechargePowerDown::SlowExit;
    assert_eq!(clocks(&system, &commands, 200), [18, 52, 98, 0, 7, 25]);
    // ACT 0, RDA 1: open until 20. In power-down from 10 on, which is active for ten more clocks.
    assert_eq!(clocks(&system, &[(0, act(A, 0)), (1, rda(A)), (10, pde)], 30), [10, 0, 10, 0, 10, 0]);
    assert_eq!(clocks(&system, &[(5, pdx), (6, srx)], 30), [0, 30, 0, 0, 0, 0], "an exit from where it is not");
}

const REF: Command = Command::Refresh { rank: 0 };
const SRE: Command = Command::SelfRefreshEnter { rank: 0 };
const SRX: Command = Command::SelfRefreshExit { rank: 0 };

/// 1066: tRFC 59, 86, 139, 187 clocks for 1, 2, 4, 8 Gb.
#[test]
fn a_refresh_is_active_standby_for_trfc_of_the_density() {
    let other = system(1, 1, Width::X8);
    for (density, t_rfc) in Standard::Ddr3.definition().densities().into_iter().zip([59, 86, 139, 187]) {
        let raw = RawGeometry { density, ..other.geometry.raw() };
        let system = System { geometry: Geometry::try_from(raw).unwrap(), ..other.clone() };
        assert_eq!(clocks(&system, &[(10, REF)], 500), [t_rfc, 500 - t_rfc, 0, 0, 0, 0], "{density}");
        assert_eq!(clocks(&system, &[(10, REF)], 40), [30, 10, 0, 0, 0, 0], "{density}: no longer than the run lasts");
    }
    // With 2 Gb: in active power-down from PDE at 20 to the end of the refresh at 96, then in precharge power-down.
    let pde = Command::PowerDownEnter { rank: 0 };
    assert_eq!(clocks(&other, &[(10, REF), (20, pde)], 200), [10, 10, 76, 104, 0, 0]);
    // With -25E, 1.5 V x 8 chips: REF 403.2 nJ and 86 clocks at 65 mA come to 1.5 (210 x 160 + 65 x 161.25) 8 = 528.975
    // nJ.
    let report = account(&other, &[(10, REF)], 96).report(&prices("2 Gb x8 -25E", 1)).unwrap();
    near(report.of(Cause::Refresh).nj() + report.of(Cause::BackgroundActive).nj(), 528.975, 1e-9);
}

/// The refresh at SRE takes tRFC, 86 clocks. As after REF, a clock of it is active power-down while CKE is low, and
/// active standby from SRX on.
#[test]
fn a_refresh_counts_as_active_after_ref_and_after_sre() {
    let system = system(1, 1, Width::X8);
    let pde = Command::PowerDownEnter { rank: 0 };
    assert_eq!(clocks(&system, &[(10, REF), (11, pde)], 200), [1, 10, 85, 104, 0, 0]);
    assert_eq!(clocks(&system, &[(10, SRE)], 200), [0, 10, 86, 0, 0, 104]);
    assert_eq!(clocks(&system, &[(10, SRE), (40, SRX)], 200), [56, 114, 30, 0, 0, 0], "refresh to 96");
    assert_eq!(clocks(&system, &[(10, REF), (50, SRE)], 200), [40, 10, 86, 0, 0, 64], "the second refresh to 136");
}

/// The device starts one refresh when it enters self-refresh.
#[test]
fn a_self_refresh_entry_costs_one_refresh() {
    let system = system(1, 1, Width::X8);
    let report =
        |commands: &[(u64, Command)]| account(&system, commands, 1000).report(&prices("2 Gb x8 -25E", 1)).unwrap();
    let asleep = report(&[(100, SRE), (200, SRX)]);
    near(asleep.of(Cause::Refresh).nj(), 403.2, 1e-9);
    // 86 clocks of refresh at IDD3P, 45 mA, and 14 at IDD6, 9 mA: clocks of 1.875 ns at 1.5 V, 8 chips.
    near(asleep.of(Cause::PowerDownActive).nj(), 86.0 * 1.875 * 1.5 * 45.0 * 8.0 / 1e3, 1e-9);
    near(asleep.of(Cause::SelfRefresh).nj(), 14.0 * 1.875 * 1.5 * 9.0 * 8.0 / 1e3, 1e-9);
    near(
        report(&[(100, SRE), (200, SRX), (300, REF), (400, SRE), (500, SRX)]).of(Cause::Refresh).nj(),
        3.0 * 403.2,
        1e-9,
    );
    near(report(&[(100, SRE), (150, SRE), (200, SRX)]).of(Cause::Refresh).nj(), 403.2, 1e-9);
}

#[test]
fn background_is_charged_for_every_rank_and_chip() {
    // 1.5 V x 50 mA x 8 chips x 1.875 ns = 1.125 nJ of one rank in one clock; 65 mA: 1.4625 nJ
    let system = system(2, 2, Width::X8);
    let prices = Prices::new(&system, &set("2 Gb x8 -25E")).unwrap();
    near(prices.clock(PowerState::PrechargedStandby).unwrap().nj(), 1.125, 1e-9);
    let report = account(&system, &[(0, act(A, 0)), (40, pre(A))], 1000).report(&prices).unwrap();
    near(report.of(Cause::BackgroundActive).nj(), 40.0 * 1.4625, 1e-9);
    near(report.of(Cause::BackgroundPrecharged).nj(), 3960.0 * 1.125, 1e-6);
}

/// A clock at 1866 takes 1.5 x 50 x 8 x 15/14 pJ. Half a million such terms, added one by one, are
/// wrong by 1e-12 and more.
#[test]
fn a_long_sum_has_no_drift() {
    let system = System { bin: SpeedBin::named("1866M").unwrap(), ..system(1, 1, Width::X8) };
    let total = plain::total(&system, &set("2 Gb x8 -25E"), &log(&[], 500_000)).unwrap();
    let error = total.0 * 14.0 / (500_000.0 * 1.5 * 50.0 * 8.0 * 15.0) - 1.0;
    assert!(error.abs() < 1e-13, "{error:e}");
}

#[test]
fn the_counts_of_one_operation_are_its_price() {
    let counts = CommandCounts::default()
        .with(CommandKind::Activate, 2)
        .with(CommandKind::Read, 64)
        .with(CommandKind::Write, 64);
    let report = prices("2 Gb x8 -25E", 1).operation(&counts);
    // 2 x 24.75 + 64 x (15.6 + 19.8 + 2.484 + 12.72)
    near(report.operation().nj(), 3288.156, 1e-6);
    assert_eq!(report.total(), report.operation());
    near(report.channel_share().unwrap(), 973.056 / 3288.156, 1e-9);
    let idle = CommandCounts::default().with(CommandKind::Refresh, 3).with(CommandKind::SelfRefreshEnter, 2);
    assert_eq!(prices("2 Gb x8 -25E", 1).operation(&idle).total(), Picojoule(0.0), "no refresh");
}

#[test]
fn a_set_of_another_width_is_refused() {
    assert_eq!(prices("2 Gb x8 -25E", 1).set(), "2 Gb x8 -25E");
    let error = Prices::new(&system(1, 1, Width::X4), &set("2 Gb x8 -25E")).unwrap_err();
    assert_eq!(error.to_string(), "the current set \"2 Gb x8 -25E\" is of x8 chips, but the system has x4 chips");
    assert_eq!(error.help(), "take a current set of x4 chips, or set `width = 8`");
}

#[test]
fn a_missing_current_matters_once_its_state_was_used() {
    let system = system(1, 1, Width::X8);
    let prices = prices("2 Gb x8 -25E", 1);
    assert!(account(&system, &[(5, act(A, 0))], 10).report(&prices).is_ok());
    let error = account(&system, &[(5, Command::PowerDownEnter { rank: 0 })], 10).report(&prices).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a rank was in a state that draws IDD2P1, which the current set \"2 Gb x8 -25E\" does not have"
    );
    assert!(error.help().starts_with("add `idd2p1_ma` to the set"), "{}", error.help());
}

#[test]
fn help_for_a_missing_current_suggests_another_state() {
    for (state, key, way_out) in [
        (PowerState::ActivePowerDown, "idd3p_ma", "keep the ranks out of power-down"),
        (PowerState::FastPowerDown, "idd2p1_ma", "switch precharge power-down to slow exit"),
        (PowerState::SlowPowerDown, "idd2p0_ma", "switch precharge power-down to fast exit"),
        (PowerState::SelfRefresh, "idd6_ma", "keep the ranks out of self-refresh"),
    ] {
        let help = EnergyError::Current { set: String::new(), state, current: state.name() }.help();
        assert_eq!(help, format!("add `{key}` to the set, take a set that has it, or {way_out}"));
    }
}

#[test]
fn invalid_streams_are_errors_that_name_the_position() {
    let system = system(1, 1, Width::X8);
    let prices = prices("2 Gb x8 -25E", 1);
    let fault = |commands: &[(u64, Command)], end| {
        let error = account(&system, commands, end).report(&prices).unwrap_err();
        let plain = plain::total(&system, &set("2 Gb x8 -25E"), &log(commands, end)).unwrap_err();
        assert_eq!(error, plain, "both implementations refuse it");
        error
    };
    let at = |column: u16| (Column(column), [AutoPrecharge::No, AutoPrecharge::Yes]);
    let reads = |(column, ways): (Column, [AutoPrecharge; 2])| {
        ways.map(|auto_precharge| Command::Read { bank: A, column, auto_precharge })
    };
    let writes = |(column, ways): (Column, [AutoPrecharge; 2])| {
        ways.map(|auto_precharge| Command::Write { bank: A, column, auto_precharge })
    };
    for somewhere in reads(at(63)).into_iter().chain(writes(at(63))).chain([act(A, 65_535), pre(bank(0, 7))]) {
        assert!(account(&system, &[(7, somewhere)], 7).report(&prices).is_ok(), "{somewhere}");
        assert!(plain::total(&system, &set("2 Gb x8 -25E"), &log(&[(7, somewhere)], 7)).is_ok(), "{somewhere}");
    }
    let banks = [act(bank(1, 0), 0), act(bank(0, 8), 0), act(A, 65_536), transfer(A, bank(0, 9)), pre(bank(3, 0))];
    for nowhere in banks.into_iter().chain(reads(at(64))).chain(writes(at(64))) {
        let expected = EnergyError::Address { at: Cycle(7), channel: Channel(0), command: nowhere };
        assert_eq!(fault(&[(7, nowhere), (8, act(A, 0))], 10), expected);
    }
    let back = EnergyError::Order { at: Cycle(7), channel: Channel(0), command: pre(A), last: Cycle(8) };
    assert_eq!(fault(&[(8, act(A, 0)), (7, pre(A))], 10), back);
    assert_eq!(fault(&[(8, act(A, 0))], 7), EnergyError::End { end: Cycle(7), last: Cycle(8) });
    let mut other = Account::new(&system);
    other.command(&event(0, Channel(1), act(A, 0)));
    assert!(other.report(&prices).is_err(), "a channel that is not there");
    let before = account(&system, &[(8, act(A, 0)), (20, rd(A))], 7).counts();
    let expected = CommandCounts::default().with(CommandKind::Activate, 1).with(CommandKind::Read, 1);
    assert_eq!(before.commands, expected);
    let mut ended = account(&system, &[(8, act(A, 0)), (20, rd(A))], 7);
    ended.command(&event(30, Channel(0), rd(A)));
    ended.command(&event(31, Channel(0), Command::PrechargeAll { rank: 0 }));
    ended.finish(Cycle(1000));
    assert_eq!(ended.counts(), before, "nothing counts after a fault");
}
