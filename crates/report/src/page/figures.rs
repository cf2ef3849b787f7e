//! Figures of a table that a page shows, and their charts.

use super::data::{Operation, Page, Runs, in_order};
use super::words::{Heading, number};
use crate::plot::{Chart, Kind, Request, Spacing, Table, capitalized};
use rowclone_sim::OperationRow;

/// A figure that matters to many readers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figure {
    pub(super) column: &'static str,
    /// Whether the lowest value is the best. For other figures this depends on the question.
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

/// The most panels of one figure, and the most operations, that are drawn.
const PANELS_MAX: usize = 16;
const OPERATIONS_MAX: usize = 16;

/// Values that are all positive and lie further apart than this are drawn by their logarithm.
const LOGARITHMIC_FROM: f64 = 30.0;

/// The figures of which a table has a value.
pub(super) fn present(runs: &Runs) -> Vec<Figure> {
    let there = |figure: &Figure| (0..runs.len()).any(|row| runs.number(row, figure.column).is_some_and(|v| v != 0.0));
    FIGURES.into_iter().filter(there).collect()
}

/// A value that is to be drawn: its place across, its series, and what it is.
pub(super) type Entry = (String, String, f64);

/// Both axes linear.
pub(super) const LINEAR: (Spacing, Spacing) = (Spacing::Linear, Spacing::Linear);

/// The chart of some entries. The columns name the quantities across and up, with their units, and the series.
///
/// # Errors
/// Reason why the figures cannot be drawn, in words.
pub(super) fn chart(
    kind: Kind,
    title: &str,
    [x, y, by]: [&str; 3],
    (x_spacing, y_spacing): (Spacing, Spacing),
    entries: &[Entry],
) -> Result<Chart, String> {
    let row = |(x, by, value): &Entry| vec![x.clone(), value.to_string(), by.clone()];
    let one_series = entries.iter().all(|(_, by, _)| *by == entries[0].1);
    let request = Request {
        kind,
        x: x.to_owned(),
        y: vec![y.to_owned()],
        by: if one_series { Vec::new() } else { vec![by.to_owned()] },
        x_spacing,
        y_spacing,
        title: Some(title.to_owned()),
        ..Request::default()
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

/// The main figures over the first numeric axis, which titles call `over`.
fn of_runs(panels: &mut Panels, runs: &Runs, over: Option<&str>) {
    let x = runs.axes().iter().find(|axis| is_numeric(runs, axis));
    for figure in present(runs).into_iter().filter(|figure| figure.drawn) {
        match x {
            Some(x) => lines(panels, runs, figure.column, x, over.unwrap_or(&Heading::of(x).name)),
            None => bars(panels, runs, figure.column),
        }
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

/// A panel for each combination of the other axes, all with one axis of values; a line per policy.
fn lines(panels: &mut Panels, runs: &Runs, column: &str, x: &str, over: &str) {
    let others: Vec<&String> = runs.axes().iter().filter(|axis| *axis != x).collect();
    let name = |row: usize| others.iter().map(|axis| axis_value(runs, row, axis)).collect::<Vec<_>>().join(", ");
    let panel_of: Vec<String> = (0..runs.len()).map(name).collect();
    let values: Vec<f64> = valued(runs, column).map(|(_, value)| value).collect();
    let across: Vec<f64> = valued(runs, x).map(|(_, value)| value).collect();
    let all = in_order(valued(runs, column).map(|(row, _)| panel_of[row].clone()));
    for panel in all.iter().take(PANELS_MAX) {
        let of_panel = valued(runs, column).filter(|(row, _)| panel_of[*row] == *panel);
        let entries: Vec<Entry> = of_panel.map(|(row, value)| (runs.text(row, x), runs.variant(row), value)).collect();
        let colon = if panel.is_empty() { "" } else { ": " };
        let title = format!("{}, by {over}{colon}{panel}", Heading::of(column).name);
        let spacing = (spacing(&across), spacing(&values));
        let chart = chart(Kind::Lines, &capitalized(&title), [x, column, "policy"], spacing, &entries);
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

/// Bars per policy, grouped by the axes where there are any.
fn bars(panels: &mut Panels, runs: &Runs, column: &str) {
    let by_axes = !runs.axes().is_empty();
    let entry = |(row, value): (usize, f64)| {
        let (point, variant) = (point_name(runs, row), runs.variant(row));
        if by_axes { (point, variant, value) } else { (variant, String::new(), value) }
    };
    let entries: Vec<Entry> = valued(runs, column).map(entry).collect();
    let (x, by) = if by_axes { ("point", "policy") } else { ("policy", "series") };
    let title = capitalized(&format!("{} by {x}", Heading::of(column).name));
    panels.push(chart(Kind::Bars, &title, [x, column, by], LINEAR, &entries));
}

/// Latency and energy of each operation, a bar per policy.
fn operations(panels: &mut Panels, page: &Page) {
    let several = page.operations.iter().any(|operation| operation.index > 0);
    let name = |operation: &Operation| {
        let number = if several { format!("{}. ", operation.index + 1) } else { String::new() };
        number + &operation.row.label
    };
    let shown = || page.operations.iter().filter(|operation| operation.index < OPERATIONS_MAX);
    let mut add = |title: &str, y: &str, value: fn(&OperationRow) -> f64| {
        let entries: Vec<Entry> =
            shown().map(|operation| (name(operation), operation.run.clone(), value(&operation.row))).collect();
        panels.push(chart(Kind::Bars, title, ["operation", y, "policy"], LINEAR, &entries));
    };
    add("Latency of each operation", "latency_ns", |row| row.latency_ns);
    add("Dynamic energy of each operation", "dynamic_energy_nj", |row| row.energy_nj);
    let all = page.operations.iter().map(|operation| operation.index + 1).max().unwrap_or(0);
    if all > OPERATIONS_MAX {
        let more = all - OPERATIONS_MAX;
        panels.push(Err(format!("{more} more operations are not drawn; the table has them.")));
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
