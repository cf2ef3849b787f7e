//! Arrivals of trace records, to the cycle.

use std::num::NonZeroU32;

use dram_spec::address::MapPreset;
use dram_spec::{Cycle, Cycles};
use host::{Contents, LateRecords, Replay, ReplayCopier, ReplaySettings, Timing};
use memctrl::RequestSource;
use os_alloc_sim::Policy;
use trace_io::trace::TraceReader;

use crate::driver::{SETTINGS, allocator, completion, drive, planner, replay, small};

/// Compares the arrivals, with copies and fills that take 100 clocks.
fn check(settings: ReplaySettings, trace: &str, expected: &[(&str, u64)]) {
    let mut replay = replay(trace, &planner(&small(), MapPreset::RowInterleaved), settings, None).unwrap();
    let mut found = Vec::new();
    drive(&mut replay, Cycles(100), |request| found.push((request.operation.to_string(), request.arrival.unwrap().0)));
    let expected: Vec<_> = expected.iter().map(|&(operation, at)| (operation.to_owned(), at)).collect();
    assert_eq!(found, expected);
    replay.into_outcome().unwrap();
}

#[test]
fn a_read_and_its_writeback_arrive_together_and_block_no_record() {
    check(
        ReplaySettings { timing: Timing::Instructions(2.0), ..SETTINGS },
        "R 1008 0 4\nR 2000 3fff 4\nR 4000 0 3\nR 4000 0 3",
        &[
            ("read 64 bytes 0x1000", 2),
            ("read 64 bytes 0x2000", 4),
            ("write 64 bytes 0x3fc0", 4),
            // After 11 and 14 instructions.
            ("read 64 bytes 0x4000", 6),
            ("read 64 bytes 0x4000", 7),
        ],
    );
}

#[test]
fn accesses_of_the_decimal_format_have_equal_arrivals() {
    check(
        SETTINGS,
        "5 4096 64\n7 128",
        &[("read 64 bytes 0x1000", 5), ("write 64 bytes 0x40", 5), ("read 64 bytes 0x80", 12)],
    );
}

const COPIES: &str =
    "R 1000 0 4\nC 8000 10000 8192 1000\nR 1000 0 4\nS 8000 7 100 20\nC 8000 10000 64 30\nR 1000 0 1\n";

#[test]
fn a_copy_or_a_fill_blocks_the_next_record_until_it_is_complete() {
    check(
        SETTINGS,
        COPIES,
        &[
            ("read 64 bytes 0x1000", 4),
            ("copy 8192 bytes 0x10000 -> 0x8000", 4),
            ("read 64 bytes 0x1000", 108),
            ("init 100 bytes 0x8000 with 0x07", 108),
            ("copy 64 bytes 0x10000 -> 0x8000", 208),
            ("read 64 bytes 0x1000", 309),
        ],
    );
}

#[test]
fn a_cpu_that_copies_also_executes_the_instructions_of_the_copy() {
    check(
        ReplaySettings { copier: ReplayCopier::Cpu, ..SETTINGS },
        COPIES,
        &[
            ("read 64 bytes 0x1000", 4),
            ("copy 8192 bytes 0x10000 -> 0x8000", 4),
            ("read 64 bytes 0x1000", 104 + 1000 + 4),
            ("init 100 bytes 0x8000 with 0x07", 1108),
            ("copy 64 bytes 0x10000 -> 0x8000", 1208 + 20),
            ("read 64 bytes 0x1000", 1328 + 30 + 1),
        ],
    );
}

/// Three pages, of which the last taken is not the last completed.
#[test]
fn all_pages_of_an_operation_arrive_together_and_all_block_the_next_record() {
    let settings = ReplaySettings { allocator: Some(allocator(Policy::Sequential)), ..SETTINGS };
    let trace = "R 1000 0 4\nC 8000 10000 12288 1000\nR 1000 0 4\n";
    let mut replay = replay(trace, &planner(&small(), MapPreset::RowInterleaved), settings, None).unwrap();
    assert_eq!(replay.take(Cycle(4)).unwrap().operation.to_string(), "read 64 bytes 0x0");
    let mut taken = Vec::new();
    while let Some(request) = replay.take(Cycle(4)) {
        taken.push(request);
    }
    let operations: Vec<String> = taken.iter().map(|request| request.operation.to_string()).collect();
    assert_eq!(
        operations,
        ["copy 4096 bytes 0x1000 -> 0x2000", "copy 4096 bytes 0x3000 -> 0x4000", "copy 4096 bytes 0x5000 -> 0x6000",]
    );
    assert!(taken.iter().all(|request| request.arrival == Some(Cycle(4))));
    for (at, done) in [(1, 300), (0, 150), (2, 200)] {
        assert_eq!(replay.next_arrival(), None);
        replay.complete(completion(&taken[at], Cycle(done)));
    }
    assert_eq!(replay.next_arrival(), Some(Cycle(304)));
}

/// The first page completes before the second is taken, as the controller's queue is full.
#[test]
fn a_page_that_completes_early_unblocks_no_record() {
    let settings = ReplaySettings { allocator: Some(allocator(Policy::Sequential)), ..SETTINGS };
    check(
        settings,
        "C 8000 10000 8192 1000\nR 8fc0 0 4\n",
        &[("copy 4096 bytes 0x0 -> 0x1000", 0), ("copy 4096 bytes 0x2000 -> 0x3000", 0), ("read 64 bytes 0x1fc0", 104)],
    );
}

const TIMES: ReplaySettings = ReplaySettings { timing: Timing::Recorded, ..SETTINGS };

/// DDR3-1066: 15 ns are 8 clocks.
#[test]
fn records_with_times_arrive_then_and_wait_for_nothing() {
    check(
        TIMES,
        "COPY 0x8000 0x10000 4096 @4\nR 0x1008 @5\nW 0x103f @15ns\nZERO 0x2000 64 @15001ps\nR 0x40 @9\n",
        &[
            ("copy 4096 bytes 0x10000 -> 0x8000", 4),
            ("read 64 bytes 0x1000", 5),
            ("write 64 bytes 0x1000", 8),
            ("init 64 bytes 0x2000 with 0x00", 9),
            ("read 64 bytes 0x40", 9),
        ],
    );
}

#[test]
fn records_without_a_time_arrive_when_accepted_and_in_order() {
    let trace = "R 0x0\nR 0x40 @50\nW 0x80\nCOPY 0x8000 0x10000 4096\nR 0xc0\nR 0x100 @60\n";
    let mut replay = replay(trace, &planner(&small(), MapPreset::RowInterleaved), TIMES, None).unwrap();
    // Cycle of taking, and arrival: a record with a time arrives at that time, however long it
    // waits, and others when the controller accepts them.
    for (now, arrival) in [(7, None), (55, Some(50)), (58, None), (70, None), (71, None), (80, Some(60))] {
        let known = replay.next_arrival().unwrap();
        assert!(known <= Cycle(now), "{known}");
        assert_eq!(replay.take(Cycle(now)).unwrap().arrival, arrival.map(Cycle));
    }
    assert!(replay.next_arrival().is_none());
    assert_eq!(replay.into_outcome().unwrap().counts.records, 6);
}

#[test]
fn each_page_of_an_operation_without_a_time_arrives_when_it_is_accepted() {
    let settings = ReplaySettings { allocator: Some(allocator(Policy::Sequential)), ..TIMES };
    let mut replay =
        replay("ZERO 0x8000 8192\nR 0x8000\n", &planner(&small(), MapPreset::RowInterleaved), settings, None).unwrap();
    let arrivals = [30, 40, 45].map(|now| replay.take(Cycle(now)).unwrap().arrival);
    assert_eq!(arrivals, [None; 3]);
}

/// Neither instructions nor times count, and a copy blocks no record.
#[test]
fn records_played_back_to_back_arrive_when_accepted() {
    for trace in
        ["R 1000 40 9\nC 8000 10000 64 30\nR 80 0 5\n", "R 0x1000 @7\nW 0x40 @9\nCOPY 0x8000 0x10000 64\nR 0x80\n"]
    {
        let settings = ReplaySettings { timing: Timing::BackToBack, ..SETTINGS };
        let mut replay = replay(trace, &planner(&small(), MapPreset::RowInterleaved), settings, None).unwrap();
        let taken = std::iter::from_fn(|| replay.next_arrival().and_then(|at| replay.take(at)));
        let taken: Vec<_> = taken.map(|request| (request.operation.to_string(), request.arrival)).collect();
        let operations =
            ["read 64 bytes 0x1000", "write 64 bytes 0x40", "copy 64 bytes 0x10000 -> 0x8000", "read 64 bytes 0x80"];
        assert_eq!(taken, operations.map(|operation| (operation.to_owned(), None)));
    }
}

#[test]
fn a_window_permits_as_many_requests_in_flight() {
    let settings = ReplaySettings { timing: Timing::Window(NonZeroU32::new(2).unwrap()), ..SETTINGS };
    let trace = "R 0x0\nCOPY 0x8000 0x10000 64 @900\nW 0x40\nR 0x80\n";
    let mut replay = replay(trace, &planner(&small(), MapPreset::RowInterleaved), settings, None).unwrap();
    let [first, second] = [0, 3].map(|now| replay.take(Cycle(now)).unwrap());
    assert_eq!((first.arrival, second.arrival), (None, None));
    assert!(replay.next_arrival().is_none() && replay.take(Cycle(10)).is_none());
    replay.complete(completion(&second, Cycle(20)));
    assert!(replay.next_arrival().unwrap() <= Cycle(20));
    let third = replay.take(Cycle(21)).unwrap();
    assert_eq!((third.arrival, replay.next_arrival()), (None, None));
    replay.complete(completion(&first, Cycle(30)));
    replay.complete(completion(&third, Cycle(30)));
    assert_eq!(replay.take(Cycle(30)).unwrap().arrival, None);
    assert_eq!((replay.next_arrival(), replay.into_outcome().unwrap().counts.records), (None, 4));
}

/// Times go back twice, by 15 and by 8 clocks: both records arrive at the latest time before them.
#[test]
fn late_records_arrive_at_once_and_are_counted() {
    let trace = "R 0x0 @20\nR 0x40 @5\nW 0x80 @12\nR 0xc0 @20\nR 0x100 @21\n";
    let mut replay = replay(trace, &planner(&small(), MapPreset::RowInterleaved), TIMES, None).unwrap();
    let arrivals = [30; 5].map(|now| replay.take(Cycle(now)).unwrap().arrival.unwrap().0);
    assert_eq!(arrivals, [20, 20, 20, 20, 21]);
    let late = replay.into_outcome().unwrap().counts.late;
    assert_eq!(late, LateRecords { records: 2, jump_max: Cycles(15) });
}

/// A burst of 66 bytes from byte 62 of a line: two bytes of the first line, and all of the second.
/// With contents, writes store the data of the trace, and other bytes are generated.
#[test]
fn data_of_a_trace_are_written() {
    let data = (0..66).fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    let text = format!("1: (66) write 0x103e 0x{data}\n2: write 0x2000\n3: read 0x40\n");
    let planner = planner(&small(), MapPreset::RowInterleaved);
    let contents = Contents::new(1, planner.map().clone());
    for contents in [Some(contents), None] {
        let reader = TraceReader::new(text.as_bytes(), trace_io::trace::Format::named("stl")).unwrap();
        let mut replay = Replay::new(reader, &planner, TIMES, contents.clone()).unwrap();
        let payloads = [0; 4].map(|_| replay.take(Cycle(9)).unwrap().payload);
        assert_eq!(replay.into_outcome().unwrap().counts.writes_with_data, 1);
        let Some(contents) = contents else {
            assert_eq!(payloads, [None, None, None, None]);
            continue;
        };
        let generated = |index| contents.payload(index, 64);
        let [first, second, third, read] = payloads;
        let (first, second) = (first.unwrap(), second.unwrap());
        assert_eq!((&first[..62], &first[62..]), (&generated(0)[..62], &[0, 1][..]));
        assert_eq!(second[..], (2..66).collect::<Vec<u8>>());
        assert_eq!((third.unwrap(), read), (generated(2), None));
    }
}
