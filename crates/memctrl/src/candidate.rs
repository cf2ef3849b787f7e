//! What the accesses of each bank would do next.

use dram_core::{KeptKind, Kind};
use dram_spec::{AutoPrecharge, Command, Cycle, Cycles};

use crate::access::{self, Accesses, Entry};
use crate::channel::ChannelState;
use crate::config::{RowPolicy, Scheduler};
use crate::scheduler::bits;
use crate::spot::{MOST_BANKS, Spot, bank_at};

/// What the accesses of a bank would do next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    /// Of candidates that can go at the same time, that of the least order goes first. From high to low: whether it is a row command,
    /// its access' sequence number, and its bank.
    pub(crate) order: u64,
    /// Until when its bank holds it back.
    pub(crate) held_by_bank: Cycle,
    entry: Entry,
    kind: Kind,
    /// The kind that its rank holds it back as.
    pub(crate) held_as: KeptKind,
}

/// The key of no candidate: it comes after all others.
pub(crate) const NO_KEY: u64 = f64::MAX.to_bits();

/// The least of some keys: as `f64`, they are compared by an instruction each.
#[inline]
pub(crate) fn least(keys: &[u64; 8]) -> u64 {
    let less = |one: f64, other: f64| if one < other { one } else { other };
    let [first, others @ ..] = keys.map(f64::from_bits);
    others.into_iter().fold(first, less).to_bits()
}

/// How instants stand in keys: in the bits above an order, which have room for few of them, counted from an instant that is moved on now and
/// then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyClock {
    /// The upper bits of a key are its instant less this, modulo 2^64.
    zero: u64,
}

impl KeyClock {
    /// The upper bits of the first instant: the least with which a key is a normal positive number as `f64`. From there to [`NO_KEY`], the
    /// largest one, such numbers are in the order of the keys.
    const FIRST: u64 = 1 << 4;
    /// How long after the first instant one still fits. No rule holds a command back for half as long.
    pub(crate) const FURTHEST: u64 = (NO_KEY >> Candidate::ORDER_BITS) - KeyClock::FIRST;

    /// From `since` on.
    pub(crate) fn new(since: Cycle) -> KeyClock {
        KeyClock { zero: since.0.wrapping_sub(KeyClock::FIRST) }
    }

    /// The first instant.
    fn since(self) -> Cycle {
        Cycle(self.zero.wrapping_add(KeyClock::FIRST))
    }

    /// Up to this instant, whatever a command holds back then fits into a key. Later ones mean nothing: who asks for keys, lets them be found
    /// out anew.
    #[inline]
    pub(crate) fn until(self) -> Cycle {
        self.since() + Cycles(KeyClock::FURTHEST / 2)
    }

    /// The least key of an instant, which is not before the first.
    #[inline]
    pub(crate) fn key_at(self, at: Cycle) -> u64 {
        debug_assert!(at >= self.since(), "{at} is before {}", self.since());
        at.0.wrapping_sub(self.zero) << Candidate::ORDER_BITS
    }

    /// When a candidate with that key can go, and its bank.
    #[inline]
    pub(crate) fn read(self, key: u64) -> (Cycle, usize) {
        (Cycle(self.zero.wrapping_add(key >> Candidate::ORDER_BITS)), Candidate::bank_of_key(key))
    }
}

impl Candidate {
    const ORDER_BITS: u32 = 48;
    const ROW: u64 = 1 << (Candidate::ORDER_BITS - 1);
    const BANK_BITS: u32 = MOST_BANKS.trailing_zeros();

    /// Of no access: it never goes first.
    pub(crate) const NONE: Candidate = Candidate {
        order: u64::MAX,
        held_by_bank: Cycle::NEVER,
        entry: Entry::NONE,
        kind: Kind::Act,
        held_as: KeptKind::Act,
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
    pub(crate) fn pass_on(&mut self, entry: Entry, order: u64) {
        (self.entry, self.order) = (entry, order);
    }

    pub(crate) fn is_row(&self) -> bool {
        self.order & Candidate::ROW != 0
    }

    /// The sequence number of its access.
    pub(crate) fn number(&self) -> u64 {
        (self.order & !Candidate::ROW) >> Candidate::BANK_BITS
    }

    /// When it can go as far as its bank is concerned, above its order: of two keys the lowest goes first.
    #[inline]
    fn key(&self, clock: KeyClock) -> u64 {
        clock.key_at(self.held_by_bank.max(clock.since())) | self.order
    }

    /// The key of a candidate that cannot go before that of `least`.
    #[inline]
    pub(crate) fn not_before(key: u64, least: u64) -> u64 {
        key.max(least | key & ((1 << Candidate::ORDER_BITS) - 1))
    }

    #[inline]
    pub(crate) fn bank_of_key(key: u64) -> usize {
        key as usize % MOST_BANKS
    }

    #[inline]
    pub(crate) fn is_row_key(key: u64) -> bool {
        key & Candidate::ROW != 0
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

    /// The command on the bus, of an access that lies there.
    #[inline]
    pub(crate) fn command(kind: Kind, spot: Spot) -> Command {
        let (bank, row, column) = (spot.bank(), spot.row(), spot.column());
        match kind {
            Kind::Act => Command::Activate { bank, row },
            Kind::Rd => Command::Read { bank, column, auto_precharge: AutoPrecharge::No },
            Kind::Rda => Command::Read { bank, column, auto_precharge: AutoPrecharge::Yes },
            Kind::Wr => Command::Write { bank, column, auto_precharge: AutoPrecharge::No },
            Kind::Wra => Command::Write { bank, column, auto_precharge: AutoPrecharge::Yes },
            _ => Command::Precharge { bank },
        }
    }
}

impl ChannelState {
    /// Finds out what the accesses of some banks would do next, where that is not known; it stays so until something happens to the bank.
    /// That there is nothing, where nothing waits, is found out of all banks.
    #[inline]
    pub(crate) fn find_candidates(&mut self, banks: u32, accesses: &Accesses) {
        let unknown = (banks | !self.queues.pending(self.mode)) & !self.known;
        for bank in bits(unknown) {
            self.find_candidate(bank, accesses);
        }
    }

    #[inline(never)]
    fn find_candidate(&mut self, bank: usize, accesses: &Accesses) {
        let hit = self.queues.oldest_hit(bank, self.mode);
        let other = self.queues.oldest_other(bank, self.mode);
        let is_younger = || other.is_some() && accesses[other].number < accesses[hit].number;
        let order = |entry: Entry| Candidate::order(accesses[entry].number, bank);
        let candidate = if hit.is_some() && !self.is_capped(bank, is_younger) {
            self.column_candidate(bank, hit, order(hit), accesses)
        } else if !other.is_some() {
            return self.set_candidate(bank, Candidate::NONE, NO_KEY);
        } else if self.open & (1 << bank) != 0 {
            self.row_candidate(bank, other, order(other), Kind::Pre, KeptKind::Pre)
        } else {
            self.row_candidate(bank, other, order(other), Kind::Act, KeptKind::Act)
        };
        self.set_candidate(bank, candidate, candidate.key(self.key_clock));
    }

    /// What the accesses of a bank would do next is known.
    #[inline]
    fn set_candidate(&mut self, bank: usize, candidate: Candidate, key: u64) {
        self.keys[bank % MOST_BANKS] = key;
        self.next[bank % MOST_BANKS] = candidate;
        self.known |= 1 << bank;
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
    fn row_candidate(&self, bank: usize, oldest: Entry, order: u64, kind: Kind, held_as: KeptKind) -> Candidate {
        let held_by_bank = self.device.held_by_bank(bank_at(bank), kind);
        Candidate { order: Candidate::ROW | order, held_by_bank, entry: oldest, kind, held_as }
    }

    /// The RD or WR of the oldest access to the open row.
    #[inline]
    fn column_candidate(&self, bank: usize, hit: Entry, order: u64, accesses: &Accesses) -> Candidate {
        let closes = self.row_policy == RowPolicy::Closed && self.queues.is_last_hit(bank, accesses, hit);
        let (kind, held_as) = match (self.mode, closes) {
            (access::Kind::Read, false) => (Kind::Rd, KeptKind::Rd),
            (access::Kind::Read, true) => (Kind::Rda, KeptKind::Rd),
            (access::Kind::Write, false) => (Kind::Wr, KeptKind::Wr),
            (access::Kind::Write, true) => (Kind::Wra, KeptKind::Wr),
        };
        let held_by_bank = self.column_held_by_bank(bank);
        Candidate { order, held_by_bank, entry: hit, kind, held_as }
    }

    /// A PRE of the oldest access of a bank has been issued: that access needs the ACT too.
    #[inline]
    pub(crate) fn goes_on_to_activate(&mut self, bank: usize) {
        let held_by_bank = self.device.held_by_bank(bank_at(bank), Kind::Act);
        let candidate = &mut self.next[bank % MOST_BANKS];
        (candidate.kind, candidate.held_as, candidate.held_by_bank) = (Kind::Act, KeptKind::Act, held_by_bank);
        self.went_on(bank);
    }

    /// A RD or WR has been issued, and no access waits for the row any more: the oldest of the others needs a PRE, if there is one.
    #[inline]
    pub(crate) fn goes_on_to_precharge(&mut self, bank: usize, accesses: &Accesses) {
        let oldest = self.queues.oldest_other(bank, self.mode);
        if !oldest.is_some() {
            return self.commanded(bank_at(bank));
        }
        let order = Candidate::order(accesses[oldest].number, bank);
        self.next[bank % MOST_BANKS] = self.row_candidate(bank, oldest, order, Kind::Pre, KeptKind::Pre);
        self.known |= 1 << bank;
        self.went_on(bank);
    }

    /// The ACT has been issued: it needs the RD or WR too.
    #[inline]
    pub(crate) fn goes_on_to_column(&mut self, bank: usize, accesses: &Accesses) {
        let Candidate { entry, order, .. } = self.next[bank % MOST_BANKS];
        self.next[bank % MOST_BANKS] = self.column_candidate(bank, entry, order & !Candidate::ROW, accesses);
        self.went_on(bank);
        self.hold_back_activates(bank / 8);
    }

    #[inline]
    fn went_on(&mut self, bank: usize) {
        let Candidate { held_by_bank, order, .. } = self.next[bank % MOST_BANKS];
        // The bank holds it back from the command that has been issued on.
        self.keys[bank % MOST_BANKS] = self.key_clock.key_at(held_by_bank) | order;
        // Who has gone on without a look at this bank, must look at it.
        self.streak.forget();
        self.flights.run = None;
    }
}
