//! `reproduce injection`: what holds of injection and prefetching.

use serde_json::Value;

use crate::common::{json, run};

fn of(row: &Value, mode: usize, key: &str) -> f64 {
    row["runs"][mode][key].as_f64().unwrap_or_else(|| panic!("no {key} in {row}"))
}

fn rows(arguments: &[&str]) -> Vec<Value> {
    let table = json(&[&["reproduce", "injection"], arguments].concat());
    table["rows"].as_array().unwrap().clone()
}

/// Base, prefetching, and injection into the L3 and the L2.
#[test]
fn injection_saves_reads_and_prefetching_hides_them() {
    let rows = rows(&["--messages", "32", "--only", "share"]);
    assert_eq!(rows.len(), 5);
    let plain = &rows[0];
    let [base, prefetch, l3, l2] =
        [0, 1, 2, 3].map(|mode| (of(plain, mode, "memory_reads"), of(plain, mode, "us_per_4_kib")));
    assert!(l3.0 <= 0.1 * base.0 && l2.0 <= 0.1 * base.0, "{plain}");
    assert!((prefetch.0 / base.0 - 1.0).abs() <= 0.02, "{plain}");
    assert!(l2.1 <= l3.1 && prefetch.1 < l3.1 && l3.1 < base.1, "{plain}");
    assert_eq!(plain["runs"][2]["injected"].as_u64(), Some(32 * 32));
    assert!(plain["runs"][1]["prefetched"][0].as_u64() > Some(32 * 20), "{plain}");
    let saved: Vec<f64> = rows.iter().map(|row| of(row, 0, "reads_per_line") - of(row, 2, "reads_per_line")).collect();
    assert!(saved.iter().all(|saved| (saved - saved.round()).abs() < 0.05 && *saved > 0.9), "{saved:?}");
}

/// Read after twice the L3 has arrived, injected lines are written back and read again; with a working set beside them
/// injection is slower than base.
#[test]
#[ignore = "a quarter of a minute of CPU: `cargo xtask full` runs it"]
fn injection_beyond_the_cache_displaces_a_working_set() {
    let rows = rows(&["--cache-scale", "64", "--only", "delay"]);
    let beyond = |case: &str| rows.iter().find(|row| row["case"] == case).unwrap_or_else(|| panic!("no {case}"));
    let (with, without) = (beyond("200 % of L3, working set"), beyond("200 % of L3"));
    assert!(of(with, 1, "us_per_4_kib") > of(with, 0, "us_per_4_kib"), "{with}");
    assert!(of(with, 1, "reads_per_line") > of(with, 0, "reads_per_line"), "{with}");
    assert!((of(without, 1, "reads_per_line") - of(without, 0, "reads_per_line")).abs() < 0.02, "{without}");
    assert!(of(without, 1, "written_back") > 0.9 * of(without, 1, "injected") - 4_608.0, "{without}");
    // The other policies keep the working set.
    for policy in [2, 3] {
        assert!(of(with, policy, "memory_reads") < of(with, 1, "memory_reads"), "{with}");
    }
}

#[test]
fn the_gain_of_injection_grows_with_the_cores() {
    let rows = rows(&["--messages", "32", "--only", "cores"]);
    let times: Vec<f64> = rows.iter().map(|row| of(row, 2, "us_per_4_kib") / of(row, 0, "us_per_4_kib")).collect();
    assert!(times.len() == 4 && times.is_sorted_by(|a, b| a > b), "{times:?}");
}

/// Commands and loads are right, and the picture has the modes.
#[test]
#[ignore = "seconds of CPU: `cargo xtask full` runs it"]
fn loads_and_commands_are_right_and_a_picture_is_drawn() {
    let directory = tempfile::tempdir().unwrap();
    let picture = directory.path().join("cores.svg");
    let few = ["reproduce", "injection", "--messages", "32", "--only", "size,cores", "--check", "--plot"];
    let (code, text, error) = run(&[&few[..], &[picture.to_str().unwrap()]].concat());
    assert_eq!(code, 0, "{error}");
    assert!(text.contains("message size") && !text.contains("delay") && text.contains("Required"), "{text}");
    let drawn = std::fs::read_to_string(picture).unwrap();
    assert!(["prefetch", "inject L3", "inject L2"].iter().all(|mode| drawn.contains(mode)));
}
