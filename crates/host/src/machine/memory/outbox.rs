//! Requests on their way from the cores to the controller.

use std::collections::VecDeque;
use std::sync::Arc;

use rowclone::Operation;

use super::super::clock::CoreCycle;

/// A request that the controller has not accepted.
#[derive(Debug)]
pub struct Outgoing {
    /// Arrival at the controller.
    pub at: CoreCycle,
    /// Number in the order in which requests are made.
    pub number: u64,
    /// The core that made it.
    pub core: usize,
    /// The request.
    pub operation: Operation,
    /// Data of a write, where contents are modeled.
    pub payload: Option<Arc<[u8]>>,
    /// The entry that it occupies.
    pub holds: Holds,
}

/// Entry of its core that a request occupies until the controller accepts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// None.
    Nothing,
    /// An entry of the store buffer.
    StoreEntry,
    /// An entry of the write buffer.
    WriteEntry,
}

/// Requests by arrival; requests that arrive together keep the order in which they were made.
#[derive(Debug, Default)]
pub struct Outbox {
    requests: VecDeque<Outgoing>,
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
        holds: Holds,
    ) {
        let number = self.made;
        self.made += 1;
        let outgoing = Outgoing { at, number, core, operation, payload, holds };
        // Most requests arrive last.
        if self.requests.back().is_none_or(|last| last.at <= at) {
            return self.requests.push_back(outgoing);
        }
        let place = self.requests.partition_point(|other| other.at <= at);
        self.requests.insert(place, outgoing);
    }

    /// Arrival of the first request; [`CoreCycle::NEVER`] without requests.
    #[inline]
    pub fn first(&self) -> CoreCycle {
        self.requests.front().map_or(CoreCycle::NEVER, |first| first.at)
    }

    /// Takes the first request if it has arrived by `now`.
    pub fn take(&mut self, now: CoreCycle) -> Option<Outgoing> {
        if self.first() <= now { self.requests.pop_front() } else { None }
    }
}
