//! Accesses to one open row that follow each other: while nothing happens to the other banks, they need not be compared with each time.

use dram_spec::Cycle;

use crate::access::{Accesses, Entry};
use crate::candidate::Candidate;
use crate::channel::ChannelState;
use crate::config::{RowPolicy, Scheduler};
use crate::scheduler::bits;
use crate::spot::MOST_BANKS;

/// The bank of the last access, and for how long no other bank's go first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Streak {
    bank: usize,
    /// RD and WR of a lower [`Candidate::order`] go before those of all other banks: none, where nothing is known.
    before: u64,
    /// Up to when they go before row commands of other banks, and before what ranks need on their own account.
    until: Cycle,
}

impl Streak {
    /// Something has happened that any bank may hear of.
    #[inline]
    pub(crate) fn forget(&mut self) {
        self.before = 0;
    }

    /// An access of a bank has been served.
    #[inline]
    pub(crate) fn served(&mut self, bank: usize) {
        if bank != self.bank {
            (self.bank, self.before) = (bank, 0);
        }
    }
}

impl ChannelState {
    /// When the next access to the open row goes, from `from` on, and its bank, where it goes on as it was: nothing has happened but the
    /// RD or WR of that bank. It is then the bank's candidate.
    #[inline]
    pub(crate) fn streak_goes_on(&mut self, from: Cycle, accesses: &Accesses) -> Option<(Cycle, usize)> {
        let (at, bank, entry) = self.next_hit(from, accesses)?;
        self.pass_on(bank, entry, accesses);
        Some((at, bank))
    }

    /// An access to the open row is its bank's candidate.
    #[inline]
    pub(crate) fn pass_on(&mut self, bank: usize, entry: Entry, accesses: &Accesses) {
        // Nobody compares it with others before it has been served; its key is not found out.
        self.next[bank % MOST_BANKS].pass_on(entry, Candidate::order(accesses[entry].number, bank));
    }

    /// When that access goes, its bank, and which it is: a RD or WR that leaves its row open.
    #[inline]
    pub(crate) fn next_hit(&self, from: Cycle, accesses: &Accesses) -> Option<(Cycle, usize, Entry)> {
        let Streak { bank, before, until } = self.streak;
        if before == 0 {
            return None;
        }
        let entry = self.queues.oldest_hit(bank, self.mode);
        if !entry.is_some() || Candidate::order(accesses[entry].number, bank) >= before {
            return None;
        }
        let held_by_bank = self.column_held_by_bank(bank);
        let at = self.column_held_by_rank((bank / 8) as u8).max(held_by_bank).max(from);
        (at <= until).then_some((at, bank, entry))
    }

    /// The bank of a key goes first. If an access of it was served last, it may go on for a while.
    #[inline]
    pub(crate) fn goes_first(&mut self, key: u64, usable: u32) {
        let bank = Candidate::bank_of_key(key);
        if !Candidate::is_row_key(key) && self.streak.bank == bank {
            self.begin_streak(bank, usable);
        }
    }

    /// How long no other bank will go first.
    #[inline(never)]
    fn begin_streak(&mut self, bank: usize, usable: u32) {
        let others = usable & !(1 << bank);
        let columns: u32 = bits(others).filter(|&other| !self.next[other].is_row()).map(|other| 1 << other).sum();
        // The rank holds back the RD or WR of each of its banks alike.
        let in_other_ranks = columns & !(0xFF << (bank / 8 * 8)) != 0;
        if in_other_ranks || self.scheduler != Scheduler::FrFcfs || self.row_policy != RowPolicy::Open {
            return;
        }
        let ages = bits(columns).map(|other| self.next[other].order);
        let rows = bits(others & !columns).map(|other| self.earliest_of(other, &self.next[other]));
        let upkeep = Cycle(self.quiet.0.0.saturating_sub(1));
        let (before, until) = (ages.min().unwrap_or(u64::MAX), rows.min().unwrap_or(Cycle::NEVER).min(upkeep));
        self.streak = Streak { bank, before, until };
    }
}
