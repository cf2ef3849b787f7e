//! The recorded traces of forking programs, whole, under every policy, judged and compared with a flat memory.
//!
//! The recordings are not shipped: where they are not there, the test says so, and holds nothing.

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;

#[expect(clippy::print_stderr, reason = "a test that holds nothing says so")]
fn recording(name: &str) -> Option<PathBuf> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/ramulatorsharp");
    let file = directory.join(name);
    if file.exists() {
        return Some(file);
    }
    eprintln!("skipped: {} is not there", file.display());
    None
}

/// A run of the whole trace under all four policies, with the paper's system.
fn play(trace: &Path) -> Vec<Value> {
    let directory = tempfile::tempdir().unwrap();
    let scenario = directory.path().join("recorded.toml");
    let system = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../configs/ddr3-1066-paper.toml");
    let text = format!(
        "system = '{}'\npolicies = [\"channel\", \"fpm\", \"psm\", \"rule\"]\nseed = 1\n\
         [workload]\nkind = \"trace\"\nfile = '{}'\ninstructions_per_clock = 12\nunusable_records = \"skip\"\n",
        system.display(),
        trace.display()
    );
    std::fs::write(&scenario, text).unwrap();
    let mut command = Command::cargo_bin("rowclone-sim").unwrap();
    let assert = command.arg("run").arg(&scenario).args(["--check", "--format", "json"]).assert().success();
    serde_json::from_slice(&assert.get_output().stdout).unwrap()
}

fn check(name: &str, accesses: u64, copies: u64, fills: u64) {
    let Some(trace) = recording(name) else { return };
    let runs = play(&trace);
    assert_eq!(runs.len(), 4);
    for run in &runs {
        let policy = run["policy"].as_str().unwrap();
        let held = &run["trace"];
        let skipped = held["skipped_outside"].as_u64().unwrap() + held["skipped_reserved"].as_u64().unwrap();
        assert_eq!(held["accesses"], accesses, "{policy}");
        let played = held["copies"].as_u64().unwrap() + held["fills"].as_u64().unwrap();
        assert_eq!(played + skipped, copies + fills, "{policy}");
        let lines = held["reads"].as_u64().unwrap() + held["writebacks"].as_u64().unwrap();
        assert_eq!(run["requests"], played + lines, "{policy}");
        assert_eq!(run["check"]["violations"], 0, "{policy}");
        assert_eq!(run["check"]["memory_equal"], true, "{policy}");
        let segments = run["segments"].as_array().unwrap();
        let bytes: u64 = segments.iter().map(|row| row["bytes"].as_u64().unwrap()).sum();
        assert_eq!(bytes, played * 4096, "{policy}: every byte is served by one mechanism");
        if policy == "channel" {
            let bulk = (2 * held["copies"].as_u64().unwrap() + held["fills"].as_u64().unwrap()) * 4096;
            let demand = (lines - run["forwarded"].as_u64().unwrap()) * 64;
            assert_eq!(run["channel_bytes"], bulk + demand);
        }
    }
    let energy = |run: &Value| run["energy_operation_nj"].as_f64().unwrap();
    assert!(energy(&runs[3]) < energy(&runs[0]), "{name}: the paper's rule saves energy");
}

#[test]
fn a_forking_program_runs_whole_under_every_policy() {
    check("forkset-rc.gz", 145_129, 21_787, 185);
}

#[test]
fn a_shell_runs_whole_under_every_policy() {
    check("shell-rc.gz", 165_753, 2_340, 4_350);
}

/// The shipped scenario: where pages were recorded, against a subarray-aware allocator, in a memory otherwise free.
fn placed(trace: &Path, system: &[&str]) -> Vec<Value> {
    let file = format!("workload.file={}", trace.display());
    let sets = [&file, "policies=[\"rule\"]", "allocator.policies=[\"subarray-aware\"]"];
    let sets = sets.iter().chain(system).flat_map(|set| ["--set", *set]);
    let mut command = Command::cargo_bin("rowclone-sim").unwrap();
    command.current_dir(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")).args(["run", "traces/recorded.toml"]);
    let assert = command.args(sets).args(["--format", "json"]).assert().success();
    serde_json::from_slice(&assert.get_output().stdout).unwrap()
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
    let Some(trace) = recording("forkset-rc.gz") else { return };
    let runs = placed(&trace, &[]);
    assert!(fpm(&runs[0]).0 < 0.01 && runs[0]["placement"] == "as-recorded", "{:?}", fpm(&runs[0]));
    assert!(fpm(&runs[1]).0 >= 0.95 && runs[1]["placement"] == "subarray-aware", "{:?}", fpm(&runs[1]));
    let pages = &runs[1]["trace"]["pages"];
    assert_eq!((&pages["copied"], &pages["filled"]), (&runs[1]["trace"]["copies"], &runs[1]["trace"]["fills"]));
    for key in ["makespan_ns", "energy_nj", "channel_bytes"] {
        assert!(runs[1][key].as_f64() < runs[0][key].as_f64(), "{key}");
    }
    assert!(runs[1]["warnings"].to_string().contains("no last-level cache is modelled"));
}

/// A page is half a row of 8 KB, or lies in two rows of two channels: no copy of one has whole rows, and the report says so.
#[test]
fn no_page_goes_by_fpm_that_shares_its_rows() {
    let Some(trace) = recording("shell-rc.gz") else { return };
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
        assert_eq!((&aware["unit_frames"], &aware["sharing"]), (&Value::from(2), &Value::from("marked")));
        assert_eq!(aware["copies"]["fallbacks"]["shared-row"], aware["copies"]["frames"], "{set}");
    }
}
