//! Input data of a page.

use std::collections::BTreeMap;

use rowclone_sim::OperationRow;
use serde::Deserialize;

use crate::decisions::{self, Served};
use crate::plot::Table;

/// Subject of a report: a run or a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subject {
    /// The table of a sweep.
    #[default]
    Sweep,
    /// The results of one scenario.
    Run,
}

/// A named fact about the results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// `model version`.
    pub name: String,
    /// One or more values.
    pub values: Vec<String>,
}

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// The run failed.
    Error,
    /// `--check` found an error.
    Violation,
    /// A limit of the validity of the results.
    Warning,
}

/// An error, violation or warning of one run or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Severity.
    pub weight: Weight,
    /// Text.
    pub text: String,
    /// The number of runs that it concerns.
    pub runs: u64,
}

/// An operation under a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct PageOperation {
    /// Index of the operation in the scenario's list, from 0, by which operations of several policies are compared.
    pub index: usize,
    /// Policy, and placement where there is one.
    pub run: String,
    /// Its row in `results.json`.
    pub row: OperationRow,
}

/// A core under a policy, with fields of `results.json`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PageCore {
    /// Policy.
    #[serde(skip)]
    pub run: String,
    /// Core, from 0.
    pub core: usize,
    /// Instructions of the program in its region.
    pub instructions: u64,
    /// Core cycles of the region.
    pub cycles: u64,
    /// Instructions per cycle.
    pub ipc: f64,
    /// Lines requested from memory per 1000 instructions.
    pub misses_per_1000_instructions: f64,
    /// Dynamic energy per instruction, nJ; none without instructions.
    pub dynamic_energy_per_instruction_nj: Option<f64>,
    /// Share of copies and zeroings in the bytes over the channels; none without traffic.
    pub copy_share_of_channel_bytes: Option<f64>,
    /// Bandwidth, 10^9 bytes per second; none in an empty region.
    pub bandwidth_gb_s: Option<f64>,
    /// Core cycles that copies and zeroings took from the program; 0 in files of earlier versions.
    #[serde(default)]
    pub copy_cycles: f64,
    /// Misses that are first accesses to lines since their copies; 0 in files of earlier versions.
    #[serde(default)]
    pub misses_after_copies: u64,
}

impl Served {
    /// Sums over the rows of a table with the same policy and placement.
    pub fn of_all(runs: &Runs) -> Vec<Served> {
        let variants = runs.variants();
        let mut sums: BTreeMap<[String; 4], Served> = BTreeMap::new();
        let mut all: BTreeMap<[String; 2], u64> = BTreeMap::new();
        for row in 0..runs.len() {
            for served in decisions::read(&runs.text(row, "decisions"), &runs.variant(row)).unwrap_or_default() {
                let Served { run, operation, mechanism, reason, count, bytes, .. } = served.clone();
                *all.entry([run.clone(), operation.clone()]).or_default() += bytes;
                let key = [run, operation, mechanism, reason];
                let sum = sums.entry(key).or_insert(Served { count: 0, bytes: 0, ..served });
                (sum.count, sum.bytes) = (sum.count + count, sum.bytes + bytes);
            }
        }
        let mut sums: Vec<Served> = sums.into_values().collect();
        for sum in &mut sums {
            sum.share_of_bytes = sum.bytes as f64 / all[&[sum.run.clone(), sum.operation.clone()]] as f64;
        }
        sums.sort_by_key(|sum| variants.iter().position(|variant| *variant == sum.run));
        sums
    }
}

/// A picture that was drawn of the results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Name of the file: `latency.svg`.
    pub name: String,
    /// `image/svg+xml` or `image/png`.
    pub media_type: &'static str,
    /// Content of the file.
    pub bytes: Vec<u8>,
}

/// A simulated row beside the published one of the same setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// The published row: `copy/fpm`.
    pub id: String,
    /// Our run: its operation and policy.
    pub run: String,
    /// Published latency, ns.
    pub published_ns: f64,
    /// Simulated latency, ns.
    pub simulated_ns: f64,
    /// Published energy, nJ.
    pub published_nj: f64,
    /// Simulated dynamic energy, nJ.
    pub simulated_nj: f64,
}

/// Published figures, where the runs have their setting.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PublishedFigures {
    /// Rows with a published counterpart.
    pub rows: Vec<Beside>,
    /// Notes on them, or the reason why there are none.
    pub notes: Vec<String>,
}

/// A table of runs, some of whose columns are axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Runs {
    table: Table,
    axes: Vec<String>,
    places: BTreeMap<String, usize>,
}

/// Content of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// Title of the page.
    pub title: String,
    /// Subject.
    pub subject: Subject,
    /// Facts that are not in the table.
    pub facts: Vec<Fact>,
    /// Command lines that repeat the runs.
    pub commands: Vec<String>,
    /// Errors, violations and warnings that are not in the table.
    pub findings: Vec<Finding>,
    /// The rows.
    pub runs: Runs,
    /// Table by epoch; its axis is `from_cycle`.
    pub epochs: Runs,
    /// The operations, one by one.
    pub operations: Vec<PageOperation>,
    /// The cores of a run, under each policy.
    pub cores: Vec<PageCore>,
    /// Decisions by reason; of a sweep, summed over the runs of a policy.
    pub served: Vec<Served>,
    /// Pictures in the directory of the table.
    pub pictures: Vec<Image>,
    /// Simulated values beside published ones.
    pub published: PublishedFigures,
}

impl Runs {
    /// A table whose `axes` are names of some of its columns.
    pub fn new(table: Table, axes: Vec<String>) -> Runs {
        let places = table.columns().iter().enumerate().map(|(place, column)| (column.clone(), place)).collect();
        Runs { table, axes, places }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.table.rows().len()
    }

    /// Whether the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The columns of its axes.
    pub fn axes(&self) -> &[String] {
        &self.axes
    }

    fn cell(&self, row: usize, column: &str) -> &str {
        self.places.get(column).map_or("", |&place| self.table.cell(row, place))
    }

    /// The number in a row and column; none without such a column or number.
    pub fn number(&self, row: usize, column: &str) -> Option<f64> {
        self.cell(row, column).parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// The text in a row and column; empty without one.
    pub fn text(&self, row: usize, column: &str) -> String {
        self.cell(row, column).to_owned()
    }

    /// Policy and placement of a row: `rowclone`, `rowclone/buddy`.
    pub fn variant(&self, row: usize) -> String {
        let (policy, placement) = (self.text(row, "policy"), self.text(row, "placement"));
        if placement.is_empty() { policy } else { format!("{policy}/{placement}") }
    }

    /// Policies with their placements, in the order of the rows. The row of a point that could not be read has no
    /// policy.
    pub(super) fn variants(&self) -> Vec<String> {
        in_order((0..self.len()).map(|row| self.variant(row)).filter(|variant| !variant.is_empty()))
    }

    /// The point of a row: the values of its axes, and its seed.
    pub(super) fn point(&self, row: usize) -> Vec<String> {
        self.axes.iter().map(String::as_str).chain(["seed"]).map(|column| self.text(row, column)).collect()
    }

    /// The number of runs that failed.
    pub(super) fn failed(&self) -> u64 {
        (0..self.len()).filter(|&row| !self.text(row, "error").is_empty()).count() as u64
    }

    /// Distinct texts of a column, in the order of the rows, without empty cells.
    pub fn distinct(&self, column: &str) -> Vec<String> {
        in_order((0..self.len()).map(|row| self.text(row, column)).filter(|text| !text.is_empty()))
    }
}

/// Distinct values, in the order of first appearance.
pub(super) fn in_order<T: Ord + Clone>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = std::collections::BTreeSet::new();
    items.filter(|item| seen.insert(item.clone())).collect()
}
