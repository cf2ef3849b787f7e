//! Axes of a sweep: keys, and the values that they take together, step by step.

use std::cmp::Ordering;

use report::{CellColumn, CellKind, run_cells};
use toml::Value;

use rowclone_config::Failure;
use rowclone_config::document::Section;
use rowclone_config::scenario_keys::{self, without_unit};

use super::series;
use super::value::{self, compare};

/// A key that a sweep sets, with the column of its values.
#[derive(Clone, Debug)]
pub struct AxisColumn {
    /// Path of the key, as in `--set`.
    pub key: String,
    /// Name of the column.
    pub name: String,
    /// Type of the cells.
    pub kind: CellKind,
}

/// One step of an axis: a value for each of its keys.
#[derive(Clone, Debug)]
pub struct AxisStep {
    /// Cells, in the order of the columns of the axis.
    pub values: Vec<Value>,
    /// The values as arguments of `--set`.
    pub words: Vec<String>,
}

/// A checked axis.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The keys; at least one.
    pub columns: Vec<AxisColumn>,
    /// The steps; at least one, all different.
    pub steps: Vec<AxisStep>,
}

/// Reads the axis of a table `[[axis]]`.
pub(super) fn check_axis(table: &Section<'_>) -> Result<Axis, Failure> {
    let place = table.key("");
    let axis = if table.has("zip") { of_several_keys(table)? } else { of_one_key(table)? };
    for column in &axis.columns {
        check_key(table, "", &column.key)?;
    }
    if axis.steps.is_empty() {
        return Err(table.fault("", format!("`{place}` has no values")).with_help("give it at least one"));
    }
    let twice = axis.steps.iter().enumerate().find(|(index, step)| {
        axis.steps[..*index].iter().rev().take(SAME_SEARCHED).any(|other| all_same(&other.values, &step.values))
    });
    if let Some((_, step)) = twice {
        let message = format!("`{place}` has {} twice", step.words.join(" "));
        return Err(table.fault("", message).with_help("list each once"));
    }
    Ok(axis)
}

/// Reads a list of values.
fn list(table: &Section<'_>, name: &str, value: Value) -> Result<Vec<Value>, Failure> {
    match value {
        Value::Array(values) => Ok(values),
        other => {
            let error = table.fault(name, format!("`{}` is {other}, but must be a list", table.key(name)));
            Err(error.with_help("write for example `values = [64, 4096]`"))
        }
    }
}

fn of_one_key(table: &Section<'_>) -> Result<Axis, Failure> {
    let place = table.key("");
    if table.has("names") {
        let message = format!("`{place}.names` is given, and `{place}.zip` is not");
        return Err(table.fault("", message).with_help("name the column with `name`"));
    }
    let Some(key) = table.get::<&str>("key") else {
        let message = format!("`{place}` has neither `key` nor `zip`");
        return Err(table.fault("", message).with_help("add for example `key = \"operation.0.bytes\"`"));
    };
    let wrong = |of: &str, what: String| {
        let help = format!("write for example `{of} = {}`", table.example(of));
        table.fault(of, format!("`{place}.{of}`: {what}")).with_help(help)
    };
    let number = |of: &Section<'_>, name: &str| without_unit(key, of.of(name));
    let values = match (table.get::<Value>("values"), table.table("range"), table.table("log")) {
        (Some(values), None, None) => list(table, "values", values)?,
        (None, Some(of), None) => series::range(&number(&of, "from"), &number(&of, "to"), &number(&of, "step"))
            .map_err(|what| wrong("range", what))?,
        (None, None, Some(of)) => {
            let (from, to) = (number(&of, "from"), number(&of, "to"));
            match (of.get::<Value>("factor"), of.get("points")) {
                (Some(factor), None) => series::by_factor(&from, &to, &factor),
                (None, Some(points)) => series::by_points(&from, &to, points),
                _ => Err("needs either `factor` or `points`".to_owned()),
            }
            .map_err(|what| wrong("log", what))?
        }
        _ => {
            let message = format!("`{place}` needs one of `values`, `range` and `log`");
            return Err(table.fault("", message).with_help("add for example `values = [64, 4096]`"));
        }
    };
    let name = table.get("name").unwrap_or(key).to_owned();
    Ok(Axis::new(vec![(key.to_owned(), name)], values.into_iter().map(|value| vec![value]).collect()))
}

fn of_several_keys(table: &Section<'_>) -> Result<Axis, Failure> {
    let place = table.key("");
    if let Some(other) = ["key", "name", "values", "range", "log"].into_iter().find(|other| table.has(other)) {
        let message = format!("`{place}` has both `zip` and `{other}`");
        return Err(table.fault(other, message).with_help("leave one of them out"));
    }
    let mut columns = Vec::new();
    for (key, values) in table_of(table, "zip")? {
        columns.push((key, list(table, "zip", values)?));
    }
    let names = table_of(table, "names")?;
    if let Some((stray, _)) = names.iter().find(|(named, _)| columns.iter().all(|(key, _)| key != named)) {
        let message = format!("`{place}.names` names `{stray}`, which `{place}.zip` does not have");
        return Err(table.fault("names", message).with_help("name keys of `zip`"));
    }
    let length = columns.first().map_or(0, |(_, values)| values.len());
    if let Some((key, values)) = columns.iter().find(|(_, values)| values.len() != length) {
        let message =
            format!("`{place}.zip` has {length} values of `{}`, and {} of `{key}`", columns[0].0, values.len());
        return Err(table.fault("zip", message).with_help("give as many of each: they are taken together"));
    }
    let named = |key: &str| names.iter().find(|(named, _)| named == key).and_then(|(_, name)| name.as_str());
    let columns_named = columns.iter().map(|(key, _)| (key.clone(), named(key).unwrap_or(key).to_owned())).collect();
    let steps = (0..length).map(|row| columns.iter().map(|(_, values)| values[row].clone()).collect()).collect();
    Ok(Axis::new(columns_named, steps))
}

/// Maximum number of earlier values with which a value is compared. A limit is needed because generated lists can be
/// long.
const SAME_SEARCHED: usize = 1000;

fn all_same(a: &[Value], b: &[Value]) -> bool {
    a.iter().zip(b).all(|(a, b)| compare(a, b) == Some(Ordering::Equal))
}

impl Axis {
    /// The values of each column.
    pub(super) fn values(&self) -> impl Iterator<Item = Vec<&Value>> {
        (0..self.columns.len()).map(|column| self.steps.iter().map(|step| &step.values[column]).collect())
    }

    /// Keys with their column names, and the values of each step. Sizes and times with a unit are converted to numbers.
    pub(super) fn new(columns: Vec<(String, String)>, steps: Vec<Vec<Value>>) -> Axis {
        let plain = |values: Vec<Value>| {
            columns.iter().zip(values).map(|((key, _), value)| without_unit(key, value)).collect::<Vec<_>>()
        };
        let steps: Vec<Vec<Value>> = steps.into_iter().map(plain).collect();
        let column = |(index, (key, name)): (usize, (String, String))| AxisColumn {
            kind: value::kind(&steps.iter().map(|values| &values[index])),
            key,
            name,
        };
        let columns: Vec<AxisColumn> = columns.into_iter().enumerate().map(column).collect();
        let step = |values: Vec<Value>| {
            let words = columns.iter().zip(&values).map(|(column, value)| value::word(&column.key, value)).collect();
            AxisStep { values, words }
        };
        Axis { steps: steps.into_iter().map(step).collect(), columns }
    }
}

/// All columns of the table of a sweep with these axes, in order.
pub(super) fn columns(axes: &[Axis]) -> Vec<CellColumn> {
    use CellKind::{Count, Number, Text};
    let of_axes = axes.iter().flat_map(|axis| &axis.columns).filter(|column| column.key != "seed");
    let of_axes = of_axes.map(|column| (column.name.as_str(), column.kind));
    let run = [("seed", Count), ("policy", Text), ("placement", Text), ("reference", Text)];
    let ratios = ["speedup", "energy_ratio", "read_latency_ratio", "write_latency_ratio", "copy_latency_ratio"];
    let after = [("error", Text), ("scenario", Text), ("model_version", Count), ("digest", Text), ("rerun", Text)];
    let named = |(name, kind): (&str, CellKind)| CellColumn::new(name, kind);
    let before = [("point", Count)].into_iter().chain(of_axes).chain(run).chain(ratios.map(|name| (name, Number)));
    before.map(named).chain(run_cells::columns()).chain(after.map(named)).collect()
}

/// Checks that a key is one of a scenario, after `system.` one of a system, or after `machine.` one of a machine.
/// `name` is the key of the table that sets it.
pub(super) fn check_key(table: &Section<'_>, name: &str, key: &str) -> Result<(), Failure> {
    scenario_keys::check_key(key).map_err(|help| {
        let message = format!("`{}` sets `{key}`, which is no key of a scenario", table.key(name));
        table.fault(name, message).with_help(help)
    })
}

/// Entries of a table whose keys the user chooses; empty if the table is absent.
pub(super) fn table_of(table: &Section<'_>, name: &str) -> Result<Vec<(String, Value)>, Failure> {
    let Some(value) = table.get::<Value>(name) else { return Ok(Vec::new()) };
    if !value.is_table() {
        let error = table.fault(name, format!("`{}` is {value}, but must be a table", table.key(name)));
        return Err(error.with_help(format!("write for example `{name} = {}`", table.example(name))));
    }
    let entries = table.table(name).into_iter().flat_map(|table| table.entries().collect::<Vec<_>>());
    Ok(entries.map(|(key, value)| (key.to_owned(), value)).collect())
}
