//! Effects of commands on later ones: copies, dropped activations, auto-precharge, power states, refresh.

mod common;

use common::{PDE, PDX, PREA, REF, SRE, SRX, act, bank, broken, ending, log, planted, pre, rd, rda, transfer, wr};
use dram_spec::{
    AutoPrecharge, BankId, Channel, Column, Command, CopyActivations, Cycle, Density, Dialect, EventSink,
    PrechargePowerDown, RawGeometry, Refresh, Row, System, Width,
};
use protocol_check::{Checker, Rule, ViolationReport, audit};

/// The rules that a listing breaks in the `RowClone` dialect on the pairs' system, refresh off.
fn found(listing: &[(u64, Command)]) -> Vec<Rule> {
    broken(&planted::system(), Dialect::RowClone, &log(listing.to_vec()))
}

#[test]
fn chains_of_copies_are_legal() {
    assert_eq!(found(&[(0, act(0, 1)), (20, act(0, 2)), (40, act(0, 3)), (60, pre(0)), (68, act(0, 4))]), []);
    assert_eq!(
        found(&[(0, act(0, 1)), (20, act(0, 2)), (39, act(0, 3)), (59, pre(0))]),
        [Rule::Fpm],
        "FPM counts from the last ACT"
    );
    assert_eq!(found(&[(0, act(0, 1)), (20, act(0, 2)), (39, pre(0))]), [Rule::TRas]);
}

#[test]
fn a_dropped_activation_only_occupies_the_bus() {
    // Row 600 is in the second subarray. After an effective activation, tRCD, tRAS, FPM and tRRD would count from 20.
    let dropped = [(0, act(0, 1)), (20, act(0, 600))];
    let then = |rest: &[(u64, Command)]| found(&[&dropped, rest].concat());
    assert_eq!(then(&[(21, rd(0, 0)), (25, pre(0)), (33, act(0, 1))]), [Rule::FpmSubarray]);
    assert_eq!(then(&[(21, act(0, 2)), (41, pre(0))]), [Rule::FpmSubarray], "row 1 is still open");
    assert_eq!(then(&[(21, act(1, 0))]), [Rule::FpmSubarray], "tRRD");
    assert_eq!(then(&[(20, pre(1))]), [Rule::FpmSubarray, Rule::Bus]);
}

/// With 640, 640 and 768 rows, rows 640 to 1279 are the second subarray and 1280 to 2047 the third.
#[test]
fn copies_stay_in_the_subarrays_of_a_pattern() {
    let geometry = planted::system().geometry.raw();
    let raw = RawGeometry { rows_per_subarray: [640, 640, 768].into(), ..geometry };
    let system = System { geometry: raw.try_into().unwrap(), ..planted::system() };
    let found = |listing: &[(u64, Command)]| broken(&system, Dialect::RowClone, &log(listing.to_vec()));
    for (from, to) in [(0, 639), (640, 1279), (1280, 2047), (2048, 2687)] {
        assert_eq!(found(&[(0, act(0, from)), (20, act(0, to)), (40, pre(0))]), [], "{from} to {to}");
    }
    for (from, to) in [(639, 640), (1279, 1280), (2047, 2048), (0, 1024)] {
        assert_eq!(found(&[(0, act(0, from)), (20, act(0, to))]), [Rule::FpmSubarray], "{from} to {to}");
    }
    // Two hops: 24 ns are 13 clocks of 1.875 ns.
    let moved =
        |at, row| [(0, act(0, 5)), (20, Command::MoveRowBuffer { bank: bank(0), row: Row(row) }), (at, act(0, row))];
    assert_eq!((found(&moved(33, 1280)), found(&moved(32, 1280))), (vec![], vec![Rule::Rbm]));
    assert_eq!(found(&moved(40, 639)).first(), Some(&Rule::RbmSubarray));
}

#[test]
fn a_dropped_activation_is_bound_by_txp_but_by_no_bank_rule() {
    assert_eq!(found(&[(0, act(0, 1)), (1, act(0, 600))]), [Rule::FpmSubarray]);
    assert_eq!(
        found(&[(0, act(0, 1)), (1, PDE), (4, PDX), (7, act(0, 600))]),
        [Rule::TXp, Rule::FpmSubarray],
        "one clock short of tXP"
    );
}

#[test]
fn free_copies_count_neither_as_earlier_nor_as_later_activations() {
    let listing = [(0, act(0, 1)), (18, act(1, 1)), (20, act(0, 2)), (22, act(2, 1))];
    let on = |copy_activations| {
        broken(&System { copy_activations, ..planted::system() }, Dialect::RowClone, &log(listing.to_vec()))
    };
    assert_eq!(on(CopyActivations::Counted), [Rule::TRrd, Rule::TRrd]);
    assert_eq!(on(CopyActivations::Free), []);
}

#[test]
fn auto_precharge_closes_the_bank_at_once() {
    assert_eq!(found(&[(0, act(0, 1)), (8, rda(0, 0)), (12, rd(0, 1))]), [Rule::BankClosed]);
    assert_eq!(found(&[(0, act(0, 1)), (8, rda(0, 0)), (28, act(0, 600)), (36, rd(0, 0))]), [], "an ordinary ACT");
}

#[test]
fn precharge_all_precharges_open_and_closed_banks() {
    assert_eq!(found(&[(0, PREA), (7, act(3, 0))]), [Rule::TRp]);
    assert_eq!(found(&[(0, act(0, 1)), (8, wr(0, 0)), (25, PREA)]), [Rule::TWr]);
    assert_eq!(found(&[(0, act(0, 1)), (4, act(1, 1)), (23, PREA)]), [Rule::TRas], "of bank 1, once");
    assert_eq!(found(&[(0, act(0, 1)), (4, act(1, 1)), (24, PREA), (32, REF)]), [], "tRC from the later ACT");
    assert_eq!(found(&[(0, act(0, 1)), (4, act(1, 1)), (12, transfer(0, 1, 0)), (29, PREA)]), [Rule::TransferTWr]);
}

#[test]
fn ranks_share_the_data_bus_but_no_activation_window() {
    let other = |id: u8, row: u32| Command::Activate { bank: BankId { rank: 1, bank: id }, row: Row(row) };
    let both: Vec<_> =
        (0..4u8).flat_map(|id| [(4 * u64::from(id), act(id, 0)), (4 * u64::from(id) + 1, other(id, 0))]).collect();
    assert_eq!(found(&both), []);
    let read =
        Command::Read { bank: BankId { rank: 1, bank: 0 }, column: Column(0), auto_precharge: AutoPrecharge::Yes };
    assert_eq!(found(&[(0, act(0, 0)), (1, other(0, 0)), (9, read), (14, rda(0, 0))]), [Rule::RdRdRank]);
    assert_eq!(
        found(&[(0, act(0, 0)), (1, other(0, 0)), (4, act(1, 0)), (12, transfer(0, 1, 0)), (14, read)]),
        [],
        "a TRANSFER does not use the data bus"
    );
}

#[test]
fn txpdll_binds_reads_only_after_a_slow_exit_of_a_precharge_power_down() {
    let on = |precharge_power_down, listing: &[(u64, Command)]| {
        let system = System { precharge_power_down, ..planted::system() };
        broken(&system, Dialect::RowClone, &log(listing.to_vec()))
    };
    let precharged = [(0, PDE), (3, PDX), (7, act(0, 0)), (15, rd(0, 0))];
    let active = [(0, act(0, 0)), (1, PDE), (4, PDX), (8, rd(0, 0))];
    assert_eq!(on(PrechargePowerDown::SlowExit, &precharged), [Rule::TXpdll]);
    assert_eq!(on(PrechargePowerDown::FastExit, &precharged), []);
    assert_eq!(on(PrechargePowerDown::SlowExit, &active), []);
}

#[test]
fn a_power_state_ends_with_its_own_exit_only() {
    assert_eq!(found(&[(0, PDE), (9, SRX), (13, PDX)]), [Rule::Awake]);
    assert_eq!(found(&[(0, SRE), (9, PDX), (13, SRX)]), [Rule::Awake]);
    assert_eq!(found(&[(0, SRE), (9, PDE), (13, SRX)]), [Rule::Asleep], "still in self-refresh");
    assert_eq!(found(&[(0, SRE), (4, SRX), (8, SRX)]), [Rule::Awake]);
}

/// A rank in power-down or self-refresh does not decode the command.
#[test]
fn asleep_is_the_only_state_rule_of_a_rank_that_is_not_awake() {
    for command in [rd(0, 0), transfer(0, 1, 0), REF, SRE] {
        assert_eq!(found(&[(0, SRE), (9, command), (200, SRX)]), [Rule::Asleep], "{command}");
    }
    assert_eq!(found(&[(0, act(0, 0)), (30, PDE), (40, REF), (41, PDX)]), [Rule::Asleep], "banks-open");
}

/// tREFI at 1066: 4160 clocks; nine of them: 37,440.
fn refreshed(end: u64, listing: &[(u64, Command)]) -> Vec<Rule> {
    let geometry = planted::pair(Rule::RefGap).system.geometry;
    let system = System { refresh: Refresh::NORMAL, geometry, ..planted::system() };
    broken(&system, Dialect::RowClone, &ending(end, listing))
}

#[test]
fn maxima_are_checked_at_the_end_of_the_run() {
    assert_eq!(refreshed(37_440, &[]), []);
    assert_eq!(refreshed(37_441, &[]), [Rule::RefGap, Rule::RefPostponed]);
    assert_eq!(refreshed(37_441, &[(37_440, REF)]), []);
    let off = |end, listing: &[(u64, Command)]| broken(&planted::system(), Dialect::RowClone, &ending(end, listing));
    assert_eq!(off(37_440, &[(0, act(0, 0)), (0, PDE)]), [Rule::Bus, Rule::TActpden]);
    assert_eq!(off(37_440, &[(0, act(0, 0)), (1, act(1, 0))]), [Rule::TRrd]);
    assert_eq!(off(37_441, &[(0, act(0, 0)), (4, act(1, 0))]), [Rule::TRasMax]);
    assert_eq!(off(37_445, &[(0, act(0, 0)), (4, act(1, 0))]), [Rule::TRasMax, Rule::TRasMax]);
    assert_eq!(off(37_441, &[(0, PDE)]), [Rule::TPdMax]);
    assert_eq!(off(u64::MAX, &[(0, SRE)]), [], "self-refresh has no maximum");
}

#[test]
fn precharge_all_breaks_tras_max_once_per_bank() {
    let open = [(0, act(0, 0)), (4, act(1, 0)), (100, act(2, 0))];
    assert_eq!(found(&[&open[..], &[(37_450, PREA)]].concat()), [Rule::TRasMax, Rule::TRasMax]);
    assert_eq!(found(&[&open[..], &[(37_440, PREA)]].concat()), []);
}

#[test]
fn a_transfer_needs_two_open_rows() {
    for (open, closed) in [(0, 1), (1, 0)] {
        assert_eq!(found(&[(0, act(open, 0)), (8, transfer(0, 1, 0))]), [Rule::BankClosed], "bank {closed}");
    }
    assert_eq!(
        found(&[(0, act(0, 0)), (8, transfer(0, 1, 0)), (10, rd(0, 0)), (20, pre(0))]),
        [Rule::BankClosed],
        "no rule counts from it"
    );
}

/// Both banks are open from cycle 4 on; tRAS ends at 24. After an effective TRANSFER, tRTP or tWR would end later.
#[test]
fn an_illegal_transfer_has_no_effect() {
    let open = [(0, act(0, 0)), (4, act(1, 0))];
    let then = |rest: &[(u64, Command)]| found(&[&open, rest].concat());
    assert_eq!(then(&[(22, transfer(0, 0, 0)), (24, pre(0))]), [Rule::TransferBanks], "within a bank");
    let elsewhere = Command::Transfer {
        src: BankId { rank: 0, bank: 0 },
        src_column: Column(0),
        dst: BankId { rank: 1, bank: 1 },
        dst_column: Column(0),
    };
    assert_eq!(then(&[(22, elsewhere), (24, PREA)]), [Rule::TransferBanks], "to another rank");
    assert_eq!(then(&[(22, transfer(2, 1, 0)), (24, pre(1))]), [Rule::BankClosed], "from a closed bank");
    assert_eq!(then(&[(22, transfer(1, 2, 0)), (24, pre(1))]), [Rule::BankClosed], "to a closed bank");
}

#[test]
fn a_closed_bank_is_reported_with_the_command_that_closed_it() {
    let earlier = |listing: &[(u64, Command)]| {
        let violations = audit(&planted::system(), Dialect::RowClone, &log(listing.to_vec()));
        assert_eq!(violations.len(), 1, "{violations:#?}");
        assert_eq!(violations[0].rule, Rule::BankClosed);
        violations[0].earlier.map(|issued| (issued.at.0, issued.command))
    };
    assert_eq!(earlier(&[(5, rd(0, 0))]), None, "never open");
    assert_eq!(earlier(&[(0, pre(0)), (5, rd(0, 0))]), None, "never open, though precharged");
    assert_eq!(earlier(&[(0, act(0, 0)), (20, pre(0)), (60, rd(0, 0))]), Some((20, pre(0))));
    assert_eq!(earlier(&[(0, act(0, 0)), (20, PREA), (60, wr(0, 0))]), Some((20, PREA)));
    assert_eq!(earlier(&[(0, act(0, 0)), (20, rda(0, 0)), (60, rd(0, 0))]), Some((20, rda(0, 0))));
    assert_eq!(earlier(&[(0, act(0, 0)), (20, rda(0, 0)), (40, pre(0)), (60, rd(0, 0))]), Some((40, pre(0))));
    let transfer = transfer(0, 1, 0);
    assert_eq!(earlier(&[(0, act(0, 0)), (4, act(1, 0)), (24, pre(1)), (60, transfer)]), Some((24, pre(1))));
}

/// Two ranks of eight banks with 65,536 rows of 64 lines.
#[test]
fn each_operand_of_a_command_must_exist() {
    let id = |rank: u8, bank: u8| BankId { rank, bank };
    let mut cases = Vec::new();
    for (bank, exists) in [(id(1, 7), true), (id(1, 8), false), (id(2, 7), false)] {
        let (column, auto_precharge) = (Column(0), AutoPrecharge::No);
        cases.push((Command::Activate { bank, row: Row(0) }, exists));
        cases.push((Command::Precharge { bank }, exists));
        cases.push((Command::Read { bank, column, auto_precharge }, exists));
        cases.push((Command::Write { bank, column, auto_precharge }, exists));
        let other = id(bank.rank, 0);
        for (src, dst) in [(bank, other), (other, bank)] {
            cases.push((Command::Transfer { src, src_column: column, dst, dst_column: column }, exists));
        }
    }
    for (row, exists) in [(65_535, true), (65_536, false)] {
        cases.push((act(0, row), exists));
    }
    for (column, exists) in [(63, true), (64, false)] {
        cases.extend([(rd(0, column), exists), (wr(0, column), exists)]);
        for (src_column, dst_column) in [(column, 0), (0, column)] {
            let (src_column, dst_column) = (Column(src_column), Column(dst_column));
            cases.push((Command::Transfer { src: id(0, 0), src_column, dst: id(0, 1), dst_column }, exists));
        }
    }
    for (rank, exists) in [(1, true), (2, false)] {
        cases.push((Command::PrechargeAll { rank }, exists));
        cases.push((Command::Refresh { rank }, exists));
        cases.push((Command::PowerDownEnter { rank }, exists));
        cases.push((Command::SelfRefreshEnter { rank }, exists));
        cases.extend([(Command::PowerDownExit { rank }, exists), (Command::SelfRefreshExit { rank }, exists)]);
    }
    for (command, exists) in cases {
        assert_eq!(found(&[(0, command)]).contains(&Rule::Address), !exists, "{command}");
    }
}

#[test]
fn tras_max_counts_from_the_last_copy_activation() {
    assert_eq!(found(&[(0, act(0, 0)), (37_440, act(0, 1)), (74_880, pre(0))]), []);
    assert_eq!(found(&[(0, act(0, 0)), (37_440, act(0, 1)), (74_881, rda(0, 0))]), [Rule::TRasMax]);
}

#[test]
fn the_refresh_clock_stops_in_self_refresh() {
    let self_refresh = [(30_000, SRE), (130_000, SRX)];
    assert_eq!(refreshed(137_440, &[&self_refresh[..], &[(137_440, REF)]].concat()), []);
    assert_eq!(
        refreshed(137_441, &[&self_refresh[..], &[(137_441, REF)]].concat()),
        [Rule::RefGap, Rule::RefPostponed],
        "30,000 before, 7,441 after"
    );
    assert_eq!(refreshed(1 << 40, &self_refresh[..1]), [], "self-refresh until the end of the run");
}

/// At most eight REFs count in advance: after eight or nine at the start, the next REF is due by 17 intervals.
#[test]
fn at_most_eight_refreshes_count_in_advance() {
    let advance = |refs: u64| (0..refs).map(|i| (86 * i, REF)).collect::<Vec<_>>();
    // The REF after eight intervals avoids REF-gap and counts: n = 8 < 8 + 8.
    for refs in [8, 9] {
        let mut listing = advance(refs);
        listing.push((8 * 4160 + 100, REF));
        assert_eq!(refreshed(17 * 4160, &listing), []);
        assert_eq!(refreshed(17 * 4160 + 101, &listing), [Rule::RefGap], "{refs}: due by 18 intervals");
        listing.push((17 * 4160, REF));
        listing.push((19 * 4160, REF));
        assert_eq!(refreshed(20 * 4160, &listing), [], "{refs}: 11 counted");
        listing.pop();
        assert_eq!(refreshed(19 * 4160 + 1, &listing), [Rule::RefPostponed], "{refs}: 10 counted, due by 19");
    }
}

#[test]
fn a_command_to_an_absent_rank_or_bank_only_occupies_the_bus() {
    let absent = BankId { rank: 9, bank: 0 };
    let listing = [(0, Command::Precharge { bank: absent }), (0, act(0, 0))];
    assert_eq!(found(&listing), [Rule::Address, Rule::Bus]);
    assert_eq!(found(&[(0, Command::PrechargeAll { rank: 2 }), (1, REF)]), [Rule::Address]);
    assert_eq!(found(&[(0, act(8, 0)), (1, act(0, 0))]), [Rule::Address], "no tRRD");
    let mut checker = Checker::new(&planted::system(), Dialect::RowClone);
    checker.push(Cycle(5), Channel(1), &REF);
    checker.push(Cycle(5), Channel(0), &REF);
    assert_eq!((checker.total(), checker.count(Rule::Address)), (1, 1));
}

#[test]
fn an_access_to_an_absent_row_or_column_has_its_usual_effect() {
    assert_eq!(found(&[(0, act(0, 0)), (8, rd(0, 64)), (11, rd(0, 0))]), [Rule::Address, Rule::TCcdRd]);
    assert_eq!(found(&[(0, act(0, 65_536)), (8, rd(0, 0))]), [Rule::Address]);
}

#[test]
fn time_continues_from_a_command_that_is_out_of_order() {
    let system = planted::system();
    let listing = [(1000, act(0, 0)), (100, act(1, 0)), (104, act(2, 0)), (107, act(3, 0))];
    let log = ending(107, &listing);
    let found = audit(&system, Dialect::RowClone, &log);
    assert_eq!(found.iter().map(|violation| violation.rule).collect::<Vec<_>>(), [Rule::Order, Rule::TRrd]);
    assert_eq!(found[0].clocks_short, Some(900));
}

#[test]
fn violations_are_counted_beyond_those_stored() {
    let mut checker = Checker::new(&planted::system(), Dialect::RowClone);
    for _ in 0..5000 {
        checker.push(Cycle(7), Channel(0), &rd(0, 0));
    }
    assert_eq!((checker.violations().len(), checker.total()), (ViolationReport::KEPT, 9999));
    assert_eq!((checker.count(Rule::BankClosed), checker.count(Rule::TRcd)), (5000, 0));
    let report = checker.into_report();
    assert_eq!(report.violations().len(), ViolationReport::KEPT);
    assert_eq!(report.count(Rule::BankClosed), 5000);
    assert_eq!(report.counts().collect::<Vec<_>>(), [(Rule::Bus, 4999), (Rule::BankClosed, 5000)]);
    assert_eq!(report.total(), 9999, "tCCD-RD does not count from a RD of a closed bank");
    assert!(!report.is_clean());
    assert!(Checker::new(&planted::system(), Dialect::RowClone).report().is_clean());
}

#[test]
fn only_the_first_end_of_a_run_counts() {
    let mut checker = Checker::new(&planted::system(), Dialect::RowClone);
    checker.push(Cycle(0), Channel(0), &PDE);
    assert_eq!(checker.total(), 0, "not before the end");
    checker.finish(Cycle(50_000));
    checker.finish(Cycle(60_000));
    assert_eq!(checker.total(), 1);
}

#[test]
fn violations_print_as_one_line() {
    let check = |log, expected: &[&str]| {
        let system = System { refresh: Refresh::NORMAL, ..planted::pair(Rule::RefGap).system };
        let lines: Vec<_> = audit(&system, Dialect::RowClone, &log).iter().map(ToString::to_string).collect();
        assert_eq!(lines, expected);
    };
    check(
        log(vec![(10, act(3, 9)), (17, rd(3, 4))]),
        &["cycle 17, channel 0: RD r0 b3 col 4 breaks tRCD: 7 clocks after ACT r0 b3 row 9 at cycle 10, needs 8 \
           (1 short) [JESD79-3: ACT to RD, WR]"],
    );
    check(
        log(vec![(10, act(3, 9)), (30, act(3, 512))]),
        &["cycle 30, channel 0: ACT r0 b3 row 512 breaks FPM-subarray: after ACT r0 b3 row 9 at cycle 10 \
           [RowClone: a copy activation of a row of another subarray, which the device drops]"],
    );
    check(
        log(vec![(5, rd(3, 0))]),
        &["cycle 5, channel 0: RD r0 b3 col 0 breaks bank-closed \
           [JESD79-3: RD, WR or TRANSFER to a bank without an open row]"],
    );
    check(
        ending(37_460, &[(10, REF)]),
        &["cycle 37460, channel 0: the end of the run breaks REF-gap in rank 0: 37450 clocks of the refresh clock \
           after REF r0 at cycle 10, at most 37440 (10 over) \
           [JESD79-3: time without a REF, self-refresh left out]"],
    );
    check(
        ending(37_442, &[]),
        &[
            "cycle 37442, channel 0: the end of the run breaks REF-gap in rank 0: 37442 clocks of the refresh clock \
             after cycle 0, at most 37440 (2 over) [JESD79-3: time without a REF, self-refresh left out]",
            "cycle 37442, channel 0: the end of the run breaks REF-postponed in rank 0: 37442 clocks of the refresh \
             clock after cycle 0, at most 37440 (2 over) \
             [JESD79-3: a REF more than eight intervals late, self-refresh left out]",
        ],
    );
}

/// A stream of channel 1 alone: channel 0 without a REF is not checked, and a second end has no effect.
#[test]
fn an_end_may_check_some_ranks_alone() {
    let system = System::paper(2, Density::Gb2, Width::X8);
    let mut checker = Checker::new(&system, Dialect::Jedec);
    checker.finish_ranks(Cycle(100_000), |channel, rank| (channel, rank) == (Channel(1), 0));
    checker.finish(Cycle(100_000));
    assert!(checker.count(Rule::RefGap) == 1 && checker.violations().iter().all(|found| found.channel == Channel(1)));
    let mut all = Checker::new(&system, Dialect::Jedec);
    all.finish(Cycle(100_000));
    assert_eq!(all.count(Rule::RefGap), 2);
}
