//! What a run did, in integers.

use std::ops::AddAssign;

use dram_spec::{Cycle, Cycles};

use crate::access::{Kind, RowCommands};
use crate::request::{CommandCounts, SegmentTally};

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
    #[inline]
    pub fn record(&mut self, value: Cycles) {
        let bucket = Self::bucket(value.0);
        match self.buckets.get_mut(bucket) {
            Some(count) => *count += 1,
            None => self.first_of(bucket),
        }
        self.count += 1;
        self.sum += u128::from(value.0);
        self.max = self.max.max(value.0);
    }

    /// Counts a value in a bucket above all that have been in use.
    #[cold]
    fn first_of(&mut self, bucket: usize) {
        self.buckets.resize(bucket, 0);
        self.buckets.push(1);
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

    /// Takes in what another one counted.
    pub fn merge(&mut self, other: &Histogram) {
        if self.buckets.len() < other.buckets.len() {
            self.buckets.resize(other.buckets.len(), 0);
        }
        self.buckets.iter_mut().zip(&other.buckets).for_each(|(mine, theirs)| *mine += theirs);
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    /// In five numbers.
    pub fn summary(&self) -> Summary {
        let [p50, p99] = [50, 99].map(|percent| self.percentile(percent));
        Summary { count: self.count, mean: self.mean(), p50, p99, max: self.max() }
    }

    /// The bucket: the value itself while it has at most 11 bits, then its leading 11 bits and its octave.
    fn bucket(value: u64) -> usize {
        let octave = (value | 1 << Self::PRECISION_BITS).ilog2() - Self::PRECISION_BITS;
        (u64::from(octave) << Self::PRECISION_BITS) as usize + (value >> octave) as usize
    }

    /// The least value of a bucket.
    fn lowest(bucket: usize) -> u64 {
        let octave = (bucket >> Self::PRECISION_BITS).saturating_sub(1);
        ((bucket - (octave << Self::PRECISION_BITS)) as u64) << octave
    }
}

/// A distribution, in five numbers. All in cycles, and 0 of none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// How many values.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// Their median.
    pub p50: Cycles,
    /// What one in a hundred exceeds.
    pub p99: Cycles,
    /// The largest.
    pub max: Cycles,
}

/// What accesses found in their banks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// Served by a RD or WR alone: neither ACT nor PRE was issued for them.
    pub hits: u64,
    /// An ACT was issued for them, and no PRE.
    pub misses: u64,
    /// A PRE was issued for them.
    pub conflicts: u64,
}

impl Outcomes {
    /// One more, for which those were issued.
    #[inline]
    pub(crate) fn count(&mut self, issued: RowCommands) {
        if issued.precharges() > 0 {
            self.conflicts += 1;
        } else if issued.activates() > 0 {
            self.misses += 1;
        } else {
            self.hits += 1;
        }
    }

    /// All that were served.
    pub const fn total(&self) -> u64 {
        self.hits + self.misses + self.conflicts
    }
}

impl AddAssign for Outcomes {
    fn add_assign(&mut self, other: Outcomes) {
        let Outcomes { hits, misses, conflicts } = other;
        self.hits += hits;
        self.misses += misses;
        self.conflicts += conflicts;
    }
}

/// How full a queue was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    /// Entries in use, summed over cycles and channels: the mean is this by the cycles and the channels.
    pub entry_cycles: u64,
    /// The most in use at once on a channel, at the end of a cycle.
    pub most: u64,
}

impl AddAssign for Depth {
    fn add_assign(&mut self, other: Depth) {
        self.entry_cycles += other.entry_cycles;
        self.most = self.most.max(other.most);
    }
}

/// What was done in some stretch of time, in integers; distributions as a [`Histogram`] or a [`Summary`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures<D> {
    /// Requests delivered, of any kind.
    pub requests: u64,
    /// Commands issued.
    pub commands: CommandCounts,
    /// RD of queued reads, by what they found.
    pub reads: Outcomes,
    /// WR of queued writes, by what they found.
    pub writes: Outcomes,
    /// Lines of reads that were answered from a queued write.
    pub forwarded: u64,
    /// Latency of reads delivered: from arrival to the end of their data.
    pub read_latency: D,
    /// Latency of writes delivered: from arrival to the end of their data on the bus. (Of a write that had to read first: to its
    /// last bank ready.)
    pub write_latency: D,
    /// Latency of copies and initialisations delivered: from the first command to the last bank ready.
    pub copy_latency: D,
    /// The same from their arrival.
    pub copy_response: D,
    /// How the parts of copies and initialisations delivered were served.
    pub segments: SegmentTally,
    /// For each time that a segment left a bank where a read waited: how long it alone had kept the oldest waiting, up to when the bank
    /// could take an ACT again. It is counted from the last of: the read's arrival in the queue, the segment's beginning, and the end of the
    /// rank's last REF (tRFC), PDX (tXP) or SRX (tDLLK); 0 if that is later.
    pub held_back: D,
    /// Segments that gave way to a read.
    pub broken_off_for_reads: u64,
    /// Segments that gave way to a refresh.
    pub broken_off_for_refresh: u64,
    /// Turns to write mode.
    pub drains: u64,
    /// Bytes that crossed the channels.
    pub channel_bytes: u64,
    /// Entries of read queues.
    pub read_queue: Depth,
    /// Entries of write queues.
    pub write_queue: Depth,
    /// Jobs in progress, over all channels.
    pub copy_queue: Depth,
}

impl Figures<Histogram> {
    /// Where the latencies of accesses of a kind are counted.
    #[inline]
    pub(crate) fn latency_of(&mut self, kind: Kind) -> &mut Histogram {
        if kind == Kind::Read { &mut self.read_latency } else { &mut self.write_latency }
    }

    /// The same with distributions in five numbers.
    pub(crate) fn summarise(&self) -> Figures<Summary> {
        Figures {
            requests: self.requests,
            commands: self.commands,
            reads: self.reads,
            writes: self.writes,
            forwarded: self.forwarded,
            read_latency: self.read_latency.summary(),
            write_latency: self.write_latency.summary(),
            copy_latency: self.copy_latency.summary(),
            copy_response: self.copy_response.summary(),
            segments: self.segments.clone(),
            held_back: self.held_back.summary(),
            broken_off_for_reads: self.broken_off_for_reads,
            broken_off_for_refresh: self.broken_off_for_refresh,
            drains: self.drains,
            channel_bytes: self.channel_bytes,
            read_queue: self.read_queue,
            write_queue: self.write_queue,
            copy_queue: self.copy_queue,
        }
    }

    /// Takes in what was done in another stretch.
    pub(crate) fn absorb(&mut self, other: &Figures<Histogram>) {
        self.requests += other.requests;
        self.commands += other.commands;
        self.reads += other.reads;
        self.writes += other.writes;
        self.forwarded += other.forwarded;
        self.read_latency.merge(&other.read_latency);
        self.write_latency.merge(&other.write_latency);
        self.copy_latency.merge(&other.copy_latency);
        self.copy_response.merge(&other.copy_response);
        self.segments += &other.segments;
        self.held_back.merge(&other.held_back);
        self.broken_off_for_reads += other.broken_off_for_reads;
        self.broken_off_for_refresh += other.broken_off_for_refresh;
        self.drains += other.drains;
        self.channel_bytes += other.channel_bytes;
        self.read_queue += other.read_queue;
        self.write_queue += other.write_queue;
        self.copy_queue += other.copy_queue;
    }
}

/// A stretch of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Epoch {
    /// Its first cycle.
    pub from: Cycle,
    /// The cycle after its last.
    pub to: Cycle,
    /// What was done in it.
    pub figures: Figures<Summary>,
}

/// What a run did. Its size does not grow with the run's length, but by a summary an epoch, where epochs are wanted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// Where the figures begin: the end of the warm-up, or of the run, if that came first.
    pub from: Cycle,
    /// When everything had drained.
    pub end: Cycle,
    /// The figures from there to the end.
    pub whole: Figures<Histogram>,
    /// The same by epochs; the last one ends with the run.
    pub epochs: Vec<Epoch>,
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
