//! Reads and writes of a run: their latencies by epoch, and the end of those whose completion is not
//! reported.

use dram_spec::{Cycle, Cycles};

use super::Figures;
use super::histogram::Histogram;
use crate::access::AccessKind;

/// Reads and writes, up to the end of the present epoch.
#[derive(Debug)]
pub(crate) struct AccessTally {
    /// Accepted or waiting requests of one line whose completion is not reported, and the end of the
    /// last one served.
    pub(crate) unreported: u64,
    pub(crate) last_done: Cycle,
    /// End of the present epoch, or of the warm-up, exclusive.
    until: Cycle,
    /// Latencies of reads, and of writes.
    latencies: [Histogram; 2],
    /// Reads and writes that are done in a later epoch: cycle, kind and latency.
    later: Vec<(Cycle, AccessKind, Cycles)>,
}

impl AccessTally {
    pub(crate) fn new(until: Cycle) -> AccessTally {
        let (latencies, later) = (<[Histogram; 2]>::default(), Vec::new());
        AccessTally { unreported: 0, last_done: Cycle::ZERO, until, latencies, later }
    }

    /// End of the present epoch, or of the warm-up, exclusive.
    #[inline]
    pub(crate) fn until(&self) -> Cycle {
        self.until
    }

    /// Whether all requests whose completion is not reported are done by `now`.
    #[inline]
    pub(crate) fn are_done(&self, now: Cycle) -> bool {
        self.unreported == 0 && self.last_done <= now
    }

    /// Records a read or a write, which counts in the epoch in which it is done.
    #[inline]
    pub(crate) fn done(&mut self, kind: AccessKind, latency: Cycles, done: Cycle) {
        if done >= self.until {
            return self.later.push((done, kind, latency));
        }
        self.latencies[kind as usize].record(latency);
    }

    /// Records a request of one line whose completion is not reported.
    #[inline]
    pub(crate) fn unreported_done(&mut self, kind: AccessKind, arrival: Cycle, done: Cycle) {
        self.unreported -= 1;
        self.last_done = self.last_done.max(done);
        self.done(kind, done.since(arrival), done);
    }

    /// Moves the latencies of the present epoch to `figures`.
    pub(crate) fn take_figures(&mut self, figures: &mut Figures) {
        let [reads, writes] = std::mem::take(&mut self.latencies);
        (figures.read_latency, figures.write_latency) = (reads, writes);
    }

    /// Begins the next epoch, which ends at `until`.
    pub(crate) fn begin_epoch(&mut self, until: Cycle) {
        self.until = until;
        for (done, kind, latency) in std::mem::take(&mut self.later) {
            self.done(kind, latency, done);
        }
    }
}
