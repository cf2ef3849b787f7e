//! Where a value lies along an axis, and which values are written beside it.

/// An axis: a stretch of values onto a stretch of the drawing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    logarithmic: bool,
}

/// Values above 0 that lie further apart than this are drawn by their logarithm.
const LOGARITHMIC_FROM: f64 = 30.0;

impl Scale {
    /// For values whose distances matter: one that is far above the others would leave them no room, so it may be logarithmic.
    pub(super) fn fitting(values: impl Iterator<Item = f64>, from: f64, to: f64, from_zero: bool) -> Scale {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            (low, high) = (low.min(value), high.max(value));
        }
        if !low.is_finite() || !high.is_finite() {
            (low, high) = (0.0, 1.0);
        }
        let logarithmic = low > 0.0 && high / low >= LOGARITHMIC_FROM;
        if !logarithmic && from_zero {
            (low, high) = (low.min(0.0), high.max(0.0));
        }
        if low >= high {
            high = low + 1.0;
        }
        let scale = Scale { low, high, from, to, logarithmic };
        if from_zero { scale.widened() } else { scale }
    }

    /// Up to the next round value, so that no mark stands at the very edge.
    fn widened(mut self) -> Scale {
        if self.logarithmic {
            let around = |value: f64, round: fn(f64) -> f64| 10_f64.powf(round(value.log10() * 3.0) / 3.0);
            (self.low, self.high) = (around(self.low, f64::floor), around(self.high, f64::ceil));
        } else {
            let step = step(self.high - self.low, 5.0);
            (self.low, self.high) = ((self.low / step).floor() * step, (self.high / step).ceil() * step);
        }
        self
    }

    pub(super) const fn is_logarithmic(&self) -> bool {
        self.logarithmic
    }

    /// Where a value lies.
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = if self.logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + share * (self.to - self.from)
    }

    /// Round values, at most about `most`, from low to high.
    pub(super) fn ticks(&self, most: usize) -> Vec<f64> {
        if !self.logarithmic {
            let step = step(self.high - self.low, most as f64);
            let (first, last) = ((self.low / step).ceil() as i64, (self.high / step + 1e-9).floor() as i64);
            return (first..=last).map(|n| n as f64 * step).collect();
        }
        let decades = (self.low.log10().floor() as i32)..=(self.high.log10().ceil() as i32);
        for digits in [&[1.0, 2.0, 5.0][..], &[1.0, 3.0], &[1.0]] {
            let all = decades.clone().flat_map(|power| digits.iter().map(move |digit| digit * 10_f64.powi(power)));
            let ticks: Vec<f64> = all.filter(|tick| self.holds(*tick)).collect();
            if ticks.len() <= most {
                return ticks;
            }
        }
        let all: Vec<f64> = decades.map(|power| 10_f64.powi(power)).filter(|tick| self.holds(*tick)).collect();
        let every = all.len().div_ceil(most).max(1);
        all.into_iter().step_by(every).collect()
    }

    fn holds(&self, value: f64) -> bool {
        value >= self.low * (1.0 - 1e-9) && value <= self.high * (1.0 + 1e-9)
    }
}

/// A round step of which about `most` make the span: 1, 2 or 5 times a power of ten.
fn step(span: f64, most: f64) -> f64 {
    let raw = span / most;
    let power = 10_f64.powf(raw.log10().floor());
    let digit = [1.0, 2.0, 5.0].into_iter().find(|digit| digit * power >= raw * (1.0 - 1e-9)).unwrap_or(10.0);
    digit * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_holds_its_values_and_its_ticks_are_round() {
        let scale = Scale::fitting([90.0, 1046.25].into_iter(), 200.0, 0.0, true);
        assert!(!scale.is_logarithmic());
        assert_eq!(scale.ticks(6), [0.0, 500.0, 1000.0, 1500.0]);
        assert!((scale.at(0.0) - 200.0).abs() < 1e-9 && (scale.at(1500.0)).abs() < 1e-9);
    }

    #[test]
    fn values_far_apart_are_drawn_by_their_logarithm_if_all_are_above_0() {
        let scale = Scale::fitting([50.0, 3000.0].into_iter(), 0.0, 100.0, true);
        assert!(scale.is_logarithmic());
        assert_eq!(scale.ticks(6), [50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0]);
        assert!(!Scale::fitting([0.0, 3000.0].into_iter(), 0.0, 100.0, true).is_logarithmic());
        let wide = Scale::fitting([1.0, 1e12].into_iter(), 0.0, 100.0, true);
        assert!(wide.ticks(6).len() <= 6);
    }

    #[test]
    fn nothing_and_one_value_have_a_scale() {
        for values in [vec![], vec![0.0], vec![7.0], vec![-3.0]] {
            let scale = Scale::fitting(values.iter().copied(), 0.0, 100.0, true);
            assert!(values.iter().all(|&value| scale.at(value).is_finite()));
            assert!(!scale.ticks(5).is_empty());
        }
    }
}
