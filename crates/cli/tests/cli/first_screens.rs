//! The first screen of `run`: its size, its sentences, its ratios, and what `--details`, `--quiet` and `--no-baseline` change.

use assert_cmd::Command;
use serde_json::Value;

use crate::common::{Directory, run, workspace};

/// Output and messages of `run` in a terminal of this width.
fn screen(scenario: &str, columns: usize, arguments: &[&str]) -> (String, String) {
    let mut command = Command::cargo_bin("rowclone-sim").unwrap();
    command.current_dir(workspace()).env("COLUMNS", columns.to_string()).args(["run", scenario]).args(arguments);
    let output = command.assert().success().get_output().clone();
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn results(scenario: &str, arguments: &[&str]) -> Vec<Value> {
    let (json, _) = screen(scenario, 80, &[&["--format", "json"], arguments].concat());
    serde_json::from_str(&json).unwrap()
}

#[track_caller]
fn assert_fits(text: &str, lines: usize, columns: usize) {
    assert!(text.lines().count() <= lines, "{text}");
    let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= columns, "{widest} columns:\n{text}");
}

#[test]
fn every_shipped_scenario_is_answered_in_20_lines_of_80_columns() {
    let mut count = 0;
    for scenario in std::fs::read_dir(workspace().join("traces")).unwrap() {
        let scenario = scenario.unwrap().path();
        if scenario.extension().is_some_and(|ending| ending == "toml") {
            let (text, _) = screen(scenario.to_str().unwrap(), 80, &[]);
            assert_fits(&text, 20, 80);
            assert!(text.lines().last().unwrap().contains("`--details`"), "{text}");
            assert!(!text.contains(".."), "nothing is cut off:\n{text}");
            count += 1;
        }
    }
    assert!(count > 10);
}

#[test]
fn a_workload_is_summed_up_in_a_sentence_with_its_cause() {
    let (text, _) = screen("traces/fork.toml", 80, &[]);
    for sentence in [
        "rowclone, buddy: 1.3x faster, 1.4x less dynamic energy; 0 % of copies by FPM:\n  source and destination lie in different \
         channels; see `explain plan`\n",
        "rowclone, subarray-aware: 7.8x faster, 31x less dynamic energy; 100 % of copies\n  by FPM\n",
        "\nreference: baseline/buddy, copies over the memory channel\n",
    ] {
        assert!(text.contains(sentence), "{text}");
    }
    let rows = "system.geometry.row_bytes=8192";
    let (text, _) = screen("traces/fork.toml", 80, &["--set", rows]);
    assert!(text.contains("0 % of copies by FPM: a\n  4 KiB page shares a row of 8 KiB; see `explain plan`"), "{text}");
    assert!(!text.contains("copy unit"), "{text}");
    let (text, _) = screen("traces/fork.toml", 80, &["--set", rows, "--set", "allocator.copy_unit=row-set"]);
    let unit = "\ncopy unit: row-set, 2 pages of 4 KiB = 8 KiB; Linux copies one page\n";
    assert!(text.contains(unit) && text.contains("100 % of copies\n  by FPM"), "{text}");
}

#[test]
fn more_rows_than_fit_are_summed_per_policy() {
    let (text, _) = screen("traces/unaligned.toml", 80, &[]);
    assert!(text.contains("`--details` has the 24 rows of operations"), "{text}");
    let listed: Vec<Value> = results("traces/unaligned.toml", &[]);
    for result in &listed {
        let operations = result["operations"].as_array().unwrap();
        assert_eq!(operations.len() * listed.len(), 24);
        let sum: u64 = operations.iter().map(|operation| operation["latency_cycles"].as_u64().unwrap()).sum();
        assert_eq!(result["latency_cycles"].as_u64(), Some(sum));
    }
}

#[test]
fn warnings_are_visible_and_fit() {
    let (text, _) = screen("traces/recorded.toml", 80, &[]);
    assert!(text.contains("warning: as-recorded: 13 of 5,200 records of the trace (0.25 %) were left out"), "{text}");
    // Requests that arrive too fast under every policy: more lines of warnings than there is room for.
    let all = "policies=[\"baseline\", \"fpm-only\", \"psm-only\", \"rowclone\", \"fastest\", \"least-energy\"]";
    let sets = ["--set", all, "--set", "workload.gap_cycles=1", "--set", "workload.count=3_000"];
    let (text, _) = screen("traces/mixed.toml", 80, &sets);
    assert_fits(&text, 20, 80);
    assert!(text.contains("warning: the offered load exceeds the service rate (baseline, fpm-only"), "{text}");
}

#[test]
fn details_fit_the_terminal() {
    for scenario in ["traces/page-copy.toml", "traces/recorded.toml"] {
        for columns in [80, 132] {
            let (text, _) = screen(scenario, columns, &["--details"]);
            assert_fits(&text, usize::MAX, columns);
            assert!(text.contains("\nPolicies\n") && text.contains("\nEnergy by cause, nJ\n"), "{text}");
        }
    }
    // A file has the tables in full.
    let directory = Directory::sound();
    let (out, scenario) = (directory.path("out"), directory.path("scenario.toml"));
    assert_eq!(run(&["run", scenario.to_str().unwrap(), "--out", out.to_str().unwrap()]).0, 0);
    let report = std::fs::read_to_string(out.join("report.txt")).unwrap();
    assert!(report.lines().any(|line| line.ends_with("energy ratio  energy ratio (bank)  channel bytes")), "{report}");
}

#[test]
fn quiet_prints_nothing_but_errors() {
    let directory = Directory::sound();
    let (out, scenario) = (directory.path("out"), directory.path("scenario.toml"));
    let arguments = ["run", scenario.to_str().unwrap(), "--quiet", "--out", out.to_str().unwrap()];
    assert_eq!(run(&arguments), (0, String::new(), String::new()));
    assert!(out.join("results.json").exists());
    let (code, stdout, stderr) = run(&arguments);
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(stderr.contains("exists already"), "{stderr}");
}

#[test]
fn the_baseline_runs_for_the_ratios_unless_it_is_unwanted() {
    let only = ["--set", "policies=[\"rowclone\"]"];
    for scenario in ["traces/page-copy.toml", "traces/fork.toml"] {
        let (with, without) = (results(scenario, &[]), results(scenario, &only));
        let expected: Vec<&Value> = with.iter().filter(|result| result["policy"] == "rowclone").collect();
        assert_eq!(without.iter().collect::<Vec<_>>().len(), expected.len());
        for (found, expected) in without.iter().zip(expected) {
            for key in ["speedup", "energy_ratio", "operations"] {
                assert_eq!(found[key], expected[key], "{scenario}");
            }
            assert!(found["speedup"].as_f64().unwrap() > 1.0);
        }
        for result in results(scenario, &[&only[..], &["--no-baseline"]].concat()) {
            assert!(result["speedup"].is_null() && result["energy_ratio"].is_null());
            assert!(result["operations"].as_array().unwrap().iter().all(|operation| operation["speedup"].is_null()));
        }
    }
}

#[test]
fn a_sweep_has_the_ratios_of_each_point() {
    let directory = Directory::sound();
    let (sweep, out) = (directory.path("sweep.toml"), directory.path("out"));
    let text =
        "scenario = \"scenario.toml\"\n[[axis]]\nname = \"bytes\"\nkey = \"operation.0.bytes\"\nvalues = [64, 4096]\n";
    std::fs::write(&sweep, text).unwrap();
    let (code, _, stderr) = run(&["sweep", sweep.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    assert_eq!(code, 0, "{stderr}");
    let mut table = csv::Reader::from_path(out.join("results.csv")).unwrap();
    let rows: Vec<std::collections::BTreeMap<String, String>> = table.deserialize().map(Result::unwrap).collect();
    let number = |row: usize, column: &str| rows[row][column].parse::<f64>().unwrap();
    for (baseline, fast) in [(0, 1), (2, 3)] {
        assert_eq!((rows[baseline]["policy"].as_str(), rows[fast]["policy"].as_str()), ("baseline", "rowclone"));
        assert_eq!((number(baseline, "speedup"), number(baseline, "energy_ratio")), (1.0, 1.0));
        for (ratio, value) in [("speedup", "latency_ns"), ("energy_ratio", "dynamic_energy_nj")] {
            let expected = number(baseline, value) / number(fast, value);
            assert!((number(fast, ratio) / expected - 1.0).abs() < 1e-12, "{ratio}");
        }
    }
    assert!(number(3, "speedup") > number(1, "speedup"));
}

#[test]
fn details_are_refused_beside_json() {
    let (code, _, stderr) = run(&["run", "traces/page-copy.toml", "--details", "--format", "json"]);
    assert!(code == 2 && stderr.contains("leave out `--details`"), "{stderr}");
}
