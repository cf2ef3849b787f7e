//! What the shipped page-copy run prints, field by field: `docs/output.md` documents it, and these snapshots guard it.

#[path = "../../../energy/tests/common/plain.rs"]
mod plain;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn run(arguments: &[&str]) -> String {
    let mut command = Command::cargo_bin("rowclone-sim").unwrap();
    let command =
        command.env_remove("COLUMNS").current_dir(root()).args(["run", "traces/page-copy.toml"]).args(arguments);
    String::from_utf8(command.assert().success().get_output().stdout.clone()).unwrap()
}

#[test]
fn the_first_screen_is_as_it_was() {
    insta::assert_snapshot!(run(&["--check"]));
}

#[test]
fn the_tables_are_as_they_were() {
    insta::assert_snapshot!(run(&["--check", "--details"]));
}

#[test]
fn the_json_is_as_it_was() {
    insta::assert_snapshot!(run(&["--check", "--format", "json"]));
}

#[test]
fn the_csv_is_as_it_was() {
    insta::assert_snapshot!(run(&["--format", "csv"]));
}

/// Every key of the JSON, at any depth but those of maps by cause or kind, stands in `docs/output.md`.
#[test]
fn every_field_is_documented() {
    fn keys(value: &Value, into: &mut BTreeSet<String>) {
        match value {
            Value::Object(map) => map.iter().for_each(|(key, value)| {
                into.insert(key.clone());
                keys(value, into);
            }),
            Value::Array(list) => list.iter().for_each(|value| keys(value, into)),
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    keys(&serde_json::from_str(&run(&["--check", "--format", "json"])).unwrap(), &mut found);
    let sets = ["policies=[\"rowclone\"]", "allocator.policies=[\"buddy\"]", "workload.pages=8", "epoch_cycles=1000"];
    let mut fork = Command::cargo_bin("rowclone-sim").unwrap();
    fork.current_dir(root()).args(["run", "traces/fork.toml", "--format", "json"]);
    fork.args(sets.iter().flat_map(|set| ["--set", *set]));
    keys(&serde_json::from_slice(&fork.assert().success().get_output().stdout).unwrap(), &mut found);
    let documented = std::fs::read_to_string(root().join("docs/output.md")).unwrap();
    for key in found {
        assert!(documented.contains(&format!("`{key}`")), "docs/output.md does not name `{key}`");
    }
}

/// Counts, times and energies of the epochs make up those of the run; a warm-up is in none of them.
#[test]
fn epochs_make_up_the_run_and_the_warm_up_is_left_out() {
    let run = |warm_up: &str| -> Value {
        let sets = ["--set", warm_up, "--set", "epoch_cycles=3_000", "--format", "json"];
        let output = Command::cargo_bin("rowclone-sim")
            .unwrap()
            .current_dir(root())
            .args(["run", "traces/unaligned.toml"])
            .args(sets)
            .assert()
            .success()
            .get_output()
            .stdout
            .clone();
        serde_json::from_slice(&output).unwrap()
    };
    let (all, warm) = (run("warm_up_cycles=0"), run("warm_up_cycles=4_000"));
    for (all, warm) in all.as_array().unwrap().iter().zip(warm.as_array().unwrap()) {
        for report in [all, warm] {
            let epochs = report["epochs"].as_array().unwrap();
            assert!(epochs.len() > 30 && epochs[0]["from_cycle"] == report["from_cycle"]);
            assert_eq!(epochs.last().unwrap()["to_cycle"], report["makespan_cycles"]);
            let made_up = |what: &str, of: &dyn Fn(&Value) -> f64| {
                let (sum, whole) = (epochs.iter().map(of).sum::<f64>(), of(report));
                assert!((sum - whole).abs() <= 1e-9 * whole, "{what}: {sum} and {whole}");
            };
            for bus in ["command_bus_share", "data_bus_share"] {
                let cycles = |value: &Value| {
                    let to = value.get("to_cycle").unwrap_or(&report["makespan_cycles"]);
                    let length = to.as_f64().unwrap() - value["from_cycle"].as_f64().unwrap();
                    let share = value[bus].as_f64().unwrap();
                    assert!((0.0..=1.0).contains(&share), "{bus}: {share}");
                    share * length
                };
                made_up(bus, &cycles);
            }
            for key in ["requests", "channel_bytes", "energy_nj", "dynamic_energy_nj"] {
                made_up(key, &|value| value[key].as_f64().unwrap());
            }
            for (of, key) in
                [("commands", "ACT"), ("commands", "RD"), ("reads", "row_misses"), ("read_latency_ns", "count")]
            {
                made_up(key, &|value| value[of][key].as_f64().unwrap());
            }
        }
        assert_eq!((&all["makespan_cycles"], &warm["from_cycle"]), (&warm["makespan_cycles"], &Value::from(4_000)));
        assert!(
            warm["energy_nj"].as_f64() < all["energy_nj"].as_f64()
                && warm["requests"].as_u64() < all["requests"].as_u64()
        );
    }
}

/// Reads that fill the data bus: an epoch that is no multiple of a burst begins and ends within bursts.
#[test]
fn no_epoch_uses_a_bus_for_longer_than_it_lasts() {
    let sets =
        ["workload.count=2000", "epoch_cycles=101", "system.refresh.enabled=false", "system.geometry.channels=1"];
    let mut command = Command::cargo_bin("rowclone-sim").unwrap();
    command.current_dir(root()).args(["run", "traces/stream.toml", "--format", "json"]);
    command.args(sets.iter().flat_map(|set| ["--set", *set]));
    let reports: Value = serde_json::from_slice(&command.assert().success().get_output().stdout).unwrap();
    let epochs = reports[0]["epochs"].as_array().unwrap();
    let shares: Vec<f64> = epochs.iter().map(|epoch| epoch["data_bus_share"].as_f64().unwrap()).collect();
    assert!(shares.iter().all(|&share| share <= 1.0), "{shares:?}");
    assert!(shares.iter().filter(|&&share| share >= 0.999).count() > 10, "the bus is full: {shares:?}");
}

/// The README shows what the program prints.
#[test]
fn the_readme_shows_what_is_printed() {
    let printed = run(&[]);
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.contains(&format!("```text\n{printed}```\n")), "the README should show\n{printed}");
}

/// The counts of commands and the channel bytes are those of the log.
#[test]
fn the_report_counts_what_the_log_holds() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log.csv");
    let reports: Value =
        serde_json::from_str(&run(&["--format", "json", "--commands", log.to_str().unwrap()])).unwrap();
    for report in reports.as_array().unwrap() {
        let policy = report["policy"].as_str().unwrap();
        let text = std::fs::read_to_string(directory.path().join(format!("log-{policy}.csv"))).unwrap();
        let count = |kind: &str| text.lines().filter(|line| line.split(',').nth(1) == Some(kind)).count() as u64;
        let counted = |kind: &str| report["commands"][kind].as_u64().unwrap();
        for kind in ["PRE", "RD", "WR", "TRANSFER", "REF"] {
            assert_eq!(counted(kind), count(kind), "{policy} {kind}");
        }
        assert_eq!(counted("ACT") + counted("ACT copy"), count("ACT"), "{policy}");
        assert_eq!(report["channel_bytes"].as_u64().unwrap(), 64 * (count("RD") + count("WR")), "{policy}");
    }
}

/// The total equals, to 1e-12, the sum of the energies of the commands in the log.
#[test]
fn the_energy_is_what_a_plain_pass_over_the_log_gives() {
    use rowclone_config::Scenario;
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log.csv");
    let reports: Value =
        serde_json::from_str(&run(&["--format", "json", "--commands", log.to_str().unwrap()])).unwrap();
    let scenario = Scenario::read(&root().join("traces/page-copy.toml"), &[]).unwrap();
    for report in reports.as_array().unwrap() {
        let path = directory.path().join(format!("log-{}.csv", report["policy"].as_str().unwrap()));
        let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
        let reader = trace_io::command_log::LogReader::new(file).unwrap();
        let end = reader.header().end.unwrap();
        let commands = reader.collect::<Result<Vec<_>, _>>().unwrap();
        let log = dram_spec::CommandLog { commands, end };
        let plain = plain::total(scenario.system.memory.system(), scenario.system.memory.currents().unwrap(), &log)
            .unwrap()
            .nj();
        let total = report["energy_nj"].as_f64().unwrap();
        assert!((total / plain - 1.0).abs() < 1e-12, "{total} and {plain}");
    }
}
