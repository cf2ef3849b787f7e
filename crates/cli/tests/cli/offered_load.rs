//! Offered load: in ns, and above the service rate.

use serde_json::Value;

use super::common::{Directory, run};

fn with_scenario(workload: &str) -> Directory {
    let directory = Directory::sound();
    let scenario = format!("system = \"system.toml\"\npolicies = [\"baseline\"]\nseed = 1\n[workload]\n{workload}");
    std::fs::write(directory.path("scenario.toml"), scenario).unwrap();
    directory
}

fn result(directory: &Directory, sets: &[&str]) -> Value {
    let scenario = directory.path("scenario.toml");
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", *set]).collect();
    let (code, json, message) = run(&[&["run", scenario.to_str().unwrap(), "--format", "json"][..], &sets].concat());
    assert_eq!(code, 0, "{message}");
    serde_json::from_str::<Value>(&json).unwrap()[0].take()
}

const RANDOM: &str = "kind = \"random\"\ncount = 2000\nbytes = 0x100_0000\n";

/// 1999 gaps of 101.3 ns; the last read ends below 500 ns after its arrival.
#[test]
fn a_gap_in_ns_is_the_same_load_in_every_bin() {
    let directory = with_scenario(&format!("{RANDOM}gap_ns = 101.3\n"));
    for bin in ["1066G", "1333H", "1866M"] {
        let result = result(&directory, &[&format!("system.device.bin=\"{bin}\"")]);
        let ns = result["makespan_ns"].as_f64().unwrap();
        assert!((1999.0 * 101.3..1999.0 * 101.3 + 500.0).contains(&ns), "{bin}: {ns}");
        assert_eq!(result["backlog_requests"], 0, "{bin}");
    }
}

#[test]
fn a_gap_in_ns_is_checked() {
    let refused = |more: &str| with_scenario(&format!("{RANDOM}{more}")).scenario(&[]).unwrap_err();
    let (message, help) = refused("gap_cycles = 4\ngap_ns = 5\n");
    assert!(message.ends_with("`workload` has both `gap_cycles` and `gap_ns`"), "{message}");
    assert!(help.contains("with `gap_ns` the offered load is the same in every speed bin"), "{help}");
    let (message, _) = refused("gap_ns = -0.5\n");
    assert!(message.ends_with("`workload.gap_ns` is -0.5, but must be from 0 to 1000000000000"), "{message}");
    assert!(with_scenario(&format!("{RANDOM}gap_ns = 40\n")).scenario(&[]).is_ok(), "a whole number is a number");
}

const OVERLOAD: &str = "the offered load exceeds the service rate: when the last of ";

fn warning(result: &Value) -> Option<String> {
    let warnings = result["warnings"].as_array().unwrap().iter().map(|warning| warning.as_str().unwrap());
    warnings.filter(|warning| warning.contains(OVERLOAD)).map(str::to_owned).next()
}

#[test]
fn a_load_above_the_service_rate_is_a_warning_with_the_backlog() {
    let directory = with_scenario(RANDOM);
    let light = result(&directory, &["workload.gap_ns=200"]);
    assert_eq!((warning(&light), &light["backlog_requests"]), (None, &0.into()));
    let as_taken = result(&directory, &[]);
    assert_eq!((warning(&as_taken), &as_taken["backlog_wait_cycles"]), (None, &0.into()), "no load is offered");
    let heavy = result(&directory, &["workload.gap_cycles=1"]);
    let (backlog, wait) = (heavy["backlog_requests"].as_u64().unwrap(), heavy["backlog_wait_cycles"].as_u64().unwrap());
    assert!((1001..1999).contains(&backlog), "{backlog} of 2000 wait: a random access takes more than 2 clocks");
    // The last request arrives at 1999, and is taken once no more than the queues hold is left to be done.
    let end = heavy["makespan_cycles"].as_u64().unwrap();
    assert!(wait > 2000 && 1999 + wait < end, "{wait} of {end}");
    let ns = heavy["backlog_wait_ns"].as_f64().unwrap();
    assert!((ns - wait as f64 * 1.875).abs() < 1e-6);
    let thousands = |count: u64| format!("{},{:03}", count / 1000, count % 1000);
    let expected = format!(
        "baseline: {OVERLOAD}2,000 requests arrived, {} were waiting, and it waited {ns:.1} ns to be taken; latencies \
            grow with the \
         length of the run",
        thousands(backlog)
    );
    assert_eq!(warning(&heavy), Some(expected));
}

/// 1000 reads of one bank's rows, one per clock; and the same at their own pace.
#[test]
fn a_trace_that_arrives_too_fast_is_a_warning() {
    let directory = with_scenario("kind = \"trace\"\nfile = \"a.trace\"\n");
    let record = |n: u64, gap: u64| format!("R {:#x} @{}\n", n << 17, n * gap);
    let trace = |gap: u64| -> String { (0..1000).map(|n| record(n, gap)).collect() };
    for (gap, warns) in [(1, true), (100, false)] {
        std::fs::write(directory.path("a.trace"), trace(gap)).unwrap();
        let result = result(&directory, &[]);
        assert_eq!(warning(&result).is_some(), warns, "{result}");
        assert_eq!(result["backlog_requests"].as_u64().unwrap() > 800, warns, "{result}");
    }
}

#[test]
fn a_sweep_has_the_backlog_of_each_run() {
    let directory = with_scenario(RANDOM);
    let axis = "scenario = \"scenario.toml\"\n[[axis]]\nkey = \"workload.gap_ns\"\nvalues = [2, 200.0]\n";
    std::fs::write(directory.path("sweep.toml"), axis).unwrap();
    let (sweep, out) = (directory.path("sweep.toml"), directory.path("out"));
    let (code, _, message) = run(&["sweep", sweep.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    assert_eq!(code, 0, "{message}");
    let mut rows = csv::Reader::from_path(directory.path("out/results.csv")).unwrap();
    let header = rows.headers().unwrap().clone();
    let place = |name: &str| header.iter().position(|column| column == name).unwrap();
    let rows: Vec<csv::StringRecord> = rows.records().map(Result::unwrap).collect();
    let backlogs: Vec<u64> = rows.iter().map(|row| row[place("backlog_requests")].parse().unwrap()).collect();
    assert!(backlogs[0] > 1000 && backlogs[1] == 0, "{backlogs:?}");
    let warns: Vec<bool> = rows.iter().map(|row| row[place("warnings")].contains(OVERLOAD)).collect();
    assert_eq!(warns, [true, false]);
}
