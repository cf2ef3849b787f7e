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
                let values = self.multiples(step(unit, (self.to - self.from) / most.max(2) as f64));
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
            return Scale { spacing, from: least - margin, to: most + margin };
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
    Scale { spacing, from, to: if to > from { to } else { from + step } }
}

fn log(unit: Unit, least: f64, most: f64, ends: Ends) -> Scale {
    let spacing = Spacing::Log;
    if ends == Ends::Near {
        let margin = if most > least { (most / least).powf(0.04) } else { 2.0 };
        return Scale { spacing, from: least / margin, to: most * margin };
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
    if to > from { Scale { spacing, from, to } } else { Scale { spacing, from: from / base, to: to * base } }
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
