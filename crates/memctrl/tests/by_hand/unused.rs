//! A row that was opened for an access serves it before it is closed, independent of mode changes
//! (rule 14 of `docs/controller.md`).

use dram_spec::Refresh;
use memctrl::{Config, QueueSettings};

use crate::drive::check;
use crate::{config, line, read, requests, write};

fn draining(drain_high: usize, drain_low: usize) -> Config {
    let queues = QueueSettings { drain_high, drain_low, ..QueueSettings::default() };
    Config { queues, ..config(Refresh::Off) }
}

/// The second write, in cycle 2, starts the drain: bank 0 was opened for the read in cycle 0.
#[test]
fn a_row_opened_for_a_read_serves_it_although_the_drain_has_begun() {
    let list =
        [(0, read(line(0, 0, 0))), (1, write(line(0, 1, 0))), (2, write(line(0, 1, 1))), (9, read(line(0, 0, 1)))];
    let expected = [
        "0 ACT r0 b0 row 0",
        "8 RD r0 b0 col 0",
        // The row has served an access: in the drain, the read of cycle 9 does not keep it open.
        // tRAS, tRP, tRCD, tCCD:
        "20 PRE r0 b0",
        "28 ACT r0 b0 row 1",
        "36 WR r0 b0 col 0",
        "40 WR r0 b0 col 1",
        // The drain has ended. CWL 6 + BL/2 4 + tWR 8 after the last WR, then tRP and tRCD:
        "58 PRE r0 b0",
        "66 ACT r0 b0 row 0",
        "74 RD r0 b0 col 1",
    ];
    let outcome = check(&draining(2, 0), requests(&list), 200, &expected);
    assert_eq!(outcome.stats.whole.unused_activates, 0);
    assert_eq!(outcome.stats.whole.write_drains, 1);
    assert_eq!(outcome.done(), [(0, 20), (1, 46), (2, 50), (3, 86)]);
}

/// While the row for the read of bank 0 is unused, no WR of bank 1 is issued, although its row is
/// open and the mode is writes.
#[test]
fn an_unused_row_of_a_read_keeps_the_bus_for_reads() {
    let list = [(0, write(line(1, 0, 0))), (8, read(line(0, 0, 0))), (10, write(line(1, 0, 1)))];
    let expected = [
        // No read is queued: a drain starts in cycle 0. It ends in cycle 9, in which no write is
        // queued.
        "0 ACT r0 b1 row 0",
        "8 WR r0 b1 col 0",
        "9 ACT r0 b0 row 0",
        // One write starts another drain in cycle 10; its WR would be legal in cycle 12.
        // tWTR: 8 + CWL 6 + BL/2 4 + 4.
        "22 RD r0 b0 col 0",
        // CL 8 + BL/2 4 + 2 - CWL 6
        "30 WR r0 b1 col 1",
    ];
    let outcome = check(&draining(1, 0), requests(&list), 200, &expected);
    assert_eq!(outcome.stats.whole.unused_activates, 0);
}

/// With one write left the drain ends in cycle 1: bank 0 was opened for a write in cycle 0.
#[test]
fn a_row_opened_for_a_write_serves_it_although_the_drain_is_over() {
    let list = [(0, write(line(0, 0, 0))), (1, read(line(0, 1, 0))), (2, read(line(1, 0, 0)))];
    let expected = [
        "0 ACT r0 b0 row 0",
        // tRRD
        "4 ACT r0 b1 row 0",
        "8 WR r0 b0 col 0",
        // CWL 6 + BL/2 4 + tWTR 4 after the WR: the read of bank 1 waits for its direction, and for
        // the bus.
        "22 RD r0 b1 col 0",
        // CWL 6 + BL/2 4 + tWR 8 after the WR.
        "26 PRE r0 b0",
        "34 ACT r0 b0 row 1",
        "42 RD r0 b0 col 0",
    ];
    let outcome = check(&draining(2, 1), requests(&list), 200, &expected);
    assert_eq!(outcome.stats.whole.unused_activates, 0);
}
