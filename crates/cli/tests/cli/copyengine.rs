//! `reproduce copyengine`: what holds of the gains of the copy engine on the machines of its paper.

use std::sync::LazyLock;

use serde_json::Value;

use crate::common::{json, run};

/// What `FEW` gives.
static TABLE: LazyLock<Value> = LazyLock::new(|| json(&FEW));

/// Few packets, all of which find the L2 as it was at the start.
const FEW: [&str; 6] = ["reproduce", "copyengine", "--packets", "20", "--warm-up", "8"];

fn of(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("no {key} in {value}"))
}

/// With half, once and twice the instructions. Parts of the reductions and times of copies are consistent in
/// each row.
#[test]
#[ignore = "seconds of CPU: `cargo xtask full` runs it"]
fn modes_and_cores_have_the_published_order() {
    let orderings = TABLE["orderings"].as_array().unwrap();
    let held: Vec<&Value> = orderings
        .iter()
        .filter(|it| {
            ["sync-nlb < sync-wlb < async", "out-of-order < in-order"].contains(&it["ordering"].as_str().unwrap())
        })
        .collect();
    assert_eq!((orderings.len(), held.len()), (12, 6));
    for ordering in held {
        assert_eq!(ordering["failed"], Value::Array(Vec::new()), "{ordering}");
    }
    let rows = TABLE["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 18);
    for row in rows {
        assert!(of(row, "base") > of(row, "base_without_copies"), "{row}");
        for mode in row["modes"].as_array().unwrap() {
            let [cycles, copy, overlapped] = ["cycles", "copy", "overlapped"].map(|key| of(mode, key));
            assert!(0.0 < overlapped && overlapped < copy && copy <= cycles * 1.02, "{row}");
            // What no other instruction uses of a copy is added to the rest.
            assert!(cycles >= of(row, "base_without_copies") - overlapped, "{row}");
        }
    }
    let published = TABLE["published"].as_array().unwrap().iter().flat_map(|row| row.as_array().unwrap().clone());
    let cells = published.flat_map(|row| row.as_array().unwrap().clone()).filter(|cell| !cell.is_null()).count();
    assert_eq!((cells, TABLE["cells_within"][2].as_u64()), (17, Some(17)), "the misprinted cell is left out");
}

/// Twice the bandwidth shortens every mode, and a longer latency no mode.
#[test]
#[ignore = "seconds of CPU: `cargo xtask full` runs it"]
fn a_faster_memory_shortens_every_mode() {
    let times = |figure: &str, run: usize| -> Vec<f64> {
        let times = TABLE[figure][run]["packet_ns"].as_array().unwrap();
        times.iter().map(|time| time.as_f64().unwrap()).collect()
    };
    let [slow, fast] = [0, 1].map(|run| times("bandwidths", run));
    assert!(slow.len() == 4 && slow.iter().zip(&fast).all(|(slow, fast)| fast < slow), "{slow:?} {fast:?}");
    let [longest, _, own] = [0, 1, 2].map(|run| times("latencies", run));
    assert_eq!(own, slow, "one machine");
    assert!(longest.iter().zip(&own).all(|(long, own)| *long > own * 0.99), "{longest:?} {own:?}");
}

#[test]
fn loads_and_commands_are_right_in_every_mode() {
    let few = ["reproduce", "copyengine", "--packets", "4", "--warm-up", "4", "--check"];
    let (code, text, error) = run(&few);
    assert_eq!(code, 0, "{error}");
    assert!(
        text.contains("without the misprinted cell") && text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
}

#[test]
fn a_program_that_cannot_be_is_an_error_with_its_line() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "[packets]\nheader_bytes = 0\n").unwrap();
    let path = file.path().to_str().unwrap();
    let (code, _, error) = run(&["reproduce", "copyengine", "--program", path]);
    assert_eq!(code, 2);
    assert!(error.contains(":2: `packets.header_bytes` is 0, but must be from 1 to 4096"), "{error}");
}
