//! The history of a channel: the last commands of each kind per bank, per rank and of the command bus.

use dram_spec::{AutoPrecharge, BankId, Command, CopyActivations, Dialect, Issued, Min, Row, SlowExit, System};

use crate::check::Setting;
use crate::limits::takes_two_cycles;
use crate::refresh::RefreshLedger;
use crate::same_bank::SameBankHistory;

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

/// The last commands of a kind, a bounded number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Window {
    commands: Box<[Option<Issued>]>,
    /// The index of the oldest command, which the next one replaces.
    oldest: usize,
}

impl Window {
    fn new(length: usize) -> Window {
        Window { commands: vec![None; length].into_boxed_slice(), oldest: 0 }
    }

    /// The command as many commands ago as the window is long; none where there were fewer.
    pub(crate) fn oldest(&self) -> Option<Issued> {
        self.commands.get(self.oldest).copied().flatten()
    }

    fn push(&mut self, issued: &Issued) {
        if let Some(oldest) = self.commands.get_mut(self.oldest) {
            *oldest = Some(*issued);
            self.oldest += 1;
            if self.oldest == self.commands.len() {
                self.oldest = 0;
            }
        }
    }
}

/// A bank group: the last commands to any of its banks.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupHistory {
    /// The last activation that counts in tRRD.
    pub(crate) activation: Option<Issued>,
    pub(crate) read: Option<Issued>,
    pub(crate) write: Option<Issued>,
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

impl Moved {
    /// The minimum of `RBM`, in clocks: 8 ns per hop, and once more.
    pub(crate) fn duration(&self, setting: &Setting) -> u64 {
        setting.limits.covering(Min::ps(8_000 * (u64::from(self.hops) + 1)))
    }
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
    fn close(&mut self, precharge: Option<Issued>) {
        self.last.pre = precharge;
        (self.open_row, self.moved) = (None, None);
    }

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
pub(crate) enum RankPower {
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
    /// The bank groups; none in a standard without them.
    groups: Vec<GroupHistory>,
    /// The binary logarithm of the number of banks per group.
    group_shift: u32,
    pub(crate) same_bank: SameBankHistory,
    pub(crate) last: LastCommands,
    pub(crate) prea: Option<Issued>,
    /// The last activation that counts in tRRD and tFAW, and the last four.
    pub(crate) activation: Option<Issued>,
    pub(crate) activations: Window,
    /// The last REF, and as many as the refresh mode limits.
    pub(crate) refresh: Option<Issued>,
    pub(crate) refreshes: Window,
    /// The last REF with a PDX after it.
    pub(crate) refresh_before_pdx: Option<Issued>,
    pub(crate) pde: Option<Issued>,
    pub(crate) pdx: Option<Issued>,
    /// The last PDX, where a REF came after it.
    pub(crate) pdx_before_refresh: Option<Issued>,
    /// The last PDX with slow exit.
    pub(crate) pdx_slow: Option<Issued>,
    pub(crate) sre: Option<Issued>,
    pub(crate) srx: Option<Issued>,
    /// The last SRX, where no REF, and no `REFsb` of each bank number, came after it.
    pub(crate) srx_without_refresh: Option<Issued>,
    pub(crate) power_state: RankPower,
    pub(crate) ledger: RefreshLedger,
}

impl RankHistory {
    fn new(system: &System) -> RankHistory {
        let topology = system.geometry.topology();
        let groups = if topology.has_groups() { topology.groups_per_rank() } else { 0 };
        RankHistory {
            banks: vec![BankHistory::default(); usize::from(topology.banks_per_rank)],
            groups: vec![GroupHistory::default(); usize::from(groups)],
            group_shift: topology.banks_per_group.trailing_zeros(),
            same_bank: SameBankHistory::new(system),
            activations: Window::new(4),
            refreshes: Window::new(usize::from(system.refresh_mode.window)),
            ..RankHistory::default()
        }
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

    /// The group of a bank; none in a standard without groups.
    pub(crate) fn group(&self, bank: BankId) -> Option<&GroupHistory> {
        self.groups.get(usize::from(bank.bank) >> self.group_shift)
    }

    fn group_mut(&mut self, bank: BankId) -> Option<&mut GroupHistory> {
        self.groups.get_mut(usize::from(bank.bank) >> self.group_shift)
    }

    /// The banks that a `REFsb` of this bank refreshes.
    pub(crate) fn bank_set(&self, bank: BankId) -> impl Iterator<Item = &BankHistory> + Clone {
        let banks_per_group = 1 << self.group_shift;
        self.banks.iter().skip(usize::from(bank.bank) % banks_per_group).step_by(banks_per_group)
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
                    bank.close(now);
                    self.last.pre = now;
                }
            }
            Command::PrechargeAll { .. } => {
                self.banks.iter_mut().for_each(|bank| bank.close(now));
                (self.last.pre, self.prea) = (now, now);
            }
            Command::Read { bank, auto_precharge, .. } => self.access(
                bank,
                auto_precharge,
                |last| match auto_precharge {
                    AutoPrecharge::No => last.read = now,
                    AutoPrecharge::Yes => (last.read, last.rda) = (now, now),
                },
                |group| group.read = now,
            ),
            Command::Write { bank, auto_precharge, .. } => self.access(
                bank,
                auto_precharge,
                |last| {
                    last.write = now;
                    match auto_precharge {
                        AutoPrecharge::No => last.wr = now,
                        AutoPrecharge::Yes => last.wra = now,
                    }
                },
                |group| group.write = now,
            ),
            Command::Transfer { src, dst, .. } => self.transfer(issued, src, dst),
            Command::MoveRowBuffer { bank, row } => {
                if let Some(bank) = self.bank_mut(bank)
                    && let Some(hops) = bank.hops(row, setting).filter(|&hops| hops > 0)
                {
                    bank.moved = Some(Moved { rbm: *issued, subarray: setting.geometry.subarray(row), hops });
                    bank.open_row = None;
                }
            }
            Command::Refresh { .. } => self.refresh_all_banks(issued, setting),
            Command::RefreshSameBank { bank } => self.refresh_same_bank(issued, bank, setting),
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
            self.activation = Some(*issued);
            self.activations.push(issued);
            if let Some(group) = self.group_mut(id) {
                group.activation = Some(*issued);
            }
        }
    }

    fn refresh_all_banks(&mut self, issued: &Issued, setting: &Setting) {
        self.refresh = Some(*issued);
        self.refreshes.push(issued);
        self.pdx_before_refresh = self.pdx;
        self.srx_without_refresh = None;
        self.same_bank.restart_round();
        self.ledger.refresh(*issued, setting.limits.refresh.per_all_banks, &setting.limits.refresh);
    }

    /// Records a `REFsb`, unless the standard has none: then it has no effect.
    fn refresh_same_bank(&mut self, issued: &Issued, id: BankId, setting: &Setting) {
        if self.bank(id).is_none() || !self.same_bank.exists() {
            return;
        }
        if self.same_bank.refresh(issued, id) {
            self.srx_without_refresh = None;
        }
        self.ledger.refresh(*issued, setting.limits.refresh.per_same_bank, &setting.limits.refresh);
    }

    /// Records a column access, unless its bank is closed: then the access has no effect.
    fn access(
        &mut self,
        id: BankId,
        auto_precharge: AutoPrecharge,
        record: impl Fn(&mut LastCommands),
        record_in_group: impl FnOnce(&mut GroupHistory),
    ) {
        let Some(bank) = self.bank_mut(id).filter(|bank| bank.open_row.is_some()) else { return };
        record(&mut bank.last);
        if auto_precharge == AutoPrecharge::Yes {
            bank.open_row = None;
        }
        record(&mut self.last);
        if let Some(group) = self.group_mut(id) {
            record_in_group(group);
        }
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
            (Command::PowerDownEnter { .. }, RankPower::Awake) => {
                let active = self.open_banks().next().is_some() || self.moved().is_some();
                self.power_state = if active { RankPower::ActivePowerDown } else { RankPower::PrechargePowerDown };
                self.pde = now;
            }
            (Command::PowerDownExit { .. }, state @ (RankPower::ActivePowerDown | RankPower::PrechargePowerDown)) => {
                let slow = match setting.slow_exit {
                    None => false,
                    Some(SlowExit::Active) => state == RankPower::ActivePowerDown,
                    Some(SlowExit::Precharge) => state == RankPower::PrechargePowerDown,
                };
                if slow {
                    self.pdx_slow = now;
                }
                self.power_state = RankPower::Awake;
                self.pdx = now;
                self.pdx_before_refresh = None;
                self.refresh_before_pdx = self.refresh;
            }
            (Command::SelfRefreshEnter { .. }, RankPower::Awake) => {
                self.power_state = RankPower::SelfRefresh;
                self.sre = now;
                self.ledger.enter_self_refresh(issued.at);
            }
            (Command::SelfRefreshExit { .. }, RankPower::SelfRefresh) => {
                self.power_state = RankPower::Awake;
                self.srx = now;
                self.srx_without_refresh = now;
                self.same_bank.restart_round();
                self.ledger.exit_self_refresh(issued.at);
            }
            // An entry of a rank that is not awake, or an exit from another state: no effect.
            (
                _,
                RankPower::Awake | RankPower::ActivePowerDown | RankPower::PrechargePowerDown | RankPower::SelfRefresh,
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
    /// The last ACT, RD or WR, in a standard in which these take two cycles.
    pub(crate) last_two_cycle: Option<Issued>,
    pub(crate) ranks: Vec<RankHistory>,
}

impl ChannelHistory {
    pub(crate) fn new(system: &System) -> ChannelHistory {
        let ranks = vec![RankHistory::new(system); usize::from(system.geometry.ranks())];
        ChannelHistory { last: None, last_transfer: None, last_two_cycle: None, ranks }
    }

    /// Adds a command to the history.
    pub(crate) fn record(&mut self, issued: &Issued, setting: &Setting) {
        self.last = Some(*issued);
        if matches!(issued.command, Command::Transfer { .. }) {
            self.last_transfer = Some(*issued);
        } else if setting.limits.has_two_cycle_commands && takes_two_cycles(&issued.command) {
            self.last_two_cycle = Some(*issued);
        }
        if let Some(rank) = self.ranks.get_mut(usize::from(issued.command.rank())) {
            rank.record(issued, setting);
        }
    }
}
