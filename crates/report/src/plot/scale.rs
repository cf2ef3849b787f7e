//! From values to places along an axis, and where its ticks are.

use super::unit::Unit;

/// How values are spread along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spacing {
    /// Evenly.
    #[default]
    Linear,
    /// By their logarithm.
    Log,
}

/// An axis' range of values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    spacing: Spacing,
    from: f64,
    to: f64,
    /// From tick to tick, where the ends are at ticks.
    step: Option<f64>,
}

/// The marks of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ticks {
    /// Where there is a number, ascending.
    pub(super) values: Vec<f64>,
    /// The numbers.
    pub(super) labels: Vec<String>,
    /// Where there is none.
    pub(super) minor: Vec<f64>,
    /// The unit of all numbers, where they do not have it themselves.
    pub(super) symbol: Option<String>,
}

/// How far the ends of an axis go beyond its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    /// A little, so that marks are whole.
    Near,
    /// To the next tick, and to zero where that is not far.
    AtTicks,
    /// To the next tick, and to zero: what a bar's length is counted from.
    AtZero,
}

impl Scale {
    /// A scale with room for all these values; positive ones for a logarithmic one. `ticks` is how many numbers there may be.
    pub(super) fn around(
        spacing: Spacing,
        unit: Unit,
        values: impl Iterator<Item = f64>,
        ends: Ends,
        ticks: usize,
    ) -> Scale {
        let (mut least, mut most) =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), it| (least.min(it), most.max(it)));
        if least > most {
            (least, most) = (1.0, 1.0);
        }
        match spacing {
            Spacing::Linear => linear(unit, least, most, ends, ticks),
            Spacing::Log => log(unit, least, most, ends),
        }
    }

    /// Where a value lies: 0 at the beginning of the axis, 1 at its end.
    pub(super) fn position(self, value: f64) -> f64 {
        match self.spacing {
            Spacing::Linear => (value - self.from) / (self.to - self.from),
            Spacing::Log => (value / self.from).ln() / (self.to / self.from).ln(),
        }
    }

    /// Where bars begin: at zero, or at the end of the axis where that is out of reach.
    pub(super) fn base(self) -> f64 {
        match self.spacing {
            Spacing::Linear => 0f64.clamp(self.from, self.to),
            Spacing::Log => self.from,
        }
    }

    /// At most so many numbers, at round values.
    pub(super) fn ticks(self, unit: Unit, most: usize) -> Ticks {
        match self.spacing {
            Spacing::Linear => {
                let finest = (self.to - self.from) / most.max(2) as f64;
                let values = self.multiples(self.step.unwrap_or_else(|| step(unit, finest)));
                let display = unit.display(self.from.abs().max(self.to.abs()));
                let labels = display.write_all(&values);
                Ticks { labels, minor: Vec::new(), symbol: display.symbol().map(str::to_owned), values }
            }
            Spacing::Log => self.log_ticks(unit, most.max(2)),
        }
    }

    fn multiples(self, step: f64) -> Vec<f64> {
        let (first, last) = ((self.from / step - 1e-6).ceil() as i64, (self.to / step + 1e-6).floor() as i64);
        (first..=last).map(|index| index as f64 * step).collect()
    }

    fn log_ticks(self, unit: Unit, most: usize) -> Ticks {
        let base = log_base(unit);
        let (first, last) = (self.from.log(base).floor() as i32, (self.to * (1.0 + 1e-9)).log(base).floor() as i32);
        let powers = || (first..=last).map(|power| (power, base.powi(power)));
        let inside = |value: &f64| *value >= self.from * (1.0 - 1e-9) && *value <= self.to * (1.0 + 1e-9);
        let between = |multiples: &[f64]| -> Vec<f64> {
            let all = powers().flat_map(|(_, power)| multiples.iter().map(move |it| it * power));
            all.filter(inside).collect()
        };
        let decimal = [&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0][..], &[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]];
        let binary = [&[1.0][..]];
        let choices = if unit.is_binary() { &binary[..] } else { &decimal[..] };
        let strides = (1..=40).map(|stride| {
            powers().filter(|(power, _)| power.rem_euclid(stride) == 0).map(|(_, value)| value).filter(inside).collect()
        });
        // The finest that is not too fine; all nine of a decade only where there is not even one.
        let candidates: Vec<Vec<f64>> = choices.iter().map(|multiples| between(multiples)).chain(strides).collect();
        let values = candidates.into_iter().find(|values| values.len() <= most).unwrap_or_default();
        let minor = if unit.is_binary() { between(&[1.0]) } else { between(decimal[0]) };
        let minor = if last - first > 8 && !unit.is_binary() { between(&[1.0]) } else { minor };
        let minor = minor.into_iter().filter(|value| !values.contains(value)).collect();
        let (least, greatest) =
            (values.first().copied().unwrap_or(self.from), values.last().copied().unwrap_or(self.to));
        let display = unit.display(greatest);
        // One prefix for all, or one each where that would give numbers like 0.0001.
        let (labels, symbol) = match unit {
            Unit::Prefixed { .. } if greatest / least > 2e3 => {
                (values.iter().map(|&value| unit.write(value)).collect(), None)
            }
            Unit::None => {
                (values.iter().map(|&value| Unit::None.display(value).write_all(&[value]).concat()).collect(), None)
            }
            _ => (display.write_each(&values), display.symbol().map(str::to_owned)),
        };
        Ticks { values, labels, minor, symbol }
    }
}

fn log_base(unit: Unit) -> f64 {
    if unit.is_binary() { 2.0 } else { 10.0 }
}

fn linear(unit: Unit, least: f64, most: f64, ends: Ends, ticks: usize) -> Scale {
    let spacing = Spacing::Linear;
    let (mut least, mut most) = (least, most);
    match ends {
        Ends::Near => {
            let margin = if most > least { (most - least) * 0.04 } else { most.abs().max(1.0) * 0.5 };
            return Scale { spacing, from: least - margin, to: most + margin, step: None };
        }
        Ends::AtZero => (least, most) = (least.min(0.0), most.max(0.0)),
        Ends::AtTicks if least > 0.0 && least < 0.6 * most => least = 0.0,
        Ends::AtTicks if most < 0.0 && most > 0.6 * least => most = 0.0,
        Ends::AtTicks => {}
    }
    if least >= most {
        // All values are one: it stands in the middle, or at zero.
        let half = if most == 0.0 { 1.0 } else { most.abs() * 0.5 };
        (least, most) = (if most == 0.0 { 0.0 } else { least - half }, most + half);
    }
    let step = step(unit, (most - least) / ticks.saturating_sub(1).max(2) as f64);
    let (from, to) = ((least / step + 1e-6).floor() * step, (most / step - 1e-6).ceil() * step);
    Scale { spacing, from, to: if to > from { to } else { from + step }, step: Some(step) }
}

fn log(unit: Unit, least: f64, most: f64, ends: Ends) -> Scale {
    let spacing = Spacing::Log;
    if ends == Ends::Near {
        let margin = if most > least { (most / least).powf(0.04) } else { 2.0 };
        return Scale { spacing, from: least / margin, to: most * margin, step: None };
    }
    let base = log_base(unit);
    let round = |value: f64, up: bool| {
        let power = base.powf((value.log(base) + if up { -1e-9 } else { 1e-9 }).floor());
        let choices = if unit.is_binary() { &[1.0, 2.0][..] } else { &[1.0, 2.0, 5.0, 10.0] };
        let choices = choices.iter().map(|it| it * power);
        let mut fitting =
            choices.filter(|it| if up { *it >= value * (1.0 - 1e-9) } else { *it <= value * (1.0 + 1e-9) });
        if up { fitting.next().unwrap_or(power * base) } else { fitting.next_back().unwrap_or(power) }
    };
    let (from, to) = (round(least, false), round(most, true));
    // A bar at the very bottom would have no length.
    let from = if ends == Ends::AtZero && from > least * 0.7 { round(from * 0.7, false) } else { from };
    let (from, to) = if to > from { (from, to) } else { (from / base, to * base) };
    Scale { spacing, from, to, step: None }
}

/// A round distance of at least so much: 1, 2 or 5 times a power of ten, or a power of two for bytes.
fn step(unit: Unit, least: f64) -> f64 {
    if unit.is_binary() {
        return 2f64.powf((least - least * 1e-9).log2().ceil());
    }
    // Round as it is written: shares in per cent are as round as shares.
    let power = 10f64.powf(least.log10().floor());
    let choices = [1.0, 2.0, 2.5, 5.0, 10.0].map(|it| it * power);
    choices.into_iter().find(|it| *it >= least * (1.0 - 1e-9)).unwrap_or(10.0 * power)
}

impl Unit {
    const fn is_binary(self) -> bool {
        matches!(self, Unit::Bytes { .. })
    }
}

#[cfg(test)]
mod tests {
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
        let least = [1e-3, 0.07, 1.0, 3.7, 64.0, 999.0, 4096.0, 123_456.0, 7.7e8];
        let width = [1.0, 1.001, 1.3, 1.9, 4.0, 17.0, 256.0, 1e4, 1e7];
        least.into_iter().flat_map(move |least| width.into_iter().map(move |width| (least, least * width)))
    }

    fn each(check: impl Fn(Scale, Ticks, f64, f64, usize, &str)) {
        for (least, most) in ranges() {
            for unit in UNITS {
                for spacing in [Spacing::Linear, Spacing::Log] {
                    for ends in [Ends::Near, Ends::AtTicks, Ends::AtZero] {
                        for count in [3, 6, 9] {
                            let scale = Scale::around(spacing, unit, [least, most].into_iter(), ends, count);
                            let case = format!("{least} to {most}, {unit:?} {spacing:?} {ends:?} {count}");
                            check(scale, scale.ticks(unit, count + 1), least, most, count + 1, &case);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn every_value_has_a_place_on_its_axis() {
        each(|scale, _, least, most, _, case| {
            for value in [least, most] {
                assert!((-1e-9..=1.0 + 1e-9).contains(&scale.position(value)), "{case}: {scale:?}");
            }
        });
    }

    #[test]
    fn ticks_ascend_within_the_axis_and_are_not_too_many() {
        each(|scale, ticks, _, _, count, case| {
            assert!(ticks.values.len() <= count + 1, "{case}: {ticks:?}");
            assert_eq!(ticks.values.len(), ticks.labels.len());
            assert!(ticks.values.windows(2).all(|pair| pair[0] < pair[1]), "{case}: {ticks:?}");
            let all = ticks.values.iter().chain(&ticks.minor);
            assert!(all.clone().all(|&it| (-1e-6..=1.0 + 1e-6).contains(&scale.position(it))), "{case}: {ticks:?}");
        });
    }

    #[test]
    fn two_ticks_never_say_the_same() {
        each(|_, ticks, _, _, _, case| {
            for (index, label) in ticks.labels.iter().enumerate() {
                assert!(!ticks.labels[..index].contains(label), "{case}: {ticks:?}");
            }
        });
    }

    #[test]
    fn an_axis_that_ends_at_ticks_has_some_at_both_ends() {
        each(|scale, ticks, _, _, _, case| {
            if scale.step.is_some() {
                let ends = [ticks.values[0], ticks.values[ticks.values.len() - 1]].map(|it| scale.position(it));
                assert!(ends[0].abs() < 1e-6 && (ends[1] - 1.0).abs() < 1e-6, "{case}: {ticks:?}");
            }
        });
    }

    #[test]
    fn bytes_are_counted_in_powers_of_two() {
        let bytes = Unit::Bytes { exponent: 0 };
        let values = [64.0, 4_194_304.0];
        let ticks = Scale::around(Spacing::Log, bytes, values.into_iter(), Ends::Near, 6).ticks(bytes, 6);
        assert_eq!(ticks.labels, ["64 B", "512 B", "4 KiB", "32 KiB", "256 KiB", "2 MiB"]);
        let ticks = Scale::around(Spacing::Linear, bytes, [0.0, 60_000.0].into_iter(), Ends::AtZero, 6).ticks(bytes, 6);
        assert_eq!(ticks.labels, ["0 B", "16 KiB", "32 KiB", "48 KiB", "64 KiB"]);
    }

    #[test]
    fn decades_are_written_with_their_prefix() {
        let ns = Unit::Prefixed { symbol: "s", exponent: -9 };
        let ticks = Scale::around(Spacing::Log, ns, [90.0, 900_000.0].into_iter(), Ends::AtTicks, 6).ticks(ns, 6);
        assert_eq!(
            (ticks.labels, ticks.symbol),
            (["100 ns", "1 µs", "10 µs", "100 µs", "1 ms"].map(str::to_owned).to_vec(), None)
        );
    }
}
