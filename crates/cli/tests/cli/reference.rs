//! The reference of speedup and energy ratio: the policy `baseline` under the reference allocator, wherever ratios
//! appear.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::common::{Directory, run, workspace};

/// A child writes 48 of 64 pages in an aged memory, which is smaller than the shipped one for the sake of time.
const FORK: [&str; 3] = ["workload.bytes=0x40000", "workload.pages=48", "system.device.density_gb=1"];

/// The results of the shipped fork, smaller and with these changes.
fn fork(sets: &[&str], more: &[&str]) -> Vec<Value> {
    let scenario = workspace().join("traces/fork.toml");
    let sets = FORK.iter().chain(sets).flat_map(|set| ["--set", set]);
    let arguments = ["run", scenario.to_str().unwrap(), "--format", "json"].into_iter().chain(sets);
    let (code, text, message) = run(&arguments.chain(more.iter().copied()).collect::<Vec<_>>());
    assert_eq!(code, 0, "{message}");
    serde_json::from_str(&text).unwrap()
}

fn of<'a>(results: &'a [Value], policy: &str, placement: &str) -> &'a Value {
    let wanted = |result: &&Value| result["policy"] == policy && result["placement"] == placement;
    results.iter().find(wanted).unwrap()
}

fn number(result: &Value, key: &str) -> f64 {
    result[key].as_f64().unwrap()
}

/// The ratios of a result are those of two values, of which the reference has the first.
#[track_caller]
fn assert_compared(result: &Value, reference: &Value, name: &str) {
    assert_eq!(result["reference"], name);
    for (ratio, value) in [("speedup", "latency_ns"), ("energy_ratio", "dynamic_energy_nj")] {
        let expected = number(reference, value) / number(result, value);
        assert!((number(result, ratio) / expected - 1.0).abs() < 1e-12, "{ratio} of {}", result["policy"]);
    }
}

#[test]
fn ratios_refer_to_buddy_whatever_the_order_of_the_allocators_is() {
    let listed = fork(&[], &[]);
    let buddy = of(&listed, "baseline", "buddy");
    for result in &listed {
        assert_compared(result, buddy, "baseline/buddy");
    }
    assert_eq!((number(buddy, "speedup"), number(buddy, "energy_ratio")), (1.0, 1.0));
    let aware = of(&listed, "baseline", "subarray-aware");
    assert!(number(aware, "speedup") < 0.95, "its frames cost copies over the channel time: {}", aware["speedup"]);
    let reversed =
        fork(&["allocator.policies=[\"subarray-aware\",\"buddy\"]", "policies=[\"rowclone\",\"baseline\"]"], &[]);
    assert_eq!((&reversed[0]["policy"], &reversed[0]["placement"]), (&"rowclone".into(), &"subarray-aware".into()));
    for result in &reversed {
        let same = of(&listed, result["policy"].as_str().unwrap(), result["placement"].as_str().unwrap());
        for key in ["reference", "speedup", "energy_ratio"] {
            assert_eq!(result[key], same[key], "{key}");
        }
    }
}

#[test]
fn a_reference_that_is_not_listed_runs_for_the_ratios() {
    let only = ["allocator.policies=[\"subarray-aware\"]", "policies=[\"rowclone\"]"];
    let (listed, alone) = (fork(&[], &[]), fork(&only, &[]));
    assert_eq!(alone.len(), 1);
    assert_compared(&alone[0], of(&listed, "baseline", "buddy"), "baseline/buddy");
    // Listed baselines of other allocators are no reference, and none runs with `--no-baseline`.
    for sets in [&only[..], &only[..1]] {
        for result in fork(sets, &["--no-baseline"]) {
            let ratios = ["reference", "speedup", "energy_ratio"];
            assert!(ratios.iter().all(|key| result[*key].is_null()), "{result}");
        }
    }
}

#[test]
fn another_reference_allocator_is_chosen_by_its_key() {
    let results = fork(&["reference.allocator=subarray-aware"], &[]);
    let reference = of(&results, "baseline", "subarray-aware");
    for result in &results {
        assert_compared(result, reference, "baseline/subarray-aware");
    }
    assert!(number(of(&results, "baseline", "buddy"), "speedup") > 1.05);
    let unlisted = fork(&["reference.allocator=sequential"], &[]);
    assert!(unlisted.iter().all(|result| result["reference"] == "baseline/sequential"));
    assert!(unlisted.iter().all(|result| result["placement"] != "sequential"));
}

#[test]
fn pages_as_recorded_are_compared_with_pages_as_recorded() {
    let trace = workspace().join("traces/samples/arrivals.trace");
    let trace = trace.to_str().unwrap();
    let sets = ["workload.placement=['as-recorded','allocator']", "allocator.policies=['subarray-aware']"];
    let arguments = ["run", "--trace", trace, "--set", sets[0], "--set", sets[1]];
    let (code, text, message) = run(&[&arguments[..], &["--format", "json"]].concat());
    assert_eq!(code, 0, "{message}");
    let results: Vec<Value> = serde_json::from_str(&text).unwrap();
    for policy in ["baseline", "rowclone"] {
        assert_compared(
            of(&results, policy, "as-recorded"),
            of(&results, "baseline", "as-recorded"),
            "baseline/as-recorded",
        );
        assert_eq!(of(&results, policy, "subarray-aware")["reference"], "baseline/buddy");
    }
    let (_, screen, _) = run(&arguments);
    let line = "\nreferences, by placement: baseline/as-recorded, baseline/buddy\n";
    assert!(screen.contains(line), "{screen}");
}

/// At each point, a row refers to the reference of this point, whether or not the reference has a row.
#[test]
fn rows_of_a_sweep_refer_to_the_reference_of_their_point() {
    let directory = Directory::sound();
    let scenario = workspace().join("traces/fork.toml");
    let path = |name: &str| directory.path(name).to_str().unwrap().to_owned();
    let table = |name: &str, set: &str| -> Vec<BTreeMap<String, String>> {
        let text = format!(
            "scenario = {:?}\nset = {{ \"workload.bytes\" = 0x40000, \"system.device.density_gb\" = 1, {set} \
                }}\n[[axis]]\nname = \"pages\"\n\
             key = \"workload.pages\"\nvalues = [16, 48]\n",
            scenario.to_str().unwrap()
        );
        fs::write(directory.path("sweep.toml"), text).unwrap();
        let (code, _, message) = run(&["sweep", &path("sweep.toml"), "--out", &path(name)]);
        assert_eq!(code, 0, "{message}");
        csv::Reader::from_path(directory.path(name).join("results.csv"))
            .unwrap()
            .deserialize()
            .map(Result::unwrap)
            .collect()
    };
    let both = table("both", "policies = [\"baseline\", \"rowclone\"]");
    assert_eq!(both.len(), 2 * 4);
    for rows in both.chunks(4) {
        let reference = rows.iter().find(|row| row["policy"] == "baseline" && row["placement"] == "buddy").unwrap();
        for row in rows {
            assert_eq!(row["reference"], "baseline/buddy");
            for (ratio, value) in [("speedup", "latency_ns"), ("energy_ratio", "dynamic_energy_nj")] {
                let [found, of, to] =
                    [&row[ratio], &reference[value], &row[value]].map(|cell| cell.parse::<f64>().unwrap());
                assert!((found * to / of - 1.0).abs() < 1e-12, "{ratio}: {row:?}");
            }
        }
    }
    let one = table("one", "policies = [\"rowclone\"], \"allocator.policies\" = [\"subarray-aware\"]");
    assert_eq!(one.len(), 2);
    for row in &one {
        let same = |other: &&BTreeMap<String, String>| {
            ["pages", "policy", "placement"].iter().all(|key| other[*key] == row[*key])
        };
        let listed = both.iter().find(same).unwrap();
        for key in ["reference", "speedup", "energy_ratio", "digest"] {
            assert_eq!(row[key], listed[key], "{key}");
        }
    }
}
