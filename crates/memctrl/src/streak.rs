//! Accesses to one open row that follow each other: while nothing happens to the other banks, they need not be compared with each time.

use dram_spec::Cycle;

use crate::access::Accesses;
use crate::channel::ChannelState;
use crate::config::{RowPolicy, Scheduler};
use crate::scheduler::{Candidate, bits};
use crate::spot::{MOST_BANKS, bank_at};

/// From which bank accesses go one after another, and for how long no other bank's go first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Streak {
    bank: usize,
    /// All banks, as a mask, whose accesses may have a command; none, where nothing is known.
    banks: u32,
    /// The age of the oldest RD or WR of another bank: older ones go before it.
    before: u64,
    /// When the first row command of another bank can go, at the earliest: RD and WR go up to then.
    until: Cycle,
}

impl Streak {
    /// Something has happened to a bank.
    #[inline]
    pub(crate) fn forget(&mut self) {
        self.banks = 0;
    }
}

impl ChannelState {
    /// When the next access to the open row goes, from `from` on, and its bank, where it goes on as it was: nothing has happened but the
    /// RD or WR of that bank. It is then the bank's candidate.
    #[inline]
    pub(crate) fn streak_goes_on(&mut self, from: Cycle, usable: u32, accesses: &Accesses) -> Option<(Cycle, usize)> {
        let Streak { bank, banks, until, .. } = self.streak;
        if usable != banks || usable & !self.known != 1 << bank {
            return None;
        }
        let (at, candidate) = self.next_hit(from, accesses)?;
        if at > until {
            return None;
        }
        self.next[bank % MOST_BANKS] = candidate;
        self.known |= 1 << bank;
        Some((at, bank))
    }

    /// When the next access to the open row goes, from `from` on, if no other bank's goes first by its age.
    #[inline]
    pub(crate) fn next_hit(&self, from: Cycle, accesses: &Accesses) -> Option<(Cycle, Candidate)> {
        let Streak { bank, before, .. } = self.streak;
        let entry = self.queues.oldest_hit(bank, self.mode);
        if !entry.is_some() {
            return None;
        }
        let kind = self.column_kind();
        let held_by_bank = self.device.held_by_bank(bank_at(bank), kind);
        let candidate = Candidate::column(entry, kind, accesses[entry].number, bank, held_by_bank);
        // The rank holds back the RD or WR of each of its banks alike.
        let at = self.device.held_by((bank / 8) as u8).until(kind).max(from);
        (held_by_bank <= at && candidate.order < before).then_some((at, candidate))
    }

    /// After a RD or WR of the bank that goes on: before when nothing but its next ones can go first, while no candidate of another bank
    /// changes. At once, where that is not known.
    #[inline]
    pub(crate) fn hits_go_first_before(&self) -> Cycle {
        let Streak { bank, banks, until, .. } = self.streak;
        let goes_on = banks & !self.known == 1 << bank && self.flights.is_empty() && self.row_policy == RowPolicy::Open;
        if goes_on { self.quiet.0.min(Cycle(until.0.saturating_add(1))) } else { Cycle::ZERO }
    }

    /// A bank goes first. If it did so before, it may go on for a while.
    #[inline]
    pub(crate) fn goes_first(&mut self, bank: usize, usable: u32) {
        if bank < MOST_BANKS && !self.next[bank].is_row() && std::mem::replace(&mut self.streak.bank, bank) == bank {
            self.begin_streak(bank, usable);
        }
    }

    /// How long no other bank will go first.
    #[inline(never)]
    fn begin_streak(&mut self, bank: usize, usable: u32) {
        let others = usable & !(1 << bank);
        let columns: u32 = bits(others).filter(|&other| !self.next[other].is_row()).map(|other| 1 << other).sum();
        let in_other_ranks = columns & !(0xFF << (bank / 8 * 8)) != 0;
        if in_other_ranks || self.scheduler != Scheduler::FrFcfs || self.row_policy == RowPolicy::Closed {
            return;
        }
        let ages = bits(columns).map(|other| self.next[other].order);
        let rows = bits(others & !columns).map(|other| self.earliest_of(other, &self.next[other]));
        let (before, until) = (ages.min().unwrap_or(u64::MAX), rows.min().unwrap_or(Cycle::NEVER));
        self.streak = Streak { bank, banks: usable, before, until };
    }
}
