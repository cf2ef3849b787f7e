//! Which figures of a table are shown, and how they are drawn over its axes.

use std::collections::BTreeMap;

use super::chart::{Bars, Chart, Group, Lines, Panel, Point, Spread};
use super::data::{Runs, in_order};
use super::words::{Heading, number};
use crate::cell::{Cell, Kind};

/// A figure that matters to many.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figure {
    pub(super) column: &'static str,
    /// Whether the lowest is the best: of others, nobody can say.
    pub(super) lowest_is_best: bool,
    /// Whether it is drawn, too.
    pub(super) drawn: bool,
}

#[rustfmt::skip]
const FIGURES: [Figure; 15] = [
    Figure { column: "makespan_ns",            lowest_is_best: true,  drawn: false },
    Figure { column: "copy_latency_mean_ns",   lowest_is_best: true,  drawn: true },
    Figure { column: "copy_latency_p99_ns",    lowest_is_best: true,  drawn: false },
    Figure { column: "copy_response_mean_ns",  lowest_is_best: true,  drawn: false },
    Figure { column: "read_latency_mean_ns",   lowest_is_best: true,  drawn: true },
    Figure { column: "read_latency_p99_ns",    lowest_is_best: true,  drawn: true },
    Figure { column: "write_latency_mean_ns",  lowest_is_best: true,  drawn: false },
    Figure { column: "dynamic_energy_nj",    lowest_is_best: true,  drawn: true },
    Figure { column: "energy_nj",              lowest_is_best: true,  drawn: false },
    Figure { column: "channel_bytes",          lowest_is_best: true,  drawn: true },
    Figure { column: "bandwidth_gb_s",         lowest_is_best: false, drawn: false },
    Figure { column: "data_bus_share",         lowest_is_best: false, drawn: false },
    Figure { column: "copies_by_fpm_share",    lowest_is_best: false, drawn: true },
    Figure { column: "inits_by_fpm_share",     lowest_is_best: false, drawn: false },
    Figure { column: "requests",               lowest_is_best: false, drawn: false },
];

/// More panels than this nobody looks at.
const PANELS_MOST: usize = 12;
/// Nor more groups of bars.
const GROUPS_MOST: usize = 24;

/// The figures that a table has something of.
pub(super) fn present(runs: &Runs) -> Vec<Figure> {
    let there = |figure: &Figure| (0..runs.len()).any(|row| runs.number(row, figure.column).is_some_and(|v| v != 0.0));
    FIGURES.into_iter().filter(there).collect()
}

/// A drawing of a figure, and what it leaves out.
#[derive(Clone, Debug)]
pub(super) struct Drawing {
    pub(super) heading: Heading,
    pub(super) chart: Chart,
    pub(super) note: Option<String>,
}

/// The main figures, each over the first numeric axis; without one, as bars.
pub(super) fn drawings(runs: &Runs) -> Vec<Drawing> {
    let x = runs.axes().iter().find(|axis| is_numeric(runs, axis));
    let drawn = present(runs).into_iter().filter(|figure| figure.drawn);
    let drawing = |figure: Figure| {
        let heading = Heading::of(figure.column);
        let (chart, left_out) = match x {
            Some(x) => lines(runs, figure.column, x),
            None => bars(runs, figure.column),
        };
        let note = (left_out > 0)
            .then(|| format!("{left_out} more combinations of the other axes are not drawn; the table has them."));
        Drawing { heading, chart, note }
    };
    drawn.map(drawing).collect()
}

/// Whether an axis has two values or more, and all are numbers.
fn is_numeric(runs: &Runs, axis: &str) -> bool {
    let numbers = (0..runs.len()).all(|row| runs.number(row, axis).is_some());
    let column = runs.columns().iter().find(|column| column.name == axis);
    numbers && column.is_some_and(|column| column.kind != Kind::Text) && runs.distinct(axis).len() > 1
}

/// Values by the bits of their x.
type ByX = BTreeMap<u64, (f64, Vec<f64>)>;

/// A line for each policy, a panel for each combination of the other axes; and how many panels there was no room for.
fn lines(runs: &Runs, column: &str, x: &str) -> (Chart, usize) {
    let others: Vec<&String> = runs.axes().iter().filter(|axis| *axis != x).collect();
    let panel_of = |row: usize| others.iter().map(|axis| runs.text(row, axis)).collect::<Vec<_>>();
    let rows = || (0..runs.len()).filter(|&row| runs.number(row, column).is_some());
    let series = in_order(rows().map(|row| runs.variant(row)));
    let all = in_order(rows().map(panel_of));
    let shown = &all[..all.len().min(PANELS_MOST)];
    let mut values: BTreeMap<(usize, usize), ByX> = BTreeMap::new();
    let place = |names: &[String], name: &String| names.iter().position(|other| other == name);
    for row in rows() {
        let Some(panel) = shown.iter().position(|other| *other == panel_of(row)) else { continue };
        let Some(line) = place(&series, &runs.variant(row)) else { continue };
        let (Some(at), Some(value)) = (runs.number(row, x), runs.number(row, column)) else { continue };
        values.entry((panel, line)).or_default().entry(at.to_bits()).or_insert((at, Vec::new())).1.push(value);
    }
    let points = |panel: usize, line: usize| {
        let of = values.get(&(panel, line)).into_iter().flat_map(BTreeMap::values);
        let mut points: Vec<Point> =
            of.filter_map(|(x, values)| Spread::of(values).map(|y| Point { x: *x, y })).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        points
    };
    let title = |values: &[String]| {
        let said = others.iter().zip(values).map(|(axis, value)| format!("{} {value}", Heading::of(axis).name));
        said.collect::<Vec<_>>().join(", ")
    };
    let panels = shown.iter().enumerate().map(|(panel, values)| Panel {
        title: title(values),
        lines: (0..series.len()).map(|line| points(panel, line)).collect(),
    });
    let panels = panels.collect();
    (Chart::Lines(Lines { x: Heading::of(x), y: Heading::of(column), series, panels }), all.len() - shown.len())
}

/// Bars for each policy, grouped by the axes; and how many groups there was no room for.
fn bars(runs: &Runs, column: &str) -> (Chart, usize) {
    let rows = || (0..runs.len()).filter(|&row| runs.number(row, column).is_some());
    let by_axes = !runs.axes().is_empty();
    let group_of = |row: usize| if by_axes { point_name(runs, row) } else { runs.variant(row) };
    let series = if by_axes { in_order(rows().map(|row| runs.variant(row))) } else { vec!["all".to_owned()] };
    let all = in_order(rows().map(group_of));
    let shown = &all[..all.len().min(GROUPS_MOST)];
    let mut values: BTreeMap<(usize, usize), Vec<f64>> = BTreeMap::new();
    for row in rows() {
        let Some(group) = shown.iter().position(|other| *other == group_of(row)) else { continue };
        let variant = runs.variant(row);
        let bar = if by_axes { series.iter().position(|other| *other == variant).unwrap_or(0) } else { 0 };
        values.entry((group, bar)).or_default().extend(runs.number(row, column));
    }
    let groups = shown.iter().enumerate().map(|(group, name)| Group {
        name: name.clone(),
        bars: (0..series.len())
            .filter_map(|bar| values.get(&(group, bar)).and_then(|values| Spread::of(values)).map(|s| (bar, s)))
            .collect(),
    });
    let groups = groups.collect();
    (Chart::Bars(Bars { y: Heading::of(column), series, groups }), all.len() - shown.len())
}

/// The values of the axes in a row: `source same-bank, bytes 4096`.
pub(super) fn point_name(runs: &Runs, row: usize) -> String {
    let said = |axis: &String| {
        let value = match runs.cell(row, axis) {
            Some(Cell::Text(text)) => text.clone(),
            _ => runs.number(row, axis).map(number).unwrap_or_default(),
        };
        format!("{} {value}", Heading::of(axis).name)
    };
    runs.axes().iter().map(said).collect::<Vec<_>>().join(", ")
}
