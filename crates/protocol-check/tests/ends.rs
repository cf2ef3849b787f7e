//! The other commands of each rule: a rule that names several commands binds each of them, not only the planted pair.

mod common;

use common::{PDE, PDX, PREA, REF, SRE, SRX, act, broken, log, planted, pre, rd, rda, transfer, wr};
use dram_spec::{AutoPrecharge, BankId, Column, Command, Dialect, PrechargePowerDown, Row, SpeedBin, System};
use protocol_check::Rule;

const fn wra(id: u8, column: u16) -> Command {
    Command::Write { bank: BankId { rank: 0, bank: id }, column: Column(column), auto_precharge: AutoPrecharge::Yes }
}

/// Asserts that each listing is legal, and breaks the rule alone when its last command is one clock earlier.
fn check(system: &System, cases: &[(Rule, &[(u64, Command)])]) {
    for &(rule, listing) in cases {
        let mut listing = listing.to_vec();
        assert_eq!(broken(system, Dialect::RowClone, &log(listing.clone())), [], "{rule} {listing:?}");
        listing.last_mut().expect("a listing has commands").0 -= 1;
        assert_eq!(broken(system, Dialect::RowClone, &log(listing.clone())), [rule], "{rule} {listing:?}");
    }
}

#[test]
#[rustfmt::skip] // One log per line.
fn bank_rules_bind_all_their_commands() {
    check(&planted::system(), &[
        (Rule::TRcd, &[(0, act(0, 0)), (8, rda(0, 0))]),
        (Rule::TRcd, &[(0, act(0, 0)), (8, wr(0, 0))]),
        (Rule::TRcd, &[(0, act(0, 0)), (8, wra(0, 0))]),
        (Rule::TRcd, &[(0, act(0, 0)), (20, act(0, 1)), (28, rd(0, 0))]),
        (Rule::TRas, &[(0, act(0, 0)), (20, act(0, 1)), (40, pre(0))]),
        (Rule::TRas, &[(0, act(0, 0)), (20, PREA)]),
        (Rule::TRc, &[(0, act(0, 0)), (20, act(0, 1)), (28, rda(0, 0)), (48, act(0, 0))]),
        (Rule::TRp, &[(0, PREA), (8, act(7, 0))]),
        (Rule::TRp, &[(0, act(0, 0)), (20, pre(0)), (24, pre(0)), (32, act(0, 0))]),
        (Rule::TRtp, &[(0, act(0, 0)), (17, rd(0, 0)), (21, PREA)]),
        (Rule::TWr, &[(0, act(0, 0)), (8, wr(0, 0)), (26, PREA)]),
        // Auto-precharges that have not started yet.
        (Rule::TRtp, &[(0, act(0, 0)), (17, rda(0, 0)), (21, pre(0))]),
        (Rule::TRtp, &[(0, act(0, 0)), (17, rda(0, 0)), (21, PREA)]),
        (Rule::TRas, &[(0, act(0, 0)), (8, rda(0, 0)), (20, pre(0))]),
        (Rule::TWr, &[(0, act(0, 0)), (8, wra(0, 0)), (26, pre(0))]),
        (Rule::TWr, &[(1000, act(0, 0)), (1039, wra(0, 0)), (1057, PREA)]),
        (Rule::Fpm, &[(0, act(0, 0)), (20, act(0, 1)), (40, act(0, 0))]),
        (Rule::FpmTWr, &[(0, act(0, 0)), (4, act(1, 0)), (12, transfer(0, 1, 0)), (30, act(1, 1))]),
    ]);
}

#[test]
#[rustfmt::skip] // One log per line.
fn rank_rules_bind_all_their_commands() {
    check(&planted::system(), &[
        // A copy activation of bank 0, as the earlier and as the later command.
        (Rule::TRrd, &[(0, act(0, 0)), (20, act(0, 1)), (24, act(1, 0))]),
        (Rule::TRrd, &[(0, act(1, 0)), (6, act(0, 0)), (25, act(2, 0)), (29, act(0, 1))]),
        (Rule::TFaw, &[(0, act(0, 0)), (20, act(0, 1)), (24, act(1, 0)), (28, act(2, 0)), (32, act(3, 0)), (40, act(4, 0))]),
        (Rule::TCcdRd, &[(0, act(0, 0)), (4, act(1, 0)), (12, rda(0, 0)), (16, rd(1, 0))]),
        (Rule::TCcdRd, &[(0, act(0, 0)), (4, act(1, 0)), (12, rd(0, 0)), (16, rda(1, 0))]),
        (Rule::TCcdWr, &[(0, act(0, 0)), (4, act(1, 0)), (12, wra(0, 0)), (16, wra(1, 0))]),
        (Rule::RdWr, &[(0, act(0, 0)), (4, act(1, 0)), (12, rda(0, 0)), (20, wra(1, 0))]),
        (Rule::TWtr, &[(0, act(0, 0)), (4, act(1, 0)), (12, wra(0, 0)), (26, rda(1, 0))]),
        (Rule::TRpRef, &[(0, PREA), (8, REF)]),
        (Rule::TRpRef, &[(0, PREA), (8, SRE)]),
        (Rule::TRpRef, &[(0, pre(5)), (8, SRE)]),
        (Rule::TRcRef, &[(0, act(0, 0)), (8, rda(0, 0)), (28, SRE)]),
        (Rule::WraRef, &[(0, act(0, 0)), (8, wra(0, 0)), (34, SRE)]),
    ]);
}

#[test]
#[rustfmt::skip] // One log per line.
fn power_rules_bind_all_their_commands() {
    check(&planted::system(), &[
        (Rule::TRdpden, &[(0, act(0, 0)), (8, rda(0, 0)), (21, PDE)]),
        // tRC-REF ends at 28, RDA-REF at 29.
        (Rule::TRdpden, &[(0, act(0, 0)), (17, rda(0, 0)), (30, SRE)]),
        (Rule::TCke, &[(0, act(0, 0)), (4, PDE), (7, PDX), (10, PDE)]),
        (Rule::TXsdll, &[(0, SRE), (4, SRX), (95, act(0, 0)), (516, wr(0, 0))]),
        (Rule::TXsdll, &[(0, SRE), (4, SRX), (516, PDE)]),
    ]);
    let slow = System { precharge_power_down: PrechargePowerDown::SlowExit, ..planted::system() };
    check(&slow, &[(Rule::TXpdll, &[(0, PDE), (3, PDX), (7, act(0, 0)), (16, wra(0, 0))])]);
    // tPDEN is two clocks, and RDA-REF (22) is longer than tRDPDEN (19).
    let fast = System { bin: SpeedBin::named("2133N").unwrap(), ..planted::system() };
    check(&fast, &[
        (Rule::TActpden, &[(0, act(0, 0)), (36, act(0, 1)), (38, PDE)]),
        (Rule::TPrpden, &[(0, PREA), (2, PDE)]),
        (Rule::RdaRef, &[(0, act(0, 0)), (30, rda(0, 0)), (52, SRE)]),
    ]);
}

#[test]
#[rustfmt::skip] // One log per line.
fn transfer_rules_bind_all_their_commands() {
    let open = [(0, act(0, 0)), (4, act(1, 0)), (8, act(2, 0))];
    let check = |rule, rest: &[(u64, Command)]| check(&planted::system(), &[(rule, &[&open[..], rest].concat())]);
    check(Rule::TransferTRcd, &[(16, transfer(2, 0, 0))]);
    check(Rule::TransferTRcd, &[(16, transfer(0, 2, 0))]);
    check(Rule::TransferTCcd, &[(16, transfer(0, 1, 0)), (20, transfer(2, 0, 0))]);
    check(Rule::TransferTurnaround, &[(16, transfer(0, 1, 0)), (20, transfer(0, 2, 0)), (34, transfer(2, 1, 0))]);
    check(Rule::RdTransfer, &[(16, rda(2, 0)), (20, transfer(0, 1, 0))]);
    check(Rule::TransferWr, &[(16, transfer(0, 1, 0)), (20, wra(2, 0))]);
    check(Rule::WrTransfer, &[(16, wra(2, 0)), (30, transfer(0, 1, 0))]);
    check(Rule::TransferRd, &[(16, transfer(0, 1, 0)), (30, rda(2, 0))]);
    check(Rule::TransferTWr, &[(16, transfer(0, 1, 0)), (34, PREA)]);
    check(Rule::TransferTRtp, &[(16, transfer(0, 1, 0)), (24, transfer(0, 2, 0)), (28, pre(0))]);
}

#[test]
fn a_transfer_binds_the_precharge_of_each_of_its_banks() {
    let listing = [(0, act(0, 0)), (4, act(1, 0)), (24, transfer(0, 1, 0))];
    let then = |rest| broken(&planted::system(), Dialect::RowClone, &log([&listing[..], &[rest]].concat()));
    assert_eq!(then((28, pre(0))), []);
    assert_eq!(then((28, pre(1))), [Rule::TransferTWr]);
    assert_eq!(then((26, pre(2))), [], "a bank that is neither source nor destination");
}

#[test]
fn the_rank_switch_binds_every_pair_of_ranks() {
    let raw = dram_spec::RawGeometry { ranks: 4, ..planted::system().geometry.raw() };
    let system = System { geometry: raw.try_into().unwrap(), ..planted::system() };
    let open = |rank| Command::Activate { bank: BankId { rank, bank: 0 }, row: Row(0) };
    let read =
        |rank| Command::Read { bank: BankId { rank, bank: 0 }, column: Column(0), auto_precharge: AutoPrecharge::Yes };
    let all: Vec<_> = (0..4u8).map(|rank| (u64::from(rank), open(rank))).collect();
    for from in 0..4 {
        for to in (0..4).filter(|&to| to != from) {
            let at = |at| log([&all[..], &[(20, read(from)), (at, read(to))]].concat());
            assert_eq!(broken(&system, Dialect::RowClone, &at(26)), []);
            assert_eq!(broken(&system, Dialect::RowClone, &at(25)), [Rule::RdRdRank], "{from} {to}");
        }
    }
}
