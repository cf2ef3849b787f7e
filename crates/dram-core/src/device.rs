//! The ranks of one channel and the command bus that they share.

mod issue;

use std::fmt;

use dram_spec::{
    AutoPrecharge, BankId, BankIndex, BankSet, Column, Command, Cycle, Cycles, Geometry, PrechargePowerDown, Row,
    System, Topology,
};

use crate::bank::Bank;
use crate::cells::{Cells, Line};
use crate::constraints::{Constraints, KeptKind};
use crate::hold::Hold;
use crate::rank::{Power, Rank, RefreshLedger};
use crate::rules::{Kind, RAS_MAX};
use crate::timings::Timings;

/// Why a command cannot be issued in the present state, however long one waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A column access or TRANSFER to a closed bank.
    BankClosed,
    /// REF or SRE with a bank open.
    BanksOpen,
    /// The rank's CKE is low.
    Asleep,
    /// PDX or SRX of a rank that is not in that state.
    Awake,
    /// SRE of a rank that has had no REF since it left self-refresh.
    SelfRefreshUnrefreshed,
    /// A TRANSFER within a bank, or between ranks.
    TransferBanks,
}

impl std::error::Error for Refusal {}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::BankClosed => "bank-closed",
            Refusal::BanksOpen => "banks-open",
            Refusal::Asleep => "asleep",
            Refusal::Awake => "awake",
            Refusal::SelfRefreshUnrefreshed => "SRX-REF-SRE",
            Refusal::TransferBanks => "TRANSFER-banks",
        })
    }
}

/// What a command did, beyond what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// What it says.
    Plain,
    /// A copy activation moved a row.
    Copied {
        /// The row that was open.
        src: Row,
    },
    /// A copy activation went to another subarray than the open row's: the chip dropped it.
    Dropped {
        /// The row that is still open.
        open: Row,
    },
}

#[cold]
fn panic_overdue(at: Cycle, id: BankId, by: Cycle) -> ! {
    panic!("{id} open until cycle {at}, not after cycle {by}: breaks {}", RAS_MAX.name)
}

/// Until when a rank holds a kind of command back.
#[inline]
fn held_in_rank(rank: &Rank, constraints: &Constraints, kind: Kind) -> Hold {
    match KeptKind::of(kind) {
        Some(kept) => rank.holds.of(kept),
        None => constraints.work_out_in_rank(kind, &rank.lasts, &rank.refreshes),
    }
}

/// The ranks of one channel, their cells, and the bus.
#[derive(Debug)]
pub struct Device {
    geometry: Geometry,
    precharge_power_down: PrechargePowerDown,
    timings: Timings,
    constraints: Constraints,
    topology: Topology,
    ranks: Box<[Rank]>,
    /// By [`BankIndex`].
    banks: Box<[Bank]>,
    /// The banks with an open row.
    open: BankSet,
    bus: Hold,
    /// What delayed the last command.
    last_hold: Hold,
    /// tRAS's maximum.
    row_open_most: Cycles,
    cells: Option<Cells>,
    dropped: u64,
}

impl Device {
    /// All banks closed, all ranks awake, no refresh owed. Without `cells`, commands move no data.
    pub fn new(system: &System, cells: Option<Cells>) -> Device {
        let timings = Timings::new(system);
        let constraints = Constraints::new(system, &timings);
        let rank = Rank::new(system.refresh, &timings);
        let topology = system.geometry.topology();
        Device {
            geometry: system.geometry,
            precharge_power_down: system.precharge_power_down,
            topology,
            ranks: vec![rank; topology.ranks.into()].into(),
            banks: vec![Bank::default(); topology.banks()].into(),
            open: BankSet::EMPTY,
            bus: Hold::NONE,
            last_hold: Hold::NONE,
            row_open_most: RAS_MAX.cycles(&timings),
            timings,
            constraints,
            cells,
            dropped: 0,
        }
    }

    /// The system's timing parameters.
    pub fn timings(&self) -> &Timings {
        &self.timings
    }

    /// Ranks, and banks per rank.
    #[inline]
    pub fn topology(&self) -> Topology {
        self.topology
    }

    /// The row that a bank holds open.
    pub fn open_row(&self, bank: BankId) -> Option<Row> {
        self.bank(bank).open
    }

    /// The row that the bank with that number holds open.
    #[inline]
    pub fn row_in(&self, bank: BankIndex) -> Option<Row> {
        self.banks[bank.get()].open
    }

    /// What delayed the last command that was issued: what [`Self::earliest`] returned before.
    #[inline]
    pub fn last_hold(&self) -> Hold {
        self.last_hold
    }

    /// The banks of the channel with an open row.
    #[inline]
    pub fn open_banks(&self) -> BankSet {
        self.open
    }

    /// Whether any bank of a rank is open.
    #[inline]
    pub fn any_open(&self, rank: u8) -> bool {
        self.open.intersects(self.topology.rank(rank))
    }

    /// How long a bank itself delays a kind of command: for RD, WR, ACT, PRE. Only commands to that bank change this.
    #[inline]
    pub fn bank_hold(&self, bank: BankIndex, kind: Kind) -> Hold {
        self.held_in_bank(&self.banks[bank.get()], kind)
    }

    /// [`Self::bank_hold`] of one of the kinds that are asked for most often.
    #[inline]
    pub fn kept_bank_hold(&self, bank: BankIndex, kind: KeptKind) -> Hold {
        self.banks[bank.get()].holds.of(kind)
    }

    /// How long a rank and the command bus delay a kind of command, whatever the bank. The larger of this and
    /// [`Self::kept_bank_hold`] is what [`Self::earliest`] returns for a command to one bank.
    #[inline]
    pub fn kept_rank_hold(&self, rank: u8, kind: KeptKind) -> Hold {
        self.bus.max(self.rank(rank).holds.of(kind))
    }

    /// What a rank's CKE makes of it.
    pub fn power(&self, rank: u8) -> Power {
        self.rank(rank).power
    }

    /// The refreshes that a rank has had and owes.
    pub fn refresh(&self, rank: u8) -> &RefreshLedger {
        &self.rank(rank).refresh
    }

    /// Whether a rank must have a REF before its next SRE (`SRX-REF-SRE`).
    pub fn owes_refresh_before_self_refresh(&self, rank: u8) -> bool {
        self.rank(rank).owes_refresh_before_self_refresh()
    }

    /// How many copy activations the chips dropped, because they went to another subarray.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The last instant at which an open bank may still be closed (tRAS maximum).
    pub fn close_by(&self, bank: BankId) -> Option<Cycle> {
        let bank = self.bank(bank);
        bank.open.map(|_| bank.activated + self.row_open_most)
    }

    /// The contents of the cells, where they are modelled.
    pub fn cells(&self) -> Option<&Cells> {
        self.cells.as_ref()
    }

    /// The line that a RD puts on the bus.
    pub fn read_line(&mut self, bank: BankId, row: Row, column: Column) -> Option<Line> {
        self.cells.as_mut().map(|cells| cells.line(bank, row, column))
    }

    /// Stores the line that a WR takes off the bus.
    pub fn write_line(&mut self, bank: BankId, row: Row, column: Column, line: &Line) {
        if let Some(cells) = &mut self.cells {
            cells.write(bank, row, column, line);
        }
    }

    /// When an open bank can be closed, as far as the bank itself is concerned (tRAS, tRTP, tWR).
    pub fn closable(&self, bank: BankId) -> Cycle {
        self.held_in_bank(self.bank(bank), Kind::Pre).until()
    }

    /// When a closed bank can take an ACT as far as the bank itself is concerned (tRP, tRC, an auto-precharge).
    pub fn ready(&self, bank: BankId) -> Cycle {
        self.held_in_bank(self.bank(bank), Kind::Act).until()
    }

    /// When the last command to a bank was issued; those to its whole rank do not count.
    pub fn last_in_bank(&self, bank: BankId) -> Option<Cycle> {
        self.bank(bank).lasts.of_banks()
    }

    /// The same of all banks of a rank.
    pub fn last_in_rank(&self, rank: u8) -> Option<Cycle> {
        self.rank(rank).lasts.of_banks()
    }

    /// The first instant at which `command` is legal, and the rule that holds it back until then.
    ///
    /// # Errors
    /// The present state forbids it, however long one waits.
    #[inline]
    pub fn earliest(&self, command: &Command) -> Result<Hold, Refusal> {
        let held = match *command {
            Command::Activate { bank, row } => self.activation(bank, row)?.1,
            Command::Precharge { bank } => self.precharge(bank)?,
            Command::Read { bank, auto_precharge: AutoPrecharge::No, .. } => self.column_access(bank, Kind::Rd)?,
            Command::Read { bank, auto_precharge: AutoPrecharge::Yes, .. } => self.column_access(bank, Kind::Rda)?,
            Command::Write { bank, auto_precharge: AutoPrecharge::No, .. } => self.column_access(bank, Kind::Wr)?,
            Command::Write { bank, auto_precharge: AutoPrecharge::Yes, .. } => self.column_access(bank, Kind::Wra)?,
            Command::Transfer { src, dst, .. } => self.transfer(src, dst)?,
            Command::PrechargeAll { rank }
            | Command::Refresh { rank }
            | Command::PowerDownEnter { rank }
            | Command::PowerDownExit { rank }
            | Command::SelfRefreshEnter { rank }
            | Command::SelfRefreshExit { rank } => self.rank_wide(command, rank)?.1,
        };
        Ok(held)
    }

    /// Asserts that nothing is overdue when the run ends.
    pub fn finish(&self, at: Cycle) {
        for (rank, index) in self.ranks.iter().zip(0..self.geometry.ranks()) {
            rank.finish(at, &self.timings);
            for bank in 0..self.geometry.banks() {
                self.assert_row_not_overdue(at, BankId { rank: index, bank });
            }
        }
    }

    #[inline]
    fn rank(&self, rank: u8) -> &Rank {
        &self.ranks[usize::from(rank)]
    }

    #[inline]
    fn bank(&self, id: BankId) -> &Bank {
        &self.banks[self.topology.index(id).get()]
    }

    /// The bank, where it is open.
    #[inline]
    fn open_bank(&self, id: BankId) -> Result<&Bank, Refusal> {
        let bank = self.bank(id);
        if bank.open.is_some() { Ok(bank) } else { Err(Refusal::BankClosed) }
    }

    /// Until when a bank holds a kind of command back.
    #[inline]
    fn held_in_bank(&self, bank: &Bank, kind: Kind) -> Hold {
        match KeptKind::of(kind) {
            Some(kept) => bank.holds.of(kept),
            None => self.constraints.work_out_in_bank(kind, &bank.lasts),
        }
    }

    /// What an ACT is in the present state, and until when it is held back.
    #[inline]
    fn activation(&self, id: BankId, row: Row) -> Result<(Kind, Hold), Refusal> {
        let rank = self.awake(id.rank)?;
        let bank = self.bank(id);
        let kind = self.activation_kind(bank, row);
        Ok((kind, self.held(rank, kind).max(self.held_in_bank(bank, kind))))
    }

    /// What an ACT is in the present state.
    #[inline]
    fn activation_kind(&self, bank: &Bank, row: Row) -> Kind {
        match bank.open {
            None => Kind::Act,
            Some(open) if self.geometry.subarray(open) == self.geometry.subarray(row) => Kind::ActCopy,
            Some(_) => Kind::ActDropped,
        }
    }

    /// Until when a PRE is held back.
    #[inline]
    fn precharge(&self, id: BankId) -> Result<Hold, Refusal> {
        let rank = self.awake(id.rank)?;
        Ok(self.held(rank, Kind::Pre).max(self.held_in_bank(self.bank(id), Kind::Pre)))
    }

    /// Until when a column access of that kind is held back.
    #[inline]
    fn column_access(&self, id: BankId, kind: Kind) -> Result<Hold, Refusal> {
        let rank = self.awake(id.rank)?;
        Ok(self.held(rank, kind).max(self.held_in_bank(self.open_bank(id)?, kind)))
    }

    #[inline]
    fn transfer(&self, src: BankId, dst: BankId) -> Result<Hold, Refusal> {
        let rank = self.awake(src.rank)?;
        if src.rank != dst.rank || src.bank == dst.bank {
            return Err(Refusal::TransferBanks);
        }
        let out = self.held_in_bank(self.open_bank(src)?, Kind::TransferSrc);
        let into = self.held_in_bank(self.open_bank(dst)?, Kind::TransferDst);
        Ok(self.held(rank, Kind::Transfer).max(out).max(into))
    }

    /// What a command to a whole rank is in the present state, and until when it is held back.
    fn rank_wide(&self, command: &Command, index: u8) -> Result<(Kind, Hold), Refusal> {
        let rank = self.rank(index);
        let kind = match (command, rank.power) {
            (Command::PowerDownExit { .. }, Power::PrechargePowerDown { .. }) => match self.precharge_power_down {
                PrechargePowerDown::SlowExit => Kind::PdxSlow,
                PrechargePowerDown::FastExit => Kind::Pdx,
            },
            (Command::PowerDownExit { .. }, Power::ActivePowerDown { .. }) => Kind::Pdx,
            (Command::SelfRefreshExit { .. }, Power::SelfRefresh { .. }) => Kind::Srx,
            (Command::PowerDownExit { .. } | Command::SelfRefreshExit { .. }, _) => return Err(Refusal::Awake),
            (_, Power::ActivePowerDown { .. } | Power::PrechargePowerDown { .. } | Power::SelfRefresh { .. }) => {
                return Err(Refusal::Asleep);
            }
            (Command::PowerDownEnter { .. }, Power::Awake) => Kind::Pde,
            (Command::PrechargeAll { .. }, Power::Awake) => {
                let banks = self.topology.rank(index).into_iter();
                let in_banks = banks.map(|bank| self.bank_hold(bank, Kind::PreA)).max();
                return Ok((Kind::PreA, self.held(rank, Kind::PreA).max(in_banks.unwrap_or(Hold::NONE))));
            }
            (_, Power::Awake) if self.any_open(index) => return Err(Refusal::BanksOpen),
            (Command::SelfRefreshEnter { .. }, Power::Awake) if rank.owes_refresh_before_self_refresh() => {
                return Err(Refusal::SelfRefreshUnrefreshed);
            }
            (Command::SelfRefreshEnter { .. }, Power::Awake) => Kind::Sre,
            (_, Power::Awake) => Kind::Ref,
        };
        Ok((kind, self.held(rank, kind)))
    }

    /// Until when bus and rank hold a kind of command back.
    #[inline]
    fn held(&self, rank: &Rank, kind: Kind) -> Hold {
        self.bus.max(held_in_rank(rank, &self.constraints, kind))
    }

    /// The rank, where its CKE is high.
    #[inline]
    fn awake(&self, rank: u8) -> Result<&Rank, Refusal> {
        let rank = self.rank(rank);
        if rank.power == Power::Awake { Ok(rank) } else { Err(Refusal::Asleep) }
    }

    #[inline]
    fn assert_row_not_overdue(&self, at: Cycle, id: BankId) {
        if let Some(by) = self.close_by(id)
            && at > by
        {
            panic_overdue(at, id, by);
        }
    }
}
