//! Lines with marks, and where they cross.

use super::chart::{Chart, Point, Series};
use super::font::Size;
use super::frame::Frame;
use super::layout::{Plot, WIDTH};
use super::palette::{self, LINE, MARK_RADIUS};
use super::picture::{Anchor, At, Colour, Picture};

/// Marks nearer than this to the last one are left out, so that a dense line stays a line, in mm.
const MARKS_APART: f64 = 1.5;

/// A line of more points than this has a mark only so often across, in mm.
const DENSE: (usize, f64) = (60, 5.0);

/// Points nearer than this lie on each other, in mm.
const SAME: f64 = 0.15;

/// Below more lines than this, one grows no wider.
const BELOW_MAX: usize = 3;

/// Draws all lines, with a bar from the least to the greatest of repeated values.
pub(super) fn draw(picture: &mut Picture, chart: &Chart, plot: &Plot<'_>) {
    let places: Vec<Vec<At>> = chart
        .series
        .iter()
        .map(|series| series.points.iter().map(|point| plot.at(point.x, point.median())).collect())
        .collect();
    for (index, series) in chart.series.iter().enumerate() {
        for (point, at) in series.points.iter().zip(&places[index]) {
            spread(picture, plot, point, (at.0, 0.6), palette::colour(index));
        }
        line(picture, index, &places);
    }
    for (index, series) in chart.series.iter().enumerate() {
        marks(picture, index, series, &places, plot);
    }
}

/// A bar from the least to the greatest value, where there are several: at this place, with ends of this half width.
pub(super) fn spread(picture: &mut Picture, plot: &Plot<'_>, point: &Point, (x, half): At, colour: Colour) {
    if point.values.len() < 2 {
        return;
    }
    let (low, high) = (plot.at(point.x, point.quantile(0.0)).1, plot.at(point.x, point.quantile(1.0)).1);
    picture.line((x, low), (x, high), colour, LINE * 0.8);
    for y in [low, high] {
        picture.line((x - half, y), (x + half, y), colour, LINE * 0.8);
    }
}

/// Whether a place is also one of a line's, which go from left to right.
fn meets(places: &[At], at: At) -> bool {
    let near = &places[places.partition_point(|other| other.0 < at.0 - SAME)..];
    let mut near = near.iter().take_while(|other| other.0 < at.0 + SAME);
    near.any(|other| (other.0 - at.0).hypot(other.1 - at.1) < SAME)
}

/// A line; where later ones will lie on it, it is wider, and is seen on both sides of them.
fn line(picture: &mut Picture, index: usize, places: &[Vec<At>]) {
    let (colour, strokes) = (palette::colour(index), palette::strokes(index));
    let below =
        |pair: &[At]| places[index + 1..].iter().filter(|later| meets(later, pair[0]) && meets(later, pair[1])).count();
    let pairs: Vec<(&[At], usize)> = places[index].windows(2).map(|pair| (pair, below(pair))).collect();
    for run in pairs.chunk_by(|a, b| a.1 == b.1) {
        let points: Vec<At> = std::iter::once(run[0].0[0]).chain(run.iter().map(|(pair, _)| pair[1])).collect();
        picture.dashed(&points, colour, LINE * (1.0 + 1.6 * run[0].1.min(BELOW_MAX) as f64), strokes);
    }
}

/// The marks of a line; where later ones will lie on one, it is larger.
fn marks(picture: &mut Picture, index: usize, series: &Series, places: &[Vec<At>], plot: &Plot<'_>) {
    let mut last: Option<At> = None;
    for (point, &at) in series.points.iter().zip(&places[index]) {
        let (low, high) = (plot.at(point.x, point.quantile(0.0)), plot.at(point.x, point.quantile(1.0)));
        let text = plot.words(&series.name, point, "median");
        picture.value((at.0 - MARK_RADIUS, high.1 - MARK_RADIUS), (at.0 + MARK_RADIUS, low.1 + MARK_RADIUS), text);
        let too_near = |last: At| {
            if series.points.len() > DENSE.0 {
                at.0 - last.0 < DENSE.1
            } else {
                (last.0 - at.0).hypot(last.1 - at.1) < MARKS_APART
            }
        };
        if last.is_some_and(too_near) {
            continue;
        }
        let below = places[index + 1..].iter().filter(|later| meets(later, at)).count().min(BELOW_MAX);
        palette::mark(picture, index, at, MARK_RADIUS * (1.0 + 0.45 * below as f64));
        last = Some(at);
    }
}

/// Texts of crossovers above the chart: where each begins, in which row from below, and what it says.
pub(super) struct Crossings {
    texts: Vec<(f64, f64, usize, String)>,
}

impl Crossings {
    /// `x` gives the place of a value in mm.
    pub(super) fn of(chart: &Chart, x: impl Fn(f64) -> f64, write: impl Fn(f64) -> String) -> Crossings {
        let mut texts: Vec<(f64, f64, usize, String)> = Vec::new();
        // From the right, so that a text goes above those that its line would else cut.
        for crossover in chart.crossovers.iter().rev() {
            let (a, b) = &crossover.names;
            let text = Size::NOTE.fit(&format!("{a} = {b} at ≈ {}", write(crossover.x)), WIDTH - 2.0);
            let (at, width) = (x(crossover.x), Size::NOTE.width(&text));
            let left = (at - width / 2.0).clamp(0.8, WIDTH - 0.8 - width);
            let free = |row: &usize| {
                let in_row = texts.iter().filter(|other| other.2 == *row);
                in_row
                    .map(|other| (other.1, other.1 + Size::NOTE.width(&other.3)))
                    .all(|(from, to)| left + width + 1.5 < from || to + 1.5 < left)
            };
            let row = (0..texts.len()).find(free).unwrap_or(texts.len());
            texts.push((at, left, row, text));
        }
        Crossings { texts }
    }

    /// How much room the texts take, in mm.
    pub(super) fn height(&self) -> f64 {
        let rows = self.texts.iter().map(|(_, _, row, _)| row + 1).max().unwrap_or(0);
        if rows == 0 { 0.0 } else { rows as f64 * Size::NOTE.line() + 0.8 }
    }

    pub(super) fn draw(&self, picture: &mut Picture, frame: &Frame) {
        let baseline = |row: usize| frame.top - 1.0 - row as f64 * Size::NOTE.line();
        for (at, _, row, _) in &self.texts {
            picture.dashed(&[(*at, frame.bottom), (*at, baseline(*row))], Colour::GREY, 0.2, &[0.8, 0.6]);
        }
        for (_, left, row, text) in &self.texts {
            let (y, width) = (baseline(*row), Size::NOTE.width(text));
            picture.rectangle(
                (left - 0.3, y - Size::NOTE.capital() - 0.2),
                (left + width + 0.3, y + 0.5),
                Colour::WHITE,
            );
            picture.text(text, (*left, y), Size::NOTE, Anchor::Start, Colour::GREY);
        }
    }
}
