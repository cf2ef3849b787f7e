//! Execution of commands: the state that each command changes, and the commands that it delays.

use dram_spec::{AutoPrecharge, BankId, Column, Command, Cycle, Cycles, Effect, Row};

use super::{Device, Refusal};
use crate::bank::{raise, raise_to};
use crate::cells::Movement;
use crate::constraints::{HoldScope, KeptKind, raises};
use crate::hold::Hold;
use crate::rank::Power;
use crate::rules::Kind;

/// A kind of command, which may be a constant: then each function of it is compiled for that kind,
/// and takes no time for kinds of commands that it never delays.
trait IsKind: Copy {
    fn kind(self) -> Kind;
}

impl IsKind for Kind {
    #[inline]
    fn kind(self) -> Kind {
        self
    }
}

/// The kind with this place in [`Kind::ALL`].
#[derive(Clone, Copy)]
struct Always<const KIND: usize>;

impl<const KIND: usize> IsKind for Always<KIND> {
    #[inline]
    fn kind(self) -> Kind {
        const { Kind::ALL[KIND] }
    }
}

const ACT: Always<{ Kind::Act as usize }> = Always;
const PRE: Always<{ Kind::Pre as usize }> = Always;
const RD: Always<{ Kind::Rd as usize }> = Always;
const WR: Always<{ Kind::Wr as usize }> = Always;

impl Device {
    /// Issues `command` at `at`.
    ///
    /// # Panics
    /// If the command is early or the state forbids it, with both cycles and the rule's name. The
    /// scheduler must prevent this.
    // Where the kind of the command is known, little of this is left.
    #[inline(always)]
    pub fn issue(&mut self, at: Cycle, command: &Command) -> Effect {
        match *command {
            Command::Read { bank, auto_precharge: AutoPrecharge::No, .. } => {
                self.access_column(at, command, bank, RD);
                Effect::Plain
            }
            Command::Write { bank, auto_precharge: AutoPrecharge::No, .. } => {
                self.access_column(at, command, bank, WR);
                Effect::Plain
            }
            Command::Activate { bank, row } => self.issue_activate(at, command, bank, row),
            Command::Precharge { bank } => {
                self.assert_legal(at, command, self.precharge(bank));
                self.close(at, bank);
                self.delay(at, bank, PRE);
                Effect::Plain
            }
            Command::Transfer { src, src_column, dst, dst_column } => {
                self.issue_transfer(at, command, (src, src_column), (dst, dst_column))
            }
            _ => self.issue_less_frequent(at, *command),
        }
    }

    /// Issues `lines` column commands to consecutive columns, the first of which is `command` at
    /// `at`, and each [`Self::pitch`] after the one before it.
    ///
    /// # Panics
    /// As [`Self::issue`], and if it is no column command without auto-precharge.
    pub fn issue_run(&mut self, at: Cycle, command: &Command, lines: u64) {
        let last = |pitch| at + pitch * (lines - 1);
        match *command {
            Command::Read { bank, auto_precharge: AutoPrecharge::No, .. } => {
                self.assert_legal(at, command, self.column_access(bank, Kind::Rd));
                self.delay(last(self.pitch(KeptKind::Rd)), bank, Kind::Rd);
            }
            Command::Write { bank, auto_precharge: AutoPrecharge::No, .. } => {
                self.assert_legal(at, command, self.column_access(bank, Kind::Wr));
                if self.has_exclusion() {
                    self.exclude_after(at, bank.rank);
                }
                self.delay(last(self.pitch(KeptKind::Wr)), bank, Kind::Wr);
            }
            Command::Transfer { src, src_column, dst, dst_column } => {
                self.assert_legal(at, command, self.transfer(src, dst));
                for line in 0..if self.cells.is_some() { lines as u16 } else { 0 } {
                    let further = |column: Column| Column(column.0 + line);
                    self.transfer_line((src, further(src_column)), (dst, further(dst_column)));
                }
                self.transferred(last(self.pitch(KeptKind::Transfer)), src, dst);
            }
            _ => panic!("{command} is not in a run of columns"),
        }
    }

    /// [`Self::issue`] of a TRANSFER.
    #[inline(never)]
    fn issue_transfer(&mut self, at: Cycle, command: &Command, src: (BankId, Column), dst: (BankId, Column)) -> Effect {
        self.assert_legal(at, command, self.transfer(src.0, dst.0));
        if self.cells.is_some() {
            self.transfer_line(src, dst);
        }
        self.transferred(at, src.0, dst.0);
        Effect::Plain
    }

    /// Delays later commands by a TRANSFER.
    fn transferred(&mut self, at: Cycle, src: BankId, dst: BankId) {
        self.delay_in_bank(at, src, Kind::TransferSrc);
        self.delay_in_bank(at, dst, Kind::TransferDst);
        self.delay_in_rank(at, src, Kind::Transfer);
        // As far as idle time goes, it is a command to banks.
        self.ranks[src.rank].lasts.issued(at, Kind::TransferSrc);
    }

    /// Moves a line between two open rows.
    #[inline(never)]
    fn transfer_line(&mut self, src: (BankId, Column), dst: (BankId, Column)) {
        let (src_row, dst_row) = (self.bank(src.0).open, self.bank(dst.0).open);
        if let (Some(cells), Some(src_row), Some(dst_row)) = (&mut self.cells, src_row, dst_row) {
            cells.moved(Movement::Line { src: (src.0, src_row, src.1), dst: (dst.0, dst_row, dst.1) });
        }
    }

    /// Executes a rank-wide command: its banks, CKE, the refresh ledger, and the delays.
    pub(super) fn issue_rank_wide(&mut self, at: Cycle, command: &Command, index: u8) -> Effect {
        let Ok((kind, held)) = self.rank_wide(command, index) else { self.panic_illegal(at, *command) };
        self.assert_legal(at, command, Ok(held));
        if kind == Kind::PreA {
            (0..self.geometry.banks()).for_each(|bank| self.close(at, BankId { rank: index, bank }));
        }
        let any_open = self.any_open(index);
        let rank = &mut self.ranks[index];
        match kind {
            Kind::Ref => rank.refreshed(at),
            Kind::Pde if any_open => {
                rank.set_power(at, Power::ActivePowerDown { since: at });
            }
            Kind::Pde => rank.set_power(at, Power::PrechargePowerDown { since: at }),
            Kind::Sre => rank.set_power(at, Power::SelfRefresh { since: at }),
            Kind::Pdx | Kind::PdxSlow | Kind::Srx => rank.set_power(at, Power::Awake),
            _ => {}
        }
        // A rank-wide command delays all banks equally.
        self.delay(at, BankId { rank: index, bank: 0 }, kind);
        Effect::Plain
    }

    /// [`Self::issue`] of a REFsb, which delays in each of its banks.
    pub(super) fn issue_same_bank_refresh(&mut self, at: Cycle, command: &Command, id: BankId) -> Effect {
        self.assert_legal(at, command, self.same_bank_refresh(id));
        for bank in self.topology.bank_set(id) {
            self.delay_in_bank(at, self.topology.bank(bank), Kind::RefSb);
        }
        self.delay_in_rank(at, id, Kind::RefSb);
        self.ranks[id.rank].refreshed_number(at, self.topology.number_in_group(id));
        Effect::Plain
    }

    #[inline]
    fn access_column(&mut self, at: Cycle, command: &Command, id: BankId, kind: impl IsKind) {
        self.assert_legal(at, command, self.column_access(id, kind.kind()));
        self.delay(at, id, kind);
    }

    pub(super) fn access_column_and_close(&mut self, at: Cycle, command: Command, id: BankId, kind: Kind) -> Effect {
        self.access_column(at, &command, id, kind);
        self.close(at, id);
        Effect::Plain
    }

    /// [`Self::issue`] of an ACT.
    #[inline]
    fn issue_activate(&mut self, at: Cycle, command: &Command, id: BankId, row: Row) -> Effect {
        let bank = self.bank(id);
        if let Some(src) = bank.open.or_else(|| self.moved_from(id)) {
            return self.issue_copy_activation(at, *command, id, src, row);
        }
        let held = self.held(id, Kind::Act).max(self.held_in_bank(bank, Kind::Act));
        if self.power(id.rank) != Power::Awake || at < held.until() {
            self.panic_illegal(at, *command);
        }
        self.last_hold = held;
        self.open(at, id, row);
        self.delay(at, id, ACT);
        Effect::Plain
    }

    /// Kind of an ACT in the present state, and its delay.
    #[inline]
    pub(super) fn activation(&self, id: BankId, row: Row) -> Result<(Kind, Hold), Refusal> {
        self.awake(id.rank)?;
        let bank = self.bank(id);
        let kind = match bank.open {
            None if self.moved.contains(self.topology.index(id)) => {
                let (_, destination) = self.movements[self.topology.index(id)];
                if !self.geometry.is_same_subarray(destination, row) {
                    return Err(Refusal::MovedSubarray);
                }
                Kind::ActCopy
            }
            None => Kind::Act,
            Some(open) if self.geometry.is_same_subarray(open, row) => Kind::ActCopy,
            Some(_) => Kind::ActDropped,
        };
        Ok((kind, self.held(id, kind).max(self.held_in_bank(bank, kind))))
    }

    /// Executes an ACT to a bank whose sense amplifiers have the contents of the row `open`.
    #[inline(never)]
    fn issue_copy_activation(&mut self, at: Cycle, command: Command, id: BankId, open: Row, row: Row) -> Effect {
        let activation = self.activation(id, row);
        self.assert_legal(at, &command, activation.map(|(_, held)| held));
        if activation.is_ok_and(|(kind, _)| kind == Kind::ActDropped) {
            self.delay(at, id, Kind::ActDropped);
            self.dropped += 1;
            if let Some(cells) = &mut self.cells {
                cells.moved(Movement::Dropped { bank: id, open, row });
            }
            return Effect::Dropped { open };
        }
        self.delay(at, id, Kind::ActCopy);
        if let Some(cells) = &mut self.cells {
            cells.moved(Movement::Row { bank: id, src: open, dst: row });
        }
        self.moved.remove(self.topology.index(id));
        self.open(at, id, row);
        Effect::Copied { src: open }
    }

    #[inline]
    fn open(&mut self, at: Cycle, id: BankId, row: Row) {
        let index = self.topology.index(id);
        let bank = &mut self.banks[index];
        bank.open = Some(row);
        bank.activated = at;
        self.open.insert(index);
    }

    #[inline]
    fn close(&mut self, at: Cycle, id: BankId) {
        self.assert_row_not_overdue(at, id);
        let index = self.topology.index(id);
        self.banks[index].open = None;
        self.open.remove(index);
    }

    /// Delays later commands by the rules of this one: in its bank, on the bus, in its rank, and elsewhere.
    #[inline]
    fn delay(&mut self, at: Cycle, id: BankId, kind: impl IsKind) {
        self.delay_in_bank(at, id, kind);
        self.delay_in_rank(at, id, kind);
    }

    /// [`Self::delay`] of a command with a time of its own.
    pub(super) fn delay_by_own_time(&mut self, at: Cycle, id: BankId, kind: Kind, own_time: Cycles) {
        let gaps = self.constraints.after(kind, own_time, &self.timings);
        let bank = &mut self.banks[self.topology.index(id)];
        raise(&mut bank.holds, at, &gaps, raises(kind, HoldScope::Bank));
        bank.lasts.issued(at, kind);
        self.delay_in_rank(at, id, kind);
    }

    #[inline]
    fn delay_in_bank(&mut self, at: Cycle, id: BankId, kind: impl IsKind) {
        let bank = &mut self.banks[self.topology.index(id)];
        raise(&mut bank.holds, at, &self.constraints.of(kind.kind()).bank, raises(kind.kind(), HoldScope::Bank));
        bank.lasts.issued(at, kind.kind());
    }

    #[inline]
    fn delay_in_rank(&mut self, at: Cycle, id: BankId, kind: impl IsKind) {
        let pushes = self.constraints.of(kind.kind());
        self.bus = Hold::new(at, pushes.bus);
        let (rank, holds) = (&mut self.ranks[id.rank], self.floors.of_mut(self.banks[self.topology.index(id)].group));
        raise(holds, at, &pushes.group, raises(kind.kind(), HoldScope::Group));
        rank.lasts.issued(at, kind.kind());
        if raises(kind.kind(), HoldScope::Window).contains(&true) {
            rank.enter_window(at, pushes.window);
            rank.delay_by_window(pushes.window, raises(kind.kind(), HoldScope::Window), holds);
        }
        if pushes.reaches_groups {
            self.delay_in_all_groups(at, id.rank, kind);
        }
        if raises(kind.kind(), HoldScope::OtherRanks).contains(&true) && self.geometry.ranks() > 1 {
            self.delay_in_other_ranks(at, id.rank, kind.kind());
        }
    }

    /// Delays in all bank groups of the rank as in those that are not the command's own, whose delays are no shorter.
    #[inline(never)]
    fn delay_in_all_groups(&mut self, at: Cycle, rank: u8, kind: impl IsKind) {
        if matches!(kind.kind(), Kind::Wr | Kind::Wra) && self.has_exclusion() {
            self.exclude_after(at, rank);
        }
        let (pushes, kinds) = (self.constraints.of(kind.kind()), raises(kind.kind(), HoldScope::Rank));
        let mut to = pushes.rank.map(|gap| Hold::new(at, gap));
        if raises(kind.kind(), HoldScope::Window).contains(&true) {
            self.ranks[rank].delay_by_window(pushes.window, kinds, &mut to);
        }
        for holds in self.floors.of_rank_mut(rank) {
            raise_to(holds, &to, kinds);
        }
    }

    #[inline(never)]
    fn delay_in_other_ranks(&mut self, at: Cycle, rank: u8, kind: Kind) {
        let gaps = &self.constraints.of(kind).other_ranks;
        for other in (0..self.geometry.ranks()).filter(|&other| other != rank) {
            for holds in self.floors.of_rank_mut(other) {
                raise(holds, at, gaps, raises(kind, HoldScope::OtherRanks));
            }
        }
    }

    #[inline]
    pub(super) fn assert_legal(&mut self, at: Cycle, command: &Command, held: Result<Hold, Refusal>) {
        match held {
            Ok(hold) if at >= hold.until() => self.last_hold = hold,
            _ => self.panic_illegal(at, *command),
        }
    }

    #[cold]
    fn panic_illegal(&self, at: Cycle, command: Command) -> ! {
        match self.earliest(&command) {
            Err(refusal) => panic!("{command} at cycle {at}: breaks {refusal}"),
            Ok(hold) => {
                let (until, rule) = (hold.until(), hold.rule().unwrap_or("order"));
                panic!("{command} at cycle {at}: not before cycle {until} by {rule}")
            }
        }
    }
}
