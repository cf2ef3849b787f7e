//! Chips of DDR2, DDR4 and DDR5, compared with hand-computed values.

#![expect(clippy::unwrap_used, reason = "tests: the helpers of this file too")]

mod common;

use common::{act, bank, log, pre, rd, set};
use dram_spec::{
    Command, CommandKind, Geometry, Picojoule, PrechargePowerDown, RawGeometry, SpeedBin, Standard, System,
};
use energy::Component::{Core, Io};
use energy::{Account, Cause, Currents, EnergyError, EnergyReport, PowerState, Prices, RawCurrents};

/// A system of one rank of a set's chips, at the set's bin.
fn system(currents: &Currents) -> System {
    system_at(currents.bin().name, currents)
}

fn system_at(bin: &str, currents: &Currents) -> System {
    let (bin, chip) = (SpeedBin::named(bin).unwrap(), currents.chip());
    let raw = RawGeometry {
        standard: bin.standard,
        channels: 1,
        ranks: 1,
        density: chip.density,
        width: chip.width,
        row_bytes: chip.page_bytes * bin.standard.definition().channel_pins / chip.width.pins(),
        rows_per_subarray: 512.into(),
    };
    System::new(bin, Geometry::try_from(raw).unwrap())
}

fn in_mode(name: &str, currents: &Currents) -> System {
    System { refresh_mode: currents.standard().refresh_mode(name).unwrap(), ..system(currents) }
}

fn report(system: &System, prices: &Prices, commands: &[(u64, Command)], end: u64) -> EnergyReport {
    let mut account = Account::new(system);
    log(commands, end).replay(system.geometry, &mut account);
    account.report(prices).unwrap()
}

fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found}, not {expected}");
}

/// VDD and VPP of an activation of a rank, nJ. The published numbers have two decimals.
#[test]
fn activations_under_both_background_models() {
    #[rustfmt::skip]
    let published = [
        ("8 Gb x8 DDR4-2400 rev B",   3.35, 5.98, 0.0),
        ("8 Gb x8 DDR4-3200 rev D",   4.20, 8.59, 0.0),
        ("8 Gb x8 DDR4-3200 rev G",   2.95, 8.51, 0.0),
        ("8 Gb x16 DDR4-3200",        9.91, 12.51, 0.46),
        ("8 Gb x4 DDR4-2400 rev B",   5.42, 7.76, 0.0),
        ("4 Gb x8 DDR4-2400 rev B",   1.92, 6.31, 0.0),
        // 1.8 V x 1 mA x 116 clocks of 5/12 ns x 4 chips.
        ("16 Gb x8 DDR5-4800 rev A", -4.72, 2.12, 0.348),
    ];
    for (name, one, zero, vpp) in published {
        let currents = set(name);
        let chips = system(&currents).geometry.chips() as f64;
        let nj = |energy: Picojoule| energy.nj() * chips;
        near(nj(currents.activate(1.0).vdd), one, 0.005);
        near(nj(currents.activate(0.0).vdd), zero, 0.005);
        near(nj(currents.activate(0.0).vpp), vpp, 0.005);
    }
}

#[test]
fn the_background_model_is_that_of_the_standard() {
    for (name, rho) in [
        ("1 Gb x8 DDR2-667 -3E", 1.0),
        ("2 Gb x8 -25E", 1.0),
        ("8 Gb x8 DDR4-3200 rev D", 1.0),
        ("16 Gb x8 DDR5-4800 rev A", 0.0),
    ] {
        let currents = set(name);
        let prices = Prices::new(&system(&currents), &currents).unwrap();
        assert_eq!(prices.background_rho().to_bits(), f64::to_bits(rho), "{name}");
        assert_eq!(prices.open_bank_clock() > Picojoule(0.0), rho < 1.0, "{name}");
    }
    let currents = set("16 Gb x8 DDR5-4800 rev A");
    let error = Prices::with_background(&system(&currents), &currents, 1.0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "with the current set \"16 Gb x8 DDR5-4800 rev A\" and rho 1, an activation would take -1179.75 pJ per chip"
    );
    assert!(error.help().contains("device.background_rho"), "{}", error.help());
}

/// DDR5-4800, 4 chips, 1.1 V and 1.8 V x 7 mA: a clock is 5/12 ns. No bank open: IDD2N, 92 mA. One of 32
/// open: (142 + 31 x 92) / 32 = 93.5625. All open: IDD3N, 142.
#[test]
fn active_standby_grows_with_the_open_banks() {
    let currents = set("16 Gb x8 DDR5-4800 rev A");
    let system = system(&currents);
    let prices = Prices::new(&system, &currents).unwrap();
    let clock = |milliamperes: f64| (1.1 * milliamperes + 1.8 * 7.0) * 5.0 / 12.0 * 4.0;
    for (open, milliamperes) in [(1, 93.5625), (2, 95.125), (16, 117.0), (32, 142.0)] {
        let acts: Vec<_> = (0..open).map(|number| (0, act(bank(0, number), 1))).collect();
        let found = report(&system, &prices, &acts, 1000).of(Cause::BackgroundActive).0;
        near(found, 1000.0 * clock(milliamperes), 1e-6 * found);
    }
    near(report(&system, &prices, &[], 1000).total().0, 1000.0 * clock(92.0), 1e-6);
    // 100 clocks with bank 0, 40 of them with bank 1, too; then 60 with none.
    let commands = [(0, act(bank(0, 0), 1)), (30, act(bank(0, 1), 1)), (70, pre(bank(0, 1))), (100, pre(bank(0, 0)))];
    let found = report(&system, &prices, &commands, 160);
    near(found.of(Cause::BackgroundActive).0, 60.0 * clock(93.5625) + 40.0 * clock(95.125), 1e-6);
    near(found.of(Cause::BackgroundPrecharged).0, 60.0 * clock(92.0), 1e-6);
}

/// No energy is lost: a row cycle repeated at tRC draws IDD0, and REF repeated at tRFC draws IDD5B,
/// whatever the background model.
#[test]
fn the_measurement_loops_draw_their_currents() {
    let currents = set("16 Gb x8 DDR5-4800 rev A");
    let system = system(&currents);
    // tRC 77 + 39, tRFC1 708 clocks.
    let row = [(0, act(bank(0, 3), 1)), (77, pre(bank(0, 3)))];
    let refresh = [(0, Command::Refresh { rank: 0 })];
    let power = |mw: f64, clocks: f64| mw * clocks * 5.0 / 12.0 * 4.0;
    for rho in [0.0, 0.2] {
        let prices = Prices::with_background(&system, &currents, rho).unwrap();
        let found = report(&system, &prices, &row, 116).total().0;
        near(found, power(1.1 * 103.0 + 1.8 * 8.0, 116.0), 1e-6);
        let found = report(&system, &prices, &refresh, 708).total().0;
        near(found, power(1.1 * 277.0 + 1.8 * 7.0, 708.0), 1e-6);
    }
    let currents = set("8 Gb x16 DDR4-2400 rev B");
    let system = self::system(&currents);
    let prices = Prices::new(&system, &currents).unwrap();
    // 350 ns are 420 clocks of 5/6 ns; 4 chips.
    let found = report(&system, &prices, &refresh, 420).total().0;
    near(found, (1.2 * 280.0 + 2.5 * 28.0) * 350.0 * 4.0, 1e-6);
}

/// Published beside DDR3: background 7.5 mW of VPP beside 52 mW of VDD, a refresh 22 nJ beside 87 nJ.
#[test]
fn vpp_adds_to_background_and_refresh() {
    let currents = set("8 Gb x8 DDR4-2400 rev B");
    near(currents.vpp_mw(PowerState::ActiveStandby), 7.5, 1e-12);
    near(currents.raw().vdd_v * currents.raw().idd3n_ma, 52.0, 0.5);
    let refresh = currents.refresh().unwrap();
    near(refresh.vdd.nj(), 87.0, 0.5);
    near(refresh.vpp.nj(), 22.0, 0.5);
    let prices = Prices::new(&system(&currents), &currents).unwrap();
    // (1.2 x 43 + 2.5 x 3) mW x 5/6 ns x 8 chips.
    near(prices.clock(PowerState::ActiveStandby).unwrap().0, 59.1 * 5.0 / 6.0 * 8.0, 1e-9);
    // IPP6 of rev G is 5 mA: 1.2 x 31 + 2.5 x 5 mW at 0.625 ns. Without IPP6, it is IPP3N.
    let rev_g = set("8 Gb x8 DDR4-3200 rev G");
    let prices = Prices::new(&system(&rev_g), &rev_g).unwrap();
    near(prices.clock(PowerState::SelfRefresh).unwrap().0, 49.7 * 0.625 * 8.0, 1e-9);
    near(currents.vpp_mw(PowerState::SelfRefresh), 7.5, 1e-12);
}

/// IDD5R is an average with REF every tREFI: (66 - 56) mA x 7,800 ns = 78 nC, beside (250 - 52) x 350 =
/// 69.3 nC of rev D with IDD5B.
#[test]
fn a_refresh_current_of_trefi_replaces_that_of_trfc() {
    let charge = |name: &str| set(name).refresh().unwrap().vdd.0 / 1.2 / 1000.0;
    near(charge("8 Gb x8 DDR4-3200 rev G"), 78.0, 1e-9);
    near(charge("8 Gb x8 DDR4-3200 rev D"), 69.3, 1e-9);
    near(set("8 Gb x8 DDR4-3200 rev G").refresh().unwrap().vpp.0, 2.5 * 2.0 * 7800.0, 1e-6);
}

#[test]
fn refreshes_of_other_modes_add_up_to_the_normal_one() {
    let price =
        |system: &System, currents: &Currents, kind| Prices::new(system, currents).unwrap().events().of(kind, Core).0;
    let currents = set("8 Gb x8 DDR4-3200 rev D");
    let whole = price(&in_mode("1x", &currents), &currents, CommandKind::Refresh);
    for (mode, parts) in [("2x", 2.0), ("4x", 4.0)] {
        let system = in_mode(mode, &currents);
        near(price(&system, &currents, CommandKind::Refresh) * parts, whole, 1e-9 * whole);
        near(price(&system, &currents, CommandKind::SelfRefreshEnter), whole, 0.0);
    }
    // Without IDD5C: a quarter of (1.1 V x (277 - 142) x 295 / 2 + 1.1 (142 - 92) x 160), for 4 chips. tRFC1 is
    // 708 clocks, and tRFC2 384.
    let currents = set("16 Gb x8 DDR5-4800 rev A");
    let system = in_mode("same-bank", &currents);
    let expected = 1.1 * (135.0 * 295.0 / 2.0 + 50.0 * 160.0) / 4.0 * 4.0;
    near(price(&system, &currents, CommandKind::RefreshSameBank), expected, 1e-6);
    // With them: 1.1 (135 - 92) x 130 and 1.1 (262 - 142) x 160, for 4 chips.
    let currents = set("16 Gb x8 DDR5-4800 gem5");
    let (same_bank, fine) = (in_mode("same-bank", &currents), in_mode("fine", &currents));
    near(price(&same_bank, &currents, CommandKind::RefreshSameBank), 1.1 * 43.0 * 130.0 * 4.0, 1e-6);
    near(price(&fine, &currents, CommandKind::Refresh), 1.1 * 120.0 * 160.0 * 4.0, 1e-6);
}

/// IDD3N plus 3/5 of IDD4R - IDD3N of the 667 set: 55 + 48 = 103.
#[test]
fn derived_currents_of_ddr2_400_follow_from_the_667_set() {
    let slower = |set: &Currents| set.raw().idd3n_ma + 0.6 * (135.0 - 55.0);
    for name in ["1 Gb x16 DDR2-400 rev E", "256 Mb x8 DDR2-400", "2 Gb x8 DDR2-400"] {
        let currents = set(name);
        near(currents.raw().idd4r_ma, slower(&currents), 1e-9);
        near(currents.raw().idd4w_ma, slower(&currents), 1e-9);
        assert!(currents.raw().note.as_ref().unwrap().contains("derived"), "{name} says so");
    }
    near(set("1 Gb x16 DDR2-400 rev E").raw().idd4r_ma, 103.0, 1e-9);
}

#[test]
fn a_set_without_a_refresh_current_refuses_refreshes_only() {
    let currents = set("256 Mb x8 DDR2-400");
    let system = system(&currents);
    let prices = Prices::new(&system, &currents).unwrap();
    assert!(!prices.has_refresh());
    assert!(report(&system, &prices, &[(0, act(bank(0, 0), 1)), (8, pre(bank(0, 0)))], 20).total().0 > 0.0);
    let mut account = Account::new(&system);
    log(&[(0, Command::Refresh { rank: 0 })], 20).replay(system.geometry, &mut account);
    let error = account.report(&prices).unwrap_err();
    assert_eq!(error, EnergyError::Refresh { set: currents.name().to_owned() });
    assert!(error.help().contains("`idd5b_ma`"), "{}", error.help());
}

/// In DDR2, active power-down has a slow exit, and precharge power-down has one exit.
#[test]
fn the_slow_exit_of_ddr2_is_that_of_active_power_down() {
    let currents = set("1 Gb x8 DDR2-667 -3E");
    for (exit, milliamperes) in [(PrechargePowerDown::FastExit, 30.0), (PrechargePowerDown::SlowExit, 10.0)] {
        let system = System { precharge_power_down: exit, ..system(&currents) };
        let prices = Prices::new(&system, &currents).unwrap();
        let down = [(0, act(bank(0, 0), 1)), (0, Command::PowerDownEnter { rank: 0 })];
        let found = report(&system, &prices, &down, 10);
        near(found.of(Cause::PowerDownActive).0, 10.0 * 1.8 * milliamperes * 3.0 * 8.0, 1e-6);
        let found = report(&system, &prices, &down[1..], 10);
        near(found.of(Cause::PowerDownFast).0, 10.0 * 1.8 * 7.0 * 3.0 * 8.0, 1e-6);
    }
    let raw = RawCurrents { idd3p0_ma: None, ..currents.raw().clone() };
    let system = System { precharge_power_down: PrechargePowerDown::SlowExit, ..system(&currents) };
    let prices = Prices::new(&system, &Currents::try_from(raw).unwrap()).unwrap();
    let mut account = Account::new(&system);
    log(&[(0, act(bank(0, 0), 1)), (0, Command::PowerDownEnter { rank: 0 })], 10).replay(system.geometry, &mut account);
    let error = account.report(&prices).unwrap_err();
    assert!(error.to_string().contains("draws IDD3P0"), "{error}");
    assert!(error.help().starts_with("add `idd3p0_ma` to the set"), "{}", error.help());
}

/// DDR2-667: 1.5 mW x 72 pins x 4 clocks of 3 ns. DDR4 and DDR5 have no powers of their pins.
#[test]
fn only_standards_with_powers_of_the_pins_have_io_energy() {
    for (name, io) in
        [("1 Gb x8 DDR2-667 -3E", Some(1296.0)), ("8 Gb x8 DDR4-2400 rev B", None), ("16 Gb x8 DDR5-4800 rev A", None)]
    {
        let currents = set(name);
        let system = system(&currents);
        let prices = Prices::new(&system, &currents).unwrap();
        assert_eq!(prices.io_is_modeled(), io.is_some(), "{name}");
        near(prices.events().of(CommandKind::Read, Io).0, io.unwrap_or(0.0), 1e-6);
        let found = report(&system, &prices, &[(0, act(bank(0, 0), 1)), (20, rd(bank(0, 0)))], 100);
        assert_eq!(found.channel_share().is_some(), io.is_some(), "{name}");
        assert_eq!([Cause::ReadIo, Cause::Read].map(|cause| found.is_modeled(cause)), [io.is_some(), true]);
    }
}

/// A burst takes 8 clocks in DDR5: 1.1 V x (377 - 142) mA x 10/3 ns x 4 chips.
#[test]
fn a_burst_has_the_clocks_of_the_standard() {
    let currents = set("16 Gb x8 DDR5-4800 rev A");
    let prices = Prices::new(&system(&currents), &currents).unwrap();
    near(prices.events().of(CommandKind::Read, Core).0, 1.1 * 235.0 * 10.0 / 3.0 * 4.0, 1e-6);
}

#[test]
fn a_set_of_another_standard_is_refused() {
    let system = system_at("DDR4-2400R", &set("8 Gb x8 DDR4-2400 rev B"));
    let error = Prices::new(&system, &set("2 Gb x8 -25E")).unwrap_err();
    let message = "the current set \"2 Gb x8 -25E\" is of DDR3 chips, but the system has DDR4 chips";
    assert_eq!(error.to_string(), message);
    assert!(error.help().contains("sets of DDR4 x8 chips are `4 Gb x8 DDR4-1866 rev A`, "), "{}", error.help());
}

#[test]
fn wrong_keys_of_vpp_and_of_refresh_are_named() {
    let raw = set("8 Gb x8 DDR4-3200 rev G").raw().clone();
    let fails = |raw: RawCurrents| Currents::try_from(raw).unwrap_err();
    let error = fails(RawCurrents { ipp3n_ma: None, ..raw.clone() });
    assert_eq!(error.to_string(), "`ipp3n_ma` is missing, but `vpp_v` is given");
    let error = fails(RawCurrents { vpp_v: None, ..raw.clone() });
    assert_eq!((error.key(), error.to_string().as_str()), ("ipp0_ma", "`vpp_v` is missing, but `ipp0_ma` is given"));
    let error = fails(RawCurrents { idd5b_ma: Some(250.0), ..raw.clone() });
    assert!(error.to_string().starts_with("`idd5r_ma` is given beside `idd5b_ma`"), "{error}");
    let error = fails(RawCurrents { ipp0_ma: Some(2.0), ..raw.clone() });
    assert_eq!(error.to_string(), "`ipp0_ma` is 2, but must be at least `ipp3n_ma`, 3");
    let error = fails(RawCurrents { bin: "DDR5-3600".into(), ..raw.clone() });
    assert_eq!(error.to_string(), "`bin` is \"DDR5-3600\", a data rate without latencies of its own");
    let error = fails(RawCurrents { density_gb: 0.25, ..raw });
    assert_eq!(error.to_string(), "`density_gb` is 0.25, but must be 2, 4, 8 or 16");
    near(set("256 Mb x8 DDR2-400").raw().density_gb, Standard::Ddr2.definition().densities()[0].gigabits(), 0.0);
}
