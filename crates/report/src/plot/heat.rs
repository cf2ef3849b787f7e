//! A heat map: coloured cells, the scale of colours beside them, and the number in each cell where there is room.

use super::chart::{Axis, Categories, Chart};
use super::font::Size;
use super::frame::{AXIS_LINE, Below, Frame, GAP, NAME_MAX, Slots, axes, label, label_up};
use super::layout::{HEIGHT, WIDTH};
use super::palette;
use super::picture::{Anchor, Colour, Picture};
use super::scale::{Ends, Scale, Spacing, Ticks};

/// The width of the scale of colours, in mm.
const BAR: f64 = 3.0;

/// How far a cell reaches under the next, in mm.
const SEAM: f64 = 0.05;

/// The scale of colours, with its numbers.
struct Legend {
    scale: Scale,
    ticks: Ticks,
    label: Vec<String>,
}

impl Legend {
    fn of(axis: &Axis, values: impl Iterator<Item = f64>) -> Legend {
        let scale = Scale::around(axis.spacing, axis.unit, values, Ends::AtTicks, 6);
        let ticks = scale.ticks(axis.unit, 7);
        let text = label(axis, ticks.symbol.as_deref());
        Legend { scale, label: if text.is_empty() { Vec::new() } else { Size::LABEL.wrap(&text, HEIGHT) }, ticks }
    }

    fn width(&self) -> f64 {
        let numbers = self.ticks.labels.iter().map(|text| Size::TICK.width(text)).fold(0.0, f64::max);
        2.0 + BAR + GAP + 0.5 + numbers + self.label.len() as f64 * Size::LABEL.line() + 1.2
    }

    fn draw(&self, picture: &mut Picture, frame: &Frame) {
        const STEPS: usize = 100;
        let left = frame.right + 2.0;
        for step in 0..STEPS {
            let position = |index: usize| index as f64 / STEPS as f64;
            let colour = palette::heat(position(step) + 0.5 / STEPS as f64);
            // A little over its neighbour, so that no seam is seen.
            let to = (position(step + 1) + 0.002).min(1.0);
            picture.rectangle((left, frame.y(to)), (left + BAR, frame.y(position(step))), colour);
        }
        picture.frame((left, frame.top), (left + BAR, frame.bottom), Colour::BLACK, 0.15);
        for (value, text) in self.ticks.values.iter().zip(&self.ticks.labels) {
            let y = frame.y(self.scale.position(*value));
            picture.line((left + BAR, y), (left + BAR + GAP * 0.7, y), Colour::BLACK, AXIS_LINE);
            let at = (left + BAR + GAP + 0.3, y + Size::TICK.capital() / 2.0);
            picture.text(text, at, Size::TICK, Anchor::Start, Colour::BLACK);
        }
        let lines = self.label.len() as f64;
        label_up(picture, frame, &self.label, WIDTH - 0.6 - lines * Size::LABEL.line());
    }
}

/// Names up the left side.
struct Rows {
    names: Vec<String>,
    label: Vec<String>,
}

impl Rows {
    fn of(rows: &Categories) -> Rows {
        let every = (Size::TICK.line() * rows.names.len() as f64 / HEIGHT).ceil().max(1.0);
        let shown = |(index, name): (usize, &String)| {
            if (index as f64 % every).abs() < 0.5 { Size::TICK.fit(name, NAME_MAX) } else { String::new() }
        };
        let names = rows.names.iter().enumerate().map(shown).collect();
        let label = if rows.label.is_empty() { Vec::new() } else { Size::LABEL.wrap(&rows.label, HEIGHT) };
        Rows { names, label }
    }

    fn width(&self) -> f64 {
        let names = self.names.iter().map(|name| Size::TICK.width(name)).fold(0.0, f64::max);
        0.4 + self.label.len() as f64 * Size::LABEL.line() + names + GAP + 0.8
    }

    fn draw(&self, picture: &mut Picture, frame: &Frame, slots: &Slots) {
        for (name, centre) in self.names.iter().zip(&slots.centres) {
            let at = (frame.left - GAP, frame.y(*centre) + Size::TICK.capital() / 2.0);
            picture.text(name, at, Size::TICK, Anchor::End, Colour::BLACK);
        }
        label_up(picture, frame, &self.label, 0.4);
    }
}

/// Draws the map from this place down; gives the place of its lower end.
pub(super) fn draw(picture: &mut Picture, chart: &Chart, rows: &Categories, top: f64) -> f64 {
    let values = chart.series.iter().flat_map(|series| &series.points).map(super::Point::median);
    let legend = Legend::of(&chart.y, values);
    let names = Rows::of(rows);
    let frame =
        Frame { left: names.width(), top: top + 1.2, right: WIDTH - legend.width(), bottom: top + 1.2 + HEIGHT };
    let below = Below::of(&chart.x, std::iter::empty(), frame.width());
    let mut slots = Slots::of(rows);
    if !rows.ordered {
        // Names are read from the top down.
        slots.centres.reverse();
    }
    cells(picture, chart, rows, &frame, &below, &slots, legend.scale);
    axes(picture, &frame);
    legend.draw(picture, &frame);
    names.draw(picture, &frame, &slots);
    below.draw(picture, &frame)
}

fn cells(
    picture: &mut Picture,
    chart: &Chart,
    rows: &Categories,
    frame: &Frame,
    below: &Below,
    slots: &Slots,
    scale: Scale,
) {
    let (super::Across::Categories(columns), Below::Names { slots: across, .. }) = (&chart.x, below) else { return };
    let half = (across.width * frame.width() / 2.0, slots.width * frame.height() / 2.0);
    let numbers = numbers(chart, 2.0 * half.0 - 0.6, 2.0 * half.1);
    for (row, series) in row_of(chart, rows) {
        for (index, point) in series.points.iter().enumerate() {
            let (x, y) = (frame.x(below.position(point.x)), frame.y(slots.centres[row]));
            let (from, to) = ((x - half.0, y - half.1), (x + half.0, y + half.1));
            let colour = palette::heat(scale.position(point.median()));
            // A little under its neighbours, so that no seam is seen.
            let under = ((to.0 + SEAM).min(frame.right), (to.1 + SEAM).min(frame.bottom));
            picture.rectangle(from, under, colour);
            #[expect(clippy::cast_sign_loss, reason = "an index")]
            let column = &columns.names[point.x as usize];
            let several =
                if point.values.len() > 1 { format!(" (median of {})", point.values.len()) } else { String::new() };
            let text = format!("{}, {column}: {}{several}", series.name, chart.y.unit.write_in_full(point.median()));
            picture.value(from, to, text);
            if let Some(numbers) = &numbers {
                let ink = if colour.luminance() > 0.18 { Colour::BLACK } else { Colour::WHITE };
                let at = (x, y + Size::NOTE.capital() / 2.0);
                picture.text(&numbers[row][index], at, Size::NOTE, Anchor::Middle, ink);
            }
        }
    }
}

/// The series of a heat map are its rows, in their order.
fn row_of<'a>(chart: &'a Chart, rows: &Categories) -> impl Iterator<Item = (usize, &'a super::Series)> {
    debug_assert_eq!(chart.series.len(), rows.names.len(), "a series a row");
    chart.series.iter().enumerate()
}

/// The numbers of all cells, by row, where all of them fit into a cell of this size.
fn numbers(chart: &Chart, width: f64, height: f64) -> Option<Vec<Vec<String>>> {
    let values = || chart.series.iter().flat_map(|series| &series.points).map(super::Point::median);
    let display = chart.y.unit.display(values().map(f64::abs).fold(0.0, f64::max));
    // As many decimals everywhere as the greatest has of three digits; on a logarithmic scale each has its own three.
    let uniform = (chart.y.spacing == Spacing::Linear).then(|| values().map(f64::abs).fold(0.0, f64::max));
    let write = |series: &super::Series| {
        series.points.iter().map(|point| display.write_short(point.median(), uniform)).collect()
    };
    let numbers: Vec<Vec<String>> = chart.series.iter().map(write).collect();
    let widest = numbers.iter().flatten().map(|text| Size::NOTE.width(text)).fold(0.0, f64::max);
    (widest <= width && Size::NOTE.line() <= height).then_some(numbers)
}
