//! `rowclone-sim report`, on what `sweep` and `run` have written.

use std::fs;
use std::path::Path;

use crate::common::{Directory, run};

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A directory with a sweep of four points in `results`, one of which fails.
fn swept() -> Directory {
    let directory = Directory::sound();
    let sweep = "scenario = \"scenario.toml\"\n[[axis]]\nname = \"bytes\"\nkey = \"operation.0.bytes\"\nvalues = [64, \
        65536]\n\
                 [[axis]]\nkey = \"operation.0.src\"\nvalues = [\"other-bank\", \"same-bank\"]\n";
    fs::write(directory.path("sweep.toml"), sweep).unwrap();
    let (code, _, stderr) =
        run(&["sweep", text(&directory.path("sweep.toml")), "--out", text(&directory.path("results"))]);
    assert_eq!(code, 1, "{stderr}");
    directory
}

/// A directory with the results of its scenario in `results`.
fn ran() -> Directory {
    let directory = Directory::sound();
    let (scenario, out) = (directory.path("scenario.toml"), directory.path("results"));
    let arguments = ["run", text(&scenario), "--out", text(&out), "--check", "--set", "epoch_cycles=500"];
    assert_eq!(run(&arguments).0, 0);
    directory
}

fn report(directory: &Directory, more: &[&str]) -> (i32, String) {
    let (results, page) = (directory.path("results"), directory.path("report.html"));
    let (code, stdout, stderr) = run(&[&["report", text(&results), "-o", text(&page)], more].concat());
    assert_eq!(stdout, "");
    (code, stderr.replace(text(&directory.path("")), ""))
}

fn page(directory: &Directory) -> String {
    fs::read_to_string(directory.path("report.html")).unwrap()
}

#[test]
fn a_sweep_is_one_page_with_its_errors_first() {
    let directory = swept();
    assert_eq!(report(&directory, &[]), (0, "wrote report.html\n".to_owned()));
    let html = page(&directory);
    let place = |wanted: &str| html.find(wanted).unwrap_or_else(|| panic!("{wanted}"));
    assert!(place("✖ Error") < place("axis operation.0.src"));
    assert!(place("(1 run)") < place("<h2 id=\"what\">"), "a point with one row");
    assert!(place("<h1>sweep</h1>") < place("Every run"));
    assert!(html.contains("<svg class=\"chart\""));
    assert!(html.contains("model version</dt>"));
}

#[test]
fn a_run_is_one_page_with_its_decisions_and_its_epochs() {
    let directory = ran();
    assert_eq!(report(&directory, &["--title", "A <page>"]).0, 0);
    let html = page(&directory);
    for there in [
        "<h1>A &lt;page&gt;</h1>",
        "None: no run failed",
        "copy 4 KiB, same-subarray",
        "the policy admits no mechanism inside the DRAM",
        "<code>policy</code>",
        "Copy latency, mean, by epoch",
        "yes, every command and all of memory",
        "--set epoch_cycles=500</code>",
    ] {
        assert!(html.contains(there), "{there}");
    }
}

#[test]
fn the_same_results_are_the_same_page() {
    let directory = swept();
    assert_eq!(report(&directory, &[]).0, 0);
    let first = page(&directory);
    assert_eq!(report(&directory, &["--force"]).0, 0);
    assert_eq!(page(&directory), first);
}

#[test]
fn a_page_that_is_there_is_replaced_by_force_alone() {
    let directory = ran();
    fs::write(directory.path("report.html"), "precious").unwrap();
    let (code, stderr) = report(&directory, &[]);
    assert_eq!((code, page(&directory).as_str()), (2, "precious"));
    assert!(stderr.contains("report.html: exists already\nhelp: "), "{stderr}");
    assert_eq!(report(&directory, &["--force"]).0, 0);
    assert!(page(&directory).starts_with("<!DOCTYPE html>"));
}

/// Only an operation of the published setting is set beside the published one: 4 KiB, alone, on the paper's system.
#[test]
fn published_figures_stand_beside_rows_of_their_setting_alone() {
    let directory = ran();
    assert_eq!(report(&directory, &[]).0, 0);
    let beside = |html: &str| html.matches(">copy/").count();
    assert_eq!(beside(&page(&directory)), 2, "the copy by each policy");
    assert!(page(&directory).contains("calibrated choice"));

    let swept = swept();
    assert_eq!(report(&swept, &[]).0, 0);
    assert_eq!(beside(&page(&swept)), 0, "two operations a run");

    let faster = Directory::with(("1066G", "1600K"), ("", ""));
    let out = faster.path("results");
    assert_eq!(run(&["run", text(&faster.path("scenario.toml")), "--out", text(&out)]).0, 0);
    assert_eq!(report(&faster, &[]).0, 0);
    assert_eq!(beside(&page(&faster)), 0);
    assert!(page(&faster).contains("Nothing here has the setting of the published table"));
}

/// The digest of a row tells that the scenario is still the one that it was run from.
#[test]
fn rows_of_a_sweep_stand_beside_published_ones_if_their_scenario_is_here_unchanged() {
    let second = "[[operation]]\nkind = \"init\"\ndst = 0x0080_0000\nbytes = 4096\nvalue = 7\n";
    let directory = Directory::with(("", ""), (second, ""));
    let sweep = "scenario = \"scenario.toml\"\n[[axis]]\nkey = \"operation.0.bytes\"\nvalues = [64, 4096]\n";
    fs::write(directory.path("sweep.toml"), sweep).unwrap();
    let out = directory.path("results");
    assert_eq!(run(&["sweep", text(&directory.path("sweep.toml")), "--out", text(&out)]).0, 0);
    assert_eq!(report(&directory, &[]).0, 0);
    let html = page(&directory);
    assert_eq!(html.matches(">copy/channel</td>").count(), 1);
    assert_eq!(html.matches(">copy/fpm</td>").count(), 1);

    let scenario = fs::read_to_string(directory.path("scenario.toml")).unwrap();
    fs::write(directory.path("scenario.toml"), scenario.replace("0x0040_0000", "0x0050_0000")).unwrap();
    assert_eq!(report(&directory, &["--force"]).0, 0);
    let html = page(&directory);
    assert_eq!(html.matches(">copy/").count(), 0);
    assert!(html.contains("The systems of 4 runs of one operation are unknown"));
}

#[test]
fn what_is_wrong_with_a_file_is_named_with_its_line_and_its_key() {
    let directory = ran();
    let refused = |expected: &[&str]| {
        let (code, stderr) = report(&directory, &[]);
        assert_eq!(code, 2, "{stderr}");
        for part in expected {
            assert!(stderr.contains(part), "{part}: {stderr}");
        }
        assert!(!directory.path("report.html").exists());
    };
    let change = |name: &str, from: &str, to: &str| {
        let path = directory.path("results").join(name);
        let before = fs::read_to_string(&path).unwrap();
        assert!(before.contains(from), "{name}: {from}");
        fs::write(&path, before.replacen(from, to, 1)).unwrap();
        before
    };
    let restore = |name: &str, text: String| fs::write(directory.path("results").join(name), text).unwrap();

    let before = change("results.json", "\"policy\": \"baseline\"", "\"policies\": \"baseline\"");
    refused(&["results/results.json:", "missing field `policy`", "help: run the scenario again"]);
    restore("results.json", before);
    let before = change("results.json", "\"schema_version\": 9", "\"schema_version\": 8");
    refused(&["results.json: `schema_version` is 8, but must be 9"]);
    restore("results.json", before);
    let before = change("results.csv", "memory channel,false,", "memory channel,false,x");
    refused(&["results/results.csv:2: `makespan_cycles` is `x", "but must be a whole number", "help: "]);
    restore("results.csv", before);
    let before = change("results.csv", "schema_version,", "version,");
    refused(&[
        "results/results.csv:1: begins with the column `version`",
        "help: the table of a sweep begins with `point`",
    ]);
    restore("results.csv", before);
    let path = directory.path("results").join("results.csv");
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, whole.trim_end().rsplit_once(',').unwrap().0).unwrap();
    refused(&["results/results.csv:3: ", "cells, but there are", "help: give each line a cell for each column"]);
    fs::write(&path, whole.lines().next().unwrap()).unwrap();
    refused(&["results/results.csv: has no rows"]);
    fs::remove_file(&path).unwrap();
    refused(&["results: holds no results.csv", "help: give the directory of `sweep --out` or of `run --out`"]);
    fs::remove_dir_all(directory.path("results")).unwrap();
    refused(&["results.csv: cannot be read: no such file or directory"]);
}
