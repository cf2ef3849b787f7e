//! Who goes first on a channel.

use dram_core::{KeptKind, Kind, Power};
use dram_spec::{Command, Cycle, Cycles};

use crate::access::{self, Accesses};
use crate::candidate::{Candidate, KeyClock, NO_KEY, least};
use crate::channel::{ChannelState, beyond};
use crate::config::{RowPolicy, Scheduler};
use crate::copy::Copying;
use crate::rank::Own;
use crate::slots::Slots;
use crate::spot::{MOST_BANKS, bank_at};

/// A command that can go, and whose it is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Choice {
    /// A rank's own, or that of nobody.
    Upkeep(Command),
    /// For the accesses of a bank.
    Access(usize),
    /// The next column access of the segment at a place.
    SegmentAccess(usize),
    /// The row command that a segment needs in a bank.
    SegmentRow(usize),
}

/// The bits of a mask that are set, from the lowest.
pub(crate) fn bits(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let bit = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            bit
        })
    })
}

impl ChannelState {
    /// Prepares what goes first from `from` on, by the order of who goes first, and says when; or prepares nothing, and says when to ask
    /// again.
    #[inline]
    pub(crate) fn foresee(
        &mut self,
        from: Cycle,
        accesses: &Accesses,
        segments: &Slots<Copying>,
        staging_lines: usize,
    ) -> Cycle {
        if let Some((at, bank)) = self.streak_goes_on(from, accesses) {
            self.prepare_access(at, bank);
            return at;
        }
        let (unusable, upkeep) = match self.own_commands(from) {
            Err(others) => others,
            Ok(command) => {
                (self.prepared_at, self.prepared) = (from, Choice::Upkeep(command));
                return from;
            }
        };
        let mut next = if self.flights.is_empty() {
            let (at, bank) = self.foresee_access(from, unusable, accesses);
            self.prepare_access(at, bank);
            at
        } else {
            let usable = self.usable(unusable, accesses);
            self.first_of_all(from, usable, accesses, segments, staging_lines)
        };
        if let RowPolicy::Timeout(after) = self.row_policy {
            next = self.close_unless_before(next, from, after, unusable);
        }
        // The ranks are asked again at `upkeep`, and go first.
        if next >= upkeep {
            (next, self.prepared_at) = (upkeep, Cycle::NEVER);
        }
        next
    }

    /// What the accesses of a bank would do next goes first, at that instant.
    #[inline]
    pub(crate) fn prepare_access(&mut self, at: Cycle, bank: usize) {
        (self.prepared_at, self.prepared) = (at, Choice::Access(bank));
    }

    /// The same, unless a rank has a command of its own before, or what was found is no access: that is later than any that keys tell.
    #[inline(never)]
    pub(crate) fn prepare_access_before_upkeep(&mut self, at: Cycle, bank: usize) {
        if at < self.quiet.0.min(self.key_clock.until()) {
            self.prepare_access(at, bank);
        }
    }

    /// Prepares the closing of a row that has timed out, where that comes before `next`. Says which comes first.
    #[inline(never)]
    fn close_unless_before(&mut self, next: Cycle, from: Cycle, after: Cycles, unusable: u32) -> Cycle {
        if next <= from {
            return next;
        }
        match self.timed_out(from, after, unusable) {
            (at, Some(command)) if at < next => {
                (self.prepared_at, self.prepared) = (at, Choice::Upkeep(command));
                at
            }
            _ => next,
        }
    }

    /// The own command of a rank that can go at `now`; else the banks, as a mask, of ranks that accesses cannot use, and when one might.
    #[inline]
    fn own_commands(&mut self, now: Cycle) -> Result<Command, (u32, Cycle)> {
        if now < self.quiet.0 { Err((self.quiet.1, self.quiet.0)) } else { self.ask_ranks(now) }
    }

    /// The same, rank by rank.
    #[inline(never)]
    fn ask_ranks(&mut self, now: Cycle) -> Result<Command, (u32, Cycle)> {
        let (mut unusable, mut next) = (0, Cycle::NEVER);
        for rank in &mut self.ranks {
            if now >= rank.look_at {
                match rank.own(&self.device, self.power, now) {
                    Own::Now(command) => return Ok(command),
                    Own::NotBefore(at) => rank.look_at = at,
                }
            }
            next = next.min(rank.look_at);
            let asleep = self.device.power(rank.index()) != Power::Awake;
            unusable |= u32::from(asleep || rank.is_urgent(now)) * (0xFF << (8 * rank.index()));
        }
        self.quiet = (next, unusable);
        Err((unusable, next))
    }

    /// Banks, as a mask, whose accesses may have a command.
    #[inline]
    fn usable(&self, unusable: u32, accesses: &Accesses) -> u32 {
        let usable = self.queues.pending(self.mode) & !self.held & !unusable;
        if self.scheduler == Scheduler::Fcfs { usable & self.bank_of_oldest(accesses) } else { usable }
    }

    /// The bank of the oldest access, as a mask.
    #[inline(never)]
    fn bank_of_oldest(&self, accesses: &Accesses) -> u32 {
        self.oldest(accesses).map_or(0, |bank| 1 << bank)
    }

    /// When the next command for accesses can go, from `from` on, and the bank that it is for, where no segment is in flight, and no rank
    /// has a command of its own; of ranks that are not among those.
    #[inline(never)]
    fn foresee_access(&mut self, from: Cycle, unusable: u32, accesses: &Accesses) -> (Cycle, usize) {
        if from >= self.key_clock.until() {
            self.begin_keys(from);
        }
        let usable = self.usable(unusable, accesses);
        if usable == 0 {
            return (Cycle::NEVER, MOST_BANKS);
        }
        if usable == self.queues.pending(self.mode) {
            return self.first_access_of_all(from, accesses);
        }
        self.find_candidates(usable, accesses);
        let first = self.first_of_some_banks(from, usable);
        self.goes_first(first, usable);
        self.key_clock.read(first)
    }

    /// The same where all banks can be used that have accesses, up to [`KeyClock::until`]. Where none has, the instant is no earlier than that.
    #[inline]
    pub(crate) fn first_access_of_all(&mut self, from: Cycle, accesses: &Accesses) -> (Cycle, usize) {
        debug_assert!(from <= self.key_clock.until(), "keys are counted from too long ago");
        self.find_candidates(u32::MAX, accesses);
        let first = self.first_of_all_banks(from);
        self.goes_first(first, self.queues.pending(self.mode));
        self.key_clock.read(first)
    }

    /// All keys are found out anew.
    #[cold]
    fn begin_keys(&mut self, now: Cycle) {
        self.key_clock = KeyClock::new(now);
        self.known = beyond(self.ranks.len());
    }

    /// The key of the first candidate, from `from` on: of those that can go at the same time, RD and WR before the rest, then the oldest.
    #[inline]
    fn first_of_all_banks(&mut self, from: Cycle) -> u64 {
        loop {
            // Where nothing waits, there is one that never goes first: a look at it is cheaper than to tell it apart.
            // Most often there is no other rank.
            let first = if self.ranks.len() == 1 { least(&self.keys_of_ranks()[0]) } else { self.least_of_ranks() };
            let bank = Candidate::bank_of_key(first);
            let possible = self.least_key(bank, from);
            if first >= possible {
                return first;
            }
            self.raise_keys_like(bank, possible);
        }
    }

    /// The same where not every bank counts that has a candidate.
    #[inline(never)]
    fn first_of_some_banks(&self, from: Cycle, usable: u32) -> u64 {
        let key = |bank: usize| Candidate::not_before(self.keys[bank], self.least_key(bank, from));
        bits(usable).map(key).fold(NO_KEY, u64::min)
    }

    fn keys_of_ranks(&self) -> &[[u64; 8]] {
        self.keys.as_chunks().0
    }

    #[inline(never)]
    fn least_of_ranks(&self) -> u64 {
        self.keys_of_ranks().iter().take(self.ranks.len()).map(least).fold(NO_KEY, u64::min)
    }

    /// Candidates that a bank's rank holds back as it does the bank's cannot go before the key `least`.
    #[inline(never)]
    fn raise_keys_like(&mut self, bank: usize, least: u64) {
        match self.next[bank].held_as {
            KeptKind::Act => self.raise_activates(bank / 8, least),
            kind => {
                for bank in bits(self.open & self.queues.pending(self.mode) & 0xFF << (bank / 8 * 8)) {
                    if self.next[bank].held_as == kind {
                        self.keys[bank] = Candidate::not_before(self.keys[bank], least);
                    }
                }
            }
        }
    }

    /// The same of all ACT, which are what closed banks need.
    #[inline]
    fn raise_activates(&mut self, rank: usize, least: u64) {
        for bank in bits(!self.open & self.queues.pending(self.mode) & 0xFF << (8 * rank)) {
            self.keys[bank] = Candidate::not_before(self.keys[bank], least);
        }
    }

    /// A rank has been given an ACT, which holds back the others.
    #[inline]
    pub(crate) fn hold_back_activates(&mut self, rank: usize) {
        let held = self.device.held_by(rank as u8).until_kept(KeptKind::Act);
        self.raise_activates(rank, self.key_clock.key_at(held));
    }

    /// Before which key the candidate of a bank cannot go, from `from` on: its rank holds back those of a kind alike.
    #[inline]
    fn least_key(&self, bank: usize, from: Cycle) -> u64 {
        let rank = (bank / 8) as u8;
        let held = self.device.held_by(rank).until_kept(self.next[bank].held_as);
        self.key_clock.key_at(held.max(from))
    }

    /// Until when a bank holds back RD, or WR, whichever the mode has.
    #[inline]
    pub(crate) fn column_held_by_bank(&self, bank: usize) -> Cycle {
        match self.mode {
            access::Kind::Read => self.device.held_by_bank(bank_at(bank), Kind::Rd),
            access::Kind::Write => self.device.held_by_bank(bank_at(bank), Kind::Wr),
        }
    }

    /// The same of a rank.
    #[inline]
    pub(crate) fn column_held_by_rank(&self, rank: u8) -> Cycle {
        let held = self.device.held_by(rank);
        match self.mode {
            access::Kind::Read => held.until_kept(KeptKind::Rd),
            access::Kind::Write => held.until_kept(KeptKind::Wr),
        }
    }

    /// When a candidate can go, in a rank that is awake.
    #[inline]
    pub(crate) fn earliest_of(&self, bank: usize, candidate: &Candidate) -> Cycle {
        candidate.held_by_bank.max(self.device.held_by((bank / 8) as u8).until(candidate.kind()))
    }

    pub(crate) fn earliest(&self, command: &Command) -> Cycle {
        self.device.earliest(command).expect("the bank is in the state that the command needs").until
    }

    /// When a row is closed that has been open for long enough with nobody to use it, from `from` on, and the command.
    fn timed_out(&self, from: Cycle, after: Cycles, unusable: u32) -> (Cycle, Option<Command>) {
        let wanted = self.queues.hits(access::Kind::Read) | self.queues.hits(access::Kind::Write);
        let mut first = (Cycle::NEVER, None);
        for bank in bits(self.open & !self.held & !unusable & !wanted) {
            let command = Command::Precharge { bank: bank_at(bank) };
            let last = self.device.last_in_bank(bank_at(bank)).unwrap_or(Cycle::ZERO);
            let at = self.earliest(&command).max(last + after).max(from);
            if at < first.0 {
                first = (at, Some(command));
            }
        }
        first
    }
}
