//! Statistics: hand-computed figures of a few requests; epochs and warm-up compared with the whole
//! run.

use dram_spec::{CommandKind, Cycle, Cycles, Operation, Refresh};
use memctrl::policy::copy::ROWCLONE;
use memctrl::stats::{Depth, Figures, Outcomes};
use memctrl::{Config, PowerPolicy, RefreshPolicy};
use proptest::prelude::*;

use crate::drive::{check, run_until};
use crate::stepping::arb_requests;
use crate::{config, line, read, requests, write};

#[test]
fn each_event_counts_in_the_epoch_of_its_cycle() {
    let config = Config { epoch: Some(Cycles(10)), ..config(Refresh::Off) };
    // The second read is a hit, the third a conflict.
    let list = [(0, read(line(0, 0, 0))), (5, read(line(0, 0, 1))), (15, read(line(0, 1, 0)))];
    let expected = [
        "0 ACT r0 b0 row 0",
        "8 RD r0 b0 col 0",
        "12 RD r0 b0 col 1",
        "20 PRE r0 b0",
        "28 ACT r0 b0 row 1",
        "36 RD r0 b0 col 0",
    ];
    let outcome = check(&config, requests(&list), 48, &expected);
    assert_eq!(outcome.done(), [(0, 20), (1, 24), (2, 48)]);
    let epochs = &outcome.stats.epochs;
    let spans: Vec<(u64, u64)> = epochs.iter().map(|epoch| (epoch.from.0, epoch.to.0)).collect();
    assert_eq!(spans, [(0, 10), (10, 20), (20, 30), (30, 40), (40, 48)]);
    let each = |figure: fn(&Figures) -> u64| epochs.iter().map(|epoch| figure(&epoch.figures)).collect::<Vec<_>>();
    // A request completed in cycle 20 counts from there on; one completed in the run's last cycle
    // also counts.
    assert_eq!(each(|figures| figures.requests), [0, 0, 2, 0, 1]);
    assert_eq!(each(|figures| figures.commands[CommandKind::Activate]), [1, 0, 1, 0, 0]);
    assert_eq!(each(|figures| figures.commands[CommandKind::Read]), [1, 1, 0, 1, 0]);
    assert_eq!(each(|figures| figures.channel_bytes), [64, 64, 0, 64, 0]);
    // An entry is in use until the cycle of its RD: 0 to 8, 5 to 12, 15 to 36.
    assert_eq!(each(|figures| figures.read_queue.entry_cycles), [9 + 5, 3 + 5, 10, 7, 0]);
    assert_eq!(each(|figures| figures.read_queue.most), [2, 1, 1, 1, 0]);
    let whole = &outcome.stats.whole;
    assert_eq!(whole.reads, Outcomes { hits: 1, misses: 1, conflicts: 1 });
    assert_eq!(whole.read_queue, Depth { entry_cycles: 9 + 8 + 22, most: 2 });
    // From their arrival: 20, 19 and 33 cycles.
    assert_eq!(whole.read_latency.mean(), Some(24.0));
    assert_eq!((whole.write_queue, whole.copy_queue), (Depth::default(), Depth::default()));
}

#[test]
fn what_happens_before_the_end_of_the_warm_up_does_not_count() {
    let config = Config { warm_up: Cycles(15), ..config(Refresh::Off) };
    let list = [(0, write(line(0, 0, 0))), (3, write(line(0, 0, 1)))];
    // WR in cycles 8 and 12, completed in 18 and 22.
    let stats = run_until(&config, requests(&list), 30).stats;
    assert_eq!((stats.from, stats.end, stats.whole.requests), (Cycle(15), Cycle(30), 2));
    assert_eq!((stats.whole.commands[CommandKind::Write], stats.whole.write_queue), (0, Depth::default()));
    assert_eq!(stats.whole.write_latency.mean(), Some(18.5), "from the arrival on, also before the end of the warm-up");
    let stats = run_until(&config, requests(&list), 15).stats;
    assert_eq!((stats.from, stats.end, stats.whole), (Cycle(15), Cycle(15), Figures::default()));
}

fn copy(src: (u64, u64), dst: (u64, u64)) -> Operation {
    Operation::Copy { src: line(src.0, src.1, 0), dst: line(dst.0, dst.1, 0), bytes: 4096 }
}

/// A write and a read of a copied line wait for the copy, until cycle 48. The write is then queued, and
/// the read forwarded from it.
#[test]
fn an_entry_that_is_freed_in_the_first_cycle_of_an_epoch_does_not_count_in_it() {
    let config = Config { copy_policy: ROWCLONE, epoch: Some(Cycles(48)), ..config(Refresh::Off) };
    let list = [(0, copy((0, 1), (0, 2))), (1, write(line(0, 2, 0))), (2, read(line(0, 2, 0)))];
    let expected =
        ["0 ACT r0 b0 row 1", "20 ACT r0 b0 row 2", "40 PRE r0 b0", "48 ACT r0 b0 row 2", "56 WR r0 b0 col 0"];
    let outcome = check(&config, requests(&list), 66, &expected);
    assert_eq!(outcome.done(), [(0, 48), (2, 49), (1, 66)]);
    let depths: Vec<_> =
        outcome.stats.epochs.iter().map(|epoch| [epoch.figures.read_queue, epoch.figures.write_queue]).collect();
    let depth = |entry_cycles, most| Depth { entry_cycles, most };
    assert_eq!(depths, [[depth(46, 1), depth(47, 1)], [depth(0, 0), depth(9, 1)]]);
}

/// FPM uses bank 0 from cycle 0 until it can be activated again, in cycle 48: 2 tRAS + tRP. The
/// read arrives in cycle 10.
#[test]
fn a_read_is_blocked_by_a_copy_until_its_bank_can_be_opened() {
    let config = Config { copy_policy: ROWCLONE, ..config(Refresh::Off) };
    let list = [(0, copy((0, 1), (0, 2))), (10, read(line(0, 5, 0)))];
    let expected =
        ["0 ACT r0 b0 row 1", "20 ACT r0 b0 row 2", "40 PRE r0 b0", "48 ACT r0 b0 row 5", "56 RD r0 b0 col 0"];
    let outcome = check(&config, requests(&list), 100, &expected);
    assert_eq!(outcome.done(), [(0, 48), (1, 68)]);
    let whole = &outcome.stats.whole;
    assert_eq!((whole.blocked_by_copies.count(), whole.blocked_by_copies.max()), (1, Some(Cycles(38))));
    assert_eq!((whole.copy_latency.max(), whole.preempted_for_reads), (Some(Cycles(48)), 0));
}

/// FPM begins in cycle 1000, in which the rank leaves power-down: tXP 4 later it could also have
/// served the read.
#[test]
fn a_read_is_not_blocked_by_a_copy_while_its_rank_wakes_up() {
    let power = PowerPolicy { power_down_after: Some(Cycles(50)), self_refresh_after: None };
    let config = Config { copy_policy: ROWCLONE, power, ..config(Refresh::NORMAL) };
    let list = [(1000, copy((0, 1), (0, 2))), (1001, read(line(0, 5, 0)))];
    let expected = [
        "50 PDE r0",
        "1000 PDX r0",
        "1004 ACT r0 b0 row 1",
        "1024 ACT r0 b0 row 2",
        "1044 PRE r0 b0",
        "1052 ACT r0 b0 row 5",
        "1060 RD r0 b0 col 0",
    ];
    let whole = check(&config, requests(&list), 1100, &expected).stats.whole;
    assert_eq!(whole.blocked_by_copies.max(), Some(Cycles(1052 - 1004)));
}

/// PSM from bank 0 waits for FPM in bank 1, until cycle 41. The second read, of cycle 35, then
/// waits only for the first one's row.
#[test]
fn a_read_is_not_blocked_by_a_copy_that_has_not_begun() {
    let config = Config { copy_policy: ROWCLONE, ..config(Refresh::Off) };
    let list =
        [(0, copy((1, 1), (1, 2))), (1, copy((0, 1), (1, 3))), (30, read(line(0, 7, 0))), (35, read(line(0, 8, 0)))];
    let outcome = run_until(&config, requests(&list), 500);
    let other: Vec<&str> =
        outcome.listing.iter().map(String::as_str).filter(|line| !line.contains("TRANSFER")).collect();
    let expected = [
        "0 ACT r0 b1 row 1",
        "20 ACT r0 b1 row 2",
        "30 ACT r0 b0 row 7",
        "38 RD r0 b0 col 0",
        "40 PRE r0 b1",
        "48 ACT r0 b1 row 3",
        "50 PRE r0 b0",
        "58 ACT r0 b0 row 1",
        // TRANSFERs from 66 to 318.
        "322 PRE r0 b0",
        "330 ACT r0 b0 row 8",
        "336 PRE r0 b1",
        "338 RD r0 b0 col 0",
    ];
    assert_eq!(other, expected);
    assert_eq!(outcome.stats.whole.blocked_by_copies.max(), Some(Cycles(330 - 41)));
}

/// PSM may hold the banks of a queued read for 100 cycles. Of 64 TRANSFERs, 22 are issued from
/// cycle 12 to 96, the others from 144 on.
#[test]
fn a_copy_that_holds_the_bank_of_a_read_for_too_long_is_preempted() {
    let config = Config { copy_policy: ROWCLONE, copy_hold_max: Some(Cycles(100)), ..config(Refresh::Off) };
    let list = [(0, copy((0, 1), (1, 2))), (50, read(line(0, 5, 0)))];
    let outcome = run_until(&config, requests(&list), 400);
    let other: Vec<&str> =
        outcome.listing.iter().map(String::as_str).filter(|line| !line.contains("TRANSFER")).collect();
    let expected = [
        "0 ACT r0 b0 row 1",
        "4 ACT r0 b1 row 2",
        // tRTP 4 after the last TRANSFER; in bank 1 CWL 6 + BL/2 4 + tWR 8.
        "100 PRE r0 b0",
        "108 ACT r0 b0 row 5",
        "114 PRE r0 b1",
        "116 RD r0 b0 col 0",
        // The copy begins again in cycle 117. Bank 0 is closed tRAS after its ACT.
        "122 ACT r0 b1 row 2",
        "128 PRE r0 b0",
        "136 ACT r0 b0 row 1",
        // 144 + 41 x 4 = 308 is the last TRANSFER.
        "312 PRE r0 b0",
        "326 PRE r0 b1",
    ];
    assert_eq!(other, expected);
    let transfers: Vec<&String> = outcome.listing.iter().filter(|line| line.contains("TRANSFER")).collect();
    assert_eq!(transfers.len(), 64);
    assert_eq!(transfers[21], "96 TRANSFER r0 b0 col 21 -> b1 col 21");
    assert_eq!(transfers[22], "144 TRANSFER r0 b0 col 22 -> b1 col 22");
    assert_eq!(outcome.done(), [(1, 128), (0, 334)]);
    let whole = &outcome.stats.whole;
    assert_eq!((whole.preempted_for_reads, whole.preempted_for_refresh), (1, 0));
    assert_eq!((whole.blocked_by_copies.count(), whole.blocked_by_copies.max()), (1, Some(Cycles(108 - 50))));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn epochs_add_up_to_the_run_and_warm_up_leaves_the_first_out(list in arb_requests(), length in 1..600_u64) {
        let refresh = RefreshPolicy { postpone_max: 3, ..RefreshPolicy::default() };
        let (copy_policy, copy_hold_max) = (ROWCLONE, Some(Cycles(150)));
        let config = Config { copy_policy, copy_hold_max, refresh, ..config(Refresh::NORMAL) };
        let run = |epoch, warm_up| run_until(&Config { epoch, warm_up, ..config.clone() }, list.clone(), 20_000).stats;
        let by_epochs = run(Some(Cycles(length)), Cycles(0));
        let sum = |from: usize| by_epochs.epochs[from..].iter().fold(Figures::default(), |mut sum, epoch| {
            sum += epoch.figures.clone();
            sum
        });
        let whole = run(None, Cycles(0));
        prop_assert_eq!(&by_epochs.whole, &whole.whole);
        prop_assert_eq!(sum(0), whole.whole);
        prop_assert_eq!(sum(1), run(None, Cycles(length)).whole);
    }
}
