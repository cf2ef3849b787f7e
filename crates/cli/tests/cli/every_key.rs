//! Every documented key has an effect: another value gives a run another digest and another result.
//!
//! `cases` is the table of all keys with two values of each. A key without a case fails `every_key_has_a_case`.

mod cases;
mod input;

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde_json::Value;

use self::cases::{CURRENTS, Case, Effect, FIXTURES, Fixture};
use crate::common::run;
use rowclone_config::key::{Key, without_indices};
use rowclone_config::{currents, machine, scenario, system};

/// Fields of a result of `run` that repeat the input. They are no evidence that a key has an effect.
const ECHOES: [&str; 8] = ["policy", "placement", "scenario", "system", "controller", "seed", "currents", "warnings"];

/// The first and the last column of a sweep's table with a figure.
const FIGURES: [&str; 2] = ["speedup", "trace_skipped_share"];

#[test]
fn every_key_has_an_effect() {
    FIXTURES.par_iter().for_each(|Fixture { name, body, set, cases }| Inputs::with_body(body).check(name, set, cases));
}

/// Each key is changed in a file of its own, on a system whose ranks enter every power state.
#[test]
fn keys_of_current_sets_have_an_effect() {
    for exit in ["'fast-exit'", "'slow-exit'"] {
        let directory = Inputs::with_body(cases::SLEEPING);
        let keys: Vec<_> = CURRENTS.iter().filter(|key| key.exits.contains(&exit)).collect();
        let files: Vec<String> = keys.iter().map(|key| directory.current_set(key.name, key.changed)).collect();
        let mut cases = Vec::new();
        for (key, file) in keys.iter().zip(&files) {
            cases.push(Case { key: "system.device.currents", base: "'set.toml'", changed: file, effect: key.effect });
        }
        let set = [
            ("system.device.precharge_power_down", exit),
            ("system.controller.power_down_after_cycles", "100"),
            ("system.controller.self_refresh_after_cycles", "1000"),
        ];
        directory.check(exit, &set, &cases);
    }
}

/// Each key has a case here.
#[test]
fn every_key_has_a_case() {
    let paths = |prefix: &str, keys: &[Key]| -> Vec<String> {
        keys.iter().map(|key| format!("{prefix}{}", key.path)).collect()
    };
    let systems = paths("system.", &system::KEYS);
    let machines = paths("machine.", machine::KEYS).into_iter().filter(|key| key != "machine.system");
    let keys: BTreeSet<String> = systems.into_iter().chain(machines).chain(paths("", &scenario::KEYS)).collect();
    let cases = FIXTURES.iter().flat_map(|fixture| fixture.cases).map(|case| without_indices(case.key));
    let covered: BTreeSet<String> = cases.collect();
    // A table or a list of tables is covered by its keys.
    let is_table = |key: &String| key != "machine" && keys.iter().any(|other| other.starts_with(&format!("{key}.")));
    let missing: Vec<&String> = keys.difference(&covered).filter(|key| !is_table(key)).collect();
    assert!(missing.is_empty(), "no case changes {missing:?}");
    let unknown: Vec<&String> = covered.difference(&keys).collect();
    assert!(unknown.is_empty(), "{unknown:?} are no keys");

    let covered: BTreeSet<&str> = CURRENTS.iter().map(|key| key.name).collect();
    assert_eq!(covered, currents::KEYS.iter().map(|key| key.path).collect(), "of a current set");
}

/// A run that was done before a file moved need not be done again: files count by what they hold.
#[test]
fn a_file_under_another_name_has_the_same_digest() {
    let directory = Inputs::with_body("[workload]\nkind = 'trace'\nfile = 'native.trace'\nunusable_records = 'skip'\n");
    for (from, to) in [("system.toml", "s.toml"), ("set.toml", "c.toml"), ("native.trace", "t.trace")] {
        fs::copy(directory.path(from), directory.path(to)).unwrap();
    }
    let points = [
        ("system", ["'system.toml'", "'s.toml'", "'system.toml'", "'system.toml'"]),
        ("system.device.currents", ["'set.toml'", "'set.toml'", "'c.toml'", "'set.toml'"]),
        ("workload.file", ["'native.trace'", "'native.trace'", "'native.trace'", "'t.trace'"]),
    ];
    let points = directory.points(&points.map(|(key, values)| (key, values.to_vec())));
    let digests: Vec<_> = points.iter().map(|point| digests(point)).collect();
    assert_eq!(digests.len(), 4);
    assert_eq!(digests.iter().collect::<BTreeSet<_>>().len(), 1, "{digests:?}");
    assert_ne!(digests[0], BTreeSet::from([""]), "every point can be run");
}

/// A directory with a scenario and every file that the cases name.
struct Inputs(tempfile::TempDir);

impl Inputs {
    fn with_body(body: &str) -> Inputs {
        let directory = Inputs(tempfile::tempdir().unwrap());
        for (name, text) in input::files() {
            fs::write(directory.path(name), text).unwrap();
        }
        fs::write(directory.path("calls.rct"), input::calls()).unwrap();
        // A scenario with programs has a machine instead of a system.
        let on_cores = body.contains("kind = 'programs'") || body.contains("machine = ");
        let scenario = input::SCENARIO.replace(if on_cores { "system = 'system.toml'\n" } else { "\0" }, "");
        fs::write(directory.path("scenario.toml"), format!("{scenario}{body}")).unwrap();
        directory
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes the current set with one value changed; its name as TOML.
    fn current_set(&self, key: &str, value: &str) -> String {
        let changed = input::CURRENTS.lines().map(|line| match line.split_once(" = ") {
            Some((name, _)) if name == key => format!("{key} = {value}\n"),
            _ => format!("{line}\n"),
        });
        let mut changed: String = changed.collect();
        if changed == input::CURRENTS {
            changed.extend([key, " = ", value, "\n"]);
        }
        fs::write(self.path(&format!("{key}.toml")), changed).unwrap();
        format!("'{key}.toml'")
    }

    /// Changes one key after the other, from its first value to its second, with all others at their first.
    fn check(&self, name: &str, set: &[(&str, &str)], cases: &[Case<'_>]) {
        let keys: Values<'_> = cases.iter().map(|case| (case.key, case.base)).chain(set.iter().copied()).collect();
        let changed = cases.iter().map(|case| with_change(&keys, case));
        let all: Vec<Values<'_>> = [keys.clone()].into_iter().chain(changed).collect();

        // A sweep refuses values that no point can use.
        let refused = |values: &Values<'_>| {
            let of = cases.iter().zip(&all[1..]).find(|(_, changed)| *changed == values);
            of.is_some_and(|(case, _)| matches!(case.effect, Effect::Refused(_)))
        };
        let usable: Vec<_> = all.iter().filter(|values| !refused(values)).collect();
        let axes: Vec<_> = keys.keys().map(|key| (*key, usable.iter().map(|values| values[key]).collect())).collect();
        let points = self.points(&axes);
        let distinct: BTreeSet<_> = points.iter().map(|point| digests(point)).collect();
        assert_eq!(distinct.len(), usable.len(), "{name}: two values share a digest");
        let first = &all[0];
        let bases = [false, true].map(|baseline| {
            LazyCell::new(move || self.result(first, baseline).unwrap_or_else(|error| panic!("{name}: {error}")))
        });
        let mut changed_points = points.iter().skip(1);
        for (case, values) in cases.iter().zip(&all[1..]) {
            let Case { key, base: from, changed: to, effect } = case;
            let about = format!("{name}: `{key}` from {from} to {to}");
            let point = if matches!(effect, Effect::Refused(_)) { None } else { changed_points.next() };
            let in_table = |point: &[Row]| point.iter().map(|row| row.figures.clone()).collect::<Vec<_>>();
            if matches!(effect, Effect::Figures) && point.is_some_and(|point| in_table(point) != in_table(&points[0])) {
                continue;
            }
            // The table shows no effect on the baseline, nor every figure. That there is no other effect must hold of
            // the baseline, too.
            let shows_alone = matches!(effect, Effect::Figures | Effect::Refused(_));
            let baseline = !shows_alone || key.contains("baseline") || key.contains("reference.");
            let base = &*bases[usize::from(baseline)];
            match (effect, self.result(values, baseline)) {
                (Effect::Refused(message), Err(error)) => assert!(error.contains(message), "{about}: {error}"),
                (Effect::Refused(_), Ok(_)) => panic!("{about}: is not refused"),
                (_, Err(error)) => panic!("{about}: {error}"),
                (Effect::Figures, Ok(result)) => assert!(figures(&result) != figures(base), "{about}: no effect"),
                (Effect::Field(field), Ok(result)) => {
                    assert_ne!(result[0][field], base[0][field], "{about}: no effect");
                    assert!(figures(&result) == figures(base), "{about}: more than `{field}` changes");
                }
                (Effect::Nothing(why), Ok(result)) => {
                    assert!(result == *base, "{about}: changes the result, but {why}");
                }
            }
        }
    }

    /// What `run --format json` prints without the command line that it repeats; or its message where it fails.
    fn result(&self, values: &Values<'_>, baseline: bool) -> Result<Value, String> {
        let sets: Vec<String> = values.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let scenario = self.path("scenario.toml");
        let sets = sets.iter().flat_map(|set| ["--set", set]);
        // Alone, a program would await packets while the queue of another core has no program.
        let alone = !baseline || values.contains_key("machine.network.queues");
        let options = if alone { &["--no-baseline"][..] } else { &[] };
        let arguments = ["run", text(&scenario), "--format", "json"].into_iter();
        let arguments = arguments.chain(options.iter().copied()).chain(sets);
        let (code, stdout, stderr) = run(&arguments.collect::<Vec<_>>());
        if code != 0 {
            return Err(stderr);
        }
        let mut results: Value = serde_json::from_str(&stdout).unwrap();
        for result in results.as_array_mut().unwrap() {
            result.as_object_mut().unwrap().remove("rerun").unwrap();
        }
        Ok(results)
    }

    /// The rows of each point of a sweep.
    fn points(&self, axes: &[(&str, Vec<&str>)]) -> Vec<Vec<Row>> {
        let axes: Vec<String> = axes.iter().map(|(key, values)| format!("'{key}' = [{}]", values.join(", "))).collect();
        let sweep =
            format!("scenario = 'scenario.toml'\nbaseline = false\n[[axis]]\nzip = {{ {} }}\n", axes.join(", "));
        fs::write(self.path("sweep.toml"), sweep).unwrap();
        let (file, out) = (self.path("sweep.toml"), self.path("out"));
        let (code, _, stderr) = run(&["sweep", text(&file), "--out", text(&out), "--force"]);
        assert_eq!(code, 0, "{stderr}");
        let mut table = csv::Reader::from_path(out.join("results.csv")).unwrap();
        let headers = table.headers().unwrap().clone();
        let column = |name: &str| headers.iter().position(|header| header == name).unwrap();
        let [first, last] = FIGURES.map(column);
        let mut points: BTreeMap<u64, Vec<Row>> = BTreeMap::new();
        for row in table.records() {
            let row = row.unwrap();
            let figures = row.iter().take(last + 1).skip(first).map(str::to_owned).collect();
            let row_of = points.entry(row[column("point")].parse().unwrap()).or_default();
            row_of.push(Row { digest: row[column("digest")].to_owned(), figures });
        }
        let points: Vec<_> = points.into_values().collect();
        assert!(points.iter().all(|runs| digests(runs).len() == runs.len()), "two runs of a point share a digest");
        points
    }
}

/// A row of the table of a sweep.
struct Row {
    digest: String,
    figures: Vec<String>,
}

fn digests(rows: &[Row]) -> BTreeSet<&str> {
    rows.iter().map(|row| row.digest.as_str()).collect()
}

/// Values of keys, as TOML.
type Values<'a> = BTreeMap<&'a str, &'a str>;

/// The first values, but for the second one of this key.
fn with_change<'a>(first: &Values<'a>, case: &Case<'a>) -> Values<'a> {
    let mut values = first.clone();
    values.insert(case.key, case.changed);
    if case.key == "system.device.width" {
        // A chip of another width needs currents of that width.
        values.insert("system.device.currents", "'x16.toml'");
    }
    values
}

/// Results without what repeats the input.
fn figures(results: &Value) -> Vec<Value> {
    let mut results = results.as_array().unwrap().clone();
    for result in &mut results {
        for field in ECHOES {
            result.as_object_mut().unwrap().remove(field).unwrap();
        }
    }
    results
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
