//! Programs on cores in scenarios: the kinds, the policies, the columns, and the errors.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::common::{run, workspace};

const POLICIES: &str = "policies=['baseline','controller-copy','psm-only','rowclone','rowclone-zi']";

/// The shipped scenario with further arguments: exit code, standard output, standard error.
fn shipped(arguments: &[&str]) -> (i32, String, String) {
    let scenario = workspace().join("traces/memcopy-on-cores.toml");
    run(&[&["run", scenario.to_str().unwrap()], arguments].concat())
}

/// The message of a scenario with this text, which is refused.
fn refused(text: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("scenario.toml");
    let root = workspace().canonicalize().unwrap();
    fs::write(&path, text.replace("ROOT", root.to_str().unwrap()) + "\nseed = 1\n").unwrap();
    let (code, _, message) = run(&["run", path.to_str().unwrap()]);
    assert_eq!(code, 2, "{message}");
    message
}

#[test]
fn each_kind_passes_the_checks_under_every_policy() {
    let program = workspace().canonicalize().unwrap().join("traces/programs/fork.program");
    let program = program.display();
    let programs = format!("workload={{kind='programs',files=['{program}','{program}']}}");
    for workload in [
        "workload={kind='memcopy',bytes='32KiB',dirty_share=0.3}",
        "workload={kind='forkbench',bytes='1MiB',pages=50}",
        &programs,
    ] {
        let (code, text, message) = shipped(&["--check", "--format", "json", "--set", POLICIES, "--set", workload]);
        assert_eq!(code, 0, "{workload}: {message}");
        let results: Vec<Value> = serde_json::from_str(&text).unwrap();
        assert_eq!(results.len(), 5);
        for result in &results {
            let cores = &result["cores"];
            assert!(result["check"]["memory_equal"].as_bool().unwrap() && cores["wrong_load"].is_null(), "{workload}");
            assert_eq!(cores["cores"].as_array().unwrap().len(), if workload == programs { 2 } else { 1 });
            assert_eq!(result["baseline"], "a cached copy loop of 8-byte words, frames of `buddy`");
            let longest = cores["cores"].as_array().unwrap().iter().map(|core| core["cycles"].as_u64().unwrap()).max();
            assert_eq!(result["latency_cycles"].as_u64().unwrap(), longest.unwrap().div_ceil(6), "of 6 core cycles");
        }
        assert_eq!((&results[0]["speedup"], &results[0]["energy_ratio"]), (&1.0.into(), &1.0.into()));
    }
}

/// 16 pages of 64 lines, of which `dirty_share` are dirty; the loop writes nothing back in its region.
#[test]
fn dirty_lines_are_written_back_before_a_copy_in_dram() {
    for (share, lines) in [("0", 0), ("0.3", 307), ("1", 1024)] {
        let dirty = format!("workload.dirty_share={share}");
        let (_, text, _) = shipped(&["--format", "json", "--set", &dirty, "--set", "workload.bytes='64KiB'"]);
        let results: Vec<Value> = serde_json::from_str(&text).unwrap();
        let written = results.iter().map(|it| it["cores"]["cores"][0]["coherence_written_back"].as_u64().unwrap());
        assert_eq!(written.collect::<Vec<_>>(), [0, lines, lines, lines], "{share}");
    }
}

#[test]
fn the_first_screen_has_a_line_per_policy_and_names_the_baseline() {
    let (_, text, _) = shipped(&["--set", POLICIES, "--set", "workload.bytes='32KiB'"]);
    assert!(text.lines().count() <= 20 && text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let reference = "\nreference: baseline, a cached copy loop of 8-byte words, frames of `buddy`\n";
    assert!(text.contains(reference), "{text}");
    for policy in ["baseline ", "controller-copy ", "psm-only ", "rowclone ", "rowclone-zi "] {
        assert_eq!(text.lines().filter(|line| line.starts_with(policy)).count(), 1, "{policy}: {text}");
    }
    let (_, details, _) = shipped(&["--details", "--set", "workload.bytes='32KiB'"]);
    assert!(details.contains("stalls:") && details.contains("reference: baseline, a cached"), "{details}");
}

/// 64 pages on rows that two pages share. With units of pages FPM serves no copy; with row sets it serves all, of which
/// there are half as many with twice the dirty lines each.
#[test]
fn copies_of_row_sets_on_a_core_go_by_fpm() {
    let system = "machine.system='../configs/ddr3-1066-paper-line-interleaved.toml'";
    let policies = "policies=['baseline','rowclone']";
    for (unit, copies, fpm) in [("page", 64, false), ("row-set", 32, true)] {
        let unit = format!("machine.kernel.copy_unit='{unit}'");
        let arguments = ["--check", "--set", system, "--set", policies, "--set", &unit];
        let results: Vec<Value> =
            serde_json::from_str(&shipped(&[&arguments[..], &["--format", "json"]].concat()).1).unwrap();
        let rowclone = &results[1];
        assert!(rowclone["check"]["memory_equal"].as_bool().unwrap());
        assert_eq!(rowclone["cores"]["cores"][0]["controller_copies"], copies);
        assert_eq!(rowclone["cores"]["cores"][0]["coherence_written_back"], 1024);
        assert_eq!(rowclone["speedup"].as_f64().unwrap() > 2.5, fpm, "{}", rowclone["speedup"]);
        let (_, text, _) = shipped(&arguments);
        let row = text.lines().find(|line| line.starts_with("rowclone")).unwrap();
        assert_eq!(row.split_whitespace().nth(5), Some(if fpm { "32.0" } else { "16.0" }), "{text}");
        let check = "check: every command is legal, and memory equals that of a plain memcpy, also as\n  \
                     each process reads it at its virtual addresses\n";
        assert!(text.contains(check), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}

/// 64 pages, of which 16 lines each are dirty. Time and energy per copy are those of the region and of its interval.
#[test]
fn copies_on_a_core_are_answered_by_time_and_energy_per_copy() {
    let (_, text, _) = shipped(&[]);
    let results: Vec<Value> = serde_json::from_str(&shipped(&["--format", "json"]).1).unwrap();
    let three = |value: f64| if value < 9.995 { format!("{value:.2}") } else { format!("{value:.0}") };
    for result in &results {
        let number = |key: &str| result[key].as_f64().unwrap();
        let (us, energy) =
            (number("latency_ns") / 64.0 / 1000.0, result["cores"]["energy_nj"].as_f64().unwrap() / 64.0);
        let policy = result["policy"].as_str().unwrap();
        let row = text.lines().find(|line| line.starts_with(policy)).unwrap();
        let cells: Vec<String> = row.split_whitespace().map(|cell| cell.replace(',', "")).collect();
        let ratios = [number("speedup"), number("energy_ratio")].map(|ratio| format!("{ratio:.2}x"));
        assert_eq!(cells[1..5], [three(us), ratios[0].clone(), three(energy), ratios[1].clone()], "{text}");
        let lines = if policy == "baseline" { "0.00" } else { "16.0" };
        assert_eq!(cells[5..], [lines, "100.0", "%"].map(str::to_owned), "{text}");
    }
    assert!(!text.contains("IPC"), "{text}");
    let below = results.iter().filter(|result| result["speedup"].as_f64().unwrap() < 0.995);
    for policy in below.map(|result| result["policy"].as_str().unwrap()) {
        let causes = text.lines().filter(|line| line.starts_with(&format!("{policy}, 0.")));
        assert_eq!(causes.count(), 1, "{policy}: {text}");
    }
    assert!(text.contains("1,024 dirty lines of the caches"), "{text}");
}

/// `run` and `programs` run the same programs on the same machine, under the same methods.
#[test]
fn metrics_of_several_programs_are_those_of_the_command_programs() {
    let root = workspace().canonicalize().unwrap();
    let [first, second] = ["traces/programs/fork.program", "traces/samples/forkset-rc.gz"].map(|file| root.join(file));
    let [first, second] = [first.to_str().unwrap(), second.to_str().unwrap()];
    let (code, text, message) =
        run(&["programs", first, second, "--warm-up", "100", "--instructions", "1000", "--format", "json"]);
    assert_eq!(code, 0, "{message}");
    let expected: Value = serde_json::from_str(&text).unwrap();
    let workload = |files: &str| {
        format!("workload={{kind='programs',files=[{files}],warm_up_instructions=100,region_instructions=1000}}")
    };
    let both = workload(&format!("'{first}','{second}'"));
    let arguments = ["--set", POLICIES, "--set", &both];
    let json = |more: &[&str]| -> Vec<Value> {
        serde_json::from_str(&shipped(&[&arguments[..], &["--format", "json"], more].concat()).1).unwrap()
    };
    let (results, expected_rows) = (json(&[]), expected["methods"].as_array().unwrap());
    assert_eq!((results.len(), expected_rows.len()), (5, 5));
    for (result, row) in results.iter().zip(expected_rows) {
        assert_eq!((&result["policy"], &result["mix"]), (&row["method"], &row["mix"]));
        assert_eq!(result["alone_ipc"], expected["alone_ipc"]);
        assert!(result["mix"]["weighted_speedup"].as_f64().unwrap() > 0.0, "{result}");
    }
    let (_, text, _) = shipped(&[&arguments[..], &["--format", "csv"]].concat());
    let mut table = csv::Reader::from_reader(text.as_bytes());
    for (row, result) in table.deserialize::<BTreeMap<String, String>>().map(Result::unwrap).zip(&results) {
        for key in ["weighted_speedup", "harmonic_speedup", "maximum_slowdown"] {
            // serde_json may be off by a unit in the last place when it reads a number.
            let (cell, field) = (row[key].parse::<f64>().unwrap(), result["mix"][key].as_f64().unwrap());
            assert!((cell / field - 1.0).abs() < 1e-15, "{key}: {cell} {field}");
        }
    }
    let screen = |more: &[&str]| shipped(&[&arguments[..], more].concat()).1;
    assert!(screen(&[]).contains("weighted"), "{}", screen(&[]));
    assert!(screen(&["--details"]).contains("maximum slowdown"), "{}", screen(&["--details"]));
    // Neither without runs of the baseline for the ratios alone, nor of one program.
    assert!(!screen(&["--no-baseline"]).contains("weighted"), "{}", screen(&["--no-baseline"]));
    assert!(json(&["--no-baseline"]).iter().all(|result| result.get("mix").or(result.get("alone_ipc")).is_none()));
    let one = workload(&format!("'{first}'"));
    let (_, text, _) = shipped(&["--set", &one, "--format", "json"]);
    assert!(!text.contains("\"mix\"") && !text.contains("alone_ipc"), "{text}");
}

#[test]
fn files_and_the_report_have_the_figures_of_cores() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let (code, _, message) = shipped(&["--out", out.to_str().unwrap(), "--set", "workload.bytes='32KiB'"]);
    assert_eq!(code, 0, "{message}");
    let mut table = csv::Reader::from_path(out.join("results.csv")).unwrap();
    let rows: Vec<BTreeMap<String, String>> = table.deserialize().map(Result::unwrap).collect();
    for row in &rows {
        assert!(row["ipc"].parse::<f64>().unwrap() > 0.0, "{row:?}");
        assert!(row["energy_per_instruction_nj"].parse::<f64>().unwrap() > 0.0, "{row:?}");
        assert_eq!(row["copy_share_of_channel_bytes"], "1.0");
        assert!(row["baseline"].starts_with("a cached copy loop"), "{row:?}");
    }
    let page = directory.path().join("page.html");
    let (code, _, message) = run(&["report", out.to_str().unwrap(), "-o", page.to_str().unwrap()]);
    assert_eq!(code, 0, "{message}");
    assert!(fs::read_to_string(page).unwrap().contains("Every core, in its region"));
    let copy = workspace().join("traces/one-copy.toml");
    let (_, text, _) = run(&["run", copy.to_str().unwrap(), "--format", "csv"]);
    let mut table = csv::Reader::from_reader(text.as_bytes());
    let row: BTreeMap<String, String> = table.deserialize().next().unwrap().unwrap();
    assert_eq!((row["ipc"].as_str(), row["baseline"].as_str()), ("", "copies over the memory channel"));
}

#[test]
fn a_scenario_has_a_system_or_a_machine_and_what_fits_it() {
    let system = "system = 'ROOT/configs/ddr3-1066-paper.toml'";
    let machine = "machine = 'ROOT/configs/paper.toml'";
    let baseline = "policies = ['baseline']";
    let memcopy = "workload = { kind = 'memcopy', bytes = 4096 }";
    let stream = "workload = { kind = 'stream', count = 10 }";
    for (lines, parts) in [
        (vec![baseline, memcopy], ["`system` is missing, and so is `machine`", "`machine = "]),
        (vec![system, machine, baseline, memcopy], ["has both `system` and `machine`", "leave one of them out"]),
        (vec![system, baseline, memcopy], ["\"memcopy\", which needs cores", "machine = "]),
        (vec![machine, baseline, stream], ["\"stream\", which needs no cores", "`programs`, `forkbench`, `memcopy`"]),
        (
            vec![machine, baseline, "operation = [{ kind = 'zero', dst = 0, bytes = 64 }]"],
            ["`operation` is given", "`[workload]`"],
        ),
        (
            vec![system, "policies = ['rowclone', 'controller-copy']", stream],
            ["`policies.1` is \"controller-copy\", which needs programs on cores", "write \"baseline\""],
        ),
        (
            vec![system, "policies = ['copy-engine-async']", stream],
            ["`policies.0` is \"copy-engine-async\", which needs programs on cores", "write \"baseline\""],
        ),
        (
            vec![system, "policies = ['copy-engine-async-rowclone']", stream],
            ["`policies.0` is \"copy-engine-async-rowclone\", which needs", "`machine = \"paper\"`"],
        ),
        (
            vec![
                machine,
                baseline,
                "workload = { kind = 'memcopy', bytes = 5000, source = 'dirty', dirty_share = 0.5 }",
            ],
            ["`workload.dirty_share` is given", "all lines are dirty"],
        ),
        (
            vec![machine, baseline, "workload = { kind = 'memcopy', bytes = 64, operation = 'zero', source = 'warm' }"],
            ["`workload.source` is given, but a zeroing has no source", "leave it out"],
        ),
        (
            vec![machine, baseline, "workload = { kind = 'memcopy', bytes = 64, read_again = 'forward' }"],
            ["`workload.read_again` is given, but there is no working set", "working_set_bytes"],
        ),
        (
            vec![machine, baseline, "workload = { kind = 'memcopy', bytes = 0 }"],
            ["`workload.bytes` is 0, but must be from 1 to", "bytes"],
        ),
        (
            vec![machine, baseline, "workload = { kind = 'forkbench', bytes = 5000, pages = 1 }"],
            ["`workload.bytes` is 5000, but must be a multiple of 4096", "try `bytes = 8192`"],
        ),
        (
            vec![machine, baseline, "workload = { kind = 'programs', files = [] }"],
            ["`workload.files` has 0 programs, but must have 1 to 16", "a program per core"],
        ),
        (
            vec![machine, baseline, "workload = { kind = 'programs', files = ['no.program'] }"],
            ["`workload.files` is \"no.program\"", "no such file"],
        ),
        (
            vec![machine, baseline, memcopy, "allocator.policies = ['buddy']"],
            ["`allocator` is given", "kernel.baseline_allocator"],
        ),
    ] {
        let message = refused(&lines.join("\n"));
        assert!(parts.iter().all(|part| message.contains(part)), "{lines:?}: {message}");
    }
    let (code, _, message) = shipped(&["--set", "machine.cores.mshrs=0"]);
    assert!(code == 2 && message.contains("`cores.mshrs` is 0, but must be from 1 to 1024"), "{message}");
    let copy = workspace().join("traces/one-copy.toml");
    let (code, _, message) = run(&["run", copy.to_str().unwrap(), "--set", "machine.cores.mshrs=4"]);
    assert!(code == 2 && message.contains("has no `machine`"), "{message}");
}
