//! The history of a channel: the last commands of each kind per bank, per rank and of the command bus.

use dram_spec::{AutoPrecharge, BankId, Command, CopyActivations, Dialect, Issued, PrechargePowerDown, Row};

use crate::check::Setting;
use crate::refresh::RefreshLedger;

/// The last command of each kind, of one bank or of all banks of a rank.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastCommands {
    pub(crate) act: Option<Issued>,
    /// PRE or PREA.
    pub(crate) pre: Option<Issued>,
    /// RD or RDA.
    pub(crate) read: Option<Issued>,
    pub(crate) rda: Option<Issued>,
    /// WR or WRA.
    pub(crate) write: Option<Issued>,
    pub(crate) wr: Option<Issued>,
    pub(crate) wra: Option<Issued>,
    pub(crate) transfer_out: Option<Issued>,
    pub(crate) transfer_in: Option<Issued>,
}

/// The last `N` commands of a kind.
#[derive(Clone, Debug)]
pub(crate) struct Window<const N: usize> {
    commands: [Option<Issued>; N],
    /// The index of the oldest command, which the next one replaces.
    oldest: usize,
}

impl<const N: usize> Default for Window<N> {
    fn default() -> Window<N> {
        Window { commands: [None; N], oldest: 0 }
    }
}

impl<const N: usize> Window<N> {
    /// The `N`-th last command; none where there were fewer.
    pub(crate) const fn oldest(&self) -> Option<Issued> {
        self.commands[self.oldest]
    }

    pub(crate) const fn latest(&self) -> Option<Issued> {
        self.commands[(self.oldest + N - 1) % N]
    }

    fn push(&mut self, issued: &Issued) {
        self.commands[self.oldest] = Some(*issued);
        self.oldest = (self.oldest + 1) % N;
    }
}

/// A bank: its last commands and its open row.
#[derive(Clone, Debug, Default)]
pub(crate) struct BankHistory {
    pub(crate) last: LastCommands,
    pub(crate) open_row: Option<Row>,
    /// The contents that an RBM has moved, until the next ACT or PRE. The bank then has no open row.
    pub(crate) moved: Option<Moved>,
}

/// Contents of a row in the sense amplifiers of another subarray.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moved {
    pub(crate) rbm: Issued,
    pub(crate) subarray: u32,
    pub(crate) hops: u32,
}

/// Effect of an ACT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activation {
    /// Opens a closed bank (in dialect `jedec`, every ACT).
    Ordinary,
    /// Copies the open row.
    Copy,
    /// Addresses another subarray than the open row's: the device drops it.
    Dropped,
}

impl BankHistory {
    /// Subarrays from that of the open row to that of another row.
    pub(crate) fn hops(&self, row: Row, setting: &Setting) -> Option<u32> {
        self.open_row.map(|open| setting.geometry.subarray(open).abs_diff(setting.geometry.subarray(row)))
    }

    pub(crate) fn activation(&self, row: Row, setting: &Setting) -> Activation {
        let is_destination = |moved: Moved| moved.subarray == setting.geometry.subarray(row);
        match (self.open_row, setting.dialect) {
            (None, Dialect::RowClone) if self.moved.is_some_and(is_destination) => Activation::Copy,
            (None, _) | (Some(_), Dialect::Jedec) => Activation::Ordinary,
            (Some(open), Dialect::RowClone) if setting.geometry.subarray(open) == setting.geometry.subarray(row) => {
                Activation::Copy
            }
            (Some(_), Dialect::RowClone) => Activation::Dropped,
        }
    }
}

/// The power state of a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PowerState {
    #[default]
    Awake,
    /// Power-down with a bank open.
    ActivePowerDown,
    /// Power-down with all banks closed.
    PrechargePowerDown,
    SelfRefresh,
}

/// A rank: its banks, the last commands to any of them, and the last rank-wide commands.
#[derive(Clone, Debug, Default)]
pub(crate) struct RankHistory {
    pub(crate) banks: Vec<BankHistory>,
    pub(crate) last: LastCommands,
    /// The activations that count in tRRD and tFAW.
    pub(crate) activations: Window<4>,
    pub(crate) refreshes: Window<16>,
    /// The last REF with a PDX after it.
    pub(crate) refresh_before_pdx: Option<Issued>,
    pub(crate) pde: Option<Issued>,
    pub(crate) pdx: Option<Issued>,
    /// The last PDX, where a REF came after it.
    pub(crate) pdx_before_refresh: Option<Issued>,
    /// The last PDX of a precharge power-down with slow exit.
    pub(crate) pdx_slow: Option<Issued>,
    pub(crate) sre: Option<Issued>,
    pub(crate) srx: Option<Issued>,
    /// The last SRX, where no REF came after it.
    pub(crate) srx_without_refresh: Option<Issued>,
    pub(crate) power_state: PowerState,
    pub(crate) ledger: RefreshLedger,
}

impl RankHistory {
    fn new(banks: u8) -> RankHistory {
        RankHistory { banks: vec![BankHistory::default(); usize::from(banks)], ..RankHistory::default() }
    }

    pub(crate) fn bank(&self, bank: BankId) -> Option<&BankHistory> {
        self.banks.get(usize::from(bank.bank))
    }

    fn bank_mut(&mut self, bank: BankId) -> Option<&mut BankHistory> {
        self.banks.get_mut(usize::from(bank.bank))
    }

    /// The latest RBM whose contents no ACT has stored.
    pub(crate) fn moved(&self) -> Option<Moved> {
        self.banks.iter().filter_map(|bank| bank.moved).max_by_key(|moved| moved.rbm.at)
    }

    pub(crate) fn open_banks(&self) -> impl Iterator<Item = &BankHistory> {
        self.banks.iter().filter(|bank| bank.open_row.is_some())
    }

    fn record(&mut self, issued: &Issued, setting: &Setting) {
        let now = Some(*issued);
        match issued.command {
            Command::Activate { bank, row } => self.activate(issued, bank, row, setting),
            Command::Precharge { bank } => {
                if let Some(bank) = self.bank_mut(bank) {
                    bank.last.pre = now;
                    (bank.open_row, bank.moved) = (None, None);
                    self.last.pre = now;
                }
            }
            Command::PrechargeAll { .. } => {
                for bank in &mut self.banks {
                    bank.last.pre = now;
                    (bank.open_row, bank.moved) = (None, None);
                }
                self.last.pre = now;
            }
            Command::Read { bank, auto_precharge, .. } => self.access(bank, auto_precharge, |last| {
                last.read = now;
                if auto_precharge == AutoPrecharge::Yes {
                    last.rda = now;
                }
            }),
            Command::Write { bank, auto_precharge, .. } => self.access(bank, auto_precharge, |last| {
                last.write = now;
                match auto_precharge {
                    AutoPrecharge::No => last.wr = now,
                    AutoPrecharge::Yes => last.wra = now,
                }
            }),
            Command::Transfer { src, dst, .. } => self.transfer(issued, src, dst),
            Command::MoveRowBuffer { bank, row } => {
                if let Some(bank) = self.bank_mut(bank)
                    && let Some(hops) = bank.hops(row, setting).filter(|&hops| hops > 0)
                {
                    bank.moved = Some(Moved { rbm: *issued, subarray: setting.geometry.subarray(row), hops });
                    bank.open_row = None;
                }
            }
            Command::Refresh { .. } => {
                self.refreshes.push(issued);
                self.pdx_before_refresh = self.pdx;
                self.srx_without_refresh = None;
                self.ledger.refresh(*issued, setting.limits.interval);
            }
            Command::RefreshSameBank { .. } => {}
            Command::PowerDownEnter { .. }
            | Command::PowerDownExit { .. }
            | Command::SelfRefreshEnter { .. }
            | Command::SelfRefreshExit { .. } => self.change_power_state(issued, setting),
        }
    }

    fn activate(&mut self, issued: &Issued, id: BankId, row: Row, setting: &Setting) {
        let Some(bank) = self.bank_mut(id) else { return };
        let activation = bank.activation(row, setting);
        if activation == Activation::Dropped {
            return;
        }
        bank.last.act = Some(*issued);
        (bank.open_row, bank.moved) = (Some(row), None);
        self.last.act = Some(*issued);
        if counts(activation, setting.copy_activations) {
            self.activations.push(issued);
        }
    }

    /// Records a column access, unless its bank is closed: then the access has no effect.
    fn access(&mut self, id: BankId, auto_precharge: AutoPrecharge, record: impl Fn(&mut LastCommands)) {
        let Some(bank) = self.bank_mut(id).filter(|bank| bank.open_row.is_some()) else { return };
        record(&mut bank.last);
        if auto_precharge == AutoPrecharge::Yes {
            bank.open_row = None;
        }
        record(&mut self.last);
    }

    /// Records a TRANSFER, unless a bank is closed or the two are not two banks of this rank: then it has no effect.
    fn transfer(&mut self, issued: &Issued, src: BankId, dst: BankId) {
        let open = |id| self.bank(id).is_some_and(|bank| bank.open_row.is_some());
        if !between_two_banks(src, dst) || !open(src) || !open(dst) {
            return;
        }
        if let Some(bank) = self.bank_mut(src) {
            bank.last.transfer_out = Some(*issued);
        }
        if let Some(bank) = self.bank_mut(dst) {
            bank.last.transfer_in = Some(*issued);
        }
        self.last.transfer_out = Some(*issued);
        self.last.transfer_in = Some(*issued);
    }

    fn change_power_state(&mut self, issued: &Issued, setting: &Setting) {
        let now = Some(*issued);
        match (issued.command, self.power_state) {
            (Command::PowerDownEnter { .. }, PowerState::Awake) => {
                let active = self.open_banks().next().is_some() || self.moved().is_some();
                self.power_state = if active { PowerState::ActivePowerDown } else { PowerState::PrechargePowerDown };
                self.pde = now;
            }
            (Command::PowerDownExit { .. }, state @ (PowerState::ActivePowerDown | PowerState::PrechargePowerDown)) => {
                if state == PowerState::PrechargePowerDown
                    && setting.precharge_power_down == PrechargePowerDown::SlowExit
                {
                    self.pdx_slow = now;
                }
                self.power_state = PowerState::Awake;
                self.pdx = now;
                self.pdx_before_refresh = None;
                self.refresh_before_pdx = self.refreshes.latest();
            }
            (Command::SelfRefreshEnter { .. }, PowerState::Awake) => {
                self.power_state = PowerState::SelfRefresh;
                self.sre = now;
                self.ledger.enter_self_refresh(issued.at);
            }
            (Command::SelfRefreshExit { .. }, PowerState::SelfRefresh) => {
                self.power_state = PowerState::Awake;
                self.srx = now;
                self.srx_without_refresh = now;
                self.ledger.exit_self_refresh(issued.at);
            }
            // An entry of a rank that is not awake, or an exit from another state: no effect.
            (
                _,
                PowerState::Awake
                | PowerState::ActivePowerDown
                | PowerState::PrechargePowerDown
                | PowerState::SelfRefresh,
            ) => {}
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

/// A channel: its ranks and the last commands on its command bus.
#[derive(Clone, Debug)]
pub(crate) struct ChannelHistory {
    pub(crate) last: Option<Issued>,
    pub(crate) last_transfer: Option<Issued>,
    pub(crate) ranks: Vec<RankHistory>,
}

impl ChannelHistory {
    pub(crate) fn new(ranks: u8, banks: u8) -> ChannelHistory {
        ChannelHistory { last: None, last_transfer: None, ranks: vec![RankHistory::new(banks); usize::from(ranks)] }
    }

    /// Adds a command to the history.
    pub(crate) fn record(&mut self, issued: &Issued, setting: &Setting) {
        self.last = Some(*issued);
        if matches!(issued.command, Command::Transfer { .. }) {
            self.last_transfer = Some(*issued);
        }
        if let Some(rank) = self.ranks.get_mut(usize::from(issued.command.rank())) {
            rank.record(issued, setting);
        }
    }
}
