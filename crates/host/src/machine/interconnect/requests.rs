//! Requests on their way to the controller.

use std::collections::VecDeque;
use std::sync::Arc;

use dram_spec::{Operation, PhysicalAddress};

use super::super::clock::CoreCycle;

/// Who makes a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requester {
    /// The core that makes it, or on whose behalf a device makes it.
    pub core: usize,
    /// The device, if one makes it.
    pub device: Option<usize>,
}

impl Requester {
    /// A core.
    pub const fn core(core: usize) -> Requester {
        Requester { core, device: None }
    }
}

/// A request that the controller has not accepted.
#[derive(Debug)]
pub struct Outgoing {
    /// The cycle in which it leaves; once it is taken, that of its arrival at the controller.
    pub at: CoreCycle,
    /// Number in the order in which requests are made.
    pub number: u64,
    /// The request.
    pub operation: Operation,
    /// Data of a write, where contents are modeled.
    pub payload: Option<Arc<[u8]>>,
    /// The core of its [`Requester`]. Both parts are short because requests are moved several times.
    pub core: u16,
    /// The device of its [`Requester`].
    pub device: Option<u16>,
    /// The entry that it occupies.
    pub holds: HeldEntry,
}

/// Entry of its core that a request occupies until the controller accepts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldEntry {
    /// None.
    Nothing,
    /// An entry of the store buffer.
    StoreEntry,
    /// An entry of the store buffer: the write-back made room for a store of a whole line without fetch.
    EntryOfVictim,
    /// An entry of the write buffer.
    WriteEntry,
}

/// Requests by cycle; those of a cycle keep the order in which they were added.
#[derive(Debug)]
pub(super) struct OutgoingRequests {
    queue: VecDeque<Outgoing>,
    /// Cycle of the first request; [`CoreCycle::NEVER`] without requests.
    first: CoreCycle,
}

impl OutgoingRequests {
    /// No requests.
    pub(super) const fn new() -> OutgoingRequests {
        OutgoingRequests { queue: VecDeque::new(), first: CoreCycle::NEVER }
    }

    /// Adds a request.
    #[inline]
    pub(super) fn add(&mut self, outgoing: Outgoing) {
        self.first = self.first.min(outgoing.at);
        // Most requests come last.
        if self.queue.back().is_none_or(|last| last.at <= outgoing.at) {
            self.queue.push_back(outgoing);
        } else {
            self.insert(outgoing);
        }
    }

    #[inline(never)]
    fn insert(&mut self, outgoing: Outgoing) {
        let place = self.queue.partition_point(|other| other.at <= outgoing.at);
        self.queue.insert(place, outgoing);
    }

    /// Cycle of the first request; [`CoreCycle::NEVER`] without requests.
    #[inline]
    pub(super) const fn first(&self) -> CoreCycle {
        self.first
    }

    /// The first request.
    pub(super) fn front(&self) -> Option<&Outgoing> {
        self.queue.front()
    }

    /// Takes the write-back of a line of some bytes, if it is among the requests after a cycle, or among all of them.
    pub(super) fn take_write_back(
        &mut self,
        address: PhysicalAddress,
        bytes: u64,
        after: Option<CoreCycle>,
    ) -> Option<Outgoing> {
        let is_write_back = |outgoing: &Outgoing| {
            let is_of_core =
                outgoing.device.is_none() && matches!(outgoing.holds, HeldEntry::Nothing | HeldEntry::EntryOfVictim);
            let is_later = after.is_none_or(|after| outgoing.at > after);
            is_of_core && is_later && outgoing.operation == Operation::Write { address, bytes }
        };
        let place = self.queue.iter().position(is_write_back)?;
        let outgoing = self.queue.remove(place);
        self.update_first();
        outgoing
    }

    /// Takes the first request if its cycle is at most `until`.
    #[inline]
    pub(super) fn take(&mut self, until: CoreCycle) -> Option<Outgoing> {
        if self.first > until {
            return None;
        }
        let outgoing = self.queue.pop_front();
        self.update_first();
        outgoing
    }

    fn update_first(&mut self) {
        self.first = self.front().map_or(CoreCycle::NEVER, |first| first.at);
    }
}
