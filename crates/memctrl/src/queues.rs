//! Read queue and write queue of a channel, by bank and by row.

use dram_spec::{BankIndex, BankSet, Column, Cycle, Cycles, PerBank, Row};

use crate::access::{AccessKind, LineAccess, Links, QueuedAccess, RowOutcome, Stamp};
use crate::stats::Depth;
use crate::stats::gauge::Gauge;

/// The queued accesses of one kind.
#[derive(Debug)]
struct Queue {
    /// Accesses of each bank.
    banks: PerBank<QueueList>,
    /// Banks with an access.
    pending: BankSet,
    queued: usize,
    /// Entries in use: queued and blocked accesses.
    entries: Gauge,
    /// Queued accesses for which a copy waits.
    awaited: usize,
    lines: LineFilter,
    /// Accesses by [`row_hash`]: those to a row, and rarely those to others.
    rows: Box<[QueueList; ROW_HASHES]>,
}

/// A list of queued accesses: the places in the pool of the oldest and the newest; [`NOWHERE`] if it
/// is empty.
#[derive(Clone, Copy, Debug)]
struct QueueList {
    oldest: u16,
    newest: u16,
}

/// No place of the pool.
const NOWHERE: u16 = u16::MAX;

impl QueueList {
    const EMPTY: QueueList = QueueList { oldest: NOWHERE, newest: NOWHERE };

    /// Links the access at a place of the pool behind the newest. `links` are those of this list.
    #[inline]
    fn push(&mut self, pool: &mut [QueuedAccess], place: u16, links: impl Fn(&mut QueuedAccess) -> &mut Links) {
        let before = std::mem::replace(&mut self.newest, place);
        match pool.get_mut(usize::from(before)) {
            Some(before) => links(before).after = place,
            None => self.oldest = place,
        }
        *links(&mut pool[usize::from(place)]) = Links { before, after: NOWHERE };
    }

    /// Removes an access with these links.
    #[inline]
    fn remove(&mut self, pool: &mut [QueuedAccess], of: Links, links: impl Fn(&mut QueuedAccess) -> &mut Links) {
        match pool.get_mut(usize::from(of.before)) {
            Some(before) => links(before).after = of.after,
            None => self.oldest = of.after,
        }
        match pool.get_mut(usize::from(of.after)) {
            Some(after) => links(after).before = of.before,
            None => self.newest = of.before,
        }
    }
}

/// Counts of lines by [`line_hash`]; a count of 0 proves that a line is not queued.
type LineFilter = [u16; 1 << u8::BITS];

/// Hash of a line's location on its channel.
#[inline]
pub(crate) const fn line_hash(bank: BankIndex, row: Row, column: Column) -> u8 {
    ((row.0 << 3 ^ row.0 >> 5) as usize ^ column.0 as usize ^ bank.get() << 5) as u8
}

/// Values of [`row_hash`]: several per entry of large queues, so that few rows share a list.
const ROW_HASHES: usize = 1 << 12;

/// Hash of a row on its channel.
#[inline]
const fn row_hash(bank: BankIndex, row: Row) -> usize {
    (row.0 as usize ^ row.0 as usize >> 12 ^ bank.get() << 6) % ROW_HASHES
}

/// The read queue and the write queue.
#[derive(Debug)]
pub struct Queues {
    /// Queues of reads and of writes.
    sides: [Queue; 2],
    /// Queued accesses, each at a place of its own.
    pool: Vec<QueuedAccess>,
    /// The first of the free places of the pool, of which each leads to the next.
    free: u16,
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

impl Queue {
    fn new() -> Queue {
        Queue {
            banks: PerBank::new(QueueList::EMPTY),
            pending: BankSet::EMPTY,
            queued: 0,
            entries: Gauge::default(),
            awaited: 0,
            lines: [0; 1 << u8::BITS],
            rows: Box::new([QueueList::EMPTY; ROW_HASHES]),
        }
    }
}

impl Queues {
    /// Maximum number of entries of both queues of a channel together.
    pub const CAPACITY: usize = u16::MAX as usize;

    pub(crate) fn new() -> Queues {
        let (sides, stamped) = ([Queue::new(), Queue::new()], (Cycle::ZERO, 0));
        Queues { sides, pool: Vec::new(), free: NOWHERE, stamped }
    }

    #[inline]
    fn side(&self, kind: AccessKind) -> &Queue {
        &self.sides[kind as usize]
    }

    #[inline]
    fn side_mut(&mut self, kind: AccessKind) -> &mut Queue {
        &mut self.sides[kind as usize]
    }

    /// Accesses of a kind in a bank, oldest first, with their places in the pool.
    #[inline]
    pub(crate) fn in_bank(&self, kind: AccessKind, bank: BankIndex) -> impl Iterator<Item = (u16, &QueuedAccess)> {
        chain(&self.pool, self.list(kind, bank).oldest, |access| access.in_bank.after)
    }

    /// The accesses of a kind to a row, the oldest first, with their places.
    #[inline]
    fn to_row(&self, kind: AccessKind, bank: BankIndex, row: Row) -> impl Iterator<Item = (u16, &QueuedAccess)> {
        let oldest = self.side(kind).rows[row_hash(bank, row)].oldest;
        let accesses = chain(&self.pool, oldest, |access| access.in_row.after);
        accesses.filter(move |(_, access)| (access.bank(), access.row()) == (bank, row))
    }

    #[inline]
    fn list(&self, kind: AccessKind, bank: BankIndex) -> QueueList {
        self.side(kind).banks[bank]
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
        self.in_bank(kind, bank).count()
    }

    /// Entries of a kind in use.
    #[inline]
    pub(crate) fn entries(&self, kind: AccessKind) -> u64 {
        self.side(kind).entries.level()
    }

    /// Whether a copy waits for a queued access of a kind.
    #[inline]
    pub(crate) fn is_any_awaited(&self, kind: AccessKind) -> bool {
        self.side(kind).awaited > 0
    }

    /// Takes an entry for an access that is queued or blocked.
    #[inline]
    pub(crate) fn take_entry(&mut self, kind: AccessKind, now: Cycle) {
        self.side_mut(kind).entries.enter(now);
    }

    /// Frees an entry from a cycle on.
    #[inline]
    pub(crate) fn free_entry(&mut self, kind: AccessKind, from: Cycle) {
        self.side_mut(kind).entries.leave(from);
    }

    /// Restarts the maxima of the entries in use.
    pub(crate) fn begin_epoch(&mut self) {
        self.sides.iter_mut().for_each(|side| side.entries.begin_epoch());
    }

    /// Use of the entries of a kind up to `now`, where its count restarts.
    pub(crate) fn take_depth(&mut self, kind: AccessKind, now: Cycle) -> Depth {
        self.side_mut(kind).entries.take(now)
    }

    /// Queues an access that has taken its entry; returns its place in the pool.
    #[inline]
    pub(crate) fn queue(&mut self, access: &LineAccess, now: Cycle) -> u16 {
        let order = if self.stamped.0 == now { self.stamped.1 } else { 0 };
        self.stamped = (now, order + 1);
        let LineAccess { kind, bank, row, filter, .. } = *access;
        let place = if self.free == NOWHERE { self.pool.len() as u16 } else { self.free };
        let side = &mut self.sides[kind as usize];
        side.lines[usize::from(filter)] += 1;
        side.queued += 1;
        side.pending.insert(bank);
        let queued = QueuedAccess::new(*access, Stamp::of_access(now, order));
        match self.pool.get_mut(usize::from(place)) {
            Some(free) => self.free = std::mem::replace(free, queued).in_bank.after,
            None => self.pool.push(queued),
        }
        side.banks[bank].push(&mut self.pool, place, |access| &mut access.in_bank);
        side.rows[row_hash(bank, row)].push(&mut self.pool, place, |access| &mut access.in_row);
        place
    }

    /// Removes an access served at `at`, and frees its entry. The access remains at its place of the
    /// pool until another is queued.
    #[inline]
    pub(crate) fn remove(&mut self, place: u16, at: Cycle) {
        let &QueuedAccess { access: LineAccess { kind, bank, row, filter, .. }, in_bank, in_row, is_awaited, .. } =
            self.get(place);
        let side = &mut self.sides[kind as usize];
        side.banks[bank].remove(&mut self.pool, in_bank, |access| &mut access.in_bank);
        side.rows[row_hash(bank, row)].remove(&mut self.pool, in_row, |access| &mut access.in_row);
        side.pending.set(bank, side.banks[bank].oldest != NOWHERE);
        side.queued -= 1;
        side.entries.leave(at + Cycles(1));
        side.lines[usize::from(filter)] -= 1;
        side.awaited -= usize::from(is_awaited);
        self.pool[usize::from(place)].in_bank.after = std::mem::replace(&mut self.free, place);
    }

    /// The access at a place of the pool.
    #[inline]
    pub(crate) fn get(&self, place: u16) -> &QueuedAccess {
        &self.pool[usize::from(place)]
    }

    /// Records that a row command was issued for the access at a place of the pool.
    #[inline]
    pub(crate) fn note_row_command(&mut self, place: u16, at: Cycle, outcome: RowOutcome) {
        let access = &mut self.pool[usize::from(place)];
        access.row = access.row.max(outcome);
        access.first_command = access.first_command.min(at);
    }

    /// The oldest access of a kind to a row, with its place in the pool.
    #[inline]
    pub(crate) fn first_to_row(&self, kind: AccessKind, bank: BankIndex, row: Row) -> Option<(u16, &QueuedAccess)> {
        self.to_row(kind, bank, row).next()
    }

    /// The oldest access of a kind in a bank.
    pub(crate) fn oldest(&self, kind: AccessKind, bank: BankIndex) -> Option<&QueuedAccess> {
        self.in_bank(kind, bank).next().map(|(_, access)| access)
    }

    /// The oldest access in some banks, read or write.
    pub(crate) fn oldest_in(&self, banks: BankSet) -> Option<&QueuedAccess> {
        let kinds = [AccessKind::Read, AccessKind::Write].into_iter();
        let pending =
            kinds.flat_map(|kind| self.pending(kind).intersection(banks).into_iter().map(move |bank| (kind, bank)));
        let oldest = pending.filter_map(|(kind, bank)| self.oldest(kind, bank));
        oldest.min_by_key(|access| access.stamp())
    }

    /// Whether an access other than the one at a place of the pool is queued to a row.
    pub(crate) fn has_other(&self, bank: BankIndex, place: u16, row: Row) -> bool {
        let mut kinds = [AccessKind::Read, AccessKind::Write].into_iter();
        kinds.any(|kind| self.to_row(kind, bank, row).any(|(other, _)| other != place))
    }

    /// Whether any access is queued to a row.
    pub(crate) fn has_any(&self, bank: BankIndex, row: Row) -> bool {
        let mut kinds = [AccessKind::Read, AccessKind::Write].into_iter();
        kinds.any(|kind| self.first_to_row(kind, bank, row).is_some())
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
        let newest = self.side(kind).rows[row_hash(bank, row)].newest;
        let mut accesses = chain(&self.pool, newest, |access| access.in_row.before).map(|(_, access)| access);
        accesses.find(|access| (access.bank(), access.row(), access.column()) == (bank, row, column))
    }

    /// All queued accesses of a kind, by bank; the oldest of a bank first.
    pub(crate) fn of_kind(&self, kind: AccessKind) -> impl Iterator<Item = &QueuedAccess> {
        self.side(kind).pending.into_iter().flat_map(move |bank| self.in_bank(kind, bank)).map(|(_, access)| access)
    }

    /// Records that a copy waits for the access queued last in a bank.
    pub(crate) fn await_newest(&mut self, kind: AccessKind, bank: BankIndex) {
        self.await_one(kind, self.list(kind, bank).newest);
    }

    fn await_one(&mut self, kind: AccessKind, place: u16) {
        let is_known = std::mem::replace(&mut self.pool[usize::from(place)].is_awaited, true);
        self.side_mut(kind).awaited += usize::from(!is_known);
    }

    /// Marks the queued accesses for which a copy waits; returns their number.
    pub(crate) fn await_where(&mut self, kind: AccessKind, conflicts: impl Fn(&QueuedAccess) -> bool) -> usize {
        let banks = self.side(kind).pending.into_iter();
        let accesses = banks.flat_map(|bank| self.in_bank(kind, bank));
        let found: Vec<u16> = accesses.filter(|(_, access)| conflicts(access)).map(|(place, _)| place).collect();
        for &place in &found {
            self.await_one(kind, place);
        }
        found.len()
    }
}

/// The access at a place of the pool and those that `next` leads to, with their places.
#[inline]
fn chain(
    pool: &[QueuedAccess],
    place: u16,
    next: impl Fn(&QueuedAccess) -> u16,
) -> impl Iterator<Item = (u16, &QueuedAccess)> {
    let mut place = place;
    std::iter::from_fn(move || {
        let access = pool.get(usize::from(place))?;
        Some((std::mem::replace(&mut place, next(access)), access))
    })
}

#[cfg(test)]
mod tests;
