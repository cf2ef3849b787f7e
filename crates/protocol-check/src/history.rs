//! What has come: the last commands of each sort, by bank, by rank and by channel.

use dram_spec::{AutoPrecharge, BankId, Command, CopyActivations, Dialect, Issued, PrechargePowerDown, Row};

use crate::lookback::Setting;
use crate::refresh::Upkeep;

/// The last command of each sort, of one bank or of all banks of a rank.
#[derive(Clone, Debug, Default)]
pub(crate) struct Past {
    pub(crate) act: Option<Issued>,
    /// PRE; for a rank also PREA.
    pub(crate) pre: Option<Issued>,
    pub(crate) rd: Option<Issued>,
    pub(crate) rda: Option<Issued>,
    pub(crate) wr: Option<Issued>,
    pub(crate) wra: Option<Issued>,
    pub(crate) transfer_out: Option<Issued>,
    pub(crate) transfer_in: Option<Issued>,
}

/// A bank: what it has been told, and whether that left a row open.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bank {
    pub(crate) past: Past,
    pub(crate) open_row: Option<Row>,
}

/// What an ACT does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activation {
    /// Opens a closed bank (in dialect `jedec`, every ACT).
    Ordinary,
    /// Copies the open row.
    Copy,
    /// Goes to another subarray than the open row's: the device drops it.
    Dropped,
}

impl Bank {
    pub(crate) fn activation(&self, row: Row, setting: &Setting) -> Activation {
        match (self.open_row, setting.dialect) {
            (None, _) | (Some(_), Dialect::Jedec) => Activation::Ordinary,
            (Some(open), Dialect::RowClone) if setting.geometry.subarray(open) == setting.geometry.subarray(row) => {
                Activation::Copy
            }
            (Some(_), Dialect::RowClone) => Activation::Dropped,
        }
    }
}

/// How a rank sleeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sleep {
    #[default]
    Awake,
    /// Power-down with a bank open.
    Active,
    /// Power-down with all banks closed.
    Precharge,
    SelfRefresh,
}

/// A rank: the last commands to any of its banks, and those to all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rank {
    pub(crate) banks: Vec<Bank>,
    pub(crate) past: Past,
    /// RD or RDA.
    pub(crate) read: Option<Issued>,
    /// WR or WRA.
    pub(crate) write: Option<Issued>,
    /// The latest four activations that count in tRRD and tFAW; `newest` is the place of the latest.
    pub(crate) window: [Option<Issued>; 4],
    pub(crate) newest: usize,
    pub(crate) prea: Option<Issued>,
    pub(crate) refresh: Option<Issued>,
    pub(crate) pde: Option<Issued>,
    pub(crate) pdx: Option<Issued>,
    /// The last PDX of a precharge power-down with slow exit.
    pub(crate) pdx_slow: Option<Issued>,
    pub(crate) sre: Option<Issued>,
    pub(crate) srx: Option<Issued>,
    pub(crate) sleep: Sleep,
    pub(crate) upkeep: Upkeep,
}

impl Rank {
    fn new(banks: u8) -> Rank {
        Rank { banks: vec![Bank::default(); usize::from(banks)], ..Rank::default() }
    }

    pub(crate) fn bank(&self, bank: BankId) -> Option<&Bank> {
        self.banks.get(usize::from(bank.bank))
    }

    fn bank_mut(&mut self, bank: BankId) -> Option<&mut Bank> {
        self.banks.get_mut(usize::from(bank.bank))
    }

    pub(crate) fn open_banks(&self) -> impl Iterator<Item = &Bank> {
        self.banks.iter().filter(|bank| bank.open_row.is_some())
    }

    fn record(&mut self, issued: Issued, setting: &Setting) {
        let now = Some(issued);
        match issued.command {
            Command::Activate { bank, row } => self.activate(issued, bank, row, setting),
            Command::Precharge { bank } => {
                if let Some(bank) = self.bank_mut(bank) {
                    bank.past.pre = now;
                    bank.open_row = None;
                    self.past.pre = now;
                }
            }
            Command::PrechargeAll { .. } => {
                for bank in &mut self.banks {
                    bank.open_row = None;
                }
                self.prea = now;
                self.past.pre = now;
            }
            Command::Read { bank, auto_precharge, .. } => {
                let note = |past: &mut Past| match auto_precharge {
                    AutoPrecharge::No => past.rd = now,
                    AutoPrecharge::Yes => past.rda = now,
                };
                if self.access(bank, auto_precharge, note) {
                    self.read = now;
                }
            }
            Command::Write { bank, auto_precharge, .. } => {
                let note = |past: &mut Past| match auto_precharge {
                    AutoPrecharge::No => past.wr = now,
                    AutoPrecharge::Yes => past.wra = now,
                };
                if self.access(bank, auto_precharge, note) {
                    self.write = now;
                }
            }
            Command::Transfer { src, dst, .. } => self.transfer(issued, src, dst),
            Command::Refresh { .. } => {
                self.refresh = now;
                self.upkeep.refresh(issued, setting.limits.interval);
            }
            Command::PowerDownEnter { .. }
            | Command::PowerDownExit { .. }
            | Command::SelfRefreshEnter { .. }
            | Command::SelfRefreshExit { .. } => self.sleep_or_wake(issued, setting),
        }
    }

    fn activate(&mut self, issued: Issued, id: BankId, row: Row, setting: &Setting) {
        let Some(bank) = self.bank_mut(id) else { return };
        let activation = bank.activation(row, setting);
        if activation == Activation::Dropped {
            return;
        }
        bank.past.act = Some(issued);
        bank.open_row = Some(row);
        self.past.act = Some(issued);
        if counts(activation, setting.copy_activations) {
            self.newest = (self.newest + 1) % self.window.len();
            self.window[self.newest] = Some(issued);
        }
    }

    /// A column access, and whether it found its bank open: nothing comes of it where the bank is closed.
    fn access(&mut self, id: BankId, auto_precharge: AutoPrecharge, note: impl Fn(&mut Past)) -> bool {
        let Some(bank) = self.bank_mut(id).filter(|bank| bank.open_row.is_some()) else { return false };
        note(&mut bank.past);
        if auto_precharge == AutoPrecharge::Yes {
            bank.open_row = None;
        }
        note(&mut self.past);
        true
    }

    /// A TRANSFER: nothing where a bank is closed, or the two are not two of this rank.
    fn transfer(&mut self, issued: Issued, src: BankId, dst: BankId) {
        let open = |id| self.bank(id).is_some_and(|bank| bank.open_row.is_some());
        if !between_two_banks(src, dst) || !open(src) || !open(dst) {
            return;
        }
        if let Some(bank) = self.bank_mut(src) {
            bank.past.transfer_out = Some(issued);
        }
        if let Some(bank) = self.bank_mut(dst) {
            bank.past.transfer_in = Some(issued);
        }
        self.past.transfer_out = Some(issued);
        self.past.transfer_in = Some(issued);
    }

    fn sleep_or_wake(&mut self, issued: Issued, setting: &Setting) {
        let now = Some(issued);
        match (issued.command, self.sleep) {
            (Command::PowerDownEnter { .. }, Sleep::Awake) => {
                self.sleep = if self.open_banks().next().is_some() { Sleep::Active } else { Sleep::Precharge };
                self.pde = now;
            }
            (Command::PowerDownExit { .. }, Sleep::Active | Sleep::Precharge) => {
                if self.sleep == Sleep::Precharge && setting.precharge_power_down == PrechargePowerDown::SlowExit {
                    self.pdx_slow = now;
                }
                self.sleep = Sleep::Awake;
                self.pdx = now;
            }
            (Command::SelfRefreshEnter { .. }, Sleep::Awake) => {
                self.sleep = Sleep::SelfRefresh;
                self.sre = now;
                self.upkeep.enter(issued.at);
            }
            (Command::SelfRefreshExit { .. }, Sleep::SelfRefresh) => {
                self.sleep = Sleep::Awake;
                self.srx = now;
                self.upkeep.exit(issued.at);
            }
            // An entry into another sleep, or an exit from none: the rank stays as it is.
            (_, Sleep::Awake | Sleep::Active | Sleep::Precharge | Sleep::SelfRefresh) => {}
        }
    }
}

/// Whether an activation counts in tRRD and tFAW.
pub(crate) fn counts(activation: Activation, copy_activations: CopyActivations) -> bool {
    match activation {
        Activation::Ordinary => true,
        Activation::Copy => copy_activations == CopyActivations::Counted,
        Activation::Dropped => false,
    }
}

/// Whether a TRANSFER names two banks of one rank.
pub(crate) fn between_two_banks(src: BankId, dst: BankId) -> bool {
    src.rank == dst.rank && src.bank != dst.bank
}

/// A channel: its ranks, and what its command bus last carried.
#[derive(Clone, Debug)]
pub(crate) struct Wires {
    pub(crate) last: Option<Issued>,
    pub(crate) last_transfer: Option<Issued>,
    pub(crate) ranks: Vec<Rank>,
}

impl Wires {
    pub(crate) fn new(ranks: u8, banks: u8) -> Wires {
        Wires { last: None, last_transfer: None, ranks: vec![Rank::new(banks); usize::from(ranks)] }
    }

    /// Takes a command into the history.
    pub(crate) fn record(&mut self, issued: Issued, setting: &Setting) {
        self.last = Some(issued);
        if matches!(issued.command, Command::Transfer { .. }) {
            self.last_transfer = Some(issued);
        }
        if let Some(rank) = self.ranks.get_mut(usize::from(issued.command.rank())) {
            rank.record(issued, setting);
        }
    }
}
