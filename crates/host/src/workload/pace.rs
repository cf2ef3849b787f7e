//! Arrivals of requests that wait for no completion.

use dram_spec::Cycle;

use super::gap::{Gap, Gaps};

/// A sequence of arrivals with a fixed gap, or as fast as requests are taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    gaps: Gaps,
    next: Cycle,
}

impl Pace {
    /// Starts at cycle 0.
    pub(super) const fn new(gap: Gap) -> Pace {
        Pace { gaps: Gaps::new(gap), next: Cycle::ZERO }
    }

    /// Earliest cycle at which the next request may be taken.
    pub(super) const fn next(&self) -> Cycle {
        self.next
    }

    /// Arrival of the request that is taken now; without a gap, its acceptance.
    pub(super) fn arrive(&mut self) -> Option<Cycle> {
        if self.gaps.are_zero() {
            return None;
        }
        let arrival = self.next;
        self.next += self.gaps.next();
        Some(arrival)
    }
}
