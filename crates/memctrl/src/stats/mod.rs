//! Statistics of a run, in integers.

pub(crate) mod accesses;
pub(crate) mod counters;
pub(crate) mod gauge;
pub(crate) mod histogram;

use std::ops::AddAssign;

use dram_spec::{Cycle, Mechanism};
use smallvec::SmallVec;

pub use counters::Outcomes;
pub use dram_spec::CommandCounts;
pub use histogram::{Histogram, Summary};

/// Parts of copies by mechanism, and by the reason why no better one was chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartTally(SmallVec<[(PartKey, Parts); 1]>);

type PartKey = (Mechanism, &'static str);

/// Number of parts, and bytes of operations that they served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Parts.
    pub count: u64,
    /// Bytes.
    pub bytes: u64,
}

impl PartTally {
    /// Each mechanism and reason that served a part, in the order of mechanisms, then of reasons.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Mechanism, &'static str, Parts)> {
        self.0.iter().map(|&((mechanism, reason), parts)| (mechanism, reason, parts))
    }

    /// Adds parts that a mechanism served for a reason.
    pub fn add(&mut self, mechanism: Mechanism, reason: &'static str, parts: Parts) {
        let key = (mechanism, reason);
        let at = self.0.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
            let at = self.0.partition_point(|(known, _)| *known < key);
            self.0.insert(at, (key, Parts::default()));
            at
        });
        let sum = &mut self.0[at].1;
        (sum.count, sum.bytes) = (sum.count + parts.count, sum.bytes + parts.bytes);
    }
}

impl FromIterator<(Mechanism, &'static str, Parts)> for PartTally {
    fn from_iter<I: IntoIterator<Item = (Mechanism, &'static str, Parts)>>(parts: I) -> PartTally {
        let mut tally = PartTally::default();
        parts.into_iter().for_each(|(mechanism, reason, parts)| tally.add(mechanism, reason, parts));
        tally
    }
}

impl AddAssign for PartTally {
    fn add_assign(&mut self, other: PartTally) {
        *self += &other;
    }
}

impl AddAssign<&PartTally> for PartTally {
    fn add_assign(&mut self, other: &PartTally) {
        other.iter().for_each(|(mechanism, reason, parts)| self.add(mechanism, reason, parts));
    }
}

/// Occupancy of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    /// Entry-cycles, summed over channels: the mean is this divided by cycles and channels.
    pub entry_cycles: u64,
    /// Maximum number of entries in use on a channel.
    pub most: u64,
}

impl AddAssign for Depth {
    fn add_assign(&mut self, other: Depth) {
        self.entry_cycles += other.entry_cycles;
        self.most = self.most.max(other.most);
    }
}

/// Figures of an interval, in integers and distributions.
#[derive(Clone, Debug, Default, PartialEq, derive_more::AddAssign)]
pub struct Figures {
    /// Delivered requests of all kinds.
    pub requests: u64,
    /// Commands issued.
    pub commands: CommandCounts,
    /// RDs of accesses, by row-buffer outcome.
    pub reads: Outcomes,
    /// WRs of accesses, by row-buffer outcome.
    pub writes: Outcomes,
    /// ACTs for accesses whose row was closed before a column command used it.
    pub unused_activates: u64,
    /// Lines of reads forwarded from a queued write.
    pub forwarded: u64,
    /// Latency of delivered reads: from arrival to the end of their data.
    pub read_latency: Histogram,
    /// Latency of delivered writes: from arrival to the end of their data on the bus; of a write of
    /// partial lines, until its last bank is ready.
    pub write_latency: Histogram,
    /// Latency of delivered copies and initializations: from the first command until the last bank
    /// is ready.
    pub copy_latency: Histogram,
    /// Latency of delivered copies and initializations from arrival.
    pub copy_response: Histogram,
    /// Parts of delivered copies and initializations by mechanism and reason.
    pub parts: PartTally,
    /// For each release of a bank by a thread while a read is queued in the bank: the time for
    /// which only the thread blocked the oldest read, until the bank can be activated. It starts at
    /// the latest of: the read being queued, the thread's begin, and the end of the rank's last REF
    /// (tRFC), PDX (tXP) or SRX (tDLLK); 0 if that is later.
    pub blocked_by_copies: Histogram,
    /// Threads preempted for a read.
    pub preempted_for_reads: u64,
    /// Threads preempted for a refresh.
    pub preempted_for_refresh: u64,
    /// Write drains of all channels.
    pub write_drains: u64,
    /// Bytes transferred over the channels.
    pub channel_bytes: u64,
    /// Occupancy of read queues.
    pub read_queue: Depth,
    /// Occupancy of write queues.
    pub write_queue: Depth,
    /// Copies in progress in all channels.
    pub copy_queue: Depth,
}

/// An interval of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Epoch {
    /// First cycle.
    pub from: Cycle,
    /// End cycle, exclusive.
    pub to: Cycle,
    /// Figures of the epoch.
    pub figures: Figures,
}

/// Statistics of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// Start of the figures: the end of the warm-up, or of the run, if that was earlier.
    pub from: Cycle,
    /// Cycle of the last delivery.
    pub end: Cycle,
    /// Figures from `from` to the end.
    pub whole: Figures,
    /// Figures of epochs; the last epoch ends with the run.
    pub epochs: Vec<Epoch>,
}

#[cfg(test)]
mod tests;
