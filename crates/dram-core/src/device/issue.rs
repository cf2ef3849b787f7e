//! How a device obeys: what each command changes, and what it holds back from then on.

use dram_spec::{AutoPrecharge, BankId, Command, Cycle, Row};

use super::{Device, Effect, Refusal};
use crate::constraints::{Place, raises};
use crate::hold::Hold;
use crate::rank::Power;
use crate::rules::Kind;

impl Device {
    /// Issues `command` at `at`.
    ///
    /// # Panics
    /// Where the command is early or the state forbids it, with both cycles and the rule's name: that is a bug of whoever
    /// schedules.
    pub fn issue(&mut self, at: Cycle, command: &Command) -> Effect {
        match *command {
            Command::Read { bank, auto_precharge, .. } => {
                let kind = if auto_precharge == AutoPrecharge::Yes { Kind::Rda } else { Kind::Rd };
                self.issue_column_access(at, command, bank, kind)
            }
            Command::Write { bank, auto_precharge, .. } => {
                let kind = if auto_precharge == AutoPrecharge::Yes { Kind::Wra } else { Kind::Wr };
                self.issue_column_access(at, command, bank, kind)
            }
            Command::Activate { bank, row } => self.issue_activate(at, command, bank, row),
            Command::Precharge { bank } => self.issue_precharge(at, command, bank),
            Command::Transfer { src, src_column, dst, dst_column } => {
                self.assert_legal(at, command, self.transfer(src, dst));
                let (src_row, dst_row) = (self.bank(src).open, self.bank(dst).open);
                if let (Some(cells), Some(src_row), Some(dst_row)) = (&mut self.cells, src_row, dst_row) {
                    cells.transfer((src, src_row, src_column), (dst, dst_row, dst_column));
                }
                for (bank, kind) in [(src, Kind::TransferSrc), (dst, Kind::TransferDst), (src, Kind::Transfer)] {
                    self.hold_back(at, bank, kind);
                }
                Effect::Plain
            }
            Command::PrechargeAll { rank }
            | Command::Refresh { rank }
            | Command::PowerDownEnter { rank }
            | Command::PowerDownExit { rank }
            | Command::SelfRefreshEnter { rank }
            | Command::SelfRefreshExit { rank } => self.issue_rank_wide(at, command, rank),
        }
    }

    /// A command to a whole rank: its banks, CKE and the refresh ledger after it, and what it holds back.
    fn issue_rank_wide(&mut self, at: Cycle, command: &Command, index: u8) -> Effect {
        let Ok((kind, held)) = self.rank_wide(command, index) else { self.panic_illegal(at, *command) };
        self.assert_legal(at, command, Ok(held));
        if kind == Kind::PreA {
            (0..self.geometry.banks()).for_each(|bank| self.close(at, BankId { rank: index, bank }));
        }
        let any_open = self.any_open(index);
        let rank = &mut self.ranks[usize::from(index)];
        match kind {
            Kind::Ref => rank.refreshed(at),
            Kind::Pde if any_open => {
                rank.set_power(at, Power::ActivePowerDown { since: at }, &self.timings);
            }
            Kind::Pde => rank.set_power(at, Power::PrechargePowerDown { since: at }, &self.timings),
            Kind::Sre => rank.set_power(at, Power::SelfRefresh { since: at }, &self.timings),
            Kind::Pdx | Kind::PdxSlow | Kind::Srx => rank.set_power(at, Power::Awake, &self.timings),
            _ => {}
        }
        // It has no bank, and holds back none more than another.
        self.hold_back(at, BankId { rank: index, bank: 0 }, kind);
        Effect::Plain
    }

    /// [`Self::issue`] of a RD, RDA, WR or WRA, for whoever knows which, and to which bank: most commands are.
    ///
    /// # Panics
    /// As it does.
    #[inline]
    pub fn issue_column_access(&mut self, at: Cycle, command: &Command, id: BankId, kind: Kind) -> Effect {
        debug_assert_eq!(self.held_in_banks(command).map(|(kind, _)| kind), Ok(kind), "{command} to {id}");
        // Each by its name: what it holds back is then known when the program is built.
        match kind {
            Kind::Rd => self.access_column(at, command, id, Kind::Rd),
            Kind::Wr => self.access_column(at, command, id, Kind::Wr),
            _ => self.access_column_and_close(at, *command, id, kind),
        }
        Effect::Plain
    }

    #[inline]
    fn access_column(&mut self, at: Cycle, command: &Command, id: BankId, kind: Kind) {
        self.assert_legal(at, command, self.column_access(id, kind));
        self.hold_back(at, id, kind);
    }

    #[inline(never)]
    fn access_column_and_close(&mut self, at: Cycle, command: Command, id: BankId, kind: Kind) {
        self.access_column(at, &command, id, kind);
        self.close(at, id);
    }

    /// [`Self::issue`] of a PRE.
    ///
    /// # Panics
    /// As it does.
    #[inline]
    pub fn issue_precharge(&mut self, at: Cycle, command: &Command, id: BankId) -> Effect {
        self.assert_legal(at, command, self.precharge(id));
        self.close(at, id);
        self.hold_back(at, id, Kind::Pre);
        Effect::Plain
    }

    /// [`Self::issue`] of an ACT.
    ///
    /// # Panics
    /// As it does.
    #[inline]
    pub fn issue_activate(&mut self, at: Cycle, command: &Command, id: BankId, row: Row) -> Effect {
        let (rank, bank) = (self.rank(id.rank), self.bank(id));
        if let Some(open) = bank.open {
            return self.issue_copy_activation(at, *command, id, open, row);
        }
        let held = self.held(rank, Kind::Act).max(self.held_in_bank(bank, Kind::Act));
        if rank.power != Power::Awake || at < held.until() {
            self.panic_illegal(at, *command);
        }
        self.hold_back(at, id, Kind::Act);
        self.open(at, id, row);
        Effect::Plain
    }

    /// An ACT to an open bank.
    #[inline(never)]
    fn issue_copy_activation(&mut self, at: Cycle, command: Command, id: BankId, open: Row, row: Row) -> Effect {
        let activation = self.activation(id, row);
        self.assert_legal(at, &command, activation.map(|(_, held)| held));
        if activation.is_ok_and(|(kind, _)| kind == Kind::ActDropped) {
            self.hold_back(at, id, Kind::ActDropped);
            self.dropped += 1;
            if let Some(cells) = &mut self.cells {
                cells.dropped_activation(id, open, row);
            }
            return Effect::Dropped { open };
        }
        self.hold_back(at, id, Kind::ActCopy);
        if let Some(cells) = &mut self.cells {
            cells.copy_row(id, open, row);
        }
        self.open(at, id, row);
        Effect::Copied { src: open }
    }

    #[inline]
    fn open(&mut self, at: Cycle, id: BankId, row: Row) {
        let index = self.topology.index(id);
        let bank = &mut self.banks[index.get()];
        bank.open = Some(row);
        bank.activated = at;
        self.open.insert(index);
    }

    #[inline]
    fn close(&mut self, at: Cycle, id: BankId) {
        self.assert_row_not_overdue(at, id);
        let index = self.topology.index(id);
        self.banks[index.get()].open = None;
        self.open.remove(index);
    }

    /// What the command holds back from now on: on the bus, in its bank, in its rank, and elsewhere.
    #[inline]
    fn hold_back(&mut self, at: Cycle, id: BankId, kind: Kind) {
        let pushes = self.constraints.of(kind);
        self.bus = Hold::new(at, pushes.bus);
        let rank = &mut self.ranks[usize::from(id.rank)];
        let bank = &mut self.banks[self.topology.index(id).get()];
        bank.holds.raise(at, &pushes.bank, raises(kind, Place::Bank));
        bank.lasts.issued(at, kind);
        rank.holds.raise(at, &pushes.rank, raises(kind, Place::Rank));
        rank.lasts.issued(at, kind);
        if raises(kind, Place::Window).contains(&true) {
            rank.enter_window(at, pushes.window, raises(kind, Place::Window));
        }
        if raises(kind, Place::OtherRanks).contains(&true) && self.geometry.ranks() > 1 {
            self.hold_back_in_other_ranks(at, id.rank, kind);
        }
    }

    #[inline(never)]
    fn hold_back_in_other_ranks(&mut self, at: Cycle, rank: u8, kind: Kind) {
        let gaps = &self.constraints.of(kind).other_ranks;
        for (other, _) in self.ranks.iter_mut().zip(0..).filter(|&(_, index)| index != rank) {
            other.holds.raise(at, gaps, raises(kind, Place::OtherRanks));
        }
    }

    #[inline]
    fn assert_legal(&self, at: Cycle, command: &Command, held: Result<Hold, Refusal>) {
        if !held.is_ok_and(|held| at >= held.until()) {
            self.panic_illegal(at, *command);
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
