//! An axis of a sweep: keys, and the values that they take in turn, together.

use report::Kind;
use serde::Deserialize;
use toml::Value;

use crate::CliError;
use crate::input::{Document, overrides};

use super::ordered::Ordered;
use super::series;
use super::value::{self, same};

/// A key that a sweep sets, and the column of its values.
#[derive(Clone, Debug)]
pub struct AxisColumn {
    /// As `--set` takes it.
    pub key: String,
    /// The column's name.
    pub name: String,
    /// What its cells are.
    pub kind: Kind,
}

/// One value of an axis: of each of its keys.
#[derive(Clone, Debug)]
pub struct Step {
    /// In the order of the axis' columns.
    pub values: Vec<Value>,
    /// The same as words of `--set`.
    pub words: Vec<String>,
}

/// An axis, checked.
#[derive(Clone, Debug)]
pub struct Axis {
    /// At least one.
    pub columns: Vec<AxisColumn>,
    /// At least one, and no two the same.
    pub steps: Vec<Step>,
}

/// As the file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawAxis {
    key: Option<String>,
    name: Option<String>,
    values: Option<Vec<Value>>,
    range: Option<RawRange>,
    log: Option<RawLog>,
    zip: Option<Ordered<Vec<Value>>>,
    names: Option<Ordered<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRange {
    from: Value,
    to: Value,
    step: Value,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLog {
    from: Value,
    to: Value,
    factor: Option<Value>,
    points: Option<u64>,
}

impl RawAxis {
    /// The axis that stands at `place` (`axis.0`).
    pub(super) fn check(self, document: &Document, place: &str) -> Result<Axis, CliError> {
        let axis = if self.zip.is_some() { self.zipped(document, place)? } else { self.single(document, place)? };
        for column in &axis.columns {
            check_key(document, place, &column.key)?;
        }
        if axis.steps.is_empty() {
            return Err(document.fault(place, format!("`{place}` has no values")).with_help("give it at least one"));
        }
        let twice = axis.steps.iter().enumerate().find(|(index, step)| {
            axis.steps[..*index].iter().rev().take(SAME_SEARCHED).any(|other| all_same(&other.values, &step.values))
        });
        if let Some((_, step)) = twice {
            let message = format!("`{place}` has {} twice", step.words.join(" "));
            return Err(document.fault(place, message).with_help("list each once"));
        }
        Ok(axis)
    }

    fn single(self, document: &Document, place: &str) -> Result<Axis, CliError> {
        let RawAxis { key, name, values, range, log, zip: _, names } = self;
        if names.is_some() {
            let message = format!("`{place}.names` is given, and `{place}.zip` is not");
            return Err(document.fault(place, message).with_help("name the column with `name`"));
        }
        let Some(key) = key else {
            let message = format!("`{place}` has neither `key` nor `zip`");
            return Err(document.fault(place, message).with_help("add for example `key = \"operation.0.bytes\"`"));
        };
        let wrong = |of: &str, what: String| {
            document.fault(&format!("{place}.{of}"), format!("`{place}.{of}`: {what}")).with_help(match of {
                "range" => "write for example `range = { from = 64, to = 4096, step = 64 }`",
                _ => "write for example `log = { from = 64, to = 4096, factor = 2 }`",
            })
        };
        let values = match (values, range, log) {
            (Some(values), None, None) => values,
            (None, Some(RawRange { from, to, step }), None) => {
                series::range(&from, &to, &step).map_err(|what| wrong("range", what))?
            }
            (None, None, Some(RawLog { from, to, factor, points })) => match (factor, points) {
                (Some(factor), None) => series::by_factor(&from, &to, &factor),
                (None, Some(points)) => series::by_points(&from, &to, points),
                _ => Err("needs either `factor` or `points`".to_owned()),
            }
            .map_err(|what| wrong("log", what))?,
            _ => {
                let message = format!("`{place}` needs one of `values`, `range` and `log`");
                return Err(document.fault(place, message).with_help("add for example `values = [64, 4096]`"));
            }
        };
        let name = name.unwrap_or_else(|| key.clone());
        Ok(Axis::new(vec![(key, name)], values.into_iter().map(|value| vec![value]).collect()))
    }

    fn zipped(self, document: &Document, place: &str) -> Result<Axis, CliError> {
        let RawAxis { key, name, values, range, log, zip, names } = self;
        let (columns, names) = (zip.unwrap_or_default().0, names.unwrap_or_default().0);
        let others = [
            ("key", key.is_some()),
            ("name", name.is_some()),
            ("values", values.is_some()),
            ("range", range.is_some()),
            ("log", log.is_some()),
        ];
        if let Some((other, _)) = others.into_iter().find(|(_, given)| *given) {
            let message = format!("`{place}` has both `zip` and `{other}`");
            return Err(document.fault(&format!("{place}.{other}"), message).with_help("leave one of them out"));
        }
        if let Some((stray, _)) = names.iter().find(|(named, _)| columns.iter().all(|(key, _)| key != named)) {
            let message = format!("`{place}.names` names `{stray}`, which `{place}.zip` does not have");
            return Err(document.fault(&format!("{place}.names"), message).with_help("name keys of `zip`"));
        }
        let length = columns.first().map_or(0, |(_, values)| values.len());
        if let Some((key, values)) = columns.iter().find(|(_, values)| values.len() != length) {
            let message =
                format!("`{place}.zip` has {length} values of `{}`, and {} of `{key}`", columns[0].0, values.len());
            let help = "give as many of each: they are taken together";
            return Err(document.fault(&format!("{place}.zip"), message).with_help(help));
        }
        let named = |key: &str| names.iter().find(|(named, _)| named == key).map_or(key, |(_, name)| name).to_owned();
        let steps = (0..length).map(|row| columns.iter().map(|(_, values)| values[row].clone()).collect()).collect();
        Ok(Axis::new(columns.iter().map(|(key, _)| (key.clone(), named(key))).collect(), steps))
    }
}

/// Beyond so many values before it, a value is not looked for again: long lists come from programs.
const SAME_SEARCHED: usize = 1000;

fn all_same(a: &[Value], b: &[Value]) -> bool {
    a.iter().zip(b).all(|(a, b)| same(a, b))
}

impl Axis {
    /// Keys with their names, and the values of each step.
    pub(super) fn new(columns: Vec<(String, String)>, steps: Vec<Vec<Value>>) -> Axis {
        let column = |(index, (key, name)): (usize, (String, String))| AxisColumn {
            kind: value::kind(&steps.iter().map(|values| &values[index])),
            key,
            name,
        };
        let columns: Vec<AxisColumn> = columns.into_iter().enumerate().map(column).collect();
        let step = |values: Vec<Value>| {
            let words = columns.iter().zip(&values).map(|(column, value)| value::word(&column.key, value)).collect();
            Step { values, words }
        };
        Axis { steps: steps.into_iter().map(step).collect(), columns }
    }
}

/// That a key is one that a scenario or, after `system.`, a system has.
pub(super) fn check_key(document: &Document, place: &str, key: &str) -> Result<(), CliError> {
    overrides::check_key(key).map_err(|help| {
        let message = format!("`{place}` sets `{key}`, which is no key of a scenario");
        document.fault(place, message).with_help(help)
    })
}
