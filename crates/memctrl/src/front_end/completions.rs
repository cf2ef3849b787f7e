//! Requests with a known completion cycle, until the requester takes them.

use std::collections::VecDeque;

use dram_spec::Cycle;

/// Slots of requests, by due cycle, then by order of acceptance.
#[derive(Debug, Default)]
pub(crate) struct Completions {
    queue: VecDeque<Due>,
    /// Number of requests that were delivered, which are the first.
    delivered: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at: Cycle,
    accepted: u64,
    slot: u32,
}

impl Completions {
    /// Adds a request that is due at a cycle.
    #[inline]
    pub(crate) fn push(&mut self, at: Cycle, accepted: u64, slot: u32) {
        let due = Due { at, accepted, slot };
        // Most requests are due last.
        if self.queue.back().is_none_or(|last| *last < due) {
            return self.queue.push_back(due);
        }
        self.insert(due);
    }

    #[inline(never)]
    fn insert(&mut self, due: Due) {
        let place = self.queue.partition_point(|other| *other < due);
        self.queue.insert(place, due);
    }

    /// Cycle at which the next request is due.
    #[inline]
    pub(crate) fn next_due(&self) -> Cycle {
        self.queue.get(self.delivered).map_or(Cycle::NEVER, |due| due.at)
    }

    /// Delivers the next request due by `now`.
    #[inline]
    pub(crate) fn deliver(&mut self, now: Cycle) -> Option<u32> {
        let due = self.queue.get(self.delivered).filter(|due| due.at <= now)?;
        self.delivered += 1;
        Some(due.slot)
    }

    /// Whether a delivered request is not taken.
    #[inline]
    pub(crate) fn has_delivered(&self) -> bool {
        self.delivered > 0
    }

    /// Takes the next delivered request.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<u32> {
        self.delivered = self.delivered.checked_sub(1)?;
        self.queue.pop_front().map(|due| due.slot)
    }
}

#[cfg(test)]
mod tests;
