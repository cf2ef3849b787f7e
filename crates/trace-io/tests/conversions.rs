//! Conversions of memory traces: each pair of formats by hand, and round trips.
#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use dram_spec::address::MapPreset;
use dram_spec::{AddressMap, Clock, Density, System, Width};
use proptest::prelude::*;
use proptest::sample::select;
use trace_io::LineError;
use trace_io::trace::{ConvertSystem, Converter, Event, Format, Record, TraceReader};

fn system() -> ConvertSystem {
    let map = AddressMap::preset(System::paper(1, Density::Gb2, Width::X8).geometry, MapPreset::RowInterleaved);
    ConvertSystem { map, clock: Clock::DDR3_1066 }
}

/// Converts with 2 instructions per clock; returns the text and the number of records left out.
fn convert(
    (from, text): (&str, &str),
    to: &str,
    system: Option<ConvertSystem>,
    drops: bool,
) -> Result<(String, u64), LineError> {
    let mut converter = Converter::new(Vec::new(), Format::named(to).unwrap(), system, 2.0, drops);
    for record in TraceReader::new(text.as_bytes(), Format::named(from)).unwrap() {
        converter.push(&record.unwrap())?;
    }
    let (bytes, dropped) = converter.finish();
    Ok((String::from_utf8(bytes).unwrap(), dropped))
}

#[track_caller]
fn check(from: (&str, &str), to: &str, expected: &str) {
    assert_eq!(convert(from, to, Some(system()), false).unwrap(), (expected.to_owned(), 0), "{from:?} to {to}");
}

#[test]
fn writebacks_become_writes_at_the_same_time() {
    let rc = ("rc", "R 1000 40 9\nR 2008 0 4\n");
    check(rc, "native", "R 0x1000 @5\nW 0x40 @5\nR 0x2008 @7\n");
    check(rc, "dramsim3", "0x1000 READ 5\n0x40 WRITE 5\n0x2008 READ 7\n");
    check(rc, "rstl", "5: read 0x1000\n0: write 0x40\n2: read 0x2008\n");
    check(rc, "ramulator-dram", "0x1000 R\n0x40 W\n0x2008 R\n");
    check(rc, "ramulator2-ls", "LD 0x1000\nST 0x40\nLD 0x2008\n");
    check(rc, "cpu", "9 4096 64\n4 8200\n");
    check(("cpu", "1 4096 64\n"), "lackey", "I  00000000,1\n L 00001000,64\n S 00000040,64\n");
    // Row-interleaved: the second 4 KB are the first row of bank 1.
    check(rc, "ramulator2-rw", "R 0,0,1,0,0\nW 0,0,0,0,8\nR 0,0,2,0,0\n");
}

#[test]
fn sizes_become_lines_and_coordinates_become_addresses() {
    check(("stl", "3: (100) write 0x20\n9: read 0x4000\n"), "native", "W 0x0 @3\nW 0x40 @3\nW 0x80 @3\nR 0x4000 @9\n");
    check(("stl", "3: (128) read 0x20\n"), "rstl", "3: (128) read 0x20\n");
    check(("lackey", "I  00,1\n L 3e,4\n"), "cpu", "1 0\n0 64\n");
    check(("ramulator2-rw", "W 0,0,1,0,8\n"), "stl", "0: write 0x1040\n");
    check(("ramulator-dram", "0x47 R\n"), "lackey", " L 00000040,64\n");
}

/// DDR3-1066: 15 ns are 8 clocks.
#[test]
fn times_become_clocks_and_clocks_times() {
    check(
        ("native", "R 0x0\nR 0x40 @15ns\nW 0x80\nR 0xc0 @9\n"),
        "dramsim3",
        "0x0 READ 0\n0x40 READ 8\n0x80 WRITE 8\n0xc0 READ 9\n",
    );
    check(("rstl", "3: read 0x0\n4: write 0x40\n"), "stl", "3: read 0x0\n7: write 0x40\n");
    check(("dramsim3", "0x0 READ 3\n"), "native", "R 0x0 @3\n");
    check(("native", "COPY 0x8000 0x10000 64 @7000ps\n"), "native", "COPY 0x8000 0x10000 64 @7ns\n");
    check(("rc", "C 8000 10000 64 30\nS 8000 0 64 9\n"), "native", "COPY 0x8000 0x10000 64 @0\nZERO 0x8000 64 @0\n");
}

#[test]
fn what_a_format_cannot_express_is_refused_or_counted() {
    for (from, to, what) in [
        (("native", "R 0x0\nCOPY 0x8000 0x10000 64\nW 0x40\n"), "dramsim3", "a copy cannot be written"),
        (("native", "R 0x0\nZERO 0x8000 64\nW 0x40\n"), "stl", "a fill cannot be written"),
        (("rc", "R 1000 0 9\nS 8000 7 64 9\n"), "native", "a fill with another value than 0"),
        (("native", "R 0x0\nW 0x40\n"), "cpu", "a write cannot be written"),
    ] {
        let refused = convert(from, to, None, false).unwrap_err().to_string();
        assert!(refused.starts_with(what), "{from:?} to {to}: {refused}");
        let (text, dropped) = convert(from, to, None, true).unwrap();
        assert_eq!((text.lines().count(), dropped), (from.1.lines().count() - 1, 1), "{from:?} to {to}: {text}");
    }
    for (from, to, what) in [
        (
            ("native", "R 0x0\n"),
            "ramulator2-rw",
            "an address can be converted to the format `ramulator2-rw` only with a memory",
        ),
        (("ramulator2-rw", "R 0,0,1,2,8\n"), "native", "an access by DRAM coordinates can be converted"),
        (("native", "R 0x0 @5ns\n"), "dramsim3", "a time can be converted to the format `dramsim3` only with a memory"),
    ] {
        let refused = convert(from, to, None, true).unwrap_err().to_string();
        assert!(refused.starts_with(what), "{refused}");
    }
    for from in [("native", "R 0x100000000000\n"), ("ramulator2-rw", "R 9,0,1,2,8\n")] {
        let to = if from.0 == "native" { "ramulator2-rw" } else { "native" };
        let refused = convert(from, to, Some(system()), true).unwrap_err().to_string();
        assert!(refused.starts_with("the memory system has no "), "{refused}");
    }
}

/// Formats that can express a list of line reads and writes, and whether with their clocks.
const LISTS: [(&str, bool); 8] = [
    ("native", true),
    ("ramulator-dram", false),
    ("ramulator2-ls", false),
    ("ramulator2-rw", false),
    ("dramsim3", true),
    ("stl", true),
    ("rstl", true),
    ("lackey", false),
];

proptest! {
    /// Through any of the formats and back: the lines are the same, and the clocks if the format has
    /// them.
    #[test]
    fn a_list_of_lines_survives_a_round_trip(
        lines in prop::collection::vec((any::<bool>(), 0_u64..1 << 20, 0_u64..50), 1..30),
        (through, keeps_clocks) in select(&LISTS[..]),
    ) {
        let mut clock = 0;
        let records = lines.iter().map(|(write, line, passed)| {
            clock += passed;
            format!("{} {:#x} @{clock}\n", if *write { "W" } else { "R" }, line * 64)
        });
        let text = records.collect::<Vec<_>>().concat();
        let (there, _) = convert(("native", &text), through, Some(system()), false).unwrap();
        let (back, _) = convert((through, &there), "native", Some(system()), false).unwrap();
        if keeps_clocks {
            prop_assert_eq!(back, text);
        } else {
            let events = |text: &str| -> Vec<Event> {
                let event = |record: Result<Record, _>| record.unwrap().event;
                TraceReader::new(text.as_bytes(), None).unwrap().map(event).collect()
            };
            prop_assert_eq!(events(&back), events(&text));
        }
    }
}
