//! Lays a chart out on a picture as wide as a paper's column.

use super::bars;
use super::chart::{Across, Chart, Kind, Point};
use super::font::Size;
use super::frame::{Below, Beside, Frame, axes};
use super::heat;
use super::legend::{self, Entry, Sign};
use super::lines::{self, Crossings};
use super::palette;
use super::picture::{Anchor, Colour, Picture};
use super::scale::Ends;

/// The width of a picture, in mm: that of a column of a paper in two columns.
pub(super) const WIDTH: f64 = 85.0;

/// The height of what is drawn between the axes, in mm.
pub(super) const HEIGHT: f64 = 44.0;

/// What is left free at the edges, in mm.
const EDGE: f64 = 0.8;

/// A chart's frame and axes, for those who draw in it.
pub(super) struct Plot<'a> {
    pub(super) frame: Frame,
    below: &'a Below,
    beside: &'a Beside,
    chart: &'a Chart,
}

impl Plot<'_> {
    /// Where a value across lies, in mm.
    pub(super) fn x(&self, x: f64) -> f64 {
        self.frame.x(self.below.position(x))
    }

    /// Where a value lies, in mm.
    pub(super) fn y(&self, y: f64) -> f64 {
        self.frame.y(self.beside.scale.position(y))
    }

    pub(super) fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.x(x), self.y(y))
    }

    /// The value that bars begin at.
    pub(super) fn base(&self) -> f64 {
        self.beside.scale.base()
    }

    /// The width of a category, in mm.
    pub(super) fn slot(&self) -> f64 {
        match self.below {
            Below::Names { slots, .. } => slots.width * self.frame.width(),
            Below::Numbers { .. } => self.frame.width(),
        }
    }

    /// A point in words: `rule, 4 KiB: 90 ns`. `shown` is what its mark stands for, where there are several values.
    pub(super) fn words(&self, series: &str, point: &Point, shown: &str) -> String {
        #[expect(clippy::cast_sign_loss, reason = "an index")]
        let across = match &self.chart.x {
            Across::Numbers(axis) => axis.unit.write(point.x),
            Across::Categories(categories) => {
                let index = point.x as usize;
                let mut seen = 0;
                let group = categories.groups.iter().find(|(_, size)| {
                    seen += size;
                    seen > index
                });
                let name = &categories.names[index];
                group.map_or(name.clone(), |(group, _)| format!("{group}, {name}"))
            }
        };
        let write = |value: f64| self.chart.y.unit.write_in_full(value);
        let place = if series.is_empty() { across } else { format!("{series}, {across}") };
        if point.values.len() == 1 {
            return format!("{place}: {}", write(point.values[0]));
        }
        let middle = if shown == "mean" { point.mean() } else { point.median() };
        let (least, most) = (write(point.quantile(0.0)), write(point.quantile(1.0)));
        format!("{place}: {} ({shown} of {}, {least} to {most})", write(middle), point.values.len())
    }
}

impl Picture {
    /// A chart, laid out.
    pub fn of(chart: &Chart) -> Picture {
        let title = chart.title.clone().unwrap_or_else(|| chart.y.label.clone());
        let mut picture = Picture { title, width: WIDTH, height: 0.0, shapes: Vec::new(), values: Vec::new() };
        let mut top = EDGE;
        for line in chart.title.iter().flat_map(|title| Size::TITLE.wrap(title, WIDTH - 2.0 * EDGE)) {
            let at = (WIDTH / 2.0, top + Size::TITLE.capital());
            picture.text(&line, at, Size::TITLE, Anchor::Middle, Colour::BLACK);
            top += Size::TITLE.line();
        }
        let end = match &chart.rows {
            Some(rows) => heat::draw(&mut picture, chart, rows, top),
            None => draw(&mut picture, chart, top),
        };
        picture.height = note(&mut picture, chart, end) + EDGE;
        picture
    }
}

/// Draws any chart but a heat map from this place down; gives the place of its lower end.
fn draw(picture: &mut Picture, chart: &Chart, top: f64) -> f64 {
    let ends = if matches!(chart.kind, Kind::Bars | Kind::Stacked) { Ends::AtZero } else { Ends::AtTicks };
    let beside = Beside::of(&chart.y, heights(chart).into_iter(), ends, HEIGHT);
    let all = || chart.series.iter().chain(&chart.published).flat_map(|series| &series.points);
    let (left, mut right) = (beside.width(), WIDTH - 1.5);
    let mut below = Below::of(&chart.x, all().map(|point| point.x), right - left);
    let overhang = below.overhang(right - left) - (WIDTH - EDGE - right);
    if overhang > 0.0 {
        right -= overhang;
        below = Below::of(&chart.x, all().map(|point| point.x), right - left);
    }
    let top = legend::draw(picture, &entries(chart), EDGE, WIDTH - EDGE, top + 0.4);
    let unplaced = Frame { left, top, right, bottom: top };
    let write = |x: f64| match &chart.x {
        Across::Numbers(axis) => axis.unit.write_rounded(x),
        Across::Categories(_) => x.to_string(),
    };
    let crossings = Crossings::of(chart, |x| unplaced.x(below.position(x)), write);
    // Half a number of the upper end of the axis must have room.
    let top = top + crossings.height().max(Size::TICK.capital() / 2.0 + 0.3);
    let frame = Frame { left, top, right, bottom: top + HEIGHT };
    beside.draw(picture, &frame);
    crossings.draw(picture, &frame);
    let plot = Plot { frame, below: &below, beside: &beside, chart };
    match chart.kind {
        Kind::Lines => lines::draw(picture, chart, &plot),
        Kind::Bars => bars::grouped(picture, chart, &plot),
        Kind::Stacked => bars::stacked(picture, chart, &plot),
        Kind::Boxes => bars::boxes(picture, chart, &plot),
        Kind::Heat => {}
    }
    published(picture, chart, &plot);
    axes(picture, &frame);
    below.draw(picture, &frame)
}

/// All values that must have a place up the chart.
fn heights(chart: &Chart) -> Vec<f64> {
    let of = |series: &[super::Series]| -> Vec<f64> {
        series.iter().flat_map(|series| &series.points).flat_map(|point| point.values.clone()).collect()
    };
    let mut heights = of(&chart.published);
    if chart.kind == Kind::Stacked {
        let mut sums: Vec<(f64, f64)> = Vec::new();
        for point in chart.series.iter().flat_map(|series| &series.points) {
            match sums.iter_mut().find(|(x, _)| x.total_cmp(&point.x).is_eq()) {
                Some((_, sum)) => *sum += point.mean(),
                None => sums.push((point.x, point.mean())),
            }
        }
        heights.extend(sums.into_iter().map(|(_, sum)| sum));
    } else {
        heights.extend(of(&chart.series));
    }
    heights
}

/// The look of a published series: that of the simulated one of the same name, or one of its own.
fn look(chart: &Chart, published: usize) -> (usize, bool) {
    let same = |name: &str| chart.series.iter().position(|series| series.name == name);
    if let Some(series) = same(&chart.published[published].name) {
        return (series, true);
    }
    let others = chart.published[..published].iter().filter(|it| same(&it.name).is_none()).count();
    (chart.series.len() + others, false)
}

/// Hollow marks are drawn in the colour of their line; over bars, which are coloured themselves, in black.
fn published_colour(chart: &Chart, series: usize) -> Colour {
    if chart.kind == Kind::Lines { palette::colour(series) } else { Colour::BLACK }
}

fn published(picture: &mut Picture, chart: &Chart, plot: &Plot<'_>) {
    for (index, series) in chart.published.iter().enumerate() {
        let (look, _) = look(chart, index);
        for point in &series.points {
            let x = match chart.kind {
                Kind::Lines => plot.x(point.x),
                _ => bars::middle(chart, look, point.x, plot),
            };
            let at = (x, plot.y(point.median()));
            palette::hollow_mark(picture, look, at, published_colour(chart, look));
            let text = format!("published: {}", plot.words(&series.name, point, "median"));
            picture.value((at.0 - 1.2, at.1 - 1.2), (at.0 + 1.2, at.1 + 1.2), text);
        }
    }
}

/// What the legend explains.
fn entries(chart: &Chart) -> Vec<Entry> {
    let sign = |index: usize| if chart.kind == Kind::Lines { Sign::Line(index) } else { Sign::Field(index) };
    let named = chart.series.iter().enumerate().filter(|(_, series)| !series.name.is_empty());
    let mut entries: Vec<Entry> =
        named.map(|(index, series)| Entry { sign: sign(index), text: series.name.clone() }).collect();
    if entries.is_empty() && !chart.published.is_empty() {
        entries.push(Entry { sign: sign(0), text: "simulated".to_owned() });
    }
    let looks: Vec<(usize, bool)> = (0..chart.published.len()).map(|index| look(chart, index)).collect();
    // One entry for all those that only take up a series' look.
    let matched: Vec<usize> = looks.iter().filter(|(_, matched)| *matched).map(|(series, _)| *series).collect();
    match matched[..] {
        [] => {}
        [only] => entries
            .push(Entry { sign: Sign::Hollow(only, published_colour(chart, only)), text: "published".to_owned() }),
        [first, ..] => entries.push(Entry { sign: Sign::Hollow(first, Colour::BLACK), text: "published".to_owned() }),
    }
    for ((look, matched), series) in looks.into_iter().zip(&chart.published) {
        if !matched {
            let text =
                if series.name.is_empty() { "published".to_owned() } else { format!("{}, published", series.name) };
            entries.push(Entry { sign: Sign::Hollow(look, published_colour(chart, look)), text });
        }
    }
    entries
}

/// What marks of several values stand for, below the chart; gives the place of the lower end.
fn note(picture: &mut Picture, chart: &Chart, top: f64) -> f64 {
    let most = chart.repeated();
    let least =
        chart.series.iter().flat_map(|series| &series.points).map(|point| point.values.len()).min().unwrap_or(0);
    let count = if least == most { most.to_string() } else { format!("{least} to {most}") };
    let text = match chart.kind {
        Kind::Boxes => format!("box: quartiles of {count}; line: median; whiskers: least and greatest"),
        _ if most < 2 => return top,
        Kind::Lines => format!("mark: median of {count}; bar: least to greatest"),
        Kind::Bars => format!("median of {count}; thin bar: least to greatest"),
        Kind::Stacked => format!("mean of {count}"),
        Kind::Heat => format!("median of {count}"),
    };
    let mut end = top;
    for line in Size::NOTE.wrap(&text, WIDTH - 2.0 * EDGE) {
        picture.text(&line, (WIDTH / 2.0, end + Size::NOTE.capital()), Size::NOTE, Anchor::Middle, Colour::GREY);
        end += Size::NOTE.line();
    }
    end
}
