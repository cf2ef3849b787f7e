//! Percentiles of a few values.

use dram_spec::Cycles;
use memctrl::stats::{Histogram, Summary};

fn of(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::default();
    for &value in values {
        histogram.record(Cycles(value));
    }
    histogram
}

fn percentile(values: &[u64], percent: u64) -> u64 {
    of(values).percentile(percent).unwrap().0
}

/// The least value that at least a percentage of five values do not exceed: each value is 20 % of
/// them.
#[test]
fn a_percentile_is_one_of_the_values() {
    let histogram = of(&[7, 1, 100, 3, 7]);
    let percentiles =
        [(0, 1), (1, 1), (20, 1), (21, 3), (40, 3), (41, 7), (50, 7), (80, 7), (81, 100), (99, 100), (100, 100)];
    for (percent, value) in percentiles {
        assert_eq!(histogram.percentile(percent), Some(Cycles(value)), "{percent} %");
    }
    let expected = Summary { count: 5, mean: 118.0 / 5.0, p50: Cycles(7), p99: Cycles(100), max: Cycles(100) };
    assert_eq!(histogram.summary(), Some(expected));
}

/// 99 of 100 values do not exceed 1: the hundredth is beyond the 99th percentile, but not if it
/// occurs twice.
#[test]
fn one_in_a_hundred_exceeds_the_ninety_ninth_percentile() {
    let mut values = vec![1; 99];
    values.push(500);
    assert_eq!(percentile(&values, 99), 1);
    values.push(400);
    assert_eq!(percentile(&values, 99), 400, "99 % of 101 values are more than 99: 400 is the hundredth");
}

/// A bucket contains one value up to 2047, two from 2048 on, four from 4096 on; its percentile is
/// its least value, or the maximum.
#[test]
fn from_2048_on_a_percentile_is_the_least_value_of_its_bucket() {
    let cases = [
        (2047, 2047),
        (2048, 2048),
        (2049, 2048),
        (2050, 2050),
        (4095, 4094),
        (4096, 4096),
        (4099, 4096),
        (4100, 4100),
    ];
    for (value, found) in cases {
        assert_eq!(percentile(&[value, 10_000], 50), found, "{value}");
        assert_eq!(percentile(&[1, value], 99), value, "the maximum is exact");
    }
    assert_eq!(percentile(&[4097, 4099], 50), 4099, "in the bucket of the maximum, the maximum");
}

#[test]
fn a_merged_distribution_is_that_of_all_values() {
    let (few, many) = (of(&[5, 9]), of(&[1, 2, 3000, 70_000]));
    for (mut one, other) in [(few.clone(), many.clone()), (many.clone(), few)] {
        one += other;
        assert_eq!(one, of(&[5, 9, 1, 2, 3000, 70_000]));
        assert_eq!([16, 17, 33, 34, 50, 51].map(|percent| one.percentile(percent).unwrap().0), [1, 2, 2, 5, 5, 9]);
    }
    let mut same = many.clone();
    same += Histogram::default();
    assert_eq!(same, many);
    assert_eq!(Histogram::default().summary(), None, "of no value");
}
