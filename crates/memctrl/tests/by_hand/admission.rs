//! Accesses and copies accepted per cycle, and the write that a read is forwarded from (rules 3 to
//! 7 of `docs/controller.md`).

use std::sync::Arc;

use dram_core::{Background, LineBytes};
use dram_spec::address::MapPreset;
use dram_spec::{BankId, Channel, Column, Cycle, Operation, PhysicalAddress, Refresh, RequestId, Row};
use memctrl::{Completion, Config, Controller, QueueSettings, Request};

use crate::drive::{check, run_until};
use crate::{config, config_of, line, read, requests, system, write};

fn accepting(config: Config, admission_per_cycle: usize) -> Config {
    let queues = QueueSettings { admission_per_cycle, ..config.queues };
    Config { queues, ..config }
}

/// Cycle in which a read of four lines is completely accepted.
fn accepted_in(config: &Config) -> u64 {
    let mut controller = Controller::new(config);
    let read = Operation::Read { address: PhysicalAddress(0), bytes: 256 };
    controller.try_enqueue(requests(&[(0, read)]).remove(0)).unwrap();
    if controller.has_room() {
        return 0;
    }
    controller.advance_to(Cycle(100), &mut ()).0
}

#[test]
fn each_line_of_a_request_counts_as_an_access() {
    let on = |channels, per_cycle| {
        let config = config_of(system(channels, Refresh::Off), MapPreset::LineInterleaved);
        accepted_in(&accepting(config, per_cycle))
    };
    assert_eq!([1, 2, 3, 4].map(|per_cycle| on(1, per_cycle)), [3, 1, 1, 0]);
    assert_eq!([1, 2].map(|per_cycle| on(2, per_cycle)), [1, 0], "each channel accepts as many");
    assert_eq!(on(4, 1), 0);
}

/// Six reads of one row, two accepted per cycle, and a queue of two entries: after the first two, a
/// read is accepted in the cycle after each RD (8, 12, 16, and so on).
#[test]
fn requests_of_a_line_are_accepted_in_order_as_entries_are_free() {
    let config = accepting(config(Refresh::Off), 2);
    let config = Config { queues: QueueSettings { read_entries: 2, ..config.queues }, ..config };
    let mut controller = Controller::new(&config);
    let waiting = requests(&[0, 1, 2, 3, 4, 5].map(|column| (0, read(line(0, 0, column)))));
    let mut taken = Vec::new();
    for request in waiting {
        while !controller.has_room() {
            controller.advance_to(Cycle(100), &mut ());
        }
        taken.push(controller.now().0);
        controller.try_enqueue(request).unwrap();
    }
    // The third is taken at once, waits as the head, and is accepted in cycle 9; only then is the fourth taken.
    assert_eq!(taken, [0, 0, 0, 9, 13, 17]);
}

/// The front end accepts one copy per cycle, and the channel also one access.
#[test]
fn copies_are_accepted_apart_from_accesses() {
    let copy = |row| Operation::Copy { src: line(0, row, 0), dst: line(1, row, 0), bytes: 64 };
    let mut list = requests(&[(0, copy(1)), (0, read(line(2, 0, 0))), (0, copy(2)), (0, copy(3))]).into_iter();
    let mut controller = Controller::new(&accepting(config(Refresh::Off), 1));
    for _ in 0..2 {
        controller.try_enqueue(list.next().unwrap()).unwrap();
        assert!(controller.has_room());
    }
    controller.try_enqueue(list.next().unwrap()).unwrap();
    assert!(!controller.has_room(), "one copy per cycle");
    let last = list.next().unwrap();
    assert_eq!(controller.try_enqueue(last.clone()).unwrap_err().id, RequestId(3));
    assert_eq!(controller.advance_to(Cycle(100), &mut ()), Cycle(1));
    controller.try_enqueue(last).unwrap();
    assert!(!controller.has_room());
    assert_eq!(controller.advance_to(Cycle(100), &mut ()), Cycle(2));
}

/// The read waits for the write to bank 1, which has no entry until the first WR has been issued;
/// the read queue is empty.
#[test]
fn a_request_that_is_not_accepted_blocks_all_later_ones() {
    let config = config(Refresh::Off);
    let queues = QueueSettings { write_entries: 1, drain_high: 1, drain_low: 0, ..config.queues };
    let list = [(0, write(line(0, 0, 0))), (1, write(line(1, 0, 0))), (1, read(line(2, 0, 0)))];
    let expected = [
        "0 ACT r0 b0 row 0",
        "8 WR r0 b0 col 0",
        // The second write and the read are both accepted in cycle 9: one write begins a drain.
        "9 ACT r0 b1 row 0",
        "17 WR r0 b1 col 0",
        "18 ACT r0 b2 row 0",
        // tWTR: 17 + CWL 6 + BL/2 4 + 4.
        "31 RD r0 b2 col 0",
    ];
    check(&Config { queues, ..accepting(config, 4) }, requests(&list), 100, &expected);
}

/// One access per cycle, also if it takes no entry.
#[test]
fn reads_that_are_answered_from_a_write_count_as_accesses() {
    let list =
        [(0, write(line(0, 0, 0))), (1, read(line(0, 0, 0))), (1, read(line(0, 0, 0))), (1, read(line(0, 0, 0)))];
    let outcome = run_until(&accepting(config(Refresh::Off), 1), requests(&list), 100);
    assert_eq!(outcome.done(), [(1, 2), (2, 3), (3, 4), (0, 18)]);
    assert_eq!(outcome.listing, ["0 ACT r0 b0 row 0", "8 WR r0 b0 col 0"]);
    assert_eq!(outcome.stats.whole.forwarded, 3);
    let outcome = run_until(&accepting(config(Refresh::Off), 2), requests(&list), 100);
    assert_eq!(outcome.done(), [(1, 2), (2, 2), (3, 3), (0, 18)]);
}

/// A write to a line with an unissued read waits until the cycle after the RD.
#[test]
fn a_write_is_not_accepted_before_a_read_of_its_line_is_issued() {
    let list = [(0, read(line(0, 0, 0))), (0, write(line(0, 0, 0))), (0, read(line(1, 0, 0)))];
    let expected = [
        "0 ACT r0 b0 row 0",
        "8 RD r0 b0 col 0",
        // Both are accepted in cycle 9: the read of bank 1 first, as no drain is due.
        "9 ACT r0 b1 row 0",
        "17 RD r0 b1 col 0",
        // CL 8 + BL/2 4 + 2 - CWL 6.
        "25 WR r0 b0 col 0",
    ];
    check(&accepting(config(Refresh::Off), 4), requests(&list), 100, &expected);
}

/// All bytes are zero at reset.
struct Zeros;

impl Background for Zeros {
    fn line(&self, _: Channel, _: BankId, _: Row, _: Column) -> LineBytes {
        [0; 64]
    }
}

/// Returns the result of a read of the line that a copy reads, after writes of 1, 2, 3 and so on to
/// that line; the copy follows `before` of them. The copy lasts longer than the test, so that later
/// writes of the line wait for it; the read does not wait.
fn read_beside_a_copy(before: usize, after: usize) -> (Completion, u8) {
    let (src, dst) = (line(0, 1, 0), line(0, 600, 0));
    let config = Config { contents: Some(Arc::new(Zeros)), ..accepting(config(Refresh::Off), 8) };
    let mut list = vec![(0, write(src)); before];
    list.push((0, Operation::Copy { src, dst, bytes: 64 }));
    list.extend(vec![(0, write(src)); after]);
    list.push((0, read(src)));
    let mut requests = requests(&list);
    let is_write = |request: &&mut Request| matches!(request.operation, Operation::Write { .. });
    for (value, request) in (1..).zip(requests.iter_mut().filter(is_write)) {
        request.payload = Some(Arc::from([value; 64]));
    }
    requests.extend([
        Request {
            id: RequestId(98),
            arrival: Some(Cycle(1000)),
            operation: read(dst),
            payload: None,
            ..requests[0].clone()
        },
        Request {
            id: RequestId(99),
            arrival: Some(Cycle(1000)),
            operation: read(src),
            payload: None,
            ..requests[0].clone()
        },
    ]);
    let outcome = run_until(&config, requests, 2000);
    let completion = |id| outcome.completions.iter().find(|completion| completion.id == RequestId(id)).unwrap();
    let byte = |id| completion(id).data.as_ref().unwrap()[0];
    assert_eq!(usize::from(byte(98)), before, "the copy reads what was written before it");
    assert_eq!(usize::from(byte(99)), before + after, "the last write is the last");
    (completion((before + 1 + after) as u64).clone(), byte((before + 1 + after) as u64))
}

#[test]
fn a_read_is_answered_from_the_newest_write_of_its_line_queued_or_waiting() {
    for (before, after) in [(1, 0), (2, 0), (0, 1), (0, 3), (1, 1), (2, 3)] {
        let (completion, byte) = read_beside_a_copy(before, after);
        assert_eq!(usize::from(byte), before + after, "{before} writes, a copy, {after} writes");
        assert_eq!((completion.done, completion.first_command), (Cycle(1), None));
    }
}
