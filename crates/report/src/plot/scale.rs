//! An axis as plotters draws it: its range of values and its ticks.

use std::ops::Range;

use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use super::chart::{Axis, Categories, Spacing};
use super::font::Size;
use super::unit::{titled, write_all};

/// Distance from the data to the ends of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    /// A little, so that marks are whole.
    Near,
    /// At the next tick; at zero if zero is near the data.
    AtTicks,
    /// At the next tick, and always at zero, where bars start.
    AtZero,
}

/// A tick of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    /// The label in lines, of which only names have several.
    pub(super) lines: Vec<String>,
}

/// The range of an axis, its ticks, and its title with the unit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scale {
    spacing: Spacing,
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) ticks: Vec<Tick>,
    pub(super) title: String,
}

/// Places of values on the paper.
pub(super) type Plane = Cartesian2d<Scale, Scale>;

/// The smallest distance between two labels, in mm.
const APART: f64 = 1.4;

/// More measured values than these have ticks at round values.
const MEASURED_MAX: usize = 16;

impl Scale {
    /// An axis with ticks at round values, at most about `count`.
    pub(super) fn round(axis: &Axis, values: &[f64], ends: Ends, count: usize) -> Scale {
        let (least, most) = extremes(values);
        let middle = if axis.spacing == Spacing::Log { (least * most).sqrt() } else { least.abs().max(most.abs()) };
        let display = axis.unit.display(middle);
        // Round as it is written: in the unit of the axis.
        let (low, high) = (least * display.factor, most * display.factor);
        let (range, at) = match axis.spacing {
            Spacing::Linear => linear(low, high, ends, count),
            Spacing::Log => log(low, high, ends, count),
        };
        let labels = match axis.spacing {
            Spacing::Linear => write_all(&at),
            Spacing::Log => at.iter().flat_map(|value| write_all(&[*value])).collect(),
        };
        let tick = |(value, label): (&f64, String)| Tick { value: value / display.factor, lines: vec![label] };
        Scale {
            spacing: axis.spacing,
            from: range.start / display.factor,
            to: range.end / display.factor,
            ticks: at.iter().zip(labels).map(tick).collect(),
            title: titled(&axis.label, &display.symbol),
        }
    }

    /// An axis with ticks at the measured values, or at round ones where those are too many.
    pub(super) fn measured(axis: &Axis, values: &[f64]) -> Scale {
        let mut distinct = values.to_vec();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        let mut scale = Scale::round(axis, &distinct, Ends::Near, 7);
        if distinct.len() <= MEASURED_MAX {
            let (labels, title) = axis.unit.labels(&axis.label, &distinct);
            let tick = |(value, label)| Tick { value, lines: vec![label] };
            scale.ticks = distinct.into_iter().zip(labels).map(tick).collect();
            scale.title = title;
        }
        scale
    }

    /// An axis of names, one place each, and a tick at each.
    pub(super) fn names(categories: &Categories) -> Scale {
        let tick = |(index, name): (usize, &String)| Tick { value: index as f64, lines: vec![name.clone()] };
        Scale {
            spacing: Spacing::Linear,
            from: -0.5,
            to: categories.names.len() as f64 - 0.5,
            ticks: categories.names.iter().enumerate().map(tick).collect(),
            title: categories.label.clone(),
        }
    }

    /// The axis with its ends exchanged: names are read from the top down.
    pub(super) fn reversed(mut self) -> Scale {
        (self.from, self.to) = (self.to, self.from);
        self
    }

    /// The place of a value: 0 at the start of the axis, 1 at its end.
    pub(super) fn position(&self, value: f64) -> f64 {
        match self.spacing {
            Spacing::Linear => (value - self.from) / (self.to - self.from),
            Spacing::Log => (value / self.from).ln() / (self.to / self.from).ln(),
        }
    }

    /// The widest label, in mm.
    pub(super) fn widest(&self) -> f64 {
        self.ticks.iter().flat_map(|tick| &tick.lines).map(|line| Size::TICK.width(line)).fold(0.0, f64::max)
    }

    /// Leaves ticks out whose labels would touch: all but every second, third or later one, or, where these would be
    /// few, those that are too near. `extent` gives the length of a label along the axis of this length, in mm.
    pub(super) fn thin(&mut self, length: f64, extent: impl Fn(&Tick) -> f64) {
        let without_touching = |ticks: &mut dyn Iterator<Item = &Tick>| {
            let mut end = f64::NEG_INFINITY;
            let free = |tick: &&Tick| {
                let (middle, half) = (self.position(tick.value) * length, extent(tick) / 2.0);
                let free = middle - half >= end + APART;
                end = if free { middle + half } else { end };
                free
            };
            ticks.filter(free).cloned().collect::<Vec<Tick>>()
        };
        let near = without_touching(&mut self.ticks.iter());
        let regular = (1..=self.ticks.len()).find_map(|stride| {
            let kept = without_touching(&mut self.ticks.iter().step_by(stride));
            (kept.len() == self.ticks.len().div_ceil(stride)).then_some(kept)
        });
        self.ticks = regular.filter(|regular| 2 * regular.len() >= near.len()).unwrap_or(near);
    }

    /// Breaks names into lines that fit into their places; whether all of them do, in at most three lines.
    pub(super) fn wrap(&mut self, slot: f64) -> bool {
        let wrapped: Vec<Vec<String>> =
            self.ticks.iter().map(|tick| Size::TICK.wrap(&tick.lines.concat(), slot - APART)).collect();
        let whole =
            |lines: &Vec<String>| lines.len() <= 3 && !lines.iter().any(|line| line.is_empty() || line.ends_with('…'));
        let fits = wrapped.iter().all(whole);
        for (tick, lines) in self.ticks.iter_mut().zip(wrapped) {
            tick.lines = lines.into_iter().take(3).collect();
        }
        fits
    }

    /// Cuts names that are longer than this, in mm.
    pub(super) fn cut(&mut self, longest: f64) {
        for line in self.ticks.iter_mut().flat_map(|tick| &mut tick.lines) {
            *line = Size::TICK.fit(line, longest);
        }
    }
}

impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        limit.0 + (self.position(*value) * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<H: KeyPointHint>(&self, hint: H) -> Vec<f64> {
        if hint.weight().allow_light_points() {
            return Vec::new();
        }
        self.ticks.iter().map(|tick| tick.value).collect()
    }

    fn range(&self) -> Range<f64> {
        self.from..self.to
    }
}

impl ValueFormatter<f64> for Scale {
    fn format_ext(&self, value: &f64) -> String {
        let tick = self.ticks.iter().find(|tick| tick.value.total_cmp(value).is_eq());
        tick.map(|tick| tick.lines.join("\n")).unwrap_or_default()
    }
}

fn extremes(values: &[f64]) -> (f64, f64) {
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    let (least, most) = values.iter().fold(start, |(least, most), &it| (least.min(it), most.max(it)));
    if least > most { (1.0, 1.0) } else { (least, most) }
}

/// The range of a linear axis, and its ticks.
fn linear(least: f64, most: f64, ends: Ends, count: usize) -> (Range<f64>, Vec<f64>) {
    let (mut least, mut most) = (least, most);
    match ends {
        Ends::AtZero => (least, most) = (least.min(0.0), most.max(0.0)),
        Ends::AtTicks if least > 0.0 && least < 0.6 * most => least = 0.0,
        Ends::AtTicks if most < 0.0 && most > 0.6 * least => most = 0.0,
        Ends::Near | Ends::AtTicks => {}
    }
    if least >= most {
        // All values are one: it stands in the middle, or at zero.
        let half = if most == 0.0 { 1.0 } else { most.abs() * 0.5 };
        (least, most) = (if most == 0.0 && ends != Ends::Near { 0.0 } else { least - half }, most + half);
    }
    let raw = (most - least) / (count.max(3) - 1) as f64;
    let power = 10f64.powf(raw.log10().floor());
    let round = [1.0, 2.0, 2.5, 5.0, 10.0].map(|it| it * power);
    let step = round.into_iter().find(|it| *it >= raw * (1.0 - 1e-9)).unwrap_or(10.0 * power);
    let (from, to) = match ends {
        Ends::Near => (least - (most - least) * 0.04, most + (most - least) * 0.04),
        Ends::AtTicks | Ends::AtZero => ((least / step + 1e-6).floor() * step, (most / step - 1e-6).ceil() * step),
    };
    let ticks = ((from / step - 1e-6).ceil() as i64..=(to / step + 1e-6).floor() as i64).map(|it| it as f64 * step);
    (from..to, ticks.collect())
}

/// The range of a logarithmic axis, and its ticks: multiples of powers of ten.
fn log(least: f64, most: f64, ends: Ends, count: usize) -> (Range<f64>, Vec<f64>) {
    let (from, to) = if ends == Ends::Near {
        let margin = if most > least { (most / least).powf(0.04) } else { 2.0 };
        (least / margin, most * margin)
    } else {
        let decade = |value: f64| 10f64.powf(value.log10().floor());
        let (low, high) = (decade(least * (1.0 + 1e-9)), decade(most * (1.0 - 1e-9)));
        let below = [5.0, 2.0, 1.0].map(|it| it * low).into_iter().find(|it| *it <= least * (1.0 + 1e-9));
        let above = [1.0, 2.0, 5.0, 10.0].map(|it| it * high).into_iter().find(|it| *it >= most * (1.0 - 1e-9));
        let (from, to) = (below.unwrap_or(low), above.unwrap_or(high * 10.0));
        if to > from { (from, to) } else { (from / 10.0, to * 10.0) }
    };
    let inside = |value: &f64| *value >= from * (1.0 - 1e-9) && *value <= to * (1.0 + 1e-9);
    let powers = from.log10().floor() as i32..=to.log10().ceil() as i32;
    let multiples = |digits: &[f64], stride: i32| -> Vec<f64> {
        let powers = powers.clone().filter(|power| power.rem_euclid(stride) == 0);
        let all = powers.flat_map(|power| digits.iter().map(move |digit| digit * 10f64.powi(power)));
        all.filter(inside).collect()
    };
    let fine = [&[1.0, 1.5, 2.0, 3.0, 5.0, 7.0][..], &[1.0, 2.0, 5.0], &[1.0, 3.0]];
    let candidates = fine.into_iter().map(|digits| multiples(digits, 1));
    let mut candidates = candidates.chain((1..40).map(|stride| multiples(&[1.0], stride)));
    (from..to, candidates.find(|ticks| ticks.len() <= count + 1).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::super::unit::Unit;
    use super::*;

    const UNITS: [Unit; 5] = [
        Unit::None,
        Unit::Prefixed { symbol: "s", exponent: -9 },
        Unit::Bytes { exponent: 0 },
        Unit::Share,
        Unit::Named("tCK"),
    ];

    /// Ranges of all widths, at all heights.
    fn ranges() -> impl Iterator<Item = (f64, f64)> {
        let least = [1e-30, 1e-3, 0.07, 1.0, 3.7, 64.0, 999.0, 4096.0, 123_456.0, 7.7e8, 1e23];
        let width = [1.0, 1.001, 1.3, 1.9, 4.0, 17.0, 256.0, 1e4, 1e7];
        least.into_iter().flat_map(move |least| width.into_iter().map(move |width| (least, least * width)))
    }

    fn each(check: impl Fn(&Scale, f64, f64, usize, &str)) {
        for (least, most) in ranges() {
            for unit in UNITS {
                for spacing in [Spacing::Linear, Spacing::Log] {
                    for ends in [Ends::Near, Ends::AtTicks, Ends::AtZero] {
                        for count in [4, 6, 9] {
                            let axis = Axis { label: "x".to_owned(), unit, spacing };
                            let scale = Scale::round(&axis, &[least, most], ends, count);
                            let case = format!("{least} to {most}, {unit:?} {spacing:?} {ends:?} {count}: {scale:?}");
                            check(&scale, least, most, count, &case);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn every_value_has_a_place_on_its_axis() {
        each(|scale, least, most, _, case| {
            for value in [least, most] {
                assert!((-1e-9..=1.0 + 1e-9).contains(&scale.position(value)), "{case}");
            }
        });
    }

    #[test]
    fn ticks_ascend_within_the_axis_and_are_not_too_many() {
        each(|scale, _, _, count, case| {
            assert!(scale.ticks.len() <= count + 2, "{case}");
            assert!(scale.ticks.windows(2).all(|pair| pair[0].value < pair[1].value), "{case}");
            assert!(scale.ticks.iter().all(|it| (-1e-6..=1.0 + 1e-6).contains(&scale.position(it.value))), "{case}");
        });
    }

    #[test]
    fn two_ticks_never_have_the_same_label() {
        each(|scale, _, _, _, case| {
            for (index, tick) in scale.ticks.iter().enumerate() {
                assert!(!scale.ticks[..index].iter().any(|other| other.lines == tick.lines), "{case}");
            }
        });
    }

    #[test]
    fn the_unit_of_an_axis_is_chosen_by_size() {
        let ns = |spacing| Axis { label: "time".to_owned(), unit: UNITS[1], spacing };
        let words = |scale: Scale| {
            let labels = scale.ticks.iter().map(|tick| tick.lines.concat()).collect::<Vec<_>>();
            (scale.title, labels.join(" "))
        };
        for (most, title, labels) in [
            (900.0, "time (ns)", "0 200 400 600 800 1,000"),
            (90_000.0, "time (µs)", "0 20 40 60 80 100"),
            (2.4e6, "time (ms)", "0 0.5 1.0 1.5 2.0 2.5"),
        ] {
            let scale = Scale::round(&ns(Spacing::Linear), &[0.0, most], Ends::AtZero, 6);
            assert_eq!(words(scale), (title.to_owned(), labels.to_owned()));
        }
        let scale = Scale::round(&ns(Spacing::Log), &[90.0, 900_000.0], Ends::AtTicks, 6);
        assert_eq!(words(scale), ("time (µs)".to_owned(), "0.1 1 10 100 1,000".to_owned()));
    }

    #[test]
    fn ticks_stand_at_measured_values() {
        let bytes = Axis { label: "size".to_owned(), unit: UNITS[2], spacing: Spacing::Log };
        let values = [64.0, 4096.0, 256.0, 65_536.0];
        let mut scale = Scale::measured(&bytes, &values);
        let labels = |scale: &Scale| scale.ticks.iter().map(|tick| tick.lines.concat()).collect::<Vec<_>>();
        assert_eq!(labels(&scale), ["64 B", "256 B", "4 KiB", "64 KiB"]);
        assert_eq!(scale.title, "size (bytes)");
        scale.thin(20.0, |tick| Size::TICK.width(&tick.lines[0]));
        assert!(labels(&scale).len() < 4 && scale.ticks.iter().all(|tick| values.contains(&tick.value)));
    }
}
