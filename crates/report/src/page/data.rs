//! What a page is made from.

use std::collections::BTreeMap;

use crate::cell::{Cell, Column};
use crate::decisions;

/// What a report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The table of a sweep.
    Sweep,
    /// The results of one scenario.
    Run,
}

/// A name, and what is to be said under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// `model version`.
    pub name: String,
    /// One or more values.
    pub values: Vec<String>,
}

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// The run could not be done.
    Error,
    /// `--check` found something.
    Violation,
    /// To be known before a number is believed.
    Warning,
}

/// Something that one run, or a few, had to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How much it weighs.
    pub weight: Weight,
    /// What it says.
    pub text: String,
    /// Whom it concerns, so many runs.
    pub runs: u64,
}

/// An operation under a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// `copy 4 KiB, same-bank`.
    pub label: String,
    /// Its place in the scenario's list, from 0: what several policies did with the same one.
    pub index: usize,
    /// Policy, and placement where there is one.
    pub run: String,
    /// `fpm`, or several joined by `+`.
    pub mechanism: String,
    /// Why it was served so.
    pub reasons: Vec<String>,
    /// Clocks.
    pub latency_cycles: u64,
    /// ns.
    pub latency_ns: f64,
    /// nJ above standby.
    pub energy_nj: f64,
    /// Bytes over the memory channel.
    pub channel_bytes: u64,
    /// The latency and the energy of the channel copy of the same pair, divided by this one's.
    pub against_same_pair: Option<(f64, f64)>,
}

/// Segments that one mechanism served for one reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Served {
    /// Policy, and placement where there is one.
    pub run: String,
    /// `copy` or `init`.
    pub operation: String,
    /// The mechanism.
    pub mechanism: String,
    /// Why no better one.
    pub reason: String,
    /// Segments.
    pub count: u64,
    /// Bytes.
    pub bytes: u64,
    /// Of all bytes of such operations, 0 to 1.
    pub share_of_bytes: f64,
}

impl Served {
    /// What the rows of a table hold, summed over those of the same policy and placement.
    pub fn of_all(runs: &Runs) -> Vec<Served> {
        let mut sums: BTreeMap<(usize, String, String, String), (u64, u64)> = BTreeMap::new();
        let variants = in_order((0..runs.len()).map(|row| runs.variant(row)));
        for row in 0..runs.len() {
            let variant = variants.iter().position(|variant| *variant == runs.variant(row)).unwrap_or_default();
            for decision in decisions::read(&runs.text(row, "decisions")).unwrap_or_default() {
                let key = (variant, decision.operation, decision.mechanism, decision.reason);
                let sum = sums.entry(key).or_default();
                *sum = (sum.0 + decision.count, sum.1 + decision.bytes);
            }
        }
        let all = |variant: usize, operation: &str| -> u64 {
            let of = sums.iter().filter(|((of, kind, ..), _)| *of == variant && kind == operation);
            of.map(|(_, (_, bytes))| bytes).sum()
        };
        let served = sums.iter().map(|((variant, operation, mechanism, reason), &(count, bytes))| Served {
            run: variants[*variant].clone(),
            operation: operation.clone(),
            mechanism: mechanism.clone(),
            reason: reason.clone(),
            count,
            bytes,
            share_of_bytes: bytes as f64 / all(*variant, operation) as f64,
        });
        served.collect()
    }
}

/// A picture that was drawn of the results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Its file: `latency.svg`.
    pub name: String,
    /// `image/svg+xml` or `image/png`.
    pub media_type: &'static str,
    /// What the file holds.
    pub bytes: Vec<u8>,
}

/// A row of ours beside the published one of the same setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// The published row: `copy/fpm`.
    pub id: String,
    /// Our run: its operation and policy.
    pub run: String,
    /// Published latency, ns.
    pub published_ns: f64,
    /// Ours, ns.
    pub simulated_ns: f64,
    /// Published energy, nJ.
    pub published_nj: f64,
    /// Ours, nJ above standby.
    pub simulated_nj: f64,
}

/// Published figures, where the runs have their setting.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PublishedFigures {
    /// Rows that match; none where nothing does.
    pub rows: Vec<Beside>,
    /// What has to be said of them, or why there are none.
    pub notes: Vec<String>,
}

/// A table of runs: its cells by row and column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Runs {
    columns: Vec<Column>,
    axes: Vec<String>,
    rows: Vec<Vec<Cell>>,
    places: BTreeMap<String, usize>,
}

/// All that a page shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The heading.
    pub title: String,
    /// What it is about.
    pub origin: Origin,
    /// What is known beside the table.
    pub facts: Vec<Fact>,
    /// Command lines that do it again.
    pub commands: Vec<String>,
    /// What the runs had to say beside the table.
    pub findings: Vec<Finding>,
    /// The rows.
    pub runs: Runs,
    /// The same by epochs: `from_cycle` is their axis.
    pub epochs: Runs,
    /// The operations, one by one.
    pub operations: Vec<Operation>,
    /// Decisions by reason; of a sweep, summed over the runs of a policy.
    pub served: Vec<Served>,
    /// Pictures that lie beside the table.
    pub pictures: Vec<Picture>,
    /// Published figures beside ours.
    pub published: PublishedFigures,
}

impl Runs {
    /// A table whose `axes` are names of some of its columns; every row has a cell a column.
    pub fn new(columns: Vec<Column>, axes: Vec<String>, rows: Vec<Vec<Cell>>) -> Runs {
        let places = columns.iter().enumerate().map(|(place, column)| (column.name.clone(), place)).collect();
        Runs { columns, axes, rows, places }
    }

    /// The number of its rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The columns of its axes.
    pub fn axes(&self) -> &[String] {
        &self.axes
    }

    /// All its columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// What stands in a row under a column; nothing where there is no such column.
    pub fn cell(&self, row: usize, column: &str) -> Option<&Cell> {
        self.places.get(column).map(|&place| &self.rows[row][place])
    }

    /// The number in a row under a column.
    pub fn number(&self, row: usize, column: &str) -> Option<f64> {
        match self.cell(row, column)? {
            Cell::Count(count) => count.map(|count| count as f64),
            Cell::Number(number) => *number,
            Cell::Text(_) | Cell::Flag(_) => None,
        }
    }

    /// What stands in a row under a column, as text; empty where there is nothing.
    pub fn text(&self, row: usize, column: &str) -> String {
        self.cell(row, column).map(ToString::to_string).unwrap_or_default()
    }

    /// Policy and placement of a row: `rowclone`, `rowclone/buddy`.
    pub fn variant(&self, row: usize) -> String {
        let (policy, placement) = (self.text(row, "policy"), self.text(row, "placement"));
        if placement.is_empty() { policy } else { format!("{policy}/{placement}") }
    }

    /// Why a row has no figures; empty if it has.
    pub fn error(&self, row: usize) -> String {
        self.text(row, "error")
    }

    /// What the rows have under a column, each text once, in the order of the rows; empty cells have nothing.
    pub fn distinct(&self, column: &str) -> Vec<String> {
        in_order((0..self.len()).map(|row| self.text(row, column)).filter(|text| !text.is_empty()))
    }
}

/// Each once, by first appearance.
pub(super) fn in_order<T: Ord + Clone>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = std::collections::BTreeSet::new();
    items.filter(|item| seen.insert(item.clone())).collect()
}
