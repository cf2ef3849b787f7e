//! Distributions compared with sorted lists of their values.

use proptest::prelude::*;

use super::*;

fn of(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::default();
    for &value in values {
        histogram.record(Cycles(value));
    }
    histogram
}

#[test]
fn small_values_are_exact_and_large_ones_within_a_thousandth() {
    for value in (0..5000).chain([1 << 20, (1 << 40) + 12_345, u64::MAX]) {
        let low = Histogram::lowest(Histogram::bucket(value));
        assert!(low <= value && value - low <= value / 1024, "{value} in a bucket from {low}");
        assert!(value >= 2048 || low == value, "{value}");
    }
}

#[test]
fn buckets_follow_each_other_without_a_gap() {
    let edges = [2046, 2047, 2048, 2050, 4094, 4096, 4100];
    let buckets = edges.map(Histogram::bucket);
    assert_eq!(buckets, [2046, 2047, 2048, 2049, 3071, 3072, 3073]);
    assert_eq!(buckets.map(Histogram::lowest), edges);
}

#[test]
fn an_empty_distribution_has_no_figures() {
    let empty = Histogram::default();
    assert_eq!((empty.count(), empty.mean(), empty.max(), empty.percentile(50)), (0, None, None, None));
    assert_eq!(empty.summary(), None);
}

/// Values of all sizes, many of them small and equal.
fn arb_values() -> impl Strategy<Value = Vec<u64>> {
    let value = (0..40_u32, any::<u64>()).prop_map(|(bits, value)| value & ((1 << bits) - 1));
    prop::collection::vec(prop_oneof![value, 0..4_u64], 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn figures_are_those_of_the_sorted_values(mut values in arb_values()) {
        let histogram = of(&values);
        values.sort_unstable();
        prop_assert_eq!(histogram.count(), values.len() as u64);
        prop_assert_eq!(histogram.max(), values.last().map(|&most| Cycles(most)));
        let sum: u64 = values.iter().sum();
        prop_assert_eq!(histogram.mean(), (!values.is_empty()).then(|| sum as f64 / values.len() as f64));
        for percent in 0..=100 {
            // The value at the least rank that covers the percentage.
            let rank = (values.len() * percent).div_ceil(100).max(1);
            let exact = values.get(rank - 1).copied();
            let found = histogram.percentile(percent as u64).map(|cycles| cycles.0);
            prop_assert_eq!(found.is_some(), exact.is_some());
            if let (Some(found), Some(exact)) = (found, exact) {
                let in_last_bucket = Histogram::bucket(exact) == Histogram::bucket(*values.last().unwrap());
                let expected = if in_last_bucket { *values.last().unwrap() } else { exact };
                let is_close = found <= expected && expected - found <= expected / 1024;
                prop_assert!(is_close, "{percent} %: {found}, {expected}");
                prop_assert!(expected >= 2048 || found == expected, "{percent} %: {found}, {expected}");
            }
        }
        let summary = histogram.summary();
        prop_assert_eq!(summary.map(|five| Some(five.p50)), histogram.percentile(50).map(Some));
        prop_assert_eq!(summary.map(|five| five.p99), histogram.percentile(99));
        let rest = summary.map(|five| (five.count, Some(five.mean), Some(five.max)));
        prop_assert_eq!(rest, (!values.is_empty()).then(|| (histogram.count(), histogram.mean(), histogram.max())));
    }

    #[test]
    fn a_merge_counts_what_both_counted(one in arb_values(), other in arb_values()) {
        let mut merged = of(&one);
        merged += of(&other);
        prop_assert_eq!(merged, of(&[one, other].concat()));
    }
}
