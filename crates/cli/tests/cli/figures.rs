//! Every field of a result, by its name, against a run that was worked out by hand and in which no two figures are
//! equal.

mod by_hand;
pub(crate) mod sleep;
mod trace;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use self::by_hand::{ENERGIES, EPOCHS, Expected, FIGURES, SWEEP, TABLE};
use crate::common::{Directory, run};

/// The run, in a directory of its own: `scenario.toml` and `native.trace`.
fn prepared() -> Directory {
    let directory = Directory::with(("t_refi_ps = 7_800_000", "t_refi_ps = 37_500_000"), ("", ""));
    let system = fs::read_to_string(directory.path("system.toml")).unwrap();
    // Consecutive rows of a bank lie in one subarray.
    let system = system.replace(
        "preset = \"row-interleaved\"",
        "fields = [\"row\", \"rank\", \"bank\", \"channel\", \"column\", \"offset\"]",
    );
    assert!(system.contains("fields"), "{system}");
    fs::write(directory.path("system.toml"), system + "[controller]\ncopy_hold_max_cycles = 200\n").unwrap();
    fs::write(directory.path("native.trace"), trace::text()).unwrap();
    fs::write(directory.path("scenario.toml"), by_hand::SCENARIO).unwrap();
    directory
}

/// Without the run of the baseline.
const ALONE: &[&str] = &["--no-baseline"];

/// Writes the results of the run into `out`.
fn results(directory: &Directory, more: &[&str]) -> Value {
    let (scenario, out) = (directory.path("scenario.toml"), directory.path("out"));
    let arguments = ["run", scenario.to_str().unwrap(), "--check", "--out", out.to_str().unwrap()];
    let (code, stdout, stderr) = run(&[&arguments[..], more].concat());
    assert_eq!(code, 0, "{stdout}{stderr}");
    let results = fs::read_to_string(out.join("results.json")).unwrap();
    let results: Value = serde_json::from_str(&results).unwrap();
    assert_eq!(results.as_array().unwrap().len(), 1);
    results[0].clone()
}

/// All leaves of a value by their paths: `reads.row_hits`, `parts.0.count`. An empty list or object is a leaf, too.
fn leaves(value: &Value, path: &str, into: &mut BTreeMap<String, Value>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Object(map) if !map.is_empty() => map.iter().for_each(|(key, value)| leaves(value, &below(key), into)),
        Value::Array(list) if !list.is_empty() => {
            list.iter().zip(0..).for_each(|(value, index): (_, usize)| leaves(value, &below(&index.to_string()), into));
        }
        leaf => {
            into.insert(path.to_owned(), leaf.clone());
        }
    }
}

/// Whether two numbers are equal to 12 digits: sums of floats depend on their order.
fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-12 * expected.abs()
}

/// Whether a figure is what was worked out.
fn is(found: &Value, expected: &Expected) -> bool {
    match *expected {
        Expected::Count(count) => found.as_u64() == Some(count),
        Expected::Number(number) => found.as_f64().is_some_and(|found| close(found, number)),
        Expected::Text(text) => found.as_str() == Some(text),
        Expected::False => *found == Value::Bool(false),
        Expected::True => *found == Value::Bool(true),
        Expected::Null => found.is_null(),
        Expected::Empty => found.as_array().is_some_and(Vec::is_empty),
    }
}

/// Takes the expected fields out of those found; what is wrong with each that is missing or has another value.
fn remove<'a>(
    found: &mut BTreeMap<String, Value>,
    expected: impl Iterator<Item = &'a (&'static str, Expected)>,
) -> Vec<String> {
    let wrong = expected.filter_map(|(path, expected)| match found.remove(*path) {
        Some(value) if is(&value, expected) => None,
        Some(value) => Some(format!("`{path}` is {value}, and not {expected:?}")),
        None => Some(format!("there is no `{path}`")),
    });
    wrong.collect()
}

#[test]
fn every_field_is_what_was_worked_out_by_hand() {
    let result = results(&prepared(), ALONE);
    let mut found = BTreeMap::new();
    leaves(&result, "", &mut found);
    // They name files of the machine, or repeat the system file.
    for of_the_place in ["rerun", "system", "trace.file"] {
        assert!(found.remove(of_the_place).is_some(), "{of_the_place}");
    }
    assert_eq!(remove(&mut found, FIGURES.iter().chain(ENERGIES).chain(EPOCHS)), [""; 0]);
    let missing: Vec<&String> = found.keys().filter(|path| !path.starts_with("epochs.")).collect();
    assert!(missing.is_empty(), "not worked out: {missing:?}");
}

/// A figure in the place of another would be seen. Equal by their meaning are counts of the same requests, the largest
/// of less than a hundred values and its 99th percentile, and the medians of copies that did not wait.
#[test]
fn no_two_figures_are_equal() {
    let same = |path: &str| -> String {
        if let Some(unit) = path.strip_prefix("latency_") {
            return format!("makespan_{unit}"); // Of a workload, the latency that is compared.
        }
        let (name, part) = path.rsplit_once('.').unwrap_or((path, ""));
        match part {
            "count" => format!("{}.count", name.replace("_ns", "_cycles").replace("copy_response", "copy_latency")),
            "p50" => path.replace("copy_response", "copy_latency"),
            "max" if !name.starts_with("read_latency") => format!("{name}.p99"),
            _ => path.to_owned(),
        }
    };
    let mut named: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let others = ["schema_version", "seed", "parts", "served", "trace", "check"];
    let figures = FIGURES.iter().filter(|(path, _)| !others.contains(&path.split('.').next().unwrap()));
    for (path, expected) in figures.chain(ENERGIES) {
        let number = match *expected {
            Expected::Count(count) => count as f64,
            Expected::Number(number) => number,
            _ => continue,
        };
        if number != 0.0 {
            named.entry(format!("{number:.9}")).or_default().insert(same(path));
        }
    }
    let twice: Vec<_> = named.into_iter().filter(|(_, paths)| paths.len() > 1).collect();
    assert!(twice.is_empty(), "{twice:#?}");
}

/// The path of a column's field in JSON: `reads_row_hits` is `reads.row_hits`, `read_latency_mean_ns` is
/// `read_latency_ns.mean`.
fn path_of(column: &str) -> String {
    if column.ends_with("_latency_ratio") {
        return column.to_owned();
    }
    let distributions = ["read_latency", "write_latency", "copy_latency", "copy_response", "blocked_by_copies"];
    for name in distributions {
        if let Some(part) = column.strip_prefix(name).and_then(|rest| rest.strip_prefix('_')) {
            return format!("{name}_ns.{}", part.trim_end_matches("_ns"));
        }
    }
    for name in ["reads", "writes", "read_queue", "write_queue", "copy_queue", "trace"] {
        if let Some(part) = column.strip_prefix(name).and_then(|rest| rest.strip_prefix('_')) {
            return format!("{name}.{part}");
        }
    }
    if let Some(kind) = column.strip_prefix("commands_") {
        return format!("commands.{}", kind.replace('_', " "));
    }
    match column.strip_prefix("energy_").and_then(|rest| rest.strip_suffix("_nj")) {
        Some(cause) if cause != "operation" => format!("energy_by_cause_nj.{cause}"),
        _ => column.to_owned(),
    }
}

/// The rows of a file, each by the names of its columns.
fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_path(path).unwrap().deserialize().map(Result::unwrap).collect()
}

/// Columns of programs on cores, which JSON has per core or in `mix`.
const OF_CORES: [&str; 12] = [
    "ipc",
    "energy_per_instruction_nj",
    "copy_share_of_channel_bytes",
    "prefetches_requested",
    "prefetches_useful",
    "prefetches_late",
    "prefetches_useless",
    "prefetches_dropped",
    "injected_lines",
    "weighted_speedup",
    "harmonic_speedup",
    "maximum_slowdown",
];

/// That a row has what the fields of JSON have: all columns but `others`, and which causes without energy it has.
fn assert_same(row: &BTreeMap<String, String>, fields: &BTreeMap<String, Value>, others: &[&str]) {
    let parts = |mechanism: &str| -> u64 {
        let of = |index: &usize| fields.get(&format!("parts.{index}.mechanism")).is_some_and(|it| it == mechanism);
        let count = |index: usize| fields[&format!("parts.{index}.count")].as_u64().unwrap();
        (0..9).filter(of).map(count).sum()
    };
    for (column, cell) in row.iter().filter(|(column, _)| !others.contains(&column.as_str())) {
        let field = match column.strip_prefix("parts_") {
            Some(mechanism) => Value::from(parts(mechanism)),
            None => match fields.get(&path_of(column)) {
                Some(field) => field.clone(),
                // Without programs on cores.
                None if OF_CORES.contains(&column.as_str()) => Value::Null,
                None if column.starts_with("energy_") => Value::from(0.0),
                None => panic!("`{column}` is no field of JSON"),
            },
        };
        let same = match &field {
            Value::Number(number) => cell.parse().is_ok_and(|cell| close(cell, number.as_f64().unwrap())),
            Value::Null => cell.is_empty(),
            Value::String(text) => cell == text,
            Value::Bool(flag) => *cell == flag.to_string(),
            _ => false,
        };
        assert!(same, "`{column}` is {cell:?}, and in JSON {field}");
    }
}

#[test]
fn tables_have_what_json_has() {
    let directory = prepared();
    let mut result = results(&directory, ALONE);
    let epochs = result.as_object_mut().unwrap().remove("epochs").unwrap();
    let mut fields = BTreeMap::new();
    leaves(&result, "", &mut fields);
    let out = directory.path("out");

    let whole = rows(&out.join("results.csv"));
    assert_eq!((whole.len(), whole[0]["warnings"].as_str()), (1, fields["warnings.0"].as_str().unwrap()));
    assert_same(&whole[0], &fields, &["warnings"]);

    let parts = rows(&out.join("epochs.csv"));
    assert_eq!(parts.len(), epochs.as_array().unwrap().len());
    for (row, epoch) in parts.iter().zip(epochs.as_array().unwrap()) {
        let mut of_epoch = fields.clone();
        of_epoch.retain(|path, _| {
            ["schema_version", "scenario", "policy", "placement", "seed", "currents", "reference", "baseline"]
                .contains(&path.as_str())
        });
        leaves(epoch, "", &mut of_epoch);
        assert_same(row, &of_epoch, &[]);
    }
}

#[test]
fn a_sweep_has_what_json_has() {
    let directory = prepared();
    let mut fields = BTreeMap::new();
    leaves(&results(&directory, ALONE), "", &mut fields);
    fs::write(directory.path("sweep.toml"), "scenario = \"scenario.toml\"\nbaseline = false\n").unwrap();
    let (file, out) = (directory.path("sweep.toml"), directory.path("swept"));
    let (code, _, stderr) = run(&["sweep", file.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    assert_eq!(code, 0, "{stderr}");
    let mut row = rows(&out.join("results.csv")).remove(0);
    for (column, expected) in SWEEP {
        let cell = row.remove(*column).unwrap();
        let cell = cell.parse::<f64>().map_or(Value::from(cell), Value::from);
        assert!(is(&cell, expected), "`{column}` is {cell}, and not {expected:?}");
    }
    let others = ["point", "scenario", "warnings", "error", "model_version", "digest", "rerun"];
    assert_same(&row, &fields, &others);
}

/// The table says the same of each figure, rounded.
#[test]
fn the_table_has_what_json_has() {
    let directory = prepared();
    results(&directory, ALONE);
    let report = fs::read_to_string(directory.path("out/report.txt")).unwrap();
    let (_, report) = report.split_once("Policies\n").unwrap();
    let (section, _) = report.split_once("\nEpochs\n").unwrap();
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let found: Vec<String> = section.lines().map(words).filter(|line| !line.is_empty()).collect();
    assert_eq!(found, TABLE);
}

/// Writes the run of operations between which the rank sleeps.
pub(crate) fn sleeping() -> Directory {
    let directory = Directory::sound();
    fs::write(directory.path("sleep.toml"), sleep::SYSTEM).unwrap();
    fs::write(directory.path("scenario.toml"), sleep::SCENARIO).unwrap();
    directory
}

#[test]
fn every_field_of_an_operation_and_of_sleep_is_what_was_worked_out_by_hand() {
    let directory = sleeping();
    let mut found = BTreeMap::new();
    leaves(&results(&directory, &[]), "", &mut found);
    assert_eq!(remove(&mut found, sleep::FIGURES.iter()), [""; 0]);
    // A read and a write have no mechanism, and nothing to compare with.
    let nothing = |field: &Value| field.is_null() || *field == "" || *field == Value::Array(Vec::new());
    let missing = found.iter().filter(|(path, field)| path.starts_with("operations.") && !nothing(field));
    assert_eq!(missing.collect::<Vec<_>>(), [], "not worked out");

    let listed = rows(&directory.path("out/operations.csv"));
    for (index, row) in listed.iter().enumerate() {
        let expected: BTreeMap<String, String> =
            sleep::OPERATIONS.iter().map(|(column, cells)| ((*column).to_owned(), cells[index].to_owned())).collect();
        assert_eq!(*row, expected);
    }
    assert_eq!(listed.len(), 3);
}

/// Warnings that no other test makes.
#[test]
fn a_result_warns_of_other_currents_and_of_an_empty_measurement() {
    let directory = Directory::sound();
    let scenario = directory.path("scenario.toml");
    let warnings = |set: &str| {
        let arguments = ["run", scenario.to_str().unwrap(), "--format", "json", "--set", set];
        let (code, stdout, stderr) = run(&arguments);
        assert_eq!(code, 0, "{stderr}");
        serde_json::from_str::<Value>(&stdout).unwrap()[0]["warnings"].clone()
    };
    assert_eq!(warnings("seed=2"), serde_json::json!([]));
    let other = "the currents `2 Gb x8 -25E` are of 2 Gb chips, and the system has 4 Gb chips: its energies are those \
        of another part";
    assert_eq!(warnings("system.device.density_gb=4"), serde_json::json!([other]));
    let over = "nothing was counted: the run ended before its warm-up";
    assert_eq!(warnings("warm_up_cycles=1_000_000"), serde_json::json!([over]));
}
