//! One list of line reads and writes in each trace format that can express it: the same commands,
//! and the durations of `outside.rs`.
#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::io::{self, Read};
use std::sync::atomic::AtomicBool;

use dram_spec::{AddressMap, CommandLog, Cycle, Cycles, EventSink};
use host::{Replay, ReplayCopier, ReplaySettings, Timing, UnusableRecords};
use memctrl::Controller;
use rowclone::Operation;
use trace_io::trace::{Format, TraceReader};

#[path = "../benches/traffic/mod.rs"]
mod traffic;

use traffic::PAGE_LINES;

/// The line of a request in a format, written here without the crate's writers.
type WrittenLine = fn(&AddressMap, u64, Operation) -> String;

/// The formats that can express a list of line reads and writes.
const FORMATS: [(&str, WrittenLine); 8] = [
    ("native", |_, _, it| format!("{} {:#x}\n", pick(it, "R", "W"), it.target().0)),
    ("ramulator-dram", |_, _, it| format!("{:#x} {}\n", it.target().0, pick(it, "R", "W"))),
    ("ramulator2-ls", |_, _, it| format!("{} {}\n", pick(it, "LD", "ST"), it.target().0)),
    ("ramulator2-rw", |map, _, it| {
        let at = map.locate(it.target()).unwrap();
        let (channel, bank, row) = (at.channel.0, at.bank, at.row.0);
        // Eight columns of the device per line.
        format!("{} {channel},{},{},{row},{}\n", pick(it, "R", "W"), bank.rank, bank.bank, u32::from(at.column.0) * 8)
    }),
    ("dramsim3", |_, number, it| format!("{:#x} {} {}\n", it.target().0, pick(it, "READ", "WRITE"), number / 3)),
    ("stl", |_, number, it| format!("{}: {} {:#x}\n", number / 3, pick(it, "read", "write"), it.target().0)),
    ("rstl", |_, number, it| format!("{}: {} {:#x}\n", number % 3, pick(it, "read", "write"), it.target().0)),
    ("lackey", |_, _, it| format!(" {} {:08x},64\n", pick(it, "L", "S"), it.target().0)),
];

/// The formats of programs, which express the reads alone.
const PROGRAMS: [(&str, WrittenLine); 2] = [
    ("cpu", |_, number, it| format!("{} {}\n", number % 5, it.target().0)),
    ("rc", |_, number, it| format!("R {:x} 0 {}\n", it.target().0, number % 5)),
];

fn pick(operation: Operation, read: &'static str, write: &'static str) -> &'static str {
    if matches!(operation, Operation::Read { .. }) { read } else { write }
}

/// The text of a trace, written as it is read.
struct Text<'a> {
    map: &'a AddressMap,
    line: WrittenLine,
    request: fn(u64) -> Operation,
    count: u64,
    next: u64,
    buffer: io::Cursor<Vec<u8>>,
}

impl Read for Text<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.buffer.position() == self.buffer.get_ref().len() as u64 {
            let numbers = self.next..self.count.min(self.next + 1000);
            self.next = numbers.end;
            let text: String = numbers.map(|number| (self.line)(self.map, number, (self.request)(number))).collect();
            self.buffer = io::Cursor::new(text.into_bytes());
        }
        self.buffer.read(into)
    }
}

/// Plays requests from a trace of a format, back to back.
fn play(
    (format, line): (&str, WrittenLine),
    request: fn(u64) -> Operation,
    count: u64,
    sink: &mut impl EventSink,
) -> Cycle {
    let config = traffic::accesses();
    let map = config.planner.map();
    let text = Text { map, line, request, count, next: 0, buffer: io::Cursor::default() };
    let reader = TraceReader::new(text, Format::named(format)).unwrap();
    let settings = ReplaySettings {
        unusable: UnusableRecords::Refuse,
        clock: config.system.clock(),
        timing: Timing::BackToBack,
        copier: ReplayCopier::Controller,
        allocator: None,
        fault: Cycles(0),
    };
    let mut replay = Replay::new(reader, &config.planner, settings, None).unwrap();
    let stats = Controller::new(&config).run(&mut replay, sink, &AtomicBool::new(false)).unwrap();
    let counts = replay.into_outcome().unwrap().counts;
    assert_eq!((counts.accesses, counts.reads + counts.writes), (count, count), "{format}");
    stats.end
}

fn commands(format: (&str, WrittenLine), request: fn(u64) -> Operation) -> CommandLog {
    let mut log = CommandLog::default();
    play(format, request, 3000, &mut log);
    log
}

fn reads_of_random(number: u64) -> Operation {
    match traffic::random(number) {
        Operation::Write { address, bytes } => Operation::Read { address, bytes },
        other => other,
    }
}

#[test]
fn one_list_gives_the_same_commands_in_every_format() {
    let [native, others @ ..] = FORMATS;
    let expected = commands(native, traffic::random);
    for format in others {
        assert!(commands(format, traffic::random) == expected, "{}", format.0);
    }
    let expected = commands(native, reads_of_random);
    for format in PROGRAMS {
        assert!(commands(format, reads_of_random) == expected, "{}", format.0);
    }
}

/// Within 0.5 % of the other simulators, as in `outside.rs`.
fn check_durations(formats: &[(&str, WrittenLine)], request: fn(u64) -> Operation, count: u64, others: u64) {
    for &format in formats {
        let end = play(format, request, count, &mut ());
        let apart = end.0.abs_diff(others) as f64 / others as f64;
        assert!(apart <= 0.005, "{}: {end} cycles, against {others}", format.0);
    }
}

#[test]
fn accesses_in_order_take_as_long_as_in_other_simulators_in_every_format() {
    check_durations(&FORMATS, traffic::sequential, 1_000_000, 4_157_000);
}

#[test]
fn page_copies_take_as_long_as_in_other_simulators_in_every_format() {
    check_durations(&FORMATS, traffic::page_copies_by_line, 8000 * 2 * PAGE_LINES, 4_417_000);
}

#[test]
fn programs_take_as_long_as_in_other_simulators_in_every_format() {
    check_durations(&PROGRAMS, traffic::sequential, 1_000_000, 4_157_000);
}
