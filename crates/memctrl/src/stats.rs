//! What a run did, in integers.

use dram_spec::{Cycle, Cycles};

use crate::request::{CommandCounts, Completion, SegmentTally};
use rowclone::Operation;

/// A distribution of cycle counts in bounded memory.
///
/// Values below 2048 have a bucket each; above, 1024 buckets an octave, so that a percentile is at most 0.1 % off; in the bucket of
/// the maximum, it is the maximum.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    buckets: Vec<u64>,
    count: u64,
    sum: u128,
    max: u64,
}

impl Histogram {
    const PRECISION_BITS: u32 = 10;

    /// Counts a value.
    pub fn record(&mut self, value: Cycles) {
        let bucket = Self::bucket(value.0);
        if bucket >= self.buckets.len() {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] += 1;
        self.count += 1;
        self.sum += u128::from(value.0);
        self.max = self.max.max(value.0);
    }

    /// How many values were counted.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The largest value; 0 of none.
    pub const fn max(&self) -> Cycles {
        Cycles(self.max)
    }

    /// The mean, in cycles; 0 of none.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// The least value that at least `percent` % of all values do not exceed, as exactly as its bucket; 0 of none.
    pub fn percentile(&self, percent: u64) -> Cycles {
        let rank = (u128::from(self.count) * u128::from(percent)).div_ceil(100).max(1);
        let mut seen = 0;
        for (bucket, &count) in self.buckets.iter().enumerate() {
            seen += u128::from(count);
            if count > 0 && seen >= rank {
                let in_last = bucket + 1 == self.buckets.len();
                return Cycles(if in_last { self.max } else { Self::lowest(bucket) });
            }
        }
        Cycles(0)
    }

    /// The bucket: the value itself while it has at most 11 bits, then its leading 11 bits and its octave.
    fn bucket(value: u64) -> usize {
        let octave = (u64::BITS - value.leading_zeros()).saturating_sub(Self::PRECISION_BITS + 1);
        (u64::from(octave) << Self::PRECISION_BITS) as usize + (value >> octave) as usize
    }

    /// The least value of a bucket.
    fn lowest(bucket: usize) -> u64 {
        let octave = (bucket >> Self::PRECISION_BITS).saturating_sub(1);
        ((bucket - (octave << Self::PRECISION_BITS)) as u64) << octave
    }
}

/// What a run did. Its size does not grow with the run's length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// When everything had drained: the last request was done, and the last bank that any used could take an ACT again.
    pub end: Cycle,
    /// Operations done, of any kind.
    pub operations: u64,
    /// All commands issued.
    pub commands: CommandCounts,
    /// How the parts of copies and initialisations were served.
    pub segments: SegmentTally,
    /// Latency of copies and initialisations: from first command to the last bank ready.
    pub copy_latency: Histogram,
    /// Latency of reads and writes, likewise (a read: to the end of its data).
    pub access_latency: Histogram,
    /// Bytes that crossed the memory channels.
    pub channel_bytes: u64,
}

impl Stats {
    pub(crate) fn complete(&mut self, completion: &Completion) {
        self.operations += 1;
        self.end = self.end.max(completion.done);
        match completion.operation {
            Operation::Copy { .. } | Operation::Init { .. } => {
                self.copy_latency.record(completion.latency());
                self.segments += &completion.segments;
            }
            Operation::Read { .. } | Operation::Write { .. } => self.access_latency.record(completion.latency()),
        }
        self.channel_bytes += completion.channel_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_values_are_exact_and_large_ones_within_a_thousandth() {
        for value in (0..5000).chain([1 << 20, (1 << 40) + 12_345, u64::MAX]) {
            let low = Histogram::lowest(Histogram::bucket(value));
            assert!(low <= value && value - low <= value / 1024, "{value} in a bucket from {low}");
            assert!(value >= 2048 || low == value, "{value}");
        }
    }

    #[test]
    fn percentiles_count_from_the_least_value() {
        let mut histogram = Histogram::default();
        (1..=100).for_each(|value| histogram.record(Cycles(value)));
        assert_eq!([1, 50, 99, 100].map(|p| histogram.percentile(p).0), [1, 50, 99, 100]);
        assert_eq!((histogram.mean(), histogram.max(), histogram.count()), (50.5, Cycles(100), 100));
        assert_eq!(Histogram::default().percentile(50), Cycles(0));
        let mut single = Histogram::default();
        single.record(Cycles(4_323_728));
        assert_eq!(single.percentile(50), Cycles(4_323_728), "a single value is its own median");
    }
}
