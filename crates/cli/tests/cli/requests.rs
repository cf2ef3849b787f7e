//! `--request N` of `explain plan`, `explain energy` and `explain timeline`, on workloads, traces and operations.

use crate::common::{program, run};

/// What `explain` prints, without an error.
#[track_caller]
fn explained(arguments: &[&str]) -> String {
    let (code, stdout, stderr) = run(&[&["explain"], arguments].concat());
    assert_eq!(code, 0, "{stderr}");
    stdout
}

#[track_caller]
fn refused(arguments: &[&str], message: &str, help: &str) {
    let (code, stdout, stderr) = run(&[&["explain"], arguments].concat());
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert_eq!(stderr, format!("error: {message}\nhelp: {help}\n"));
}

#[test]
fn a_plan_of_a_workload_is_that_of_its_first_copy_with_each_placement() {
    let plan = explained(&["plan", "traces/fork.toml"]);
    assert!(
        plan.contains("\nrequest 0, buddy: copy ") && plan.contains("\nrequest 0, subarray-aware: copy "),
        "{plan}"
    );
    assert!(plan.contains("source and destination lie in different"), "{plan}");
    // Reads and writes come first here.
    let plan = explained(&["plan", "traces/mixed.toml", "--set", "workload.count=2000"]);
    let number: u64 = plan.split("\nrequest ").nth(1).unwrap().split(':').next().unwrap().parse().unwrap();
    assert!(number > 0, "{plan}");
}

#[test]
fn a_request_is_chosen_by_its_number() {
    let one = |number: &str| explained(&["plan", "traces/fork.toml", "--request", number]);
    assert!(one("3").contains("\nrequest 3, buddy: ") && one("3") != one("0").replace("request 0", "request 3"));
    assert_eq!(one("0"), explained(&["plan", "traces/fork.toml"]), "the first request of a fork copies");
    let recorded = explained(&["plan", "traces/recorded.toml", "--request", "5"]);
    assert!(recorded.contains("\nrequest 5, as-recorded: "), "{recorded}");
    let listed = explained(&["plan", "traces/page-copy.toml", "--request", "1"]);
    assert!(listed.contains("\ncopy 4 KiB, other-bank: ") && !listed.contains("same-bank"), "{listed}");
}

#[test]
fn the_energy_of_a_request_of_a_workload_is_itemized() {
    let energy = explained(&["energy", "traces/fork.toml", "--set", "allocator.policies=[\"subarray-aware\"]"]);
    assert!(energy.contains("\nrequest 0, subarray-aware, policy rowclone, fpm: 48 clocks\n"), "{energy}");
    assert!(energy.contains("policy baseline, channel: "), "{energy}");
}

#[test]
fn a_timeline_begins_with_the_request() {
    let sets = ["--set", "policies=[\"rowclone\"]", "--set", "allocator.policies=[\"subarray-aware\"]", "--count", "4"];
    let text = explained(&[&["timeline", "traces/fork.toml", "--request", "3"], &sets[..]].concat());
    let taken = text.lines().find(|line| line.starts_with("request 3, accepted in cycle ")).unwrap();
    let taken: u64 = taken.split(" cycle ").nth(1).unwrap().split(':').next().unwrap().parse().unwrap();
    let first = text.lines().skip_while(|line| !line.trim_start().starts_with('#')).nth(1).unwrap();
    let cycle: u64 = first.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(taken > 0 && (taken..taken + 200).contains(&cycle), "{text}");
}

#[test]
fn a_request_that_is_not_there_is_refused_with_their_number() {
    refused(
        &["plan", "traces/page-copy.toml", "--request", "4"],
        "traces/page-copy.toml: lists 4 operations, and none of number 4",
        "requests count from 0: give `--request` a number from 0 to 3",
    );
    refused(
        &["energy", "traces/stream.toml", "--set", "workload.count=100", "--request", "100"],
        "traces/stream.toml: baseline has 100 requests, and none of number 100",
        "requests count from 0: give `--request` a number from 0 to 99",
    );
    refused(
        &["plan", "traces/stream.toml", "--set", "workload.count=100"],
        "traces/stream.toml: none of the 100 requests of baseline copies or initializes",
        "`--request 0` explains the first request",
    );
}

/// As of a pipe: 80 columns, unless `COLUMNS` has another number.
#[test]
fn what_is_explained_keeps_to_the_width_of_the_terminal() {
    let policies = "policies=[\"rowclone\", \"fastest\", \"least-energy\", \"psm-only\", \"baseline\"]";
    let system = "configs/ddr3-1066-paper-line-interleaved.toml";
    let all = [
        &["plan", "traces/unaligned.toml"][..],
        &["plan", "traces/page-copy.toml", "--set", policies],
        &["plan", "traces/recorded.toml"],
        &["energy", "traces/unaligned.toml"],
        &["energy", "traces/fork.toml", "--set", "system.geometry.ranks=2"],
        &["timeline", "traces/page-copy.toml"],
        &["timeline", "traces/mixed.toml", "--from", "50us", "--count", "40"],
        &["timeline", "traces/fork.toml", "--request", "3"],
        &["rules"],
        &["rules", "--bin", "2133N"],
        &["address", "0x400000", "--system", system],
        &["address", "0xffffffff", "--system", system],
    ];
    for arguments in all {
        for width in [80, 60] {
            let arguments = [&["explain"], arguments].concat();
            let output = program(&arguments).env("COLUMNS", width.to_string()).output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let wide = text.lines().find(|line| line.chars().count() > width);
            assert!(output.status.success() && wide.is_none(), "{arguments:?} in {width} columns: {wide:?}");
        }
    }
    let part = explained(&["plan", "traces/unaligned.toml", "--request", "0"]);
    let first = part.lines().find(|line| line.starts_with("0 ")).unwrap().split_whitespace().collect::<Vec<_>>();
    assert_eq!(first[..2], ["0", "59"], "parts count from 0: {part}");
}
