//! Why parts were served as they were, and the latencies of listed operations.

use std::collections::BTreeSet;

use serde_json::Value;

use super::common::{Directory, run};

/// A page that FPM can copy, one that PSM can, one that only the channel can; a read, and writes of a whole line and of
/// half a line.
const OPERATIONS: &str = r#"system = "system.toml"
policies = ["baseline", "fpm-only", "psm-only", "rowclone"]
seed = 1
operation = [
    { kind = "copy", src = "same-subarray", dst = 0x0040_0000, bytes = 4096 },
    { kind = "copy", src = "other-bank", dst = 0x0080_0000, bytes = 4096 },
    { kind = "copy", src = 0x0100_0020, dst = 0x00c0_0000, bytes = 4096 },
    { kind = "read", dst = 0x0140_0000, bytes = 64 },
    { kind = "write", dst = 0x0180_0000, bytes = 64 },
    { kind = "write", dst = 0x01c0_0000, bytes = 32 },
]
"#;

fn results(scenario: &str) -> Vec<Value> {
    let directory = Directory::sound();
    std::fs::write(directory.path("scenario.toml"), scenario).unwrap();
    let (code, json, message) = run(&["run", directory.path("scenario.toml").to_str().unwrap(), "--format", "json"]);
    assert_eq!(code, 0, "{message}");
    serde_json::from_str(&json).unwrap()
}

#[test]
fn a_reason_is_against_the_first_mechanism_that_the_policy_admits() {
    let expected = [
        ("baseline", vec![("channel", "policy")]),
        ("fpm-only", vec![("fpm", ""), ("channel", "other-bank"), ("channel", "line-misaligned")]),
        ("psm-only", vec![("psm2", "same-bank"), ("psm", ""), ("channel", "line-misaligned")]),
        ("rowclone", vec![("fpm", ""), ("psm", "other-bank"), ("channel", "line-misaligned")]),
    ];
    for (result, (policy, expected)) in results(OPERATIONS).iter().zip(expected) {
        assert_eq!(result["policy"], policy);
        for rows in [&result["served"], &result["parts"]] {
            // Parts that it served have no reason.
            let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
            let pairs = rows.as_array().unwrap().iter().map(|row| (text(row, "mechanism"), text(row, "reason")));
            let expected = expected.iter().map(|&(mechanism, reason)| (mechanism.to_owned(), reason.to_owned()));
            assert_eq!(pairs.collect::<BTreeSet<_>>(), expected.collect(), "{policy}");
        }
    }
}

#[test]
fn reads_and_writes_have_no_mechanism_and_no_reason() {
    for result in results(OPERATIONS) {
        let operations = result["operations"].as_array().unwrap();
        for (index, operation) in operations.iter().enumerate() {
            let is_copy = index < 3;
            assert_eq!(!operation["mechanism"].as_str().unwrap().is_empty(), is_copy, "{operation}");
            for key in ["reasons", "fix"] {
                assert!(is_copy || operation[key].as_array().unwrap().is_empty(), "{operation}");
            }
            let first = if result["policy"] == "psm-only" { "psm" } else { "fpm" };
            let has_reason = is_copy && operation["mechanism"] != first;
            assert_eq!(!operation["reasons"].as_array().unwrap().is_empty(), has_reason, "{operation}");
        }
    }
}

/// Two reads of one bank arrive together: the second waits for the row of the first.
#[test]
fn the_latency_of_a_read_counts_from_its_arrival() {
    let scenario = r#"system = "system.toml"
policies = ["baseline"]
seed = 1
operation = [
    { kind = "read", dst = 0x0040_0000, bytes = 64, at_cycle = 100 },
    { kind = "read", dst = 0x0080_0000, bytes = 64, at_cycle = 100 },
]
"#;
    let results = results(scenario);
    let latencies: Vec<u64> = results[0]["operations"].as_array().unwrap().iter().map(latency).collect();
    // ACT, RD after tRCD = 8, data after CL = 8, four clocks long; the command of the cycle of its arrival.
    assert_eq!(latencies[0], 20);
    // ACT at 100; PRE after tRAS = 20, ACT after tRP = 8, then the same.
    assert_eq!(latencies[1], 48);
    assert_eq!(results[0]["read_latency_cycles"]["max"], latencies[1]);
}

fn latency(operation: &Value) -> u64 {
    operation["latency_cycles"].as_u64().unwrap()
}
