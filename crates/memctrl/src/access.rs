//! One line of a read or of a write on its way to DRAM, and the slab that holds all of them.

use std::ops::{Index, IndexMut};

use dram_spec::{Cycle, PhysicalAddress};

use crate::done::Alone;
use crate::spot::Spot;

/// Reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read = 0,
    Write = 1,
}

impl Kind {
    pub(crate) fn other(self) -> Kind {
        match self {
            Kind::Read => Kind::Write,
            Kind::Write => Kind::Read,
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

/// The PRE and ACT that were issued for an access, in one word: the PRE above the ACT. (More than one of each are rare: a refresh, or a copy,
/// must have come between.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowCommands(u32);

impl RowCommands {
    const PRECHARGE_AT: u32 = 16;
    pub(crate) const NONE: RowCommands = RowCommands(0);

    pub(crate) fn activates(self) -> u16 {
        self.0 as u16
    }

    pub(crate) fn precharges(self) -> u16 {
        (self.0 >> RowCommands::PRECHARGE_AT) as u16
    }

    #[inline]
    pub(crate) fn activated(&mut self) {
        debug_assert!(self.activates() < u16::MAX, "more ACT than there is room for");
        self.0 += 1;
    }

    #[inline]
    pub(crate) fn precharged(&mut self) {
        self.0 += 1 << RowCommands::PRECHARGE_AT;
    }
}

/// An access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    /// The line's first byte.
    pub(crate) line: PhysicalAddress,
    /// Where it lies.
    pub(crate) spot: Spot,
    /// Its sequence number, once it is queued.
    pub(crate) number: u64,
    /// When it was queued.
    pub(crate) queued: Cycle,
    /// The slot of its request, or [`crate::done::ALONE`].
    pub(crate) request: u32,
    /// Its request, where it has no slot.
    pub(crate) alone: Alone,
    /// When a command was first issued for it; never, before there is one.
    pub(crate) first_command: Cycle,
    pub(crate) kind: Kind,
    pub(crate) row_commands: RowCommands,
    /// Whether it waits for jobs, and in no bank.
    pub(crate) blocked: bool,
    /// Whether jobs wait for it.
    pub(crate) waited_for: bool,
    /// The next access to the same row.
    pub(crate) next_of_row: Entry,
    /// Of the oldest to a row that is not open: the youngest, what comes next in the table of rows, and the oldest ones to the rows of
    /// its bank before and after it.
    pub(crate) youngest_of_row: Entry,
    pub(crate) next_row: Entry,
    pub(crate) older_row: Entry,
    pub(crate) younger_row: Entry,
}

impl Access {
    #[inline]
    pub(crate) fn new(kind: Kind, request: u32, alone: Alone, line: PhysicalAddress, spot: Spot) -> Access {
        Access {
            line,
            spot,
            number: 0,
            queued: Cycle::ZERO,
            request,
            alone,
            first_command: Cycle::NEVER,
            kind,
            row_commands: RowCommands::NONE,
            blocked: false,
            waited_for: false,
            next_of_row: Entry::NONE,
            youngest_of_row: Entry::NONE,
            next_row: Entry::NONE,
            older_row: Entry::NONE,
            younger_row: Entry::NONE,
        }
    }
}

/// All accesses that hold an entry of some queue.
#[derive(Debug, Default)]
pub(crate) struct Accesses {
    slots: Vec<Access>,
    free: Vec<Entry>,
}

impl Accesses {
    /// What `access` makes, where it will lie: it is then written once.
    #[inline]
    pub(crate) fn insert(&mut self, access: impl FnOnce() -> Access) -> Entry {
        let Some(entry) = self.free.pop() else { return self.insert_last(access()) };
        self[entry] = access();
        entry
    }

    /// The same where there is no place.
    #[cold]
    fn insert_last(&mut self, access: Access) -> Entry {
        self.slots.push(access);
        Entry(self.slots.len() as u32 - 1)
    }

    /// Its place may be used again; until then, it is still there.
    #[inline]
    pub(crate) fn remove(&mut self, entry: Entry) {
        self.free.push(entry);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.free.len() == self.slots.len()
    }

    /// Those in use, in the order of the slab.
    pub(crate) fn in_use(&self) -> Vec<Entry> {
        let mut used = vec![true; self.slots.len()];
        self.free.iter().for_each(|entry| used[entry.0 as usize] = false);
        (0..).map(Entry).zip(used).filter_map(|(entry, used)| used.then_some(entry)).collect()
    }
}

impl Index<Entry> for Accesses {
    type Output = Access;
    #[inline]
    fn index(&self, entry: Entry) -> &Access {
        &self.slots[entry.0 as usize]
    }
}

impl IndexMut<Entry> for Accesses {
    #[inline]
    fn index_mut(&mut self, entry: Entry) -> &mut Access {
        &mut self.slots[entry.0 as usize]
    }
}
