//! `trace info`: every figure of three traces, by hand.

use std::fs;

use serde_json::{Value, json};

use crate::common::run;

/// The JSON and the text of a trace.
fn info(name: &str, text: &str) -> (Value, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    fs::write(&path, text).unwrap();
    let of = |more: &[&str]| {
        let (code, stdout, stderr) = run(&[&["trace", "info", path.to_str().unwrap()], more].concat());
        assert_eq!((code, stderr.as_str()), (0, ""));
        stdout
    };
    (serde_json::from_str(&of(&["--format", "json"])).unwrap(), of(&[]))
}

#[track_caller]
fn has(info: &Value, fields: &[(&str, Value)]) {
    for (field, value) in fields {
        assert_eq!(&info[field], value, "{field}");
    }
}

#[track_caller]
fn says(text: &str, rows: &[(&str, &str)]) {
    for (name, value) in rows {
        let row = format!("{name:12}  {value}");
        assert!(text.lines().any(|line| line == row), "{row}:\n{text}");
    }
}

/// Reads with 9 and 5 instructions before them, a writeback, a copy and a fill of 65 bytes of sevens.
///
/// Lines: 0x1000 (of 0x1008) and 0x40; 64 of the copy to 0x8000, and from 0x10fc0 to 0x11fbf, 64 with
/// both ends in other pages; 2 of the fill, which ends with byte 0x2040. 0x1000 again.
#[test]
fn a_trace_with_instructions() {
    let (json, text) = info("a", "R 1008 40 9\nC 8000 10fc0 4096 30\nS 2000 7 65 5\nR 1000 0 5\n");
    has(
        &json,
        &[
            ("format", "rc".into()),
            ("records", 4.into()),
            ("reads", 2.into()),
            ("writes", 0.into()),
            ("writebacks", 1.into()),
            ("copies", 1.into()),
            ("copied_bytes", 4096.into()),
            ("fills", 1.into()),
            ("filled_bytes", 65.into()),
            ("page_faults", 0.into()),
            ("instructions", 14.into()),
            ("last_cycle", Value::Null),
            ("last_ps", Value::Null),
            ("lowest_address", 0x40.into()),
            ("highest_address", 0x1_1fbf.into()),
            ("pages", 6.into()),
            ("footprint_bytes", (132 * 64).into()),
        ],
    );
    says(
        &text,
        &[
            ("records", "4"),
            ("reads", "2"),
            ("writes", "0"),
            ("writebacks", "1"),
            ("copies", "1 (4 KiB)"),
            ("fills", "1 (65 B)"),
            ("addresses", "0x40 to 0x11fbf"),
            ("pages", "6 of 4 KiB"),
            ("footprint", "8,448 B in lines of 64 bytes"),
        ],
    );
    assert!(text.contains("14 instructions between records"), "{text}");
    assert!(!text.contains("OS events"), "{text}");
}

/// The first and last three of eight lines, and a line of more than 100 characters.
#[test]
fn clocks_and_times_and_the_ends_of_a_trace() {
    let long = "#".repeat(101);
    let trace = format!("{long}\nW 0x0 @4\nW 0x40 @6\nW 0x80 @6\nW 0xc0 @7ns\nW 0x100 @9500ps\nR 0x140\n#z\n");
    let (json, text) = info("a", &trace);
    let line = |number: u64, text: &str| json!({ "line": number, "text": text });
    has(
        &json,
        &[
            ("records", 6.into()),
            ("reads", 1.into()),
            ("writes", 5.into()),
            ("last_cycle", 6.into()),
            ("last_ps", 9500.into()),
            ("pages", 1.into()),
            ("footprint_bytes", 384.into()),
            (
                "first_lines",
                json!([line(1, &format!("{} ...", &long[1..])), line(2, "W 0x0 @4"), line(3, "W 0x40 @6")]),
            ),
            ("last_lines", json!([line(6, "W 0x100 @9500ps"), line(7, "R 0x140"), line(8, "#z")])),
        ],
    );
    says(&text, &[("pages", "1 of 4 KiB"), ("footprint", "384 B in lines of 64 bytes"), ("line 7", "R 0x140")]);
    assert!(text.contains("clocks, the last 6; times, the last 9.5 ns"), "{text}");
    assert!(!text.contains("line 4 "), "{text}");
    // Of five lines, the two behind the first three.
    let (json, _) = info("a", "W 0x0\nW 0x40\nW 0x80\nW 0xc0\nW 0x100\n");
    has(&json, &[("last_lines", json!([line(4, "W 0xc0"), line(5, "W 0x100")]))]);
}

/// Two faults of one page in lines 0x40 and 0x80, a fork, and an exit of either process.
#[test]
fn a_recording_of_the_kernel() {
    let (json, text) = info(
        "a",
        "x 7/7 1.000000000: exceptions:page_fault_user: address=0x1047 ip=0x0 error_code=0x6\n\
         x 7 [000] 1.000001: PERF_RECORD_FORK(8:8):(7:7)\n\
         x 8/8 1.000002500: exceptions:page_fault_user: address=0x1080 ip=0x0 error_code=0x7\n\
         x 8 [000] 1.000003: PERF_RECORD_EXIT(8:8):(7:7)\n\
         x 7 [000] 1.000004: PERF_RECORD_EXIT(7:7):(1:1)\n",
    );
    has(
        &json,
        &[
            ("format", "perf".into()),
            ("records", 5.into()),
            ("reads", 0.into()),
            ("page_faults", 2.into()),
            ("forks", 1.into()),
            ("exits", 2.into()),
            // Times count from the first record.
            ("last_ps", 4_000_000.into()),
            ("lowest_address", 0x1047.into()),
            ("highest_address", 0x1080.into()),
            ("pages", 1.into()),
            ("footprint_bytes", 128.into()),
        ],
    );
    says(&text, &[("OS events", "2 page faults, 1 fork, 2 exits")]);
}
