//! The ranks of one channel and the command bus that they share.

use std::fmt;

use dram_spec::{AutoPrecharge, BankId, Column, Command, Cycle, Geometry, PrechargePowerDown, Row, System};

use crate::cells::{Cells, Line};
use crate::constraints::Constraints;
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
    /// A TRANSFER within a bank, or between ranks.
    TransferBanks,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::BankClosed => "bank-closed",
            Refusal::BanksOpen => "banks-open",
            Refusal::Asleep => "asleep",
            Refusal::Awake => "awake",
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

/// The ranks of one channel, their cells, and the bus.
#[derive(Debug)]
pub struct Device {
    geometry: Geometry,
    precharge_power_down: PrechargePowerDown,
    timings: Timings,
    constraints: Constraints,
    ranks: Vec<Rank>,
    bus: Hold,
    cells: Option<Cells>,
    dropped: u64,
}

impl Device {
    /// All banks closed, all ranks awake, no refresh owed. Without `cells`, commands move no data.
    pub fn new(system: &System, cells: Option<Cells>) -> Device {
        let timings = Timings::new(system);
        let constraints = Constraints::new(system, &timings);
        let rank = Rank::new(system.refresh, &timings, &constraints);
        Device {
            geometry: system.geometry,
            precharge_power_down: system.precharge_power_down,
            ranks: vec![rank; usize::from(system.geometry.ranks())],
            timings,
            constraints,
            bus: Hold::NONE,
            cells,
            dropped: 0,
        }
    }

    /// The system's timing parameters.
    pub fn timings(&self) -> &Timings {
        &self.timings
    }

    /// The row that a bank holds open.
    pub fn open_row(&self, bank: BankId) -> Option<Row> {
        self.bank(bank).open
    }

    /// Whether any bank of a rank is open.
    pub fn any_open(&self, rank: u8) -> bool {
        self.ranks[usize::from(rank)].open_banks != 0
    }

    /// What a rank's CKE makes of it.
    pub fn power(&self, rank: u8) -> Power {
        self.ranks[usize::from(rank)].power
    }

    /// The refreshes that a rank has had and owes.
    pub fn refresh(&self, rank: u8) -> &RefreshLedger {
        &self.ranks[usize::from(rank)].refresh
    }

    /// How many copy activations the chips dropped, because they went to another subarray.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The last instant at which an open bank may still be closed (tRAS maximum).
    pub fn close_by(&self, bank: BankId) -> Option<Cycle> {
        let bank = self.bank(bank);
        bank.open.map(|_| bank.activated + RAS_MAX.cycles(&self.timings))
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
        self.bank(bank).holds.of(Kind::Pre).until
    }

    /// When a closed bank can take an ACT as far as the bank itself is concerned (tRP, tRC, an auto-precharge).
    pub fn ready(&self, bank: BankId) -> Cycle {
        self.bank(bank).holds.of(Kind::Act).until
    }

    /// The first instant at which `command` is legal, and the rule that holds it back until then.
    ///
    /// # Errors
    /// The present state forbids it, however long one waits.
    pub fn earliest(&self, command: &Command) -> Result<Hold, Refusal> {
        let kind = self.classify(command)?;
        let rank = &self.ranks[usize::from(command.rank())];
        let mut hold = self.bus.later(rank.holds.of(kind));
        match *command {
            Command::Activate { bank, .. }
            | Command::Precharge { bank }
            | Command::Read { bank, .. }
            | Command::Write { bank, .. } => hold = hold.later(self.bank(bank).holds.of(kind)),
            Command::Transfer { src, dst, .. } => {
                hold = hold.later(self.bank(src).holds.of(Kind::TransferSrc));
                hold = hold.later(self.bank(dst).holds.of(Kind::TransferDst));
            }
            _ => {}
        }
        Ok(hold)
    }

    /// Issues `command` at `at`.
    ///
    /// # Panics
    /// Where the command is early or the state forbids it, with both cycles and the rule's name: that is a bug of whoever
    /// schedules.
    pub fn issue(&mut self, at: Cycle, command: &Command) -> Effect {
        let kind = match self.classify(command) {
            Ok(kind) => kind,
            Err(refusal) => panic!("{command} at cycle {at}: breaks {refusal}"),
        };
        if let Ok(hold) = self.earliest(command) {
            assert!(
                at >= hold.until,
                "{command} at cycle {at}: not before cycle {} by {}",
                hold.until,
                hold.rule().unwrap_or("order")
            );
        }
        let effect = self.change_state(at, command, kind);
        self.hold_back(at, command, kind);
        effect
    }

    /// Asserts that nothing is overdue when the run ends.
    pub fn finish(&self, at: Cycle) {
        for (rank, index) in self.ranks.iter().zip(0..) {
            rank.finish(at, &self.timings);
            for bank in 0..self.geometry.banks() {
                self.assert_row_not_overdue(at, BankId { rank: index, bank });
            }
        }
    }

    fn bank(&self, id: BankId) -> &crate::bank::Bank {
        &self.ranks[usize::from(id.rank)].banks[usize::from(id.bank)]
    }

    /// What the command is, in the present state.
    fn classify(&self, command: &Command) -> Result<Kind, Refusal> {
        use AutoPrecharge::{No, Yes};
        let rank = &self.ranks[usize::from(command.rank())];
        match command {
            Command::PowerDownExit { .. } => {
                return match (rank.power, self.precharge_power_down) {
                    (Power::PrechargePowerDown { .. }, PrechargePowerDown::SlowExit) => Ok(Kind::PdxSlow),
                    (Power::ActivePowerDown { .. } | Power::PrechargePowerDown { .. }, _) => Ok(Kind::Pdx),
                    (Power::Awake | Power::SelfRefresh { .. }, _) => Err(Refusal::Awake),
                };
            }
            Command::SelfRefreshExit { .. } => {
                let asleep = matches!(rank.power, Power::SelfRefresh { .. });
                return if asleep { Ok(Kind::Srx) } else { Err(Refusal::Awake) };
            }
            _ if rank.power != Power::Awake => return Err(Refusal::Asleep),
            _ => {}
        }
        let needs_open = |bank: &BankId| self.bank(*bank).open.map(|_| ()).ok_or(Refusal::BankClosed);
        Ok(match command {
            Command::Activate { bank, row } => match self.bank(*bank).open {
                None => Kind::Act,
                Some(open) if self.geometry.subarray(open) == self.geometry.subarray(*row) => Kind::ActCopy,
                Some(_) => Kind::ActDropped,
            },
            Command::Precharge { .. } => Kind::Pre,
            Command::PrechargeAll { .. } => Kind::PreA,
            Command::Read { bank, auto_precharge, .. } => {
                needs_open(bank)?;
                match auto_precharge {
                    No => Kind::Rd,
                    Yes => Kind::Rda,
                }
            }
            Command::Write { bank, auto_precharge, .. } => {
                needs_open(bank)?;
                match auto_precharge {
                    No => Kind::Wr,
                    Yes => Kind::Wra,
                }
            }
            Command::Transfer { src, dst, .. } => {
                if src.rank != dst.rank || src.bank == dst.bank {
                    return Err(Refusal::TransferBanks);
                }
                needs_open(src)?;
                needs_open(dst)?;
                Kind::Transfer
            }
            Command::Refresh { .. } | Command::SelfRefreshEnter { .. } if rank.open_banks != 0 => {
                return Err(Refusal::BanksOpen);
            }
            Command::Refresh { .. } => Kind::Ref,
            Command::SelfRefreshEnter { .. } => Kind::Sre,
            Command::PowerDownEnter { .. } => Kind::Pde,
            Command::PowerDownExit { .. } | Command::SelfRefreshExit { .. } => unreachable!("taken above"),
        })
    }

    /// Banks, cells, CKE and the refresh ledger after the command.
    fn change_state(&mut self, at: Cycle, command: &Command, kind: Kind) -> Effect {
        match *command {
            Command::Activate { bank: id, row } => return self.activate(at, id, row, kind),
            Command::Precharge { bank } => self.close(at, bank),
            Command::PrechargeAll { rank } => {
                for bank in 0..self.geometry.banks() {
                    self.close(at, BankId { rank, bank });
                }
            }
            Command::Read { bank, auto_precharge, .. } | Command::Write { bank, auto_precharge, .. } => {
                if auto_precharge == AutoPrecharge::Yes {
                    self.close(at, bank);
                }
            }
            Command::Transfer { src, src_column, dst, dst_column } => {
                let (src_row, dst_row) = (self.bank(src).open, self.bank(dst).open);
                if let (Some(cells), Some(src_row), Some(dst_row)) = (&mut self.cells, src_row, dst_row) {
                    cells.transfer((src, src_row, src_column), (dst, dst_row, dst_column));
                }
            }
            Command::Refresh { rank } => self.ranks[usize::from(rank)].refreshed(at),
            Command::PowerDownEnter { rank } => {
                let open = self.any_open(rank);
                let power =
                    if open { Power::ActivePowerDown { since: at } } else { Power::PrechargePowerDown { since: at } };
                self.ranks[usize::from(rank)].set_power(at, power, &self.timings);
            }
            Command::SelfRefreshEnter { rank } => {
                self.ranks[usize::from(rank)].set_power(at, Power::SelfRefresh { since: at }, &self.timings);
            }
            Command::PowerDownExit { rank } | Command::SelfRefreshExit { rank } => {
                self.ranks[usize::from(rank)].set_power(at, Power::Awake, &self.timings);
            }
        }
        Effect::Plain
    }

    fn activate(&mut self, at: Cycle, id: BankId, row: Row, kind: Kind) -> Effect {
        let rank = &mut self.ranks[usize::from(id.rank)];
        let bank = &mut rank.banks[usize::from(id.bank)];
        let effect = match (bank.open, kind) {
            (Some(open), Kind::ActDropped) => {
                self.dropped += 1;
                if let Some(cells) = &mut self.cells {
                    cells.dropped_activation(id, open, row);
                }
                return Effect::Dropped { open };
            }
            (Some(src), _) => {
                if let Some(cells) = &mut self.cells {
                    cells.copy_row(id, src, row);
                }
                Effect::Copied { src }
            }
            (None, _) => Effect::Plain,
        };
        bank.open = Some(row);
        bank.activated = at;
        rank.open_banks |= 1 << id.bank;
        effect
    }

    fn close(&mut self, at: Cycle, id: BankId) {
        self.assert_row_not_overdue(at, id);
        let rank = &mut self.ranks[usize::from(id.rank)];
        rank.banks[usize::from(id.bank)].open = None;
        rank.open_banks &= !(1 << id.bank);
    }

    fn assert_row_not_overdue(&self, at: Cycle, id: BankId) {
        if let Some(by) = self.close_by(id) {
            assert!(at <= by, "{id} open until cycle {at}, not after cycle {by}: breaks {}", RAS_MAX.name);
        }
    }

    /// What the command holds back from now on.
    fn hold_back(&mut self, at: Cycle, command: &Command, kind: Kind) {
        let index = usize::from(command.rank());
        let pushes = self.constraints.of(kind);
        if let Some(push) = &pushes.bus {
            self.bus = Hold { until: at + push.gap, rule: push.rule };
        }
        let rank = &mut self.ranks[index];
        rank.holds.push(at, &pushes.rank);
        rank.enter_windows(kind, at, &self.constraints);
        match *command {
            Command::Activate { bank, .. }
            | Command::Precharge { bank }
            | Command::Read { bank, .. }
            | Command::Write { bank, .. } => rank.banks[usize::from(bank.bank)].holds.push(at, &pushes.bank),
            Command::Transfer { src, dst, .. } => {
                for (bank, role) in [(src, Kind::TransferSrc), (dst, Kind::TransferDst)] {
                    let pushes = self.constraints.of(role);
                    rank.banks[usize::from(bank.bank)].holds.push(at, &pushes.bank);
                    rank.holds.push(at, &pushes.rank);
                }
            }
            _ => {}
        }
        if !pushes.other_ranks.is_empty() {
            for (_, other) in self.ranks.iter_mut().enumerate().filter(|(other, _)| *other != index) {
                other.holds.push(at, &pushes.other_ranks);
            }
        }
    }
}
