//! Distributions of times.

use dram_spec::{Clock, Cycles};
use memctrl::stats::Histogram;
use serde::Serialize;

/// Summary of a distribution in clocks (`u64`) or ns (`f64`). Mean, percentiles and maximum are
/// `None` without values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Distribution<T> {
    /// Number of values.
    pub count: u64,
    /// Mean.
    pub mean: Option<f64>,
    /// Median.
    pub p50: Option<T>,
    /// 99th percentile.
    pub p99: Option<T>,
    /// Maximum.
    pub max: Option<T>,
}

impl<T> Distribution<T> {
    /// Converts a histogram: `unit` converts its times, and `cycle` is one clock in that unit.
    fn new(histogram: &Histogram, cycle: f64, unit: impl Fn(Cycles) -> T) -> Distribution<T> {
        Distribution {
            count: histogram.count(),
            mean: histogram.mean().map(|mean| mean * cycle),
            p50: histogram.percentile(50).map(&unit),
            p99: histogram.percentile(99).map(&unit),
            max: histogram.max().map(&unit),
        }
    }
}

impl Distribution<u64> {
    pub(crate) fn cycles(histogram: &Histogram) -> Distribution<u64> {
        Distribution::new(histogram, 1.0, |time| time.0)
    }
}

impl Distribution<f64> {
    pub(crate) fn ns(histogram: &Histogram, clock: Clock) -> Distribution<f64> {
        Distribution::new(histogram, clock.t_ck_ns(), |time| clock.ns(time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ns_are_clocks_by_the_clock() {
        let mut histogram = Histogram::default();
        for value in [6, 8, 16] {
            histogram.record(Cycles(value));
        }
        let some = Some::<f64>;
        let ns = Distribution { count: 3, mean: some(18.75), p50: some(15.0), p99: some(30.0), max: some(30.0) };
        assert_eq!(Distribution::ns(&histogram, Clock::DDR3_1066), ns);
        let cycles = Distribution { count: 3, mean: some(10.0), p50: Some(8), p99: Some(16), max: Some(16) };
        assert_eq!(Distribution::cycles(&histogram), cycles);
    }

    /// 1 to 200 clocks at DDR3-1600, 1.25 ns: the median is the 100th value, the 99th percentile the
    /// 198th.
    #[test]
    fn percentiles_are_the_least_values_that_reach_their_share() {
        let mut histogram = Histogram::default();
        (1..=200).for_each(|value| histogram.record(Cycles(value)));
        let cycles = Distribution { count: 200, mean: Some(100.5), p50: Some(100), p99: Some(198), max: Some(200) };
        assert_eq!(Distribution::cycles(&histogram), cycles);
        let ns = Distribution { count: 200, mean: Some(125.625), p50: Some(125.0), p99: Some(247.5), max: Some(250.0) };
        assert_eq!(Distribution::ns(&histogram, Clock::DDR3_1600), ns);
    }

    #[test]
    fn nothing_has_no_mean_and_no_maximum() {
        let nothing = Distribution { count: 0, mean: None, p50: None, p99: None, max: None };
        assert_eq!(Distribution::cycles(&Histogram::default()), nothing);
    }
}
