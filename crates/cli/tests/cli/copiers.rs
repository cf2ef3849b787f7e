//! Policies of devices beside the others.

use std::fmt::Write as _;

use serde_json::Value;

use crate::common::{run, workspace};

/// The results of a command, which succeeds.
fn results(arguments: &[&str]) -> Value {
    let (code, text, error) = run(arguments);
    assert_eq!(code, 0, "{error}");
    serde_json::from_str(&text).unwrap()
}

const ENGINES: [&str; 3] = ["copy-engine-sync-nlb", "copy-engine-sync-wlb", "copy-engine-async"];

/// Each byte of a copy crosses the channel twice, as with non-temporal stores. Mixes on four cores: the energy per
/// instruction is that of the baseline, within 3 %.
#[test]
#[ignore = "seconds of CPU: `cargo xtask full` runs it"]
fn an_engine_saves_no_energy_against_non_temporal_stores() {
    let table = results(&[
        "reproduce",
        "multicore",
        "--programs",
        "generated",
        "--cores",
        "4",
        "--schedulers",
        "by-policy",
        "--policies",
        "copy-engine-sync-wlb,copy-engine-async",
        "--warm-up",
        "600000",
        "--instructions",
        "400000",
        "--set",
        "kernel.copy_loop=non-temporal",
        "--format",
        "json",
    ]);
    let methods = table["rows"][0]["methods"].as_array().unwrap();
    assert_eq!(methods.len(), 3);
    for method in &methods[1..] {
        let ratio = method["ratios"]["energy_per_instruction_nj"].as_f64().unwrap();
        assert!((ratio - 1.0).abs() < 0.03, "{}: {ratio}", method["method"]);
    }
}

/// Copies of pages, or of rows where two pages share one, of which no line is in a cache.
#[test]
fn an_asynchronous_engine_is_no_slower_with_copies_in_dram() {
    let scenario = workspace().join("traces/memcopy-on-cores.toml");
    for machine in ["paper", "zhao-2005-in-order", "zhao-2005-out-of-order"] {
        let runs = results(&[
            "run",
            scenario.to_str().unwrap(),
            "--set",
            &format!("machine=\"{machine}\""),
            "--set",
            "machine.kernel.copy_unit='row-set'",
            "--set",
            "workload.dirty_share=0.0",
            "--set",
            "policies=['copy-engine-async','copy-engine-async-rowclone']",
            "--set",
            "workload.bytes='64KiB'",
            "--no-baseline",
            "--format",
            "json",
        ]);
        let [plain, in_dram] = [0, 1].map(|index| runs[index]["latency_ns"].as_f64().unwrap());
        assert!(in_dram <= plain, "{machine}: {in_dram} ns, and {plain} ns without");
    }
}

/// All policies of devices on a program with page faults, copies and a fork; loads are checked. Each has the figures of
/// copiers, and a break-even size or none.
#[test]
fn the_first_screen_has_the_figures_of_copiers() {
    let devices: Vec<&str> = ENGINES.into_iter().chain(["dma"]).collect();
    let in_dram: Vec<String> = devices.iter().map(|device| format!("{device}-rowclone")).collect();
    let policies = devices.into_iter().chain(in_dram.iter().map(String::as_str)).collect::<Vec<_>>().join(",");
    let program = workspace().join("traces/programs/fork.program");
    let (code, text, error) = run(&["programs", program.to_str().unwrap(), "--policies", &policies, "--check"]);
    assert_eq!(code, 0, "{error}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for policy in policies.split(',').chain(["baseline"]) {
        assert_eq!(text.lines().filter(|line| line.starts_with(&format!("{policy} "))).count(), 1, "{policy}: {text}");
    }
    for words in ["CPU", "misses", "energy", "KiB", "break-even size, from which"] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

/// Dependent loads of random lines of 64 MiB on cores of both orders. An access lasts from the end of the lookup in the
/// L2 to the data: 80 ns in the paper, within 2 %.
#[test]
fn the_mean_access_of_the_machines_of_zhao_et_al_is_that_of_the_paper() {
    const LOADS: u64 = 10_000;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("random.program");
    let (mut state, mut text) = (1_u64, "map 0x10000000 67108864\npresent 0x10000000 67108864\ncompute 1\n".to_owned());
    for _ in 0..LOADS {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        writeln!(text, "load {:#x} after 1", 0x1000_0000 + (state >> 44) * 64).expect("a string takes it");
    }
    std::fs::write(&path, text).unwrap();
    for machine in ["zhao-2005-in-order", "zhao-2005-out-of-order"] {
        let table = results(&[
            "programs",
            path.to_str().unwrap(),
            "--machine",
            machine,
            "--policies",
            "baseline",
            "--format",
            "json",
        ]);
        let core = &table["methods"][0]["report"]["cores"][0];
        let (cycles, misses) = (core["cycles"].as_f64().unwrap(), core["accesses"][0]["misses"].as_f64().unwrap());
        // Each load looks the L2 up for 15 cycles of a third of a nanosecond.
        let mean_ns = (cycles - LOADS as f64 * 15.0) / misses / 3.0;
        assert!((mean_ns / 80.0 - 1.0).abs() < 0.02, "{machine}: {mean_ns} ns");
    }
}
