//! Sweep files: a scenario, and the axes along which its keys vary.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use toml::Value;

use report::plot_file::{self, PlotEntry};
use rowclone_config::key::{Holds, Key};
use rowclone_config::{Document, Failure};

use super::axis::{Axis, check_axis, check_key, columns, table_of};
use super::exclude::Exclude;
use super::value;

/// A checked sweep file.
#[derive(Clone, Debug)]
pub struct SweepFile {
    /// Path of the sweep file.
    pub path: PathBuf,
    /// Name of the sweep: the file name without `.toml`.
    pub name: String,
    /// Path of the scenario.
    pub scenario: PathBuf,
    /// Settings of all points, as arguments of `--set`.
    pub set: Vec<String>,
    /// Whether a point runs the reference of its ratios if the sweep does not list it.
    pub with_baseline: bool,
    /// Axes, from the slowest to the fastest; seeds are the fastest.
    pub axes: Vec<Axis>,
    /// Sets of excluded points.
    pub excludes: Vec<Exclude>,
    /// Plots of the results.
    pub plots: Vec<PlotEntry>,
}

/// All keys of a sweep file.
pub static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| [OWN_KEYS, plot_file::KEYS].concat());

#[rustfmt::skip]
const OWN_KEYS: &[Key] = &[
    Key::new("scenario", Holds::Path, "\"../traces/page-copy.toml\"", "the scenario that is varied ([input.md](input.md))").values("a path, from the directory of the sweep file"),
    Key::new("set", Holds::Any, "{ policies = [\"baseline\", \"rowclone\"] }", "changes for all points").values("a table of keys as of `--set`, and values").or("none"),
    Key::new("baseline", Holds::Flag, "false", "whether each point also runs the reference of `speedup` and `energy_ratio` where it is not among its runs; without it, these two are empty").or("`true`"),
    Key::new("seeds", Holds::Any, "5", "the fastest axis: the key `seed`").values("a list, or a count from 1 on").or("the scenario's"),
    Key::new("axis", Holds::Tables, "", "the axes, a table `[[axis]]` each, from the slowest to the fastest").or("one point"),
    Key::new("axis.key", Holds::Text, "\"operation.0.bytes\"", "the key that is varied").values("a key of the scenario, after `system.` of its system file, or after `machine.` of its machine file, as of `--set`").or("`zip`"),
    Key::new("axis.name", Holds::Text, "\"bytes\"", "the column of its values").values("a unique name").or("the key"),
    Key::new("axis.values", Holds::Any, "[64, 4096]", "its values, of any type that the key accepts, lists included").values("a list of at least one, all different").or("`range` or `log`"),
    Key::new("axis.range", Holds::Table, "{ from = 64, to = 4096, step = 64 }", "its values: `from`, `from + step`, … up to `to`; whole numbers if all three are").or("`values`"),
    Key::new("axis.range.from", Holds::Any, "64", "first value").values("a number"),
    Key::new("axis.range.to", Holds::Any, "4096", "last value, at most").values("a number"),
    Key::new("axis.range.step", Holds::Any, "64", "from one value to the next").values("a number"),
    Key::new("axis.log", Holds::Table, "{ from = 64, to = 4096, factor = 2 }", "its values: `from`, `from * factor`, … up to `to`; or a number of `points` at equal factors, rounded if `from` and `to` are whole").or("`values`"),
    Key::new("axis.log.from", Holds::Any, "64", "first value").values("a number above 0"),
    Key::new("axis.log.to", Holds::Any, "4096", "last value, at most").values("a number above 0"),
    Key::new("axis.log.factor", Holds::Any, "2", "ratio of a value to the one before").values("a number above 1").or("`points`"),
    Key::new("axis.log.points", Holds::Count(0, u64::MAX), "7", "number of values").values("at least 2").or("`factor`"),
    Key::new("axis.zip", Holds::Any, "{ \"operation.0.bytes\" = [64, 4096], \"operation.1.bytes\" = [64, 4096] }", "several keys that change together").values("a table of keys, each with the same number of values").or("`key`"),
    Key::new("axis.names", Holds::Any, "{ \"operation.0.bytes\" = \"bytes\" }", "with `zip`: the columns of some of its keys").values("a table of keys and names").or("the keys"),
    Key::new("exclude", Holds::Tables, "", "points to leave out, a table `[[exclude]]` each; a point is left out if one of them holds").or("none"),
    Key::new("exclude.when", Holds::Any, "\"bytes < 4096\"", "a condition, or several that must all hold: a column of an axis, one of `=` `!=` `<` `<=` `>` `>=`, and a value or another column").values("a condition, or a list of them"),
];

/// Maximum number of seeds; a larger number is probably a typing error.
const SEEDS_MAX: i64 = 1_000_000;

impl SweepFile {
    /// Reads and checks a sweep file. Whether the scenario accepts the values is checked per point.
    ///
    /// # Errors
    /// The file cannot be read, or an entry is invalid.
    pub fn read(path: &Path) -> Result<SweepFile, Failure> {
        let mut document = Document::read(path, &KEYS)?;
        document.check()?;
        let root = document.root();
        let scenario = root.linked("scenario")?;
        let mut axes = root.tables("axis").iter().map(check_axis).collect::<Result<Vec<_>, _>>()?;
        axes.extend(root.get("seeds").map(|seeds| check_seeds(&document, &seeds)).transpose()?);
        let set = table_of(&root, "set")?;
        for (key, _) in &set {
            check_key(&root, "set", key)?;
        }
        check_names(&document, &set, &axes)?;
        let excludes =
            root.tables("exclude").iter().map(|table| Exclude::check(table, &axes)).collect::<Result<_, _>>()?;
        let plots = plot_file::check_all(&document)?;
        let columns = columns(&axes);
        for (index, plot) in plots.iter().enumerate() {
            plot.check_columns(&document, index, &columns)?;
        }
        Ok(SweepFile {
            plots,
            path: document.path().to_owned(),
            name: document.name(),
            scenario,
            set: set.iter().map(|(key, value)| value::word(key, value)).collect(),
            with_baseline: root.get("baseline").unwrap_or(true),
            axes,
            excludes,
        })
    }
}

/// Seeds of the sweep: `seeds = 5` stands for 1 to 5.
fn check_seeds(document: &Document, seeds: &Value) -> Result<Axis, Failure> {
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

/// Checks that each key is set once, and that the names of columns differ.
fn check_names(document: &Document, set: &[(String, Value)], axes: &[Axis]) -> Result<(), Failure> {
    let reserved = columns(&[]);
    let columns = || axes.iter().enumerate().flat_map(|(axis, it)| it.columns.iter().map(move |column| (axis, column)));
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
        if is_seed != (column.name == "seed") || (reserved.iter().any(|other| other.name == column.name) && !is_seed) {
            let message = format!("`{}` cannot be called `{}`", column.key, column.name);
            return fault(message, "the table of results has a column of its own of that name");
        }
    }
    Ok(())
}
