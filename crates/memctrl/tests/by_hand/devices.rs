//! Schedulers for cores and devices that share a channel: one queue, and cores first.
//!
//! As in `schedulers.rs`, reads are (source, bank, row), and a RD that opens no row follows its
//! predecessor by 4 cycles.

use dram_spec::{Cycle, Operation, Refresh, RequestId, SourceId};
use memctrl::policy::scheduler::{CpuFirst, Fcfs, Fifo, FrFcfs, Scheduler};
use memctrl::{Config, QueueSettings, Request};

use crate::drive::{Outcome, check, run_until};
use crate::schedulers::{Read, order, run, run_at};
use crate::{config, line, read, requests, write};

/// A device.
const DMA: u16 = SourceId::device(0).0;

fn with(scheduler: impl Scheduler + 'static) -> Config {
    let config = config(Refresh::Off);
    let queues = QueueSettings { admission_per_cycle: 64, ..config.queues };
    Config { queues, scheduler: Box::new(scheduler), ..config }
}

/// Reads and writes alternately; the row of the last write is open.
fn alternating() -> Vec<Request> {
    requests(&[
        (0, read(line(0, 0, 0))),
        (0, write(line(1, 0, 0))),
        (0, read(line(2, 0, 0))),
        (0, write(line(0, 0, 1))),
    ])
}

#[test]
fn fifo_serves_reads_and_writes_in_the_order_of_acceptance() {
    let expected = [
        "0 ACT r0 b0 row 0",
        "8 RD r0 b0 col 0",
        // The write is the oldest from cycle 9 on.
        "9 ACT r0 b1 row 0",
        "17 WR r0 b1 col 0",
        "18 ACT r0 b2 row 0",
        // CWL 6 + BL/2 4 + tWTR 4 after the WR.
        "31 RD r0 b2 col 0",
        // CL 8 + BL/2 4 + 2 - CWL 6 after the RD.
        "39 WR r0 b0 col 1",
    ];
    let outcome = check(&with(Fifo), alternating(), 200, &expected);
    assert_eq!(outcome.stats.whole.write_drains, 0);
}

/// FCFS serves the oldest of the kind that its write drain chooses.
#[test]
fn fcfs_serves_reads_before_older_writes() {
    let expected = [
        "0 ACT r0 b0 row 0",
        "8 RD r0 b0 col 0",
        "9 ACT r0 b2 row 0",
        "17 RD r0 b2 col 0",
        "18 ACT r0 b1 row 0",
        // CL 8 + BL/2 4 + 2 - CWL 6 after the RD, but tRCD after the ACT.
        "26 WR r0 b1 col 0",
        "30 WR r0 b0 col 1",
    ];
    let outcome = check(&with(Fcfs), alternating(), 200, &expected);
    assert_eq!(outcome.stats.whole.write_drains, 1);
}

/// A write queue beyond `drain_high` does not let writes pass an older read.
#[test]
fn fifo_has_no_watermarks() {
    let queues = QueueSettings { drain_high: 1, drain_low: 0, ..with(Fifo).queues };
    let config = Config { queues, ..with(Fifo) };
    let list =
        [(0, read(line(0, 0, 0))), (0, read(line(0, 1, 0))), (0, write(line(1, 0, 0))), (0, write(line(2, 0, 0)))];
    let expected = [
        "0 ACT r0 b0 row 0",
        "8 RD r0 b0 col 0",
        "20 PRE r0 b0",
        "28 ACT r0 b0 row 1",
        "36 RD r0 b0 col 0",
        "37 ACT r0 b1 row 0",
        "45 WR r0 b1 col 0",
        "46 ACT r0 b2 row 0",
        "54 WR r0 b2 col 0",
    ];
    check(&config, requests(&list), 200, &expected);
}

/// The copy holds bank 0 up to its PRE. The read of bank 0 is the oldest access, and keeps its place:
/// the write of bank 2 goes on without it, but the read of bank 3 waits for it.
#[test]
fn fifo_does_not_wait_for_a_bank_that_a_copy_holds() {
    let copy = Operation::Copy { src: line(0, 0, 0), dst: line(1, 0, 0), bytes: 64 };
    let list = [(0, copy), (2, read(line(0, 1, 0))), (2, write(line(2, 0, 0))), (2, read(line(3, 0, 0)))];
    let expected = [
        "0 ACT r0 b0 row 0",
        "4 ACT r0 b1 row 0",
        "8 RD r0 b0 col 0",
        // tRRD would permit it in cycle 8.
        "9 ACT r0 b2 row 0",
        "16 WR r0 b1 col 0",
        "20 WR r0 b2 col 0",
        // The copy leaves bank 0, before the row of bank 3 is opened: it is older.
        "21 PRE r0 b0",
        "29 ACT r0 b0 row 1",
        "34 PRE r0 b1",
        "37 RD r0 b0 col 0",
        "38 ACT r0 b3 row 0",
        "46 RD r0 b3 col 0",
    ];
    check(&with(Fifo), requests(&list), 500, &expected);
}

/// The row of the device is open; its second read would be a hit in cycle 12.
#[test]
fn a_read_of_a_core_goes_before_an_older_hit_of_a_device() {
    let list = [(0, (DMA, 0, 0)), (0, (DMA, 0, 0)), (9, (1, 0, 1))];
    let expected = [
        "0 ACT r0 b0 row 0",
        "8 RD r0 b0 col 0",
        "20 PRE r0 b0",
        "28 ACT r0 b0 row 1",
        "36 RD r0 b0 col 2",
        "48 PRE r0 b0",
        "56 ACT r0 b0 row 0",
        "64 RD r0 b0 col 1",
    ];
    assert_eq!(run_at(CpuFirst::DEFAULT, &list).listing, expected);
    assert_eq!(order(&run_at(FrFcfs, &list)), [0, 1, 2]);
}

#[test]
fn within_a_class_the_order_is_that_of_fr_fcfs() {
    for source in [1, DMA] {
        let reads: [Read; 4] = [(source, 0, 0), (source, 0, 1), (source, 0, 0), (source, 1, 0)];
        assert_eq!(run(CpuFirst::DEFAULT, &reads).listing, run(FrFcfs, &reads).listing);
    }
}

/// Twelve hits of a core in bank 0, numbered from 0, and twelve of a device in bank 1, from 12 on.
fn twelve_each() -> Vec<Read> {
    [vec![(1, 0, 0); 12], vec![(DMA, 1, 0); 12]].concat()
}

#[test]
fn devices_have_their_share_of_the_reads_while_both_wait() {
    let with = |share| order(&run(CpuFirst::new(share), &twelve_each()));
    assert_eq!(with(0), (0..24).collect::<Vec<_>>());
    // The credit is 25, 50, 75, then 0.
    assert_eq!(with(25)[..16], [0, 1, 2, 12, 3, 4, 5, 13, 6, 7, 8, 14, 9, 10, 11, 15]);
    assert_eq!(order(&run(CpuFirst::DEFAULT, &twelve_each())), with(25));
    // 30, 60, 90, then 20, 50, 80, then 10, 40, 70, then 0: three of ten.
    assert_eq!(with(30)[..17], [0, 1, 2, 12, 3, 4, 13, 5, 6, 14, 7, 8, 9, 15, 10, 11, 16]);
    assert_eq!(with(50)[..8], [0, 12, 1, 13, 2, 14, 3, 15]);
    // 60, then 20; 80, then 40 and 0: three of five.
    assert_eq!(with(60)[..10], [0, 12, 1, 13, 14, 2, 15, 3, 16, 17]);
    assert_eq!(with(100), (12..24).chain(0..12).collect::<Vec<_>>());
}

/// Reads of the core: 0 of row 0, 1 to 5 of row 1. While bank 0 changes its row, the device has six
/// RDs; the credit stays 0, and the next three RDs of the core earn the device one.
#[test]
fn what_devices_get_beyond_their_share_is_not_charged() {
    let list = [vec![(1, 0, 0)], vec![(1, 0, 1); 5], vec![(DMA, 1, 0); 10]].concat();
    let outcome = run(CpuFirst::new(25), &list);
    let expected = [
        "0 ACT r0 b0 row 0",
        "4 ACT r0 b1 row 0",
        "8 RD r0 b0 col 0",
        "12 RD r0 b1 col 6",
        "16 RD r0 b1 col 7",
        // A row command for a core goes before a RD for a device.
        "20 PRE r0 b0",
        "21 RD r0 b1 col 8",
        "25 RD r0 b1 col 9",
        "28 ACT r0 b0 row 1",
        "29 RD r0 b1 col 10",
        "33 RD r0 b1 col 11",
        "37 RD r0 b0 col 1",
        "41 RD r0 b0 col 2",
        "45 RD r0 b0 col 3",
        "49 RD r0 b1 col 12",
        "53 RD r0 b0 col 4",
        "57 RD r0 b0 col 5",
        "61 RD r0 b1 col 13",
    ];
    assert_eq!(outcome.listing[..18], expected);
}

fn run_of(config: &Config, list: &[(u64, u16, Operation)]) -> Outcome {
    let request = |(id, &(arrival, source, operation)): (u64, &(u64, u16, Operation))| Request {
        id: RequestId(id),
        source: SourceId(source),
        arrival: Some(Cycle(arrival)),
        operation,
        payload: None,
    };
    run_until(config, (0..).zip(list).map(request).collect(), 500)
}

/// The second write of the device starts a drain, which a read of a core does not end before one
/// write is left; without the drain, the read goes first.
#[test]
fn writes_of_devices_are_drained_as_all_writes() {
    let list = [
        (0, 1, read(line(0, 0, 0))),
        (1, DMA, write(line(1, 0, 0))),
        (1, DMA, write(line(1, 0, 1))),
        (1, DMA, write(line(1, 0, 2))),
        (2, 1, read(line(0, 0, 1))),
    ];
    let with_high = |drain_high, drain_low| {
        let queues = QueueSettings { drain_high, drain_low, ..with(CpuFirst::DEFAULT).queues };
        let done = run_of(&Config { queues, ..with(CpuFirst::DEFAULT) }, &list).done();
        done.into_iter().map(|(id, _)| id).collect::<Vec<_>>()
    };
    assert_eq!(with_high(48, 16), [0, 4, 1, 2, 3]);
    assert_eq!(with_high(2, 1), [0, 1, 2, 4, 3]);
}

/// Both writes are queued when a drain begins: the order of writes to a line does not depend on who
/// sends them.
#[test]
fn a_write_of_a_core_does_not_pass_a_write_of_a_device() {
    let list = [
        (0, 1, read(line(0, 0, 0))),
        (0, DMA, write(line(1, 0, 0))),
        (0, 1, write(line(1, 0, 0))),
        (0, DMA, write(line(1, 0, 1))),
    ];
    let done = run_of(&with(CpuFirst::DEFAULT), &list).done();
    assert_eq!(done.into_iter().map(|(id, _)| id).collect::<Vec<_>>(), [0, 1, 2, 3]);
}

/// Two copies begin in cycle 0: the row of the one that belongs to a core is opened first.
#[test]
fn row_commands_of_copies_have_the_class_of_their_source() {
    let copy = |bank| Operation::Copy { src: line(bank, 0, 0), dst: line(bank + 1, 0, 0), bytes: 64 };
    let first_of = |sources: [u16; 2]| {
        let list = [(0, sources[0], copy(0)), (0, sources[1], copy(2))];
        let outcome = run_of(&with(CpuFirst::DEFAULT), &list);
        outcome.listing[0].clone()
    };
    assert!(first_of([1, DMA]).contains("b0"), "{}", first_of([1, DMA]));
    assert!(first_of([DMA, 1]).contains("b2"), "{}", first_of([DMA, 1]));
}
