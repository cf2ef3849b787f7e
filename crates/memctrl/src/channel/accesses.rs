//! Accesses as a source of commands: each bank has one candidate, and the accesses offer the one
//! that can be issued first. Rules 12 to 14 and 23 to 27 of `docs/controller.md`.

use dram_core::{Device, Floor, KeptKind};
use dram_spec::{BankId, BankIndex, BankSet, Cycle, PerBank, PerRank, SourceId, Topology};

use super::drain::WriteDrain;
use super::offer::{Choice, Claim, Offer, Older, Tier, View};
use crate::access::AccessKind;
use crate::config::Config;
use crate::policy::scheduler::{BankAccesses, Changes, Key, Priority, Reads, RowState, Scheduler, Service};
use crate::queues::{Queues, Rows};

/// The next command for the accesses of a bank, and the access it serves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    /// First cycle at which the bank's own rules permit the command.
    ready: Cycle,
    priority: Priority,
    /// Place of the access in the pool.
    pub(crate) place: u16,
    pub(crate) command: KeptKind,
    /// Kind of the access.
    pub(crate) kind: AccessKind,
    pub(crate) bank: BankId,
    /// What else delays the command.
    floor: Floor,
    /// Accesses served by the open row.
    served: u32,
}

/// The accesses of a channel.
#[derive(Debug)]
pub(crate) struct Accesses {
    candidates: PerBank<Candidate>,
    /// Banks whose candidate must be computed before it is used.
    stale: BankSet,
    /// Banks with an unused row opened for a read, and for a write.
    unused: [BankSet; 2],
    drain: WriteDrain,
    /// Whether the mode changes before the next command.
    is_mode_due: bool,
    scheduler: Box<dyn Scheduler>,
    is_strict: bool,
    has_state: bool,
}

/// Column command of a kind of access.
const fn column(kind: AccessKind) -> KeptKind {
    match kind {
        AccessKind::Read => KeptKind::Rd,
        AccessKind::Write => KeptKind::Wr,
    }
}

impl Candidate {
    /// Whether the command is RD or WR.
    #[inline]
    pub(crate) fn is_column(&self) -> bool {
        matches!(self.command, KeptKind::Rd | KeptKind::Wr)
    }
}

impl Accesses {
    pub(crate) fn new(config: &Config, topology: Topology) -> Accesses {
        let candidate = |index| Candidate {
            ready: Cycle::ZERO,
            priority: Priority::LAST,
            place: 0,
            command: KeptKind::Act,
            kind: AccessKind::Read,
            bank: topology.bank(index),
            floor: Floor::of(topology.bank(index).rank, KeptKind::Act),
            served: 0,
        };
        Accesses {
            candidates: PerBank::from_fn(candidate),
            stale: BankSet::ALL,
            unused: [BankSet::EMPTY; 2],
            drain: WriteDrain::new(config.queues.drain_high, config.queues.drain_low),
            is_mode_due: false,
            scheduler: config.scheduler.clone(),
            is_strict: config.scheduler.is_strict(),
            has_state: config.scheduler.has_state(),
        }
    }

    /// The candidate of a bank, as it was last offered.
    #[inline]
    pub(crate) fn candidate(&self, bank: BankIndex) -> Candidate {
        self.candidates[bank]
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
        let candidate = &self.candidates[bank];
        // The candidate remains valid unless the new access precedes the one of the candidate.
        let is_preferred = self.stale.contains(bank)
            || (candidate.kind == access.kind() && {
                let row = RowState { is_hit, served: candidate.served };
                self.scheduler.key(access, row) < candidate.priority.key
            });
        if is_preferred {
            self.stale.insert(bank);
        }
        self.look_at_mode(queues, free);
        is_preferred || self.is_mode_due || (self.has_state && self.scheduler.awaits_reads())
    }

    /// Notes whether the mode is due to change, after a change of the queues or the free banks.
    #[inline]
    pub(crate) fn look_at_mode(&mut self, queues: &Queues, free: BankSet) {
        self.is_mode_due = self.drain.is_due(queues, free);
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

    /// Changes the mode, if that is due.
    #[inline]
    pub(crate) fn choose_mode(&mut self, queues: &Queues, free: BankSet) {
        if std::mem::take(&mut self.is_mode_due) && self.drain.update(queues, free) {
            self.all_changed();
        }
    }

    fn all_changed(&mut self) {
        self.stale = BankSet::ALL;
    }

    /// The banks with a candidate that counts, all of which are up to date, and the column command
    /// that may be issued: the direction of the data bus.
    #[inline]
    fn eligible(&mut self, view: &View<'_>) -> (BankSet, KeptKind) {
        let mode = self.drain.mode();
        let unused = self.unused[mode.other() as usize].intersection(view.free);
        let banks = view.queues.pending(mode).intersection(view.free).union(unused);
        let stale = banks.intersection(self.stale);
        if !stale.is_empty() {
            self.update(stale, view.device, view.queues);
        }
        if unused.is_empty() && !self.is_strict {
            return (banks, column(mode));
        }
        let direction = if unused.is_empty() { mode } else { mode.other() };
        (self.without_waiting(banks, column(direction.other())), column(direction))
    }

    /// The banks whose candidate is not the column command that waits for the other direction; of a
    /// strict scheduler, the first of them.
    #[inline(never)]
    fn without_waiting(&self, banks: BankSet, waits: KeptKind) -> BankSet {
        let banks = banks.into_iter().filter(|&bank| self.candidates[bank].command != waits).collect();
        if self.is_strict { self.preferred(banks) } else { banks }
    }

    /// Computes the candidates of free banks of usable ranks with accesses of the mode, or with an
    /// unused row.
    #[inline(never)]
    fn update(&mut self, stale: BankSet, device: &Device, queues: &Queues) {
        stale.into_iter().for_each(|bank| self.update_one(bank, device, queues));
        self.stale = self.stale.without(stale);
    }

    #[inline]
    fn update_one(&mut self, bank: BankIndex, device: &Device, queues: &Queues) {
        let (open, mode) = (device.row_in(bank), self.drain.mode());
        // An unused row serves an access before the bank serves the other kind.
        let is_other = self.unused[mode.other() as usize].contains(bank);
        let kind = if is_other { mode.other() } else { mode };
        let rows = Rows { open, served: self.candidates[bank].served, only_hits: is_other };
        let preferred = self.scheduler.preferred(BankAccesses { queues, kind, bank, rows });
        let (key, place) = preferred.expect("an access is queued, or needs the unused row");
        let access = queues.get(place);
        let priority = Priority { key, stamp: access.stamp() };
        let command = match open {
            None => KeptKind::Act,
            Some(row) if row != access.row() => KeptKind::Pre,
            Some(_) => column(kind),
        };
        self.set(bank, command, device);
        let candidate = &mut self.candidates[bank];
        (candidate.priority, candidate.place, candidate.kind) = (priority, place, kind);
    }

    /// The next command of a bank is of another kind.
    #[inline]
    fn set(&mut self, bank: BankIndex, command: KeptKind, device: &Device) {
        let candidate = &mut self.candidates[bank];
        candidate.command = command;
        candidate.ready = device.kept_bank_hold(bank, command).until();
        candidate.floor = candidate.floor.with(command);
    }

    /// The bank of the command that the accesses would issue first, where no thread has a turn, and
    /// its cycle: of the candidates with the earliest cycle, the one of least priority.
    #[inline]
    pub(crate) fn first(&mut self, view: &View<'_>) -> (Option<BankIndex>, Cycle) {
        let (banks, _) = self.eligible(view);
        let from = view.from.max(view.device.bus_free());
        self.least(banks, |candidate| candidate.ready.max(view.device.floor(candidate.floor)).max(from))
    }

    /// Of some banks, the one whose candidate has the earliest turn, and that cycle; of several, the
    /// one of least priority.
    #[inline]
    fn least(&self, banks: BankSet, mut turn: impl FnMut(&Candidate) -> Cycle) -> (Option<BankIndex>, Cycle) {
        let (mut at, mut priority, mut first) = (Cycle::NEVER, Priority::LAST, BankIndex::FIRST);
        for bank in banks {
            let candidate = &self.candidates[bank];
            let ready = turn(candidate);
            if ready < at || (ready == at && candidate.priority < priority) {
                (at, priority, first) = (ready, candidate.priority, bank);
            }
        }
        ((at < Cycle::NEVER).then_some(first), at)
    }

    /// The offer of the accesses, where threads have turns: `older` are the older contenders. Also
    /// returns the first cycle at which a command may interrupt a run of the lead.
    pub(crate) fn offer_among(&mut self, view: &View<'_>, older: &Older) -> (Offer, Cycle) {
        let (banks, _) = self.eligible(view);
        let mut others_at = Cycle::NEVER;
        let (first, at) = self.least(banks, |candidate| {
            let (rank, command) = (candidate.floor.rank(), candidate.command);
            let mut ready = candidate.ready.max(view.floor(rank, command));
            if candidate.is_column() {
                ready = older.turns.turn(command, rank, ready);
            }
            if !candidate.is_column() || !older.lead.is_some_and(|lead| lead.blocks(command, rank)) {
                others_at = others_at.min(ready);
            }
            ready
        });
        (self.offer_of(first, at, older.number), others_at)
    }

    /// The offer of a candidate; `contender` is the number of the accesses as a contender for column
    /// commands.
    #[inline]
    fn offer_of(&self, bank: Option<BankIndex>, at: Cycle, contender: u64) -> Offer {
        let Some(bank) = bank else { return Offer::NOTHING };
        let candidate = &self.candidates[bank];
        let Priority { key, stamp } = candidate.priority;
        let (tier, order) = if candidate.is_column() { (Tier::Column, contender) } else { (Tier::Row, key.order()) };
        Offer { at, tier, order, age: stamp, tie: 0, choice: Choice::Access(bank) }
    }

    /// The bank whose candidate has the smallest priority.
    fn preferred(&self, banks: BankSet) -> BankSet {
        let least = banks.into_iter().min_by_key(|&bank| self.candidates[bank].priority);
        least.map_or(BankSet::EMPTY, BankSet::of)
    }

    /// What the accesses claim as a contender for column commands, if they have a column candidate.
    pub(crate) fn claim(&mut self, view: &View<'_>) -> Option<Claim> {
        let (banks, kind) = self.eligible(view);
        let mut claim: Option<Claim> = None;
        for bank in banks {
            let candidate = &self.candidates[bank];
            if candidate.command != kind {
                continue;
            }
            let stamp = view.queues.get(candidate.place).stamp();
            let claim = claim.get_or_insert_with(|| Claim { stamp, kind, ready: PerRank::new(None) });
            claim.stamp = claim.stamp.min(stamp);
            let rank = candidate.floor.rank();
            let ready = candidate.ready.max(view.floor(rank, kind));
            claim.ready[rank] = claim.ready[rank].max(Some(ready));
        }
        claim
    }

    /// Records that the row command of a candidate was issued. The access keeps its precedence in the
    /// bank, which a [scheduler](Scheduler) guarantees.
    #[inline]
    pub(crate) fn row_command_issued(&mut self, bank: BankIndex, queues: &Queues, device: &Device) {
        let Candidate { command, kind, place, .. } = self.candidates[bank];
        self.candidates[bank].served = 0;
        if command == KeptKind::Pre {
            self.set_unused(bank, None);
            self.set(bank, KeptKind::Act, device);
        } else {
            self.set_unused(bank, Some(kind));
            self.set(bank, column(kind), device);
            let row = RowState { is_hit: true, served: 0 };
            self.candidates[bank].priority.key = self.scheduler.key(queues.get(place), row);
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
        self.candidates[bank].served = served;
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
    pub(crate) fn served(&mut self, bank: BankIndex, queues: &Queues, free: BankSet) {
        self.row_changed(bank, self.candidates[bank].served + 1);
        self.look_at_mode(queues, free);
    }

    /// Records that a thread released a bank, in which accesses may now have a candidate.
    pub(crate) fn released(&mut self, bank: BankIndex) {
        self.stale.insert(bank);
    }
}
