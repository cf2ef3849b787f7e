//! A run of columns is checked as its commands one by one.

mod common;

use common::{act, planted, pre, rd, wr};
use dram_spec::{
    AutoPrecharge, BankId, Channel, Column, ColumnRun, Command, CommandEvent, Cycle, Cycles, Dialect, Effect,
    EventSink, Row, System,
};
use proptest::prelude::*;
use protocol_check::{Checker, Rule};

fn arb_bank() -> impl Strategy<Value = BankId> {
    // Rank 2 does not exist.
    (prop_oneof![9 => 0..2u8, 1 => Just(2)], prop_oneof![3 => 0..3u8, 1 => 4..6u8])
        .prop_map(|(rank, bank)| BankId { rank, bank })
}

fn arb_column_command() -> impl Strategy<Value = Command> {
    let auto_precharge = || prop_oneof![9 => Just(AutoPrecharge::No), 1 => Just(AutoPrecharge::Yes)];
    let access = || (arb_bank(), 0..64u16, auto_precharge());
    prop_oneof![
        access().prop_map(|(bank, column, auto_precharge)| Command::Read {
            bank,
            column: Column(column),
            auto_precharge
        }),
        access().prop_map(|(bank, column, auto_precharge)| Command::Write {
            bank,
            column: Column(column),
            auto_precharge
        }),
        (arb_bank(), 0..64u16, arb_bank(), 0..64u16).prop_map(|(src, src_column, dst, dst_column)| {
            let (src_column, dst_column) = (Column(src_column), Column(dst_column));
            Command::Transfer { src, src_column, dst: BankId { rank: src.rank, ..dst }, dst_column }
        }),
    ]
}

fn arb_other_command() -> impl Strategy<Value = Command> {
    prop_oneof![
        8 => (arb_bank(), 0..2u32).prop_map(|(bank, row)| Command::Activate { bank, row: Row(row) }),
        4 => arb_bank().prop_map(|bank| Command::Precharge { bank }),
        1 => arb_bank().prop_map(|BankId { rank, .. }| Command::PrechargeAll { rank }),
        1 => arb_bank().prop_map(|BankId { rank, .. }| Command::Refresh { rank }),
        1 => arb_bank().prop_map(|bank| Command::RefreshSameBank { bank }),
        1 => arb_bank().prop_map(|BankId { rank, .. }| Command::PowerDownEnter { rank }),
        1 => arb_bank().prop_map(|BankId { rank, .. }| Command::PowerDownExit { rank }),
    ]
}

/// Runs, of which those of other commands have one command, with their distance from the last command before.
fn arb_runs() -> impl Strategy<Value = Vec<(u64, bool, ColumnRun)>> {
    let command = prop_oneof![arb_column_command(), arb_other_command()];
    let step = (0..40u64, prop_oneof![99 => Just(false), 1 => Just(true)], command, 1..8u64, 2..8u64);
    let run = step.prop_map(|(after, is_backwards, command, lines, pitch)| {
        let is_column = matches!(command, Command::Read { .. } | Command::Write { .. } | Command::Transfer { .. });
        let first = CommandEvent::new(Cycle::ZERO, Channel(0), command, Effect::Plain);
        let lines = if is_column { lines } else { 1 };
        (after, is_backwards, ColumnRun { first, lines, pitch: Cycles(pitch), rest_held_by: None })
    });
    proptest::collection::vec(run, 1..40)
}

fn arb_system() -> impl Strategy<Value = System> {
    let others = proptest::sample::select(common::other_standards().to_vec());
    prop_oneof![Just(planted::system()), others]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    /// Also after the runs: what later commands break depends on what the runs left in the history.
    #[test]
    fn a_run_is_checked_as_its_commands(system in arb_system(), runs in arb_runs(), rank_0_only in any::<bool>()) {
        for dialect in [Dialect::Jedec, Dialect::RowClone] {
            let [mut whole, mut single] = [Checker::new(&system, dialect), Checker::new(&system, dialect)];
            let mut now = Cycle(1000);
            for &(after, is_backwards, run) in &runs {
                if rank_0_only && run.first.command.rank() != 0 {
                    continue;
                }
                let at = if is_backwards { Cycle(now.0.saturating_sub(after)) } else { now + Cycles(after) };
                let run = ColumnRun { first: CommandEvent { at, ..run.first }, ..run };
                if run.lines > 1 { whole.run(&run) } else { whole.command(&run.first) }
                single.command(&run.first);
                (1..run.lines).for_each(|number| single.command(&run.event(number)));
                now = run.last();
            }
            whole.finish(now);
            single.finish(now);
            prop_assert_eq!(whole.report(), single.report());
        }
    }
}

/// The WR at cycle 200 precedes in the stream, but not in time, RDs before 200. The distance of the RD at cycle 210 to
/// it is checked: 10 < tWTR = 14.
#[test]
fn a_write_at_a_later_instant_is_checked_within_the_run() {
    let mut checker = Checker::new(&planted::system(), Dialect::RowClone);
    for (at, command) in [(0, act(0, 7)), (200, wr(0, 3)), (100, pre(5))] {
        checker.push(Cycle(at), Channel(0), &command);
    }
    let first = CommandEvent::new(Cycle(150), Channel(0), rd(0, 8), Effect::Plain);
    checker.run(&ColumnRun { first, lines: 5, pitch: Cycles(20), rest_held_by: None });
    let broken: Vec<_> = checker.violations().iter().map(|violation| (violation.rule, violation.at.0)).collect();
    assert_eq!(broken, [(Rule::Order, 100), (Rule::TWtr, 210)]);
}
