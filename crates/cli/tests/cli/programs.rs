//! `reproduce forkbench` and `reproduce zi`: the orderings that must hold on the machine of the paper.

use assert_cmd::Command;
use serde_json::Value;

fn reproduce(arguments: &[&str]) -> Value {
    let mut command = Command::cargo_bin("rowclone-sim").unwrap();
    let output =
        command.arg("reproduce").args(arguments).args(["--format", "json"]).assert().success().get_output().clone();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A figure of each row, of the method with this index.
fn figures(table: &Value, method: usize, key: &str) -> Vec<f64> {
    assert_eq!(table["machine"], "paper");
    let rows = table["rows"].as_array().unwrap();
    rows.iter().map(|row| row["methods"][method][key].as_f64().unwrap()).collect()
}

fn is_rising(figures: &[f64]) -> bool {
    figures.is_sorted_by(|a, b| a < b)
}

/// A figure of a run.
fn of(run: &Value, key: &str) -> f64 {
    run[key].as_f64().unwrap_or_else(|| panic!("{key} of {run}"))
}

/// A figure of a row that two of its runs give, by row.
fn by_row(table: &Value, figure: impl Fn(&Value) -> f64) -> Vec<f64> {
    table["rows"].as_array().unwrap().iter().map(figure).collect()
}

/// The shares of copies rise with N and fall with S, as published; the gains rise with the copies.
#[test]
#[ignore = "seconds of CPU: `cargo xtask full` runs it"]
fn forkbench_gains_rise_with_the_copies_and_fpm_gains_more_than_psm() {
    let table = reproduce(&["forkbench", "--mebibytes", "8", "--updates", "2,64,512,2048"]);
    let share = |row: &Value| of(&row["baselines"][0], "copy_bytes") / of(&row["baselines"][0], "channel_bytes");
    let ratio = |method: &'static str, key: &'static str| {
        by_row(&table, move |row| of(&row[method], key) / of(&row["baselines"][0], key))
    };
    let [copy_share, smaller] = [&table, &reproduce(&["forkbench", "--mebibytes", "4", "--updates", "2,64,512"])]
        .map(|table| by_row(table, share));
    assert!(is_rising(&copy_share) && copy_share[0] < 0.05 && copy_share[3] > 0.6, "{copy_share:?}");
    assert!(smaller.iter().zip(&copy_share).all(|(smaller, larger)| smaller > larger), "{smaller:?} {copy_share:?}");
    let [fpm, psm] = ["fpm", "psm"].map(|method| ratio(method, "ipc"));
    let [fpm_energy, psm_energy] = ["fpm", "psm"].map(|method| ratio(method, "energy_nj"));
    assert!(is_rising(&fpm) && is_rising(&psm), "{fpm:?} {psm:?}");
    let saved = |ratios: &[f64]| ratios.iter().map(|ratio| 1.0 - ratio).collect::<Vec<_>>();
    assert!(is_rising(&saved(&fpm_energy)) && is_rising(&saved(&psm_energy)), "{fpm_energy:?} {psm_energy:?}");
    for row in 0..fpm.len() {
        assert!(fpm[row] > psm[row] && fpm_energy[row] < psm_energy[row], "row {row}: FPM is better than PSM");
    }
    let (fpm_gain, psm_gain) = (fpm[3] - 1.0, psm[3] - 1.0);
    assert!(fpm_gain >= 0.5 && psm_gain <= fpm_gain / 2.0, "{fpm_gain} {psm_gain}");
}

/// Bytes of each loop per copied page of 64 lines. The updates choose pages again, so that pages are
/// fewer than updates. Each copied page has its source read; the fetching loop also reads the
/// destination, and no line of the initialization is a copy's.
#[test]
fn forkbench_compares_three_loops_and_both_regions() {
    let table = reproduce(&["forkbench", "--mebibytes", "4", "--updates", "100", "--set", "kernel.copy_loop=no-fetch"]);
    let row = &table["rows"][0];
    let runs = row["baselines"].as_array().unwrap();
    let names: Vec<&str> = runs.iter().map(|run| run["method"].as_str().unwrap()).collect();
    assert_eq!(names, ["no-fetch", "cached", "non-temporal"], "the loop of the machine is first");
    let read: Vec<f64> = runs.iter().map(|run| of(run, "copy_bytes_without_write_backs")).collect();
    // What the parent or an update left in the cache is not read: the cache has a quarter of the memory.
    let page = 100.0 * 4096.0;
    assert!(read[0] < page && read[0] > 0.5 * page, "{read:?}");
    assert!(read[1] > read[0] + 0.8 * page && read[1] < read[0] + page, "{read:?}");
    assert!((read[2] - read[1]).abs() < 0.3 * page, "the writes past the cache are no write-backs: {read:?}");
    let full = &row["with_initialization"];
    // 1,024 pages are zeroed and written: each line is written back, or still in the cache.
    assert!(of(full, "zeroing_bytes") > 700.0 * 4096.0, "{full}");
    assert!(of(full, "channel_bytes") > of(&runs[0], "channel_bytes") + 700.0 * 4096.0, "{full}");
    assert!(row["application"].is_null(), "another point");
}

#[test]
fn programs_pass_the_checks_under_every_method() {
    for set in ["kernel.copy_loop=cached", "kernel.dirty_source=copy-in-cache"] {
        reproduce(&["forkbench", "--mebibytes", "2", "--updates", "100", "--check", "--set", set]);
    }
    for set in ["kernel.copy_loop=no-fetch", "kernel.copy_loop=non-temporal", "kernel.dirty_source=copy-in-cache"] {
        reproduce(&["zi", "--pages", "20", "--check", "--set", set]);
    }
}

/// 128 pages take half of the cache: what a loop or RowClone-ZI leaves there is used, and plain
/// RowClone has to fetch it.
#[test]
fn plain_rowclone_loses_on_reuse_what_zero_lines_keep() {
    let table = reproduce(&["zi", "--pages", "128"]);
    let [zero, reuse] =
        ["zero_cycles", "use_cycles"].map(|key| [0, 1, 2].map(|method| figures(&table, method, key)[0]));
    assert!(zero[1] < zero[0] && zero[2] < zero[0], "{zero:?}: both zero faster than the loop");
    assert!(reuse[1] > 1.5 * reuse[2] && reuse[1] > reuse[0], "{reuse:?}");
    assert!(zero[2] + reuse[2] < zero[1] + reuse[1], "{zero:?} {reuse:?}");
}

#[test]
fn a_machine_that_cannot_be_is_an_error_with_its_key() {
    let mut command = Command::cargo_bin("rowclone-sim").unwrap();
    let output = command.args(["reproduce", "zi", "--set", "cores.mshrs=0"]).assert().code(2).get_output().clone();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("`cores.mshrs` is 0, but must be from 1 to 1024"), "{message}");
}

/// The shipped program, twice, under every method with the checks.
#[test]
fn program_traces_run_on_cores_under_every_method() {
    let program = crate::common::workspace().join("traces/programs/fork.program");
    let run = |arguments: &[&str]| {
        let mut command = Command::cargo_bin("rowclone-sim").unwrap();
        let assert = command.arg("programs").args([&program, &program]).args(arguments).assert().success();
        String::from_utf8(assert.get_output().stdout.clone()).unwrap()
    };
    let table: Value = serde_json::from_str(&run(&["--check", "--format", "json"])).unwrap();
    let methods = table["methods"].as_array().unwrap();
    let names: Vec<&str> = methods.iter().map(|row| row["method"].as_str().unwrap()).collect();
    assert_eq!(names, ["baseline", "controller-copy", "psm-only", "rowclone", "rowclone-zi"]);
    for row in methods {
        let cores = row["report"]["cores"].as_array().unwrap();
        assert_eq!(cores.len(), 2);
        // 1200 instructions of `compute`, four loads and stores each, `zero` and `copy`.
        for core in cores {
            assert_eq!(core["instructions"], 1200 + 4 + 4 + 1 + 1);
        }
        assert!(row["report"]["loads_checked"].as_u64().unwrap() >= 6, "{row}");
    }
    assert_eq!(methods[0]["speedup"], 1.0);
    let check = "\ncheck: every command is legal, each load returns the last store, and memory\n  equals that of a \
        plain memcpy, \
                 also as each process reads it at its virtual\n  addresses\n";
    assert!(run(&["--check"]).contains(check) && !run(&[]).contains("\ncheck:"));
    assert!(run(&["--details"]).contains("stalls:"));
    let text = run(&[]).replace("\n  ", " ");
    for definition in [
        "speedup: time of the longest region of a core, reference / this",
        "weighted speedup: sum of IPC together / IPC alone",
        "harmonic speedup (`--details`): programs / sum of IPC alone / IPC together",
    ] {
        assert!(text.contains(definition), "{text}");
    }
    // The cause of a result below 1, with the counters of the core with the longest region.
    for row in &methods[1..] {
        let cores = row["report"]["cores"].as_array().unwrap();
        let slowest = cores.iter().max_by_key(|core| core["cycles"].as_u64()).unwrap();
        let [copies, lines] = ["controller_copies", "coherence_written_back"].map(|key| slowest[key].as_u64().unwrap());
        let (method, speedup) = (row["method"].as_str().unwrap(), row["speedup"].as_f64().unwrap());
        let begin = format!("\n{method}, {speedup:.2}x: core {} waits ", slowest["core"]);
        let end = format!("% of its cycles for {copies} copies and zeroings, ");
        let what = format!(" us each; {lines} dirty lines of the caches are written back before them\n");
        assert!(speedup < 1.0 && lines > 0 && copies == 8, "{row}");
        assert!([begin, end, what].iter().all(|part| text.contains(part)), "{text}");
    }
}

#[test]
fn a_program_that_cannot_be_read_is_an_error_with_its_line() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("wrong.program");
    std::fs::write(&path, "compute 3\nload 4096\n").unwrap();
    let assert = Command::cargo_bin("rowclone-sim").unwrap().arg("programs").arg(&path).assert().code(2);
    let message = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(message.contains("the program of core 0: line 2: `load 4096` is not a step"), "{message}");
}
