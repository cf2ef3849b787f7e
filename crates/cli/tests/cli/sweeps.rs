//! Sweeps, run as a user runs them: what is in their tables, and what becomes of them when something goes wrong.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use parquet::basic::{LogicalType, Type as Physical};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

use crate::common::{Directory, run};

/// A sweep of twelve points, two policies each. Two of the points fail: 64 KiB lie in all banks, so no other bank is
/// left.
const SWEEP: &str = r#"scenario = "scenario.toml"
seeds = [1, 7]
[[axis]]
name = "bytes"
key = "operation.0.bytes"
values = [64, 65536]
[[axis]]
key = "operation.0.src"
values = ["same-subarray", "other-bank", "same-bank"]
"#;

/// The same without those that fail.
pub(crate) fn sound() -> Directory {
    with_sweep(&SWEEP.replace(" \"other-bank\",", ""))
}

pub(crate) fn with_sweep(sweep: &str) -> Directory {
    let directory = Directory::sound();
    fs::write(directory.path("sweep.toml"), sweep).unwrap();
    directory
}

/// Runs `sweep` on the directory's sweep.
pub(crate) fn sweep(directory: &Directory, out: &str, more: &[&str]) -> (i32, String) {
    let (file, out) = (directory.path("sweep.toml"), directory.path(out));
    let (code, stdout, stderr) = run(&[&["sweep", text(&file), "--out", text(&out)], more].concat());
    assert_eq!(stdout, "", "results go to files");
    (code, stderr)
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A table, row by row, by the names of its columns.
fn table(path: &Path) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_path(path).unwrap().deserialize().map(Result::unwrap).collect()
}

pub(crate) fn results(directory: &Directory, out: &str) -> [Vec<u8>; 2] {
    ["results.csv", "results.parquet"].map(|name| fs::read(directory.path(out).join(name)).unwrap())
}

#[test]
fn one_job_and_sixteen_write_the_same_bytes() {
    let directory = with_sweep(SWEEP);
    assert_eq!(sweep(&directory, "one", &["--jobs", "1"]).0, 1, "some points fail");
    assert_eq!(sweep(&directory, "sixteen", &["--jobs", "16"]).0, 1);
    assert_eq!(results(&directory, "one"), results(&directory, "sixteen"));
}

#[test]
fn the_axes_vary_from_the_slowest_to_the_seed() {
    let directory = with_sweep(SWEEP);
    sweep(&directory, "out", &[]);
    let rows = table(&directory.path("out/results.csv"));
    let shown = |row: &BTreeMap<String, String>| {
        ["point", "bytes", "operation.0.src", "seed", "policy"].map(|column| row[column].clone()).join(" ")
    };
    let shown: Vec<String> = rows.iter().map(shown).collect();
    assert_eq!(shown.len(), 10 * 2 + 2, "a point that fails as a whole has one row");
    assert_eq!(
        shown[14..],
        [
            "7 65536 same-subarray 7 baseline",
            "7 65536 same-subarray 7 rowclone",
            "8 65536 other-bank  ",
            "9 65536 other-bank  ",
            "10 65536 same-bank 1 baseline",
            "10 65536 same-bank 1 rowclone",
            "11 65536 same-bank 7 baseline",
            "11 65536 same-bank 7 rowclone",
        ]
    );
}

#[test]
fn a_failing_point_is_a_row_with_its_error_and_the_others_go_on() {
    let directory = with_sweep(SWEEP);
    let (code, stderr) = sweep(&directory, "out", &[]);
    assert_eq!(code, 1);
    assert!(
        stderr.starts_with("sweep: 20 runs done, 2 failed\npoint 8 failed: --set operation.0.src=other-bank: "),
        "{stderr}"
    );
    let rows = table(&directory.path("out/results.csv"));
    let (failed, done): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| !row["error"].is_empty());
    assert_eq!((failed.len(), done.len()), (2, 20));
    for row in failed {
        let error = "--set operation.0.src=other-bank: `operation.0.src`: no 65536 bytes lie `other-bank` to ";
        assert!(row["error"].starts_with(error), "{}", row["error"]);
        assert_eq!((row["makespan_ns"].as_str(), row["policy"].as_str()), ("", ""));
    }
    assert!(done.iter().all(|row| row["makespan_ns"].parse::<f64>().unwrap() > 0.0));
}

/// Every figure that `run --format csv` has too is the same there.
#[test]
fn the_rerun_column_does_the_run_again() {
    let directory = with_sweep(SWEEP);
    sweep(&directory, "out", &[]);
    for row in table(&directory.path("out/results.csv")).iter().skip(1).step_by(5) {
        let words: Vec<String> = row["rerun"].split(" --set ").map(|word| word.trim_matches('\'').to_owned()).collect();
        let scenario = words[0].strip_prefix("rowclone-sim run ").unwrap();
        let sets = words[1..].iter().flat_map(|word| ["--set", word.as_str()]);
        let arguments: Vec<&str> = ["run", scenario, "--format", "csv"].into_iter().chain(sets).collect();
        let (code, stdout, stderr) = run(&arguments);
        if !row["error"].is_empty() {
            assert_eq!((code, stderr.lines().next().unwrap()), (2, format!("error: {}", row["error"]).as_str()));
            continue;
        }
        let again: Vec<BTreeMap<String, String>> =
            csv::Reader::from_reader(stdout.as_bytes()).deserialize().map(Result::unwrap).collect();
        assert_eq!(again.len(), 1, "one policy");
        let mut same = 0;
        for (column, cell) in &again[0] {
            if let Some(there) = row.get(column).filter(|_| column != "scenario") {
                assert_eq!(there, cell, "{column}");
                same += 1;
            }
        }
        assert!(same > 80, "{same} columns in common");
    }
}

#[test]
fn a_zip_moves_its_keys_together_and_exclusions_take_points_away() {
    let directory = with_sweep(
        r#"scenario = "scenario.toml"
set = { policies = ["rowclone"] }
[[axis]]
zip = { "operation.0.bytes" = [64, 128, 4096], "operation.1.bytes" = [4096, 128, 64] }
names = { "operation.0.bytes" = "copied", "operation.1.bytes" = "zeroed" }
[[axis]]
name = "bin"
key = "system.device.bin"
values = ["800D", "1600K"]
[[exclude]]
when = ["bin = 1600K", "copied <= zeroed", "copied > 64"]
"#,
    );
    assert_eq!(sweep(&directory, "out", &[]).0, 0);
    let shown = |row: &BTreeMap<String, String>| {
        ["point", "copied", "zeroed", "bin"].map(|column| row[column].clone()).join(" ")
    };
    let rows: Vec<String> = table(&directory.path("out/results.csv")).iter().map(shown).collect();
    assert_eq!(rows, ["0 64 4096 800D", "1 64 4096 1600K", "2 128 128 800D", "3 4096 64 800D", "4 4096 64 1600K"]);
}

/// Cut anywhere, in the middle of a line too, a journal gives what it has whole, and the rest is run again.
#[test]
fn a_sweep_that_was_killed_goes_on_and_ends_with_the_same_bytes() {
    let directory = sound();
    assert_eq!(sweep(&directory, "whole", &[]).0, 0);
    let journal = fs::read(directory.path("whole/journal.jsonl")).unwrap();
    for cut in [0, 10, 60, journal.len() / 3, journal.len() / 2, journal.len() - 2, journal.len() - 1, journal.len()] {
        let (kept, out) = (&journal[..cut], format!("cut-{cut}"));
        fs::create_dir(directory.path(&out)).unwrap();
        fs::write(directory.path(&out).join("journal.jsonl"), kept).unwrap();
        let (code, stderr) = sweep(&directory, &out, &[]);
        assert_eq!(code, 0, "{cut}: {stderr}");
        // What is there of the last line counts if only its end is missing.
        let whole = |at: usize| journal[at..].starts_with(b"\n");
        let ends = (0..journal.len()).filter(|&at| whole(at) && at <= cut);
        let lines = ends.count().saturating_sub(1);
        let said = format!("sweep: {} run", 16 - lines);
        assert!(
            stderr.starts_with(&said) && (lines == 0 || stderr.contains(&format!(", {lines} done before"))),
            "{cut}: {stderr}"
        );
        assert_eq!(results(&directory, "whole"), results(&directory, &out), "cut at {cut}");
    }
}

#[test]
fn only_what_has_changed_is_run_again() {
    let directory = sound();
    sweep(&directory, "out", &[]);
    let first = results(&directory, "out");
    let said = |more: &[&str]| sweep(&directory, "out", more).1.lines().next().unwrap().to_owned();
    assert_eq!(said(&[]), "sweep: 0 runs done, 16 done before");
    assert_eq!(results(&directory, "out"), first);

    let (sweep_file, scenario, system) =
        (directory.path("sweep.toml"), directory.path("scenario.toml"), directory.path("system.toml"));
    let replace = |path: &PathBuf, from: &str, to: &str| {
        let text = fs::read_to_string(path).unwrap();
        assert!(text.contains(from));
        fs::write(path, text.replacen(from, to, 1)).unwrap();
    };
    replace(&system, "width = 8", "width = 0x8 # pins");
    replace(&scenario, "[\"baseline\", \"rowclone\"]", "[\"rowclone\", \"baseline\", \"psm-only\"]");
    assert_eq!(said(&[]), "sweep: 8 runs done, 16 done before", "a spelling is no change; a policy more is");
    replace(&sweep_file, "64, 65536", "64, 128, 65536");
    assert_eq!(said(&[]), "sweep: 12 runs done, 24 done before");
    replace(&system, "postpone_max = 0", "postpone_max = 8");
    assert_eq!(said(&[]), "sweep: 36 runs done");
    replace(&system, "postpone_max = 8", "postpone_max = 0");
    assert_eq!(said(&[]), "sweep: 0 runs done, 36 done before", "nothing is forgotten");
}

#[test]
fn shards_merged_are_the_whole_in_one_directory_or_in_several() {
    let directory = with_sweep(SWEEP);
    sweep(&directory, "whole", &[]);
    let file = directory.path("sweep.toml");
    let paths = ["one", "a", "b", "c", "merged", "again"].map(|name| directory.path(name));
    let [one, a, b, c, merged, again] = paths.each_ref().map(|path| text(path));
    let collect = |more: &[&str]| run(&[&["sweep", "collect", text(&file)], more].concat());
    for (shard, apart) in [("1/3", "a"), ("2/3", "b"), ("3/3", "c")] {
        let (code, _, stderr) = collect(&[one, "--out", one]);
        match shard {
            "1/3" => assert_eq!((code, stderr.contains("one: has no journal of a sweep")), (2, true), "{stderr}"),
            "2/3" => {
                assert!(
                    code == 3 && stderr.contains("; 14 missing, the first at point 1, 2, 4, 5, 7, 10, 11\n"),
                    "{stderr}"
                );
            }
            _ => assert!(
                code == 3 && stderr.starts_with("sweep: 16 runs finished, 2 of them failed; 6 missing"),
                "{stderr}"
            ),
        }
        for out in ["one", apart] {
            assert_eq!(sweep(&directory, out, &["--shard", shard]).0, i32::from(shard != "2/3"), "{shard}");
        }
        assert!(!directory.path(apart).join("results.csv").exists(), "a shard has no table");
    }
    assert_eq!(collect(&[one, "--out", one]).0, 1, "complete, and some failed");
    assert_eq!(collect(&[a, b, c, "--out", merged]).0, 1);
    assert_eq!(results(&directory, "one"), results(&directory, "whole"));
    assert_eq!(results(&directory, "merged"), results(&directory, "whole"));
    // Another part of the runs, and then all of them again, into the same directory.
    assert_eq!(collect(&[a, c, "--out", merged]).0, 3);
    assert_eq!(collect(&[a, b, c, "--out", merged]).0, 1);
    assert_eq!(results(&directory, "merged"), results(&directory, "whole"));
    // Without one of them, what it did is missing, and is found again when the sweep runs where the others' journals
    // are.
    assert_eq!(collect(&[a, c, "--out", again]).0, 3);
    assert!(sweep(&directory, "one", &[]).1.starts_with("sweep: 0 runs done, 20 done before, 2 failed"));
}

/// As under a scheduler: no shard waits for another, and all write into one directory.
#[test]
fn shards_that_run_at_the_same_time_share_a_directory() {
    let directory = with_sweep(SWEEP);
    sweep(&directory, "whole", &[]);
    let (file, out) = (directory.path("sweep.toml"), directory.path("out"));
    let shards = ["1/4", "2/4", "3/4", "4/4"];
    let running: Vec<Child> = shards
        .iter()
        .map(|shard| {
            let mut program = Command::new(env!("CARGO_BIN_EXE_rowclone-sim"));
            program.args(["sweep", text(&file), "--out", text(&out), "--shard", shard]);
            program.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        })
        .collect();
    for mut shard in running {
        assert!(matches!(shard.wait().unwrap().code(), Some(0 | 1)), "each is done, with or without points that fail");
    }
    assert_eq!(run(&["sweep", "collect", text(&file), text(&out), "--out", text(&out)]).0, 1);
    assert_eq!(results(&directory, "out"), results(&directory, "whole"));
}

#[test]
fn a_directory_of_something_else_is_left_alone() {
    let directory = sound();
    let file = directory.path("sweep.toml");
    let (scenario, out) = (directory.path("scenario.toml"), directory.path("out"));
    assert_eq!(run(&["run", text(&scenario), "--out", text(&out)]).0, 0);
    let before = fs::read(directory.path("out/results.csv")).unwrap();
    let (code, stderr) = sweep(&directory, "out", &[]);
    assert!(code == 2 && stderr.contains("results.csv: exists already\nhelp: give another directory"), "{stderr}");
    assert_eq!(fs::read(directory.path("out/results.csv")).unwrap(), before);
    assert_eq!(sweep(&directory, "out", &["--force"]).0, 0);

    fs::copy(&file, directory.path("other.toml")).unwrap();
    let (code, _, stderr) = run(&["sweep", text(&directory.path("other.toml")), "--out", text(&out)]);
    assert!(code == 2 && stderr.contains("out: holds the sweep `sweep`, and not `other`"), "{stderr}");
    let (code, stderr) = sweep(&directory, "scenario.toml", &[]);
    assert!(code == 2 && stderr.contains("scenario.toml: is a file\nhelp: give `--out` a directory"), "{stderr}");
}

#[test]
fn a_dry_run_says_what_would_be_run_and_runs_nothing() {
    let directory = with_sweep(SWEEP);
    let file = directory.path("sweep.toml");
    let (code, stdout, _) =
        run(&["sweep", text(&file), "--dry-run", "--shard", "2/5", "--out", text(&directory.path("out"))]);
    let place = directory.path("");
    let stdout = stdout.replace(text(&place), "");
    assert_eq!(code, 0);
    let start = "sweep.toml: 12 points of scenario.toml\nshard 2 of 5: 3 points\naxis: bytes (operation.0.bytes), 2 \
        values\n\
        axis: operation.0.src, 3 values\naxis: seed, 2 values\n\npoint  bytes";
    assert!(stdout.starts_with(start), "{stdout}");
    assert!(stdout.contains("\n    1     64    same-subarray     7  baseline, rowclone\n"), "{stdout}");
    assert!(!directory.path("out").exists());
}

#[test]
fn times_are_kept_apart_from_results() {
    let directory = sound();
    sweep(&directory, "out", &[]);
    let times = table(&directory.path("out/times.csv"));
    assert_eq!(times.len(), 16);
    assert!(times.iter().all(|row| row["wall_s"].parse::<f64>().unwrap() > 0.0));
    let results = table(&directory.path("out/results.csv"));
    assert!(results[0].keys().all(|column| !column.contains("wall")));
}

/// Read back by the library that wrote it; `cargo xtask full` has another one read it.
#[test]
fn parquet_says_what_csv_says() {
    let directory = with_sweep(SWEEP);
    sweep(&directory, "out", &[]);
    let csv = table(&directory.path("out/results.csv"));
    let reader = SerializedFileReader::try_from(directory.path("out/results.parquet").as_path()).unwrap();
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    assert_eq!(rows.len(), csv.len());
    for (row, cells) in rows.iter().zip(&csv) {
        assert_eq!(row.len(), cells.len());
        for (column, field) in row.get_column_iter() {
            let found = match field {
                Field::Null => String::new(),
                Field::Str(text) => text.clone(),
                Field::Bool(flag) => flag.to_string(),
                Field::Long(count) => count.to_string(),
                Field::Double(number) => format!("{number:?}"),
                other => panic!("{column}: {other:?}"),
            };
            assert_eq!(found, cells[column], "{column}");
        }
    }
}

/// The type that pandas and pyarrow infer for a column of these texts; nothing of a column without values.
fn inferred(texts: &[&str]) -> Option<Physical> {
    let texts: Vec<_> = texts.iter().filter(|text| !text.is_empty()).collect();
    let all = |is: fn(&str) -> bool| texts.iter().all(|text| is(text));
    if texts.is_empty() {
        None
    } else if all(|text| text.parse::<i64>().is_ok()) {
        Some(Physical::INT64)
    } else if all(|text| text.parse::<f64>().is_ok()) {
        Some(Physical::DOUBLE)
    } else if all(|text| ["true", "false"].contains(&text)) {
        Some(Physical::BOOLEAN)
    } else {
        Some(Physical::BYTE_ARRAY)
    }
}

/// Axes of every type; whole numbers and fractions under one name; points that fail and have no figures.
#[test]
fn the_types_of_parquet_are_those_that_readers_infer_from_the_csv() {
    let sweep_text = r#"scenario = "scenario.toml"
seeds = [1, 0x7fff_ffff_ffff_ffff]
[[axis]]
key = "system.refresh.enabled"
values = [true, false]
[[axis]]
name = "share"
key = "workload.write_share"
values = [0, 0.5, 1.0]
[[axis]]
zip = { "workload.bytes" = [4096, 8192], "workload.start" = ["4096", "8192"] }
[[axis]]
name = "low"
key = "system.controller.drain_low"
values = [8, 40]
[[axis]]
name = "high"
key = "system.controller.drain_high"
values = [16, 48]
"#;
    let directory = with_sweep(sweep_text);
    let scenario = "system = \"system.toml\"\npolicies = [\"baseline\"]\nseed = 1\n[workload]\nkind = \
        \"random\"\ncount = 100\n\
                    bytes = 4096\n";
    fs::write(directory.path("scenario.toml"), scenario).unwrap();
    let (code, stderr) = sweep(&directory, "out", &[]);
    assert_eq!(code, 1, "the low watermark is above the high one: {stderr}");
    let mut reader = csv::Reader::from_path(directory.path("out/results.csv")).unwrap();
    let names = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let parquet = SerializedFileReader::try_from(directory.path("out/results.parquet").as_path()).unwrap();
    let schema = parquet.metadata().file_metadata().schema_descr();
    let mut seen = BTreeMap::new();
    for (index, name) in names.iter().enumerate() {
        let column = schema.column(index);
        assert_eq!(column.name(), name);
        if let Some(expected) = inferred(&rows.iter().map(|row| &row[index]).collect::<Vec<_>>()) {
            assert_eq!(column.physical_type(), expected, "{name}");
            // Neither unsigned nor shorter: plain int64, and UTF-8 strings.
            let logical = (expected == Physical::BYTE_ARRAY).then_some(LogicalType::String);
            assert_eq!(column.logical_type_ref(), logical.as_ref(), "{name}");
            seen.insert(name, expected);
        }
    }
    let types = ["system.refresh.enabled", "share", "workload.bytes", "workload.start", "seed", "error", "requests"];
    let expected = [
        Physical::BOOLEAN,
        Physical::DOUBLE,
        Physical::INT64,
        Physical::INT64,
        Physical::INT64,
        Physical::BYTE_ARRAY,
        Physical::INT64,
    ];
    assert_eq!(types.map(|name| seen[name]), expected);
}

/// The shipped sweep: a change of results is a change of this snapshot, and wants another `MODEL_VERSION`.
#[test]
fn the_shipped_sweep_is_as_it_was() {
    let directory = Directory::sound();
    let out = directory.path("out");
    let (code, _, stderr) = run(&["sweep", "sweeps/copy-size.toml", "--out", text(&out)]);
    assert_eq!(code, 0, "{stderr}");
    let rows = table(&out.join("results.csv"));
    let columns = [
        "source",
        "bytes",
        "policy",
        "copy_latency_mean_ns",
        "dynamic_energy_nj",
        "channel_bytes",
        "copies_by_fpm_share",
    ];
    let shown = rows.iter().map(|row| columns.map(|column| row[column].as_str()).join(" ")).collect::<Vec<_>>();
    insta::assert_snapshot!(format!("model version {}\n{}\n", rowclone_sweep::MODEL_VERSION, shown.join("\n")));
}

/// Values that are lists are cells of text, as in TOML. A page goes by FPM within a subarray of any size.
#[test]
fn rows_per_subarray_are_swept_as_lists_too() {
    let key = "key = \"operation.0.src\"\nvalues = [\"same-subarray\", \"other-bank\", \"same-bank\"]";
    let axis = "name = \"rows\"\nkey = \"system.geometry.rows_per_subarray\"\nvalues = [512, 576, [640, 640, 768]]";
    let directory = with_sweep(&SWEEP.replace(key, axis).replace("[64, 65536]", "[4096]").replace("[1, 7]", "[1]"));
    let (code, stderr) = sweep(&directory, "out", &[]);
    assert_eq!(code, 0, "{stderr}");
    let rows = table(&directory.path("out").join("results.csv"));
    let found: Vec<&str> = rows.iter().map(|row| row["rows"].as_str()).collect();
    let expected = ["512", "576", "[640, 640, 768]"];
    assert!(
        expected.iter().all(|rows| found.contains(rows)) && found.iter().all(|rows| expected.contains(rows)),
        "{found:?}"
    );
}

/// A plot of what the sweep has, and one of what only its last point has.
const PLOTS: &str = "\n[[plot]]\nfile = \"late.svg\"\nx = \"bytes\"\ny = \"makespan_ns\"\nwhere = \"bytes=65536\"\n\
                     [[plot]]\nfile = \"any.svg\"\nx = \"bytes\"\ny = \"makespan_ns\"\nby = \"policy\"\n";

#[test]
fn of_what_is_not_whole_the_pictures_are_drawn_that_can_be() {
    let directory = with_sweep(&(SWEEP.replace(" \"other-bank\",", "") + PLOTS));
    assert_eq!(sweep(&directory, "out", &["--shard", "1/8"]).0, 0);
    let (file, out, all) = (directory.path("sweep.toml"), directory.path("out"), directory.path("all"));
    let (code, _, stderr) = run(&["sweep", "collect", text(&file), text(&out), "--out", text(&all)]);
    assert!(code == 3 && stderr.contains("late.svg was not drawn: "), "{stderr}");
    assert!(all.join("any.svg").exists() && !all.join("late.svg").exists());
}

#[test]
fn a_value_that_no_point_can_use_is_refused_before_anything_runs() {
    let key = "key = \"operation.0.src\"\nvalues = [\"same-subarray\", \"other-bank\", \"same-bank\"]";
    let rows = "system.geometry.rows_per_subarray";
    let refused = |key_and_values: &str, message: &str, help: &str| {
        let directory = with_sweep(&SWEEP.replace(key, key_and_values));
        let (code, stderr) = sweep(&directory, "out", &[]);
        let stderr = stderr.replace(text(&directory.path("")), "");
        assert_eq!((code, stderr.as_str()), (2, format!("error: {message}\nhelp: {help}\n").as_str()));
        assert!(!directory.path("out").exists());
    };
    refused(
        &format!("key = {rows:?}\nvalues = [256, 3, 512]"),
        "sweep.toml: no point can be run with `system.geometry.rows_per_subarray=3`: \
         --set system.geometry.rows_per_subarray=3: `geometry.rows_per_subarray` is 3, but must be a whole number from \
         128 to 1024, or a list of 1 to 8 of them",
        "try `rows_per_subarray = 128`",
    );
    // Where no point can be run, the error is that of the first.
    refused(
        &format!("key = {rows:?}\nvalues = [3, 5]"),
        "--set system.geometry.rows_per_subarray=3: `geometry.rows_per_subarray` is 3, but must be a whole number from \
            128 to 1024, or a list of 1 to 8 of them",
        "try `rows_per_subarray = 128`",
    );
    refused(
        "key = \"system.device.bin\"\nvalues = [\"1066G\", \"1066Z\"]",
        "sweep.toml: no point can be run with `system.device.bin=1066Z`: \
         --set system.device.bin=1066Z: `device.bin` is \"1066Z\", which is none of its values",
        "did you mean `1066E`? the values are `800D`, `800E`, `1066E`, `1066F`, `1066G`, `1333G`, `1333H`, `1600H`, \
            `1600J`, \
         `1600K`, `1866K`, `1866L`, `1866M`, `2133L`, `2133M`, `2133N`",
    );
}

#[test]
fn no_picture_and_no_journal_of_somebody_else_is_touched() {
    for name in ["any.svg", "journal.jsonl"] {
        let directory = with_sweep(&(SWEEP.replace(" \"other-bank\",", "") + PLOTS));
        fs::create_dir(directory.path("out")).unwrap();
        fs::write(directory.path("out").join(name), "mine").unwrap();
        let (code, stderr) = sweep(&directory, "out", &[]);
        assert!(code == 2 && stderr.contains(&format!("{name}: exists already\nhelp: ")), "{stderr}");
        assert_eq!(fs::read_to_string(directory.path("out").join(name)).unwrap(), "mine");
        assert_eq!(sweep(&directory, "out", &["--force"]).0, 0);
        assert_eq!(sweep(&directory, "out", &[]).0, 0, "its own are replaced");
    }
}

#[test]
fn tables_of_something_else_are_not_replaced_by_collected_ones() {
    let directory = sound();
    assert_eq!(sweep(&directory, "out", &[]).0, 0);
    let (file, out, all) = (directory.path("sweep.toml"), directory.path("out"), directory.path("all"));
    let collect = |more: &[&str]| {
        let words = ["sweep", "collect", text(&file), text(&out), "--out", text(&all)];
        run(&[&words[..], more].concat())
    };
    fs::create_dir(&all).unwrap();
    fs::write(all.join("results.csv"), "precious").unwrap();
    let (code, _, stderr) = collect(&[]);
    assert!(code == 2 && stderr.contains("results.csv: exists already\nhelp: give another directory"), "{stderr}");
    assert_eq!(fs::read_to_string(all.join("results.csv")).unwrap(), "precious");
    assert_eq!(fs::read_dir(&all).unwrap().count(), 1, "nothing was added");
    assert_eq!(collect(&["--force"]).0, 0);
    assert_eq!(collect(&[]).0, 0, "its own are replaced");
}

#[test]
fn more_jobs_than_can_work_are_refused() {
    for jobs in ["0", "1025", "many"] {
        let (code, stderr) = sweep(&sound(), "out", &["--jobs", jobs]);
        assert!(code == 2 && stderr.contains("write a whole number from 1 to 1024"), "{stderr}");
    }
}

/// As `run --no-baseline`: the sweep runs the policies that it lists, and reports what is then empty.
#[test]
fn a_sweep_without_its_reference_reports_its_empty_ratios() {
    let body = format!("set = {{ policies = [\"rowclone\"] }}\n{}", SWEEP.replace(" \"other-bank\",", ""));
    let directory = with_sweep(&format!("baseline = false\n{body}"));
    let (code, stderr) = sweep(&directory, "out", &[]);
    assert_eq!(code, 0, "{stderr}");
    let message = "no reference of 8 rows: speedup and energy_ratio are empty; without `baseline = false` in the sweep \
        file, the same \
                   command runs what is missing";
    assert_eq!(stderr.matches(message).count(), 1, "{stderr}");
    let rows = table(&directory.path("out/results.csv"));
    let ratios = ["reference", "speedup", "energy_ratio"];
    assert!(rows.iter().all(|row| ratios.iter().all(|column| row[*column].is_empty())));
    // Without the key, the runs of `rowclone` are kept, and the references run without a row.
    fs::write(directory.path("sweep.toml"), &body).unwrap();
    let (code, stderr) = sweep(&directory, "out", &[]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.starts_with("sweep: 8 runs done, 8 done before\n") && !stderr.contains("no reference"), "{stderr}");
    let unlisted = table(&directory.path("out/results.csv"));
    assert_eq!(table(&directory.path("out/times.csv")).len(), 16);
    assert!(unlisted.len() == 8 && unlisted.iter().all(|row| row["reference"] == "baseline"), "{unlisted:?}");
    // A reference that is not finished is missing.
    let journal = fs::read_to_string(directory.path("out/journal.jsonl")).unwrap();
    let has_row = |line: &&str| !line.contains("digest") || unlisted.iter().any(|row| line.contains(&row["digest"]));
    let kept: Vec<&str> = journal.lines().filter(has_row).collect();
    fs::create_dir(directory.path("part")).unwrap();
    fs::write(directory.path("part/journal.jsonl"), kept.join("\n") + "\n").unwrap();
    let [file, part, all] = ["sweep.toml", "part", "all"].map(|name| directory.path(name));
    let (code, _, stderr) = run(&["sweep", "collect", text(&file), text(&part), "--out", text(&all)]);
    assert!(code == 3 && stderr.starts_with("sweep: 8 runs finished; 8 missing"), "{stderr}");
    assert!(table(&all.join("results.csv")).iter().all(|row| row["speedup"].is_empty()));
    // Listed, the references have rows, and the ratios are the same.
    let listed = body.replace("[\"rowclone\"]", "[\"baseline\", \"rowclone\"]");
    fs::write(directory.path("sweep.toml"), listed).unwrap();
    let (code, stderr) = sweep(&directory, "out", &[]);
    assert!(code == 0 && stderr.starts_with("sweep: 0 runs done, 16 done before\n"), "{stderr}");
    let listed = table(&directory.path("out/results.csv"));
    let fast = listed.iter().filter(|row| row["policy"] == "rowclone");
    let of = |row: &BTreeMap<String, String>| ratios.map(|column| row[column].clone());
    assert_eq!(fast.map(of).collect::<Vec<_>>(), unlisted.iter().map(of).collect::<Vec<_>>());
}
