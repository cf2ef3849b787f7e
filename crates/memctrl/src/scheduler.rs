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
    entry: Entry,
    kind: Kind,
    class: Class,
    /// The sequence number of its access; of a row command above that of every RD and WR.
    pub(crate) order: u64,
    /// Until when its bank holds it back.
    held_by_bank: Cycle,
}

impl Candidate {
    /// No sequence number is as large.
    const ROW: u64 = 1 << 63;

    /// Of no access.
    pub(crate) const NONE: Candidate = Candidate {
        entry: Entry::NONE,
        kind: Kind::Act,
        class: Class::Activate,
        order: u64::MAX,
        held_by_bank: Cycle::NEVER,
    };

    /// A RD or WR.
    pub(crate) fn column(entry: Entry, kind: Kind, number: u64, held_by_bank: Cycle) -> Candidate {
        Candidate { entry, kind, class: Class::Column, order: number, held_by_bank }
    }

    pub(crate) fn is_row(&self) -> bool {
        self.order >= Candidate::ROW
    }

    /// The sequence number of its access.
    pub(crate) fn number(&self) -> u64 {
        self.order & !Candidate::ROW
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

    /// The command on the bus, of a RD or WR.
    #[inline]
    pub(crate) fn column_command(&self, spot: Spot, mode: access::Kind) -> Command {
        let closes = matches!(self.kind, Kind::Rda | Kind::Wra);
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
        let (unusable, upkeep) = match self.own_commands(from) {
            Err(others) => others,
            Ok(command) => {
                (self.prepared_at, self.prepared) = (from, Choice::Upkeep(command));
                return from;
            }
        };
        let usable = self.usable(unusable, accesses);
        let mut next = if self.flights.is_empty() {
            let (at, bank) = self.streak_goes_on(from, usable, accesses).unwrap_or_else(|| {
                self.find_candidates(usable, accesses);
                let (at, bank) = self.first_access(from, usable);
                self.goes_first(bank, usable);
                (at, bank)
            });
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

    /// When the first candidate can go, from `from` on, and its bank: of those that can at the same time, RD and WR before the rest, then
    /// the oldest. Never, where there is none.
    #[inline(never)]
    fn first_access(&self, from: Cycle, usable: u32) -> (Cycle, usize) {
        // The instant above the sequence number: of two that can go at once the older has the smaller key.
        let key = |at: Cycle, order: u64| u128::from(at.0) << 64 | u128::from(order);
        let (mut first, mut goes) = (key(Cycle::NEVER, u64::MAX), MOST_BANKS);
        let mut rest = usable;
        while rest != 0 {
            let rank = rest.trailing_zeros() / 8;
            let mut banks = rest & 0xFF << (8 * rank);
            rest &= !banks;
            // A rank holds back the candidates of a kind alike.
            let held = self.device.held_by(rank as u8);
            let held = [Kind::Pre, Kind::Act, self.column_kind()].map(|kind| held.until(kind).max(from));
            while banks != 0 {
                let bank = banks.trailing_zeros() as usize % MOST_BANKS;
                banks &= banks - 1;
                let candidate = &self.next[bank];
                let key = key(candidate.held_by_bank.max(held[candidate.class as usize]), candidate.order);
                (first, goes) = if key < first { (key, bank) } else { (first, goes) };
            }
        }
        (Cycle((first >> 64) as u64), goes)
    }

    /// What accesses of the mode do to an open row.
    #[inline]
    pub(crate) fn column_kind(&self) -> Kind {
        if self.mode == access::Kind::Read { Kind::Rd } else { Kind::Wr }
    }

    /// Finds out what the accesses of some banks would do next, where that is not known; it stays so until something happens to the bank.
    #[inline]
    pub(crate) fn find_candidates(&mut self, banks: u32, accesses: &Accesses) {
        let mut unknown = banks & !self.known;
        if unknown != 0 {
            self.streak.forget();
        }
        while unknown != 0 {
            let bank = unknown.trailing_zeros() as usize;
            unknown &= unknown - 1;
            self.next[bank % MOST_BANKS] = self.find_candidate(bank, accesses);
        }
        self.known |= banks;
    }

    #[inline]
    fn find_candidate(&self, bank: usize, accesses: &Accesses) -> Candidate {
        let oldest = self.queues.oldest(bank, self.mode);
        let hit = self.queues.oldest_hit(bank, self.mode);
        let capped = match self.scheduler {
            // Where the oldest is to the open row, it is the oldest of that row.
            Scheduler::FrFcfsCap(cap) => hit != oldest && self.banks[bank].served >= cap,
            Scheduler::Fcfs => hit != oldest,
            Scheduler::FrFcfs => false,
        };
        let (entry, kind, class, row) = if hit.is_some() && !capped {
            let closes = self.row_policy == RowPolicy::Closed && self.queues.is_last_hit(bank, accesses, hit);
            let kind = match (self.mode, closes) {
                (access::Kind::Read, false) => Kind::Rd,
                (access::Kind::Read, true) => Kind::Rda,
                (access::Kind::Write, false) => Kind::Wr,
                (access::Kind::Write, true) => Kind::Wra,
            };
            (hit, kind, Class::Column, 0)
        } else if self.open & (1 << bank) != 0 {
            (oldest, Kind::Pre, Class::Precharge, Candidate::ROW)
        } else {
            (oldest, Kind::Act, Class::Activate, Candidate::ROW)
        };
        let held_by_bank = self.device.held_by_bank(bank_at(bank), kind);
        Candidate { entry, kind, class, order: row | accesses[entry].number, held_by_bank }
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
