//! The shipped workloads: each runs, is legal, leaves memory as a flat array would, and shows what its comment says.

use serde_json::Value;

use crate::common::run;

/// A run of a shipped scenario, made smaller, on a memory of 1 GiB.
fn play(name: &str, sets: &[&str]) -> Vec<Value> {
    let file = format!("traces/{name}.toml");
    let small = ["system.device.density_gb=1", "system.geometry.channels=1"];
    let sets = small.iter().chain(sets).flat_map(|set| ["--set", *set]);
    let (code, stdout, stderr) =
        run(&["run", &file, "--check", "--format", "json"].into_iter().chain(sets).collect::<Vec<_>>());
    assert_eq!(code, 0, "{stderr}");
    let reports: Vec<Value> = serde_json::from_str(&stdout).unwrap();
    for report in &reports {
        assert_eq!(report["check"]["violations"], 0, "{name}");
        assert_eq!(report["check"]["memory_equal"], true, "{name}");
        // Copies and initializations together are what the controller tallies.
        let rows = |list: &str| report[list].as_array().unwrap().clone();
        for row in rows("parts") {
            let same = |it: &Value| (it["mechanism"] == row["mechanism"]) && (it["reason"] == row["reason"]);
            let parts = rows("served").into_iter().filter(same);
            let sum: u64 = parts.map(|it| it["bytes"].as_u64().unwrap()).sum();
            assert_eq!(row["bytes"], sum, "{name}: {row}");
        }
    }
    reports
}

fn share(report: &Value, mechanism: &str) -> f64 {
    report["allocator"]["copies"]["share_by_mechanism"][mechanism].as_f64().unwrap()
}

#[test]
fn a_fork_copies_by_fpm_where_the_allocator_looks_at_subarrays() {
    let reports = play("fork", &["workload.pages=100"]);
    let labels: Vec<_> =
        reports.iter().map(|it| [&it["policy"], &it["placement"]].map(|it| it.as_str().unwrap())).collect();
    let expected =
        [["baseline", "buddy"], ["baseline", "subarray-aware"], ["rowclone", "buddy"], ["rowclone", "subarray-aware"]];
    assert_eq!(labels, expected);
    for report in &reports {
        assert_eq!(report["requests"], 200, "a copy and a write each");
        assert_eq!(report["allocator"]["copies"]["frames_by_cause"]["copy-on-write"], 100);
        assert_eq!(report["copy_latency_ns"]["count"], 100);
    }
    let [_, channel, buddy, aware] = &reports[..] else { panic!("four") };
    assert!((share(aware, "fpm") - 1.0).abs() < 1e-12 && share(buddy, "fpm") < 0.1);
    // What the allocator says of its copies is what the controller did with them.
    assert_eq!(aware["parts"][0]["mechanism"], "fpm");
    assert_eq!(aware["parts"][0]["count"], 100);
    for key in ["makespan_ns", "energy_nj"] {
        assert!(aware[key].as_f64() < buddy[key].as_f64() && aware[key].as_f64() < channel[key].as_f64(), "{key}");
    }
    assert_eq!(aware["channel_bytes"], 100 * 64, "the child's own writes");
}

#[test]
fn checkpoints_clones_and_migrations_are_counted_by_their_cause() {
    let one = "allocator.policies=[\"subarray-aware\"]";
    for (name, cause, frames) in
        [("checkpoint", "checkpoint", 2 * 16), ("clone", "clone", 16), ("migration", "migration", 8)]
    {
        let mut sets = vec![one, "policies=[\"rowclone\"]", "workload.bytes=65536"];
        sets.extend((name == "migration").then_some("workload.pages=8"));
        let reports = play(name, &sets);
        let allocator = &reports[0]["allocator"];
        assert_eq!(allocator["copies"]["frames_by_cause"][cause], frames, "{name}");
        assert_eq!(reports[0]["copy_latency_ns"]["count"], frames, "{name}");
    }
    let to = ["workload.to=near-source", one, "policies=[\"rowclone\"]", "workload.bytes=65536", "workload.pages=8"];
    assert!((share(&play("migration", &to)[0], "fpm") - 1.0).abs() < 1e-12);
}

/// Sixteen pages, all of them merged and then written to: each is read on both sides, and copied.
#[test]
fn merged_pages_are_read_and_then_copied_by_their_cause() {
    let sets = ["policies=[\"rowclone\"]", "workload.bytes=65536", "workload.pages=16", "workload.writes=16"];
    let reports = play("dedup", &sets);
    for report in &reports {
        assert_eq!(report["allocator"]["copies"]["frames_by_cause"]["dedup-undo"], 16);
        assert_eq!((&report["copy_latency_ns"]["count"], &report["requests"]), (&16.into(), &(16 * 130).into()));
        assert_eq!(report["read_latency_ns"]["count"], 16 * 128);
    }
    let [buddy, aware] = &reports[..] else { panic!("two allocators") };
    assert!((share(aware, "fpm") - 1.0).abs() < 1e-12 && share(buddy, "fpm") < 0.5);
}

#[test]
fn freed_memory_is_zeroed_in_dram_or_over_the_channel() {
    let reports = play("zero-on-free", &["workload.bytes=65536", "workload.processes=3"]);
    for report in &reports {
        let zeroings = &report["allocator"]["zeroings"];
        assert_eq!((&zeroings["frames_by_cause"]["zero-on-free"], &zeroings["frames"]), (&48.into(), &48.into()));
        assert_eq!(report["allocator"]["before"]["free_frames"], report["allocator"]["after"]["free_frames"]);
    }
    let [channel, _, rule, _] = &reports[..] else { panic!("two policies, two allocators") };
    assert!(rule["makespan_ns"].as_f64() < channel["makespan_ns"].as_f64());
}

/// With rows of 8 KB, two frames share a row: both are copied by FPM, one is not. A page is the default.
#[test]
fn copy_units_decide_whether_frames_that_share_a_row_go_by_fpm() {
    for (unit, fpm) in [("allocator.copy_unit=row-set", 1.0), ("allocator.copy_unit=page", 0.0), ("seed=1", 0.0)] {
        let sets = ["policies=[\"rowclone\"]", "workload.pages=20", "system.geometry.row_bytes=8192", unit];
        let aware = &play("fork", &sets)[1];
        assert!(
            (aware["allocator"]["copies"]["share_by_mechanism"]["fpm"].as_f64().unwrap_or(0.0) - fpm).abs() < 1e-12
        );
    }
}

#[test]
fn accesses_are_counted_by_what_they_are() {
    let stream = &play("stream", &["workload.count=2_000", "workload.pattern=rrw"])[0];
    let total = |report: &Value, kind: &str| {
        ["row_hits", "row_misses", "row_conflicts"].iter().map(|it| report[kind][it].as_u64().unwrap()).sum::<u64>()
    };
    let forwarded = stream["forwarded"].as_u64().unwrap();
    assert_eq!((total(stream, "reads") + forwarded, total(stream, "writes")), (1334, 666));
    assert_eq!(stream["channel_bytes"], (2_000 - forwarded) * 64);
    let random = &play("random", &["workload.count=2_000", "workload.bytes=512MiB"])[0];
    assert_eq!(random["requests"], 2_000);
    assert_eq!(
        random["read_latency_ns"]["count"].as_u64().unwrap() + random["write_latency_ns"]["count"].as_u64().unwrap(),
        2_000
    );
    assert!(total(random, "writes") > 500 && total(random, "writes") < 700);
    let copies = &play("page-copies", &["workload.count=50", "policies=[\"rowclone\"]"])[0];
    assert_eq!((&copies["requests"], &copies["parts"][0]["mechanism"]), (&Value::from(50), &Value::from("fpm")));
}

#[test]
fn a_bound_on_copies_shortens_what_reads_wait_for_them() {
    let mixed = |sets: &[&str]| {
        let all: Vec<&str> = ["workload.count=5_000", "policies=[\"baseline\"]"].iter().chain(sets).copied().collect();
        play("mixed", &all)[0]["blocked_by_copies_cycles"]["max"].as_u64().unwrap()
    };
    assert!(mixed(&[]) > 264);
    assert!(mixed(&["system.controller.copy_hold_max_cycles=200"]) <= 264);
}
