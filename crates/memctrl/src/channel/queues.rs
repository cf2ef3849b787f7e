//! Read queue and write queue of a channel, by bank.

use dram_spec::{BankIndex, BankSet, Column, Cycle, Row};

use super::access::{Access, AccessKind, QueuedAccess, Stamp};
use crate::policy::scheduler::{BankAccesses, Priority, RowState, Scheduler};

/// The queued accesses of one kind.
#[derive(Debug)]
struct Queue {
    /// Places in the pool of each bank's accesses, oldest first.
    banks: Box<[Vec<u16>]>,
    /// Banks with an access.
    pending: BankSet,
    queued: usize,
    /// Entries in use: queued and blocked accesses.
    entries: usize,
    /// Queued accesses for which a copy waits.
    awaited: usize,
    lines: LineFilter,
}

/// Counts of lines by [`line_hash`]; a count of 0 proves that a line is not queued.
type LineFilter = Box<[u16; 1 << u8::BITS]>;

/// Hash of a line's location on its channel.
#[inline]
pub(crate) const fn line_hash(bank: BankIndex, row: Row, column: Column) -> u8 {
    ((row.0 << 3 ^ row.0 >> 5) as usize ^ column.0 as usize ^ bank.get() << 5) as u8
}

/// The read queue and the write queue.
#[derive(Debug)]
pub struct Queues {
    /// Queues of reads and of writes.
    sides: [Queue; 2],
    /// Queued accesses, each at a place of its own.
    pool: Vec<QueuedAccess>,
    /// Free places of the pool.
    free: Vec<u16>,
    /// Cycle of the last stamp, and number of accesses queued in it.
    stamped: (Cycle, u64),
}

/// Selection of a bank's accesses, and the state of its row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    /// Open row.
    pub(crate) open: Option<Row>,
    /// Number of accesses that it has served.
    pub(crate) served: u32,
    /// Whether only accesses to the open row are selected.
    pub(crate) only_hits: bool,
}

/// The access preferred by a scheduler.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Preferred {
    pub(crate) priority: Priority,
    /// Place in the pool.
    pub(crate) place: u16,
    /// Position in the queue of its bank.
    pub(crate) position: u16,
}

impl Queue {
    fn new(banks: usize) -> Queue {
        Queue {
            banks: vec![Vec::new(); banks].into(),
            pending: BankSet::EMPTY,
            queued: 0,
            entries: 0,
            awaited: 0,
            lines: Box::new([0; 1 << u8::BITS]),
        }
    }
}

impl Queues {
    /// Maximum number of entries of both queues of a channel together.
    pub const CAPACITY: usize = u16::MAX as usize;

    pub(crate) fn new(banks: usize) -> Queues {
        let (pool, free) = (Vec::new(), Vec::new());
        Queues { sides: [Queue::new(banks), Queue::new(banks)], pool, free, stamped: (Cycle::ZERO, 0) }
    }

    #[inline]
    fn side(&self, kind: AccessKind) -> &Queue {
        &self.sides[kind as usize]
    }

    #[inline]
    fn side_mut(&mut self, kind: AccessKind) -> &mut Queue {
        &mut self.sides[kind as usize]
    }

    /// Queued accesses of a kind in a bank, oldest first.
    #[inline]
    fn in_bank(&self, kind: AccessKind, bank: BankIndex) -> impl DoubleEndedIterator<Item = &QueuedAccess> {
        self.side(kind).banks[bank.get()].iter().map(|&place| &self.pool[usize::from(place)])
    }

    /// Banks with a queued access of a kind.
    #[inline]
    pub(crate) fn pending(&self, kind: AccessKind) -> BankSet {
        self.side(kind).pending
    }

    /// Number of queued accesses of a kind.
    #[inline]
    pub(crate) fn queued(&self, kind: AccessKind) -> usize {
        self.side(kind).queued
    }

    /// Number of queued accesses of a kind in a bank.
    pub(crate) fn queued_in(&self, kind: AccessKind, bank: BankIndex) -> usize {
        self.side(kind).banks[bank.get()].len()
    }

    /// Entries of a kind in use.
    #[inline]
    pub(crate) fn entries(&self, kind: AccessKind) -> usize {
        self.side(kind).entries
    }

    /// Whether a copy waits for a queued access of a kind.
    #[inline]
    pub(crate) fn is_any_awaited(&self, kind: AccessKind) -> bool {
        self.side(kind).awaited > 0
    }

    /// Takes an entry for an access that is queued or blocked.
    #[inline]
    pub(crate) fn take_entry(&mut self, kind: AccessKind) {
        self.side_mut(kind).entries += 1;
    }

    /// Frees an entry.
    #[inline]
    pub(crate) fn free_entry(&mut self, kind: AccessKind) {
        self.side_mut(kind).entries -= 1;
    }

    /// Queues an access that has taken its entry.
    #[inline]
    pub(crate) fn queue(&mut self, access: &Access, now: Cycle) -> &QueuedAccess {
        let order = if self.stamped.0 == now { self.stamped.1 } else { 0 };
        self.stamped = (now, order + 1);
        let Access { kind, bank, filter, .. } = *access;
        let queued = QueuedAccess::new(access, Stamp::of_access(now, order));
        let place = if let Some(place) = self.free.pop() {
            self.pool[usize::from(place)] = queued;
            place
        } else {
            self.pool.push(queued);
            u16::try_from(self.pool.len() - 1).expect("the queues fit the pool")
        };
        let side = self.side_mut(kind);
        side.lines[usize::from(filter)] += 1;
        side.queued += 1;
        side.pending.insert(bank);
        side.banks[bank.get()].push(place);
        &self.pool[usize::from(place)]
    }

    /// Removes a served access and frees its entry. The access remains at its place of the pool
    /// until another is queued.
    #[inline]
    pub(crate) fn remove(&mut self, kind: AccessKind, bank: BankIndex, position: u16) -> u16 {
        let side = self.side_mut(kind);
        let queue = &mut side.banks[bank.get()];
        let place = queue.remove(usize::from(position));
        if queue.is_empty() {
            side.pending.remove(bank);
        }
        side.queued -= 1;
        side.entries -= 1;
        let access = &self.pool[usize::from(place)];
        let (filter, is_awaited) = (access.filter, access.is_awaited);
        let side = self.side_mut(kind);
        side.lines[usize::from(filter)] -= 1;
        side.awaited -= usize::from(is_awaited);
        self.free.push(place);
        place
    }

    /// The access at a place of the pool.
    #[inline]
    pub(crate) fn get(&self, place: u16) -> &QueuedAccess {
        &self.pool[usize::from(place)]
    }

    /// Records a row command for the access at a place of the pool.
    #[inline]
    pub(crate) fn note_row_command(&mut self, place: u16, at: Cycle, opens: bool) {
        let access = &mut self.pool[usize::from(place)];
        access.row_commands.activated |= opens;
        access.row_commands.precharged |= !opens;
        access.first_command = access.first_command.min(at);
    }

    /// The access of a kind in a bank that the scheduler prefers.
    #[inline]
    pub(crate) fn preferred(
        &self,
        kind: AccessKind,
        bank: BankIndex,
        rows: Rows,
        scheduler: &dyn Scheduler,
    ) -> Option<Preferred> {
        let places = &self.side(kind).banks[bank.get()];
        // With a single access, the call of the scheduler is omitted.
        if let [place] = places[..] {
            let access = self.get(place);
            let row = RowState { is_hit: rows.open == Some(access.row()), served: rows.served };
            let counts = row.is_hit || !rows.only_hits;
            return counts.then(|| Preferred { priority: scheduler.priority(access, row), place, position: 0 });
        }
        let (priority, position) = scheduler.preferred(BankAccesses { places, pool: &self.pool, rows })?;
        Some(Preferred { priority, place: places[usize::from(position)], position })
    }

    /// The oldest access of a kind in a bank.
    pub(crate) fn oldest(&self, kind: AccessKind, bank: BankIndex) -> Option<&QueuedAccess> {
        self.in_bank(kind, bank).next()
    }

    /// Whether an access other than the one at a place of the pool is queued to a row.
    pub(crate) fn has_other(&self, bank: BankIndex, place: u16, row: Row) -> bool {
        [AccessKind::Read, AccessKind::Write].into_iter().any(|kind| {
            let mut places = self.side(kind).banks[bank.get()].iter();
            places.any(|&other| other != place && self.pool[usize::from(other)].row() == row)
        })
    }

    /// Whether any access is queued to a row.
    pub(crate) fn has_any(&self, bank: BankIndex, row: Row) -> bool {
        let mut kinds = [AccessKind::Read, AccessKind::Write].into_iter();
        kinds.any(|kind| self.in_bank(kind, bank).any(|access| access.row() == row))
    }

    /// Whether an access of a kind to a line with this hash may be queued; `false` is certain.
    #[inline]
    pub(crate) fn may_hold(&self, kind: AccessKind, hash: u8) -> bool {
        self.side(kind).lines[usize::from(hash)] > 0
    }

    /// The newest queued access of a kind to a line.
    pub(crate) fn newest_of_line(
        &self,
        kind: AccessKind,
        bank: BankIndex,
        row: Row,
        column: Column,
    ) -> Option<&QueuedAccess> {
        self.in_bank(kind, bank).rev().find(|access| (access.row(), access.column()) == (row, column))
    }

    /// All queued accesses of a kind, by bank; the oldest of a bank first.
    pub(crate) fn of_kind(&self, kind: AccessKind) -> impl Iterator<Item = &QueuedAccess> {
        self.side(kind).pending.into_iter().flat_map(move |bank| self.in_bank(kind, bank))
    }

    /// Records that a copy waits for the access queued last in a bank.
    pub(crate) fn await_newest(&mut self, kind: AccessKind, bank: BankIndex) {
        let place = self.side(kind).banks[bank.get()].last().copied().expect("it was just queued");
        self.await_one(kind, place);
    }

    fn await_one(&mut self, kind: AccessKind, place: u16) {
        let is_known = std::mem::replace(&mut self.pool[usize::from(place)].is_awaited, true);
        self.side_mut(kind).awaited += usize::from(!is_known);
    }

    /// Marks the queued accesses for which a copy waits; returns their number.
    pub(crate) fn await_where(&mut self, kind: AccessKind, conflicts: impl Fn(&QueuedAccess) -> bool) -> usize {
        let places = self.side(kind).pending.into_iter().flat_map(|bank| &self.side(kind).banks[bank.get()]);
        let found: Vec<u16> = places.copied().filter(|&place| conflicts(self.get(place))).collect();
        for &place in &found {
            self.await_one(kind, place);
        }
        found.len()
    }
}

#[cfg(test)]
mod tests;
