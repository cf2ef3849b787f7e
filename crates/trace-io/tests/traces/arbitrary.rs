//! Arbitrary records and traces.

use dram_spec::{Cycle, Cycles};
use proptest::prelude::*;
use trace_io::trace::{AccessKind, Arrival, Event, FORMATS, Format, Record};

use super::{accessed, at, format, located, read_after, untimed, write};

/// A number with any number of digits.
pub fn arb_number() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0..64_u32).prop_map(|(number, shift)| number >> shift)
}

/// Two starts, and a size with which neither range ends beyond 2^64 - 1.
pub fn arb_range() -> impl Strategy<Value = (u64, u64, u64)> {
    (arb_number(), arb_number(), arb_number())
        .prop_map(|(a, b, length)| (a, b, 1 + length % (u64::MAX - a.max(b)).max(1)))
}

pub fn arb_access(least_writeback: u64) -> impl Strategy<Value = Record> {
    let writeback = prop::option::of(arb_number().prop_map(move |address| at(address.max(least_writeback))));
    (arb_number(), writeback, arb_number())
        .prop_map(|(address, writeback, before)| read_after(before, address, writeback))
}

pub fn arb_rc() -> impl Strategy<Value = Record> {
    let bulk = |event| Record { arrival: Arrival::AfterInstructions(0), event };
    prop_oneof![
        arb_access(1),
        (arb_range(), any::<u32>()).prop_map(move |((dst, src, bytes), instructions)| {
            bulk(Event::Copy { dst: at(dst), src: at(src), bytes, instructions })
        }),
        (arb_range(), any::<u8>(), any::<u32>()).prop_map(move |((dst, _, bytes), value, instructions)| {
            bulk(Event::Fill { dst: at(dst), value, bytes, instructions })
        }),
    ]
}

pub fn arb_native() -> impl Strategy<Value = Record> {
    let arrival = prop_oneof![
        Just(Arrival::WhenTaken),
        arb_number().prop_map(|clocks| Arrival::AtCycle(Cycle(clocks))),
        arb_number().prop_map(Arrival::AtPicoseconds),
        (0..u64::MAX / 1000).prop_map(|ns| Arrival::AtPicoseconds(ns * 1000)),
    ];
    let event = (arb_range(), 0..4).prop_map(|((dst, src, bytes), kind)| match kind {
        0 => Event::Read { address: at(dst), bytes: None, writeback: None },
        1 => Event::Write { address: at(dst), bytes: None },
        2 => Event::Copy { dst: at(dst), src: at(src), bytes, instructions: 0 },
        _ => Event::Fill { dst: at(dst), value: 0, bytes, instructions: 0 },
    });
    (arrival, event).prop_map(|(arrival, event)| Record { arrival, event })
}

fn arb_direction() -> impl Strategy<Value = AccessKind> {
    prop::sample::select(vec![AccessKind::Read, AccessKind::Write])
}

/// An access of a line.
fn arb_line() -> impl Strategy<Value = Event> {
    (arb_direction(), arb_number()).prop_map(|(access, address)| accessed(access, address, 0))
}

/// An access of a size.
fn arb_sized() -> impl Strategy<Value = Event> {
    (arb_direction(), arb_number(), any::<u32>(), 0..32_u32).prop_map(|(access, address, bytes, shift)| {
        let bytes = (bytes >> shift).max(1);
        accessed(access, address.min(u64::MAX - u64::from(bytes) + 1), bytes)
    })
}

fn arb_located() -> impl Strategy<Value = Event> {
    let numbers = (any::<[u8; 3]>(), any::<u32>(), any::<u16>(), 0..8_u16);
    (arb_direction(), numbers)
        .prop_map(|(access, (banks, row, column, within))| located(access, banks, row, column, 8 * within))
}

fn arb_lackey() -> impl Strategy<Value = Record> {
    (0..50_u64, arb_sized())
        .prop_map(|(instructions, event)| Record { arrival: Arrival::AfterInstructions(instructions), event })
}

/// Records that a format can express without loss.
pub fn arb_trace() -> impl Strategy<Value = (&'static Format, Vec<Record>)> {
    let of = |name, record: BoxedStrategy<Record>| {
        prop::collection::vec(record, 1..20).prop_map(move |records| (format(name), records)).boxed()
    };
    let plain = || arb_line().prop_map(untimed).boxed();
    let clocked = |arrival: fn(u64) -> Arrival, event: BoxedStrategy<Event>| {
        (arb_number(), event).prop_map(move |(clock, event)| Record { arrival: arrival(clock), event }).boxed()
    };
    let at: fn(u64) -> Arrival = |clock| Arrival::AtCycle(Cycle(clock));
    let after: fn(u64) -> Arrival = |clocks| Arrival::AfterCycles(Cycles(clocks));
    let burst = || prop_oneof![arb_line(), arb_sized()].boxed();
    let traces = vec![
        of("native", arb_native().boxed()),
        of("rc", arb_rc().boxed()),
        of("cpu", arb_access(0).boxed()),
        of("ramulator-dram", plain()),
        of("ramulator2-ls", plain()),
        of("ramulator2-rw", arb_located().prop_map(untimed).boxed()),
        of("dramsim3", clocked(at, arb_line().boxed())),
        of("stl", clocked(at, burst())),
        of("rstl", clocked(after, burst())),
        of("lackey", arb_lackey().boxed()),
    ];
    assert_eq!(traces.len(), FORMATS.into_iter().filter(|format| format.is_written()).count());
    prop::strategy::Union::new(traces)
}

/// Bytes closer to a trace than arbitrary ones.
pub fn arb_near_trace() -> impl Strategy<Value = Vec<u8>> {
    let word = prop::sample::select(vec![
        "R",
        "C",
        "S",
        "W",
        "COPY",
        "ZERO",
        "LD ",
        "ST ",
        "L",
        " M ",
        "I  ",
        ",",
        ",8",
        ":",
        "READ",
        "P_FETCH ",
        "read ",
        "write ",
        "(64)",
        "==1==",
        "-->",
        "7.000001: ",
        "sh 7 [001] 5.250000: ",
        "PERF_RECORD_FORK",
        "PERF_RECORD_EXIT",
        "(7:7):(1:1)",
        "(7:9):(7:7)",
        "exceptions:page_fault_user: address=",
        "error_code=0x6",
        "0",
        " ",
        "\n",
        "\r\n",
        "\t",
        "x",
        "\u{0}",
        "#",
        "0x",
        "@",
        "ns",
        "ps",
    ]);
    let token = prop_oneof![
        word.prop_map(str::to_owned),
        arb_number().prop_map(|number| format!("{number:x} ")),
        arb_number().prop_map(|number| format!("{number} ")),
        arb_number().prop_map(|number| format!(" {number:#x}")),
        arb_trace().prop_map(|(format, records)| String::from_utf8(write(&records[..1], format)).expect("text")),
    ];
    prop::collection::vec(token, 0..40).prop_map(|tokens| tokens.concat().into_bytes())
}

pub fn arb_format() -> impl Strategy<Value = Option<&'static Format>> {
    prop::option::of(prop::sample::select(&FORMATS[..]))
}
