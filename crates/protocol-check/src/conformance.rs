//! Conformance of each command: the rules that bind it, one function per kind of command.

use dram_spec::{AutoPrecharge, BankId, Column, Command, Dialect, Geometry, Issued, Operands, Row};

use crate::check::Check;
use crate::history::{
    Activation, BankHistory, ChannelHistory, LastCommands, Moved, RankHistory, RankPower, between_two_banks, counts,
};
use crate::rule::Rule;

impl ChannelHistory {
    /// Checks a command against the history of its channel.
    pub(crate) fn check(&self, check: &mut Check<'_>, command: &Command) {
        check.order(self.last);
        check.on_bus(Rule::Bus, self.last);
        check.on_bus(Rule::BusTransfer, self.last_transfer);
        check.on_bus(Rule::BusTwoCycles, self.last_two_cycle);
        if !exists(&check.setting.geometry, command) {
            check.state(Rule::Address, None);
        }
        if let Command::Transfer { src, dst, .. } = *command {
            if check.setting.dialect == Dialect::Jedec {
                check.state(Rule::TransferJedec, None);
            }
            if !between_two_banks(src, dst) {
                check.state(Rule::TransferBanks, None);
            }
        }
        if let Some(rank) = self.ranks.get(usize::from(command.rank())) {
            rank.check(check, command);
            if self.ranks.len() > 1 {
                self.check_rank_switch(check, command);
            }
        }
    }

    /// RD and WR against the data bursts of the other ranks on the shared data bus.
    fn check_rank_switch(&self, check: &mut Check<'_>, command: &Command) {
        let rules = match command {
            Command::Read { .. } => [Rule::RdRdRank, Rule::WrRdRank],
            Command::Write { .. } => [Rule::RdWrRank, Rule::WrWrRank],
            // The others use no data bus.
            _ => return,
        };
        let [read, write] = self.other_ranks(check);
        check.minimum(rules[0], read);
        check.minimum(rules[1], write);
    }

    /// The latest RD and the latest WR of the other ranks.
    fn other_ranks(&self, check: &Check<'_>) -> [Option<Issued>; 2] {
        let [mut read, mut write] = [None; 2];
        for (rank, history) in (0..).zip(&self.ranks) {
            if rank != check.rank {
                read = check.latest([read, history.last.read]);
                write = check.latest([write, history.last.write]);
            }
        }
        [read, write]
    }
}

/// Whether the rank, banks, row and columns of a command exist.
#[inline]
pub(crate) fn exists(geometry: &Geometry, command: &Command) -> bool {
    let bank_exists = |id: BankId| id.rank < geometry.ranks() && id.bank < geometry.banks();
    let row_exists = |row: Row| row.0 < geometry.rows_per_bank();
    let column_exists = |column: Column| column.0 < geometry.columns();
    match command.operands() {
        Operands::Row(bank, row) => bank_exists(bank) && row_exists(row),
        Operands::Line(bank, column) => bank_exists(bank) && column_exists(column),
        Operands::Lines((src, src_column), (dst, dst_column)) => {
            bank_exists(src) && bank_exists(dst) && column_exists(src_column) && column_exists(dst_column)
        }
        Operands::Bank(bank) | Operands::BankSet(bank) => bank_exists(bank),
        Operands::Rank(rank) => rank < geometry.ranks(),
    }
}

impl RankHistory {
    /// Checks the maxima at the end of the run.
    pub(crate) fn check_end(&self, check: &mut Check<'_>) {
        for bank in self.open_banks() {
            check.maximum(Rule::TRasMax, bank.last.act);
        }
        if self.in_power_down() {
            check.maximum(Rule::TPdMax, self.pde);
        }
        self.ledger.check(check);
    }

    fn check(&self, check: &mut Check<'_>, command: &Command) {
        self.check_power_state(check, command);
        if !matches!(
            command,
            Command::PowerDownEnter { .. } | Command::PowerDownExit { .. } | Command::SelfRefreshExit { .. }
        ) {
            check.minimum(Rule::TXp, self.pdx);
            check.minimum(Rule::TRfc, self.refresh);
        }
        match *command {
            Command::Activate { bank, row } => {
                if let Some(history) = self.bank(bank) {
                    self.check_activate(check, bank, history, row);
                }
            }
            Command::Precharge { bank } => {
                if let Some(bank) = self.bank(bank) {
                    self.check_precharge(check, &bank.last);
                    check_close(check, bank);
                    self.check_moved(check, bank.moved);
                }
            }
            Command::PrechargeAll { .. } => {
                self.check_precharge(check, &self.last);
                for bank in self.open_banks() {
                    check_close(check, bank);
                }
                self.check_moved(check, self.moved());
            }
            Command::Read { bank, auto_precharge, .. } => {
                self.check_read(check, bank, auto_precharge);
                self.check_access(check, bank, auto_precharge);
            }
            Command::Write { bank, auto_precharge, .. } => {
                self.check_write(check, bank);
                self.check_access(check, bank, auto_precharge);
            }
            Command::Transfer { src, dst, .. } => self.check_transfer(check, src, dst),
            Command::MoveRowBuffer { bank, row } => self.check_movement(check, bank, row),
            Command::Refresh { .. } => {
                self.check_refresh(check);
                check.minimum(Rule::RefWindow, self.refreshes.oldest());
                self.ledger.check(check);
            }
            Command::RefreshSameBank { bank } => self.check_refresh_same_bank(check, bank),
            Command::SelfRefreshEnter { .. } => {
                self.check_refresh(check);
                check.minimum(Rule::TRdpden, self.last.read);
                if self.srx_without_refresh.is_some() {
                    self.check_state(check, Rule::SrxRefSre, self.srx_without_refresh);
                }
            }
            Command::PowerDownEnter { .. } => self.check_power_down(check),
            Command::PowerDownExit { .. } => check.minimum(Rule::TPd, self.pde),
            Command::SelfRefreshExit { .. } => check.minima([Rule::TCkesr, Rule::TCkeSr, Rule::TCsl], self.sre),
        }
    }

    fn in_power_down(&self) -> bool {
        matches!(self.power_state, RankPower::ActivePowerDown | RankPower::PrechargePowerDown)
    }

    /// `asleep`, `awake` and `tPD-max`.
    fn check_power_state(&self, check: &mut Check<'_>, command: &Command) {
        let entry = match self.power_state {
            RankPower::Awake => None,
            RankPower::ActivePowerDown | RankPower::PrechargePowerDown => self.pde,
            RankPower::SelfRefresh => self.sre,
        };
        match command {
            Command::PowerDownExit { .. } if self.in_power_down() => check.maximum(Rule::TPdMax, self.pde),
            Command::SelfRefreshExit { .. } if self.power_state == RankPower::SelfRefresh => {}
            // An exit from the other state breaks `awake` alone, as in the table of pairs.
            Command::PowerDownExit { .. } | Command::SelfRefreshExit { .. } => check.state(Rule::Awake, entry),
            _ if entry.is_some() => check.state(Rule::Asleep, entry),
            _ => {}
        }
    }

    /// A state rule of the banks or of self-refresh. A rank in power-down or self-refresh does not decode commands:
    /// there `asleep` alone applies, as in the table of pairs.
    fn check_state(&self, check: &mut Check<'_>, rule: Rule, earlier: Option<Issued>) {
        if self.power_state == RankPower::Awake {
            check.state(rule, earlier);
        }
    }

    fn check_activate(&self, check: &mut Check<'_>, id: BankId, bank: &BankHistory, row: Row) {
        let activation = bank.activation(row, check.setting);
        if let Some(moved) = bank.moved {
            if moved.subarray == check.setting.geometry.subarray(row) {
                check.at_least(moved.duration(check.setting), Rule::Rbm, moved.rbm);
            } else {
                self.check_state(check, Rule::RbmSubarray, Some(moved.rbm));
            }
        }
        match activation {
            Activation::Dropped => return self.check_state(check, Rule::FpmSubarray, bank.last.act),
            Activation::Copy => {
                check.minimum(Rule::Fpm, bank.last.act);
                check.minimum(Rule::FpmTWr, check.latest([bank.last.write, bank.last.transfer_in]));
            }
            Activation::Ordinary => {
                if bank.open_row.is_some() {
                    self.check_state(check, Rule::BankOpen, bank.last.act);
                }
                check.minimum(Rule::TRc, bank.last.act);
            }
        }
        check.minimum(Rule::TRp, bank.last.pre);
        check.minimum(Rule::TRpa, self.prea);
        check.minimum(Rule::RdaAct, bank.last.rda);
        check.minimum(Rule::WraAct, bank.last.wra);
        check.minima([Rule::TXs, Rule::TXsnr], self.srx);
        if self.same_bank.exists() {
            check.minimum(Rule::TRfcsb, self.same_bank.of(id));
            check.minimum(Rule::TRefsbrd, check.latest(self.same_bank.of_others(id)));
        }
        if counts(activation, check.setting.copy_activations) {
            match self.group(id) {
                None => check.minimum(Rule::TRrd, self.activation),
                Some(group) => {
                    check.minimum(Rule::TRrdS, self.activation);
                    check.minimum(Rule::TRrdL, group.activation);
                }
            }
            check.minimum(Rule::TFaw, self.activations.oldest());
        }
    }

    /// An RBM ends the use of its source row, as a PRE does.
    fn check_movement(&self, check: &mut Check<'_>, bank: BankId, row: Row) {
        if check.setting.dialect == Dialect::Jedec {
            check.state(Rule::RbmJedec, None);
        }
        let Some(bank) = self.bank(bank) else { return };
        self.check_precharge(check, &bank.last);
        check_close(check, bank);
        match bank.hops(row, check.setting) {
            None => self.check_state(check, Rule::BankClosed, closed_by(check, bank)),
            Some(0) => self.check_state(check, Rule::RbmSubarray, bank.last.act),
            Some(_) => {}
        }
    }

    /// `RBM-ACT`: a command that would lose moved contents.
    fn check_moved(&self, check: &mut Check<'_>, moved: Option<Moved>) {
        if let Some(moved) = moved {
            self.check_state(check, Rule::RbmAct, Some(moved.rbm));
        }
    }

    /// PRE against the last commands of its bank, PREA against those of its rank.
    fn check_precharge(&self, check: &mut Check<'_>, last: &LastCommands) {
        check.minimum(Rule::TRas, last.act);
        check.minimum(Rule::TRtp, last.read);
        check.minimum(Rule::TWr, last.write);
        check.minimum(Rule::TransferTRtp, last.transfer_out);
        check.minimum(Rule::TransferTWr, last.transfer_in);
        check.minimum(Rule::TPpd, self.last.pre);
        check.minima([Rule::TXs, Rule::TXsnr], self.srx);
    }

    /// RD against the column commands of its rank and its group.
    fn check_read(&self, check: &mut Check<'_>, bank: BankId, auto_precharge: AutoPrecharge) {
        match self.group(bank) {
            None => {
                check.minimum(Rule::TCcdRd, self.last.read);
                check.minimum(Rule::TWtr, self.last.write);
            }
            Some(group) => {
                if auto_precharge == AutoPrecharge::Yes {
                    let write = self.bank(bank).and_then(|bank| bank.last.write);
                    check.minima([Rule::WrRda, Rule::WrRdaTWr, Rule::TWtra], write);
                }
                check.minimum(Rule::TCcdSRd, self.last.read);
                check.minimum(Rule::TCcdLRd, group.read);
                check.minimum(Rule::TWtrS, self.last.write);
                check.minimum(Rule::TWtrL, group.write);
            }
        }
        check.minimum(Rule::TransferRd, self.last.transfer_out);
    }

    /// WR against the column commands of its rank and its group.
    fn check_write(&self, check: &mut Check<'_>, bank: BankId) {
        match self.group(bank) {
            None => check.minimum(Rule::TCcdWr, self.last.write),
            Some(group) => {
                check.minimum(Rule::TCcdSWr, self.last.write);
                check.minimum_or_exactly(check.setting.limits.burst(), Rule::WrWrTWpre, self.last.write);
                check.minima([Rule::TCcdLWrite, Rule::TCcdLWr, Rule::TCcdLWr2], group.write);
            }
        }
        check.minimum(Rule::RdWr, self.last.read);
        check.minimum(Rule::TransferWr, self.last.transfer_out);
    }

    /// The rules that bind RD and WR alike.
    fn check_access(&self, check: &mut Check<'_>, bank: BankId, auto_precharge: AutoPrecharge) {
        check.minima([Rule::TXpdll, Rule::TXards], self.pdx_slow);
        check.minima([Rule::TXsdll, Rule::TXsrd], self.srx);
        let Some(bank) = self.bank(bank) else { return };
        check.minimum(Rule::TRcd, bank.last.act);
        if bank.open_row.is_none() {
            self.check_state(check, Rule::BankClosed, closed_by(check, bank));
        } else if auto_precharge == AutoPrecharge::Yes {
            check_close(check, bank);
        }
    }

    fn check_transfer(&self, check: &mut Check<'_>, src: BankId, dst: BankId) {
        if !between_two_banks(src, dst) {
            return;
        }
        check.minima([Rule::TXs, Rule::TXsnr], self.srx);
        check.minima([Rule::TransferTCcd, Rule::TransferTCcdWr], self.last.transfer_out);
        check.minimum(Rule::RdTransfer, self.last.read);
        check.minimum(Rule::WrTransfer, self.last.write);
        let (Some(src), Some(dst)) = (self.bank(src), self.bank(dst)) else { return };
        check.minimum(Rule::TransferTRcd, check.latest([src.last.act, dst.last.act]));
        check.minimum(Rule::TransferTurnaround, src.last.transfer_in);
        if let Some(closed) = [src, dst].into_iter().find(|bank| bank.open_row.is_none()) {
            self.check_state(check, Rule::BankClosed, closed_by(check, closed));
        }
    }

    /// REF and SRE.
    fn check_refresh(&self, check: &mut Check<'_>) {
        check.minimum(Rule::TRpRef, self.last.pre);
        check.minimum(Rule::TRcRef, self.last.act);
        check.minimum(Rule::RdaRef, self.last.rda);
        check.minimum(Rule::WraRef, self.last.wra);
        if self.same_bank.exists() {
            check.minimum(Rule::TRfcsbRef, check.latest(self.same_bank.all()));
        }
        check.minima([Rule::TXs, Rule::TXsnr], self.srx);
        if let Some(open) = self.open_banks().next() {
            self.check_state(check, Rule::BanksOpen, open.last.act);
        } else if let Some(moved) = self.moved() {
            self.check_state(check, Rule::BanksOpen, Some(moved.rbm));
        }
    }

    /// `REFsb`: only its banks must be closed and ready.
    fn check_refresh_same_bank(&self, check: &mut Check<'_>, id: BankId) {
        if !self.same_bank.exists() {
            return self.check_state(check, Rule::Address, None);
        }
        let last = |of: fn(&LastCommands) -> Option<Issued>| self.bank_set(id).map(move |bank| of(&bank.last));
        check.minimum(Rule::TRpRefsb, check.latest(last(|last| last.pre)));
        check.minimum(Rule::TRcRefsb, check.latest(last(|last| last.act)));
        check.minimum(Rule::RdaRefsb, check.latest(last(|last| last.rda)));
        check.minimum(Rule::WraRefsb, check.latest(last(|last| last.wra)));
        check.minimum(Rule::ActRefsb, self.last.act);
        check.minimum(Rule::TRfcsb, self.same_bank.of(id));
        check.minimum(Rule::RefsbRefsb, check.latest(self.same_bank.of_others(id)));
        check.minimum(Rule::TXs, self.srx);
        if check.setting.limits.refresh.per_same_bank > 0 {
            self.ledger.check(check);
        }
        if let Some(open) = self.bank_set(id).find(|bank| bank.open_row.is_some() || bank.moved.is_some()) {
            self.check_state(check, Rule::BanksOpen, open.last.act);
        }
        if self.same_bank.is_in_round(id) {
            self.check_state(check, Rule::RefsbRound, self.same_bank.of(id));
        }
    }

    fn check_power_down(&self, check: &mut Check<'_>) {
        self.check_moved(check, self.moved());
        check.minimum(Rule::TRdpden, self.last.read);
        check.minimum(Rule::TWrpden, self.last.wr);
        check.minimum(Rule::TWrapden, self.last.wra);
        check.minimum(Rule::TActpden, self.last.act);
        check.minimum(Rule::TPrpden, self.last.pre);
        check.minimum(Rule::TRefpden, check.latest(self.same_bank.all().chain([self.refresh])));
        check.minimum(Rule::TransferPde, self.last.transfer_out);
        check.minimum(Rule::TCke, self.pdx);
        check.minimum(Rule::PdxRefPde, self.pdx_before_refresh);
        check.minimum(Rule::RefPdxPde, self.refresh_before_pdx);
        let rules = check.setting.limits.rules;
        check.minimum(rules.exit_to_power_down, self.srx);
        if rules.refresh_before_power_down && self.srx_without_refresh.is_some() {
            self.check_state(check, Rule::SrxRefPde, self.srx_without_refresh);
        }
    }
}

/// The command that closed a bank; none for a bank that was never open.
fn closed_by(check: &Check<'_>, bank: &BankHistory) -> Option<Issued> {
    let rbm = bank.moved.map(|moved| moved.rbm);
    bank.last.act.and(check.latest([bank.last.pre, bank.last.rda, bank.last.wra, rbm]))
}

/// `tRAS-max`, at a command that closes the bank.
fn check_close(check: &mut Check<'_>, bank: &BankHistory) {
    if bank.open_row.is_some() {
        check.maximum(Rule::TRasMax, bank.last.act);
    }
}
