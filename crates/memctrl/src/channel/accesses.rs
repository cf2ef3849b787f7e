//! Accesses as a source of commands: each bank has one candidate, and the accesses offer the one
//! that can be issued first. Rules 12 to 14 and 23 to 27 of `docs/controller.md`.

use dram_core::{Device, KeptKind};
use dram_spec::{BankIndex, BankSet, Cycle, PerRank, SourceId, Topology};

use super::candidates::{Candidate, Candidates};
use super::drain::WriteDrain;
use super::offer::{Choice, Claim, Offer, Older, Tier, View};
use crate::access::AccessKind;
use crate::config::Config;
use crate::policy::scheduler::{BankAccesses, Candidacy, Changes, Key, Priority, Reads, RowState, Scheduler, Service};
use crate::queues::{Queues, Rows};

/// The accesses of a channel.
#[derive(Debug)]
pub(crate) struct Accesses {
    candidates: Candidates,
    /// Banks whose candidate must be computed before it is used.
    stale: BankSet,
    /// Banks with an unused row opened for a read, and for a write.
    unused: [BankSet; 2],
    drain: WriteDrain,
    scheduler: Box<dyn Scheduler>,
    candidacy: Candidacy,
    /// Bank of the oldest access, if only this access has a candidate.
    oldest: BankSet,
    has_state: bool,
}

/// Column command of a kind of access.
#[inline]
const fn column(kind: AccessKind) -> KeptKind {
    match kind {
        AccessKind::Read => KeptKind::Rd,
        AccessKind::Write => KeptKind::Wr,
    }
}

/// Whether a command is RD or WR.
#[inline]
pub(super) const fn is_column(command: KeptKind) -> bool {
    matches!(command, KeptKind::Rd | KeptKind::Wr)
}

impl Accesses {
    pub(crate) fn new(config: &Config, topology: Topology) -> Accesses {
        Accesses {
            candidates: Candidates::new(topology),
            stale: BankSet::ALL,
            unused: [BankSet::EMPTY; 2],
            drain: WriteDrain::new(config.queues.drain_high, config.queues.drain_low),
            scheduler: config.scheduler.clone(),
            candidacy: config.scheduler.candidacy(),
            oldest: BankSet::EMPTY,
            has_state: config.scheduler.has_state(),
        }
    }

    /// The candidate of a bank, as it was last offered.
    #[inline]
    pub(crate) fn candidate(&self, bank: BankIndex) -> Candidate {
        self.candidates.get(bank)
    }

    /// Banks with an unused row: no thread may begin in them.
    #[inline]
    pub(crate) fn unused(&self) -> BankSet {
        self.unused[0].union(self.unused[1])
    }

    /// Write drains since the last call.
    pub(crate) fn take_drains(&mut self) -> u64 {
        self.drain.take_drains()
    }

    /// Whether the scheduler receives the service of sources.
    #[inline]
    pub(crate) fn wants_service(&self) -> bool {
        self.has_state
    }

    /// Reports a command for a source to the scheduler.
    pub(crate) fn serve(&mut self, service: &Service<'_>) {
        if self.scheduler.serve(service) == Changes::All {
            self.all_changed();
        }
    }

    /// The scheduler, at the end of a quantum.
    pub(crate) fn end_quantum(&mut self) -> &mut dyn Scheduler {
        self.all_changed();
        &mut *self.scheduler
    }

    /// Key of the row commands of a source's copies.
    #[inline]
    pub(crate) fn copy_key(&self, source: SourceId) -> Key {
        self.scheduler.copy_key(source)
    }

    /// Considers an access that has been queued at a place of the pool. `is_hit` is whether its row is
    /// open, and `free` are the banks that no thread holds. Returns whether the next command may have
    /// changed.
    #[inline]
    pub(crate) fn queued(&mut self, place: u16, is_hit: bool, queues: &Queues, free: BankSet) -> bool {
        let access = queues.get(place);
        let bank = access.bank();
        // The candidate remains valid unless the new access precedes the one of the candidate.
        let key = self.candidates.priority[bank].key;
        let is_preferred = self.stale.contains(bank)
            || (key > Key::EQUAL && self.candidates.kind[bank] == access.kind() && {
                let row = RowState { is_hit, served: self.candidates.served[bank] };
                self.scheduler.key(access, row) < key
            });
        if is_preferred {
            self.stale.insert(bank);
        }
        is_preferred || self.drain.is_due(queues, free) || (self.has_state && self.scheduler.awaits_reads())
    }

    /// Updates the scheduler for a decision at `from`. Returns the next cycle at which time alone
    /// changes the order.
    #[inline]
    pub(crate) fn update_order(&mut self, from: Cycle, queues: &Queues) -> Cycle {
        if !self.has_state {
            return Cycle::NEVER;
        }
        if self.scheduler.update(from, Reads(queues)) == Changes::All {
            self.all_changed();
        }
        self.scheduler.next_update()
    }

    /// Chooses the accesses that have candidates: the mode, or the oldest access.
    pub(crate) fn choose(&mut self, queues: &Queues, free: BankSet) {
        if self.candidacy != Candidacy::Oldest {
            return self.choose_mode(queues, free);
        }
        let oldest = queues.oldest_in(free);
        self.oldest = oldest.map_or(BankSet::EMPTY, |access| BankSet::of(access.bank()));
        if oldest.is_some_and(|access| self.drain.serve(access.kind())) {
            self.all_changed();
        }
    }

    /// Changes the mode, if the queues require it.
    #[inline]
    pub(crate) fn choose_mode(&mut self, queues: &Queues, free: BankSet) {
        if self.drain.update(queues, free) {
            self.all_changed();
        }
    }

    fn all_changed(&mut self) {
        self.stale = BankSet::ALL;
    }

    /// The banks with a candidate that counts, all of which are up to date, and the column command
    /// that may be issued: the direction of the data bus.
    fn eligible(&mut self, view: &View<'_>) -> (BankSet, KeptKind) {
        if self.candidacy != Candidacy::Oldest {
            return self.eligible_of_mode(view);
        }
        let banks = self.oldest.intersection(view.free);
        self.update_stale(banks, view);
        (banks, column(self.drain.mode()))
    }

    /// [`Self::eligible`], where the write drain chooses the kind.
    #[inline]
    fn eligible_of_mode(&mut self, view: &View<'_>) -> (BankSet, KeptKind) {
        let mode = self.drain.mode();
        let unused = self.unused[mode.other() as usize].intersection(view.free);
        let banks = view.queues.pending(mode).intersection(view.free).union(unused);
        self.update_stale(banks, view);
        if unused.is_empty() && self.candidacy == Candidacy::EachBank {
            return (banks, column(mode));
        }
        let direction = if unused.is_empty() { mode } else { mode.other() };
        (self.without_waiting(banks, column(direction.other())), column(direction))
    }

    /// The banks whose candidate is not the column command that waits for the other direction; or the
    /// first of them, if only this one counts.
    #[inline(never)]
    fn without_waiting(&self, banks: BankSet, waits: KeptKind) -> BankSet {
        let banks = banks.into_iter().filter(|&bank| self.candidates.command(bank) != waits).collect();
        if self.candidacy == Candidacy::First { self.preferred(banks) } else { banks }
    }

    /// Computes the candidates of some banks that are not up to date.
    #[inline]
    fn update_stale(&mut self, banks: BankSet, view: &View<'_>) {
        let stale = banks.intersection(self.stale);
        if !stale.is_empty() {
            self.stale = self.stale.without(stale);
            stale.into_iter().for_each(|bank| self.update(bank, view.device, view.queues));
        }
    }

    /// Computes the candidate of a bank with accesses of the mode, or with an unused row.
    #[inline(never)]
    fn update(&mut self, bank: BankIndex, device: &Device, queues: &Queues) {
        let (open, mode) = (device.row_in(bank), self.drain.mode());
        // An unused row serves an access before the bank serves the other kind.
        let is_other = self.unused[mode.other() as usize].contains(bank);
        let kind = if is_other { mode.other() } else { mode };
        let rows = Rows { open, served: self.candidates.served[bank], only_hits: is_other };
        let preferred = self.scheduler.preferred(&BankAccesses { queues, kind, bank, rows });
        let (key, place) = preferred.expect("an access is queued, or needs the unused row");
        let access = queues.get(place);
        let priority = Priority { key, stamp: access.stamp() };
        let command = match open {
            None => KeptKind::Act,
            Some(row) if row != access.row() => KeptKind::Pre,
            Some(_) => column(kind),
        };
        self.candidates.set_command(bank, command, device);
        self.candidates.priority[bank] = priority;
        (self.candidates.place[bank], self.candidates.kind[bank]) = (place, kind);
    }

    /// The bank of the command that the accesses would issue first, where no other source has an offer
    /// and each bank may have a candidate, and its cycle: of the candidates with the earliest cycle,
    /// the one of least priority.
    #[inline]
    pub(crate) fn first(&mut self, view: &View<'_>) -> (Option<BankIndex>, Cycle) {
        let (banks, _) = self.eligible_of_mode(view);
        let least = self.candidates.first(banks, view.device, view.from.max(view.device.bus_free()));
        (least.bank(), least.at)
    }

    /// The offer of the accesses, where threads have turns: `older` are the older contenders. Also
    /// returns the first cycle at which a command may interrupt a run of the lead.
    pub(crate) fn offer_among(&mut self, view: &View<'_>, older: &Older) -> (Offer, Cycle) {
        let (banks, _) = self.eligible(view);
        let mut others_at = Cycle::NEVER;
        let candidates = &self.candidates;
        let least = candidates.least_by(banks, |bank| {
            let (rank, command) = (candidates.rank(bank), candidates.command(bank));
            let mut ready = candidates.ready[bank].max(view.after(candidates.floor[bank]));
            if is_column(command) {
                ready = older.turns.turn(command, rank, ready);
            }
            if !is_column(command) || !older.lead.is_some_and(|lead| lead.blocks(command, rank)) {
                others_at = others_at.min(ready);
            }
            ready
        });
        (self.offer_of(least.bank(), least.at, older.number), others_at)
    }

    /// The offer of a candidate; `contender` is the number of the accesses as a contender for column
    /// commands.
    #[inline]
    fn offer_of(&self, bank: Option<BankIndex>, at: Cycle, contender: u64) -> Offer {
        let Some(bank) = bank else { return Offer::NOTHING };
        let Priority { key, stamp } = self.candidates.priority[bank];
        let is_column = is_column(self.candidates.command(bank));
        let (tier, order) = if is_column { (Tier::Column, contender) } else { (Tier::Row, key.order()) };
        Offer { at, tier, order, age: stamp, tie: 0, choice: Choice::Access(bank) }
    }

    /// The bank whose candidate has the smallest priority.
    fn preferred(&self, banks: BankSet) -> BankSet {
        let least = banks.into_iter().min_by_key(|&bank| self.candidates.priority[bank]);
        least.map_or(BankSet::EMPTY, BankSet::of)
    }

    /// What the accesses claim as a contender for column commands, if they have a column candidate.
    pub(crate) fn claim(&mut self, view: &View<'_>) -> Option<Claim> {
        let (banks, kind) = self.eligible(view);
        let mut claim: Option<Claim> = None;
        for bank in banks {
            if self.candidates.command(bank) != kind {
                continue;
            }
            let stamp = view.queues.get(self.candidates.place[bank]).stamp();
            let claim = claim.get_or_insert_with(|| Claim { stamp, kind, ready: PerRank::new(None) });
            claim.stamp = claim.stamp.min(stamp);
            let rank = self.candidates.rank(bank);
            let ready = self.candidates.ready[bank].max(view.after(self.candidates.floor[bank]));
            claim.ready[rank] = claim.ready[rank].max(Some(ready));
        }
        claim
    }

    /// Records that the row command of a candidate was issued. The access keeps its precedence in the
    /// bank, which a [scheduler](Scheduler) guarantees.
    #[inline]
    pub(crate) fn row_command_issued(&mut self, bank: BankIndex, queues: &Queues, device: &Device) {
        let Candidate { command, kind, place, .. } = self.candidates.get(bank);
        self.candidates.served[bank] = 0;
        if command == KeptKind::Pre {
            self.set_unused(bank, None);
            self.candidates.set_command(bank, KeptKind::Act, device);
        } else {
            self.set_unused(bank, Some(kind));
            self.candidates.set_command(bank, column(kind), device);
            let (access, row) = (queues.get(place), RowState { is_hit: true, served: 0 });
            let key = self.scheduler.key(access, row);
            self.candidates.priority[bank] = Priority { key, stamp: access.stamp() };
        }
    }

    /// Records that a thread opened a row.
    #[inline]
    pub(crate) fn opened(&mut self, bank: BankIndex) {
        self.row_changed(bank, 0);
    }

    /// Records that a row was closed, but not for an access; returns whether it was unused.
    #[inline]
    pub(crate) fn closed(&mut self, bank: BankIndex) -> bool {
        let is_unused = self.unused().contains(bank);
        self.row_changed(bank, 0);
        is_unused
    }

    #[inline]
    fn row_changed(&mut self, bank: BankIndex, served: u32) {
        self.candidates.served[bank] = served;
        self.stale.insert(bank);
        self.set_unused(bank, None);
    }

    #[inline]
    fn set_unused(&mut self, bank: BankIndex, unused: Option<AccessKind>) {
        for kind in [AccessKind::Read, AccessKind::Write] {
            self.unused[kind as usize].set(bank, unused == Some(kind));
        }
    }

    /// Records that the open row of a bank has served an access.
    #[inline]
    pub(crate) fn served(&mut self, bank: BankIndex) {
        self.row_changed(bank, self.candidates.served[bank] + 1);
    }

    /// Records that a thread released a bank, in which accesses may now have a candidate.
    pub(crate) fn released(&mut self, bank: BankIndex) {
        self.stale.insert(bank);
    }
}
