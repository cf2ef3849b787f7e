//! Order of the commands of threads and accesses. Rules 23 to 25 of `docs/controller.md`.

use std::ops::Range;

use dram_core::Kind;
use dram_spec::{BankSet, Command, Cycle};

use super::Channel;
use super::access::Stamp;
use super::arbiter::{Best, Choice, Decision, Tier};
use crate::policy::scheduler::Priority;

/// Maximum number of ranks per channel.
const RANKS: usize = 4;

/// Cycles until which older contenders block younger ones.
#[derive(Clone, Copy)]
pub(super) struct Turns {
    /// RD and WR.
    bus: Cycle,
    /// RD, WR and TRANSFER, by rank.
    paths: [Cycle; RANKS],
}

impl Turns {
    /// No party blocks another.
    pub(super) const FREE: Turns = Turns { bus: Cycle::ZERO, paths: [Cycle::ZERO; RANKS] };

    /// Earliest cycle at which a contender can issue a command that the device permits at `ready`.
    #[inline]
    pub(super) fn turn(&self, kind: Kind, rank: u8, ready: Cycle) -> Cycle {
        let path = self.paths[usize::from(rank)].max(ready);
        if kind == Kind::Transfer { path } else { path.max(self.bus) }
    }

    /// Blocks younger contenders until `turn`, at which a contender can issue its command.
    #[inline]
    fn block(&mut self, kind: Kind, rank: u8, turn: Cycle) {
        let path = &mut self.paths[usize::from(rank)];
        *path = turn.max(*path);
        if kind != Kind::Transfer {
            self.bus = self.bus.max(turn);
        }
    }

    /// Whether no party blocks another.
    #[inline]
    fn are_free(&self) -> bool {
        self.bus == Cycle::ZERO && self.paths == [Cycle::ZERO; RANKS]
    }

    /// The first cycle in which a younger party can issue a column command to one of the first `ranks` ranks.
    #[inline]
    fn first(&self, ranks: u8) -> Cycle {
        self.paths[..usize::from(ranks)].iter().copied().min().unwrap_or(Cycle::ZERO)
    }
}

impl Channel {
    /// The stamp of the oldest column candidate that may be issued, and what those candidates block.
    fn access_party(&mut self, free: BankSet) -> Option<Stamp> {
        let columns: BankSet = self.columns(free).collect();
        columns.into_iter().map(|bank| self.queues.get(self.banks.candidate(bank).place).stamp()).min()
    }

    /// The best command of threads and accesses, where threads hold banks.
    #[inline(never)]
    pub(super) fn best_with_threads(&mut self, from: Cycle, free: BankSet, must: BankSet) -> Best {
        let mut best = Best::NOTHING;
        self.offer_row_steps(from, must, &mut best);
        let mut turns = Turns::FREE;
        let accesses = self.access_party(free);
        let split = self.port.columns().partition_point(|party| accesses.is_none_or(|oldest| party.stamp < oldest));
        self.offer_column_steps(from, must, (0, 0..split), &mut turns, &mut best);
        self.offer_accesses(from, free, &turns, split as u64, &mut best);
        let all = self.port.columns().len();
        if split < all {
            self.block_by_accesses(from, free, &mut turns);
            self.offer_column_steps(from, must, (split as u64 + 1, split..all), &mut turns, &mut best);
        }
        best
    }

    /// After a column command of a thread: decides the thread's next column command, if that only
    /// waits for the device and can be issued before all others. A command only delays the others
    /// further. A contender that waits for an older one, or for its data, does not block others.
    #[inline]
    pub(super) fn follow_up(&mut self, slot: u8, others_from: Cycle) {
        let Some(step) = self.port.column_step(slot) else { return };
        let Ok(hold) = self.device.earliest(&step.command) else { return };
        let at = hold.until().max(self.from);
        if at < others_from && step.data_from <= at {
            self.decision = Decision { at, choice: Choice::Column(slot), others_from };
        }
    }

    /// All column candidates wait for the device, or for older parties.
    fn block_by_accesses(&mut self, from: Cycle, free: BankSet, turns: &mut Turns) {
        let (columns, older): (BankSet, Turns) = (self.columns(free).collect(), *turns);
        for bank in columns {
            let (rank, kind) =
                (self.banks.get(bank).id().rank, self.banks.candidate(bank).command.device_kind().kind());
            turns.block(kind, rank, older.turn(kind, rank, self.hold_of(bank).until().max(from)));
        }
    }

    /// Offers the next column steps of some threads, the oldest first; `first` is the number of the
    /// first as a contender.
    #[inline]
    fn offer_column_steps(
        &self,
        from: Cycle,
        must: BankSet,
        (first, threads): (u64, Range<usize>),
        turns: &mut Turns,
        best: &mut Best,
    ) {
        for (number, party) in (first..).zip(&self.port.columns()[threads]) {
            let slot = party.slot();
            let Some(step) = self.port.column_step(slot) else { continue };
            let kind = match step.command {
                Command::Transfer { .. } => Kind::Transfer,
                Command::Read { .. } => Kind::Rd,
                _ => Kind::Wr,
            };
            let rank = step.command.rank();
            if must.intersects(self.topology.rank(rank)) {
                continue;
            }
            // In a rank in power-down or self-refresh, the step waits for the rank's exit command.
            let Ok(hold) = self.device.earliest(&step.command) else { continue };
            if !turns.are_free() {
                best.others_from(Cycle::ZERO);
            }
            let turn = turns.turn(kind, rank, hold.until().max(from));
            turns.block(kind, rank, turn);
            let at = turn.max(step.data_from);
            best.consider((at, Tier::Column, number, (0, 0)), Choice::Column(slot));
            // No younger contender can be earlier than this one.
            if best.offer < (turns.first(self.topology.ranks), Tier::Column, number + 1, (0, 0)) {
                return;
            }
        }
    }

    #[inline]
    fn offer_row_steps(&mut self, from: Cycle, must: BankSet, best: &mut Best) {
        for bank in self.port.stepping() {
            let step = self.port.row_step(bank);
            if step.not_before() > best.offer.0 {
                best.others_from(step.not_before());
                continue;
            }
            // In a rank that sleeps it waits for the rank's own command.
            let Ok(hold) = self.device.earliest(&step.command) else { continue };
            step.is_delayed(hold.until());
            let tier = if must.contains(bank) { Tier::Maintenance } else { Tier::Row };
            let order = Priority::new(false, step.stamp).order();
            best.consider((hold.until().max(from), tier, order, step.order), Choice::Row(bank));
        }
    }
}
