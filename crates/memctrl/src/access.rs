//! One line of a read or of a write on its way to DRAM, and the slab that holds all of them.

use std::ops::{Index, IndexMut};

use dram_spec::{AutoPrecharge, BankId, Channel, Column, Command, Cycle, Location, PhysicalAddress, Row};

use crate::slots::Slots;

/// Reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read = 0,
    Write = 1,
}

impl Kind {
    pub(crate) const BOTH: [Kind; 2] = [Kind::Read, Kind::Write];

    pub(crate) fn command(self, bank: BankId, column: Column, auto_precharge: AutoPrecharge) -> Command {
        match self {
            Kind::Read => Command::Read { bank, column, auto_precharge },
            Kind::Write => Command::Write { bank, column, auto_precharge },
        }
    }
}

/// A place in the slab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(u32);

impl Entry {
    /// No entry.
    pub(crate) const NONE: Entry = Entry(u32::MAX);

    pub(crate) fn is_some(self) -> bool {
        self != Entry::NONE
    }
}

/// An access.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) kind: Kind,
    /// The slot of its request.
    pub(crate) request: u32,
    /// The line's first byte.
    pub(crate) line: PhysicalAddress,
    pub(crate) channel: Channel,
    pub(crate) bank: BankId,
    pub(crate) row: Row,
    pub(crate) column: Column,
    /// Its sequence number, once it is queued.
    pub(crate) number: u64,
    /// When it was queued.
    pub(crate) queued: Cycle,
    /// Whether a PRE, and whether an ACT, was issued for it.
    pub(crate) closed: bool,
    pub(crate) opened: bool,
    /// Whether it waits for jobs, and in no bank.
    pub(crate) blocked: bool,
    /// The slots of the jobs that wait for it.
    pub(crate) waiters: Vec<u32>,
    /// Neighbours in its bank, by age.
    pub(crate) older: Entry,
    pub(crate) younger: Entry,
    /// The next access to the same row.
    pub(crate) next_of_row: Entry,
}

impl Access {
    pub(crate) fn new(kind: Kind, request: u32, line: PhysicalAddress, place: Location) -> Access {
        Access {
            kind,
            request,
            line,
            channel: place.channel,
            bank: place.bank,
            row: place.row,
            column: place.column,
            number: 0,
            queued: Cycle::ZERO,
            closed: false,
            opened: false,
            blocked: false,
            waiters: Vec::new(),
            older: Entry::NONE,
            younger: Entry::NONE,
            next_of_row: Entry::NONE,
        }
    }

    /// Where it lies.
    pub(crate) fn place(&self) -> Location {
        let Access { channel, bank, row, column, .. } = *self;
        Location { channel, bank, row, column, offset: 0 }
    }
}

/// All accesses that hold an entry of some queue.
#[derive(Debug, Default)]
pub(crate) struct Accesses(Slots<Access>);

impl Accesses {
    pub(crate) fn insert(&mut self, access: Access) -> Entry {
        Entry(self.0.insert(access))
    }

    pub(crate) fn remove(&mut self, entry: Entry) -> Access {
        self.0.remove(entry.0)
    }

    /// All of them, in no order.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Access> {
        self.0.iter_mut()
    }
}

impl Index<Entry> for Accesses {
    type Output = Access;
    fn index(&self, entry: Entry) -> &Access {
        &self.0[entry.0]
    }
}

impl IndexMut<Entry> for Accesses {
    fn index_mut(&mut self, entry: Entry) -> &mut Access {
        &mut self.0[entry.0]
    }
}
