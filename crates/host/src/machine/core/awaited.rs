//! Loads and stores that wait for the data of lines in flight.

use super::super::memory::Ticket;
use super::pipeline::EntryId;

/// Accesses that wait for one line.
#[derive(Debug, Default)]
struct Waiting {
    /// Window entries, with the cycles from the data to the results.
    loads: Vec<(EntryId, u64)>,
    /// In the store buffer.
    stores: usize,
}

/// The load queue, and the stores of the store buffer whose lines are in flight, by ticket.
#[derive(Debug)]
pub(super) struct Awaited {
    by_ticket: Box<[Waiting]>,
    /// Number of lines in flight.
    lines: usize,
}

impl Awaited {
    /// No accesses; tickets are less than `tickets`.
    pub(super) fn new(tickets: usize) -> Awaited {
        Awaited { by_ticket: (0..tickets).map(|_| Waiting::default()).collect(), lines: 0 }
    }

    /// Whether no line is in flight.
    pub(super) const fn is_empty(&self) -> bool {
        self.lines == 0
    }

    /// Adds a load with its window entry and the cycles from its data to its result, or else a store.
    pub(super) fn add(&mut self, ticket: Ticket, load: Option<(EntryId, u64)>) {
        let waiting = &mut self.by_ticket[ticket.0];
        self.lines += usize::from(waiting.loads.is_empty() && waiting.stores == 0);
        waiting.stores += usize::from(load.is_none());
        waiting.loads.extend(load);
    }

    /// Number of loads that wait.
    pub(super) fn loads(&self) -> usize {
        self.by_ticket.iter().map(|waiting| waiting.loads.len()).sum()
    }

    /// Removes the accesses to a line whose data are there; returns its loads, and the number of its
    /// stores.
    pub(super) fn complete(&mut self, ticket: Ticket) -> (impl Iterator<Item = (EntryId, u64)>, usize) {
        self.lines -= 1;
        let waiting = &mut self.by_ticket[ticket.0];
        (waiting.loads.drain(..), std::mem::take(&mut waiting.stores))
    }
}
