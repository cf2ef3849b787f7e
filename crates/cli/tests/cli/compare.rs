//! `compare`: its screens and files, and that its figures are those of `run` and of a sweep.

use std::fs;

use serde_json::Value;

use crate::common::{Directory, json, run, workspace};

const COPIERS: &str = "loop-cached,loop-non-temporal,fpm-only,rowclone,copy-engine-async,dma";

/// Rows of a comparison as JSON.
fn rows(args: &[&str]) -> Vec<Value> {
    let table = json(&[&["compare"], args].concat());
    table["rows"].as_array().unwrap().clone()
}

#[test]
fn the_list_has_each_loop_and_each_policy() {
    let (code, text, error) = run(&["compare", "--list"]);
    assert_eq!(code, 0, "{error}");
    let names: Vec<&str> = text.lines().skip(1).map(|line| line.split("  ").next().unwrap()).collect();
    for name in ["loop-cached", "loop-no-fetch", "loop-non-temporal", "fpm-only", "psm-only", "rowclone", "lisa", "dma"]
    {
        assert_eq!(names.iter().filter(|known| **known == name).count(), 1, "{name}: {text}");
    }
    assert!(text.contains("copy-engine-sync-wlb-rowclone  copy engine, in DRAM\n"), "{text}");
    assert!(text.ends_with("by cache injection (`receive`)\n"), "{text}");
}

#[test]
fn the_first_screen_answers_each_question() {
    let args = ["--sources", "cold,dirty", "--sizes", "64,4KiB,16KiB", "--reads", "0,100", "--check"];
    let (code, text, error) = run(&[&["compare", "--copiers", COPIERS], &args[..]].concat());
    assert_eq!((code, error.as_str()), (0, ""));
    insta::assert_snapshot!(text);
}

/// A cell is a run of the scenario `memcopy` beside the working set.
#[test]
fn a_cell_equals_a_run() {
    let cells =
        rows(&["--copiers", COPIERS, "--operations", "copy", "--sources", "warm", "--sizes", "16KiB", "--reads", "50"]);
    let directory = Directory::sound();
    let scenario = "machine = 'paper'\nseed = 1\n[workload]\nkind = 'memcopy'\nbytes = '16KiB'\nsource = 'warm'\n\
                    read_share = 0.5\nworking_set_bytes = '512KiB'\n";
    fs::write(directory.path("cell.toml"), format!("copiers = ['{}']\n{scenario}", COPIERS.replace(',', "', '")))
        .unwrap();
    let path = directory.path("cell.toml");
    let runs = json(&["run", path.to_str().unwrap(), "--no-baseline"]);
    let runs = runs.as_array().unwrap();
    assert_eq!((cells.len(), runs.len()), (6, 6));
    for (cell, run) in cells.iter().zip(runs) {
        assert_eq!(cell["copier"], run["policy"]);
        assert_eq!(cell["time_ns"], run["latency_ns"], "{cell}");
        assert_eq!(cell["channel_bytes"], run["cores"]["channel_bytes"], "{cell}");
        // 3.2 GHz: 0.3125 ns.
        let copies = run["cores"]["cores"][0]["copy_cycles"].as_f64().unwrap() * 0.3125;
        assert!((cell["cpu_ns"].as_f64().unwrap() - copies).abs() < 1e-6, "{cell}");
    }
}

/// An axis `copiers`: the rows of a sweep have the times of the cells.
#[test]
fn a_sweep_over_copiers_gives_the_rows_of_a_comparison() {
    let args = ["--operations", "copy", "--sources", "dirty", "--sizes", "64,4KiB", "--reads", "0,100"];
    let cells = rows(&[&["--copiers", COPIERS], &args[..]].concat());
    let directory = Directory::sound();
    let scenario = "machine = 'paper'\npolicies = ['baseline']\nseed = 1\n[workload]\nkind = 'memcopy'\nbytes = 64\n\
                    source = 'dirty'\nworking_set_bytes = '512KiB'\n";
    fs::write(directory.path("cell.toml"), scenario).unwrap();
    let sweep = format!(
        "scenario = 'cell.toml'\nbaseline = false\n\
         [[axis]]\nname = 'read'\nkey = 'workload.read_share'\nvalues = [0.0, 1.0]\n\
         [[axis]]\nname = 'bytes'\nkey = 'workload.bytes'\nvalues = [64, 4096]\n\
         [[axis]]\nkey = 'copiers'\nvalues = ['{}']\n",
        COPIERS.replace(',', "', '")
    );
    fs::write(directory.path("sweep.toml"), sweep).unwrap();
    let (path, out) = (directory.path("sweep.toml"), directory.path("out"));
    let (code, _, error) = run(&["sweep", path.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    assert_eq!(code, 0, "{error}");
    let mut table = csv::Reader::from_path(out.join("results.csv")).unwrap();
    let of_sweep: Vec<std::collections::BTreeMap<String, String>> = table.deserialize().map(Result::unwrap).collect();
    assert_eq!((cells.len(), of_sweep.len()), (24, 24));
    let mut compared = 0;
    for (cell, row) in cells.iter().zip(&of_sweep) {
        assert_eq!((cell["copier"].as_str(), cell["bytes"].to_string()), (Some(&*row["policy"]), row["bytes"].clone()));
        assert_eq!(row["copiers"], row["policy"]);
        // A copier that leaves the copy to another one has no figures.
        let Some(time) = cell["time_ns"].as_f64() else { continue };
        assert_eq!(row["latency_ns"].parse(), Ok(time), "{cell}");
        compared += 1;
    }
    assert_eq!(compared, 22, "FPM copies no 64 bytes");
    let rerun = of_sweep[1]["rerun"].clone();
    assert!(rerun.ends_with("--set copiers=loop-non-temporal --set 'copiers=[\"loop-non-temporal\"]'"), "{rerun}");
}

#[test]
fn a_scenario_and_a_program_run_under_each_copier() {
    let fork = workspace().join("traces/programs/fork.program");
    let of_program = rows(&[fork.to_str().unwrap(), "--copiers", "loop-no-fetch,rowclone,dma", "--check"]);
    assert_eq!(of_program.len(), 3);
    assert!(of_program.iter().all(|row| row["operation"] == "scenario" && row["time_ns"].as_f64().unwrap() > 0.0));
    let programs = json(&["programs", fork.to_str().unwrap(), "--set", "kernel.copy_loop=no-fetch"]);
    let baseline = &programs["methods"][0];
    let ns = baseline["report"]["cores"][0]["cycles"].as_f64().unwrap() * 0.3125;
    assert!((ns - of_program[0]["time_ns"].as_f64().unwrap()).abs() < 1e-6, "{ns}");
    // A scenario without cores: the channel and the policies of the controller, and the reason against the others.
    let copies = workspace().join("traces/page-copy.toml");
    let of_scenario = rows(&[copies.to_str().unwrap()]);
    let runs = json(&["run", copies.to_str().unwrap()]);
    let of = |name: &str| of_scenario.iter().find(|row| row["copier"] == name).unwrap().clone();
    for run in runs.as_array().unwrap() {
        let row = of(run["policy"].as_str().unwrap());
        assert_eq!((&row["time_ns"], &row["energy_nj"]), (&run["latency_ns"], &run["dynamic_energy_nj"]));
    }
    assert_eq!(of("loop-cached")["why_not"], "needs programs on cores: a scenario with a `machine`");
}

#[test]
fn impossible_comparisons_are_refused() {
    let copies = workspace().join("traces/page-copy.toml");
    let path = copies.to_str().unwrap();
    for (args, parts) in [
        (vec!["--copiers", "loop"], ["invalid value 'loop' for '--copiers <NAME>'", "loop-cached"]),
        (vec!["--copiers", "dma,rowclone,dma"], ["--copiers lists `dma` twice", "once"]),
        (vec!["--operations", "copy,copy"], ["--operations lists `copy` twice", "once"]),
        (vec!["--sources", "cold,warm,cold"], ["--sources lists `cold` twice", "once"]),
        (vec!["--sizes", "4KiB,64,4096"], ["--sizes lists `4096` twice", "once"]),
        (vec!["--reads", "0,0"], ["--reads lists `0` twice", "once"]),
        (vec!["--sizes", "0"], ["invalid value '0' for '--sizes <BYTES>'", "0 is not from 1 to 1 GiB"]),
        (vec!["--reads", "101"], ["invalid value '101' for '--reads <PERCENT>'", "0..=100"]),
        (vec![path, "--sizes", "64"], ["cannot be used with", "--sizes"]),
        (vec![path, "--machine", "paper"], ["`--machine` is given", "--set machine=NAME"]),
        (vec!["--details", "--format", "csv"], ["`--details` is given", "all numbers"]),
        (vec!["no.toml"], ["no.toml", "no such file"]),
    ] {
        let (code, text, error) = run(&[vec!["compare"], args.clone()].concat());
        assert_eq!((code, text.as_str()), (2, ""), "{args:?}");
        assert!(parts.iter().all(|part| error.contains(part)), "{args:?}: {error}");
    }
    let directory = Directory::sound();
    let scenario = fs::read_to_string(directory.path("scenario.toml")).unwrap();
    let without = scenario.replace("policies = [\"baseline\", \"rowclone\"]", "");
    fs::write(directory.path("scenario.toml"), without).unwrap();
    let (code, _, error) = run(&["run", directory.path("scenario.toml").to_str().unwrap()]);
    assert!(code == 2 && error.contains("`policies` is missing, and so is `copiers`"), "{error}");
    // A copier of a scenario that has no such thing.
    let (code, _, error) = run(&["run", path, "--set", "copiers=['loop-cached']"]);
    assert!(code == 2 && error.contains("`copiers.0` is \"loop-cached\", which needs programs on cores"), "{error}");
}

/// The pictures have the values of the gallery's at three sizes, and the page has the pictures.
/// `cargo xtask gallery` draws all sizes.
#[test]
fn the_gallery_shows_the_pictures_of_a_comparison() {
    let directory = Directory::sound();
    let out = directory.path("compared");
    let args = ["compare", "--operations", "copy", "--sources", "cold", "--reads", "0", "--sizes", "64,1KiB,16KiB"];
    let args = [&args[..], &["--format", "csv"]].concat();
    let with_out = [&args[..], &["--out", out.to_str().unwrap()]].concat();
    let (code, csv, error) = run(&with_out);
    assert_eq!(code, 0, "{error}");
    assert!(error.starts_with("wrote ") && error.lines().count() == 1, "{error}");
    assert_eq!(fs::read_to_string(out.join("results.csv")).unwrap(), csv);
    let values =
        |text: &str| text.split("<title>").skip(1).map(|it| it.split('<').next().unwrap().to_owned()).collect();
    for picture in ["time", "cpu-time", "energy", "displacement"] {
        let name = format!("compare-copy-cold-0-{picture}.svg");
        let read = |path: std::path::PathBuf| -> Vec<String> { values(&fs::read_to_string(path).unwrap()) };
        let (drawn, shown) = (read(out.join(&name)), read(workspace().join("docs/gallery").join(&name)));
        let missing = drawn.iter().find(|value| !shown.contains(value));
        assert!(drawn.len() > 20 && missing.is_none(), "{missing:?}: `cargo xtask gallery` draws {name} anew");
    }
    let page = fs::read_to_string(out.join("compare.html")).unwrap();
    assert_eq!((page.matches("<figure>").count(), page.matches("<table").count()), (4, 5));
    let (code, _, error) = run(&with_out);
    assert!(code == 2 && error.contains("report.txt"), "{error}");
}
