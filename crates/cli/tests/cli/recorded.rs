//! Recorded traces of forking programs under every policy, checked and compared with a flat memory: the samples of the
//! repository, and the whole recordings where they lie beside it.

use std::io::Write;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;

use crate::common::{Directory, program, run, workspace};

fn sample(name: &str) -> PathBuf {
    workspace().join("traces/samples").join(name)
}

/// A whole recording, where it is there.
fn recording(name: &str) -> Option<PathBuf> {
    let file = workspace().join("../shared/data/ramulatorsharp").join(name);
    if file.exists() {
        return Some(file);
    }
    // Not `eprintln!`: the test runner would keep that to itself.
    let mut terminal = std::io::stderr();
    writeln!(terminal, "not tested: the whole recording is not there ({})", file.display()).unwrap();
    None
}

/// A run of a trace under four policies, with the paper's system.
fn play(trace: &Path) -> Vec<Value> {
    let directory = tempfile::tempdir().unwrap();
    let scenario = directory.path().join("recorded.toml");
    let system = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../configs/ddr3-1066-paper.toml");
    let text = format!(
        "system = '{}'\npolicies = [\"baseline\", \"fpm-only\", \"psm-only\", \"rowclone\"]\nseed = 1\n\
         [workload]\nkind = \"trace\"\nfile = '{}'\ninstructions_per_clock = 12\n",
        system.display(),
        trace.display()
    );
    std::fs::write(&scenario, text).unwrap();
    let mut command = Command::cargo_bin("rowclone-sim").unwrap();
    let assert = command.arg("run").arg(&scenario).args(["--check", "--format", "json"]).assert().success();
    serde_json::from_slice(&assert.get_output().stdout).unwrap()
}

fn check(trace: &Path, accesses: u64, copies: u64, fills: u64) {
    let runs = play(trace);
    assert_eq!(runs.len(), 4);
    for run in &runs {
        let policy = run["policy"].as_str().unwrap();
        let held = &run["trace"];
        let skipped = held["skipped_outside"].as_u64().unwrap() + held["skipped_reserved"].as_u64().unwrap();
        assert_eq!(
            (&held["accesses"], &held["records"]),
            (&accesses.into(), &(accesses + copies + fills).into()),
            "{policy}"
        );
        let played = held["copies"].as_u64().unwrap() + held["fills"].as_u64().unwrap();
        assert_eq!(played + skipped, copies + fills, "{policy}");
        let lines = held["reads"].as_u64().unwrap() + held["writebacks"].as_u64().unwrap();
        assert_eq!(run["requests"], played + lines, "{policy}");
        assert_eq!(run["check"]["violations"], 0, "{policy}");
        assert_eq!(run["check"]["memory_equal"], true, "{policy}");
        let parts = run["parts"].as_array().unwrap();
        let bytes: u64 = parts.iter().map(|row| row["bytes"].as_u64().unwrap()).sum();
        assert_eq!(bytes, played * 4096, "{policy}: every byte is served by one mechanism");
        if policy == "baseline" {
            let bulk = (2 * held["copies"].as_u64().unwrap() + held["fills"].as_u64().unwrap()) * 4096;
            let demand = (lines - run["forwarded"].as_u64().unwrap()) * 64;
            assert_eq!(run["channel_bytes"], bulk + demand);
        }
    }
    let energy = |run: &Value| run["dynamic_energy_nj"].as_f64().unwrap();
    assert!(energy(&runs[3]) < energy(&runs[0]), "{}: the paper's rule saves energy", trace.display());
}

#[test]
fn a_forking_program_runs_whole_under_every_policy() {
    check(&sample("forkset-rc.gz"), 4246, 954, 0);
}

#[test]
fn a_shell_runs_whole_under_every_policy() {
    check(&sample("shell-rc.gz"), 3353, 52, 95);
}

#[test]
#[ignore = "recordings that are not in the repository: `cargo xtask full` runs it"]
fn whole_recordings_run_under_every_policy() {
    recording("forkset-rc.gz").inspect(|trace| check(trace, 145_129, 21_787, 185));
    recording("shell-rc.gz").inspect(|trace| check(trace, 165_753, 2_340, 4_350));
}

/// The shipped scenario: where pages were recorded, against a subarray-aware allocator, in a memory otherwise free.
fn placed(trace: &Path, system: &[&str]) -> Vec<Value> {
    let file = format!("workload.file={}", trace.display());
    let sets = [&file, "policies=[\"rowclone\"]", "allocator.policies=[\"subarray-aware\"]"];
    let sets = sets.iter().chain(system).flat_map(|set| ["--set", *set]);
    let output = program(&["run", "traces/recorded.toml", "--format", "json"]).args(sets).output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The share of the bytes of copies that went by FPM, and the reasons why others did not.
fn fpm(run: &Value) -> (f64, Vec<String>) {
    let rows = run["served"].as_array().unwrap().iter().filter(|row| row["operation"] == "copy");
    let (by_fpm, others): (Vec<_>, Vec<_>) = rows.partition(|row| row["mechanism"] == "fpm");
    let share = by_fpm.iter().map(|row| row["share_of_bytes"].as_f64().unwrap()).sum();
    (share, others.iter().map(|row| row["reason"].as_str().unwrap().to_owned()).collect())
}

#[test]
fn an_allocator_makes_the_difference_to_a_recorded_fork() {
    let runs = placed(&sample("forkset-rc.gz"), &[]);
    assert!(fpm(&runs[0]).0 < 0.01 && runs[0]["placement"] == "as-recorded", "{:?}", fpm(&runs[0]));
    assert!(fpm(&runs[1]).0 >= 0.95 && runs[1]["placement"] == "subarray-aware", "{:?}", fpm(&runs[1]));
    let pages = &runs[1]["trace"]["pages"];
    assert_eq!((&pages["copied"], &pages["filled"]), (&runs[1]["trace"]["copies"], &runs[1]["trace"]["fills"]));
    for key in ["makespan_ns", "energy_nj", "channel_bytes"] {
        assert!(runs[1][key].as_f64() < runs[0][key].as_f64(), "{key}");
    }
    assert!(runs[1]["warnings"].to_string().contains("no last-level cache is modeled"));
}

/// A page is half a row of 8 KB, or lies in two rows of two channels: no copy of one has whole rows, and the report
/// says so.
#[test]
fn no_page_goes_by_fpm_that_shares_its_rows() {
    let trace = sample("shell-rc.gz");
    assert!(fpm(&placed(&trace, &[])[1]).0 >= 0.95);
    let half_a_row = ("system.geometry.row_bytes=8192", "partial-row");
    let two_channels = ("system.address_map.preset=line-interleaved", "interleaved");
    for (set, why) in [half_a_row, two_channels] {
        let runs = placed(&trace, &[set]);
        for run in &runs {
            let (share, reasons) = fpm(run);
            assert!(share <= 0.0 && reasons.iter().any(|reason| reason == why), "{set}: {share}, {reasons:?}");
        }
        let aware = &runs[1]["allocator"];
        assert_eq!((&aware["unit_frames"], &aware["sharing"]), (&Value::from(2), &Value::from("page")));
        assert_eq!(aware["copies"]["fallbacks"]["shared-row"], aware["copies"]["frames"], "{set}");
    }
}

/// The runs of a scenario that plays a trace of this text: exit code, results, standard error.
fn played(text: &str, more: &str, arguments: &[&str]) -> (i32, String, String) {
    let directory = Directory::sound();
    std::fs::write(directory.path("a.trace"), text).unwrap();
    let scenario = format!(
        "system = \"system.toml\"\npolicies = [\"rowclone\"]\nseed = 1\n[workload]\nkind = \"trace\"\nfile = \
            \"a.trace\"\n{more}"
    );
    std::fs::write(directory.path("scenario.toml"), scenario).unwrap();
    let (code, out, err) = run(&[&["run", directory.path("scenario.toml").to_str().unwrap()], arguments].concat());
    (code, out, err.replace(&directory.path("").display().to_string(), ""))
}

/// Reads inside the 4 GiB of the system, and reads above it.
fn reads(inside: u64, outside: u64) -> String {
    let line = |address: u64| format!("R {address:#x}\n");
    (0..inside).map(|n| line(n * 64)).chain((0..outside).map(|n| line((1 << 40) + n * 64))).collect()
}

const SKIP: &str = "unusable_records = \"skip\"\n";

#[test]
fn what_is_left_out_is_in_every_output() {
    let (code, table, _) = played(&reads(199, 1), SKIP, &[]);
    let warning = "as-recorded: 1 of 200 records of the trace (0.50 %) were left out, in whole or in part, because \
        they lie outside the \
                   memory or on reserved rows";
    assert_eq!(code, 0, "half a percent is accepted");
    assert!(table.replace("\n  ", " ").contains(&format!("warning: {warning}\n")), "{table}");
    let (_, json, _) = played(&reads(199, 1), SKIP, &["--format", "json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    let trace = &json[0]["trace"];
    assert_eq!((&trace["records"], &trace["skipped_records"]), (&200.into(), &1.into()));
    assert_eq!((&trace["skipped_share"], &trace["accesses_outside"]), (&0.005.into(), &1.into()));
    assert!(json[0]["warnings"].as_array().unwrap().contains(&warning.into()));
    let (_, csv, _) = played(&reads(199, 1), SKIP, &["--format", "csv"]);
    let mut lines = csv.lines();
    let (head, row) = (lines.next().unwrap(), lines.next().unwrap());
    assert!(head.ends_with(",trace_records,trace_skipped_records,trace_skipped_share,warnings"), "{head}");
    assert!(row.contains(",200,1,0.005,\"") && row.contains(warning), "{row}");
}

#[test]
fn a_run_that_leaves_out_more_than_5_percent_ends_with_1_unless_that_is_allowed() {
    assert_eq!(played(&reads(95, 5), SKIP, &[]).0, 0, "5 percent are not more than that");
    let (code, table, message) = played(&reads(94, 6), SKIP, &[]);
    assert_eq!(
        (code, message.as_str()),
        (
            1,
            "rowclone/as-recorded: 6 of 100 records of the trace (6.00 %) were left out, more than 5 %\n\
             give the system more memory, or play every record with `placement = \"allocator\"`; `--allow-skipped` \
             accepts the run as it is\n"
        )
    );
    assert!(table.contains("speedup"), "its results are printed all the same");
    assert_eq!(played(&reads(94, 6), SKIP, &["--allow-skipped"]).0, 0);
    let allocator = "placement = \"allocator\"\n[allocator]\npolicies = [\"buddy\"]\n";
    let (code, table, _) = played(&reads(2, 98), allocator, &[]);
    assert!(code == 0 && !table.contains("were left out"), "an allocator plays every address");
}

/// The default: row 511 is a zero row, whose records are left out up to 5 % of the trace.
#[test]
fn records_on_reserved_rows_are_left_out_with_a_warning_and_refused_above_5_percent() {
    let trace = |sound: usize| "R 0,0,0,5,8\n".repeat(sound) + "R 0,0,1,511,8\n";
    let (code, table, _) = played(&trace(19), "", &[]);
    let warning = "as-recorded: 1 of 20 records of the trace (5.00 %) were left out";
    assert!(code == 0 && table.replace("\n  ", " ").contains(warning), "{table}");
    let (code, _, message) = played(&trace(18), "", &[]);
    let expected = "error: a.trace: 1 of 19 records lie on reserved rows (5.26 %), more than 5 %";
    assert_eq!((code, message.lines().next().unwrap()), (2, expected));
}

#[test]
fn a_report_names_what_was_left_out() {
    let directory = tempfile::tempdir().unwrap();
    let (out, page) = (directory.path().join("out"), directory.path().join("page.html"));
    let (out, page) = (out.to_str().unwrap(), page.to_str().unwrap());
    assert_eq!(played(&reads(99, 1), SKIP, &["--out", out]).0, 0);
    assert_eq!(run(&["report", out, "-o", page]).0, 0);
    let html = std::fs::read_to_string(page).unwrap();
    assert!(html.contains("1 of 100 records of the trace (1.00 %) were left out"), "the page has no such warning");
}

#[test]
fn a_trace_that_holds_nothing_or_goes_wrong_is_an_error_with_its_place() {
    let cases = [
        ("# nothing\n", "", "error: a.trace: the trace holds no record"),
        (
            "R 0x1000\nR 4096\n",
            "",
            "error: a.trace:2: `address` is `4096`, but must be `0x` and a hexadecimal number below 2^64",
        ),
        (
            "R 0x10000000000\n",
            "",
            "error: a.trace:1: `address` = 0x10000000000 with 64 bytes reaches past the end of the usable memory at \
                0xff7f0000",
        ),
    ];
    for (text, more, expected) in cases {
        let (code, _, message) = played(text, &format!("format = \"native\"\n{more}"), &[]);
        assert_eq!((code, message.lines().next().unwrap()), (2, expected));
    }
    let (code, _, message) = played("", "", &[]);
    assert_eq!(
        (code, message.lines().next().unwrap()),
        (2, "error: scenario.toml:6: `workload.file`: a.trace: the trace holds no record")
    );
}

/// Whatever the compression, which the first bytes tell.
#[test]
fn a_compressed_trace_is_played_like_a_plain_one() {
    let text = std::fs::read(sample("arrivals.trace")).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&text).unwrap();
    let files = [
        ("a.gz", encoder.finish().unwrap()),
        ("a.zst", std::fs::read(sample("arrivals.trace.zst")).unwrap()),
        ("a.txt", text),
    ];
    let results = files.map(|(name, bytes)| {
        let file = directory.path().join(name);
        std::fs::write(&file, bytes).unwrap();
        let set = format!("workload.file={}", file.display());
        let (code, csv, _) = run(&["run", "traces/arrivals.toml", "--format", "csv", "--set", &set]);
        assert_eq!(code, 0, "{name}");
        csv
    });
    assert!(results.iter().all(|result| *result == results[2]));
}
