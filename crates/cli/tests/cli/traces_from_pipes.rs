//! Traces from standard input and named pipes, traces given as scenarios, and messages in flags.

use std::fs;

use assert_cmd::Command;
use serde_json::Value;

const TRACE: &str = "0x1000 R\n0x2000 W\n0x1040 R\n";

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn program() -> Command {
    let mut program = Command::cargo_bin("rowclone-sim").unwrap();
    program.current_dir(ROOT);
    program
}

/// Standard output of a command that ends with 0.
fn stdout(command: &mut Command) -> String {
    String::from_utf8(command.assert().success().get_output().stdout.clone()).unwrap()
}

/// Standard error of a command that ends with 2.
fn refused(command: &mut Command) -> String {
    String::from_utf8(command.assert().code(2).get_output().stderr.clone()).unwrap()
}

#[test]
fn every_command_reads_standard_input() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("trace");
    fs::write(&file, TRACE).unwrap();
    let results = |text: String| -> Vec<Value> { serde_json::from_str(&text).unwrap() };
    // Two policies and their reference read the trace several times.
    let run = ["run", "--format", "json", "--trace"];
    let from_file = results(stdout(program().args(run).arg(&file)));
    let from_pipe = results(stdout(program().args(run).arg("-").write_stdin(TRACE)));
    for (one, other) in from_file.iter().zip(&from_pipe) {
        for field in ["policy", "makespan_cycles", "reads", "read_latency_cycles", "energy_nj", "speedup"] {
            assert_eq!(one[field], other[field], "{field}");
        }
        assert_eq!(other["rerun"], "rowclone-sim run --trace -");
    }
    let info = stdout(program().args(["trace", "info", "-", "--format", "json"]).write_stdin(TRACE));
    let info: Value = serde_json::from_str(&info).unwrap();
    assert_eq!((&info["records"], info["first_lines"].as_array().map(Vec::len)), (&3.into(), Some(3)));
    let found = stdout(program().args(["trace", "find-copies", "-"]).write_stdin(TRACE));
    assert!(found.contains("records   3\n"), "{found}");
    let out = directory.path().join("out.native");
    program().args(["convert", "-"]).arg(&out).write_stdin(TRACE).assert().success();
    assert_eq!(fs::read_to_string(&out).unwrap(), "R 0x1000\nW 0x2000\nR 0x1040\n");
    let commands = "0,ACT,3\n40,PRE,3\n";
    let check = ["check", "-", "--input-format", "drampower", "--system", "configs/ddr3-1600-8gb-dimm.toml"];
    assert!(stdout(program().args(check).write_stdin(commands)).contains("2 commands"));
}

#[test]
fn a_named_pipe_is_read_once() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let writer = {
        let pipe = pipe.clone();
        std::thread::spawn(move || fs::write(pipe, TRACE).unwrap())
    };
    let screen = stdout(program().args(["run", "--trace"]).arg(&pipe));
    writer.join().unwrap();
    assert!(screen.contains("trace of the format ramulator-dram"), "{screen}");
}

#[test]
fn a_trace_given_as_a_scenario_says_how_to_play_it() {
    let directory = tempfile::tempdir().unwrap();
    for (name, text, parts) in [
        (
            "a.trace",
            TRACE,
            ["a memory trace of the format `ramulator-dram`, and no scenario", "`rowclone-sim run --trace "],
        ),
        ("a.gz", "R 0x40 @7\n", ["memory trace of the format `native`", "`--trace`"]),
        ("a.txt", "5: read 0x1000\n", ["is a memory trace, and no scenario", "`--trace`"]),
        ("a.csv", "0,ACT,3\n20,PRE,3\n", ["is a command trace of the format", "`rowclone-sim check "]),
    ] {
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        let error = refused(program().arg("run").arg(&path));
        assert!(parts.iter().all(|part| error.contains(part)), "{name}: {error}");
    }
    let path = directory.path().join("a.toml");
    fs::write(&path, "seed = 1\n").unwrap();
    assert!(!refused(program().arg("run").arg(&path)).contains("--trace"));
}

#[test]
fn messages_of_a_trace_name_flags_and_not_keys() {
    let directory = tempfile::tempdir().unwrap();
    for (name, text, more, parts) in [
        ("a", "I  04000,3\n L 1ffeffe7e,8\n", &[][..], ["`--placement allocator`", "`--placement as-recorded`"]),
        ("b", "0xffff00000000 R\n", &[], ["`--placement allocator`", "`--set workload.unusable_records=skip`"]),
        ("c", "5: read 0x1000\n", &[], ["`--set workload.format=stl`", "`--set workload.format=rstl`"]),
        ("d", "0x40 R\n", &["--set", "workload.timing=recorded"], ["`--set workload.timing=back-to-back`", "help:"]),
        ("e", "0x40 R\n", &["--set", "workload.window=3"], ["`--set workload.timing=window`", "help:"]),
    ] {
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        let error = refused(program().args(["run", "--trace"]).arg(&path).args(more));
        assert!(parts.iter().all(|part| error.contains(part)), "{name}: {error}");
        assert!(!error.contains(" = \""), "{name}: {error}");
    }
    let path = directory.path().join("c");
    let error = refused(program().args(["trace", "info"]).arg(&path));
    assert!(error.contains("`--input-format stl` or `--input-format rstl`"), "{error}");
    let error = refused(program().arg("convert").arg(&path).arg(directory.path().join("out.native")));
    assert!(error.contains("`--from stl` or `--from rstl`"), "{error}");
    // A scenario file has keys.
    let scenario = directory.path().join("s.toml");
    let system = fs::canonicalize(ROOT).unwrap().join("configs/ddr3-1066-paper.toml");
    let text = format!(
        "system = {:?}\npolicies = [\"baseline\"]\nseed = 1\n[workload]\nkind = \"trace\"\nfile = \"b\"\n",
        system.display()
    );
    fs::write(&scenario, text).unwrap();
    assert!(refused(program().arg("run").arg(&scenario)).contains("`unusable_records = \"skip\"`"));
}

/// Clock 20, then 5 and 12: two late records, the larger jump 15. The last is on time.
#[test]
fn late_records_and_ignored_data_are_warnings() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.stl");
    let data = "5a".repeat(64);
    fs::write(&path, format!("20: read 0x0\n5: write 0x40 0x{data}\n12: read 0x80\n20: read 0x40\n")).unwrap();
    let run = |more: &[&str]| -> Vec<Value> {
        let text = stdout(program().args(["run", "--format", "json", "--trace"]).arg(&path).args(more));
        serde_json::from_str(&text).unwrap()
    };
    let warnings = |result: &Value| result["warnings"].to_string();
    for (result, checked) in run(&[]).iter().zip(run(&["--check"])) {
        let trace = &result["trace"];
        assert_eq!((&trace["late_records"], &trace["late_cycles_max"]), (&2.into(), &15.into()));
        assert_eq!((&trace["writes_with_data"], &trace["is_data_used"]), (&1.into(), &false.into()));
        assert!(warnings(result).contains("2 records of the trace arrive late, at once"), "{}", warnings(result));
        assert!(warnings(result).contains("by up to 15 clocks"), "{}", warnings(result));
        assert!(warnings(result).contains("data of 1 write of the trace are ignored"), "{}", warnings(result));
        assert_eq!(checked["trace"]["is_data_used"], true);
        assert!(!warnings(&checked).contains("ignored") && checked["check"]["memory_equal"] == true);
    }
}

/// A copy of 4 KiB line by line, with a read in between: the report, and the trace with a record.
#[test]
fn find_copies_reports_and_writes_copies() {
    let directory = tempfile::tempdir().unwrap();
    let (path, out) = (directory.path().join("a"), directory.path().join("a.native"));
    let lines = (0..64).map(|n| format!("{:#x} R\n{:#x} W\n", 0x10000 + 64 * n, 0x80000 + 64 * n));
    fs::write(&path, lines.collect::<String>() + "0x1000 R\n").unwrap();
    let find = |more: &[&str]| stdout(program().args(["trace", "find-copies"]).arg(&path).args(more));
    let screen = find(&["--write", out.to_str().unwrap()]);
    assert_eq!(fs::read_to_string(&out).unwrap(), "COPY 0x80000 0x10000 4096\nR 0x1000\n");
    for part in ["copies    1 (4 KiB)", "sizes     1 x 4 KiB", "99.22 % of reads and writes", "not known from a trace:"]
    {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
    let report: Value = serde_json::from_str(&find(&["--format", "json"])).unwrap();
    assert_eq!((&report["copies"]["count"], &report["replaced"]["count"]), (&1.into(), &128.into()));
    let copy = &report["listed"][0];
    assert_eq!((&copy["first_line"], &copy["last_line"], &copy["offset"]), (&2.into(), &128.into(), &"458752".into()));
    assert!(find(&["--min-bytes", "8KiB"]).contains("copies    0 (0 B)"));
    let refusal = refused(program().args(["trace", "find-copies"]).arg(&path).arg("--write").arg(&out));
    assert!(refusal.contains("a.native"), "an existing file is kept: {refusal}");
}
