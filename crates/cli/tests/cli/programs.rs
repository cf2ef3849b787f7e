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

#[test]
fn forkbench_gains_rise_with_the_copies_and_fpm_gains_more_than_psm() {
    let table = reproduce(&["forkbench", "--mebibytes", "64", "--updates", "2,64,2048,16384"]);
    let [copy_share, fpm, psm] = [(0, "copy_share_of_channel_bytes"), (1, "ipc_ratio"), (2, "ipc_ratio")]
        .map(|(method, key)| figures(&table, method, key));
    let [fpm_energy, psm_energy] = [1, 2].map(|method| figures(&table, method, "energy_ratio"));
    assert!(is_rising(&fpm) && is_rising(&psm), "{fpm:?} {psm:?}");
    // The share of the first two is equal: docs/validation.md has the cause.
    assert!(copy_share.is_sorted() && is_rising(&copy_share[1..]), "{copy_share:?}");
    let saved = |ratios: &[f64]| ratios.iter().map(|ratio| 1.0 - ratio).collect::<Vec<_>>();
    assert!(is_rising(&saved(&fpm_energy)) && is_rising(&saved(&psm_energy)), "{fpm_energy:?} {psm_energy:?}");
    for row in 0..fpm.len() {
        assert!(fpm[row] > psm[row] && fpm_energy[row] < psm_energy[row], "row {row}: FPM is better than PSM");
    }
    let (fpm_gain, psm_gain) = (fpm[3] - 1.0, psm[3] - 1.0);
    assert!(fpm_gain >= 0.5 && psm_gain <= fpm_gain / 2.0, "{fpm_gain} {psm_gain}");
}

#[test]
fn programs_pass_the_checks_under_every_method() {
    for set in ["kernel.copy_loop=cached", "kernel.copy_loop=non-temporal", "kernel.dirty_source=copy-in-cache"] {
        reproduce(&["forkbench", "--mebibytes", "4", "--updates", "100", "--check", "--set", set]);
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
    assert!(run(&["--details"]).contains("stalls:"));
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
