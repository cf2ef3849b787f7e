//! Properties of all streams.

#![expect(clippy::unwrap_used, reason = "tests: the helpers of this file too")]

mod common;

use common::{act, bank, plain, rd, rda, set, transfer, wr, wra};
use dram_spec::{
    Channel, Command, CommandKind, CommandLog, Cycle, Cycles, EventSink, Geometry, OpenRows, Picojoule,
    PrechargePowerDown, RawGeometry, RowsPerSubarray, SpeedBin, System, Width,
};
use energy::{Account, Counts, Currents, EnergyReport, PowerState, Prices, RawCurrents};
use proptest::prelude::*;

/// Relative error of a sum of a few thousand floating-point terms.
const TOLERANCE: f64 = 1e-12;

fn assert_near(one: Picojoule, other: Picojoule, what: &str) -> Result<(), TestCaseError> {
    let close = (one.0 - other.0).abs() <= TOLERANCE * one.0.abs().max(other.0.abs());
    prop_assert!(close, "{what}: {} and {}", one.0, other.0);
    Ok(())
}

/// A set with every current, for chips of the system's standard and width.
fn complete(system: &System) -> Currents {
    let chip = system.geometry.chip();
    let raw = set("2 Gb x8 early die 1066").raw().clone();
    let vpp = system.standard().definition().pin_powers.is_none();
    let given = |current: f64| vpp.then_some(current);
    RawCurrents {
        bin: system.bin.name.into(),
        density_gb: chip.density.gigabits(),
        width: chip.width.pins(),
        // More than IDD3N, so that every background model leaves an activation some energy.
        idd0_ma: raw.idd3n_ma + 30.0,
        idd3p0_ma: Some(17.0),
        vpp_v: given(2.5),
        ipp0_ma: given(4.5),
        ipp3n_ma: given(3.0),
        ipp5b_ma: given(28.0),
        ipp6_ma: given(5.0),
        ..raw
    }
    .try_into()
    .unwrap()
}

/// Sets whose refresh currents are of each kind.
fn by_refresh_current(system: &System) -> [Currents; 3] {
    let raw = complete(system).raw().clone();
    let burst = raw.idd5b_ma.unwrap();
    let regular = RawCurrents { idd5b_ma: None, idd5r_ma: Some(raw.idd3n_ma + 7.0), ..raw.clone() };
    let regular = RawCurrents { ipp5b_ma: None, ipp5r_ma: raw.ipp3n_ma.map(|ma| ma + 2.0), ..regular };
    let fine = RawCurrents { idd5f_ma: Some(burst - 9.0), idd5c_ma: Some(burst / 2.0), ..raw.clone() };
    [raw, regular, fine].map(|raw| raw.try_into().unwrap())
}

fn read(system: &System, log: &CommandLog) -> Account {
    let mut account = Account::new(system);
    log.replay(system.geometry, &mut account);
    account
}

fn price(system: &System, counts: &Counts) -> EnergyReport {
    Prices::new(system, &complete(system)).unwrap().report(counts).unwrap()
}

fn arb_system() -> impl Strategy<Value = System> {
    let switches = prop_oneof![Just(PrechargePowerDown::FastExit), Just(PrechargePowerDown::SlowExit)];
    let bins = prop::sample::select(vec![
        "800E",
        "1066G",
        "1866M",
        "2133N",
        "DDR2-400B",
        "DDR2-800E",
        "DDR4-2400R",
        "DDR4-3200AA",
        "DDR5-4800B",
    ]);
    let widths = prop::sample::select(&Width::ALL[..]);
    // Commands have rows 0, 1, 511, 512 and 1023.
    let patterns: [RowsPerSubarray; 3] = [[511, 640].into(), [512, 511, 600].into(), 576.into()];
    let rows = prop_oneof![
        3 => Just(RowsPerSubarray::from(512)),
        1 => prop::sample::select(patterns.to_vec()),
    ];
    (0..2u32, (0..2u32, rows), switches, bins, widths, 0..9usize, 0..3usize).prop_map(
        |(channels, (ranks, rows_per_subarray), precharge_power_down, bin, width, density, mode)| {
            let bin = SpeedBin::named(bin).unwrap();
            let definition = bin.standard.definition();
            let densities = definition.densities();
            let modes = definition.refresh_modes;
            let chip = bin.standard.chip(densities[density % densities.len()], width).unwrap();
            let raw = RawGeometry {
                standard: bin.standard,
                channels: 1 << channels,
                ranks: 1 << ranks,
                density: chip.density,
                width,
                row_bytes: chip.page_bytes * definition.channel_pins / width.pins(),
                rows_per_subarray,
            };
            System {
                precharge_power_down,
                refresh_mode: &modes[mode % modes.len()],
                ..System::new(bin, Geometry::try_from(raw).unwrap())
            }
        },
    )
}

/// A command, usually such as a controller issues, to few banks and rows, so that every kind of ACT
/// occurs.
fn arb_command(ranks: u8) -> impl Strategy<Value = Command> {
    let banks = (0..ranks, 0..3u8).prop_map(|(rank, number)| bank(rank, number));
    (banks, 0..ranks, prop::sample::select(vec![0u32, 1, 511, 512, 1023]), 0..33u8).prop_map(
        |(bank, rank, row, kind)| match kind {
            0..=8 => act(bank, row),
            9..=11 => Command::Precharge { bank },
            12 => Command::PrechargeAll { rank },
            13..=15 => rd(bank),
            16..=17 => rda(bank),
            18..=20 => wr(bank),
            21..=22 => wra(bank),
            23..=24 => transfer(bank, common::bank(bank.rank, (bank.bank + 1) % 3)),
            25 => Command::Refresh { rank },
            32 => Command::RefreshSameBank { bank },
            26..=27 => Command::PowerDownEnter { rank },
            28..=29 => Command::PowerDownExit { rank },
            30 => Command::SelfRefreshEnter { rank },
            _ => Command::SelfRefreshExit { rank },
        },
    )
}

/// A log with long and short gaps. It need not be legal: an account accepts any log.
fn arb_log(system: &System) -> impl Strategy<Value = CommandLog> + use<> {
    let (channels, ranks) = (system.geometry.channels(), system.geometry.ranks());
    let step = (prop_oneof![1..8u64, 1..60u64], 0..channels, arb_command(ranks));
    let rest = prop_oneof![Just(0), 1..100u64];
    (prop::collection::vec(step, 0..150), rest).prop_map(|(steps, rest)| {
        let mut log = CommandLog::default();
        let mut now = 0;
        for (gap, channel, command) in steps {
            now += gap;
            log.push(Cycle(now), Channel(channel), &command);
        }
        log.finish(Cycle(now + rest));
        log
    })
}

fn arb_run() -> impl Strategy<Value = (System, CommandLog)> {
    arb_system().prop_flat_map(|system| arb_log(&system).prop_map(move |log| (system.clone(), log)))
}

/// The commands for which `keep` is true, with an unchanged end.
fn filtered(log: &CommandLog, keep: impl Fn(&dram_spec::Issued) -> bool) -> CommandLog {
    CommandLog { commands: log.commands.iter().copied().filter(keep).collect(), end: log.end }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    /// The account equals `plain`, which visits every clock and shares no arithmetic with it.
    #[test]
    fn the_account_agrees_with_the_plain_implementation_on_every_cause((system, log) in arb_run()) {
        let counts = read(&system, &log).counts();
        for currents in by_refresh_current(&system) {
            for rho in [1.0, 0.0, 0.3] {
                let report = Prices::with_background(&system, &currents, rho).unwrap().report(&counts).unwrap();
                let plain = plain::by_cause(&system, &currents, rho, &log).unwrap();
                for ((cause, found), (same, plain)) in report.by_cause().iter().zip(&plain) {
                    prop_assert_eq!(*cause, *same);
                    assert_near(*found, *plain, cause.name())?;
                }
            }
        }
        let total = plain::total(&system, &complete(&system), &log).unwrap();
        assert_near(price(&system, &counts).total(), total, "total")?;
    }

    /// Every clock of every rank is in one state, and every command is counted once, except an SRE of
    /// a rank that is not awake.
    #[test]
    fn nothing_is_lost_or_counted_twice((system, log) in arb_run()) {
        let counts = read(&system, &log).counts();
        let ranks = u64::from(system.geometry.channels()) * u64::from(system.geometry.ranks());
        let clocks: Cycles = counts.clocks.into_iter().fold(Cycles(0), |sum, clocks| sum + clocks);
        prop_assert_eq!(clocks, log.end.since(Cycle::ZERO) * ranks);
        let active = counts.in_state(PowerState::ActiveStandby);
        let banks = u64::from(system.geometry.banks());
        prop_assert!(active <= counts.open_bank_clocks && counts.open_bank_clocks <= active * banks);
        let mut rows = OpenRows::new(system.geometry);
        let kinds: Vec<_> = log.commands.iter().map(|issued| rows.event(*issued).kind()).collect();
        for kind in CommandKind::ALL {
            let issued = kinds.iter().filter(|other| **other == kind).count() as u64;
            if kind == CommandKind::SelfRefreshEnter {
                prop_assert!(counts.commands[kind] <= issued);
            } else {
                prop_assert_eq!(counts.commands[kind], issued, "{:?}", kind);
            }
        }
    }

    /// The energy of a log is the sum over its ranks, each with a log of its own.
    #[test]
    fn the_energy_of_a_log_is_the_sum_over_its_ranks((system, log) in arb_run()) {
        let whole = read(&system, &log);
        let mut sum = Picojoule(0.0);
        for channel in (0..system.geometry.channels()).map(Channel) {
            for rank in 0..system.geometry.ranks() {
                let part = filtered(&log, |issued| issued.channel == channel && issued.command.rank() == rank);
                let counts = read(&system, &part).rank_counts(channel, rank).unwrap();
                prop_assert_eq!(Some(counts), whole.rank_counts(channel, rank));
                sum += price(&system, &counts).total();
            }
        }
        assert_near(price(&system, &whole.counts()).total(), sum, "all ranks")?;
    }

    /// The energy of a log is the sum over time intervals: an account of the first part, and the
    /// difference since.
    #[test]
    fn the_energy_of_a_log_is_the_sum_over_its_times((system, log) in arb_run(), cut in 0..6000u64) {
        let cut = Cycle(cut.min(log.end.0));
        let first = CommandLog { end: cut, ..filtered(&log, |issued| issued.at < cut) };
        let first = read(&system, &first).counts();
        let whole = read(&system, &log).counts();
        let since = whole.since(&first);
        prop_assert_eq!(first + since, whole);
        let sum = price(&system, &first).total() + price(&system, &since).total();
        assert_near(price(&system, &whole).total(), sum, "both parts")?;
    }

    /// Readings taken during the run never decrease, and do not change the account.
    #[test]
    fn readings_only_grow((system, log) in arb_run()) {
        let (mut account, mut rows) = (Account::new(&system), OpenRows::new(system.geometry));
        let mut before = account.counts();
        for issued in &log.commands {
            account.command(&rows.event(*issued));
            let now = account.counts();
            let _ = now.since(&before);
            before = now;
        }
        account.finish(log.end);
        prop_assert_eq!(account.counts(), read(&system, &log).counts());
        let _ = account.counts().since(&before);
    }
}
