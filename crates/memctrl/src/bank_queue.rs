//! The accesses that wait in the banks of a channel: for each bank and kind the oldest, and the oldest to the open row, at once.

use dram_spec::{BankId, Row};
use rustc_hash::FxHashMap;

use crate::access::{Accesses, Entry, Kind};

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
    open: Option<Row>,
    oldest: [Entry; 2],
    youngest: [Entry; 2],
    hits: [Group; 2],
    count: [u32; 2],
}

impl Default for Bank {
    fn default() -> Bank {
        Bank { open: None, oldest: [Entry::NONE; 2], youngest: [Entry::NONE; 2], hits: [NONE; 2], count: [0; 2] }
    }
}

/// Which row of which bank, of which kind.
type RowKey = (u8, u8, Row);

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
    banks: Vec<Bank>,
    /// The rows that are not open.
    rows: FxHashMap<RowKey, Group>,
    /// Banks, as a mask of [`index`], where something waits.
    pending: [u32; 2],
    /// Those where something waits for the open row.
    hits: [u32; 2],
    count: [u32; 2],
    lines: [Filter; 2],
}

/// A bank's place in masks of a channel.
pub(crate) fn index(bank: BankId) -> usize {
    usize::from(bank.rank) * 8 + usize::from(bank.bank)
}

/// The bank of that place.
pub(crate) fn bank_at(index: usize) -> BankId {
    BankId { rank: (index / 8) as u8, bank: (index % 8) as u8 }
}

impl BankQueues {
    pub(crate) fn new(ranks: u8) -> BankQueues {
        let filter = || Filter(Box::new([0; Filter::SIZE]));
        BankQueues {
            banks: vec![Bank::default(); usize::from(ranks) * 8],
            rows: FxHashMap::default(),
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
        self.banks[bank].count[kind as usize]
    }

    /// The oldest access of a bank.
    pub(crate) fn oldest(&self, bank: usize, kind: Kind) -> Entry {
        self.banks[bank].oldest[kind as usize]
    }

    /// The oldest access to the bank's open row.
    pub(crate) fn oldest_hit(&self, bank: usize, kind: Kind) -> Entry {
        self.banks[bank].hits[kind as usize].oldest
    }

    /// Whether nothing of either kind waits for the bank's open row but the one access.
    pub(crate) fn is_last_hit(&self, bank: usize, accesses: &Accesses, entry: Entry) -> bool {
        let alone = |group: &Group| {
            !group.oldest.is_some() || (group.oldest == entry && !accesses[entry].next_of_row.is_some())
        };
        self.banks[bank].hits.iter().all(alone)
    }

    /// An access takes its place as the youngest. Says whether that changes what the bank's candidate may be.
    pub(crate) fn push(&mut self, accesses: &mut Accesses, entry: Entry) -> bool {
        let (kind, bank, row, line) = {
            let access = &accesses[entry];
            (access.kind as usize, index(access.bank), access.row, access.line.0)
        };
        *self.lines[kind].slot(line) += 1;
        self.count[kind] += 1;
        let queue = &mut self.banks[bank];
        queue.count[kind] += 1;
        let last = std::mem::replace(&mut queue.youngest[kind], entry);
        accesses[entry].older = last;
        let was_empty = !last.is_some();
        if was_empty {
            queue.oldest[kind] = entry;
            self.pending[kind] |= 1 << bank;
        } else {
            accesses[last].younger = entry;
        }
        if queue.open != Some(row) {
            let key = (bank as u8, kind as u8, row);
            let group = self.rows.entry(key).or_insert(Group { oldest: entry, youngest: entry });
            if group.youngest != entry {
                accesses[group.youngest].next_of_row = entry;
                group.youngest = entry;
            }
            return was_empty;
        }
        let group = &mut queue.hits[kind];
        if group.oldest.is_some() {
            accesses[group.youngest].next_of_row = entry;
            group.youngest = entry;
            return false;
        }
        *group = Group { oldest: entry, youngest: entry };
        self.hits[kind] |= 1 << bank;
        true
    }

    /// The oldest access to the open row is about to be served.
    pub(crate) fn remove(&mut self, accesses: &mut Accesses, entry: Entry) {
        let access = &accesses[entry];
        let (kind, bank, older, younger) = (access.kind as usize, index(access.bank), access.older, access.younger);
        *self.lines[kind].slot(access.line.0) -= 1;
        self.count[kind] -= 1;
        let queue = &mut self.banks[bank];
        debug_assert_eq!(queue.hits[kind].oldest, entry, "the oldest of a row goes first");
        queue.count[kind] -= 1;
        queue.hits[kind].oldest = access.next_of_row;
        if !access.next_of_row.is_some() {
            self.hits[kind] &= !(1 << bank);
        }
        if older.is_some() {
            accesses[older].younger = younger;
        } else {
            queue.oldest[kind] = younger;
        }
        if younger.is_some() {
            accesses[younger].older = older;
        } else {
            queue.youngest[kind] = older;
        }
        if queue.count[kind] == 0 {
            self.pending[kind] &= !(1 << bank);
        }
    }

    /// A bank's open row is another now, or none.
    pub(crate) fn row_changed(&mut self, bank: usize, open: Option<Row>) {
        let queue = &mut self.banks[bank];
        if queue.open == open {
            return;
        }
        for kind in 0..2 {
            let queue = &mut self.banks[bank];
            if queue.count[kind] == 0 {
                continue;
            }
            if let (Some(row), true) = (queue.open, queue.hits[kind].oldest.is_some()) {
                self.rows.insert((bank as u8, kind as u8, row), queue.hits[kind]);
            }
            let next = open.and_then(|row| self.rows.remove(&(bank as u8, kind as u8, row)));
            queue.hits[kind] = next.unwrap_or(NONE);
            let bit = u32::from(next.is_some()) << bank;
            self.hits[kind] = self.hits[kind] & !(1 << bank) | bit;
        }
        self.banks[bank].open = open;
    }

    /// Whether an access of that kind to a line may wait here: never no where one does.
    #[inline]
    pub(crate) fn may_hold(&self, kind: Kind, line: u64) -> bool {
        self.lines[kind as usize].may_hold(line)
    }

    /// The youngest access of that kind to a line, if any waits in its bank.
    pub(crate) fn youngest_to(
        &self,
        accesses: &Accesses,
        (kind, bank, row): (Kind, BankId, Row),
        line: u64,
    ) -> Option<Entry> {
        if !self.may_hold(kind, line) {
            return None;
        }
        let queue = &self.banks[index(bank)];
        let group = if queue.open == Some(row) {
            queue.hits[kind as usize]
        } else {
            self.rows.get(&(index(bank) as u8, kind as u8, row)).copied().unwrap_or(NONE)
        };
        let next = |entry: Entry| Some(accesses[entry].next_of_row).filter(|next| next.is_some());
        let group = std::iter::successors(Some(group.oldest).filter(|oldest| oldest.is_some()), |&entry| next(entry));
        group.filter(|&entry| accesses[entry].line.0 == line).last()
    }
}
