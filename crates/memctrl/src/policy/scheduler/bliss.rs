//! The blacklisting scheduler.

use dram_spec::{Cycle, Cycles, SourceId};

use super::{BySource, Changes, Key, Reads, RowState, Scheduler, Service, Setting};
use crate::access::{AccessKind, QueuedAccess};

/// BLISS: a source with many consecutive reads served is blacklisted for a period. Reads of other
/// sources have the highest priority, then row hits, then the oldest access.
///
/// The count of consecutive reads starts at 0 when the source changes, and each read served adds 1. A source whose
/// count exceeds the threshold is blacklisted, and the count is cleared. So with the threshold 4 the fifth consecutive
/// read blacklists its source; the paper's text leaves open whether the fourth does. The blacklist is cleared every
/// `clearing_interval`. Writes are ordered as under FR-FCFS.
///
/// Source: Subramanian et al., "The Blacklisting Memory Scheduler", ICCD 2014.
#[derive(Clone, Debug)]
pub struct Bliss {
    threshold: u32,
    clearing_interval: Cycles,
    next_clearing: Cycle,
    last_source: Option<SourceId>,
    consecutive: u32,
    blacklisted: BySource<bool>,
}

impl Bliss {
    /// The paper's threshold, in consecutive reads, and its interval, in memory clocks.
    pub const DEFAULT: Bliss = Bliss::new(4, Cycles(10_000));

    /// Creates the scheduler with a threshold, and a clearing interval of at least one cycle.
    pub const fn new(threshold: u32, clearing_interval: Cycles) -> Bliss {
        Bliss {
            threshold,
            clearing_interval,
            next_clearing: Cycle(clearing_interval.0),
            last_source: None,
            consecutive: 0,
            blacklisted: BySource::new(),
        }
    }

    /// Clears the blacklist if an interval has ended by `now`.
    fn clear(&mut self, now: Cycle) -> Changes {
        if now < self.next_clearing {
            return Changes::None;
        }
        let intervals = now.since(self.next_clearing).0 / self.clearing_interval.0 + 1;
        self.next_clearing += self.clearing_interval * intervals;
        let cleared = if self.blacklisted.0.is_empty() { Changes::None } else { Changes::All };
        self.blacklisted.0.clear();
        cleared
    }
}

impl Scheduler for Bliss {
    fn name(&self) -> &'static str {
        "bliss"
    }

    fn summary(&self) -> String {
        format!("bliss, threshold {}, cleared every {} clocks", self.threshold, self.clearing_interval)
    }

    fn about(&self) -> &'static str {
        "BLISS (Subramanian et al., ICCD 2014)"
    }

    fn settings(&self) -> &'static [Setting] {
        const {
            &[
                Setting::count(
                    "bliss_threshold",
                    (1, 1 << 30),
                    "consecutive reads of a source after which it is blacklisted (a workload is one source, which a \
                        blacklist does not reorder)",
                ),
                Setting::clocks("bliss_clearing_cycles", "clocks after which the blacklist is cleared"),
            ]
        }
    }

    fn values(&self) -> Vec<u64> {
        vec![self.threshold.into(), self.clearing_interval.0]
    }

    fn set_values(&mut self, values: &[u64]) {
        *self = Bliss::new(values[0] as u32, Cycles(values[1]));
    }

    #[inline]
    fn key(&self, access: &QueuedAccess, row: RowState) -> Key {
        let is_blacklisted = || self.blacklisted.get(access.source()).copied().unwrap_or(false);
        let is_preferred = access.kind() == AccessKind::Write || !is_blacklisted();
        Key::EQUAL.first_if(is_preferred).first_if(row.is_hit)
    }

    fn copy_key(&self, _: SourceId) -> Key {
        Key::EQUAL.first_if(true).first_if(false)
    }

    fn best_key(&self, row: RowState) -> Key {
        Key::EQUAL.first_if(true).first_if(row.is_hit)
    }

    fn serve(&mut self, service: &Service<'_>) -> Changes {
        let cleared = self.clear(service.at);
        let Some(read) = service.completed_read() else { return cleared };
        let source = read.source();
        if self.last_source != Some(source) {
            (self.last_source, self.consecutive) = (Some(source), 0);
        }
        self.consecutive += 1;
        if self.consecutive <= self.threshold {
            return cleared;
        }
        self.consecutive = 0;
        *self.blacklisted.entry(source) = true;
        Changes::All
    }

    fn update(&mut self, now: Cycle, _: Reads<'_>) -> Changes {
        self.clear(now)
    }

    fn next_update(&self) -> Cycle {
        // Without a blacklisted source there is nothing to clear; `update` advances the interval.
        if self.blacklisted.0.is_empty() { Cycle::NEVER } else { self.next_clearing }
    }
}
