//! Hand-computed schedules at DDR3-1066G with rows of 4 KB: legal, and illegal when one clock shorter.

mod common;

use common::{act, log, planted, pre, rd, rules, transfer, wr};
use dram_spec::{Command, CommandLog, CopyActivations, Dialect, System};
use protocol_check::Rule;

/// Lines of a row of 4 KB.
const LINES: u16 = 64;

fn system(copy_activations: CopyActivations) -> System {
    System { copy_activations, ..planted::system() }
}

/// Copies round-robin over the eight banks: copy i starts at i x `period` with ACT src; `dst_at` and `pre_at` are the
/// offsets of ACT dst and PRE.
fn fpm_train(period: u64, dst_at: u64, pre_at: u64) -> CommandLog {
    let mut listing = Vec::new();
    for copy in 0..32 {
        let (start, bank) = (copy * period, (copy % 8) as u8);
        listing.extend([(start, act(bank, 7)), (start + dst_at, act(bank, 9)), (start + pre_at, pre(bank))]);
    }
    log(listing)
}

/// ```text
/// cycle   0    5    7  10
///         ACT  ACT' PRE      ACT: source of copy i     ACT': destination of copy i-2    PRE: closes copy i-4
/// ```
/// An activation every 5 clocks: the fifth is 20 after the first, which is tFAW.
#[test]
fn counted_copies_are_legal_every_ten_clocks() {
    let found = rules(&system(CopyActivations::Counted), Dialect::RowClone, &fpm_train(10, 25, 47));
    assert_eq!(found, []);
}

/// Two activations every 9 clocks: the fifth is at most 18 after the first, less than tFAW.
#[test]
fn counted_copies_are_illegal_every_nine_clocks() {
    let system = system(CopyActivations::Counted);
    assert_eq!(rules(&system, Dialect::RowClone, &fpm_train(9, 22, 42)), [Rule::TFaw]);
    for dst_at in 1..72 {
        for pre_at in dst_at + 1..72 {
            assert_ne!(rules(&system, Dialect::RowClone, &fpm_train(9, dst_at, pre_at)), [], "{dst_at} {pre_at}");
        }
    }
}

/// Each bank is used every 48 clocks: tRAS + tRAS + tRP. The offsets 0, 20 and 40 are 0, 2 and 4 modulo 6.
#[test]
fn free_copies_are_legal_every_six_clocks() {
    let train = fpm_train(6, 20, 40);
    assert_eq!(rules(&system(CopyActivations::Free), Dialect::RowClone, &train), []);
    assert_eq!(rules(&system(CopyActivations::Counted), Dialect::RowClone, &train), [Rule::TRrd, Rule::TFaw]);
}

/// Each bank is used every 40 clocks, 8 less than the minimum.
#[test]
fn free_copies_are_illegal_every_five_clocks() {
    let system = system(CopyActivations::Free);
    assert_eq!(rules(&system, Dialect::RowClone, &fpm_train(5, 16, 32)), [Rule::TRas, Rule::TRc, Rule::Fpm]);
    for dst_at in 1..40 {
        for pre_at in dst_at + 1..40 {
            assert_ne!(rules(&system, Dialect::RowClone, &fpm_train(5, dst_at, pre_at)), [], "{dst_at} {pre_at}");
        }
    }
}

/// Asserts that after a listing the command `next` is legal at `ready`, and one clock earlier breaks the rules
/// `broken`.
fn check_ready(ready: u64, next: Command, listing: &[(u64, Command)], dialect: Dialect, broken: &[Rule]) {
    let system = planted::system();
    let with_next_at = |at| log(listing.iter().copied().chain([(at, next)]).collect());
    assert_eq!(rules(&system, dialect, &with_next_at(ready)), []);
    assert_eq!(rules(&system, dialect, &with_next_at(ready - 1)), broken);
}

/// One command per line of a row, every four clocks from `first`.
fn lines(first: u64, command: impl Fn(u16) -> Command) -> impl Iterator<Item = (u64, Command)> {
    (0..LINES).map(move |line| (first + 4 * u64::from(line), command(line)))
}

/// tRAS + tRAS + tRP.
fn fpm() -> Vec<(u64, Command)> {
    vec![(0, act(0, 7)), (20, act(0, 9)), (40, pre(0))]
}

/// TRANSFER from 12 to 264; the source is read at 268, the destination written at 264 + 18.
fn psm() -> Vec<(u64, Command)> {
    let mut listing = vec![(0, act(0, 7)), (4, act(1, 9)), (268, pre(0)), (282, pre(1))];
    listing.extend(lines(12, |line| transfer(0, 1, line)));
    listing
}

#[test]
fn a_fast_copy_takes_48_clocks() {
    check_ready(48, act(0, 7), &fpm(), Dialect::RowClone, &[Rule::TRc, Rule::TRp]);
}

#[test]
fn a_serial_copy_takes_290_clocks() {
    check_ready(290, act(1, 7), &psm(), Dialect::RowClone, &[Rule::TRp]);
}

/// The temporary row of bank 1 stays open between the halves, while the source bank is closed and opened again.
#[test]
fn a_serial_copy_through_another_bank_takes_562_clocks() {
    let mut listing = vec![(0, act(0, 7)), (4, act(1, 100)), (268, pre(0)), (276, act(0, 600)), (554, pre(0))];
    listing.extend(lines(12, |line| transfer(0, 1, line)));
    listing.extend(lines(284, |line| transfer(1, 0, line)));
    listing.push((555, pre(1)));
    check_ready(562, act(0, 7), &listing, Dialect::RowClone, &[Rule::TRp]);
}

/// tRCD + 63 tCCD + tRTP + tRP = 272, then tRCD + 63 tCCD + 18 + tRP = 286.
#[test]
fn a_copy_over_the_channel_takes_558_clocks_within_a_bank_in_both_dialects() {
    let mut listing = vec![(0, act(0, 7)), (264, pre(0)), (272, act(0, 9)), (550, pre(0))];
    listing.extend(lines(8, |line| rd(0, line)));
    listing.extend(lines(280, |line| wr(0, line)));
    for dialect in [Dialect::Jedec, Dialect::RowClone] {
        check_ready(558, act(0, 7), &listing, dialect, &[Rule::TRp]);
    }
}

/// The second ACT overlaps the reads: last RD at 260, first WR 8 later, PRE at 520 + 18.
#[test]
fn a_copy_over_the_channel_takes_546_clocks_between_banks() {
    let mut listing = vec![(0, act(0, 7)), (10, act(1, 9)), (265, pre(0)), (538, pre(1))];
    listing.extend(lines(8, |line| rd(0, line)));
    listing.extend(lines(268, |line| wr(1, line)));
    for dialect in [Dialect::Jedec, Dialect::RowClone] {
        check_ready(546, act(1, 7), &listing, dialect, &[Rule::TRp]);
    }
}

#[test]
fn zeroing_over_the_channel_takes_286_clocks() {
    let mut listing = vec![(0, act(0, 7)), (278, pre(0))];
    listing.extend(lines(8, |line| wr(0, line)));
    check_ready(286, act(0, 7), &listing, Dialect::Jedec, &[Rule::TRp]);
}

#[test]
fn no_command_of_a_copy_within_the_device_can_be_earlier() {
    let system = planted::system();
    for copy in [fpm(), psm()] {
        for early in 1..copy.len() {
            let mut listing = copy.clone();
            listing[early].0 -= 1;
            assert_ne!(rules(&system, Dialect::RowClone, &log(listing)), [], "{:?}", copy[early]);
        }
    }
}

#[test]
fn copies_within_the_device_are_illegal_in_plain_ddr3() {
    let system = planted::system();
    assert_eq!(rules(&system, Dialect::Jedec, &log(fpm())), [Rule::TRc, Rule::BankOpen]);
    assert_eq!(rules(&system, Dialect::Jedec, &log(psm())), [Rule::TransferJedec]);
}
