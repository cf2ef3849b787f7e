//! `reproduce apps`, and mixes of recorded programs.

use assert_cmd::Command;
use serde_json::Value;

use crate::common::json;

/// The shortest recording. `cargo xtask full` runs all of them.
#[test]
fn zero_lines_of_a_recorded_program_save_bytes_and_energy() {
    let recording = "traces/recorded/start-up.rct.zst";
    let table = json(&["reproduce", "apps", recording, "--cache-sizes", "1MiB", "--check"]);
    let rows = table["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "the machine has this cache");
    assert_eq!((rows[0]["program"].as_str(), rows[0]["last_level_bytes"].as_u64()), (Some("start-up"), Some(1 << 20)));
    let of = |method: usize, key: &str| rows[0]["runs"][method][key].as_f64().unwrap();
    assert_eq!(["baseline", "rowclone", "rowclone-zi"].map(Value::from), {
        [0, 1, 2].map(|method: usize| rows[0]["runs"][method]["method"].clone())
    });
    for figure in ["energy_nj", "channel_bytes"] {
        assert!(of(2, figure) < of(1, figure), "{figure}: {rows:?}");
    }
    let share = of(0, "copy_share_of_channel_bytes");
    assert!(share > 0.5 && of(2, "copy_share_of_channel_bytes") < share, "{rows:?}");
}

#[test]
fn recordings_that_are_missing_are_named_with_a_remedy() {
    let elsewhere = tempfile::tempdir().unwrap();
    for target in ["apps", "multicore"] {
        let mut command = Command::cargo_bin("rowclone-sim").unwrap();
        let assert = command.current_dir(&elsewhere).args(["reproduce", target]).assert().code(2);
        let stderr = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(stderr.contains("traces/recorded") && stderr.contains("checkout of the repository"), "{stderr}");
        assert_eq!(stderr.contains("`--programs generated`"), target == "multicore", "{stderr}");
    }
}

#[test]
fn mixes_have_recorded_programs() {
    let size = ["--cores", "2", "--mixes", "2", "--schedulers", "fr-fcfs", "--warm-up", "1000", "--instructions=20000"];
    let table = json(&[&["reproduce", "multicore", "--check"][..], &size].concat());
    assert_eq!(table["instructions"], 20_000);
    assert_eq!(table["programs"], "recorded");
    let runs = table["rows"][0]["methods"][0]["runs"].as_array().unwrap();
    let programs: Vec<&Value> = runs.iter().map(|run| &run["programs"]).collect();
    assert_eq!(programs[0], &Value::from(vec!["compiler", "random-updates"]));
    assert_eq!(programs[1], &Value::from(vec!["file-copy", "sort"]));
}

/// A region has the instructions that its program executes alone in the given time, under each method.
#[test]
fn regions_of_recorded_programs_take_equal_times_alone() {
    let size = ["--cores", "2", "--mixes", "2", "--schedulers", "fr-fcfs", "--cycles", "400000"];
    let table = json(&[&["reproduce", "multicore"][..], &size].concat());
    assert_eq!((&table["warm_up_cycles"], &table["cycles"]), (&Value::from(100_000), &Value::from(400_000)));
    for mix in [0, 1] {
        let instructions = [0, 3].map(|method: usize| {
            let run = &table["rows"][0]["methods"][method]["runs"][mix];
            [0, 1].map(|core: usize| {
                let instructions = run["report"]["cores"][core]["instructions"].as_u64().unwrap();
                let cycles = instructions as f64 / run["alone_ipc"][core].as_f64().unwrap();
                assert!((cycles / 400_000.0 - 1.0).abs() < 0.05, "{}: {cycles}", run["programs"][core]);
                instructions
            })
        });
        assert_eq!(instructions[0], instructions[1]);
    }
}
