//! Miss status holding registers: the lines that a requester has requested from memory.

use super::level::Way;
use super::line::LineNumber;

/// Number of a line in flight among those of its requester: less than the number of its MSHRs, those
/// of prefetches included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(pub usize);

/// Who uses the data of a line in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum User {
    /// Accesses wait for them. The line has this way in the last-level cache, if it takes one.
    Accesses(Option<Way>),
    /// None yet: a prefetch for the requester's caches from this level on.
    Prefetcher(u8),
    /// None any more: the line changed in memory while it was in flight.
    Stale,
}

/// A line requested from memory.
#[derive(Debug)]
pub(super) struct Mshr {
    line: LineNumber,
    pub(super) ticket: Ticket,
    pub(super) user: User,
}

/// The MSHRs of a requester. Prefetches have their own, so that an access lacks none because of them.
#[derive(Debug)]
pub(super) struct Mshrs {
    used: Vec<Mshr>,
    free: Vec<Ticket>,
    /// Those of prefetches.
    free_of_prefetches: Vec<Ticket>,
    /// Number of those of accesses.
    count: usize,
}

impl Mshrs {
    pub(super) fn new(count: usize, prefetches: usize) -> Mshrs {
        let tickets = |range: std::ops::Range<usize>| range.rev().map(Ticket).collect();
        let free_of_prefetches = tickets(count..count + prefetches);
        Mshrs { used: Vec::with_capacity(count), free: tickets(0..count), free_of_prefetches, count }
    }

    /// Number above all tickets, of which none is in use.
    pub(super) const fn tickets(&self) -> usize {
        self.free.len() + self.free_of_prefetches.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    /// Whether a line can be prefetched.
    pub(super) fn can_prefetch(&self) -> bool {
        !self.free_of_prefetches.is_empty()
    }

    /// The MSHR of a line in flight.
    pub(super) fn find(&mut self, line: LineNumber) -> Option<&mut Mshr> {
        self.used.iter_mut().find(|mshr| mshr.line == line)
    }

    /// The use of a line in flight.
    pub(super) fn user(&self, line: LineNumber) -> Option<User> {
        self.used.iter().find(|mshr| mshr.line == line).map(|mshr| mshr.user)
    }

    /// Takes an MSHR for a line.
    ///
    /// # Panics
    /// If none is free.
    pub(super) fn take(&mut self, line: LineNumber, user: User) -> Ticket {
        let free = if let User::Prefetcher(_) = user { &mut self.free_of_prefetches } else { &mut self.free };
        let ticket = free.pop().expect("an MSHR is free");
        self.used.push(Mshr { line, ticket, user });
        ticket
    }

    /// Frees the MSHR of a line whose data are there.
    ///
    /// # Panics
    /// If the line was not requested.
    pub(super) fn complete(&mut self, line: LineNumber) -> Mshr {
        let place = self.used.iter().position(|mshr| mshr.line == line).expect("the line was requested");
        let mshr = self.used.swap_remove(place);
        let free = if mshr.ticket.0 < self.count { &mut self.free } else { &mut self.free_of_prefetches };
        free.push(mshr.ticket);
        mshr
    }
}
