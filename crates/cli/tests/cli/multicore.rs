//! `reproduce multicore`, regions and memory traces of `programs`, and the machine of all targets.

use assert_cmd::Command;
use serde_json::Value;

use crate::common::{json, workspace};

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("rowclone-sim").unwrap();
    command.current_dir(workspace()).args(arguments);
    command
}

fn output(arguments: &[&str]) -> String {
    String::from_utf8(command(arguments).assert().success().get_output().stdout.clone()).unwrap()
}

fn message(arguments: &[&str]) -> String {
    String::from_utf8(command(arguments).assert().code(2).get_output().stderr.clone()).unwrap()
}

/// A mix of 2 cores, in a second.
const SMALL: [&str; 12] = [
    "reproduce",
    "multicore",
    "--programs=generated",
    "--cores",
    "2",
    "--mixes",
    "1",
    "--schedulers",
    "bliss",
    "--warm-up",
    "5000",
    "--instructions=40000",
];

/// The gains of RowClone-ZI on each number of cores. Shorter than the default, under one scheduler: the caches are full
/// after the warm-up.
fn gains_of_zero_lines(cores: &str) -> Vec<f64> {
    let mixes = ["reproduce", "multicore", "--programs", "generated", "--schedulers", "fr-fcfs", "--cores", cores];
    let table = json(&[&mixes[..], &["--warm-up", "600000", "--instructions", "200000"]].concat());
    assert_eq!(table["machine"], "paper");
    let rows = table["rows"].as_array().unwrap();
    let ratio = |row: &Value, method: usize, figure: &str| row["methods"][method]["ratios"][figure].as_f64().unwrap();
    let gains: Vec<f64> = rows.iter().map(|row| ratio(row, 3, "weighted_speedup")).collect();
    for (row, gain) in rows.iter().zip(&gains) {
        assert_eq!(["baseline", "controller-copy", "rowclone", "rowclone-zi"].map(Value::from), {
            [0, 1, 2, 3].map(|method: usize| row["methods"][method]["method"].clone())
        });
        let plain = ratio(row, 2, "weighted_speedup");
        assert!(*gain > plain && *gain > 1.0, "RowClone-ZI {gain}, RowClone {plain}");
        let energy = [1, 2, 3].map(|method| ratio(row, method, "energy_per_instruction_nj"));
        assert!((energy[0] - 1.0).abs() <= 0.05, "a copy of the controller saves no energy: {energy:?}");
        assert!(energy[2] < energy[1] && energy[1] < 1.0, "{energy:?}");
    }
    gains
}

#[test]
fn zero_lines_gain_more_than_plain_rowclone() {
    assert_eq!(gains_of_zero_lines("2").len(), 1);
}

#[test]
#[ignore = "a quarter of a minute of CPU: `cargo xtask full` runs it"]
fn gains_grow_with_the_cores() {
    let gains = gains_of_zero_lines("2,4,8");
    assert!(gains.len() == 3 && gains.is_sorted_by(|a, b| a < b), "RowClone-ZI at 2, 4 and 8 cores: {gains:?}");
}

#[test]
fn equal_seeds_give_equal_bytes() {
    let first = output(&[&SMALL[..], &["--format", "json"]].concat());
    assert_eq!(first, output(&[&SMALL[..], &["--format", "json"]].concat()));
    assert_ne!(first, output(&[&SMALL[..], &["--format", "json", "--seed", "2"]].concat()));
}

/// The metrics of each mix follow from the figures of its cores.
#[test]
fn figures_of_a_mix_agree_with_each_other() {
    let table = json(&[&SMALL[..], &["--check"]].concat());
    for method in table["rows"][0]["methods"].as_array().unwrap() {
        let run = &method["runs"][0];
        let cores = run["report"]["cores"].as_array().unwrap();
        let ipc: Vec<f64> = cores.iter().map(|core| core["ipc"].as_f64().unwrap()).collect();
        let alone: Vec<f64> = run["alone_ipc"].as_array().unwrap().iter().map(|ipc| ipc.as_f64().unwrap()).collect();
        let weighted: f64 = ipc.iter().zip(&alone).map(|(together, alone)| together / alone).sum();
        assert!((run["metrics"]["weighted_speedup"].as_f64().unwrap() - weighted).abs() < 1e-12);
        for core in cores {
            assert_eq!(core["instructions"], 40_000);
            assert!(core["bandwidth_gb_s"].as_f64().unwrap() > 0.0, "{core}");
            assert!(core["dynamic_energy_per_instruction_nj"].as_f64().unwrap() > 0.0, "{core}");
        }
        // One core ends its region later: the other one keeps running.
        let report = &run["report"];
        assert!(report["instructions"].as_u64().unwrap() > 80_000, "{report}");
        let dynamic: f64 =
            cores.iter().map(|core| core["dynamic_energy_per_instruction_nj"].as_f64().unwrap()).fold(0.0, f64::max);
        assert!(report["energy_per_instruction_nj"].as_f64().unwrap() < 3.0 * dynamic, "{report}");
    }
}

#[test]
fn a_trace_replaces_the_program_of_a_core() {
    let trace = "traces/samples/shell-rc.gz";
    let text = output(&[&SMALL[..], &["--trace", trace, "--details"]].concat());
    assert!(
        text.contains(&format!("core 0: {trace} (recorded behind a first-level cache: its core has no L1)")),
        "{text}"
    );
    assert!(
        text.contains(&format!("{trace} (recorded behind a first-level cache: its core has no L1), stream")),
        "{text}"
    );
    let three = [&SMALL[..], &["--trace", trace, "--trace", trace, "--trace", trace]].concat();
    assert!(message(&three).contains("3 traces are given for 2 cores"));
    assert!(message(&["reproduce", "multicore", "--cores", "3"]).contains("half of the cores"));
}

/// The picture has a mark per mix and number of cores, and the ends of a line per published mean.
#[test]
fn a_picture_shows_the_gain_of_each_mix_over_its_copy_share() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("gains.svg");
    let arguments = [&SMALL[..], &["--mixes=2", "--plot", path.to_str().unwrap()]].concat();
    let arguments: Vec<&str> = arguments.into_iter().filter(|argument| !["--mixes", "1"].contains(argument)).collect();
    let table = json(&arguments);
    let picture = std::fs::read_to_string(&path).unwrap();
    assert_eq!(picture.matches("<title>published: 2 cores").count(), 2, "{picture}");
    let of = |method: usize, mix: usize| table["rows"][0]["methods"][method]["runs"][mix].clone();
    for mix in [0, 1] {
        let weighted = |method| of(method, mix)["metrics"]["weighted_speedup"].as_f64().unwrap();
        let share = of(0, mix)["report"]["copy_share_of_channel_bytes"].as_f64().unwrap();
        let mark = |from: usize| picture.match_indices("<title>2 cores, ").nth(from).unwrap().0;
        let [first, second] = [0, 1].map(|place| picture[mark(place)..].split("</title>").next().unwrap().to_owned());
        let gain = format!("{:.3}", weighted(3) / weighted(0));
        let near = [&first, &second].into_iter().any(|title| title.contains(&gain[..4]));
        assert!(near && share > 0.0, "{gain}: {first} {second}");
    }
    let error = message(&arguments);
    assert!(error.contains("gains.svg: exists already"), "{error}");
    assert!(message(&["reproduce", "multicore", "--plot", "gains.txt"]).contains("SVG or a PNG"));
}

/// 1210 instructions, of which 210 are measured; each program also runs alone.
#[test]
fn several_programs_have_a_warm_up_and_metrics() {
    let program = "traces/programs/fork.program";
    let table = json(&["programs", program, program, "--warm-up", "1000", "--check"]);
    assert_eq!(table["alone_ipc"].as_array().unwrap().len(), 2);
    for row in table["methods"].as_array().unwrap() {
        assert_eq!(row["report"]["cores"][1]["instructions"], 210);
        let mix = &row["mix"];
        let of = |metric: &str| mix[metric].as_f64().unwrap();
        assert!(of("weighted_speedup") > 0.0 && of("harmonic_speedup") <= of("weighted_speedup") / 2.0 + 1e-9, "{mix}");
        assert!(of("maximum_slowdown") >= 1.0 / of("harmonic_speedup") - 1e-9, "{mix}");
    }
    let error = message(&["programs", program, "--warm-up", "1210"]);
    assert!(error.contains("ends after 1210 instructions, and 1211 are needed"), "{error}");
    assert!(json(&["programs", program])["methods"][0]["mix"].is_null(), "one program is no mix");
}

/// Memory traces with an L1 in the machine, which only the program trace uses; the trace of
/// last-level misses uses no cache.
#[test]
fn memory_traces_run_without_the_caches_behind_which_they_were_recorded() {
    let l1 = ["--set", "caches.l1_bytes=32KiB", "--set", "caches.l1_ways=8", "--set", "caches.l1_latency=4"];
    let programs =
        ["programs", "traces/samples/forkset-rc.gz", "traces/samples/403.gcc.gz", "traces/programs/fork.program"];
    let region = ["--warm-up", "10000", "--instructions", "50000", "--check"];
    let table = json(&[&programs[..], &region, &l1].concat());
    for row in table["methods"].as_array().unwrap() {
        let l1_hits = [0, 1, 2].map(|core: usize| {
            let accesses = row["report"]["cores"][core]["accesses"].as_array().unwrap();
            accesses.iter().map(|access| access["l1_hits"].as_u64().unwrap()).sum::<u64>()
        });
        assert!(l1_hits[0] == 0 && l1_hits[1] == 0 && l1_hits[2] > 0, "{l1_hits:?}");
        let uncached = &row["report"]["cores"][1]["accesses"][0];
        let [misses, hits, write_backs] =
            ["misses", "hits", "write_backs"].map(|count| uncached[count].as_u64().unwrap());
        assert!(misses > 0 && hits == 0 && write_backs == 0, "{uncached}");
        assert_eq!(row["report"]["cores"][2]["instructions"], 50_000, "the program begins again");
    }
    // Copies of whole pages get frames near their source, and are made in DRAM.
    let of = |method: usize, figure: &str| table["methods"][method]["report"]["cores"][0][figure].as_f64().unwrap();
    assert!(of(0, "copy_share_of_channel_bytes") > 0.8 && of(3, "copy_share_of_channel_bytes") < 0.2);
    assert!(of(3, "ipc") > 1.5 * of(0, "ipc"));
    let error = message(&["programs", "traces/samples/arrivals.trace"]);
    assert!(error.contains("the format `native`, whose records have no instructions"), "{error}");
}

/// All that the paper leaves open comes from the file: a target gives the bytes of the shipped
/// file, and others if the file has another value.
#[test]
#[ignore = "seconds of CPU: `cargo xtask full` runs it"]
fn every_target_runs_on_the_machine_of_the_paper() {
    let shipped = std::fs::read_to_string(workspace().join("configs/paper.toml")).unwrap();
    let system = workspace().join("configs/ddr3-1066-paper.toml");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("paper.toml");
    let machine = ["--machine", path.to_str().unwrap()];
    let targets: [&[&str]; 3] = [
        &["reproduce", "forkbench", "--mebibytes", "2", "--updates", "50"],
        &["reproduce", "zi", "--pages", "16"],
        &SMALL,
    ];
    let changes = [("core_clocks = 6", "core_clocks = 5"), ("last_level_latency = 15", "last_level_latency = 40")];
    for target in targets {
        let built_in = output(target);
        assert_eq!(built_in, output(&[target, &["--machine", "configs/paper.toml"]].concat()), "{target:?}");
        for (from, to) in changes {
            assert!(shipped.contains(from), "{from}");
            let text = shipped.replace(from, to).replace("ddr3-1066-paper.toml", system.to_str().unwrap());
            std::fs::write(&path, text).unwrap();
            assert_ne!(built_in, output(&[target, &machine].concat()), "{target:?}: {to}");
        }
    }
}
