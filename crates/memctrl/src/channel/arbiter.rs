//! Which command of a channel goes next, and when. Rules 24 to 28 of `docs/controller.md`.
//!
//! Each source of commands (maintenance, accesses, threads, the row policy) offers the command that it would issue first and the cycle in
//! which it can. The arbiter takes the earliest; in the same cycle, the one of the lower tier.

use dram_core::{Hold, Kind};
use dram_spec::{BankIndex, BankSet, Command, Cycle, Cycles};

use super::Channel;
use super::access::{AccessKind, Stamp};
use super::candidate::Action;
use super::maintenance::Upkeep;
use crate::policy::scheduler::Priority;

/// The command that goes next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decision {
    /// When it goes; without a command, when to decide again.
    pub(crate) at: Cycle,
    pub(crate) choice: Choice,
    /// Which rules delay it.
    pub(crate) hold: Hold,
}

/// Whose command goes next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Choice {
    Nothing,
    /// The own command of a rank.
    Maintenance(u8),
    /// The candidate of a bank.
    Access(BankIndex),
    /// The row step of the thread at a place of the port, in a bank.
    Row(u8, BankIndex),
    /// The column step of the thread at a place of the port.
    Column(u8),
    /// PRE by the row policy.
    Timeout(BankIndex),
}

/// Of commands that can go in the same cycle, the one of the lower tier goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Tier {
    Maintenance,
    Column,
    Row,
    Timeout,
}

/// An offer: when, in which tier, its order within the tier (of columns, the party: the oldest is the first), and among equals.
type Offer = (Cycle, Tier, u64, usize);

impl Decision {
    const NOTHING: Decision = Decision { at: Cycle::NEVER, choice: Choice::Nothing, hold: Hold::NONE };

    /// Whether it stands when an access is queued that is not preferred in its bank.
    #[inline]
    pub(crate) fn outlives_queueing(&self) -> bool {
        !matches!(self.choice, Choice::Timeout(_))
    }

    /// Decides again at `at`, if the command does not go before: what changes in a cycle counts for the command of that cycle.
    #[inline]
    pub(crate) fn bound(&mut self, at: Cycle) {
        if self.at >= at {
            *self = Decision { at, ..Decision::NOTHING };
        }
    }
}

/// The best offer so far.
struct Best {
    offer: Offer,
    decision: Decision,
}

impl Best {
    #[inline]
    fn consider(&mut self, offer: Offer, choice: Choice, hold: Hold) {
        if offer < self.offer {
            *self = Best { offer, decision: Decision { at: offer.0, choice, hold } };
        }
    }
}

/// Until when older parties block younger ones.
struct Turns {
    /// RD and WR.
    bus: Cycle,
    /// RD, WR and TRANSFER, by rank.
    paths: Vec<Cycle>,
}

impl Turns {
    /// No party blocks another.
    const fn free() -> Turns {
        Turns { bus: Cycle::ZERO, paths: Vec::new() }
    }

    /// When a party can issue a command that the device allows at `ready`.
    fn turn(&self, kind: Kind, rank: u8, ready: Cycle) -> Cycle {
        let path = self.paths.get(usize::from(rank)).map_or(ready, |&path| path.max(ready));
        if kind == Kind::Transfer { path } else { path.max(self.bus) }
    }

    /// A party waits until `turn` for the device or for older parties.
    fn block(&mut self, kind: Kind, rank: u8, turn: Cycle) {
        let rank = usize::from(rank);
        if self.paths.len() <= rank {
            self.paths.resize(rank + 1, Cycle::ZERO);
        }
        self.paths[rank] = self.paths[rank].max(turn);
        if kind != Kind::Transfer {
            self.bus = self.bus.max(turn);
        }
    }
}

impl Channel {
    /// The command that goes next, from `from` on, while nothing but time changes.
    #[inline]
    pub(super) fn arbitrate(&mut self, from: Cycle, upkeep: &Upkeep) -> Decision {
        let mut best = Best { offer: (Cycle::NEVER, Tier::Timeout, u64::MAX, 0), decision: Decision::NOTHING };
        if let Some((at, rank)) = upkeep.command {
            let hold = self.maintenance.hold(rank);
            best.consider((at, Tier::Maintenance, 0, 0), Choice::Maintenance(rank), hold);
        }
        let free = self.all.without(self.port.held()).intersection(upkeep.usable);
        if self.port.held().is_empty() {
            self.offer_accesses(from, free, &Turns::free(), 0, &mut best);
        } else {
            self.offer_with_threads(from, free, upkeep.must, &mut best);
        }
        if let Some(after) = self.row_policy.closes_after() {
            self.offer_timeouts(from, free, after, &mut best);
        }
        best.decision
    }

    /// The kind of access that uses the data bus: the one that is not the mode, while it has unused rows.
    #[inline]
    fn direction(&self, free: BankSet) -> AccessKind {
        let mode = self.drain.mode();
        if self.unused(mode.other()).intersects(free) { mode.other() } else { mode }
    }

    /// The banks whose candidates count.
    #[inline]
    fn working(&mut self, free: BankSet) -> BankSet {
        let mode = self.drain.mode();
        let working = self.queues.pending(mode).union(self.unused(mode.other())).intersection(free);
        if self.scheduler.is_strict() { self.preferred(working, free) } else { working }
    }

    /// The command that the accesses would issue first, where threads have the turns.
    #[inline]
    fn offer_accesses(&mut self, from: Cycle, free: BankSet, turns: &Turns, party: u64, best: &mut Best) {
        let direction = self.direction(free);
        let mut first: Option<(Cycle, Priority, BankIndex, Action, Hold)> = None;
        for bank in self.working(free) {
            let Some(candidate) = self.candidate(bank).filter(|candidate| candidate.may_go(direction)) else {
                continue;
            };
            let rank = self.banks[bank.get()].rank();
            let hold = candidate.bank_hold.max(self.device.rank_hold(rank, candidate.device_kind));
            let mut at = hold.until().max(from);
            if candidate.action == Action::Column {
                at = turns.turn(candidate.device_kind, rank, at);
            }
            if first.is_none_or(|(earliest, priority, ..)| (at, candidate.access.priority) < (earliest, priority)) {
                first = Some((at, candidate.access.priority, bank, candidate.action, hold));
            }
        }
        if let Some((at, priority, bank, action, hold)) = first {
            let (tier, order) =
                if action == Action::Column { (Tier::Column, party) } else { (Tier::Row, priority.order()) };
            best.consider((at, tier, order, 0), Choice::Access(bank), hold);
        }
    }

    /// Of some banks, the one whose candidate has the smallest priority.
    fn preferred(&mut self, banks: BankSet, free: BankSet) -> BankSet {
        let direction = self.direction(free);
        let mut first: Option<(Priority, BankIndex)> = None;
        for bank in banks {
            if let Some(candidate) = self.candidate(bank)
                && candidate.may_go(direction)
                && first.is_none_or(|(priority, _)| candidate.access.priority < priority)
            {
                first = Some((candidate.access.priority, bank));
            }
        }
        first.map_or(BankSet::EMPTY, |(_, bank)| BankSet::of(bank))
    }

    /// The stamp of the oldest column candidate that may be issued, and what those candidates block.
    fn access_party(&mut self, free: BankSet) -> Option<Stamp> {
        let direction = self.direction(free);
        let mut oldest: Option<Stamp> = None;
        for bank in self.working(free) {
            if let Some(candidate) = self.candidate(bank)
                && candidate.action == Action::Column
                && candidate.may_go(direction)
            {
                oldest = Some(oldest.map_or(candidate.stamp, |stamp| stamp.min(candidate.stamp)));
            }
        }
        oldest
    }

    /// The commands of threads and accesses, where threads hold banks.
    fn offer_with_threads(&mut self, from: Cycle, free: BankSet, must: BankSet, best: &mut Best) {
        self.offer_row_steps(from, must, best);
        let mut turns = Turns::free();
        let accesses = self.access_party(free);
        let mut parties: Vec<(Stamp, usize)> =
            self.port.running().map(|(place, thread)| (thread.stamp(), place)).collect();
        parties.sort_unstable();
        let before = |stamp: Stamp| accesses.is_none_or(|oldest| stamp < oldest);
        let split = parties.partition_point(|&(stamp, _)| before(stamp));
        for (party, &(_, place)) in (0..).zip(&parties[..split]) {
            self.offer_column_step(from, must, place, party, &mut turns, best);
        }
        self.offer_accesses(from, free, &turns, split as u64, best);
        if accesses.is_some() {
            self.block_by_accesses(from, free, &mut turns);
        }
        for (party, &(_, place)) in (split as u64 + 1..).zip(&parties[split..]) {
            self.offer_column_step(from, must, place, party, &mut turns, best);
        }
    }

    /// All column candidates wait for the device, or for older parties.
    fn block_by_accesses(&mut self, from: Cycle, free: BankSet, turns: &mut Turns) {
        let direction = self.direction(free);
        let mut waits: Vec<(Kind, u8, Cycle)> = Vec::new();
        for bank in self.working(free) {
            if let Some(candidate) = self.candidate(bank)
                && candidate.action == Action::Column
                && candidate.may_go(direction)
            {
                let rank = self.banks[bank.get()].rank();
                let hold = candidate.bank_hold.max(self.device.rank_hold(rank, candidate.device_kind));
                waits.push((
                    candidate.device_kind,
                    rank,
                    turns.turn(candidate.device_kind, rank, hold.until().max(from)),
                ));
            }
        }
        for (kind, rank, turn) in waits {
            turns.block(kind, rank, turn);
        }
    }

    fn offer_column_step(
        &self,
        from: Cycle,
        must: BankSet,
        place: usize,
        party: u64,
        turns: &mut Turns,
        best: &mut Best,
    ) {
        let Some(step) = self.port.get(place).column_step(|bank| self.device.row_in(bank)) else { return };
        let kind = match step.command {
            Command::Transfer { .. } => Kind::Transfer,
            Command::Read { .. } => Kind::Rd,
            _ => Kind::Wr,
        };
        let rank = step.command.rank();
        if must.intersects(self.topology.rank(rank)) {
            return;
        }
        // In a rank that sleeps it waits for the rank's own command.
        let Ok(hold) = self.device.earliest(&step.command) else { return };
        let turn = turns.turn(kind, rank, hold.until().max(from));
        turns.block(kind, rank, turn);
        let at = turn.max(step.data_from);
        best.consider((at, Tier::Column, party, place), Choice::Column(place as u8), hold);
    }

    fn offer_row_steps(&self, from: Cycle, must: BankSet, best: &mut Best) {
        let mut index = 0;
        for (place, thread) in self.port.running() {
            for step in thread.row_steps(|bank| self.device.row_in(bank)) {
                index += 1;
                // In a rank that sleeps it waits for the rank's own command.
                let Ok(hold) = self.device.earliest(&step.command) else { continue };
                let tier = if must.contains(step.bank) { Tier::Maintenance } else { Tier::Row };
                let order = Priority::new(false, thread.stamp()).order();
                let choice = Choice::Row(place as u8, step.bank);
                best.consider((hold.until().max(from), tier, order, index), choice, hold);
            }
        }
    }

    /// PRE of rows that no queued access needs.
    fn offer_timeouts(&self, from: Cycle, free: BankSet, after: Cycles, best: &mut Best) {
        for index in self.device.open_banks().intersection(free) {
            let bank = self.topology.bank(index);
            let is_needed = self.device.row_in(index).is_some_and(|row| self.queues.has_any(index, row));
            if is_needed {
                continue;
            }
            let last = self.device.last_in_bank(bank).unwrap_or(Cycle::ZERO);
            let hold = self.device.earliest(&Command::Precharge { bank }).expect("a rank that can be used is awake");
            let at = hold.until().max(last + after).max(from);
            best.consider((at, Tier::Timeout, 0, index.get()), Choice::Timeout(index), hold);
        }
    }
}

#[cfg(test)]
mod tests;
