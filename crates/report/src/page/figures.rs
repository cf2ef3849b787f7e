//! Figures of a table that a page shows, and their charts.

use std::collections::BTreeMap;

use super::data::{Page, PageOperation, Runs, in_order};
use super::words::{Heading, number};
use crate::plot::{Chart, ChartKind, ChartRequest, Spacing, Table, capitalized};
use rowclone_sim::OperationRow;

/// A main figure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figure {
    pub(super) column: &'static str,
    /// Whether lower values are better. For other figures this depends on the question.
    pub(super) lowest_is_best: bool,
    /// Whether the figure has a chart.
    pub(super) drawn: bool,
}

#[rustfmt::skip]
const FIGURES: [Figure; 17] = [
    Figure { column: "ipc",                    lowest_is_best: false, drawn: true },
    Figure { column: "energy_per_instruction_nj", lowest_is_best: true, drawn: true },
    Figure { column: "makespan_ns",            lowest_is_best: true,  drawn: false },
    Figure { column: "copy_latency_mean_ns",   lowest_is_best: true,  drawn: true },
    Figure { column: "copy_latency_p99_ns",    lowest_is_best: true,  drawn: false },
    Figure { column: "copy_response_mean_ns",  lowest_is_best: true,  drawn: false },
    Figure { column: "read_latency_mean_ns",   lowest_is_best: true,  drawn: true },
    Figure { column: "read_latency_p99_ns",    lowest_is_best: true,  drawn: true },
    Figure { column: "write_latency_mean_ns",  lowest_is_best: true,  drawn: false },
    Figure { column: "dynamic_energy_nj",      lowest_is_best: true,  drawn: true },
    Figure { column: "energy_nj",              lowest_is_best: true,  drawn: false },
    Figure { column: "channel_bytes",          lowest_is_best: true,  drawn: true },
    Figure { column: "bandwidth_gb_s",         lowest_is_best: false, drawn: false },
    Figure { column: "data_bus_share",         lowest_is_best: false, drawn: false },
    Figure { column: "copies_by_fpm_share",    lowest_is_best: false, drawn: true },
    Figure { column: "inits_by_fpm_share",     lowest_is_best: false, drawn: false },
    Figure { column: "requests",               lowest_is_best: false, drawn: false },
];

/// Maximum number of panels of one figure, and of operations, that are drawn.
const PANELS_MAX: usize = 16;
const OPERATIONS_MAX: usize = 16;

/// Maximum number of lines, bars per position, and parts per bar of a chart.
const SERIES_MAX: usize = 5;

/// The note on policies beyond the first [`SERIES_MAX`].
fn left_out(policies: usize) -> String {
    format!("Charts show the first {SERIES_MAX} of {} policies; the tables have all.", SERIES_MAX + policies)
}

/// Name of the part of a bar for all parts without a name.
const OTHER: &str = "other";

/// Names of the parts of a bar in a chart, by the sum of each: all, or the four greatest of more than [`SERIES_MAX`],
/// and [`OTHER`].
pub(super) fn named_parts<'a>(parts: impl IntoIterator<Item = (&'a str, f64)>) -> impl Fn(&str) -> String {
    let mut sums: BTreeMap<String, f64> = BTreeMap::new();
    for (name, value) in parts {
        *sums.entry(name.to_owned()).or_default() += value;
    }
    let mut names: Vec<(String, f64)> = sums.into_iter().collect();
    names.sort_by(|a, b| b.1.total_cmp(&a.1));
    if names.len() > SERIES_MAX {
        names.truncate(SERIES_MAX - 1);
    }
    move |name| if names.iter().any(|(named, _)| named == name) { name.to_owned() } else { OTHER.to_owned() }
}

/// Ratio of positive values above which the axis is logarithmic.
const LOGARITHMIC_FROM: f64 = 30.0;

/// The figures with a value in the table.
pub(super) fn present(runs: &Runs) -> Vec<Figure> {
    let there = |figure: &Figure| (0..runs.len()).any(|row| runs.number(row, figure.column).is_some_and(|v| v != 0.0));
    FIGURES.into_iter().filter(there).collect()
}

/// A value to draw: its horizontal position, its series, and the value.
pub(super) type ChartValue = (String, String, f64);

/// Both axes linear.
pub(super) const LINEAR: (Spacing, Spacing) = (Spacing::Linear, Spacing::Linear);

/// The entries with the values of each position and series summed, in the order of their first occurrence.
pub(super) fn summed(entries: impl Iterator<Item = ChartValue>) -> Vec<ChartValue> {
    let mut sums: Vec<ChartValue> = Vec::new();
    for (x, by, value) in entries {
        match sums.iter_mut().find(|(place, series, _)| x == *place && by == *series) {
            Some((.., sum)) => *sum += value,
            None => sums.push((x, by, value)),
        }
    }
    sums
}

/// The chart of some entries. The columns name the quantities across and up, with their units, and the series.
///
/// # Errors
/// Reason why the figures cannot be drawn.
pub(super) fn chart(
    kind: ChartKind,
    title: &str,
    [x, y, by]: [&str; 3],
    (x_spacing, y_spacing): (Spacing, Spacing),
    entries: &[ChartValue],
) -> Result<Chart, String> {
    let row = |(x, by, value): &ChartValue| vec![x.clone(), value.to_string(), by.clone()];
    let one_series = entries.iter().all(|(_, by, _)| *by == entries[0].1);
    let request = ChartRequest {
        kind,
        x: x.to_owned(),
        y: vec![y.to_owned()],
        by: if one_series { Vec::new() } else { vec![by.to_owned()] },
        x_spacing,
        y_spacing,
        title: Some(title.to_owned()),
        ..ChartRequest::default()
    };
    let columns = [x, y, by].map(str::to_owned).to_vec();
    let drawn = Table::new(columns, entries.iter().map(row).collect()).and_then(|table| request.draw(&table));
    drawn.map(|drawing| drawing.chart).map_err(|error| format!("“{title}” is not drawn: {error}."))
}

/// Charts, and notes on what is not drawn.
type Panels = Vec<Result<Chart, String>>;

/// All panels of a page: latency and energy of each operation, or the main figures over the axes; and those by epoch.
pub(super) fn panels(page: &Page) -> Panels {
    let mut panels = Vec::new();
    if page.operations.is_empty() {
        of_runs(&mut panels, &page.runs, None);
    } else {
        operations(&mut panels, page);
    }
    of_runs(&mut panels, &page.epochs, Some("epoch"));
    panels
}

/// The main figures over the first numeric axis, which titles call `over`; over the axis of the most values, where none
/// is numeric.
fn of_runs(panels: &mut Panels, runs: &Runs, over: Option<&str>) {
    let numeric = runs.axes().iter().find(|axis| is_numeric(runs, axis));
    let x = numeric.or_else(|| runs.axes().iter().max_by_key(|axis| runs.distinct(axis).len()));
    let series = DrawnSeries::of(runs);
    for figure in present(runs).into_iter().filter(|figure| figure.drawn) {
        match x {
            Some(x) => {
                let kind = if numeric.is_some() { ChartKind::Lines } else { ChartKind::Bars };
                facets(panels, runs, &series, (kind, figure.column), (x, over.unwrap_or(&Heading::of(x).name)));
            }
            None => bars(panels, runs, figure.column),
        }
    }
    // Without an axis, each policy has a bar.
    if x.is_some() && series.left_out > 0 {
        panels.push(Err(left_out(series.left_out)));
    }
}

/// The lines or bars of each chart: a policy with its placement each, or, where these are more than [`SERIES_MAX`], a
/// policy each in a chart per placement.
struct DrawnSeries {
    by_placement: bool,
    names: Vec<String>,
    /// Policies beyond the first [`SERIES_MAX`].
    left_out: usize,
}

impl DrawnSeries {
    fn of(runs: &Runs) -> DrawnSeries {
        let by_placement = runs.variants().len() > SERIES_MAX && runs.distinct("placement").len() > 1;
        let mut names = if by_placement { runs.distinct("policy") } else { runs.variants() };
        let left_out = names.len().saturating_sub(SERIES_MAX);
        names.truncate(SERIES_MAX);
        DrawnSeries { by_placement, names, left_out }
    }

    /// The series of a row; none if the row is not drawn.
    fn of_row(&self, runs: &Runs, row: usize) -> Option<String> {
        let name = if self.by_placement { runs.text(row, "policy") } else { runs.variant(row) };
        self.names.contains(&name).then_some(name)
    }
}

/// Whether an axis has two values or more, and all are numbers.
fn is_numeric(runs: &Runs, axis: &str) -> bool {
    (0..runs.len()).all(|row| runs.number(row, axis).is_some()) && runs.distinct(axis).len() > 1
}

/// The rows that have a value, as `(row, value)`.
fn valued<'a>(runs: &'a Runs, column: &'a str) -> impl Iterator<Item = (usize, f64)> + 'a {
    (0..runs.len()).filter_map(move |row| Some((row, runs.number(row, column)?)))
}

/// One panel per combination of the other axes, all with one axis of values; one line or bar per series.
fn facets(
    panels: &mut Panels,
    runs: &Runs,
    series: &DrawnSeries,
    (kind, column): (ChartKind, &str),
    (x, over): (&str, &str),
) {
    let others: Vec<&String> = runs.axes().iter().filter(|axis| *axis != x).collect();
    let placement = |row: usize| series.by_placement.then(|| runs.text(row, "placement"));
    let name = |row: usize| {
        let axes = others.iter().map(|axis| axis_value(runs, row, axis));
        axes.chain(placement(row)).collect::<Vec<_>>().join(", ")
    };
    let panel_of: Vec<String> = (0..runs.len()).map(name).collect();
    let drawn: Vec<(usize, String, f64)> =
        valued(runs, column).filter_map(|(row, value)| Some((row, series.of_row(runs, row)?, value))).collect();
    let values: Vec<f64> = drawn.iter().map(|(.., value)| *value).collect();
    let across: Vec<f64> = valued(runs, x).map(|(_, value)| value).collect();
    let spacing = if kind == ChartKind::Lines { (spacing(&across), spacing(&values)) } else { LINEAR };
    let all = in_order(drawn.iter().map(|(row, ..)| panel_of[*row].clone()));
    for panel in all.iter().take(PANELS_MAX) {
        let of_panel = drawn.iter().filter(|(row, ..)| panel_of[*row] == *panel);
        let entries: Vec<ChartValue> =
            of_panel.map(|(row, series, value)| (runs.text(*row, x), series.clone(), *value)).collect();
        let colon = if panel.is_empty() { "" } else { ": " };
        let title = format!("{}, by {over}{colon}{panel}", Heading::of(column).name);
        let chart = chart(kind, &capitalized(&title), [x, column, "policy"], spacing, &entries);
        panels.push(chart.map(|chart| Chart { reach: values.clone(), ..chart }));
    }
    if all.len() > PANELS_MAX {
        let more = all.len() - PANELS_MAX;
        let name = Heading::of(column).name;
        let note = format!("{name}: {more} more combinations of the other axes are not drawn; the table has them.");
        panels.push(Err(note));
    }
}

fn spacing(values: &[f64]) -> Spacing {
    let (low, high) =
        values.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), &value| (low.min(value), high.max(value)));
    if low > 0.0 && high >= low * LOGARITHMIC_FROM { Spacing::Log } else { Spacing::Linear }
}

/// A bar per policy.
fn bars(panels: &mut Panels, runs: &Runs, column: &str) {
    let entries: Vec<ChartValue> =
        valued(runs, column).map(|(row, value)| (runs.variant(row), String::new(), value)).collect();
    let title = capitalized(&format!("{} by policy", Heading::of(column).name));
    panels.push(chart(ChartKind::Bars, &title, ["policy", column, "series"], LINEAR, &entries));
}

/// Latency and energy of each operation, a bar per policy.
fn operations(panels: &mut Panels, page: &Page) {
    let several = page.operations.iter().any(|operation| operation.index > 0);
    let name = |operation: &PageOperation| {
        let number = if several { format!("{}: ", operation.index) } else { String::new() };
        number + &operation.row.label
    };
    let runs: Vec<String> = in_order(page.operations.iter().map(|operation| operation.run.clone()));
    let is_drawn = |run: &String| runs.iter().take(SERIES_MAX).any(|drawn| drawn == run);
    let shown =
        || page.operations.iter().filter(|operation| operation.index < OPERATIONS_MAX && is_drawn(&operation.run));
    let mut add = |title: &str, y: &str, value: fn(&OperationRow) -> Option<f64>| {
        let entries: Vec<ChartValue> =
            shown().filter_map(|it| Some((name(it), it.run.clone(), value(&it.row)?))).collect();
        if entries.is_empty() {
            return;
        }
        panels.push(chart(ChartKind::Bars, title, ["operation", y, "policy"], LINEAR, &entries));
    };
    add("Latency of each operation", "latency_ns", |row| Some(row.latency_ns));
    add("Dynamic energy of each operation", "dynamic_energy_nj", |row| row.energy_nj);
    let all = page.operations.iter().map(|operation| operation.index + 1).max().unwrap_or(0);
    if all > OPERATIONS_MAX {
        let more = all - OPERATIONS_MAX;
        panels.push(Err(format!("{more} more operations are not drawn; the table has them.")));
    }
    if shown().next().is_some() && runs.len() > SERIES_MAX {
        panels.push(Err(left_out(runs.len() - SERIES_MAX)));
    }
}

/// The value of an axis in a row: `bytes 4,096`.
fn axis_value(runs: &Runs, row: usize, axis: &str) -> String {
    let value = runs.number(row, axis).map_or_else(|| runs.text(row, axis), number);
    format!("{} {value}", Heading::of(axis).name)
}

/// The values of all axes in a row: `source same-bank, bytes 4,096`.
pub(super) fn point_name(runs: &Runs, row: usize) -> String {
    runs.axes().iter().map(|axis| axis_value(runs, row, axis)).collect::<Vec<_>>().join(", ")
}
