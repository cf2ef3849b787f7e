//! Properties for arbitrary streams: the checker never panics, only distances matter, and channels are independent.

mod common;

use common::planted;

use dram_spec::{
    AutoPrecharge, BankId, Channel, Column, Command, CommandLog, CopyActivations, Cycle, Dialect, EventSink,
    PrechargePowerDown, ReferenceCycle, Refresh, Row, System,
};
use proptest::prelude::*;
use protocol_check::{Checker, Violation, ViolationReport, audit};

/// Usually small numbers, so that commands share banks; sometimes any number.
fn byte(usual: u8) -> impl Strategy<Value = u8> {
    prop_oneof![20 => 0..usual, 1 => any::<u8>()]
}

fn arb_bank() -> impl Strategy<Value = BankId> {
    (byte(2), byte(6)).prop_map(|(rank, bank)| BankId { rank, bank })
}

fn arb_row() -> impl Strategy<Value = Row> {
    prop_oneof![20 => (0..4u32).prop_map(|i| Row(i * 200)), 1 => any::<u32>().prop_map(Row)]
}

fn arb_column() -> impl Strategy<Value = Column> {
    prop_oneof![20 => 0..64u16, 1 => any::<u16>()].prop_map(Column)
}

fn arb_auto_precharge() -> impl Strategy<Value = AutoPrecharge> {
    prop_oneof![3 => Just(AutoPrecharge::No), 1 => Just(AutoPrecharge::Yes)]
}

fn arb_command() -> impl Strategy<Value = Command> {
    prop_oneof![
        4 => (arb_bank(), arb_row()).prop_map(|(bank, row)| Command::Activate { bank, row }),
        2 => arb_bank().prop_map(|bank| Command::Precharge { bank }),
        1 => byte(2).prop_map(|rank| Command::PrechargeAll { rank }),
        3 => (arb_bank(), arb_column(), arb_auto_precharge())
            .prop_map(|(bank, column, auto_precharge)| Command::Read { bank, column, auto_precharge }),
        3 => (arb_bank(), arb_column(), arb_auto_precharge())
            .prop_map(|(bank, column, auto_precharge)| Command::Write { bank, column, auto_precharge }),
        3 => (arb_bank(), arb_column(), arb_bank(), arb_column())
            .prop_map(|(src, src_column, dst, dst_column)| Command::Transfer { src, src_column, dst, dst_column }),
        1 => byte(2).prop_map(|rank| Command::Refresh { rank }),
        1 => arb_bank().prop_map(|bank| Command::RefreshSameBank { bank }),
        1 => byte(2).prop_map(|rank| Command::PowerDownEnter { rank }),
        1 => byte(2).prop_map(|rank| Command::PowerDownExit { rank }),
        1 => byte(2).prop_map(|rank| Command::SelfRefreshEnter { rank }),
        1 => byte(2).prop_map(|rank| Command::SelfRefreshExit { rank }),
    ]
}

fn arb_system() -> impl Strategy<Value = System> {
    let refresh = prop_oneof![
        Just(Refresh::Off),
        Just(Refresh::NORMAL),
        any::<u64>().prop_map(|t_refi_ps| Refresh::Every { t_refi_ps }),
        Just(Refresh::Every { t_refi_ps: 0 }),
    ];
    (arb_standard(), any::<bool>(), any::<bool>(), any::<bool>(), refresh).prop_map(
        |(system, free, slow, first, refresh)| System {
            copy_activations: if free { CopyActivations::Free } else { CopyActivations::Counted },
            precharge_power_down: if slow { PrechargePowerDown::SlowExit } else { PrechargePowerDown::FastExit },
            reference_cycle: if first { ReferenceCycle::First } else { ReferenceCycle::Second },
            refresh,
            ..system
        },
    )
}

/// A system of any standard in any of its refresh modes, refresh off.
fn arb_standard() -> impl Strategy<Value = System> {
    let systems = [planted::system()].into_iter().chain(common::other_standards());
    let modes = systems.flat_map(|system| {
        let modes = system.bin.standard.definition().refresh_modes.iter();
        modes.map(move |refresh_mode| System { refresh_mode, ..system.clone() })
    });
    prop::sample::select(modes.collect::<Vec<_>>())
}

/// Steps forward, and sometimes to any instant.
fn arb_log() -> impl Strategy<Value = CommandLog> {
    let step = prop_oneof![30 => (0..30u64).prop_map(Ok), 1 => any::<u64>().prop_map(Err), 1 => Just(Err(u64::MAX))];
    (prop::collection::vec((step, byte(1), arb_command()), 0..200), any::<u64>()).prop_map(|(steps, end)| {
        let mut log = CommandLog::default();
        let mut now = 0u64;
        for (step, channel, command) in steps {
            now = step.map_or_else(|any_instant| any_instant, |forward| now.saturating_add(forward));
            log.push(Cycle(now), Channel(channel), &command);
        }
        log.finish(Cycle(end));
        log
    })
}

/// Commands on channel 0 in the order of their instants.
fn arb_orderly() -> impl Strategy<Value = CommandLog> {
    prop::collection::vec((0..30u64, arb_command()), 0..200).prop_map(|steps| {
        let mut log = CommandLog::default();
        let mut now = 0;
        for (step, command) in steps {
            now += step;
            log.push(Cycle(now), Channel(0), &command);
        }
        log.finish(Cycle(now));
        log
    })
}

fn shifted(log: &CommandLog, by: u64) -> CommandLog {
    let mut shifted = CommandLog::default();
    for issued in &log.commands {
        shifted.push(Cycle(issued.at.0 + by), issued.channel, &issued.command);
    }
    shifted.finish(Cycle(log.end.0 + by));
    shifted
}

fn shape(violations: &[Violation], by: u64) -> Vec<(protocol_check::Rule, u64, Option<u64>)> {
    violations.iter().map(|violation| (violation.rule, violation.at.0 - by, violation.clocks_short)).collect()
}

/// 500 cases, or the number in `PROPTEST_CASES`.
fn runs() -> ProptestConfig {
    let config = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_some() { config } else { ProptestConfig { cases: 500, ..config } }
}

proptest! {
    #![proptest_config(runs())]

    #[test]
    fn the_checker_is_total(system in arb_system(), log in arb_log()) {
        for dialect in [Dialect::Jedec, Dialect::RowClone] {
            let mut checker = Checker::new(&system, dialect);
            checker.replay(&log);
            let report = checker.into_report();
            prop_assert_eq!(report.total(), report.counts().map(|(_, count)| count).sum::<u64>());
            prop_assert_eq!(report.violations().len() as u64, report.total().min(ViolationReport::KEPT as u64));
            for violation in report.violations() {
                prop_assert!(violation.to_string().contains(violation.rule.name()));
            }
        }
    }

    /// With refresh off: refresh counts from cycle 0.
    #[test]
    fn only_distances_matter(system in arb_standard(), log in arb_orderly(), by in 0..1u64 << 40) {
        for dialect in [Dialect::Jedec, Dialect::RowClone] {
            let here = audit(&system, dialect, &log);
            let there = audit(&system, dialect, &shifted(&log, by));
            prop_assert_eq!(shape(&here, 0), shape(&there, by));
        }
    }

    #[test]
    fn channels_are_independent(system in arb_standard(), one in arb_orderly(), other in arb_orderly()) {
        let mut raw = system.geometry.raw();
        raw.channels = 2;
        let system = System { geometry: raw.try_into().unwrap(), ..system };
        let mut merged: Vec<_> = one.commands.clone();
        merged.extend(other.commands.iter().map(|issued| dram_spec::Issued { channel: Channel(1), ..*issued }));
        merged.sort_by_key(|issued| issued.at);
        let merged = CommandLog { commands: merged, end: Cycle::ZERO };
        let without_end = |log: &CommandLog| CommandLog { end: Cycle::ZERO, ..log.clone() };
        let apart = |log: &CommandLog| audit(&system, Dialect::RowClone, &without_end(log));
        let together = audit(&system, Dialect::RowClone, &merged);
        let of = |channel: u8| -> Vec<Violation> {
            together.iter().filter(|violation| violation.channel == Channel(channel)).copied().collect()
        };
        prop_assert_eq!(shape(&of(0), 0), shape(&apart(&one), 0));
        prop_assert_eq!(shape(&of(1), 0), shape(&apart(&other), 0));
    }

    /// A command more than two tREFI (18,720 clocks, the longest minimum) after all others breaks no minimum.
    #[test]
    fn after_a_long_pause_no_minimum_is_broken(system in arb_standard(), log in arb_orderly(), last in arb_command()) {
        let mut paused = log.clone();
        paused.push(Cycle(log.end.0 + 19_000), Channel(0), &last);
        paused.finish(Cycle(log.end.0 + 19_000));
        for violation in audit(&system, Dialect::RowClone, &paused) {
            let late = violation.at.0 == log.end.0 + 19_000;
            prop_assert!(!late || violation.rule.sort() != protocol_check::Sort::Timing, "{}", violation);
        }
    }
}
