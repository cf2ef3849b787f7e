//! What a run did, in integers.

pub(crate) mod counters;
pub(crate) mod epochs;
pub(crate) mod histogram;

use std::collections::BTreeMap;
use std::ops::AddAssign;

use dram_spec::{Cycle, Mechanism};

pub use counters::{CommandCounts, Outcomes};
pub use histogram::{Histogram, Summary};

/// How the parts of copies were served, by mechanism, and by the reason why no better one was chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartTally(pub BTreeMap<(Mechanism, &'static str), Parts>);

/// How many parts, and how many bytes of operations they served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Parts.
    pub count: u64,
    /// Bytes.
    pub bytes: u64,
}

impl PartTally {
    pub(crate) const EMPTY: PartTally = PartTally(BTreeMap::new());

    pub(crate) fn add(&mut self, mechanism: Mechanism, reason: &'static str, bytes: u64) {
        let entry = self.0.entry((mechanism, reason)).or_default();
        entry.count += 1;
        entry.bytes += bytes;
    }
}

impl AddAssign<&PartTally> for PartTally {
    fn add_assign(&mut self, other: &PartTally) {
        for (&key, parts) in &other.0 {
            let entry = self.0.entry(key).or_default();
            entry.count += parts.count;
            entry.bytes += parts.bytes;
        }
    }
}

/// How full a queue was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    /// Entries in use, summed over cycles and channels: the mean is this divided by the cycles and the channels.
    pub entry_cycles: u64,
    /// The most entries in use at once on a channel.
    pub most: u64,
}

impl AddAssign for Depth {
    fn add_assign(&mut self, other: Depth) {
        self.entry_cycles += other.entry_cycles;
        self.most = self.most.max(other.most);
    }
}

/// What was done in a span of cycles, in integers and distributions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// Requests delivered, of any kind.
    pub requests: u64,
    /// Commands issued.
    pub commands: CommandCounts,
    /// RD of accesses, by what they found.
    pub reads: Outcomes,
    /// WR of accesses, by what they found.
    pub writes: Outcomes,
    /// ACT for accesses whose row was closed before a column command used it.
    pub unused_activates: u64,
    /// Lines of reads that were answered from a queued write.
    pub forwarded: u64,
    /// Latency of reads delivered: from arrival to the end of their data.
    pub read_latency: Histogram,
    /// Latency of writes delivered: from arrival to the end of their data on the bus; of a write of partial lines, to its last bank ready.
    pub write_latency: Histogram,
    /// Latency of copies and initializations delivered: from the first command to the last bank ready.
    pub copy_latency: Histogram,
    /// The same from their arrival.
    pub copy_response: Histogram,
    /// How the parts of copies and initializations delivered were served.
    pub parts: PartTally,
    /// For each time that a thread released a bank where a read was queued: how long the thread alone had blocked the oldest read, up to when the
    /// bank can take an ACT again. It counts from the last of: the read being queued, the thread's begin, and the end of the rank's last REF
    /// (tRFC), PDX (tXP) or SRX (tDLLK); 0 if that is later.
    pub blocked_by_copies: Histogram,
    /// Threads preempted for a read.
    pub preempted_for_reads: u64,
    /// Threads preempted for a refresh.
    pub preempted_for_refresh: u64,
    /// How often a channel began to drain its writes.
    pub write_drains: u64,
    /// Bytes that crossed the channels.
    pub channel_bytes: u64,
    /// Entries of read queues.
    pub read_queue: Depth,
    /// Entries of write queues.
    pub write_queue: Depth,
    /// Copies in progress, over all channels.
    pub copy_queue: Depth,
}

impl AddAssign<&Figures> for Figures {
    fn add_assign(&mut self, other: &Figures) {
        self.requests += other.requests;
        self.commands += other.commands;
        self.reads += other.reads;
        self.writes += other.writes;
        self.unused_activates += other.unused_activates;
        self.forwarded += other.forwarded;
        self.read_latency.merge(&other.read_latency);
        self.write_latency.merge(&other.write_latency);
        self.copy_latency.merge(&other.copy_latency);
        self.copy_response.merge(&other.copy_response);
        self.parts += &other.parts;
        self.blocked_by_copies.merge(&other.blocked_by_copies);
        self.preempted_for_reads += other.preempted_for_reads;
        self.preempted_for_refresh += other.preempted_for_refresh;
        self.write_drains += other.write_drains;
        self.channel_bytes += other.channel_bytes;
        self.read_queue += other.read_queue;
        self.write_queue += other.write_queue;
        self.copy_queue += other.copy_queue;
    }
}

/// A span of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Epoch {
    /// Its first cycle.
    pub from: Cycle,
    /// The cycle after its last.
    pub to: Cycle,
    /// What was done in it.
    pub figures: Figures,
}

/// What a run did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// Where the figures begin: the end of the warm-up, or of the run, if that came first.
    pub from: Cycle,
    /// The cycle of the last delivery.
    pub end: Cycle,
    /// The figures from there to the end.
    pub whole: Figures,
    /// The same by epochs; the last one ends with the run.
    pub epochs: Vec<Epoch>,
}
