//! Rules that depend on more than two commands, at their boundaries.

mod common;

use common::{PDE, PDX, REF, SRE, SRX, act, broken, log, planted, pre};
use dram_spec::{Command, Cycle, Cycles, Dialect, Refresh, SpeedBin, System};
use protocol_check::{Rule, audit};

/// The rules that a listing breaks at DDR3-1066G, refresh off.
fn found(listing: &[(u64, Command)]) -> Vec<Rule> {
    broken(&planted::system(), Dialect::RowClone, &log(listing.to_vec()))
}

/// At DDR3-1600K, tXP is 5 clocks, tREFPDEN 1, tCKE 4 and tXPDLL 20.
#[test]
fn a_refresh_after_power_down_delays_the_next_power_down_by_txpdll() {
    let system = System { bin: SpeedBin::named("1600K").unwrap(), ..planted::system() };
    let listing = |pde| log(vec![(1500, PDE), (1560, PDX), (1565, REF), (pde, PDE)]);
    let found = audit(&system, Dialect::RowClone, &listing(1566));
    let [violation] = found[..] else { panic!("{found:#?}") };
    assert_eq!(violation.rule, Rule::PdxRefPde);
    assert_eq!(violation.earlier.map(|issued| (issued.at, issued.command)), Some((Cycle(1560), PDX)));
    assert_eq!((violation.bound, violation.clocks_short), (Some(Cycles(20)), Some(14)));
    assert_eq!(broken(&system, Dialect::RowClone, &listing(1579)), [Rule::PdxRefPde]);
    assert_eq!(broken(&system, Dialect::RowClone, &listing(1580)), []);
}

#[test]
fn txpdll_counts_from_the_last_power_down_exit_only() {
    assert_eq!(found(&[(0, REF), (90, PDE), (93, PDX), (96, PDE)]), [], "no REF after the PDX");
    let later_exit = [(0, PDE), (3, PDX), (7, REF), (16, PDE), (90, PDX)];
    assert_eq!(found(&[&later_exit[..], &[(93, PDE)]].concat()), []);
    assert_eq!(found(&[&later_exit[..], &[(92, PDE)]].concat()), [Rule::TCke, Rule::RefPdxPde], "tRFC ends at 93");
}

/// tRFC is 86 clocks.
#[test]
fn cke_may_go_low_once_within_trfc() {
    let power_down = [(0, REF), (1, PDE), (4, PDX)];
    let then = |at, command| found(&[&power_down[..], &[(at, command)]].concat());
    assert_eq!(then(7, PDE), [Rule::RefPdxPde]);
    assert_eq!(then(85, PDE), [Rule::RefPdxPde]);
    assert_eq!(then(86, PDE), []);
    assert_eq!(then(85, act(0, 0)), [Rule::TRfc]);
    assert_eq!(then(86, act(0, 0)), []);
    assert_eq!(found(&[(0, PDE), (60, PDX), (64, REF), (80, PDE), (83, PDX)]), [], "one power-down after the REF");
}

#[test]
fn self_refresh_entry_needs_a_refresh_after_the_last_exit() {
    let exit = [(0, SRE), (4, SRX)];
    let then = |rest: &[(u64, Command)]| found(&[&exit[..], rest].concat());
    assert_eq!(then(&[(9000, SRE)]), [Rule::SrxRefSre]);
    assert_eq!(then(&[(95, REF), (181, SRE)]), []);
    assert_eq!(then(&[(95, REF), (181, SRE), (185, SRX), (9000, SRE)]), [Rule::SrxRefSre], "the REF is before the SRX");
    assert_eq!(found(&[(0, REF), (86, SRE)]), [], "no SRX before");
}

/// tREFI is 4160 clocks, and half of it above 85 C.
#[test]
fn at_most_sixteen_refreshes_are_within_two_intervals() {
    let refreshes = |count: u64, period: u64| (0..count).map(|i| (i * period, REF)).collect::<Vec<_>>();
    assert_eq!(found(&refreshes(16, 86)), []);
    assert_eq!(found(&refreshes(17, 86)), [Rule::RefWindow]);
    assert_eq!(found(&refreshes(40, 520)), []);
    assert_eq!(found(&refreshes(18, 519)), [Rule::RefWindow; 2], "16 x 519 = 8304");
    let hot = System { refresh: Refresh::Every { t_refi_ps: 3_900_000 }, ..planted::pair(Rule::RefGap).system };
    let within = |last| broken(&hot, Dialect::RowClone, &log([refreshes(16, 86), vec![(last, REF)]].concat()));
    assert_eq!(within(4160), []);
    assert_eq!(within(4159), [Rule::RefWindow]);
}

/// The REF with an open bank breaks `banks-open` and leaves the bank open.
#[test]
fn trfc_binds_a_dropped_activation() {
    let then = |at| found(&[(0, act(0, 1)), (28, REF), (at, act(0, 600))]);
    assert_eq!(then(113), [Rule::BanksOpen, Rule::TRfc, Rule::FpmSubarray]);
    assert_eq!(then(114), [Rule::BanksOpen, Rule::FpmSubarray]);
}

#[test]
fn trp_counts_from_a_precharge_during_the_internal_precharge() {
    // RDA at 17: the internal precharge starts at 21 and RDA-ACT ends at 29; the PRE at 24 restarts tRP.
    let then = |at| found(&[(0, act(0, 0)), (17, common::rda(0, 0)), (24, pre(0)), (at, act(0, 0))]);
    assert_eq!(then(31), [Rule::TRp]);
    assert_eq!(then(32), []);
}
