//! A chart as data: axes, series and marks.

use std::collections::BTreeMap;

use super::unit::Unit;

/// Kind of a chart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChartKind {
    /// One line per series, with a mark at each point.
    #[default]
    Lines,
    /// Bars side by side.
    Bars,
    /// Stacked bars.
    Stacked,
    /// A heat map: one colored cell per point.
    Heat,
    /// A box from the first to the third quartile of repeated points, whiskers to the least and the greatest; of fewer
    /// than [`BOX_MIN`] points, the points themselves.
    Boxes,
}

impl ChartKind {
    /// All kinds, with their names in input files.
    pub const ALL: [(&'static str, ChartKind); 5] = [
        ("line", ChartKind::Lines),
        ("bar", ChartKind::Bars),
        ("stacked", ChartKind::Stacked),
        ("heat", ChartKind::Heat),
        ("box", ChartKind::Boxes),
    ];

    /// Name in input files.
    pub fn name(self) -> &'static str {
        ChartKind::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }
}

/// Spacing of values along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spacing {
    /// Evenly.
    #[default]
    Linear,
    /// Logarithmic.
    Log,
}

/// Minimum number of points for a box.
pub const BOX_MIN: usize = 5;

/// Axis of values.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Quantity, without its unit.
    pub label: String,
    /// The unit of its values.
    pub unit: Unit,
    /// Spacing of the values.
    pub spacing: Spacing,
}

/// Horizontal axis of a chart.
#[derive(Clone, Debug, PartialEq)]
pub enum Across {
    /// Numbers.
    Numbers(Axis),
    /// Categories; the `x` of a point is the index.
    Categories(Categories),
}

/// Places side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Categories {
    /// Name of the axis.
    pub label: String,
    /// Names of the categories.
    pub names: Vec<String>,
    /// Whether they are ordered numbers, so that labels may be omitted.
    pub ordered: bool,
}

/// Values at one position of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The horizontal value, or the index of the category.
    pub x: f64,
    /// The values, ascending; at least one.
    pub values: Vec<f64>,
}

impl Point {
    /// The quantile of a share from 0 (the least value) to 1 (the greatest), interpolated linearly between neighbors.
    pub fn quantile(&self, share: f64) -> f64 {
        let place = share * (self.values.len() - 1) as f64;
        #[expect(clippy::cast_sign_loss, reason = "an index")]
        let below = place.floor() as usize;
        let above = (below + 1).min(self.values.len() - 1);
        self.values[below] + (self.values[above] - self.values[below]) * (place - below as f64)
    }

    /// The index of the category.
    #[expect(clippy::cast_sign_loss, reason = "an index")]
    pub(super) fn category(&self) -> usize {
        self.x as usize
    }

    /// The median.
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        self.values.iter().sum::<f64>() / self.values.len() as f64
    }
}

/// Points of one series.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name in the legend; empty for the only series of a chart.
    pub name: String,
    /// In order of `x`, each once.
    pub points: Vec<Point>,
}

impl Series {
    /// Points in order, with their values ascending.
    pub(super) fn of(name: String, mut points: Vec<Point>) -> Series {
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        for point in &mut points {
            point.values.sort_by(f64::total_cmp);
        }
        Series { name, points }
    }

    /// Sums of the parts of each bar.
    pub(super) fn totals(parts: &[Series]) -> Series {
        let mut totals: BTreeMap<usize, f64> = BTreeMap::new();
        for point in parts.iter().flat_map(|part| &part.points) {
            *totals.entry(point.category()).or_default() += point.mean();
        }
        let points = totals.into_iter().map(|(bar, total)| Point { x: bar as f64, values: vec![total] }).collect();
        Series { name: String::new(), points }
    }
}

/// Crossing of two lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossover {
    /// The horizontal value, interpolated between the nearest points on both sides.
    pub x: f64,
    /// Both series.
    pub names: (String, String),
}

/// Values that the lines of a chart connect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Joined {
    /// The simulated values of each series.
    #[default]
    Series,
    /// The published values of each series; other published values are single marks.
    Published,
}

/// A chart, ready to be laid out.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// The title, which describes the chart without other text.
    pub title: String,
    /// Kind.
    pub kind: ChartKind,
    /// Horizontal axis.
    pub x: Across,
    /// The axis of values; of a heat map, the scale of its colors.
    pub y: Axis,
    /// Vertical categories of a heat map.
    pub rows: Option<Categories>,
    /// Series; of a heat map, one per row.
    pub series: Vec<Series>,
    /// Published values, drawn as hollow marks over the others. A published series has the style of the simulated one
    /// of its name.
    pub published: Vec<Series>,
    /// Values that lines connect.
    pub joined: Joined,
    /// Crossings of lines.
    pub crossovers: Vec<Crossover>,
    /// Further values that the axis must include, such as those of neighboring charts.
    pub reach: Vec<f64>,
}

impl Chart {
    /// Maximum number of values per mark.
    pub fn repeated(&self) -> usize {
        self.series.iter().flat_map(|series| &series.points).map(|point| point.values.len()).max().unwrap_or(0)
    }

    /// Number of marks, without the published ones.
    pub fn marks(&self) -> usize {
        self.series.iter().map(|series| series.points.len()).sum()
    }

    /// Finds all crossings of two lines; on a logarithmic axis, lines are straight on the paper.
    pub(super) fn crossings(&self) -> Vec<Crossover> {
        let Across::Numbers(axis) = &self.x else { return Vec::new() };
        let mut found = Vec::new();
        for (index, a) in self.series.iter().enumerate() {
            for b in &self.series[index + 1..] {
                let at = crossings(a, b, axis.spacing, self.y.spacing);
                found.extend(at.into_iter().map(|x| Crossover { x, names: (a.name.clone(), b.name.clone()) }));
            }
        }
        found.sort_by(|a, b| a.x.total_cmp(&b.x));
        found
    }
}

/// A difference of two lines that changes by more than this many times its change before and after is a step.
const STEP: f64 = 3.0;

/// Whether the difference of two lines makes a step between the points `index - 1` and `index`: nothing is known about
/// the place where a step lies between its points. Two points alone do not show whether they are the ends of a step.
fn is_step(differences: &[(f64, f64)], index: usize) -> bool {
    let slope = |index: usize| {
        let ((from, before), (to, after)) = (differences[index - 1], differences[index]);
        ((after - before) / (to - from)).abs()
    };
    let beside = [index - 1, index + 1].into_iter().filter(|&index| (1..differences.len()).contains(&index));
    beside.map(slope).reduce(f64::max).is_none_or(|beside| slope(index) > STEP * beside)
}

/// Crossings of two lines, where one passes from below the other to above it without a step. Points that only one of
/// them has are skipped.
fn crossings(a: &Series, b: &Series, across: Spacing, up: Spacing) -> Vec<f64> {
    let on_paper = |value: f64, spacing: Spacing| match spacing {
        Spacing::Linear => value,
        Spacing::Log => value.ln(),
    };
    let common = a.points.iter().filter_map(|point| {
        let other = &b.points[b.points.binary_search_by(|other| other.x.total_cmp(&point.x)).ok()?];
        let difference = on_paper(point.median(), up) - on_paper(other.median(), up);
        Some((on_paper(point.x, across), difference))
    });
    let differences: Vec<(f64, f64)> = common.collect();
    let mut found = Vec::new();
    // The last point where the lines were apart, and the first since then where they met.
    let (mut apart, mut met): (Option<(f64, f64)>, Option<f64>) = (None, None);
    for (index, &(x, ahead)) in differences.iter().enumerate() {
        if ahead == 0.0 {
            met.get_or_insert(x);
            continue;
        }
        if let Some((before, ahead_before)) = apart
            && (ahead_before < 0.0) != (ahead < 0.0)
        {
            let between = before + (x - before) * ahead_before / (ahead_before - ahead);
            found.extend(met.or_else(|| (!is_step(&differences, index)).then_some(between)));
        }
        (apart, met) = (Some((x, ahead)), None);
    }
    found.into_iter().map(|x| if across == Spacing::Log { x.exp() } else { x }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(points: &[(f64, f64)]) -> Series {
        let points = points.iter().map(|&(x, y)| Point { x, values: vec![y] }).collect();
        Series { name: String::new(), points }
    }

    #[test]
    fn quantiles_lie_between_the_least_and_the_greatest() {
        let point = Point { x: 0.0, values: vec![1.0, 2.0, 3.0, 10.0] };
        for (share, value) in [(0.0, 1.0), (0.25, 1.75), (0.5, 2.5), (0.75, 4.75), (1.0, 10.0)] {
            assert!((point.quantile(share) - value).abs() < 1e-12, "{share}");
        }
        assert!((Point { x: 0.0, values: vec![7.0] }.median() - 7.0).abs() < 1e-12);
    }

    #[test]
    fn lines_cross_where_they_are_seen_to_cross() {
        let flat = series(&[(1.0, 4.0), (16.0, 4.0), (256.0, 4.0)]);
        let rising = series(&[(1.0, 1.0), (16.0, 16.0), (256.0, 256.0)]);
        let linear = crossings(&flat, &rising, Spacing::Linear, Spacing::Linear);
        assert_eq!(linear, [4.0]);
        let log = crossings(&flat, &rising, Spacing::Log, Spacing::Log);
        assert!((log[0] - 4.0).abs() < 1e-9 && log.len() == 1, "{log:?}");
    }

    /// FPM copies whole rows only: its latency falls between half a row and a row, and nothing is known about sizes
    /// between them.
    #[test]
    fn a_step_between_two_points_is_no_crossing() {
        let channel = series(&[(1024.0, 300.0), (2048.0, 550.0), (4096.0, 1046.0), (8192.0, 1046.0)]);
        let fpm = series(&[(1024.0, 301.0), (2048.0, 560.0), (4096.0, 90.0), (8192.0, 90.0)]);
        for spacing in [Spacing::Linear, Spacing::Log] {
            assert_eq!(crossings(&channel, &fpm, spacing, spacing), Vec::<f64>::new());
        }
        // Differences of -2, -1, 2, 3: the change of 3 is three times the greatest beside it, and no step.
        let flat = series(&[(1.0, 0.0), (2.0, 0.0), (3.0, 0.0), (4.0, 0.0)]);
        let rising = |after: f64| series(&[(1.0, -2.0), (2.0, -1.0), (3.0, after), (4.0, after + 1.0)]);
        assert_eq!(crossings(&rising(2.0), &flat, Spacing::Linear, Spacing::Linear), [2.0 + 1.0 / 3.0]);
        assert_eq!(crossings(&rising(2.1), &flat, Spacing::Linear, Spacing::Linear), Vec::<f64>::new());
        let two = |first, second| series(&[(1.0, first), (2.0, second)]);
        assert_eq!(crossings(&two(0.0, 4.0), &two(1.0, 1.0), Spacing::Linear, Spacing::Linear), Vec::<f64>::new());
    }

    #[test]
    fn lines_that_only_touch_do_not_cross() {
        let flat = series(&[(1.0, 4.0), (2.0, 4.0), (3.0, 4.0), (4.0, 4.0)]);
        let touching = series(&[(1.0, 5.0), (2.0, 4.0), (3.0, 6.0), (4.0, 4.0)]);
        assert_eq!(crossings(&flat, &touching, Spacing::Linear, Spacing::Linear), Vec::<f64>::new());
        let through = series(&[(1.0, 5.0), (2.0, 4.0), (3.0, 4.0), (4.0, 3.0)]);
        assert_eq!(crossings(&flat, &through, Spacing::Linear, Spacing::Linear), [2.0]);
    }
}
