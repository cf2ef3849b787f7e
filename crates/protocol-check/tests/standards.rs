//! Rules of DDR2, DDR4 and DDR5 that depend on more than two commands, on the state, or on the chips.

mod common;

use common::{PDE, PDX, PREA, REF, SRE, SRX, act, bank, broken, ending, log, pre, rd, rda, transfer, wr};
use dram_spec::{
    Command, CopyActivations, Density, Dialect, PrechargePowerDown, RawGeometry, ReferenceCycle, Refresh, SpeedBin,
    System, Width,
};
use protocol_check::{Rule, audit};

/// A system of one rank, refresh off, distances from the first cycle of commands of two cycles.
fn system(bin: &str, density: Density, width: Width, row_bytes: u64) -> System {
    let bin = SpeedBin::named(bin).expect("a bin of the tables");
    let (standard, channels, ranks, rows_per_subarray) = (bin.standard, 1, 1, 512.into());
    let raw = RawGeometry { standard, channels, ranks, density, width, row_bytes, rows_per_subarray };
    let system = System::new(bin, raw.try_into().expect("chips of the tables"));
    System { refresh: Refresh::Off, reference_cycle: ReferenceCycle::First, ..system }
}

/// Clocks: tRCD 16, tRAS 39, tRRD 4 and 6, tFAW 26, tCCD 4 and 6, tCKE 6, tXP 8, tRFC 420, tREFI 9360. Banks 0 to 3 lie
/// in group 0, bank 4 in group 1.
fn ddr4() -> System {
    system("DDR4-2400R", Density::Gb8, Width::X8, 8192)
}

/// Clocks: tRCD 39, tRP 39, tRAS 77, tRC 116, tCCD 8 and 12, tXP 18, tRFC2 384, tRFCsb 312, tREFSBRD 72. Banks 0 to 3
/// lie in group 0; bank 4 has number 0 as bank 0.
fn ddr5() -> System {
    system("DDR5-4800B", Density::Gb16, Width::X8, 4096)
}

/// Clocks: tRCD 3, tRP 3, tRAS 8, tRRD 2, tFAW 8, tXP 2, tXARDS 6, tCKE 3.
fn ddr2(density: Density) -> System {
    system("DDR2-400B", density, Width::X8, 8192)
}

fn in_mode(system: &System, mode: &str) -> System {
    let refresh = Refresh::Every { t_refi_ps: system.t_refi_ps() };
    let refresh_mode = system.bin.standard.refresh_mode(mode).expect("a mode of the standard");
    System { refresh_mode, refresh, ..system.clone() }
}

fn found(system: &System, listing: &[(u64, Command)]) -> Vec<Rule> {
    broken(system, Dialect::RowClone, &log(listing.to_vec()))
}

const fn refsb(id: u8) -> Command {
    Command::RefreshSameBank { bank: bank(id) }
}

/// One `REFsb` per bank number from `at` on.
fn round(at: u64) -> Vec<(u64, Command)> {
    (0..4).map(|number| (at + 72 * u64::from(number), refsb(number))).collect()
}

#[test]
fn groups_take_turns_at_the_short_distance() {
    let open = [(0, act(0, 0)), (4, act(4, 0))];
    let reads = |distance: u64| (0..8).map(move |i| (20 + distance * i, rd((i % 2 * 4) as u8, i as u16)));
    let every = |distance| found(&ddr4(), &open.into_iter().chain(reads(distance)).collect::<Vec<_>>());
    assert_eq!(every(4), [], "8 clocks in each group");
    assert_eq!(every(3), [Rule::TCcdSRd; 7], "6 clocks in each group");
}

/// Below both limits, a command of the group breaks both rules.
#[test]
fn the_rules_of_the_rank_apply_within_a_group() {
    assert_eq!(found(&ddr4(), &[(0, act(0, 0)), (3, act(1, 0))]), [Rule::TRrdS, Rule::TRrdL]);
    assert_eq!(found(&ddr4(), &[(0, act(0, 0)), (16, wr(0, 0)), (19, wr(0, 1))]), [Rule::TCcdSWr, Rule::TCcdLWrite]);
    assert_eq!(found(&ddr4(), &[(0, act(0, 0)), (16, wr(0, 0)), (34, rd(0, 1))]), [Rule::TWtrS, Rule::TWtrL]);
}

/// Two WRs of a rank are not five clocks apart with a preamble of two clocks, whichever their groups are.
#[test]
fn a_gap_between_the_data_of_two_writes_has_room_for_the_preamble() {
    let with = |list: &str| System { bin: SpeedBin::named(&format!("DDR4-2400R[{list}]")).unwrap(), ..ddr4() };
    let second = |system: &System, distance: u64, last| {
        found(system, &[(0, act(0, 0)), (4, act(4, 0)), (20, wr(0, 0)), (20 + distance, last)])
    };
    for distance in 4..8 {
        let expected: &[Rule] = if distance == 5 { &[Rule::WrWrTWpre] } else { &[] };
        assert_eq!(second(&with("tWPRE=2"), distance, wr(4, 0)), expected, "{distance}");
        assert_eq!(second(&ddr4(), distance, wr(4, 0)), [], "{distance}");
    }
    assert_eq!(second(&with("tWPRE=2"), 3, wr(4, 0)), [Rule::TCcdSWr, Rule::WrWrTWpre]);
    let group = with("tCCD_L=5,tCCD_L_WR=5,tWPRE=2");
    assert_eq!((second(&group, 5, wr(0, 1)), second(&group, 6, wr(0, 1))), (vec![Rule::WrWrTWpre], vec![]));
    let between = [(0, act(0, 0)), (4, act(4, 0)), (20, wr(0, 0)), (23, rd(4, 0)), (25, wr(4, 0))];
    assert!(found(&with("tWPRE=2"), &between).contains(&Rule::WrWrTWpre), "a command between them changes nothing");
}

/// The RD of group 1 between two RDs of group 0 does not hide the first.
#[test]
fn a_command_of_another_group_does_not_end_the_distance_of_a_group() {
    let listing = [(0, act(0, 0)), (4, act(4, 0)), (20, rd(0, 0)), (24, rd(4, 0)), (28, rd(0, 1))];
    assert_eq!(found(&ddr4(), &listing), []);
    let bin = SpeedBin::named("DDR4-2400R[tCCD_L=9]").unwrap();
    assert_eq!(found(&System { bin, ..ddr4() }, &listing), [Rule::TCcdLRd]);
}

#[test]
fn free_copies_do_not_count_in_the_groups() {
    let listing = [(0, act(0, 1)), (39, act(0, 2)), (42, act(4, 0)), (45, act(1, 0))];
    let on = |copy_activations| found(&System { copy_activations, ..ddr4() }, &listing);
    assert_eq!(on(CopyActivations::Counted), [Rule::TRrdS, Rule::TRrdS]);
    assert_eq!(on(CopyActivations::Free), [Rule::TRrdS], "from bank 4 to bank 1");
    let in_group = [(0, act(0, 1)), (39, act(0, 2)), (44, act(1, 0))];
    let on = |copy_activations| found(&System { copy_activations, ..ddr4() }, &in_group);
    assert_eq!((on(CopyActivations::Counted), on(CopyActivations::Free)), (vec![Rule::TRrdL], vec![]));
}

/// DDR3's clarifications 2 and 3 of power-down do not apply.
#[test]
fn power_down_of_ddr4_is_bound_by_tcke_and_trefpden_only() {
    assert_eq!(found(&ddr4(), &[(0, REF), (2, PDE), (8, PDX), (14, PDE)]), []);
    assert_eq!(found(&ddr4(), &[(0, PDE), (6, PDX), (14, REF), (16, PDE)]), []);
    let slow = System { precharge_power_down: PrechargePowerDown::SlowExit, ..ddr4() };
    assert_eq!(found(&slow, &[(0, PDE), (6, PDX), (14, act(0, 0)), (30, rd(0, 0))]), [], "the DLL stays on");
}

#[test]
fn the_slow_exit_of_ddr2_is_that_of_active_power_down() {
    let active = [(0, act(0, 0)), (1, PDE), (4, PDX), (9, rd(0, 0))];
    let precharge = [(0, PDE), (3, PDX), (5, act(0, 0)), (8, rd(0, 0))];
    let fast = ddr2(Density::Gb1);
    let slow = System { precharge_power_down: PrechargePowerDown::SlowExit, ..fast.clone() };
    assert_eq!([found(&slow, &active), found(&fast, &active)], [vec![Rule::TXards], vec![]]);
    assert_eq!([found(&slow, &precharge), found(&fast, &precharge)], [vec![], vec![]]);
}

#[test]
fn ddr2_chips_with_four_banks_have_no_activation_window_and_no_trpa() {
    let listing = [(0, PREA), (3, act(0, 0))];
    assert_eq!(found(&ddr2(Density::Gb1), &listing), [Rule::TRpa]);
    assert_eq!(found(&ddr2(Density::Mb512), &listing), []);
    let bin = SpeedBin::named("DDR2-667D").unwrap();
    // Two ACTs of bank 0 in a window of 13 clocks, as a copy.
    let train = [(0, act(1, 0)), (3, act(0, 1)), (6, act(2, 0)), (9, act(3, 0)), (12, act(4, 0))];
    assert_eq!(found(&System { bin, ..ddr2(Density::Gb1) }, &train), [Rule::TFaw]);
    let bin = SpeedBin::named("DDR2-667D[tFAW=100]").unwrap();
    let copies = [(0, act(1, 0)), (3, act(0, 1)), (6, act(2, 0)), (9, act(3, 0)), (18, act(0, 2))];
    assert_eq!(found(&System { bin, ..ddr2(Density::Mb512) }, &copies), []);
    assert_eq!(found(&System { bin, ..ddr2(Density::Gb1) }, &copies), [Rule::TFaw]);
}

#[test]
fn a_refresh_of_one_bank_number_leaves_the_others_open() {
    // Banks 1 and 5 have number 1.
    let open = [(0, act(1, 0)), (12, act(5, 0)), (200, refsb(0))];
    let then = |rest: &[(u64, Command)]| found(&ddr5(), &[&open, rest].concat());
    assert_eq!(then(&[(201, rd(1, 0)), (213, rd(1, 1)), (221, rd(5, 0)), (300, pre(1)), (302, pre(5))]), []);
    assert_eq!(then(&[(512, act(0, 0))]), [], "tRFCsb");
    assert_eq!(then(&[(511, act(28, 0))]), [Rule::TRfcsb], "number 0 of the last group");
    assert_eq!(then(&[(272, act(2, 0))]), [], "tREFSBRD");
    assert_eq!(then(&[(271, act(2, 0))]), [Rule::TRefsbrd]);
    assert_eq!(then(&[(272, refsb(1))]), [Rule::BanksOpen]);
    assert_eq!(then(&[(272, refsb(9))]), [Rule::BanksOpen], "number 1, too");
    assert_eq!(then(&[(512, REF)]), [Rule::BanksOpen], "of all banks");
}

/// The `REFsb` of number 1 at 72 does not hide that of number 2 at 0.
#[test]
fn the_last_refresh_of_each_other_bank_number_counts() {
    let bin = SpeedBin::named("DDR5-4800B").unwrap();
    let listing = |at| [(0, refsb(2)), (72, refsb(1)), (at, act(1, 0))];
    assert_eq!(found(&System { bin, ..ddr5() }, &listing(384)), [], "tRFCsb of its own");
    assert_eq!(found(&ddr5(), &[(0, refsb(2)), (72, refsb(1)), (143, act(2, 0))]), [Rule::TRfcsb, Rule::TRefsbrd]);
    assert_eq!(found(&ddr5(), &[(0, refsb(2)), (72, refsb(1)), (311, act(2, 0))]), [Rule::TRfcsb]);
    assert_eq!(found(&ddr5(), &[(0, refsb(2)), (72, refsb(1)), (312, act(2, 0))]), []);
}

#[test]
fn each_bank_number_has_its_turn_in_a_round() {
    let then = |rest: &[(u64, Command)]| found(&ddr5(), &[&round(0), rest].concat());
    assert_eq!(then(&[(600, refsb(2)), (1000, refsb(0))]), [], "any order");
    assert_eq!(then(&[(600, refsb(2)), (1000, refsb(0)), (1400, refsb(2))]), [Rule::RefsbRound]);
    assert_eq!(then(&[(600, refsb(2)), (1000, REF), (1800, refsb(2))]), [], "a REF starts a round");
    assert_eq!(then(&[(600, refsb(2)), (1000, SRE), (1100, SRX), (2000, refsb(2))]), [], "self-refresh does");
}

#[test]
fn self_refresh_entry_needs_a_refresh_of_every_bank_number() {
    let exit = [(0, SRE), (24, SRX)];
    let then = |rest: &[(u64, Command)]| found(&ddr5(), &[&exit, rest].concat());
    assert_eq!(then(&[&round(1000)[..], &[(2000, SRE)]].concat()), []);
    assert_eq!(then(&[&round(1000)[..3], &[(2000, SRE)]].concat()), [Rule::SrxRefSre]);
    assert_eq!(then(&[(1000, REF), (2000, SRE)]), []);
}

/// In mode `same-bank`, a `REFsb` is due every 1170 clocks, and may be 32 intervals late; a REF counts as four.
#[test]
fn four_same_bank_refreshes_are_one_refresh() {
    let system = in_mode(&ddr5(), "same-bank");
    let end = |end, listing: &[(u64, Command)]| broken(&system, Dialect::RowClone, &ending(end, listing));
    assert_eq!(end(38_610, &[]), []);
    assert_eq!(end(38_611, &[]), [Rule::RefPostponed]);
    for one in [round(0), vec![(0, REF)]] {
        let last = one.last().unwrap().0;
        assert_eq!(end(last + 42_120, &one), [], "REF-gap, before the fifth is due by 37 x 1170");
        assert_eq!(end(last + 42_121, &one), [Rule::RefGap]);
        let both = [&one[..], &[(38_000, refsb(0))]].concat();
        assert_eq!(end(38 * 1170, &both), [], "five counted: the sixth is due by 38 x 1170");
        assert_eq!(end(38 * 1170 + 1, &both), [Rule::RefPostponed]);
    }
}

/// In mode `same-bank`, 32 `REFsb` count in advance.
#[test]
fn refreshes_in_advance_are_counted_by_mode() {
    let system = in_mode(&ddr5(), "same-bank");
    let early: Vec<_> = (0..10).flat_map(|i| round(i * 400)).collect();
    // Of 40, 32 + 2 to 3 count; the rest keep the longest gap.
    let end = |end| broken(&system, Dialect::RowClone, &ending(end, &early));
    assert_eq!(end(3600 + 216 + 42_120), []);
    assert_eq!(end(3600 + 216 + 42_121), [Rule::RefGap]);
    let fourfold = in_mode(&ddr4(), "4x");
    let many: Vec<_> = (0..40).map(|i| (200 * i, REF)).chain([(70_000, REF), (146_000, REF)]).collect();
    // 32 + 3 count at 7800, then 37 of 32 + 29: the next is due by (37 + 33) x 2340 = 163,800.
    let end = |end| broken(&fourfold, Dialect::RowClone, &ending(end, &many));
    assert_eq!(end(163_800), []);
    assert_eq!(end(163_801), [Rule::RefPostponed]);
}

/// In mode `normal`, `REFsb` are legal but not what is due.
#[test]
fn same_bank_refreshes_do_not_count_in_other_modes() {
    let system = in_mode(&ddr5(), "normal");
    let listing: Vec<_> = (0..20).flat_map(|i| round(i * 2000)).collect();
    let end = |end| broken(&system, Dialect::RowClone, &ending(end, &listing));
    assert_eq!((end(46_800), end(46_801)), (vec![], vec![Rule::RefGap, Rule::RefPostponed]));
}

#[test]
fn a_standard_without_same_bank_refresh_has_no_such_banks() {
    for system in [ddr4(), ddr2(Density::Gb1), common::planted::system()] {
        assert_eq!(found(&system, &[(0, refsb(0)), (1, act(0, 0))]), [Rule::Address], "it has no effect");
    }
}

/// tRCD is 39, tRAS 77, tRP 39, tRTP 18 and tPPD 2.
#[test]
fn distances_count_from_the_reference_cycle() {
    let listing = |rd_at, pre_at, act_at| [(0, act(0, 0)), (rd_at, rd(0, 0)), (pre_at, pre(0)), (act_at, act(0, 0))];
    let on = |reference_cycle, listing: &[(u64, Command)]| found(&System { reference_cycle, ..ddr5() }, listing);
    assert_eq!(on(ReferenceCycle::First, &listing(39, 77, 116)), []);
    assert_eq!(on(ReferenceCycle::Second, &listing(39, 78, 116)), [], "tRC from ACT to ACT");
    assert_eq!(on(ReferenceCycle::Second, &listing(38, 77, 115)), [Rule::TRcd, Rule::TRas, Rule::TRc]);
    assert_eq!(on(ReferenceCycle::Second, &listing(60, 78, 116)), [Rule::TRtp]);
    assert_eq!(on(ReferenceCycle::Second, &listing(60, 79, 117)), []);
    assert_eq!(on(ReferenceCycle::First, &listing(60, 78, 117)), []);
    let violation = audit(
        &System { reference_cycle: ReferenceCycle::Second, ..ddr5() },
        Dialect::RowClone,
        &log(listing(60, 78, 116).to_vec()),
    )[0];
    assert_eq!(
        violation.to_string(),
        "cycle 78, channel 0: PRE r0 b0 breaks tRTP: 18 clocks after RD r0 b0 col 0 at cycle 60, needs 19 (1 short) \
         [JESD79-5: RD to PRE]"
    );
}

/// The second cycle of a command at the last cycle would be later than any.
#[test]
fn the_last_cycle_is_far_from_the_first() {
    let second = System { reference_cycle: ReferenceCycle::Second, ..ddr5() };
    for first in [pre(0), PREA, refsb(0), REF] {
        assert_eq!(found(&second, &[(0, first), (u64::MAX, act(1, 0))]), [], "{first}");
    }
}

#[test]
fn every_command_of_two_cycles_occupies_the_bus() {
    let at_1 = |from: Command| {
        let setup = [(0, act(0, 0)), (12, act(1, 0))];
        found(&ddr5(), &[&setup, &[(200, from), (201, pre(8))][..]].concat())
    };
    for from in [rd(0, 0), rda(0, 0), wr(0, 0), act(0, 1), act(2, 0)] {
        assert_eq!(at_1(from), [Rule::BusTwoCycles], "{from}");
    }
    assert_eq!(at_1(act(0, 600)), [Rule::FpmSubarray, Rule::BusTwoCycles], "a dropped activation");
    assert_eq!(at_1(rd(8, 0)), [Rule::BankClosed, Rule::BusTwoCycles], "a read of a closed bank");
    assert_eq!(at_1(transfer(0, 1, 0)), [Rule::BusTransfer]);
    assert_eq!(found(&ddr5(), &[(0, REF), (1, PDE)]), [Rule::TRefpden], "one cycle");
    assert_eq!(found(&ddr4(), &[(0, act(0, 0)), (1, pre(1))]), []);
}

#[test]
fn any_two_precharges_of_a_rank_are_tppd_apart() {
    let open = [(0, act(0, 0)), (12, act(1, 0))];
    let then = |rest: &[(u64, Command)]| found(&ddr5(), &[&open, rest].concat());
    assert_eq!(then(&[(200, pre(0)), (201, pre(1))]), [Rule::TPpd]);
    assert_eq!(then(&[(200, pre(0)), (201, PREA)]), [Rule::TPpd]);
    assert_eq!(then(&[(200, PREA), (201, pre(5))]), [Rule::TPpd], "of a closed bank");
    assert_eq!(then(&[(200, pre(0)), (202, pre(1)), (204, PREA)]), []);
    assert_eq!(found(&ddr4(), &[(0, pre(0)), (1, pre(1))]), []);
}

/// tRTP ends within tWR of the write: the internal precharge of the RDA would start too early. A RD may come.
#[test]
fn only_a_read_with_auto_precharge_waits_for_write_recovery() {
    let then = |command| found(&ddr5(), &[(0, act(0, 0)), (12, act(1, 0)), (51, wr(0, 0)), (130, command)]);
    assert_eq!(then(rd(0, 0)), []);
    assert_eq!(then(rda(0, 0)), [Rule::TWtra], "100 clocks");
    assert_eq!(then(rda(1, 0)), [], "another bank");
}

#[test]
fn maxima_of_each_standard_are_checked_at_the_end() {
    let end = |system: &System, end, command| broken(system, Dialect::RowClone, &ending(end, &[(0, command)]));
    for (system, row, power_down) in
        [(ddr2(Density::Gb1), 14_000, 14_040), (ddr4(), 84_240, 84_240), (ddr5(), 46_800, 46_800)]
    {
        assert_eq!(end(&system, row, act(0, 0)), []);
        assert_eq!(end(&system, row + 1, act(0, 0)), [Rule::TRasMax]);
        assert_eq!(end(&system, power_down, PDE), []);
        assert_eq!(end(&system, power_down + 1, PDE), [Rule::TPdMax]);
    }
    let fine = System { refresh: Refresh::Off, ..in_mode(&ddr4(), "4x") };
    assert_eq!(end(&fine, 84_240, act(0, 0)), [], "tREFI of normal refresh");
}

/// At most 32 REF lie within 2 tREFI in mode `2x`, and 10 `REFab` within tREFI in DDR5's mode `fine`.
#[test]
fn the_refresh_window_moves() {
    let refreshes = |count: u64, distance: u64| (0..count).map(|i| (i * distance, REF)).collect::<Vec<_>>();
    let twofold = in_mode(&ddr4(), "2x");
    assert_eq!(found(&twofold, &refreshes(100, 585)), [], "32 x 585 = 18,720");
    assert_eq!(found(&twofold, &refreshes(34, 584)), [Rule::RefWindow; 2]);
    let fine = in_mode(&ddr5(), "fine");
    assert_eq!(found(&fine, &refreshes(40, 936)), []);
    assert_eq!(found(&fine, &refreshes(12, 935)), [Rule::RefWindow; 2]);
    assert_eq!(found(&ddr2(Density::Gb1), &refreshes(200, 26)), [], "no window");
}

#[test]
fn a_report_knows_the_standard() {
    let mut checker = protocol_check::Checker::new(&ddr5(), Dialect::RowClone).keeping(3);
    checker.replay(&log(vec![(0, rd(0, 0))]));
    let rule = Rule::BankClosed;
    assert_eq!(rule.source_in(checker.report().standard()), "JESD79-5");
}
