//! The `REFsb` of a rank: the last one of each bank number, and the round in which each bank number gets one.

use dram_spec::{BankId, Issued, System};

/// The `REFsb` of a rank. A bank number is the number of a bank in its group.
#[derive(Clone, Debug, Default)]
pub(crate) struct SameBankHistory {
    /// The last `REFsb` of each bank number; empty in a standard without `REFsb`.
    by_number: Vec<Option<Issued>>,
    /// The bank numbers that had a `REFsb` in this round.
    in_round: u64,
}

impl SameBankHistory {
    pub(crate) fn new(system: &System) -> SameBankHistory {
        let modes = system.bin.standard.definition().refresh_modes;
        let numbers = if modes.iter().any(|mode| mode.same_bank) { system.geometry.chip().banks_per_group } else { 0 };
        SameBankHistory { by_number: vec![None; usize::from(numbers)], in_round: 0 }
    }

    /// Whether the standard has `REFsb`.
    pub(crate) fn exists(&self) -> bool {
        !self.by_number.is_empty()
    }

    fn number(&self, bank: BankId) -> usize {
        usize::from(bank.bank) % self.by_number.len().max(1)
    }

    /// The last `REFsb` of a bank.
    pub(crate) fn of(&self, bank: BankId) -> Option<Issued> {
        self.by_number.get(self.number(bank)).copied().flatten()
    }

    /// The last `REFsb` of each other bank number.
    pub(crate) fn of_others(&self, bank: BankId) -> impl Iterator<Item = Option<Issued>> {
        let number = self.number(bank);
        self.by_number.iter().enumerate().filter(move |(other, _)| *other != number).map(|(_, last)| *last)
    }

    /// The last `REFsb` of each bank number.
    pub(crate) fn all(&self) -> impl Iterator<Item = Option<Issued>> {
        self.by_number.iter().copied()
    }

    /// Whether a bank had its `REFsb` in this round.
    pub(crate) fn is_in_round(&self, bank: BankId) -> bool {
        self.in_round >> self.number(bank) & 1 != 0
    }

    /// Records a `REFsb`. Returns whether it ends a round.
    pub(crate) fn refresh(&mut self, issued: &Issued, bank: BankId) -> bool {
        let number = self.number(bank);
        self.by_number[number] = Some(*issued);
        self.in_round |= 1 << number;
        let ends = self.in_round.count_ones() as usize == self.by_number.len();
        if ends {
            self.in_round = 0;
        }
        ends
    }

    /// A refresh of all banks, or a self-refresh: the next `REFsb` may be of any bank number.
    pub(crate) fn restart_round(&mut self) {
        self.in_round = 0;
    }
}
