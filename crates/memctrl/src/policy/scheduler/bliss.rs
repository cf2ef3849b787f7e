//! The blacklisting scheduler.

use dram_spec::{Cycle, Cycles, SourceId};

use super::{BySource, Changes, Parameter, Priority, Reads, RowState, Scheduler, write_order};
use crate::access::{AccessKind, QueuedAccess};

/// BLISS: a source with many consecutive reads served is blacklisted for a period. Reads of other
/// sources have the highest priority, then row hits, then the oldest access.
///
/// The count of consecutive reads starts at 0 when the source changes, and each read served adds 1. A source whose count exceeds the
/// threshold is blacklisted, and the count is cleared. So with the threshold 4 the fifth consecutive read blacklists its source; the
/// paper's text leaves open whether the fourth does. The blacklist is cleared every `clearing_interval`. Writes are
/// ordered as under FR-FCFS.
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
    /// Name in the configuration.
    pub const NAME: &str = "bliss";
    /// The paper's threshold, in consecutive reads.
    pub const THRESHOLD: u32 = 4;
    /// The paper's interval, in memory clocks.
    pub const CLEARING_INTERVAL: Cycles = Cycles(10_000);

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
}

impl Bliss {
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

impl Default for Bliss {
    fn default() -> Bliss {
        Bliss::new(Bliss::THRESHOLD, Bliss::CLEARING_INTERVAL)
    }
}

impl Scheduler for Bliss {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn summary(&self) -> String {
        format!("bliss, threshold {}, cleared every {} clocks", self.threshold, self.clearing_interval)
    }

    fn parameters(&self) -> Vec<Parameter> {
        let (threshold, interval) = (self.threshold.into(), self.clearing_interval.0);
        vec![
            Parameter { name: "bliss_threshold", value: threshold, least: 1, most: 1 << 30 },
            Parameter { name: "bliss_clearing_cycles", value: interval, least: 1, most: 1 << 40 },
        ]
    }

    fn clone_box(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }

    fn priority(&self, access: &QueuedAccess, row: RowState) -> Priority {
        write_order(access, row).unwrap_or_else(|| {
            let is_blacklisted = self.blacklisted.get(access.source()).copied().unwrap_or(false);
            Priority::new(row.is_hit, access.stamp()).with_class(is_blacklisted.into())
        })
    }

    fn served(&mut self, access: &QueuedAccess, now: Cycle) -> Changes {
        let cleared = self.clear(now);
        if access.kind() == AccessKind::Write {
            return cleared;
        }
        let source = access.source();
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
