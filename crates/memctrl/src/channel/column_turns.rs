//! Threads as a source of commands: their row steps, and their turns for column commands. Rules 23
//! to 25 of `docs/controller.md`.

use dram_core::{Device, KeptKind, Power};
use dram_spec::{BankIndex, Command, Cycle, SourceId, Topology};

use super::offer::{Choice, Claim, Lead, Offer, Older, Tier, Turns, View};
use crate::copy::RowStep;
use crate::copy::port::CopyPort;
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

impl CopyPort {
    /// The offers of the threads; `claim` is that of the accesses for column commands, if any, and
    /// `key` the scheduler's key of the row commands of a source's copies.
    #[inline(always)]
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
    #[inline(always)]
    pub(crate) fn offer_row_steps(&mut self, view: &View<'_>, key: impl Fn(SourceId) -> Key) -> Offer {
        let (mut at, mut first) = (Cycle::NEVER, None);
        let start = view.device.bus_free().max(view.from);
        // In a rank that must refresh, the oldest thread is first, after the rank's command.
        let order = |bank, step: &RowStep| {
            let must = view.must.contains(bank);
            let (tier, key) =
                if must { (Tier::Maintenance, Key::EQUAL.first_if(false)) } else { (Tier::Row, key(step.source)) };
            Offer {
                at: Cycle::NEVER,
                tier,
                order: key.order(),
                age: step.stamp,
                tie: step.tie,
                choice: Choice::Row(bank),
            }
        };
        for bank in self.stepping() {
            let step = self.row_step(bank);
            let next = &mut step.next;
            if next.ready == Cycle::NEVER {
                next.ready = view.device.kept_bank_hold(bank, next.kind).until();
                next.floor = view.device.floor_of(bank, next.kind);
            }
            let ready = next.ready.max(view.device.floor(next.floor)).max(start);
            if ready > at || view.device.power(next.rank) != Power::Awake {
                continue;
            }
            let step = *step;
            if ready < at || first.is_none_or(|other| order(bank, &step).precedes(&order(other, self.row_step(other))))
            {
                (at, first) = (ready, Some(bank));
            }
        }
        first.map_or(Offer::NOTHING, |bank| Offer { at, ..order(bank, self.row_step(bank)) })
    }

    /// The first column step of the threads, the oldest contender first, and the contenders before
    /// the accesses.
    #[inline(always)]
    fn offer_column_steps(&mut self, view: &View<'_>, claim: Option<&Claim>) -> ThreadOffers {
        let (mut turns, mut lead, mut number) = (Turns::free(), None, 0);
        let (mut best, mut others_at, mut is_first) = (Offer::NOTHING, Cycle::NEVER, true);
        let mut older = None;
        let start = view.device.bus_free().max(view.from);
        let contenders = self.columns().len();
        for place in 0..contenders {
            let contender = self.columns()[place];
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
            let banks = self.banks_left(slot);
            let Some((step, data_from)) = self.column_step(slot) else { continue };
            let (kind, rank) = (step.kind, step.rank);
            // In a rank in power-down or self-refresh, the step waits for the rank's exit command.
            if view.must.intersects(banks) || view.device.power(rank) != Power::Awake {
                continue;
            }
            if step.ready == Cycle::NEVER {
                step.ready = banks_ready(&step.command, view.device);
                step.floor = view.device.floor_of(first_bank(&step.command, view.topology()), step.kind);
            }
            let turn = turns.turn(kind, rank, step.ready.max(view.device.floor(step.floor)).max(start));
            turns.block(kind, rank, turn);
            let at = turn.max(data_from);
            if std::mem::take(&mut is_first) && at == turn {
                lead = Some(Lead { slot, kind, rank });
            } else if !lead.is_some_and(|lead: Lead| lead.blocks(kind, rank)) {
                others_at = others_at.min(at);
            }
            if at < best.at {
                best = Offer { order, ..Offer::new(at, Tier::Column, Choice::Column(slot)) };
            }
            // No younger contender can be earlier than this one.
            if place + 1 < contenders && best.at <= turns.first(view.topology().ranks) {
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

/// Cycle at which its banks permit a column command.
#[inline]
fn banks_ready(command: &Command, device: &Device) -> Cycle {
    let ready = |bank, kind| device.kept_bank_hold(device.topology().index(bank), kind).until();
    match *command {
        Command::Read { bank, .. } => ready(bank, KeptKind::Rd),
        Command::Write { bank, .. } => ready(bank, KeptKind::Wr),
        Command::Transfer { src, dst, .. } => ready(src, KeptKind::TransferSrc).max(ready(dst, KeptKind::TransferDst)),
        _ => unreachable!("{command} is no column command"),
    }
}

/// The bank of a column command; the source of a TRANSFER, whose rank delays it in all its groups.
fn first_bank(command: &Command, topology: Topology) -> BankIndex {
    match *command {
        Command::Read { bank, .. } | Command::Write { bank, .. } | Command::Transfer { src: bank, .. } => {
            topology.index(bank)
        }
        _ => unreachable!("{command} is no column command"),
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
