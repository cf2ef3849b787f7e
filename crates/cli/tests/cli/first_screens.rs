//! The first screen of `run`: its size, its sentences, its ratios, and what `--details`, `--quiet` and `--no-baseline`
//! change.

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
            assert_fits(&without_warnings(&text).0, 20, 80);
            assert_fits(&text, usize::MAX, 80);
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
        "rowclone, buddy: 1.4x faster, 1.4x less dynamic energy; 0 % of copies by FPM:\n  source and destination lie \
            in different \
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

/// The lines of a screen without those of warnings, and the text with each warning in a line.
fn without_warnings(text: &str) -> (String, String) {
    let joined = text.replace("\n  ", " ");
    let warnings = text.lines().scan(false, |is_warning, line| {
        *is_warning = line.starts_with("warning: ") || (*is_warning && line.starts_with("  "));
        Some((*is_warning, line))
    });
    let others: Vec<&str> = warnings.filter(|(is_warning, _)| !is_warning).map(|(_, line)| line).collect();
    (others.join("\n"), joined)
}

/// However many there are, and however long they are.
#[test]
fn every_warning_is_there_in_full() {
    // Requests that arrive too fast under every policy.
    let all = "policies=[\"baseline\", \"fpm-only\", \"psm-only\", \"rowclone\", \"fastest\", \"least-energy\"]";
    let overload =
        ["workload.gap_cycles=1", "workload.count=3_000", "warm_up_cycles=0", all].map(|set| ["--set", set]).concat();
    for (scenario, sets, count) in [
        ("traces/recorded.toml", &[][..], 2),
        ("traces/mixed.toml", &overload[..], 6),
        ("traces/fork.toml", &[][..], 1),
    ] {
        let (text, _) = screen(scenario, 80, sets);
        assert_fits(&text, usize::MAX, 80);
        let (others, joined) = without_warnings(&text);
        assert_fits(&others, 20, 80);
        let warnings: std::collections::BTreeSet<String> = results(scenario, sets)
            .iter()
            .flat_map(|result| result["warnings"].as_array().unwrap().clone())
            .map(|warning| warning.as_str().unwrap().to_owned())
            .collect();
        assert_eq!(warnings.len(), count, "{warnings:?}");
        for warning in &warnings {
            assert!(joined.contains(&format!("warning: {warning}\n")), "{warning}: {text}");
        }
    }
}

/// Kernel time is charged on cores only.
#[test]
fn a_run_with_an_allocator_and_without_cores_charges_no_time_of_the_kernel_and_warns() {
    let warning =
        "warning: no cores are modeled: page faults, system calls and page tables of the kernel take no time\n";
    for (scenario, is_warned) in [
        ("traces/fork.toml", true),
        ("traces/recorded.toml", true),
        ("traces/arrivals.toml", false),
        ("traces/page-copies.toml", false),
        ("traces/memcopy-on-cores.toml", false),
    ] {
        let (text, _) = screen(scenario, 80, &[]);
        assert_eq!(without_warnings(&text).1.contains(warning), is_warned, "{text}");
    }
}

/// The mean read latency falls, and the makespan is that of the last arrivals.
#[test]
fn fixed_arrivals_are_answered_by_mean_latencies() {
    let (text, _) = screen("traces/arrivals.toml", 80, &[]);
    let results = results("traces/arrivals.toml", &[]);
    let mean = |result: &Value, kind: &str| result[format!("{kind}_latency_ns")]["mean"].as_f64().unwrap();
    for kind in ["read", "copy"] {
        let ratio = results[1][format!("{kind}_latency_ratio")].as_f64().unwrap();
        assert!((ratio * mean(&results[1], kind) / mean(&results[0], kind) - 1.0).abs() < 1e-12, "{kind}");
        let words = format!("{ratio:.1}x shorter mean {kind} latency");
        assert!(without_warnings(&text).1.contains(&words), "{text}");
    }
    for words in
        ["arrivals are fixed: mean latencies are compared, and not the makespan\n", "  ns  ratio    ns  ratio "]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains("faster") && !text.contains("speedup"), "{text}");
    for (scenario, set, is_fixed) in [
        ("traces/arrivals.toml", "workload.timing=back-to-back", false),
        ("traces/recorded.toml", "policies=['rowclone']", false),
        ("traces/mixed.toml", "workload.gap_cycles=20", true),
        ("traces/mixed.toml", "workload.gap_cycles=0", false),
        ("traces/fork.toml", "workload.gap_cycles=20", false),
    ] {
        let (screen, _) = screen(scenario, 80, &["--set", set]);
        assert_eq!(screen.contains("arrivals are fixed"), is_fixed, "{set}: {screen}");
        assert_eq!(screen.contains("speedup"), !is_fixed, "{set}: {screen}");
    }
}

#[test]
fn of_more_results_than_fit_the_best_placement_of_each_policy_is_shown() {
    let sets = [
        "workload.bytes=0x40000",
        "workload.pages=48",
        "system.device.density_gb=1",
        "policies=[\"baseline\", \"psm-only\", \"rowclone\", \"fastest\"]",
        "allocator.policies=[\"sequential\", \"random\", \"buddy\", \"subarray-aware\"]",
    ];
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    let (text, _) = screen("traces/fork.toml", 80, &sets);
    assert!(text.contains("The best placement of each policy: `--details` has all 16 results."), "{text}");
    for policy in ["psm-only", "rowclone", "fastest"] {
        let all = results("traces/fork.toml", &sets);
        let of = all.iter().filter(|result| result["policy"] == policy);
        let best = of.max_by(|a, b| a["speedup"].as_f64().partial_cmp(&b["speedup"].as_f64()).unwrap()).unwrap();
        let label = format!("{policy}/{} ", best["placement"].as_str().unwrap());
        assert_eq!(text.lines().filter(|line| line.starts_with(&format!("{policy}/"))).count(), 1, "{text}");
        assert!(text.lines().any(|line| line.starts_with(&label)), "{label}: {text}");
    }
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
