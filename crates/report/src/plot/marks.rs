//! The marks of each kind of chart, as elements that plotters places and draws.

use plotters::element::{Drawable, PointCollection};
use plotters_backend::{BackendCoord, DrawingBackend};

use super::canvas::{At, Canvas, DOTS_PER_MM, Drawn, Shape, dots};
use super::chart::{Across, BOX_MIN, Chart, Kind, Point, Series};
use super::font::Size;
use super::legend::{look, published_colour};
use super::palette::{self, INK, LINE, MARK_RADIUS, PAPER};
use super::scale::Scale;

/// A place on a chart: the value across and the value up.
pub(super) type Place = (f64, f64);

/// Drawing of an element: plotters gives its anchors in dots.
type Paint<'a> = Box<dyn Fn(&mut Canvas<'_>, &[At]) -> Drawn + 'a>;

/// An element in plotters' sense: some anchors, and how it is painted around them. An element with a title is a mark.
pub(super) struct Mark<'a, C = Place> {
    pub(super) anchors: Vec<C>,
    pub(super) title: Option<String>,
    pub(super) paint: Paint<'a>,
}

impl<'m, C> PointCollection<'m, C> for &'m Mark<'_, C> {
    type Point = &'m C;
    type IntoIter = &'m [C];

    fn point_iter(self) -> &'m [C] {
        &self.anchors
    }
}

impl<'c, C> Drawable<Canvas<'c>> for Mark<'_, C> {
    fn draw<I: Iterator<Item = BackendCoord>>(&self, anchors: I, canvas: &mut Canvas<'c>, _: (u32, u32)) -> Drawn {
        let anchors: Vec<At> = anchors.collect();
        canvas.0.shapes.extend(self.title.clone().map(Shape::Open));
        (self.paint)(canvas, &anchors)?;
        canvas.0.shapes.extend(self.title.is_some().then_some(Shape::Close));
        Ok(())
    }
}

/// Share of a place that its bars fill.
const FILLED: f64 = 0.82;
/// The widest bar, in mm.
const BAR_MAX: f64 = 9.0;
/// A flatter box has no hatch, in mm.
const FLAT: f64 = 1.0;
/// Marks of a line that are nearer to each other than this are left out, in mm.
const MARKS_APART: f64 = 1.5;

/// A chart with its axes, whose marks are to be made.
pub(super) struct Marks<'a> {
    pub(super) chart: &'a Chart,
    /// The axis of values.
    pub(super) y: &'a Scale,
    /// The width of a category's place, in mm.
    pub(super) slot: f64,
    /// Whether categories lie one below another and values run to the right.
    pub(super) lying: bool,
}

impl<'a> Marks<'a> {
    /// A place on paper.
    pub(super) fn at(&self, across: f64, up: f64) -> Place {
        if self.lying { (up, across) } else { (across, up) }
    }

    /// The marks of a series, without those of stacked bars.
    pub(super) fn of_series(&self, index: usize) -> Vec<Mark<'a>> {
        let series = &self.chart.series[index];
        let mark = |point: &'a Point| match self.chart.kind {
            Kind::Lines => self.symbol(index, series, point),
            Kind::Boxes => self.quartiles(index, series, point),
            Kind::Bars | Kind::Stacked | Kind::Heat => self.bar(index, series, point),
        };
        series.points.iter().map(mark).collect()
    }

    /// The marks of published values.
    pub(super) fn all_published(&self) -> Vec<Mark<'a>> {
        let each = self.chart.published.iter().enumerate();
        each.flat_map(|(index, series)| series.points.iter().map(move |point| self.published(index, point))).collect()
    }

    /// From the middle of a place to the middle of a series' bar, and the width of a bar, in places.
    fn placed(&self, series: usize) -> (f64, f64) {
        let bars = match self.chart.kind {
            Kind::Bars | Kind::Boxes => self.chart.series.len(),
            Kind::Lines | Kind::Stacked | Kind::Heat => 1,
        };
        let width = (FILLED / bars as f64).min(BAR_MAX / self.slot);
        // A published series without a simulated one stands in the middle.
        (if series < bars { (series as f64 - (bars - 1) as f64 / 2.0) * width } else { 0.0 }, width)
    }

    fn symbol(&self, index: usize, series: &'a Series, point: &'a Point) -> Mark<'a> {
        let anchors = [point.median(), point.quantile(0.0), point.quantile(1.0)].map(|value| self.at(point.x, value));
        Mark {
            anchors: anchors.to_vec(),
            title: Some(words(self.chart, &series.name, point, "median")),
            paint: Box::new(move |canvas, at| {
                canvas.draw_path(at[1..].to_vec(), &palette::stroke(palette::colour(index), LINE * 0.8))?;
                palette::symbol(canvas, index, at[0])
            }),
        }
    }

    fn bar(&self, index: usize, series: &'a Series, point: &'a Point) -> Mark<'a> {
        let (offset, width) = self.placed(index);
        let (middle, base) = (point.x + offset, 0f64.clamp(self.y.from, self.y.to));
        let whisker = [0.0, 1.0].map(|share| self.at(middle, point.quantile(share)));
        Mark {
            anchors: [[self.at(middle - width / 2.0, base), self.at(middle + width / 2.0, point.median())], whisker]
                .concat(),
            title: Some(words(self.chart, &series.name, point, "median")),
            paint: Box::new(move |canvas, at| {
                palette::bar(canvas, index, at[0], at[1])?;
                canvas.draw_path(at[2..].to_vec(), &palette::stroke(INK, LINE * 0.8))
            }),
        }
    }

    /// Bars of parts, each part its mean: medians would not add up.
    pub(super) fn stacked(&self) -> Vec<Mark<'a>> {
        let half = self.placed(0).1 / 2.0;
        let mut tops: Vec<f64> = vec![0.0; categories(self.chart)];
        let mut marks = Vec::new();
        for (index, series) in self.chart.series.iter().enumerate() {
            for point in &series.points {
                let top = &mut tops[place(point.x)];
                let below = *top;
                *top += point.mean();
                let is_there = point.mean() > 0.0;
                marks.push(Mark {
                    anchors: vec![self.at(point.x - half, below), self.at(point.x + half, *top)],
                    title: Some(words(self.chart, &series.name, point, "mean")),
                    paint: Box::new(
                        move |canvas, at| {
                            if is_there { palette::bar(canvas, index, at[0], at[1]) } else { Ok(()) }
                        },
                    ),
                });
            }
        }
        marks
    }

    /// A box from the first to the third quartile, a line at the median, whiskers to the ends; of few points, these themselves.
    fn quartiles(&self, index: usize, series: &'a Series, point: &'a Point) -> Mark<'a> {
        let (offset, width) = self.placed(index);
        let (middle, half) = (point.x + offset, width * 0.36);
        let title = Some(words(self.chart, &series.name, point, "median"));
        if point.values.len() < BOX_MIN {
            let anchors = point.values.iter().map(|&value| self.at(middle, value)).collect();
            let paint: Paint<'a> =
                Box::new(move |canvas, at| at.iter().try_for_each(|&at| palette::symbol(canvas, index, at)));
            return Mark { anchors, title, paint };
        }
        let [least, first, median, third, most] = [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| point.quantile(share));
        let sides = |value: f64| [self.at(middle - half, value), self.at(middle + half, value)];
        let whiskers = [least, first, third, most].map(|value| self.at(middle, value));
        let corners = [self.at(middle - half, first), self.at(middle + half, third)];
        let anchors = [&whiskers[..], &corners, &sides(median)].concat();
        let paint: Paint<'a> = Box::new(move |canvas, at| {
            let thin = palette::stroke(INK, 0.22);
            canvas.draw_path(at[..2].to_vec(), &thin)?;
            canvas.draw_path(at[2..4].to_vec(), &thin)?;
            let flat = (at[4].0 - at[5].0).abs().min((at[4].1 - at[5].1).abs()) < dots(FLAT);
            if flat {
                canvas.draw_path(at[6..].to_vec(), &palette::stroke(palette::colour(index), FLAT))?;
            } else {
                palette::bar(canvas, index, at[4], at[5])?;
                canvas.draw_path(at[6..].to_vec(), &palette::stroke(PAPER, 0.85))?;
            }
            canvas.draw_path(at[6..].to_vec(), &palette::stroke(INK, 0.45))
        });
        Mark { anchors, title, paint }
    }

    fn published(&self, index: usize, point: &'a Point) -> Mark<'a> {
        let (look, _) = look(self.chart, index);
        let colour = published_colour(self.chart, look);
        let name = &self.chart.published[index].name;
        Mark {
            anchors: vec![self.at(point.x + self.placed(look).0, point.median())],
            title: Some(format!("published: {}", words(self.chart, name, point, "median"))),
            paint: Box::new(move |canvas, at| palette::hollow_symbol(canvas, look, at[0], colour)),
        }
    }
}

/// Replaces symbols of a line that would touch the last one by transparent areas: a dense line stays a line.
pub(super) fn without_crowding<'a>(marks: Vec<Mark<'a>>, to_dots: impl Fn(&Place) -> At) -> Vec<Mark<'a>> {
    let mut last: Option<At> = None;
    let thinned = |mut mark: Mark<'a>| {
        let (x, y) = to_dots(&mark.anchors[0]);
        let apart = |(left, up): At| f64::from(x - left).hypot(f64::from(y - up));
        if last.is_some_and(|last| apart(last) < MARKS_APART * DOTS_PER_MM) {
            mark.paint = Box::new(|canvas, at| {
                let ((x, y), reach) = (at[0], dots(MARK_RADIUS));
                let points = vec![
                    (x - reach, y - reach),
                    (x + reach, y - reach),
                    (x + reach, y + reach),
                    (x - reach, y + reach),
                ];
                canvas.0.shapes.push(Shape::Polygon { points, colour: None });
                Ok(())
            });
        } else {
            last = Some((x, y));
        }
        mark
    };
    marks.into_iter().map(thinned).collect()
}

/// The cells of a heat map, with their numbers where all of them fit into a cell of this size, in mm.
pub(super) fn cells<'a>(chart: &'a Chart, colours: &'a Scale, cell: (f64, f64)) -> Vec<Mark<'a>> {
    let values = || chart.series.iter().flat_map(|series| &series.points).map(Point::median);
    let display = chart.y.unit.display(values().map(f64::abs).fold(0.0, f64::max) / 2.0);
    let number = |point: &Point| super::unit::in_digits(point.median() * display.factor, 3);
    let widest =
        values().map(|value| Size::NOTE.width(&super::unit::in_digits(value * display.factor, 3))).fold(0.0, f64::max);
    let numbered = widest + 0.6 <= cell.0 && Size::NOTE.line() <= cell.1;
    let mark = |row: usize, series: &'a Series, point: &'a Point| {
        let (colour, text) = (palette::heat(colours.position(point.median())), number(point));
        let style = Size::NOTE.style(palette::on_heat(colour)).pos(super::draw::CENTRE);
        let row = row as f64;
        Mark {
            anchors: vec![(point.x - 0.5, row - 0.5), (point.x + 0.5, row + 0.5)],
            title: Some(words(chart, &series.name, point, "median")),
            paint: Box::new(move |canvas, at| {
                let (from, to) = ((at[0].0, at[0].1.min(at[1].1)), (at[1].0, at[0].1.max(at[1].1)));
                // A little under its neighbours, so that no seam is seen.
                canvas.draw_rect(from, (to.0 + 2, to.1 + 2), &palette::fill(colour), true)?;
                let centre = (i32::midpoint(from.0, to.0), i32::midpoint(from.1, to.1));
                if numbered { canvas.draw_text(&text, &style, centre) } else { Ok(()) }
            }),
        }
    };
    let rows = chart.series.iter().enumerate();
    rows.flat_map(|(row, series)| series.points.iter().map(move |point| (row, series, point)))
        .map(|(row, series, point)| mark(row, series, point))
        .collect()
}

/// The index of a category.
#[expect(clippy::cast_sign_loss, reason = "an index")]
pub(super) fn place(x: f64) -> usize {
    x as usize
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
        Across::Categories(categories) => categories.names[place(point.x)].clone(),
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
