//! Draws the marks of each kind of chart. Each mark has a title, which states its value.

use plotters::coord::CoordTranslate;

use super::canvas::{CENTER, Canvas};
use super::chart::{Across, BOX_MIN, Chart, ChartKind, Point, Series};
use super::font::Size;
use super::legend::{look, published_color};
use super::palette::{self, INK, LINE, MARK_RADIUS, PAPER};
use super::paper::{At, DOTS_PER_MM, dots};
use super::scale::{Plane, Scale};
use super::unit::in_digits;

/// Share of a place that its bars fill.
const FILLED: f64 = 0.82;
/// The widest bar, in mm.
const BAR_MAX: f64 = 9.0;
/// A flatter box has no hatch, in mm.
const FLAT: f64 = 1.0;
/// Marks of a line that are nearer to each other than this are left out, in mm.
const MARKS_APART: f64 = 1.5;

/// A chart with its axes, whose marks are to be drawn.
pub(super) struct Marks<'a> {
    pub(super) chart: &'a Chart,
    pub(super) canvas: Canvas<'a>,
    pub(super) plane: &'a Plane,
    /// The axis of values.
    pub(super) y: &'a Scale,
    /// The width of a category's place, in mm.
    pub(super) slot: f64,
    /// Whether categories lie one below another and values run to the right.
    pub(super) lying: bool,
}

impl Marks<'_> {
    /// The place of a value.
    pub(super) fn at(&self, across: f64, up: f64) -> At {
        self.plane.translate(&if self.lying { (up, across) } else { (across, up) })
    }

    /// Draws the marks of a series, without those of stacked bars.
    pub(super) fn draw_series(&self, index: usize) {
        let Series { name, points } = &self.chart.series[index];
        let mut last = None;
        for point in points {
            self.canvas.mark(&words(self.chart, name, point, "median"), || match self.chart.kind {
                ChartKind::Lines => self.symbol(index, point, &mut last),
                ChartKind::Boxes => self.quartiles(index, point),
                ChartKind::Bars | ChartKind::Stacked | ChartKind::Heat => self.bar(index, point),
            });
        }
    }

    /// From the middle of a place to the middle of a series' bar, and the width of a bar, in places.
    fn placed(&self, series: usize) -> (f64, f64) {
        let bars = match self.chart.kind {
            ChartKind::Bars | ChartKind::Boxes => self.chart.series.len(),
            ChartKind::Lines | ChartKind::Stacked | ChartKind::Heat => 1,
        };
        let width = (FILLED / bars as f64).min(BAR_MAX / self.slot);
        // A published series without a simulated one stands in the middle.
        (if series < bars { (series as f64 - (bars - 1) as f64 / 2.0) * width } else { 0.0 }, width)
    }

    /// A symbol over a line from the least to the greatest value. A symbol that would touch the last one of its line is
    /// replaced by a transparent area: a dense line stays a line.
    fn symbol(&self, index: usize, point: &Point, last: &mut Option<At>) {
        let (x, y) = self.at(point.x, point.median());
        let apart = |(left, up): At| f64::from(x - left).hypot(f64::from(y - up));
        if last.is_some_and(|last| apart(last) < MARKS_APART * DOTS_PER_MM) {
            let radius = dots(MARK_RADIUS);
            return self.canvas.push(&format!(
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"none\" pointer-events=\"all\"/>\n"
            ));
        }
        *last = Some((x, y));
        let ends = [0.0, 1.0].map(|share| self.at(point.x, point.quantile(share)));
        self.canvas.line(ends, palette::color(index), LINE * 0.8, None);
        palette::symbol(self.canvas, index, (x, y));
    }

    fn bar(&self, index: usize, point: &Point) {
        let (offset, width) = self.placed(index);
        let (middle, base) = (point.x + offset, 0f64.clamp(self.y.from, self.y.to));
        let (from, to) = (self.at(middle - width / 2.0, base), self.at(middle + width / 2.0, point.median()));
        palette::bar(self.canvas, index, from, to);
        self.canvas.line([0.0, 1.0].map(|share| self.at(middle, point.quantile(share))), INK, LINE * 0.8, None);
    }

    /// Draws bars of parts, each part its mean: medians would not add up.
    pub(super) fn draw_stacked(&self) {
        let half = self.placed(0).1 / 2.0;
        let mut tops: Vec<f64> = vec![0.0; categories(self.chart)];
        for (index, Series { name, points }) in self.chart.series.iter().enumerate() {
            for point in points {
                let top = &mut tops[point.category()];
                let below = *top;
                *top += point.mean();
                let (from, to) = (self.at(point.x - half, below), self.at(point.x + half, *top));
                self.canvas.mark(&words(self.chart, name, point, "mean"), || {
                    if point.mean() > 0.0 {
                        palette::bar(self.canvas, index, from, to);
                    }
                });
            }
        }
    }

    /// A box from the first to the third quartile, a line at the median, whiskers to the ends; of few points, these
    /// themselves.
    fn quartiles(&self, index: usize, point: &Point) {
        let (canvas, (offset, width)) = (self.canvas, self.placed(index));
        let (middle, half) = (point.x + offset, width * 0.36);
        if point.values.len() < BOX_MIN {
            return point.values.iter().for_each(|&value| palette::symbol(canvas, index, self.at(middle, value)));
        }
        let [least, first, median, third, most] = [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| point.quantile(share));
        for ends in [[least, first], [third, most]] {
            canvas.line(ends.map(|value| self.at(middle, value)), INK, 0.22, None);
        }
        let (from, to) = (self.at(middle - half, first), self.at(middle + half, third));
        let line = [self.at(middle - half, median), self.at(middle + half, median)];
        if (from.0 - to.0).abs().min((from.1 - to.1).abs()) < dots(FLAT) {
            canvas.line(line, palette::color(index), FLAT, None);
        } else {
            palette::bar(canvas, index, from, to);
            canvas.line(line, PAPER, 0.85, None);
        }
        canvas.line(line, INK, 0.45, None);
    }

    /// Draws the marks of published values.
    pub(super) fn draw_published(&self) {
        for (index, Series { name, points }) in self.chart.published.iter().enumerate() {
            let (look, _) = look(self.chart, index);
            for point in points {
                let title = format!("published: {}", words(self.chart, name, point, "median"));
                let at = self.at(point.x + self.placed(look).0, point.median());
                let color = published_color(self.chart, look);
                self.canvas.mark(&title, || palette::hollow_symbol(self.canvas, look, at, color));
            }
        }
    }

    /// Draws the cells of a heat map, with their numbers where all of them fit into a cell of this size, in mm.
    pub(super) fn draw_cells(&self, colors: &Scale, cell: (f64, f64)) {
        let values = || self.chart.series.iter().flat_map(|series| &series.points).map(Point::median);
        let display = self.chart.y.unit.display(values().map(f64::abs).fold(0.0, f64::max) / 2.0);
        let number = |value: f64| in_digits(value * display.factor, 3);
        let widest = values().map(|value| Size::NOTE.width(&number(value))).fold(0.0, f64::max);
        let numbered = widest + 0.6 <= cell.0 && Size::NOTE.line() <= cell.1;
        for (row, Series { name, points }) in self.chart.series.iter().enumerate() {
            for point in points {
                let (x, y) = (point.x, row as f64);
                let (a, b) = (self.at(x - 0.5, y - 0.5), self.at(x + 0.5, y + 0.5));
                let (from, to) = ((a.0, a.1.min(b.1)), (b.0, a.1.max(b.1)));
                let color = palette::heat(colors.position(point.median()));
                self.canvas.mark(&words(self.chart, name, point, "median"), || {
                    // A little under its neighbors, so that no seam is seen.
                    self.canvas.rectangle(from, (to.0 + 2, to.1 + 2), color);
                    let style = Size::NOTE.style(palette::on_heat(color)).pos(CENTER);
                    if numbered {
                        let center = (i32::midpoint(from.0, to.0), i32::midpoint(from.1, to.1));
                        self.canvas.text(&number(point.median()), &style, center);
                    }
                });
            }
        }
    }
}

/// The number of categories of a chart.
pub(super) fn categories(chart: &Chart) -> usize {
    match &chart.x {
        Across::Categories(categories) => categories.names.len(),
        Across::Numbers(_) => 1,
    }
}

/// A point in words: `rowclone, 4 KiB: 90 ns`. `shown` is what its mark stands for, where there are several values.
fn words(chart: &Chart, series: &str, point: &Point, shown: &str) -> String {
    let across = match &chart.x {
        Across::Numbers(axis) => axis.unit.write(point.x),
        Across::Categories(categories) => categories.names[point.category()].clone(),
    };
    let write = |value: f64| chart.y.unit.write_in_full(value);
    let name = if series.is_empty() { across } else { format!("{series}, {across}") };
    if point.values.len() == 1 {
        return format!("{name}: {}", write(point.values[0]));
    }
    let middle = if shown == "mean" { point.mean() } else { point.median() };
    let (least, most) = (write(point.quantile(0.0)), write(point.quantile(1.0)));
    format!("{name}: {} ({shown} of {}, {least} to {most})", write(middle), point.values.len())
}
