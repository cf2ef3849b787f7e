//! `run --trace` and `trace info`: a memory trace without a scenario file.

use std::fs;
use std::path::PathBuf;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// A directory with one trace in it.
struct Trace(TempDir, PathBuf);

impl Trace {
    fn new(name: &str, text: &str) -> Trace {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        Trace(directory, path)
    }

    fn command(&self, before: &[&str], after: &[&str]) -> Command {
        let mut command = Command::cargo_bin("rowclone-sim").unwrap();
        command.args(before).arg(&self.1).args(after);
        command
    }

    /// Standard output of `run --trace`.
    fn run(&self, more: &[&str]) -> String {
        let assert = self.command(&["run", "--trace"], more).assert().success();
        String::from_utf8(assert.get_output().stdout.clone()).unwrap()
    }

    fn results(&self, more: &[&str]) -> Vec<Value> {
        serde_json::from_str(&self.run(&[&["--format", "json"], more].concat())).unwrap()
    }

    /// Standard error of a run that ends with 2, without the directory's name.
    fn refused(&self, more: &[&str]) -> String {
        let assert = self.command(&["run", "--trace"], more).assert().code(2);
        let text = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
        text.replace(&format!("{}/", self.0.path().display()), "")
    }
}

#[test]
fn the_first_screen_names_the_format_its_default_timing_and_the_begin_of_latencies() {
    let acceptance = "latencies count from acceptance into the queue";
    for (name, text, line) in [
        ("a", "R 0x1000 @5\nW 0x1040\n", "trace of the format native, arrivals: as recorded (default)"),
        ("a", "R 1000 0 5\n", "trace of the format rc, arrivals: instructions, 4 per memory clock (default)"),
        ("a", "5 4096\n", "trace of the format cpu, arrivals: instructions, 4 per memory clock (default)"),
        ("a", "0x1000 R\n", "trace of the format ramulator-dram, arrivals: back to back (default)"),
        ("a", "LD 0x1000\n", "trace of the format ramulator2-ls, arrivals: back to back (default)"),
        ("a", "R 0,0,1,2,8\n", "trace of the format ramulator2-rw, arrivals: back to back (default)"),
        ("a", "0x1000 READ 5\n", "trace of the format dramsim3, arrivals: as recorded (default)"),
        ("a.stl", "5: read 0x1000\n", "trace of the format stl, arrivals: as recorded (default)"),
        ("a.rstl", "5: read 0x1000\n", "trace of the format rstl, arrivals: as recorded (default)"),
    ] {
        let screen = Trace::new(name, text).run(&[]);
        assert_eq!(screen.lines().nth(1), Some(line));
        let from = match name {
            _ if line.contains("native") => "latencies count from arrival; of records without a time, from acceptance",
            _ if line.contains("back to back") => acceptance,
            _ => "latencies count from arrival, waiting for the queue included",
        };
        assert_eq!(screen.lines().nth(3), Some(from), "{line}");
        assert!(screen.contains("2 channels, 4 KiB rows"), "the system is the paper's: {screen}");
    }
    let screen = Trace::new("a", "5 4096\n").run(&["--set", "workload.timing=window", "--set", "workload.window=3"]);
    assert_eq!(
        screen.lines().nth(1),
        Some("trace of the format cpu, arrivals: window of 3 requests in flight"),
        "what was given is no default"
    );
    assert_eq!(screen.lines().nth(3), Some(acceptance));
}

/// A closed loop of one request: each read of another row waits for the one before.
#[test]
fn a_window_of_one_serves_one_request_after_the_other() {
    let lines: Vec<String> = (0..20).map(|number| format!("{:#x} R\n", number * 0x1000)).collect();
    let trace = Trace::new("a", &lines.concat());
    let cycles = |timing: &[&str]| trace.results(timing)[0]["latency_cycles"].as_u64().unwrap();
    let (all, one) = (cycles(&[]), cycles(&["--set", "workload.timing=window", "--set", "workload.window=1"]));
    // DDR3-1066G: ACT, tRCD 8, RD, CL 8 and BL/2 4 for each read, and a clock to take the next.
    assert!(one >= 20 * 20 && 2 * all < one, "{one} against {all}");
}

#[test]
fn the_events_of_perf_become_zeroing_and_copies() {
    let text = "\
        sh 7 [000] 10.000001: exceptions:page_fault_user: address=0x7f0000001008 ip=0x1 error_code=0x6\n\
        sh 7 [000] 10.000002: PERF_RECORD_FORK(8:8):(7:7)\n\
        sh 8 [001] 10.000004: exceptions:page_fault_user: address=0x7f0000001010 ip=0x1 error_code=0x7\n\
        sh 8 [001] 10.000005: PERF_RECORD_EXIT(8:8):(7:7)\n";
    for result in Trace::new("a", text).results(&["--check"]) {
        let trace = &result["trace"];
        assert_eq!((&trace["format"], &trace["os_events"]), (&"perf".into(), &4.into()));
        // 406.25 ns are 217 clocks of 1.875 ns.
        assert_eq!((&trace["page_faults"], &trace["page_fault_ns"]), (&2.into(), &(2.0 * 217.0 * 1.875).into()));
        let warning = "2 page faults took 0.8 µs of CPU time (`workload.fault_time`)";
        assert!(result["warnings"].to_string().contains(warning), "{result}");
        assert_eq!((&trace["copies"], &trace["fills"], &result["requests"]), (&1.into(), &1.into(), &2.into()));
    }
    let refused = Trace::new("a", text).refused(&["--placement", "as-recorded"]);
    assert!(refused.contains("for which an allocator must hand out frames"), "{refused}");
}

/// Back to back, a fault follows the one before: 1,000 ns more for each of two faults.
#[test]
fn page_faults_take_time_before_their_copies() {
    let fault = "sh 7 [000] 10.000000: exceptions:page_fault_user: address=0x7f000000";
    let text = format!("{fault}1008 ip=0x1 error_code=0x6\n{fault}2008 ip=0x1 error_code=0x6\n");
    let end = |time: &str| {
        let set = format!("workload.fault_time='{time}'");
        Trace::new("a", &text).results(&["--set", &set])[0]["latency_ns"].as_f64().unwrap()
    };
    // 990 and 3,990 ns are whole clocks of 1.875 ns.
    assert!((end("3990ns") - end("990ns") - 6_000.0).abs() < 1e-6, "{} {}", end("3990ns"), end("990ns"));
    let refused = Trace::new("a", "0x1000 R\n").refused(&["--set", "workload.fault_time=1"]);
    assert!(refused.contains("workload.fault_time` is given") && refused.contains("no page faults"), "{refused}");
}

/// Two pages share two rows: a fault of the first zeroes both, that of the second does nothing, and the child copies
/// both.
#[test]
fn neighbors_in_the_events_of_perf_share_a_unit() {
    let fault = |pid: u32, at: u32, address: u32, code: u32| {
        format!(
            "sh {pid} [0] 10.{at:06}: exceptions:page_fault_user: address={address:#x} ip=0x1 error_code={code:#x}\n"
        )
    };
    let text = fault(7, 1, 0x2000, 6)
        + &fault(7, 2, 0x3000, 6)
        + "sh 7 [0] 10.000003: PERF_RECORD_FORK(8:8):(7:7)\n"
        + &fault(8, 4, 0x2010, 7)
        + &fault(8, 5, 0x3010, 7);
    for (unit, operations) in [("page", 2), ("row-set", 1)] {
        let unit = format!("allocator.copy_unit='{unit}'");
        let interleaved = "system.address_map.preset=line-interleaved";
        let channels = "system.geometry.channels=2";
        let sets = ["--check", "--set", &unit, "--set", interleaved, "--set", channels];
        for result in Trace::new("a", &text).results(&sets) {
            let trace = &result["trace"];
            let copied = &result["allocator"]["copies"];
            assert_eq!((&trace["copies"], &trace["fills"]), (&operations.into(), &operations.into()));
            assert_eq!(copied["frames"], 2, "{copied}");
            assert!(result["check"]["memory_equal"].as_bool().unwrap());
        }
    }
}

#[test]
fn a_trace_that_does_not_fit_is_refused_with_what_would_work() {
    let lackey = Trace::new("a", "I  04000,3\n L 1ffeffe7e,8\n");
    let refused = lackey.refused(&[]);
    for part in
        ["--trace a: ", "format `lackey` has virtual addresses", "`--placement allocator`", "`--placement as-recorded`"]
    {
        assert!(refused.contains(part), "{part}: {refused}");
    }
    let played = lackey.results(&["--placement", "allocator"]);
    // The access covers two lines.
    assert_eq!((&played[0]["trace"]["accesses"], &played[0]["trace"]["reads"]), (&1.into(), &2.into()));
    for (name, text, parts) in [
        (
            "a",
            "0x100000000 R\n",
            ["a:1: `address` = 0x100000000", "the usable capacity is 4286513152 bytes", "`--placement allocator`"],
        ),
        ("a", "R 0,0,9,2,8\n", ["a:1: channel 0 rank 0 bank 9", "does not exist in this memory", "banks 8"]),
        ("a", "5: read 0x1000\n", ["a:1: ", "`stl`", "`rstl`"]),
        ("a", "0x1000 R\n0x1040 X\n", ["a:2: ", "`X`", "help:"]),
    ] {
        let refused = Trace::new(name, text).refused(&[]);
        assert!(parts.iter().all(|part| refused.contains(part)), "{refused}");
    }
    let refused = Trace::new("a", "R 0,0,1,2,8\n").refused(&["--placement", "allocator"]);
    assert!(refused.contains("has DRAM coordinates, which no allocator can place"), "{refused}");
}

/// The command in the results does the run again.
#[test]
fn the_results_name_their_command() {
    let trace = Trace::new("a b", "0x1000 R\n");
    let result = &trace.results(&["--set", "seed=3"])[0];
    assert_eq!(result["rerun"], format!("rowclone-sim run --trace '{}' --set seed=3", trace.1.display()));
    assert_eq!((&result["scenario"], &result["seed"]), (&"a b".into(), &3.into()));
}

#[test]
fn trace_info_tells_what_a_trace_contains() {
    let trace = Trace::new("a", "# two lines\nR 0x1000 @5\nW 0x1fff @9\nCOPY 0x8000 0x10fc0 100\n\nR 0x40\n");
    let assert = trace.command(&["trace", "info"], &["--format", "json"]).assert().success();
    let info: Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
    for (field, value) in [
        ("records", 4),
        ("reads", 2),
        ("writes", 1),
        ("copies", 1),
        ("copied_bytes", 100),
        ("fills", 0),
        ("last_cycle", 9),
        ("lowest_address", 0x40),
        ("highest_address", 0x11023),
        ("pages", 5),
        ("footprint_bytes", 64 * 7),
    ] {
        assert_eq!(info[field], value, "{field}");
    }
    assert_eq!((&info["format"], &info["is_lower_bound"]), (&"native".into(), &false.into()));
    assert_eq!(info["recorded"], "behind-last-level");
    assert_eq!(info["first_lines"][1], serde_json::json!({ "line": 2, "text": "R 0x1000 @5" }));
    assert_eq!(info["last_lines"][2], serde_json::json!({ "line": 6, "text": "R 0x40" }));
    let assert = trace.command(&["trace", "info"], &[]).assert().success();
    let text = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
    let recorded = "recorded      requests to memory: misses and write-backs of the last-level cache";
    assert!(recorded.len() <= 80 && text.lines().any(|found| found == recorded), "{text}");
    for line in ["format        native", "records       4", "addresses     0x40 to 0x11023", "line 6        R 0x40"] {
        assert!(text.lines().any(|found| found == line), "{line}:\n{text}");
    }
    let assert = trace.command(&["trace", "info"], &["--input-format", "csv"]).assert().code(2);
    assert!(String::from_utf8_lossy(&assert.get_output().stderr).contains("native, rc, cpu"));
}
