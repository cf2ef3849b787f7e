//! The accesses that wait in the banks of a channel: for each bank and kind the oldest, and the oldest to the open row, at once.
//!
//! Those to one row are a chain. The chains to the open rows are known by their banks; the others are in a table by row, and in a list
//! for each bank and kind, by the ages of their oldest accesses.

use crate::access::{Access, Accesses, Entry, Kind};
use crate::spot::{MOST_BANKS, RowKey, Spot};

/// Accesses to one row, by age.
#[derive(Clone, Copy, Debug)]
struct Group {
    oldest: Entry,
    youngest: Entry,
}

const NONE: Group = Group { oldest: Entry::NONE, youngest: Entry::NONE };

/// What waits in one bank.
#[derive(Clone, Debug)]
struct Bank {
    /// The row whose accesses `hits` holds.
    open: RowKey,
    hits: [Group; 2],
    /// The oldest and the youngest of the oldest accesses to each other row.
    others: [Group; 2],
    count: [u32; 2],
}

impl Default for Bank {
    fn default() -> Bank {
        Bank { open: RowKey::NONE, hits: [NONE; 2], others: [NONE; 2], count: [0; 2] }
    }
}

impl Bank {
    /// A row that is not open has accesses from now on: the oldest of them takes its place by its age.
    fn link(&mut self, accesses: &mut Accesses, kind: usize, leader: Entry) {
        let number = accesses[leader].number;
        let mut older = self.others[kind].youngest;
        while older.is_some() && accesses[older].number > number {
            older = accesses[older].older_row;
        }
        self.link_after(accesses, kind, leader, older);
    }

    #[inline]
    fn link_after(&mut self, accesses: &mut Accesses, kind: usize, leader: Entry, older: Entry) {
        let list = &mut self.others[kind];
        let younger = if older.is_some() {
            std::mem::replace(&mut accesses[older].younger_row, leader)
        } else {
            std::mem::replace(&mut list.oldest, leader)
        };
        if younger.is_some() {
            accesses[younger].older_row = leader;
        } else {
            list.youngest = leader;
        }
        let leader = &mut accesses[leader];
        (leader.older_row, leader.younger_row) = (older, younger);
    }

    /// The same of one that has just come.
    #[inline]
    fn link_youngest(&mut self, accesses: &mut Accesses, kind: usize, leader: Entry) {
        let list = &mut self.others[kind];
        let older = std::mem::replace(&mut list.youngest, leader);
        if older.is_some() {
            accesses[older].younger_row = leader;
        } else {
            list.oldest = leader;
        }
        accesses[leader].older_row = older;
    }

    /// It has none any more, or is open.
    #[inline]
    fn unlink(&mut self, accesses: &mut Accesses, kind: usize, leader: Entry) {
        let list = &mut self.others[kind];
        let Access { older_row, younger_row, .. } = accesses[leader];
        if older_row.is_some() {
            accesses[older_row].younger_row = younger_row;
        } else {
            list.oldest = younger_row;
        }
        if younger_row.is_some() {
            accesses[younger_row].older_row = older_row;
        } else {
            list.youngest = older_row;
        }
    }
}

/// The rows that are not open and have accesses, by kind: each by its oldest access, in chains by hash.
#[derive(Debug)]
struct Rows([Box<[Entry; Rows::CHAINS]>; 2]);

impl Rows {
    const CHAINS: usize = 512;

    /// The oldest access to a row, by its hash; none where there is none.
    #[inline]
    fn oldest(&self, accesses: &Accesses, kind: usize, row: RowKey, hash: usize) -> Entry {
        let mut at = self.0[kind][hash % Rows::CHAINS];
        while at.is_some() && accesses[at].spot.row_key() != row {
            at = accesses[at].next_row;
        }
        at
    }

    /// The row of a group is in the chain of its hash from now on.
    #[inline]
    fn insert(&mut self, accesses: &mut Accesses, kind: usize, hash: usize, group: Group) {
        let leader = &mut accesses[group.oldest];
        leader.youngest_of_row = group.youngest;
        leader.next_row = std::mem::replace(&mut self.0[kind][hash % Rows::CHAINS], group.oldest);
    }

    /// The accesses to a row, which is not in the table any more.
    #[inline]
    fn remove(&mut self, accesses: &mut Accesses, kind: usize, row: RowKey) -> Group {
        let first = &mut self.0[kind][row.hash() % Rows::CHAINS];
        let (mut before, mut at) = (Entry::NONE, *first);
        while at.is_some() && accesses[at].spot.row_key() != row {
            (before, at) = (at, accesses[at].next_row);
        }
        if !at.is_some() {
            return NONE;
        }
        let Access { next_row, youngest_of_row, .. } = accesses[at];
        if before.is_some() {
            accesses[before].next_row = next_row;
        } else {
            *first = next_row;
        }
        Group { oldest: at, youngest: youngest_of_row }
    }
}

/// A filter of lines: it never denies one that is there, and seldom affirms one that is not.
#[derive(Debug)]
struct Filter(Box<[u16; Filter::SIZE]>);

impl Filter {
    const SIZE: usize = 4096;

    fn slot(&mut self, line: u64) -> &mut u16 {
        &mut self.0[line as usize / 64 % Filter::SIZE]
    }

    fn may_hold(&self, line: u64) -> bool {
        self.0[line as usize / 64 % Filter::SIZE] != 0
    }
}

/// What waits in the banks of a channel.
#[derive(Debug)]
pub(crate) struct BankQueues {
    banks: [Bank; MOST_BANKS],
    /// The rows that are not open.
    rows: Rows,
    /// Banks, as a mask of [`crate::spot::index`], where something waits.
    pending: [u32; 2],
    /// Those where something waits for the open row.
    hits: [u32; 2],
    count: [u32; 2],
    lines: [Filter; 2],
}

impl BankQueues {
    pub(crate) fn new() -> BankQueues {
        let filter = || Filter(Box::new([0; Filter::SIZE]));
        BankQueues {
            banks: Default::default(),
            rows: Rows([0, 1].map(|_| Box::new([Entry::NONE; Rows::CHAINS]))),
            pending: [0; 2],
            hits: [0; 2],
            count: [0; 2],
            lines: [filter(), filter()],
        }
    }

    /// Banks, as a mask, where accesses of that kind wait.
    pub(crate) fn pending(&self, kind: Kind) -> u32 {
        self.pending[kind as usize]
    }

    /// Banks, as a mask, where accesses of that kind wait for the open row.
    pub(crate) fn hits(&self, kind: Kind) -> u32 {
        self.hits[kind as usize]
    }

    /// How many accesses of that kind wait.
    pub(crate) fn count(&self, kind: Kind) -> u32 {
        self.count[kind as usize]
    }

    /// How many of them in one bank.
    pub(crate) fn count_in(&self, bank: usize, kind: Kind) -> u32 {
        self.banks[bank % MOST_BANKS].count[kind as usize]
    }

    /// The oldest access of a bank.
    #[inline]
    pub(crate) fn oldest(&self, accesses: &Accesses, bank: usize, kind: Kind) -> Entry {
        let (hit, other) = (self.oldest_hit(bank, kind), self.oldest_other(bank, kind));
        let hit_is_older = || accesses[hit].number < accesses[other].number;
        if !other.is_some() || (hit.is_some() && hit_is_older()) { hit } else { other }
    }

    /// The oldest access to a row of the bank that is not open.
    #[inline]
    pub(crate) fn oldest_other(&self, bank: usize, kind: Kind) -> Entry {
        self.banks[bank % MOST_BANKS].others[kind as usize].oldest
    }

    /// The oldest access to the bank's open row.
    pub(crate) fn oldest_hit(&self, bank: usize, kind: Kind) -> Entry {
        self.banks[bank % MOST_BANKS].hits[kind as usize].oldest
    }

    /// Whether nothing of either kind waits for the bank's open row but the one access.
    pub(crate) fn is_last_hit(&self, bank: usize, accesses: &Accesses, entry: Entry) -> bool {
        let alone = |group: &Group| {
            !group.oldest.is_some() || (group.oldest == entry && !accesses[entry].next_of_row.is_some())
        };
        self.banks[bank % MOST_BANKS].hits.iter().all(alone)
    }

    /// An access takes its place as the youngest. Says whether it is the first in its bank, and whether that changes what the bank's
    /// candidate may be.
    #[inline]
    pub(crate) fn push(&mut self, accesses: &mut Accesses, entry: Entry, kind: Kind, spot: Spot) -> (bool, bool) {
        let (kind, bank, row) = (kind as usize, spot.bank_index(), spot.row_key());
        self.count[kind] += 1;
        let queue = &mut self.banks[bank % MOST_BANKS];
        queue.count[kind] += 1;
        let is_first = queue.count[kind] == 1;
        *self.lines[kind].slot(accesses[entry].line.0) += 1;
        self.pending[kind] |= 1 << bank;
        if queue.open == row {
            let group = &mut queue.hits[kind];
            let youngest = std::mem::replace(&mut group.youngest, entry);
            if group.oldest.is_some() {
                accesses[youngest].next_of_row = entry;
                return (is_first, false);
            }
            group.oldest = entry;
            self.hits[kind] |= 1 << bank;
            return (is_first, true);
        }
        self.push_to_other_row(accesses, entry, kind, spot, is_first);
        (is_first, is_first)
    }

    /// The same where its row is not open.
    #[inline(never)]
    fn push_to_other_row(&mut self, accesses: &mut Accesses, entry: Entry, kind: usize, spot: Spot, is_first: bool) {
        let (row, hash) = (spot.row_key(), spot.row_key().hash());
        let oldest = if is_first { Entry::NONE } else { self.rows.oldest(accesses, kind, row, hash) };
        if oldest.is_some() {
            let youngest = std::mem::replace(&mut accesses[oldest].youngest_of_row, entry);
            accesses[youngest].next_of_row = entry;
        } else {
            self.rows.insert(accesses, kind, hash, Group { oldest: entry, youngest: entry });
            self.banks[spot.bank_index()].link_youngest(accesses, kind, entry);
        }
    }

    /// The oldest access to the open row is about to be served. Says whether it is the last in its bank.
    #[inline]
    pub(crate) fn remove(&mut self, entry: Entry, access: &Access, kind: Kind) -> bool {
        let (kind, bank) = (kind as usize, access.spot.bank_index());
        *self.lines[kind].slot(access.line.0) -= 1;
        self.count[kind] -= 1;
        let queue = &mut self.banks[bank % MOST_BANKS];
        debug_assert_eq!(queue.hits[kind].oldest, entry, "the oldest of a row goes first");
        queue.count[kind] -= 1;
        queue.hits[kind].oldest = access.next_of_row;
        if access.next_of_row.is_some() {
            return false;
        }
        self.hits[kind] &= !(1 << bank);
        let is_last = queue.count[kind] == 0;
        if is_last {
            self.pending[kind] &= !(1 << bank);
        }
        is_last
    }

    /// A bank's open row is another now, or [`RowKey::NONE`].
    #[inline]
    pub(crate) fn row_changed(&mut self, accesses: &mut Accesses, bank: usize, open: RowKey) {
        if self.banks[bank % MOST_BANKS].open != open {
            self.row_closed(accesses, bank);
            if open != RowKey::NONE {
                self.row_opened(accesses, bank, open);
            }
        }
    }

    /// A bank has no open row any more.
    #[inline]
    pub(crate) fn row_closed(&mut self, accesses: &mut Accesses, bank: usize) {
        if (self.hits[0] | self.hits[1]) & (1 << bank) != 0 {
            self.hits_wait_again(accesses, bank);
        }
        self.banks[bank % MOST_BANKS].open = RowKey::NONE;
    }

    /// What waited for the open row, waits for another like the rest.
    #[inline(never)]
    fn hits_wait_again(&mut self, accesses: &mut Accesses, bank: usize) {
        let queue = &mut self.banks[bank % MOST_BANKS];
        let row = queue.open;
        for kind in 0..2 {
            let closed = std::mem::replace(&mut queue.hits[kind], NONE);
            if closed.oldest.is_some() {
                self.rows.insert(accesses, kind, row.hash(), closed);
                queue.link(accesses, kind, closed.oldest);
            }
            self.hits[kind] &= !(1 << bank);
        }
    }

    /// A bank that had no open row has one.
    #[inline]
    pub(crate) fn row_opened(&mut self, accesses: &mut Accesses, bank: usize, open: RowKey) {
        let queue = &mut self.banks[bank % MOST_BANKS];
        queue.open = open;
        for kind in 0..2 {
            if queue.others[kind].oldest.is_some() {
                let opened = self.rows.remove(accesses, kind, open);
                if opened.oldest.is_some() {
                    queue.unlink(accesses, kind, opened.oldest);
                    queue.hits[kind] = opened;
                    self.hits[kind] |= 1 << bank;
                }
            }
        }
    }

    /// Whether an access of that kind to a line may wait here: never no where one does.
    #[inline]
    pub(crate) fn may_hold(&self, kind: Kind, line: u64) -> bool {
        self.lines[kind as usize].may_hold(line)
    }

    /// The youngest access of that kind to a line, if any waits in its bank.
    pub(crate) fn youngest_to(&self, accesses: &Accesses, kind: Kind, spot: Spot, line: u64) -> Option<Entry> {
        if !self.may_hold(kind, line) {
            return None;
        }
        let queue = &self.banks[spot.bank_index()];
        let oldest = if queue.open == spot.row_key() {
            queue.hits[kind as usize].oldest
        } else {
            self.rows.oldest(accesses, kind as usize, spot.row_key(), spot.row_key().hash())
        };
        let next = |entry: Entry| Some(accesses[entry].next_of_row).filter(|next| next.is_some());
        let group = std::iter::successors(Some(oldest).filter(|oldest| oldest.is_some()), |&entry| next(entry));
        group.filter(|&entry| accesses[entry].line.0 == line).last()
    }
}
