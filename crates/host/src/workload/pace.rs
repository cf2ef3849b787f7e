//! When requests arrive that wait for nothing.

use dram_spec::Cycle;

use super::gap::{Gap, Gaps};

/// Arrivals that lie so far apart, or follow each other as fast as they are taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    gaps: Gaps,
    next: Cycle,
}

impl Pace {
    /// From cycle 0.
    pub(super) const fn new(gap: Gap) -> Pace {
        Pace { gaps: Gaps::new(gap), next: Cycle::ZERO }
    }

    /// When the next may be taken.
    pub(super) const fn next(&self) -> Cycle {
        self.next
    }

    /// When the one arrived that is taken now. Without a gap that is now: it has not waited for anybody before.
    pub(super) fn arrive(&mut self, now: Cycle) -> Cycle {
        if self.gaps.are_zero() {
            return now;
        }
        let arrival = self.next;
        self.next += self.gaps.next();
        arrival
    }
}
