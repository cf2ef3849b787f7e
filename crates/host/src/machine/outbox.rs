//! Requests on their way from the cores to the controller.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use rowclone::Operation;

use super::clock::CoreCycle;

/// A request that the controller has not accepted.
#[derive(Debug)]
pub(super) struct Outgoing {
    /// Arrival at the controller.
    pub(super) at: CoreCycle,
    /// Number in the order in which requests are made.
    pub(super) number: u64,
    pub(super) core: usize,
    pub(super) operation: Operation,
    pub(super) payload: Option<Arc<[u8]>>,
    /// Whether it occupies a store buffer entry.
    pub(super) holds_store_entry: bool,
}

impl Outgoing {
    const fn key(&self) -> (CoreCycle, u64) {
        (self.at, self.number)
    }
}

impl PartialEq for Outgoing {
    fn eq(&self, other: &Outgoing) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Outgoing {}

impl PartialOrd for Outgoing {
    fn partial_cmp(&self, other: &Outgoing) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Outgoing {
    fn cmp(&self, other: &Outgoing) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// Requests by arrival; requests that arrive together keep the order in which they were made.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    requests: BinaryHeap<Reverse<Outgoing>>,
    made: u64,
}

impl Outbox {
    /// Sends a request that arrives at a cycle.
    pub(super) fn send(
        &mut self,
        core: usize,
        at: CoreCycle,
        operation: Operation,
        payload: Option<Arc<[u8]>>,
        holds_store_entry: bool,
    ) {
        let number = self.made;
        self.made += 1;
        self.requests.push(Reverse(Outgoing { at, number, core, operation, payload, holds_store_entry }));
    }

    /// Arrival of the first request.
    pub(super) fn first(&self) -> Option<CoreCycle> {
        self.requests.peek().map(|Reverse(first)| first.at)
    }

    /// Takes the first request if it has arrived by `now`.
    pub(super) fn take(&mut self, now: CoreCycle) -> Option<Outgoing> {
        self.first().filter(|&at| at <= now)?;
        self.requests.pop().map(|Reverse(first)| first)
    }
}
