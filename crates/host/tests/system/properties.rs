//! Properties of all operations on all systems.

use std::collections::BTreeMap;

use dram_core::Defect;
use dram_spec::geometry::ReservedRow;
use dram_spec::{AutoPrecharge, Command, CommandKind, Dialect};
use host::MemoryCheck;
use memctrl::policy::copy::BASELINE;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config as Runs, TestCaseError, TestRunner};

use crate::cases::{Case, arb_case, arb_heavy_case};
use crate::common::{Outcome, run, run_with};

/// Configuration with `cases` cases, or as many as `PROPTEST_CASES` specifies.
pub fn runs(cases: u32) -> Runs {
    let asked = Runs::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { asked.cases } else { cases };
    Runs { cases, max_global_rejects: 100 * cases, ..asked }
}

fn dialect(case: &Case) -> Dialect {
    if case.config.copy_policy == BASELINE { Dialect::Jedec } else { Dialect::RowClone }
}

pub fn outcome(case: &Case) -> Outcome {
    run(&case.config, case.seed, &case.operations, dialect(case))
}

/// Zero rows are never written; temporary rows only by TRANSFER, as an intermediate step of a copy.
fn assert_reserved_rows_are_kept(case: &Case, outcome: &Outcome) {
    let geometry = &case.config.system.geometry;
    let mut open = BTreeMap::new();
    for issued in &outcome.log.commands {
        let reserved = |bank| open.get(&(issued.channel, bank)).and_then(|&row| geometry.reserved(row));
        match issued.command {
            Command::Activate { bank, row } => {
                if open.contains_key(&(issued.channel, bank)) {
                    assert_eq!(geometry.reserved(row), None, "FPM into a reserved row: {issued:?}");
                }
                open.insert((issued.channel, bank), row);
            }
            Command::Precharge { bank } => {
                open.remove(&(issued.channel, bank));
            }
            Command::PrechargeAll { rank } => {
                open.retain(|(channel, bank): &(_, dram_spec::BankId), _| {
                    *channel != issued.channel || bank.rank != rank
                });
            }
            Command::Read { bank, auto_precharge, .. } | Command::Write { bank, auto_precharge, .. } => {
                assert_eq!(reserved(bank), None, "over the channel: {issued:?}");
                if auto_precharge == AutoPrecharge::Yes {
                    open.remove(&(issued.channel, bank));
                }
            }
            Command::Transfer { dst, .. } => assert_ne!(reserved(dst), Some(ReservedRow::Zero), "{issued:?}"),
            _ => {}
        }
    }
}

/// The command stream is legal (`run` asserts it), no copy activation is dropped, memory equals a
/// flat array, and every operation completes after it began.
pub fn leaves_a_legal_stream_and_a_plain_memory(case: &Case) -> Result<(), TestCaseError> {
    let outcome = outcome(case);
    prop_assert_eq!(outcome.memory.clone(), MemoryCheck::Equal);
    prop_assert_eq!(outcome.dropped, 0);
    prop_assert_eq!(outcome.completions.len(), case.operations.len());
    for (completion, (operation, at)) in outcome.completions.iter().zip(&case.operations) {
        prop_assert_eq!(completion.operation, *operation);
        prop_assert!(completion.arrival >= at.unwrap_or_default());
        let began = completion.first_command;
        prop_assert!(began.is_none_or(|first| completion.arrival <= first && first < completion.done));
    }
    assert_reserved_rows_are_kept(case, &outcome);
    Ok(())
}

proptest! {
    #![proptest_config(runs(300))]

    /// Every stream is legal (`run` asserts it; one of channel copies only under plain JEDEC
    /// rules), no copy activation is dropped, memory equals a flat array, and every operation
    /// completes after it began.
    #[test]
    fn any_operations_leave_a_legal_stream_and_a_plain_memory(case in arb_case()) {
        leaves_a_legal_stream_and_a_plain_memory(&case)?;
    }
}

proptest! {
    #![proptest_config(runs(25))]

    /// The property above with many operations in flight, between which every refresh must be
    /// scheduled.
    #[test]
    fn concurrent_operations_leave_a_legal_stream_and_a_plain_memory(case in arb_heavy_case()) {
        leaves_a_legal_stream_and_a_plain_memory(&case)?;
    }
}

proptest! {
    #![proptest_config(runs(40))]

    #[test]
    fn the_same_seed_gives_the_same_bytes(case in arb_case()) {
        let (first, second) = (outcome(&case), outcome(&case));
        prop_assert_eq!(first.log, second.log);
        prop_assert_eq!(first.stats, second.stats);
    }

    /// Contents do not affect the scheduler: a run without contents issues the same commands.
    #[test]
    fn a_run_without_contents_issues_the_same_commands(case in arb_case()) {
        let with = outcome(&case);
        let mut log = dram_spec::CommandLog::default();
        let mut source = host::Sequence::new(case.operations.iter().copied(), None);
        let stop = std::sync::atomic::AtomicBool::new(false);
        let stats = memctrl::Controller::new(&case.config).run(&mut source, &mut log, &stop).unwrap();
        prop_assert_eq!(with.log, log);
        prop_assert_eq!(with.stats, stats);
    }

    /// On idle banks no command is issued later than necessary: any command one cycle earlier
    /// breaks a rule. (If an operation has several programs, one may wait for another's bank only
    /// because of the plan's order; if it uses two channels, a write waits for data of the other
    /// channel.)
    #[test]
    fn the_commands_of_one_program_have_no_slack(case in arb_case()) {
        let mut case = case;
        case.operations.truncate(1);
        case.operations[0].1 = None;
        prop_assume!(programs(&case) == 1);
        let outcome = outcome(&case);
        let commands = &outcome.log.commands;
        let refreshed = commands.iter().any(|issued| matches!(issued.command, Command::Refresh { .. }));
        let one_channel = commands.iter().all(|issued| issued.channel == commands[0].channel);
        prop_assume!(!refreshed && one_channel && commands.len() < 400);
        // Commands in one cycle on two channels are independent; a channel's first command may have
        // no predecessor.
        for (index, issued) in commands.iter().enumerate().skip(1) {
            let mut early = outcome.log.clone();
            if issued.at.0 == 0 {
                continue;
            }
            early.commands[index].at.0 -= 1;
            let found = protocol_check::audit(&case.config.system, dialect(&case), &early);
            prop_assert!(!found.is_empty(), "{issued:?} has slack");
        }
    }
}

/// Programs of the first operation.
fn programs(case: &Case) -> usize {
    let policy = case.config.copy_policy;
    let blocks = case.config.planner.blocks(&case.operations[0].0);
    let count = |block: rowclone::Block| {
        let choices: Vec<_> = block.parts().iter().map(|part| policy.preferred(part)).collect();
        let mut programs = 0;
        block.programs(&choices, case.config.staging_lines, |_| programs += 1);
        programs
    };
    blocks.map(count).sum()
}

/// Draws a fixed sequence of cases until the memory property fails.
fn cases_until_the_memory_property_fails(defect: Defect) -> Option<usize> {
    let mut runner = TestRunner::deterministic();
    let strategy = arb_case();
    (0..2000).find(|_| {
        let case = strategy.new_tree(&mut runner).expect("cases can be drawn").current();
        run_with(&case.config, case.seed, &case.operations, dialect(&case), Some(defect)).memory != MemoryCheck::Equal
    })
}

/// The cases cover every mechanism, refreshes, and concurrent operations.
#[test]
fn the_cases_cover_every_mechanism_and_refreshes() {
    let mut runner = TestRunner::deterministic();
    let strategy = arb_case();
    let (mut mechanisms, mut refreshes, mut overlapping) = (std::collections::BTreeSet::new(), 0, 0);
    for _ in 0..300 {
        let outcome = outcome(&strategy.new_tree(&mut runner).expect("cases can be drawn").current());
        mechanisms.extend(outcome.stats.whole.parts.iter().map(|(mechanism, ..)| mechanism));
        refreshes += outcome.stats.whole.commands[CommandKind::Refresh];
        let spans = outcome.completions.windows(2);
        overlapping += spans.filter(|pair| pair[1].first_command.is_some_and(|first| first < pair[0].done)).count();
    }
    assert_eq!(mechanisms.len(), 4, "{mechanisms:?}");
    assert!(
        refreshes > 100 && overlapping > 50,
        "{refreshes} refreshes, {overlapping} operations begun before the one before was done"
    );
}

#[test]
fn the_memory_property_detects_each_defect() {
    for defect in [Defect::FpmLosesALine, Defect::TransferSwapsColumns, Defect::SharedTemporaryRow] {
        assert!(cases_until_the_memory_property_fails(defect).is_some(), "{defect:?} is not detected");
    }
}
