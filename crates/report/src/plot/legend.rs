//! The legend: above the chart, in as many rows as it needs, where it covers nothing.

use plotters::style::RGBColor;

use super::canvas::Canvas;
use super::chart::{Chart, ChartKind};
use super::font::Size;
use super::palette::{self, INK, LINE};
use super::paper::{At, dots};

/// The sign of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// A line with a mark.
    Line(usize),
    /// A bar.
    Bar(usize),
    /// A hollow mark in this color.
    Hollow(usize, RGBColor),
}

/// A sign and its meaning.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LegendEntry {
    pub(super) sign: Sign,
    pub(super) text: String,
    /// Distance from the left edge of the legend, in mm.
    pub(super) left: f64,
}

/// The width of a sign, in mm: two strokes of each line fit.
const SIGN: f64 = 6.8;
/// From a sign to its text, in mm.
pub(super) const TEXT: f64 = SIGN + 0.8;
/// Between two entries, in mm.
const APART: f64 = 2.6;
/// The height of a row, in mm.
pub(super) const ROW: f64 = 3.4;

/// The series whose look a published series has, and whether it is that of the simulated series of the same name.
pub(super) fn look(chart: &Chart, published: usize) -> (usize, bool) {
    let same = |name: &str| chart.series.iter().position(|series| series.name == name);
    if let Some(series) = same(&chart.published[published].name) {
        return (series, true);
    }
    let others = chart.published[..published].iter().filter(|it| same(&it.name).is_none()).count();
    (chart.series.len() + others, false)
}

/// Hollow marks have the color of their line; over bars, which have colors themselves, that of text.
pub(super) fn published_color(chart: &Chart, series: usize) -> RGBColor {
    if chart.kind == ChartKind::Lines { palette::color(series) } else { INK }
}

/// The entries of a chart in rows of at most this width, in mm.
pub(super) fn rows(chart: &Chart, width: f64) -> Vec<Vec<LegendEntry>> {
    let mut rows: Vec<Vec<LegendEntry>> = Vec::new();
    let mut end = f64::INFINITY;
    for (sign, text) in entries(chart) {
        let text = Size::TICK.fit(&text, width - TEXT);
        let wide = TEXT + Size::TICK.width(&text);
        if end + APART + wide > width {
            rows.push(Vec::new());
            end = -APART;
        }
        let left = end + APART;
        rows.last_mut().expect("the first entry begins a row").push(LegendEntry { sign, text, left });
        end = left + wide;
    }
    rows
}

fn entries(chart: &Chart) -> Vec<(Sign, String)> {
    let sign = |index: usize| if chart.kind == ChartKind::Lines { Sign::Line(index) } else { Sign::Bar(index) };
    if chart.kind == ChartKind::Heat {
        return Vec::new();
    }
    let named = chart.series.iter().enumerate().filter(|(_, series)| !series.name.is_empty());
    let mut entries: Vec<_> = named.map(|(index, series)| (sign(index), series.name.clone())).collect();
    if entries.is_empty() && !chart.published.is_empty() {
        entries.push((sign(0), "simulated".to_owned()));
    }
    let looks: Vec<(usize, bool)> = (0..chart.published.len()).map(|index| look(chart, index)).collect();
    // One entry for all those that have the look of a simulated series.
    let mut matched = looks.iter().filter(|(_, matched)| *matched).map(|(series, _)| *series);
    if let Some(first) = matched.next() {
        let color = if matched.next().is_none() { published_color(chart, first) } else { INK };
        entries.push((Sign::Hollow(first, color), "published".to_owned()));
    }
    for ((look, _), series) in looks.iter().zip(&chart.published).filter(|((_, matched), _)| !matched) {
        let name = if series.name.is_empty() { String::new() } else { format!("{}, ", series.name) };
        entries.push((Sign::Hollow(*look, published_color(chart, *look)), format!("{name}published")));
    }
    entries
}

/// Draws a sign whose left end is at a place, in the middle of its row.
pub(super) fn draw_sign(canvas: Canvas<'_>, sign: Sign, (left, middle): At) {
    let center = (left + dots(SIGN / 2.0), middle);
    match sign {
        Sign::Line(series) => {
            let ends = [(left, middle), (left + dots(SIGN), middle)];
            canvas.line(ends, palette::color(series), LINE, palette::dashes(series));
            palette::symbol(canvas, series, center);
        }
        Sign::Bar(series) => {
            let (from, to) = ((left + dots(0.4), middle - dots(1.1)), (left + dots(SIGN - 0.2), middle + dots(1.1)));
            palette::bar(canvas, series, from, to);
        }
        Sign::Hollow(series, color) => palette::hollow_symbol(canvas, series, center, color),
    }
}
