//! Miss status holding registers: the lines that a requester has requested from memory.

use super::level::Way;
use super::line::LineNumber;

/// Number of a line in flight among those of its requester: less than the number of its MSHRs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(pub usize);

/// A line requested from memory.
#[derive(Debug)]
pub(super) struct Mshr {
    line: LineNumber,
    pub(super) ticket: Ticket,
    /// Its way in the last-level cache, if it takes one.
    pub(super) way: Option<Way>,
}

/// The MSHRs of a requester.
#[derive(Debug)]
pub(super) struct Mshrs {
    used: Vec<Mshr>,
    free: Vec<Ticket>,
}

impl Mshrs {
    pub(super) fn new(count: usize) -> Mshrs {
        Mshrs { used: Vec::with_capacity(count), free: (0..count).rev().map(Ticket).collect() }
    }

    pub(super) fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    /// The ticket of a line in flight.
    pub(super) fn find(&self, line: LineNumber) -> Option<Ticket> {
        self.used.iter().find(|mshr| mshr.line == line).map(|mshr| mshr.ticket)
    }

    /// Takes an MSHR for a line.
    ///
    /// # Panics
    /// If none is free.
    pub(super) fn take(&mut self, line: LineNumber, way: Option<Way>) -> Ticket {
        let ticket = self.free.pop().expect("an MSHR is free");
        self.used.push(Mshr { line, ticket, way });
        ticket
    }

    /// Frees the MSHR of a line whose data are there.
    ///
    /// # Panics
    /// If the line was not requested.
    pub(super) fn complete(&mut self, line: LineNumber) -> Mshr {
        let place = self.used.iter().position(|mshr| mshr.line == line).expect("the line was requested");
        let mshr = self.used.swap_remove(place);
        self.free.push(mshr.ticket);
        mshr
    }
}
