//! Bars side by side, bars of parts, and boxes.

use super::chart::{Chart, Kind, Point};
use super::frame::{AXIS_LINE, Frame};
use super::layout::Plot;
use super::lines::spread;
use super::palette;
use super::picture::{Colour, Picture};

/// How much of a place its bars fill.
const FILLED: f64 = 0.82;

/// A lower box is flat, in mm.
const FLAT: f64 = 1.0;

/// The widest bar, in mm.
const BAR_MAX: f64 = 9.0;

/// From the middle of a place to the middle of a bar, and the bar's width, in mm.
fn placed(bar: usize, bars: usize, slot: f64) -> (f64, f64) {
    let width = (slot * FILLED / bars as f64).min(BAR_MAX);
    ((bar as f64 - (bars - 1) as f64 / 2.0) * width, width)
}

/// Where the bar of a series stands, in mm.
pub(super) fn middle(chart: &Chart, series: usize, x: f64, plot: &Plot<'_>) -> f64 {
    let bars = if chart.kind == Kind::Stacked { 1 } else { chart.series.len() };
    plot.x(x) + if series < bars { placed(series, bars, plot.slot()).0 } else { 0.0 }
}

/// Draws bars beside each other, each to its median.
pub(super) fn grouped(picture: &mut Picture, chart: &Chart, plot: &Plot<'_>) {
    let base = plot.y(plot.base());
    for (index, series) in chart.series.iter().enumerate() {
        for point in &series.points {
            let (middle, y) = (middle(chart, index, point.x, plot), plot.y(point.median()));
            let half = placed(index, chart.series.len(), plot.slot()).1 / 2.0;
            let (from, to) = ((middle - half, y), (middle + half, base));
            palette::hatched(picture, index, from, to);
            spread(picture, plot, point, (middle, (half * 0.5).min(0.6)), Colour::BLACK);
            picture.value(from, to, plot.words(&series.name, point, "median"));
        }
    }
    base_line(picture, plot, base);
}

/// Draws bars of parts, each part its mean: medians would not add up.
pub(super) fn stacked(picture: &mut Picture, chart: &Chart, plot: &Plot<'_>) {
    let half = placed(0, 1, plot.slot()).1 / 2.0;
    let mut heights: Vec<(f64, f64)> = Vec::new();
    for (index, series) in chart.series.iter().enumerate() {
        for point in &series.points {
            let known = heights.iter().position(|(x, _)| x.total_cmp(&point.x).is_eq());
            let bar = known.unwrap_or_else(|| {
                heights.push((point.x, 0.0));
                heights.len() - 1
            });
            let below = heights[bar].1;
            heights[bar].1 += point.mean();
            let middle = plot.x(point.x);
            let (from, to) = ((middle - half, plot.y(heights[bar].1)), (middle + half, plot.y(below)));
            if point.mean() > 0.0 {
                palette::hatched(picture, index, from, to);
            }
            picture.value(from, to, plot.words(&series.name, point, "mean"));
        }
    }
    base_line(picture, plot, plot.y(0.0));
}

/// Draws a box from the first to the third quartile, a line at the median, and whiskers to the ends.
pub(super) fn boxes(picture: &mut Picture, chart: &Chart, plot: &Plot<'_>) {
    for (index, series) in chart.series.iter().enumerate() {
        for point in &series.points {
            let middle = middle(chart, index, point.x, plot);
            one_box(picture, index, point, middle, plot, chart.series.len());
            let (low, high) = (plot.y(point.quantile(0.0)), plot.y(point.quantile(1.0)));
            picture.value(
                (middle - 1.0, high - 0.4),
                (middle + 1.0, low + 0.4),
                plot.words(&series.name, point, "median"),
            );
        }
    }
}

fn one_box(picture: &mut Picture, series: usize, point: &Point, middle: f64, plot: &Plot<'_>, bars: usize) {
    let half = (placed(series, bars, plot.slot()).1 * 0.38).min(3.0);
    let [least, first, median, third, most] = [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| plot.y(point.quantile(share)));
    for (from, to) in [(least, first), (third, most)] {
        picture.line((middle, from), (middle, to), Colour::BLACK, 0.22);
    }
    for end in [least, most] {
        picture.line((middle - half * 0.6, end), (middle + half * 0.6, end), Colour::BLACK, 0.22);
    }
    // A box that is flat shows the colour of its series all the same.
    if first - third < FLAT {
        picture.line((middle - half, median), (middle + half, median), palette::colour(series), FLAT);
    } else {
        palette::hatched(picture, series, (middle - half, third), (middle + half, first));
    }
    let line = ((middle - half, median), (middle + half, median));
    // A low box would vanish behind the line.
    if first - third > 2.0 {
        picture.line(line.0, line.1, Colour::WHITE, 0.85);
    }
    picture.line(line.0, line.1, Colour::BLACK, 0.45);
}

/// The line that bars stand on, where it is not the axis.
fn base_line(picture: &mut Picture, plot: &Plot<'_>, base: f64) {
    let Frame { left, right, .. } = plot.frame;
    picture.line((left, base), (right, base), Colour::BLACK, AXIS_LINE);
}
