//! Decides where the parts of a chart lie: title, legend, axes, notes.

use super::chart::{Across, BOX_MIN, Categories, Chart, ChartKind, Crossover, Joined, Series};
use super::font::Size;
use super::legend::{self, LegendEntry};
use super::scale::{Ends, Scale, Tick};

/// The size of a picture: its width, and the height of the area between its axes, in mm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// The width of all of it.
    pub width: f64,
    /// The height between the axes. Bars that lie one below another take the height that they need.
    pub height: f64,
}

impl Extent {
    /// A column of a paper in two columns.
    pub const COLUMN: Extent = Extent { width: 85.0, height: 44.0 };
    /// The width of a page.
    pub const PAGE: Extent = Extent { width: 150.0, height: 54.0 };
}

/// Margins at the edges, in mm.
pub(super) const EDGE: f64 = 0.8;
/// The length of a tick, in mm; plotters puts labels at twice this distance from the axis.
pub(super) const TICK: f64 = 0.6;
/// The width of the scale of colors of a heat map with the space before it, in mm.
pub(super) const COLORS: (f64, f64) = (2.0, 3.0);
/// The part of the width that names beside a chart take at most.
const NAMES_MAX: f64 = 0.48;
/// Maximum height that bars below one another get so that the title beside them has one line, in mm.
const TITLE_MAX: f64 = 26.0;

/// Everything about a chart that is decided before it is drawn; lengths in mm.
pub(super) struct Layout<'c> {
    pub(super) chart: &'c Chart,
    pub(super) extent: Extent,
    /// The axis across the paper and the axis up.
    pub(super) across: Scale,
    pub(super) up: Scale,
    pub(super) lying: bool,
    /// The scale of a heat map.
    pub(super) colors: Option<Scale>,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) below: f64,
    pub(super) height: f64,
    pub(super) title: Vec<String>,
    pub(super) legend: Vec<Vec<LegendEntry>>,
    pub(super) note: Vec<String>,
}

impl<'c> Layout<'c> {
    pub(super) fn of(chart: &'c Chart, extent: Extent) -> Layout<'c> {
        let full = extent.width - 2.0 * EDGE;
        let mut layout = Layout {
            chart,
            extent,
            across: values(chart, 8),
            up: values(chart, 6),
            lying: false,
            colors: None,
            left: 0.0,
            right: 2.0,
            below: 0.0,
            height: extent.height,
            title: Size::TITLE.balanced(&chart.title, full),
            legend: legend::rows(chart, full),
            note: notes(chart).flat_map(|note| Size::NOTE.balanced(&note, full)).collect(),
        };
        if let Some(rows) = &chart.rows {
            layout.heat(rows);
        } else {
            layout.axes();
        }
        layout
    }

    /// Room for the axis at the left: its title in lines, its labels and ticks.
    pub(super) fn beside(scale: &Scale, height: f64) -> f64 {
        let lines = Size::LABEL.balanced(&scale.title, height).len() as f64;
        lines * Size::LABEL.line() + 0.8 + scale.widest() + 2.0 * TICK
    }

    pub(super) fn width(&self) -> f64 {
        self.extent.width - self.left - self.right
    }

    fn axes(&mut self) {
        self.left = EDGE + Layout::beside(&self.up, self.height);
        match &self.chart.x {
            Across::Numbers(axis) => {
                let all = self.chart.series.iter().chain(&self.chart.published).flat_map(|series| &series.points);
                let values: Vec<f64> = all.map(|point| point.x).collect();
                self.across = match self.chart.joined {
                    Joined::Series => Scale::measured(axis, &values),
                    Joined::Published => Scale::round(axis, &values, Ends::Near, 7),
                };
                self.fit_numbers();
            }
            Across::Categories(categories) => {
                self.across = Scale::names(categories);
                let slot = self.width() / categories.names.len() as f64;
                if categories.ordered && self.across.widest() < slot * 4.0 {
                    self.across.thin(self.width(), label_width);
                } else if !self.across.wrap(slot) {
                    self.lie_down(Scale::names(categories));
                }
            }
        }
        self.label_below();
    }

    /// Leaves room for the labels and the title of the axis across.
    fn label_below(&mut self) {
        let lines = self.across.ticks.iter().map(|tick| tick.lines.len()).max().unwrap_or(0) as f64;
        let title = Size::LABEL.balanced(&self.across.title, self.width()).len() as f64;
        self.below = 2.0 * TICK + lines * Size::TICK.line() + 0.4 + title * Size::LABEL.line();
    }

    /// Thins the labels of numbers across, and leaves room for half of the last one.
    fn fit_numbers(&mut self) {
        let width = self.width();
        self.across.thin(width, label_width);
        let over = |tick: &Tick| (self.across.position(tick.value) - 1.0) * width + label_width(tick) / 2.0 + EDGE;
        self.right = self.across.ticks.iter().map(over).fold(self.right, f64::max);
    }

    /// Turns the chart, so that long names have room: categories one below another, values to the right.
    fn lie_down(&mut self, mut names: Scale) {
        self.lying = true;
        let bars =
            if matches!(self.chart.kind, ChartKind::Bars | ChartKind::Boxes) { self.chart.series.len() } else { 1 };
        let slots = names.ticks.len() as f64;
        let title = Size::LABEL.width(&names.title).min(TITLE_MAX);
        self.height = (slots * (bars as f64 * 3.0 + 1.6).max(4.6)).max(title);
        names.cut(self.extent.width * NAMES_MAX);
        self.up = names.reversed();
        self.left = EDGE + Layout::beside(&self.up, self.height);
        self.across = values(self.chart, if self.width() > 70.0 { 8 } else { 5 });
        self.fit_numbers();
    }

    fn heat(&mut self, rows: &Categories) {
        let Across::Categories(columns) = &self.chart.x else { return };
        let colors = values(self.chart, 6);
        self.up = Scale::names(rows);
        if rows.ordered {
            self.up.thin(self.height, |_| Size::TICK.capital());
        } else {
            self.up = self.up.clone().reversed();
            self.height = self.height.max(rows.names.len() as f64 * Size::TICK.line());
        }
        self.up.cut(self.extent.width * NAMES_MAX);
        self.left = EDGE + Layout::beside(&self.up, self.height);
        self.right = EDGE + COLORS.0 + COLORS.1 + Layout::beside(&colors, self.height);
        self.colors = Some(colors);
        self.across = Scale::names(columns);
        if columns.ordered {
            self.across.thin(self.width(), label_width);
        } else {
            self.across.wrap(self.width() / columns.names.len() as f64);
        }
        self.label_below();
    }

    pub(super) fn legend_top(&self) -> f64 {
        EDGE + self.title.len() as f64 * Size::TITLE.line() + 0.4
    }

    /// The upper end of the area between the axes.
    pub(super) fn top(&self) -> f64 {
        // Half a label of the axis must have room.
        self.legend_top() + self.legend.len() as f64 * legend::ROW + Size::TICK.capital() + 0.8
    }

    pub(super) fn note_height(&self) -> f64 {
        self.note.len() as f64 * Size::NOTE.line() + 0.6
    }
}

/// Values that the axis of values must include.
fn heights(chart: &Chart) -> Vec<f64> {
    let of = |series: &[Series]| -> Vec<f64> {
        series.iter().flat_map(|series| &series.points).flat_map(|point| point.values.clone()).collect()
    };
    let mut heights = [of(&chart.published), chart.reach.clone()].concat();
    if chart.kind == ChartKind::Stacked {
        heights.extend(of(&[Series::totals(&chart.series)]));
    } else {
        heights.extend(of(&chart.series));
    }
    heights
}

/// The axis of values, with ticks at round values.
fn values(chart: &Chart, count: usize) -> Scale {
    let ends = if matches!(chart.kind, ChartKind::Bars | ChartKind::Stacked) { Ends::AtZero } else { Ends::AtTicks };
    Scale::round(&chart.y, &heights(chart), ends, count)
}

fn label_width(tick: &Tick) -> f64 {
    tick.lines.iter().map(|line| Size::TICK.width(line)).fold(0.0, f64::max)
}

/// Explanations of marks and lines, below the chart.
fn notes(chart: &Chart) -> impl Iterator<Item = String> {
    crossovers(chart).into_iter().chain(marks(chart))
}

/// Names and places of crossovers. Lines that one line crosses at one place are named together.
fn crossovers(chart: &Chart) -> Option<String> {
    let Across::Numbers(axis) = &chart.x else { return None };
    let mut crossings: Vec<(String, String)> = Vec::new();
    for Crossover { x, names: (a, b) } in &chart.crossovers {
        let at = axis.unit.write_rounded(*x);
        match crossings.iter_mut().find(|(place, names)| *place == at && names.starts_with(&format!("{a} = "))) {
            Some((_, names)) => names.extend([" = ", b.as_str()]),
            None => crossings.push((at, format!("{a} = {b}"))),
        }
    }
    let texts: Vec<String> = crossings.iter().map(|(place, names)| format!("{names} at ≈ {place}")).collect();
    (!texts.is_empty()).then(|| format!("dashed: {}", texts.join("; ")))
}

/// Explanation of marks of several values.
fn marks(chart: &Chart) -> Option<String> {
    let counts = || chart.series.iter().flat_map(|series| &series.points).map(|point| point.values.len());
    let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
    let count = if least == most { most.to_string() } else { format!("{least} to {most}") };
    Some(match chart.kind {
        ChartKind::Boxes if most < BOX_MIN => format!("each value is a mark: a box needs at least {BOX_MIN}"),
        ChartKind::Boxes => {
            let few = if least < BOX_MIN { "; mark: one of fewer values" } else { "" };
            format!("box: quartiles of {BOX_MIN} values or more; line: median; whiskers: least and greatest{few}")
        }
        _ if most < 2 => return None,
        ChartKind::Lines => format!("mark: median of {count}; bar: least to greatest"),
        ChartKind::Bars => format!("median of {count}; thin bar: least to greatest"),
        ChartKind::Stacked => format!("mean of {count}"),
        ChartKind::Heat => format!("median of {count}"),
    })
}
