//! The verdict on each command: what it finds when it looks back. One function for each sort of command.

use dram_spec::{AutoPrecharge, BankId, Column, Command, Dialect, Geometry, Issued, Row};

use crate::history::{Activation, Bank, Past, Rank, Sleep, Wires, between_two_banks, counts};
use crate::lookback::Lookback;
use crate::rule::Rule;

impl Wires {
    /// Judges a command against all that came before it on its channel.
    pub(crate) fn judge(&self, look: &mut Lookback<'_>, command: &Command) {
        look.order(self.last);
        look.least(Rule::Bus, self.last);
        look.least(Rule::BusTransfer, self.last_transfer);
        if !exists(&look.setting.geometry, command) {
            look.state(Rule::Address, None);
        }
        if let Command::Transfer { src, dst, .. } = *command {
            if look.setting.dialect == Dialect::Jedec {
                look.state(Rule::TransferJedec, None);
            }
            if !between_two_banks(src, dst) {
                look.state(Rule::TransferBanks, None);
            }
        }
        if let Some(rank) = self.ranks.get(usize::from(command.rank())) {
            rank.judge(look, command);
            self.judge_rank_switch(look, command);
        }
    }

    /// RD and WR against the data of the other ranks on the same pins.
    fn judge_rank_switch(&self, look: &mut Lookback<'_>, command: &Command) {
        match command {
            Command::Read { .. } => {
                let [read, write] = self.other_ranks(look);
                look.least(Rule::RdRdRank, read);
                look.least(Rule::WrRdRank, write);
            }
            Command::Write { .. } => {
                let [read, write] = self.other_ranks(look);
                look.least(Rule::RdWrRank, read);
                look.least(Rule::WrWrRank, write);
            }
            Command::Activate { .. }
            | Command::Precharge { .. }
            | Command::PrechargeAll { .. }
            | Command::Transfer { .. }
            | Command::Refresh { .. }
            | Command::PowerDownEnter { .. }
            | Command::PowerDownExit { .. }
            | Command::SelfRefreshEnter { .. }
            | Command::SelfRefreshExit { .. } => {}
        }
    }

    /// The nearest RD and the nearest WR of the other ranks.
    fn other_ranks(&self, look: &Lookback<'_>) -> [Option<Issued>; 2] {
        let mut nearest = [None; 2];
        for (rank, history) in self.ranks.iter().enumerate() {
            if rank != usize::from(look.rank) {
                nearest = [look.nearest([nearest[0], history.read]), look.nearest([nearest[1], history.write])];
            }
        }
        nearest
    }
}

/// Whether the geometry has what a command names, its channel aside.
fn exists(geometry: &Geometry, command: &Command) -> bool {
    let bank_exists = |id: BankId| id.rank < geometry.ranks() && id.bank < geometry.banks();
    let row_exists = |row: Row| row.0 < geometry.rows_per_bank();
    let column_exists = |column: Column| column.0 < geometry.columns();
    match *command {
        Command::Activate { bank, row } => bank_exists(bank) && row_exists(row),
        Command::Precharge { bank } => bank_exists(bank),
        Command::Read { bank, column, .. } | Command::Write { bank, column, .. } => {
            bank_exists(bank) && column_exists(column)
        }
        Command::Transfer { src, src_column, dst, dst_column } => {
            bank_exists(src) && bank_exists(dst) && column_exists(src_column) && column_exists(dst_column)
        }
        Command::PrechargeAll { rank }
        | Command::Refresh { rank }
        | Command::PowerDownEnter { rank }
        | Command::PowerDownExit { rank }
        | Command::SelfRefreshEnter { rank }
        | Command::SelfRefreshExit { rank } => rank < geometry.ranks(),
    }
}

impl Rank {
    /// What is still running when the run ends.
    pub(crate) fn judge_end(&self, look: &mut Lookback<'_>) {
        for bank in self.open_banks() {
            look.most(Rule::TRasMax, bank.past.act);
        }
        if matches!(self.sleep, Sleep::Active | Sleep::Precharge) {
            look.most(Rule::TPdMax, self.pde);
        }
        self.upkeep.judge(look);
    }

    fn judge(&self, look: &mut Lookback<'_>, command: &Command) {
        self.judge_sleep(look, command);
        match *command {
            Command::Activate { bank, row } => {
                if let Some(bank) = self.bank(bank) {
                    self.judge_activate(look, bank, row);
                }
            }
            Command::Precharge { bank } => {
                if let Some(bank) = self.bank(bank) {
                    self.judge_precharge(look, &bank.past);
                    judge_close(look, bank);
                }
            }
            Command::PrechargeAll { .. } => {
                // The nearest of all banks is the rank's own last one.
                self.judge_precharge(look, &self.past);
                for bank in self.open_banks() {
                    judge_close(look, bank);
                }
            }
            Command::Read { bank, auto_precharge, .. } => {
                look.least(Rule::TCcdRd, self.read);
                look.least(Rule::TWtr, self.write);
                look.least(Rule::TransferRd, self.past.transfer_out);
                self.judge_access(look, bank, auto_precharge);
            }
            Command::Write { bank, auto_precharge, .. } => {
                look.least(Rule::TCcdWr, self.write);
                look.least(Rule::RdWr, self.read);
                look.least(Rule::TransferWr, self.past.transfer_out);
                self.judge_access(look, bank, auto_precharge);
            }
            Command::Transfer { src, dst, .. } => self.judge_transfer(look, src, dst),
            Command::Refresh { .. } => {
                self.judge_refresh(look);
                self.upkeep.judge(look);
            }
            Command::SelfRefreshEnter { .. } => self.judge_refresh(look),
            Command::PowerDownEnter { .. } => self.judge_power_down(look),
            Command::PowerDownExit { .. } => look.least(Rule::TPd, self.pde),
            Command::SelfRefreshExit { .. } => look.least(Rule::TCkesr, self.sre),
        }
    }

    /// May a rank that sleeps like this be told that, and has it been awake for long enough?
    fn judge_sleep(&self, look: &mut Lookback<'_>, command: &Command) {
        let exit = match command {
            Command::PowerDownExit { .. } => Some([Sleep::Active, Sleep::Precharge]),
            Command::SelfRefreshExit { .. } => Some([Sleep::SelfRefresh; 2]),
            Command::Activate { .. }
            | Command::Precharge { .. }
            | Command::PrechargeAll { .. }
            | Command::Read { .. }
            | Command::Write { .. }
            | Command::Transfer { .. }
            | Command::Refresh { .. }
            | Command::PowerDownEnter { .. }
            | Command::SelfRefreshEnter { .. } => None,
        };
        let wakes = exit.is_some_and(|sleeps| sleeps.contains(&self.sleep));
        if exit.is_some() && !wakes {
            look.state(Rule::Awake, None);
        }
        match self.sleep {
            Sleep::Active | Sleep::Precharge if wakes => look.most(Rule::TPdMax, self.pde),
            Sleep::Active | Sleep::Precharge => look.state(Rule::Asleep, self.pde),
            Sleep::SelfRefresh if !wakes => look.state(Rule::Asleep, self.sre),
            Sleep::SelfRefresh | Sleep::Awake => {}
        }
        if !matches!(command, Command::PowerDownExit { .. }) {
            look.least(Rule::TXp, self.pdx);
        }
    }

    fn judge_activate(&self, look: &mut Lookback<'_>, bank: &Bank, row: Row) {
        let activation = bank.activation(row, look.setting);
        match activation {
            Activation::Dropped => return look.state(Rule::FpmSubarray, bank.past.act),
            Activation::Copy => look.least(Rule::Fpm, bank.past.act),
            Activation::Ordinary => {
                if bank.open_row.is_some() {
                    look.state(Rule::BankOpen, bank.past.act);
                }
                look.least(Rule::TRc, bank.past.act);
            }
        }
        look.least(Rule::TRp, look.nearest([bank.past.pre, self.prea]));
        look.least(Rule::RdaAct, bank.past.rda);
        look.least(Rule::WraAct, bank.past.wra);
        look.least(Rule::TRfc, self.refresh);
        look.least(Rule::TXs, self.srx);
        if counts(activation, look.setting.copy_activations) {
            look.least(Rule::TRrd, self.window[self.newest]);
            // The oldest of four stands behind the newest in the ring.
            look.least(Rule::TFaw, self.window[(self.newest + 1) % self.window.len()]);
        }
    }

    /// PRE against the past of its bank, PREA against that of its rank.
    fn judge_precharge(&self, look: &mut Lookback<'_>, past: &Past) {
        look.least(Rule::TRas, past.act);
        look.least(Rule::TRtp, past.rd);
        look.least(Rule::TWr, past.wr);
        look.least(Rule::TransferTRtp, past.transfer_out);
        look.least(Rule::TransferTWr, past.transfer_in);
        look.least(Rule::TXs, self.srx);
    }

    /// What RD and WR have in common.
    fn judge_access(&self, look: &mut Lookback<'_>, bank: BankId, auto_precharge: AutoPrecharge) {
        look.least(Rule::TXpdll, self.pdx_slow);
        look.least(Rule::TXsdll, self.srx);
        let Some(bank) = self.bank(bank) else { return };
        look.least(Rule::TRcd, bank.past.act);
        if bank.open_row.is_none() {
            look.state(Rule::BankClosed, self.closed_by(look, bank));
        } else if auto_precharge == AutoPrecharge::Yes {
            judge_close(look, bank);
        }
    }

    fn judge_transfer(&self, look: &mut Lookback<'_>, src: BankId, dst: BankId) {
        if !between_two_banks(src, dst) {
            return;
        }
        look.least(Rule::TransferTCcd, self.past.transfer_out);
        look.least(Rule::RdTransfer, self.read);
        look.least(Rule::WrTransfer, self.write);
        let (Some(src), Some(dst)) = (self.bank(src), self.bank(dst)) else { return };
        look.least(Rule::TransferTRcd, look.nearest([src.past.act, dst.past.act]));
        look.least(Rule::TransferTurnaround, src.past.transfer_in);
        if let Some(closed) = [src, dst].into_iter().find(|bank| bank.open_row.is_none()) {
            look.state(Rule::BankClosed, self.closed_by(look, closed));
        }
    }

    /// What closed a bank; nothing where it was never open.
    fn closed_by(&self, look: &Lookback<'_>, bank: &Bank) -> Option<Issued> {
        let precharge = look.nearest([bank.past.pre, self.prea]);
        let access = look.nearest([bank.past.rda, bank.past.wra]);
        bank.past.act.and(look.nearest([precharge, access]))
    }

    /// REF and SRE.
    fn judge_refresh(&self, look: &mut Lookback<'_>) {
        look.least(Rule::TRpRef, self.past.pre);
        look.least(Rule::TRcRef, self.past.act);
        look.least(Rule::RdaRef, self.past.rda);
        look.least(Rule::WraRef, self.past.wra);
        look.least(Rule::TRfc, self.refresh);
        look.least(Rule::TXs, self.srx);
        if let Some(open) = self.open_banks().next() {
            look.state(Rule::BanksOpen, open.past.act);
        }
    }

    fn judge_power_down(&self, look: &mut Lookback<'_>) {
        look.least(Rule::TRdpden, self.read);
        look.least(Rule::TWrpden, self.past.wr);
        look.least(Rule::TWrapden, self.past.wra);
        look.least(Rule::TActpden, self.past.act);
        look.least(Rule::TPrpden, self.past.pre);
        look.least(Rule::TRefpden, self.refresh);
        look.least(Rule::TransferPde, self.past.transfer_out);
        look.least(Rule::TXs, self.srx);
    }
}

/// A bank that is open is now closed: was it open for too long?
fn judge_close(look: &mut Lookback<'_>, bank: &Bank) {
    if bank.open_row.is_some() {
        look.most(Rule::TRasMax, bank.past.act);
    }
}
