//! Who goes first on a channel.

use dram_core::{Kind, Power};
use dram_spec::{AutoPrecharge, Command, Cycle, Cycles};

use crate::access::{self, Accesses, Entry};
use crate::channel::ChannelState;
use crate::config::{RowPolicy, Scheduler};
use crate::copy::Copying;
use crate::rank::Own;
use crate::slots::Slots;
use crate::spot::{MOST_BANKS, Spot, bank_at};

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

/// The kinds of candidates that a rank tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Precharge = 0,
    Activate = 1,
    /// RD, RDA, WR or WRA: whichever the mode has.
    Column = 2,
}

/// What the accesses of a bank would do next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    /// Of candidates that can go at the same time, that of the least order goes first. From high to low: whether it is a row command,
    /// its access' sequence number, and its bank.
    pub(crate) order: u64,
    /// Until when its bank holds it back.
    held_by_bank: Cycle,
    entry: Entry,
    kind: Kind,
    class: Class,
}

impl Candidate {
    const ORDER_BITS: u32 = 48;
    /// How far ahead an instant fits above an order. No rule holds a command back for so long.
    pub(crate) const FURTHEST: u64 = 1 << (u64::BITS - Candidate::ORDER_BITS);
    const ROW: u64 = 1 << (Candidate::ORDER_BITS - 1);
    const BANK_BITS: u32 = MOST_BANKS.trailing_zeros();

    /// Of no access: it never goes first.
    pub(crate) const NONE: Candidate = Candidate {
        order: u64::MAX,
        held_by_bank: Cycle::NEVER,
        entry: Entry::NONE,
        kind: Kind::Act,
        class: Class::Activate,
    };

    /// The order of a RD or WR.
    #[inline]
    pub(crate) fn order(number: u64, bank: usize) -> u64 {
        let order = number << Candidate::BANK_BITS | bank as u64;
        debug_assert!(order < Candidate::ROW, "access {number} is more than an order has room for");
        order
    }

    /// The same for another access to the open row.
    #[inline]
    pub(crate) fn pass_on(&mut self, entry: Entry, order: u64, held_by_bank: Cycle) {
        (self.entry, self.order, self.held_by_bank) = (entry, order, held_by_bank);
    }

    pub(crate) fn is_row(&self) -> bool {
        self.order & Candidate::ROW != 0
    }

    /// The sequence number of its access.
    pub(crate) fn number(&self) -> u64 {
        (self.order & !Candidate::ROW) >> Candidate::BANK_BITS
    }

    /// When it can go, from `from` on, where its rank holds back the classes so, above its order: the lowest goes first.
    #[inline]
    fn key(&self, from: Cycle, held: &[Cycle; 3]) -> u64 {
        let at = self.held_by_bank.max(held[self.class as usize]);
        at.0.wrapping_sub(from.0) << Candidate::ORDER_BITS | self.order
    }

    /// When a candidate with that key can go, and its bank.
    #[inline]
    fn of_key(key: u64, from: Cycle) -> (Cycle, usize) {
        (from + Cycles(key >> Candidate::ORDER_BITS), key as usize % MOST_BANKS)
    }

    /// The access that it is for.
    pub(crate) fn entry(&self) -> Entry {
        self.entry
    }

    /// Of a row command: whether it is an ACT, and no PRE.
    pub(crate) fn is_activate(&self) -> bool {
        self.kind == Kind::Act
    }

    /// What it is.
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// The command on the bus, of a RD or WR of that kind.
    #[inline]
    pub(crate) fn column_command(kind: Kind, spot: Spot, mode: access::Kind) -> Command {
        let closes = matches!(kind, Kind::Rda | Kind::Wra);
        let auto_precharge = if closes { AutoPrecharge::Yes } else { AutoPrecharge::No };
        let (bank, column) = (spot.bank(), spot.column());
        match mode {
            access::Kind::Read => Command::Read { bank, column, auto_precharge },
            access::Kind::Write => Command::Write { bank, column, auto_precharge },
        }
    }

    /// The command on the bus.
    #[inline]
    pub(crate) fn command(&self, spot: Spot) -> Command {
        let (bank, row, column) = (spot.bank(), spot.row(), spot.column());
        match self.kind {
            Kind::Act => Command::Activate { bank, row },
            Kind::Rd => Command::Read { bank, column, auto_precharge: AutoPrecharge::No },
            Kind::Rda => Command::Read { bank, column, auto_precharge: AutoPrecharge::Yes },
            Kind::Wr => Command::Write { bank, column, auto_precharge: AutoPrecharge::No },
            Kind::Wra => Command::Write { bank, column, auto_precharge: AutoPrecharge::Yes },
            _ => Command::Precharge { bank },
        }
    }
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
            (self.prepared_at, self.prepared) = (at, Choice::Access(bank));
            return at;
        }
        let (unusable, upkeep) = match self.own_commands(from) {
            Err(others) => others,
            Ok(command) => {
                (self.prepared_at, self.prepared) = (from, Choice::Upkeep(command));
                return from;
            }
        };
        let usable = self.usable(unusable, accesses);
        let mut next = if self.flights.is_empty() {
            let (at, bank) = self.first_access(from, usable, accesses);
            (self.prepared_at, self.prepared) = (at, Choice::Access(bank));
            at
        } else {
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
    fn usable(&self, unusable: u32, accesses: &Accesses) -> u32 {
        let usable = self.queues.pending(self.mode) & !self.held & !unusable;
        if self.scheduler == Scheduler::Fcfs {
            usable & self.oldest(accesses).map_or(0, |bank| 1 << bank)
        } else {
            usable
        }
    }

    /// When the next command for accesses can go, from `from` on, and the bank that it is for, where no segment is in flight, and no rank
    /// has a command of its own.
    #[inline]
    pub(crate) fn next_access(&mut self, from: Cycle, accesses: &Accesses) -> (Cycle, usize) {
        self.streak_goes_on(from, accesses).unwrap_or_else(|| {
            let usable = self.usable(self.quiet.1, accesses);
            self.first_access(from, usable, accesses)
        })
    }

    /// The same, of banks that are given.
    #[inline(never)]
    fn first_access(&mut self, from: Cycle, usable: u32, accesses: &Accesses) -> (Cycle, usize) {
        self.find_candidates(usable, accesses);
        let all = usable == self.queues.pending(self.mode);
        let (at, bank) =
            if all { self.first_of_all_banks(from, usable) } else { self.first_of_some_banks(from, usable) };
        self.goes_first(bank, usable);
        (at, bank)
    }

    /// When the first candidate can go, from `from` on, and its bank: of those that can at the same time, RD and WR before the rest, then
    /// the oldest. Never, where there is none.
    #[inline]
    fn first_of_all_banks(&self, from: Cycle, usable: u32) -> (Cycle, usize) {
        if usable == 0 {
            return (Cycle::NEVER, MOST_BANKS);
        }
        let (mut first, mut rest, mut rank) = (u64::MAX, usable, 0);
        while rest != 0 {
            if rest & 0xFF != 0 {
                first = first.min(self.first_of_rank(from, rank));
            }
            (rest, rank) = (rest >> 8, rank + 1);
        }
        Candidate::of_key(first, from)
    }

    /// The least key of a rank's candidates.
    #[inline(never)]
    fn first_of_rank(&self, from: Cycle, rank: u32) -> u64 {
        let held = self.held_by_rank(rank, from);
        // Where nothing waits, there is one that never goes first: a look at it is cheaper than to tell it apart.
        let candidates = &self.next.as_chunks::<8>().0[rank as usize];
        candidates.iter().map(|candidate| candidate.key(from, &held)).fold(u64::MAX, u64::min)
    }

    /// The same where not every bank counts that has a candidate.
    #[inline(never)]
    fn first_of_some_banks(&self, from: Cycle, usable: u32) -> (Cycle, usize) {
        let key = |bank: usize| self.next[bank].key(from, &self.held_by_rank(bank as u32 / 8, from));
        bits(usable).map(key).min().map_or((Cycle::NEVER, MOST_BANKS), |first| Candidate::of_key(first, from))
    }

    /// When candidates of each class can go in a rank, from `from` on: it holds back those of a class alike.
    #[inline]
    fn held_by_rank(&self, rank: u32, from: Cycle) -> [Cycle; 3] {
        let held = self.device.held_by(rank as u8);
        let column = self.column_held_by_rank(rank as u8);
        [held.until(Kind::Pre), held.until(Kind::Act), column].map(|until| until.max(from))
    }

    /// Finds out what the accesses of some banks would do next, where that is not known; it stays so until something happens to the bank.
    /// That there is nothing, where nothing waits, is found out of all banks.
    #[inline]
    pub(crate) fn find_candidates(&mut self, banks: u32, accesses: &Accesses) {
        let pending = self.queues.pending(self.mode);
        let unknown = (banks | !pending) & !self.known;
        if unknown == 0 {
            return;
        }
        self.known |= unknown;
        for bank in bits(unknown) {
            self.find_candidate(bank, accesses);
        }
    }

    #[inline(never)]
    fn find_candidate(&mut self, bank: usize, accesses: &Accesses) {
        let hit = self.queues.oldest_hit(bank, self.mode);
        let other = self.queues.oldest_other(bank, self.mode);
        let is_younger = || other.is_some() && accesses[other].number < accesses[hit].number;
        self.next[bank % MOST_BANKS] = if hit.is_some() && !self.is_capped(bank, is_younger) {
            self.column_candidate(bank, hit, accesses[hit].number, accesses)
        } else if !other.is_some() {
            Candidate::NONE
        } else if self.open & (1 << bank) != 0 {
            self.row_candidate(bank, other, accesses[other].number, Kind::Pre, Class::Precharge)
        } else {
            self.row_candidate(bank, other, accesses[other].number, Kind::Act, Class::Activate)
        };
    }

    /// Whether an access to the open row does not go, where it is not the oldest of its bank.
    #[inline]
    fn is_capped(&self, bank: usize, is_younger: impl Fn() -> bool) -> bool {
        match self.scheduler {
            Scheduler::FrFcfs => false,
            Scheduler::FrFcfsCap(cap) => self.banks[bank].served >= cap && is_younger(),
            Scheduler::Fcfs => is_younger(),
        }
    }

    /// The PRE or ACT of the oldest access of a bank.
    #[inline]
    fn row_candidate(&self, bank: usize, oldest: Entry, number: u64, kind: Kind, class: Class) -> Candidate {
        let held_by_bank = self.device.held_by_bank(bank_at(bank), kind);
        Candidate { order: Candidate::ROW | Candidate::order(number, bank), held_by_bank, entry: oldest, kind, class }
    }

    /// The RD or WR of the oldest access to the open row.
    #[inline]
    fn column_candidate(&self, bank: usize, hit: Entry, number: u64, accesses: &Accesses) -> Candidate {
        let closes = self.row_policy == RowPolicy::Closed && self.queues.is_last_hit(bank, accesses, hit);
        let kind = match (self.mode, closes) {
            (access::Kind::Read, false) => Kind::Rd,
            (access::Kind::Read, true) => Kind::Rda,
            (access::Kind::Write, false) => Kind::Wr,
            (access::Kind::Write, true) => Kind::Wra,
        };
        let held_by_bank = self.column_held_by_bank(bank);
        Candidate { order: Candidate::order(number, bank), held_by_bank, entry: hit, kind, class: Class::Column }
    }

    /// A PRE or an ACT of the oldest access of a bank has been issued: that access needs the next one too.
    #[inline]
    pub(crate) fn access_goes_on(&mut self, bank: usize, done: &Candidate, accesses: &Accesses) {
        self.next[bank % MOST_BANKS] = if done.is_activate() {
            self.column_candidate(bank, done.entry, done.number(), accesses)
        } else {
            self.row_candidate(bank, done.entry, done.number(), Kind::Act, Class::Activate)
        };
        self.known |= 1 << bank;
        // Who has gone on without a look at this bank, must look at it.
        self.streak.forget();
        self.flights.run = None;
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
            access::Kind::Read => held.until(Kind::Rd),
            access::Kind::Write => held.until(Kind::Wr),
        }
    }

    /// When a candidate can go, in a rank that is awake.
    #[inline]
    pub(crate) fn earliest_of(&self, bank: usize, candidate: &Candidate) -> Cycle {
        candidate.held_by_bank.max(self.device.held_by((bank / 8) as u8).until(candidate.kind))
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
            let at = self.earliest(&command).max(self.banks[bank].commanded + after).max(from);
            if at < first.0 {
                first = (at, Some(command));
            }
        }
        first
    }
}
