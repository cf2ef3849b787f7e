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
        assert_eq!(run["requests"], played, "{policy}");
        assert_eq!(run["check"]["violations"], 0, "{policy}");
        assert_eq!(run["check"]["memory_equal"], true, "{policy}");
        let segments = run["segments"].as_array().unwrap();
        let bytes: u64 = segments.iter().map(|row| row["bytes"].as_u64().unwrap()).sum();
        assert_eq!(bytes, played * 4096, "{policy}: every byte is served by one mechanism");
        if policy == "channel" {
            assert_eq!(
                run["channel_bytes"],
                (2 * held["copies"].as_u64().unwrap() + held["fills"].as_u64().unwrap()) * 4096
            );
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
