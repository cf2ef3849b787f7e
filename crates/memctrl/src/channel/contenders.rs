//! Order of the commands of threads and accesses. Rules 23 to 25 of `docs/controller.md`.

use std::ops::Range;

use dram_core::{KeptKind, Kind, Power};
use dram_spec::{BankSet, Cycle, Topology};

use super::Channel;
use super::arbiter::{Best, Choice, Decision, Eligible, Tier};
use crate::copy::row_step::RowOrder;
use crate::policy::scheduler::Priority;

/// Cycles until which older contenders block younger ones.
#[derive(Clone, Copy)]
pub(super) struct Turns {
    /// RD and WR.
    bus: Cycle,
    /// RD, WR and TRANSFER, by rank.
    paths: [Cycle; Topology::RANKS_MAX],
    /// Whether no contender blocks another.
    are_free: bool,
}

impl Turns {
    /// No contender blocks another.
    pub(super) const FREE: Turns =
        Turns { bus: Cycle::ZERO, paths: [Cycle::ZERO; Topology::RANKS_MAX], are_free: true };

    /// Earliest cycle at which a contender can issue a command that the device permits at `ready`.
    #[inline]
    pub(super) fn turn(&self, kind: Kind, rank: u8, ready: Cycle) -> Cycle {
        let path = self.paths[usize::from(rank)].max(ready);
        if kind == Kind::Transfer { path } else { path.max(self.bus) }
    }

    /// Blocks younger contenders until `turn`, at which a contender can issue its command.
    #[inline]
    fn block(&mut self, kind: Kind, rank: u8, turn: Cycle) {
        self.are_free = false;
        let path = &mut self.paths[usize::from(rank)];
        *path = turn.max(*path);
        if kind != Kind::Transfer {
            self.bus = self.bus.max(turn);
        }
    }

    /// The first cycle in which a younger contender can issue a column command to one of the first `ranks` ranks.
    #[inline]
    fn first(&self, ranks: u8) -> Cycle {
        self.paths[..usize::from(ranks)].iter().copied().min().unwrap_or(Cycle::ZERO)
    }
}

impl Channel {
    /// The best command of threads and accesses, where threads hold banks.
    #[inline(never)]
    pub(super) fn best_with_threads(&mut self, from: Cycle, eligible: Eligible, must: BankSet) -> Best {
        let mut best = Best::NOTHING;
        self.offer_row_steps(from, must, &mut best);
        let all = self.port.columns().len();
        if all == 0 {
            self.offer_accesses(from, eligible, &Turns::FREE, 0, &mut best);
            return best;
        }
        let mut turns = Turns::FREE;
        let stamp = |bank| self.queues.get(self.banks.candidate(bank).place).stamp();
        let accesses = eligible.columns(&self.banks).into_iter().map(stamp).min();
        let split =
            self.port.columns().partition_point(|contender| accesses.is_none_or(|oldest| contender.stamp < oldest));
        self.offer_column_steps(from, must, (0, 0..split), &mut turns, &mut best);
        self.offer_accesses(from, eligible, &turns, split as u64, &mut best);
        if split < all {
            self.block_by_accesses(from, eligible, &mut turns);
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
        // An issued column command does not delay its own kind in its banks.
        let at = self.device.kept_rank_hold(step.command.rank(), step.kind).until().max(self.from);
        if at < others_from && step.data_from <= at {
            self.decision = Decision { at, choice: Choice::Column(slot), others_from };
        }
    }

    /// Blocks younger contenders by all column candidates, which wait for the device or for older contenders.
    fn block_by_accesses(&self, from: Cycle, eligible: Eligible, turns: &mut Turns) {
        let older = *turns;
        for bank in eligible.columns(&self.banks) {
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
        for (number, contender) in (first..).zip(&self.port.columns()[threads]) {
            let slot = contender.slot();
            let Some(step) = self.port.column_step(slot) else { continue };
            let (kind, rank) = (step.kind.kind(), step.command.rank());
            if must.intersects(self.topology.rank(rank)) {
                continue;
            }
            // In a rank in power-down or self-refresh, the step waits for the rank's exit command.
            let Ok(hold) = self.device.earliest(&step.command) else { continue };
            if !turns.are_free {
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

    /// Offers the first row step of the threads in each rank. In a rank in power-down or self-refresh
    /// they wait for its exit command.
    #[inline]
    fn offer_row_steps(&mut self, from: Cycle, must: BankSet, best: &mut Best) {
        for (rank, banks) in self.topology.by_rank(self.port.stepping()) {
            if self.device.power(rank) != Power::Awake {
                continue;
            }
            let turn = |kind| self.device.kept_rank_hold(rank, kind).until().max(from);
            let [activate, copy, precharge] = [KeptKind::Act, KeptKind::ActCopy, KeptKind::Pre].map(turn);
            let mut first = (Cycle::NEVER, RowOrder::LAST);
            let mut choice = Choice::Nothing;
            for bank in banks {
                let step = self.port.row_step(bank);
                if step.ready == Cycle::NEVER {
                    step.ready = self.device.kept_bank_hold(bank, step.kind).until();
                }
                let at = step.ready.max(match step.kind {
                    KeptKind::Act => activate,
                    KeptKind::ActCopy => copy,
                    _ => precharge,
                });
                if at < first.0 || (at == first.0 && step.order < first.1) {
                    (first, choice) = ((at, step.order), Choice::Row(bank));
                }
            }
            let tier = if must.intersects(banks) { Tier::Maintenance } else { Tier::Row };
            let (at, RowOrder { stamp, program, place }) = first;
            best.consider((at, tier, Priority::new(false, stamp).order(), (program, place)), choice);
        }
    }
}
