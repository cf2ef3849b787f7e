//! Charts as inline SVG. A series has a colour, a mark of its own shape and a dash of its own: no colour is the only sign.

mod bars;
mod lines;
mod marks;
mod scale;

use maud::Markup;

use super::words::Heading;

/// What can be drawn.
#[derive(Clone, Debug)]
pub(super) enum Chart {
    /// A figure over a numeric axis.
    Lines(Lines),
    /// A figure of a few named things, side by side.
    Bars(Bars),
    /// Parts of a whole, one after another.
    Stacks(Stacks),
}

/// Lines in panels that share their axes.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    pub(super) x: Heading,
    pub(super) y: Heading,
    /// The names of the series.
    pub(super) series: Vec<String>,
    pub(super) panels: Vec<Panel>,
}

/// One drawing.
#[derive(Clone, Debug)]
pub(super) struct Panel {
    /// What is the same for all of it; empty where it is alone.
    pub(super) title: String,
    /// The points of each series, by rising x.
    pub(super) lines: Vec<Vec<Point>>,
}

/// The mean of some values at one x, and how far they go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: Spread,
}

/// A mean, and the least and the greatest value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    pub(super) mean: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    /// Of so many values.
    pub(super) count: usize,
}

/// Bars, group by group.
#[derive(Clone, Debug)]
pub(super) struct Bars {
    pub(super) y: Heading,
    pub(super) series: Vec<String>,
    pub(super) groups: Vec<Group>,
}

/// The bars of one thing.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) name: String,
    /// The place of each bar's series, and its value.
    pub(super) bars: Vec<(usize, Spread)>,
}

/// Bars made of parts.
#[derive(Clone, Debug)]
pub(super) struct Stacks {
    pub(super) unit: Heading,
    /// The names of the parts.
    pub(super) parts: Vec<String>,
    /// What each bar is of, and how much each part has of it.
    pub(super) bars: Vec<(String, Vec<f64>)>,
}

impl Spread {
    /// Of some values; nothing of none.
    pub(super) fn of(values: &[f64]) -> Option<Spread> {
        let count = values.len();
        let (low, high) = values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| (low.min(value), high.max(value)));
        (count > 0).then(|| Spread { mean: values.iter().sum::<f64>() / count as f64, low, high, count })
    }

    /// As a tooltip says it.
    fn said(&self, heading: &Heading) -> String {
        let mean = heading.value_with_unit(self.mean);
        match self.count {
            1 => mean,
            count => {
                let (low, high) = (heading.value(self.low), heading.value_with_unit(self.high));
                format!("{mean}, the mean of {count}, from {low} to {high}")
            }
        }
    }
}

/// Draws a chart with its legend. Each mark tells its value: as its title, to the pointer and to the keyboard.
pub(super) fn draw(name: &str, chart: &Chart) -> Markup {
    match chart {
        Chart::Lines(lines) => lines::draw(name, lines),
        Chart::Bars(bars) => bars::draw_groups(name, bars),
        Chart::Stacks(stacks) => bars::draw_stacks(name, stacks),
    }
}

/// A length of the drawing.
fn px(length: f64) -> String {
    format!("{length:.1}")
}
