//! Distributions of cycle counts in bounded memory.

use std::ops::AddAssign;

use dram_spec::Cycles;

/// A distribution of cycle counts.
///
/// Values below 2048 have a bucket each; above, an octave has 1024 buckets, so that a percentile is
/// at most 0.1 % below the exact value. In the bucket of the maximum, a percentile is the maximum.
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
    #[inline]
    pub fn record(&mut self, value: Cycles) {
        let bucket = Self::bucket(value.0);
        match self.buckets.get_mut(bucket) {
            Some(count) => *count += 1,
            None => self.grow_to(bucket),
        }
        self.count += 1;
        self.sum += u128::from(value.0);
        self.max = self.max.max(value.0);
    }

    /// Adds buckets up to a new largest one, and counts its first value.
    #[cold]
    fn grow_to(&mut self, bucket: usize) {
        self.buckets.resize(bucket, 0);
        self.buckets.push(1);
    }

    /// Number of values.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Largest value; `None` without values.
    pub fn max(&self) -> Option<Cycles> {
        (self.count > 0).then_some(Cycles(self.max))
    }

    /// Mean in cycles; `None` without values.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The least value that at least `percent` % of all values do not exceed, to the precision of
    /// its bucket; `None` without values.
    pub fn percentile(&self, percent: u64) -> Option<Cycles> {
        let rank = (u128::from(self.count) * u128::from(percent)).div_ceil(100).max(1);
        let mut seen = 0;
        for (bucket, &count) in self.buckets.iter().enumerate() {
            seen += u128::from(count);
            if count > 0 && seen >= rank {
                let is_last = bucket + 1 == self.buckets.len();
                return Some(Cycles(if is_last { self.max } else { Self::lowest(bucket) }));
            }
        }
        None
    }

    /// Summary in five numbers; `None` without values.
    pub fn summary(&self) -> Option<Summary> {
        Some(Summary {
            count: self.count,
            mean: self.mean()?,
            p50: self.percentile(50)?,
            p99: self.percentile(99)?,
            max: self.max()?,
        })
    }

    /// Bucket of a value: the value itself if it has at most 11 bits, else its leading 11 bits and
    /// its octave.
    #[inline]
    fn bucket(value: u64) -> usize {
        let octave = (value | 1 << Self::PRECISION_BITS).ilog2() - Self::PRECISION_BITS;
        (u64::from(octave) << Self::PRECISION_BITS) as usize + (value >> octave) as usize
    }

    /// Least value of a bucket.
    fn lowest(bucket: usize) -> u64 {
        let octave = (bucket >> Self::PRECISION_BITS).saturating_sub(1);
        ((bucket - (octave << Self::PRECISION_BITS)) as u64) << octave
    }
}

/// Adds the values of another distribution.
impl AddAssign for Histogram {
    fn add_assign(&mut self, other: Histogram) {
        if self.buckets.len() < other.buckets.len() {
            self.buckets.resize(other.buckets.len(), 0);
        }
        self.buckets.iter_mut().zip(other.buckets).for_each(|(mine, theirs)| *mine += theirs);
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }
}

/// Summary of a distribution of at least one value. All fields except the count are in cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Number of values.
    pub count: u64,
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: Cycles,
    /// 99th percentile.
    pub p99: Cycles,
    /// Maximum.
    pub max: Cycles,
}

#[cfg(test)]
mod tests;
