//! Closing of the open rows of an idle rank for a REF (rule 18 of `docs/controller.md`).
//!
//! In the tests below, the first read opens its row at 4100 and is served at 4108; one REF is due
//! at 4160. The rank has then been idle for 100 cycles at 4208.

use dram_spec::{Cycles, Refresh};
use memctrl::{Config, RefreshPolicy};

use crate::drive::check;
use crate::{config, line, read, requests};

fn postponing(postpone_max: u64, idle: u64) -> Config {
    Config { refresh: RefreshPolicy { postpone_max, idle: Cycles(idle) }, ..config(Refresh::NORMAL) }
}

#[test]
fn an_access_in_the_last_cycle_of_the_idle_time_postpones_the_refresh() {
    let reads = requests(&[(4100, read(line(0, 0, 0))), (4207, read(line(0, 0, 1)))]);
    // The second read restarts the idle time: 4207 + 100; REF follows tRP 8 later.
    let expected =
        ["4100 ACT r0 b0 row 0", "4108 RD r0 b0 col 0", "4207 RD r0 b0 col 1", "4307 PREA r0", "4315 REF r0"];
    check(&postponing(8, 100), reads, 5000, &expected);
}

/// The read is admitted before the command of its cycle is chosen, so the rank is no longer idle.
#[test]
fn an_access_in_the_cycle_of_the_precharge_postpones_the_refresh() {
    let reads = requests(&[(4100, read(line(0, 0, 0))), (4208, read(line(0, 0, 1)))]);
    let expected =
        ["4100 ACT r0 b0 row 0", "4108 RD r0 b0 col 0", "4208 RD r0 b0 col 1", "4308 PREA r0", "4316 REF r0"];
    check(&postponing(8, 100), reads, 5000, &expected);
}

/// The rows are already closed, and the read precedes the REF, which may still be postponed: tRP 8,
/// tRCD 8, then 100 idle cycles.
#[test]
fn an_access_after_the_precharge_goes_before_the_refresh() {
    let reads = requests(&[(4100, read(line(0, 0, 0))), (4209, read(line(0, 0, 1)))]);
    let expected = [
        "4100 ACT r0 b0 row 0",
        "4108 RD r0 b0 col 0",
        "4208 PREA r0",
        "4216 ACT r0 b0 row 0",
        "4224 RD r0 b0 col 1",
        "4324 PREA r0",
        "4332 REF r0",
    ];
    check(&postponing(8, 100), reads, 5000, &expected);
}

#[test]
fn without_an_idle_time_the_rows_are_closed_when_the_refresh_falls_due() {
    let reads = requests(&[(4100, read(line(0, 0, 0)))]);
    let expected = ["4100 ACT r0 b0 row 0", "4108 RD r0 b0 col 0", "4160 PREA r0", "4168 REF r0"];
    check(&postponing(8, 0), reads, 5000, &expected);
}

/// A second REF must not become due while the first is owed, so the first is not postponed for rows
/// that may be used again.
#[test]
fn a_rank_that_owes_all_it_may_waits_for_no_idle_time() {
    let reads = || requests(&[(4100, read(line(0, 0, 0)))]);
    let at_once = ["4100 ACT r0 b0 row 0", "4108 RD r0 b0 col 0", "4160 PREA r0", "4168 REF r0"];
    check(&postponing(1, 100), reads(), 5000, &at_once);
    let after_idling = ["4100 ACT r0 b0 row 0", "4108 RD r0 b0 col 0", "4208 PREA r0", "4216 REF r0"];
    check(&postponing(2, 100), reads(), 5000, &after_idling);
}

/// All banks are closed, so the REF closes no row.
#[test]
fn a_rank_without_open_rows_is_refreshed_as_soon_as_it_is_idle() {
    // tREFI is 4160: the read of 8319 opens its row in the cycle before the second REF is due.
    let reads = requests(&[(8319, read(line(0, 0, 0)))]);
    let expected = ["4160 REF r0", "8319 ACT r0 b0 row 0", "8327 RD r0 b0 col 0", "8427 PREA r0", "8435 REF r0"];
    check(&postponing(8, 100), reads, 9000, &expected);
}

/// Reads 90 cycles apart prevent an idle time of 100: the rows are closed once two REFs are owed,
/// and only one REF follows, as the read of 8370 finds one REF owed, of two permitted.
#[test]
fn accesses_closer_than_the_idle_time_keep_the_rows_open_until_all_is_owed_that_may_be() {
    let reads: Vec<_> = (46..94).map(|number| (90 * number, read(line(0, 0, number % 64)))).collect();
    let outcome = crate::drive::run_until(&postponing(2, 100), requests(&reads), 8640);
    let row_commands: Vec<_> = outcome.listing.iter().filter(|line| !line.contains(" RD ")).collect();
    // The last read, 93 x 90 = 8370, is delayed by tRFC 86: ACT at 8414, RD at 8422; 100 idle cycles later its row is
    // closed.
    let expected =
        ["4140 ACT r0 b0 row 0", "8320 PREA r0", "8328 REF r0", "8414 ACT r0 b0 row 0", "8522 PREA r0", "8530 REF r0"];
    assert_eq!(row_commands, expected);
    let reads: Vec<_> = outcome.listing.iter().filter(|line| line.contains(" RD ")).collect();
    assert_eq!(reads.len(), 48);
    assert_eq!(reads[47], "8422 RD r0 b0 col 29");
}
