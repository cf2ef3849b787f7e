//! Arbiter: selects the next command of a channel and its cycle. Rules 24 to 28 of
//! `docs/controller.md`.
//!
//! Each source of commands (maintenance, accesses, threads, the row policy) offers its best command
//! and the earliest cycle of it. The arbiter selects the earliest; of several in one cycle, the one
//! of the lowest tier.

use dram_core::Hold;
use dram_spec::{BankIndex, BankSet, Command, Cycle, Cycles};

use super::Channel;
use super::bank::Banks;
use super::candidate::AccessCommand;
use super::contenders::Turns;
use crate::policy::scheduler::Priority;

/// The next command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decision {
    /// Cycle of the command; without a command, cycle of the next decision.
    pub(crate) at: Cycle,
    pub(crate) choice: Choice,
    /// Lower bound of the cycle in which another command may be issued or a new decision is
    /// required.
    pub(crate) others_from: Cycle,
}

/// Owner of the next command.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Choice {
    Nothing,
    /// Maintenance command of a rank.
    Maintenance(u8),
    /// The candidate of a bank.
    Access(BankIndex),
    /// The row step of the thread that holds a bank.
    Row(BankIndex),
    /// The column step of the thread in a slot of the port.
    Column(u8),
    /// PRE by the row policy.
    Timeout(BankIndex),
}

/// Order of commands that can be issued in one cycle; the lowest tier is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tier {
    Maintenance,
    Column,
    Row,
    Timeout,
}

/// An offer: cycle, tier, order within the tier (for columns the contender, the oldest first), and
/// order among equals.
pub(super) type Offer = (Cycle, Tier, u64, (u64, usize));

impl Decision {
    const NOTHING: Decision = Decision { at: Cycle::NEVER, choice: Choice::Nothing, others_from: Cycle::NEVER };

    /// No command is decided; the next decision is at `at`.
    #[inline]
    pub(crate) const fn outstanding(at: Cycle) -> Decision {
        Decision { at, ..Decision::NOTHING }
    }

    /// Whether the decision remains valid when an access is queued that is not preferred in its
    /// bank.
    #[inline]
    pub(crate) fn outlives_queueing(&self) -> bool {
        !matches!(self.choice, Choice::Timeout(_))
    }

    /// Requires a new decision at `at`, unless the command is earlier: a change in a cycle affects
    /// the command of that cycle.
    #[inline]
    pub(crate) fn bound(&mut self, at: Cycle) {
        if self.at >= at {
            *self = Decision::outstanding(at);
        }
        self.others_from = self.others_from.min(at);
    }
}

/// The best offer so far.
pub(super) struct Best {
    pub(super) offer: Offer,
    decision: Decision,
}

impl Best {
    pub(super) const NOTHING: Best =
        Best { offer: (Cycle::NEVER, Tier::Timeout, u64::MAX, (0, 0)), decision: Decision::NOTHING };

    #[inline]
    pub(super) fn consider(&mut self, offer: Offer, choice: Choice) {
        if offer < self.offer {
            let others_from = self.decision.others_from.min(self.offer.0);
            *self = Best { offer, decision: Decision { at: offer.0, choice, others_from } };
        } else {
            self.others_from(offer.0);
        }
    }

    /// Records that another command may be issued from `at` on.
    #[inline]
    pub(super) fn others_from(&mut self, at: Cycle) {
        self.decision.others_from = self.decision.others_from.min(at);
    }
}

/// The candidates that count.
#[derive(Clone, Copy)]
pub(super) struct Eligible {
    /// Their banks.
    banks: BankSet,
    /// The column command that may be issued: the direction of the data bus.
    column: AccessCommand,
}

impl Eligible {
    /// The banks whose candidate is the column command that may be issued.
    pub(super) fn columns(self, banks: &Banks) -> BankSet {
        self.banks.intersection(banks.with_command(self.column))
    }
}

/// The candidate that the accesses would issue first.
struct AccessOffer {
    at: Cycle,
    bank: BankIndex,
    is_column: bool,
    priority: Priority,
}

impl AccessOffer {
    #[inline]
    fn decision(&self) -> Decision {
        Decision { at: self.at, choice: Choice::Access(self.bank), ..Decision::NOTHING }
    }

    /// The offer, with its order among the columns.
    #[inline]
    fn offer(&self, contender: u64) -> Offer {
        let (tier, order) = if self.is_column { (Tier::Column, contender) } else { (Tier::Row, self.priority.order()) };
        (self.at, tier, order, (0, 0))
    }
}

impl Channel {
    /// The next command from `from` on, if only time passes.
    #[inline]
    pub(super) fn arbitrate(
        &mut self,
        from: Cycle,
        upkeep: Option<(Cycle, u8)>,
        usable: BankSet,
        must: BankSet,
    ) -> Decision {
        let free = self.free().intersection(usable);
        let eligible = self.eligible(free);
        if self.port.held().is_empty() && upkeep.is_none() && self.closes_after.is_none() {
            return self.best_access(from, eligible, None).map_or(Decision::NOTHING, |access| access.decision());
        }
        let mut best = if self.port.held().is_empty() {
            let mut best = Best::NOTHING;
            self.offer_accesses(from, eligible, &Turns::FREE, 0, &mut best);
            best
        } else {
            self.best_with_threads(from, eligible, must)
        };
        if let Some((at, rank)) = upkeep {
            best.consider((at, Tier::Maintenance, 0, (0, 0)), Choice::Maintenance(rank));
        }
        if let Some(after) = self.closes_after {
            self.offer_timeouts(from, free, after, &mut best);
        }
        best.decision
    }

    /// The banks whose candidates count, which are computed; `free` are those that accesses can use.
    #[inline]
    fn eligible(&mut self, free: BankSet) -> Eligible {
        let mode = self.drain.mode();
        let unused = self.banks.unused(mode.other()).intersection(free);
        let direction = if unused.is_empty() { mode } else { mode.other() };
        let banks = self.queues.pending(mode).intersection(free).union(unused);
        self.update_candidates(banks);
        let column = AccessCommand::column(direction);
        let blocked = self.banks.with_command(AccessCommand::column(direction.other()));
        let banks = if self.is_strict { self.preferred(banks.without(blocked)) } else { banks };
        Eligible { banks, column }
    }

    /// The command that the accesses would issue first, where threads have the turns.
    pub(super) fn offer_accesses(
        &self,
        from: Cycle,
        eligible: Eligible,
        turns: &Turns,
        contender: u64,
        best: &mut Best,
    ) {
        if let Some(access) = self.best_access(from, eligible, Some(turns)) {
            best.consider(access.offer(contender), Choice::Access(access.bank));
        }
    }

    /// The relevant candidate with the earliest cycle; of several, the one of least priority.
    #[expect(clippy::inline_always, reason = "it is most of a decision, and without threads it has no turns")]
    #[inline(always)]
    fn best_access(&self, from: Cycle, eligible: Eligible, turns: Option<&Turns>) -> Option<AccessOffer> {
        let (mut first, mut at, mut priority) = (None, Cycle::NEVER, Priority::LAST);
        for (rank, banks) in self.topology.by_rank(eligible.banks) {
            for command in [AccessCommand::Precharge, AccessCommand::Activate, eligible.column] {
                let banks = banks.intersection(self.banks.with_command(command));
                if banks.is_empty() {
                    continue;
                }
                // When rank, buses and other contenders allow the command.
                let ready = self.device.kept_rank_hold(rank, command.device_kind()).until().max(from);
                let turn = match turns {
                    Some(turns) if command.is_column() => turns.turn(command.device_kind().kind(), rank, ready),
                    _ => ready,
                };
                for bank in banks {
                    let candidate = self.banks.candidate(bank);
                    let ready = candidate.ready.max(turn);
                    if ready < at || (ready == at && candidate.priority < priority) {
                        (first, at, priority) = (Some(bank), ready, candidate.priority);
                    }
                }
            }
        }
        let bank = first?;
        Some(AccessOffer { at, bank, is_column: self.banks.candidate(bank).command.is_column(), priority })
    }

    /// The delay of a bank's candidate.
    #[inline]
    pub(super) fn hold_of(&self, bank: BankIndex) -> Hold {
        let (command, rank) = (self.banks.candidate(bank).command, self.banks.get(bank).id().rank);
        let kind = command.device_kind();
        self.device.kept_bank_hold(bank, kind).max(self.device.kept_rank_hold(rank, kind))
    }

    /// The bank whose candidate has the smallest priority, of some banks.
    fn preferred(&self, banks: BankSet) -> BankSet {
        let least = banks.into_iter().min_by_key(|&bank| self.banks.candidate(bank).priority);
        least.map_or(BankSet::EMPTY, BankSet::of)
    }

    /// Offers PREs of rows that no queued access needs.
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
            best.consider((at, Tier::Timeout, 0, (0, index.get())), Choice::Timeout(index));
        }
    }
}

#[cfg(test)]
mod tests;
