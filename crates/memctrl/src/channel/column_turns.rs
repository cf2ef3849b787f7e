//! Threads as a source of commands: their row steps, and their turns for column commands. Rules 23
//! to 25 of `docs/controller.md`.

use dram_core::{KeptKind, Power};
use dram_spec::{Cycle, SourceId};

use super::offer::{Choice, Claim, Lead, Offer, Older, Tier, Turns, View};
use crate::copy::port::Port;
use crate::copy::row_step::RowOrder;
use crate::policy::scheduler::Key;

/// What the threads offer.
pub(crate) struct ThreadOffers {
    /// The command that they would issue first.
    pub(crate) first: Offer,
    /// First cycle at which another command of theirs may interrupt a run of the lead.
    pub(crate) others_at: Cycle,
    /// What the accesses must know of the contenders that are older than they.
    pub(crate) older: Older,
}

impl Port {
    /// The offers of the threads; `claim` is that of the accesses for column commands, if any, and
    /// `key` the scheduler's key of the row commands of a source's copies.
    pub(crate) fn offer(
        &mut self,
        view: &View<'_>,
        claim: Option<&Claim>,
        key: impl Fn(SourceId) -> Key,
    ) -> ThreadOffers {
        let rows = self.offer_row_steps(view, key);
        let ThreadOffers { first, others_at, older } = self.offer_column_steps(view, claim);
        ThreadOffers { first: first.or(rows), others_at: others_at.min(rows.at), older }
    }

    /// The first row step of the threads. In a rank in power-down or self-refresh they wait for its
    /// exit command.
    pub(crate) fn offer_row_steps(&mut self, view: &View<'_>, key: impl Fn(SourceId) -> Key) -> Offer {
        let mut best = Offer::NOTHING;
        for (rank, banks) in view.topology().by_rank(self.stepping()) {
            if view.device.power(rank) != Power::Awake {
                continue;
            }
            let [activate, copy, precharge] =
                [KeptKind::Act, KeptKind::ActCopy, KeptKind::Pre].map(|kind| view.floor(rank, kind));
            let must = view.must.intersects(banks);
            let tier = if must { Tier::Maintenance } else { Tier::Row };
            let mut first = (Cycle::NEVER, Key::LAST, RowOrder::LAST);
            let mut choice = Choice::Nothing;
            for bank in banks {
                let step = self.row_step(bank);
                if step.ready == Cycle::NEVER {
                    step.ready = view.device.kept_bank_hold(bank, step.kind).until();
                }
                let at = step.ready.max(match step.kind {
                    KeptKind::Act => activate,
                    KeptKind::ActCopy => copy,
                    _ => precharge,
                });
                if at > first.0 {
                    continue;
                }
                // In a rank that must refresh, the oldest thread is first, after the rank's command.
                let key = if must { Key::EQUAL.first_if(false) } else { key(step.source) };
                if (at, key, step.order) < first {
                    (first, choice) = ((at, key, step.order), Choice::Row(bank));
                }
            }
            let (at, key, RowOrder { stamp: age, program, place }) = first;
            let (order, tie) = (key.order(), program << u8::BITS | u64::from(place));
            best = best.or(Offer { at, tier, order, age, tie, choice });
        }
        best
    }

    /// The first column step of the threads, the oldest contender first, and the contenders before
    /// the accesses.
    fn offer_column_steps(&self, view: &View<'_>, claim: Option<&Claim>) -> ThreadOffers {
        let (mut turns, mut lead, mut number) = (Turns::free(), None, 0);
        let (mut best, mut others_at, mut is_first) = (Offer::NOTHING, Cycle::NEVER, true);
        let mut older = None;
        for contender in self.columns() {
            if let Some(claim) = claim
                && older.is_none()
                && contender.stamp >= claim.stamp
            {
                older = Some(Older { turns: turns.clone(), lead, number });
                number += 1;
                is_first = false;
                block_by(claim, view, &mut turns);
            }
            let (slot, order) = (contender.slot(), number);
            number += 1;
            let Some(step) = self.column_step(slot) else { continue };
            let (kind, rank) = (step.kind, step.command.rank());
            if view.must.intersects(view.topology().rank(rank)) {
                continue;
            }
            // In a rank in power-down or self-refresh, the step waits for the rank's exit command.
            let Ok(hold) = view.device.earliest(&step.command) else { continue };
            let turn = turns.turn(kind, rank, hold.until().max(view.from));
            turns.block(kind, rank, turn);
            let at = turn.max(step.data_from);
            if std::mem::take(&mut is_first) && at == turn {
                lead = Some(Lead { slot, kind, rank });
            } else if !lead.is_some_and(|lead: Lead| lead.blocks(kind, rank)) {
                others_at = others_at.min(at);
            }
            let offer = Offer { order, ..Offer::new(at, Tier::Column, Choice::Column(slot)) };
            best = best.or(offer);
            // No younger contender can be earlier than this one.
            if best.at <= turns.first(view.topology().ranks) {
                let others = (0..view.topology().ranks).filter(|&other| lead.is_some_and(|lead| lead.rank != other));
                let paths = others.map(|rank| turns.turn(KeptKind::Transfer, rank, Cycle::ZERO));
                others_at = paths.fold(others_at, Cycle::min);
                break;
            }
        }
        let older = older.unwrap_or(Older { turns, lead, number });
        ThreadOffers { first: best, others_at, older }
    }
}

/// Blocks younger contenders by all column candidates, which wait for the device or for older
/// contenders.
fn block_by(claim: &Claim, view: &View<'_>, turns: &mut Turns) {
    let older = turns.clone();
    for rank in 0..view.topology().ranks {
        if let Some(ready) = claim.ready[rank] {
            turns.block(claim.kind, rank, older.turn(claim.kind, rank, ready));
        }
    }
}
