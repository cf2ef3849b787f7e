//! A sweep file: a scenario, and what to vary in it.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde::Deserialize;
use toml::Value;

use crate::CliError;
use crate::input::Document;
use crate::input::document::Example;
use crate::input::plot::{self, PlotEntry, RawPlot};

use super::axis::{Axis, RawAxis, check_key};
use super::columns;
use super::exclude::{Exclude, RawExclude};
use super::ordered::Ordered;
use super::value;

/// What to vary, checked.
#[derive(Clone, Debug)]
pub struct SweepFile {
    /// Its file.
    pub path: PathBuf,
    /// What its results are called: the file's name without `.toml`.
    pub name: String,
    /// The scenario's file.
    pub scenario: PathBuf,
    /// What is changed for all points, as words of `--set`.
    pub set: Vec<String>,
    /// From the slowest to the fastest; seeds are the fastest.
    pub axes: Vec<Axis>,
    /// Which points are left out.
    pub excludes: Vec<Exclude>,
    /// The pictures that are drawn of its results.
    pub plots: Vec<PlotEntry>,
}

/// Every key of a sweep file, with a value that it may have; tables have none.
pub const EXAMPLES: &[Example] = &[
    ("scenario", "\"../traces/page-copy.toml\""),
    ("set", "{ policies = [\"channel\", \"rule\"] }"),
    ("seeds", "5"),
    ("axis", ""),
    ("axis.key", "\"operation.0.bytes\""),
    ("axis.name", "\"bytes\""),
    ("axis.values", "[64, 4096]"),
    ("axis.range", "{ from = 64, to = 4096, step = 64 }"),
    ("axis.range.from", "64"),
    ("axis.range.to", "4096"),
    ("axis.range.step", "64"),
    ("axis.log", "{ from = 64, to = 4096, factor = 2 }"),
    ("axis.log.from", "64"),
    ("axis.log.to", "4096"),
    ("axis.log.factor", "2"),
    ("axis.log.points", "7"),
    ("axis.zip", "{ \"operation.0.bytes\" = [64, 4096], \"operation.1.bytes\" = [64, 4096] }"),
    ("axis.names", "{ \"operation.0.bytes\" = \"bytes\" }"),
    ("exclude", ""),
    ("exclude.when", "\"bytes < 4096\""),
];

/// The same, and those of its plots.
static ALL_EXAMPLES: LazyLock<Vec<Example>> =
    LazyLock::new(|| EXAMPLES.iter().chain(plot::EXAMPLES).copied().collect());

/// More seeds than these are a slip of the pen.
const SEEDS_MAX: i64 = 1_000_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSweep {
    scenario: String,
    set: Option<Ordered<Value>>,
    seeds: Option<Value>,
    axis: Option<Vec<RawAxis>>,
    exclude: Option<Vec<RawExclude>>,
    plot: Option<Vec<RawPlot>>,
}

impl SweepFile {
    /// Reads and checks a sweep file. Whether the scenario takes the values, its points tell.
    ///
    /// # Errors
    /// It cannot be read, or something in it is wrong.
    pub fn read(path: &Path) -> Result<SweepFile, CliError> {
        let document = Document::read(path, &ALL_EXAMPLES)?;
        let RawSweep { scenario, set, seeds, axis, exclude, plot } = document.decode()?;
        let scenario = document.linked("scenario", &scenario)?;
        let mut axes = Vec::new();
        for (index, raw) in axis.unwrap_or_default().into_iter().enumerate() {
            axes.push(raw.check(&document, &format!("axis.{index}"))?);
        }
        axes.extend(seeds.map(|seeds| check_seeds(&document, &seeds)).transpose()?);
        let set = set.unwrap_or_default().0;
        for (key, _) in &set {
            check_key(&document, "set", key)?;
        }
        check_names(&document, &set, &axes)?;
        let mut excludes = Vec::new();
        for (index, raw) in exclude.unwrap_or_default().into_iter().enumerate() {
            excludes.push(raw.check(&document, &format!("exclude.{index}"), &axes)?);
        }
        let plots = RawPlot::check_all(&document, plot.unwrap_or_default())?;
        let columns = columns::with_axes(&axes);
        for (index, plot) in plots.iter().enumerate() {
            plot.check_columns(&document, index, &columns)?;
        }
        Ok(SweepFile {
            plots,
            path: document.path().to_owned(),
            name: document.path().file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            scenario,
            set: set.iter().map(|(key, value)| value::word(key, value)).collect(),
            axes,
            excludes,
        })
    }
}

/// `seeds = 5` is 1 to 5.
fn check_seeds(document: &Document, seeds: &Value) -> Result<Axis, CliError> {
    let list = match seeds {
        Value::Integer(count) if (1..=SEEDS_MAX).contains(count) => Some((1..=*count).map(Value::Integer).collect()),
        Value::Array(list) if list.iter().all(|seed| seed.as_integer().is_some_and(|seed| seed >= 0)) => {
            Some(list.clone()).filter(|list| !list.is_empty())
        }
        _ => None,
    };
    let Some(list): Option<Vec<Value>> = list else {
        let message = format!("`seeds` is {seeds}, but must be how many, up to {SEEDS_MAX}, or a list of them");
        return Err(document.fault("seeds", message).with_help("write for example `seeds = 5` or `seeds = [1, 7]`"));
    };
    if let Some((_, seed)) = list.iter().enumerate().find(|(index, seed)| list[..*index].contains(seed)) {
        return Err(document.fault("seeds", format!("`seeds` has {seed} twice")).with_help("list each once"));
    }
    let steps = list.into_iter().map(|seed| vec![seed]).collect();
    Ok(Axis::new(vec![("seed".to_owned(), "seed".to_owned())], steps))
}

/// That each key is set once, and each column has a name of its own.
fn check_names(document: &Document, set: &[(String, Value)], axes: &[Axis]) -> Result<(), CliError> {
    let columns = || axes.iter().enumerate().flat_map(|(axis, it)| it.columns.iter().map(move |column| (axis, column)));
    let reserved = columns::names();
    for (index, (axis, column)) in columns().enumerate() {
        let place = format!("axis.{axis}");
        let fault = |message: String, help: &str| Err(document.fault(&place, message).with_help(help));
        let before = || columns().take(index).map(|(_, column)| column);
        if before().any(|other| other.key == column.key) || set.iter().any(|(key, _)| *key == column.key) {
            return fault(format!("`{}` is set twice", column.key), "let one axis, `set` or `seeds` set it");
        }
        if column.name.trim().is_empty() {
            return fault(format!("the column of `{}` has no name", column.key), "give it one, or leave `name` out");
        }
        if before().any(|other| other.name == column.name) {
            let help = "give them different names, with `name` or, in a zip, `names`";
            return fault(format!("two columns are called `{}`", column.name), help);
        }
        let is_seed = column.key == "seed";
        if is_seed != (column.name == "seed") || (reserved.contains(&column.name) && !is_seed) {
            let message = format!("`{}` cannot be called `{}`", column.key, column.name);
            return fault(message, "the table of results has a column of its own of that name");
        }
    }
    Ok(())
}
