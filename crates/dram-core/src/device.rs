//! The ranks of one channel and their command bus.

mod exclusion;
mod issue;

use dram_spec::{
    AutoPrecharge, BankId, BankIndex, BankSet, Column, Command, Cycle, Cycles, Effect, Geometry, PerBank, PerRank,
    PrechargePowerDown, Refresh, Row, SlowExit, System, Topology,
};

use crate::bank::{Bank, Floor, Floors};
use crate::cells::{Cells, LineBytes};
use crate::constraints::{Constraints, KeptKind};
use crate::hold::Hold;
use crate::rank::{Power, Rank, RefreshLedger};
use crate::rules::{Kind, RAS_MAX, maxima, table};
use crate::timings::Timings;

/// Why a command is illegal in the present state, independent of the cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Column access or TRANSFER to a closed bank.
    #[error("bank-closed")]
    BankClosed,
    /// REF or SRE with a bank open.
    #[error("banks-open")]
    BanksOpen,
    /// The rank's CKE is low.
    #[error("asleep")]
    Asleep,
    /// PDX or SRX of a rank in another state.
    #[error("awake")]
    Awake,
    /// SRE of a rank that left self-refresh and had neither a REF nor a REFsb of each bank number since.
    #[error("SRX-REF-SRE")]
    SelfRefreshUnrefreshed,
    /// PDE of a rank without a refresh since it left self-refresh, in a standard that requires one.
    #[error("SRX-REF-PDE")]
    PowerDownUnrefreshed,
    /// REFsb of a bank number before all others had one.
    #[error("REFsb-round")]
    RefreshedInRound,
    /// TRANSFER within a bank, or between ranks.
    #[error("TRANSFER-banks")]
    TransferBanks,
    /// PRE, PREA or PDE of a bank whose contents RBM has moved and no ACT has stored.
    #[error("RBM-ACT")]
    Moved,
    /// RBM within a subarray, or the ACT after one in another subarray than its destination.
    #[error("RBM-subarray")]
    MovedSubarray,
}

#[cold]
fn panic_overdue(at: Cycle, id: BankId, by: Cycle) -> ! {
    panic!("{id} open until cycle {at}, not after cycle {by}: breaks {RAS_MAX}")
}

/// The ranks of one channel, their cells, and the command bus.
#[derive(Debug)]
pub struct Device {
    geometry: Geometry,
    /// The power-down state with a slow exit, if any.
    slow_exit: Option<SlowExit>,
    timings: Timings,
    constraints: Constraints,
    topology: Topology,
    ranks: PerRank<Rank>,
    /// Delays of the stored kinds by the rank and the bank group of the command.
    floors: Floors,
    banks: PerBank<Bank>,
    /// Banks that are not precharged: with an open row, or with moved contents.
    open: BankSet,
    /// Banks with contents that RBM has moved and no ACT has stored.
    moved: BankSet,
    /// Of these banks, the row from which the contents come, and the row whose subarray holds them.
    movements: PerBank<(Row, Row)>,
    /// Last WR of each rank, where distances of WRs are forbidden; [`Cycle::NEVER`] if there was none.
    last_writes: PerRank<Cycle>,
    bus: Hold,
    /// Whether refreshes are REFsb. With refresh off, a rank closes rows in all banks in time.
    same_bank_refresh: bool,
    /// Whether a rank that left self-refresh needs a refresh before power-down.
    refresh_before_power_down: bool,
    /// Delay of the last command.
    last_hold: Hold,
    /// Maximum of tRAS.
    row_open_most: Cycles,
    cells: Option<Cells>,
    dropped: u64,
}

impl Device {
    /// Creates a device with all banks closed, all ranks awake, and no refresh owed. Without
    /// `cells`, commands move no data.
    pub fn new(system: &System, cells: Option<Cells>) -> Device {
        let timings = Timings::new(system);
        let constraints = Constraints::new(system, &timings);
        let topology = system.geometry.topology();
        let [row_open_most, ..] = maxima(system);
        Device {
            geometry: system.geometry,
            slow_exit: match system.precharge_power_down {
                PrechargePowerDown::FastExit => None,
                PrechargePowerDown::SlowExit => system.standard().definition().slow_exit,
            },
            topology,
            ranks: PerRank::new(Rank::new(system, &timings)),
            floors: Floors::new(topology),
            banks: PerBank::from_fn(|bank| Bank::new(topology.group(topology.bank(bank)))),
            open: BankSet::EMPTY,
            moved: BankSet::EMPTY,
            movements: PerBank::new((Row(0), Row(0))),
            last_writes: PerRank::new(Cycle::NEVER),
            bus: Hold::NONE,
            same_bank_refresh: system.refresh_mode.same_bank && system.refresh != Refresh::Off,
            refresh_before_power_down: table(system.standard()).refresh_before_power_down,
            last_hold: Hold::NONE,
            row_open_most: row_open_most.cycles(&timings),
            timings,
            constraints,
            cells,
            dropped: 0,
        }
    }

    /// Timing parameters of the system.
    pub fn timings(&self) -> &Timings {
        &self.timings
    }

    /// Ranks, and banks per rank.
    #[inline]
    pub fn topology(&self) -> Topology {
        self.topology
    }

    /// Open row of a bank.
    pub fn open_row(&self, bank: BankId) -> Option<Row> {
        self.bank(bank).open
    }

    /// Open row of the bank with this index.
    #[inline]
    pub fn row_in(&self, bank: BankIndex) -> Option<Row> {
        self.banks[bank].open
    }

    /// Delay of the last command issued, as returned by [`Self::earliest`] before it.
    #[inline]
    pub fn last_hold(&self) -> Hold {
        self.last_hold
    }

    /// Banks of the channel that are not precharged.
    #[inline]
    pub fn open_banks(&self) -> BankSet {
        self.open
    }

    /// Whether any bank of a rank is open.
    #[inline]
    pub fn any_open(&self, rank: u8) -> bool {
        self.open.intersects(self.topology.rank(rank))
    }

    /// Delay of a kind of command by the bank itself: for RD, WR, ACT, PRE. Only commands to that
    /// bank change it.
    #[inline]
    pub fn bank_hold(&self, bank: BankIndex, kind: Kind) -> Hold {
        self.held_in_bank(&self.banks[bank], kind)
    }

    /// [`Self::bank_hold`] of one of the stored kinds.
    #[inline]
    pub fn kept_bank_hold(&self, bank: BankIndex, kind: KeptKind) -> Hold {
        self.banks[bank].holds[kind as usize]
    }

    /// Whether a RD that is legal at `at` may close its bank: in some standards, a write to it must
    /// have recovered by then.
    pub fn permits_auto_precharge(&self, bank: BankIndex, at: Cycle) -> bool {
        self.constraints.work_out_in_bank(Kind::Rda, &self.banks[bank].lasts).until() <= at
    }

    /// What delays a kind of command to a bank besides the bank and the command bus.
    #[inline]
    pub fn floor_of(&self, bank: BankIndex, kind: KeptKind) -> Floor {
        Floor::of(self.banks[bank].group, kind)
    }

    /// First cycle at which a rank and a bank group allow a kind of command, apart from the command bus
    /// ([`Self::bus_free`]).
    #[inline]
    pub fn floor(&self, floor: Floor) -> Cycle {
        self.floors.at(floor).until()
    }

    /// First cycle at which the command bus is free.
    #[inline]
    pub fn bus_free(&self) -> Cycle {
        self.bus.until()
    }

    /// Distance of the column commands of a run: a column command that is legal at some cycle is
    /// legal again after this time, if no other command is issued in between.
    #[inline]
    pub fn pitch(&self, kind: KeptKind) -> Cycles {
        let pushes = self.constraints.of(kind.kind());
        pushes.group[kind as usize].max(pushes.bus).cycles()
    }

    /// Power state of a rank.
    #[inline]
    pub fn power(&self, rank: u8) -> Power {
        self.rank(rank).power
    }

    /// The next refresh command of a rank in the system's refresh mode: a REF, or the REFsb of the
    /// lowest bank number that had none in this round.
    pub fn refresh_command(&self, rank: u8) -> Command {
        if !self.same_bank_refresh {
            return Command::Refresh { rank };
        }
        let mut numbers = 0..self.topology.banks_per_group;
        // A round ends when all had one.
        let next = numbers.find(|&number| !self.rank(rank).was_refreshed_in_round(number));
        Command::RefreshSameBank { bank: BankId { rank, bank: next.unwrap_or(0) } }
    }

    /// The banks of [`Self::refresh_command`], which must be closed for it.
    #[inline]
    pub fn refresh_banks(&self, rank: u8) -> BankSet {
        if !self.same_bank_refresh {
            return self.topology.rank(rank);
        }
        match self.refresh_command(rank) {
            Command::RefreshSameBank { bank } => self.topology.bank_set(bank),
            _ => self.topology.rank(rank),
        }
    }

    /// Refreshes issued to a rank, and owed.
    #[inline]
    pub fn refresh(&self, rank: u8) -> &RefreshLedger {
        &self.rank(rank).refresh
    }

    /// Whether a rank requires a REF, or a REFsb of each bank number, before its next SRE (`SRX-REF-SRE`).
    pub fn owes_refresh_before_self_refresh(&self, rank: u8) -> bool {
        self.rank(rank).owes_refresh_before_self_refresh()
    }

    /// Whether a rank requires a refresh before its next PDE (`SRX-REF-PDE`).
    pub fn owes_refresh_before_power_down(&self, rank: u8) -> bool {
        self.refresh_before_power_down && self.owes_refresh_before_self_refresh(rank)
    }

    /// Number of copy activations that the chips dropped, because they were to another subarray.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Last cycle at which an open bank may be closed (tRAS maximum).
    #[inline]
    pub fn close_by(&self, bank: BankId) -> Option<Cycle> {
        let bank = self.bank(bank);
        bank.open.map(|_| bank.activated + self.row_open_most)
    }

    /// [`Timings::own_time`] of the last row command to a bank, if it has one.
    pub fn own_time(&self, bank: BankIndex) -> Option<Cycles> {
        let (src, row) = self.movements[bank];
        let effect = Effect::Moved { src, hops: self.geometry.subarray_distance(src, row) };
        self.timings.own_time(effect).filter(|_| self.moved.contains(bank))
    }

    /// Row whose contents RBM has moved from the row buffer of a bank, and no ACT has stored.
    #[inline]
    fn moved_from(&self, bank: BankId) -> Option<Row> {
        let index = self.topology.index(bank);
        self.moved.contains(index).then(|| self.movements[index].0)
    }

    /// Contents of the cells, if they are modeled.
    #[inline]
    pub fn cells(&self) -> Option<&Cells> {
        self.cells.as_ref()
    }

    /// Line that a RD puts on the data bus.
    pub fn read_line(&mut self, bank: BankId, row: Row, column: Column) -> Option<LineBytes> {
        self.cells.as_mut().map(|cells| cells.line(bank, row, column))
    }

    /// Lines that RDs of consecutive columns put on the data bus; without cells, `lines` keeps its
    /// bytes.
    pub fn read_lines(&self, bank: BankId, row: Row, first: Column, lines: &mut [LineBytes]) {
        if let Some(cells) = &self.cells {
            cells.read(bank, row, first, lines);
        }
    }

    /// Stores the line that a WR takes from the data bus.
    pub fn write_line(&mut self, bank: BankId, row: Row, column: Column, line: &LineBytes) {
        if let Some(cells) = &mut self.cells {
            cells.write(bank, row, column, line);
        }
    }

    /// Stores the lines that WRs of consecutive columns take from the data bus.
    pub fn write_lines(&mut self, bank: BankId, row: Row, first: Column, lines: &[LineBytes]) {
        if let Some(cells) = &mut self.cells {
            cells.write_lines(bank, row, first, lines);
        }
    }

    /// Earliest cycle at which an open bank can be closed, by the bank's own rules (tRAS, tRTP,
    /// tWR).
    pub fn closable(&self, bank: BankId) -> Cycle {
        self.held_in_bank(self.bank(bank), Kind::Pre).until()
    }

    /// Earliest cycle at which a closed bank can be activated, by the bank's own rules (tRP, tRC,
    /// auto-precharge).
    pub fn ready(&self, bank: BankId) -> Cycle {
        self.held_in_bank(self.bank(bank), Kind::Act).until()
    }

    /// Cycle at which a closed bank has precharged: tRP after its PRE. Where distances count from the
    /// second cycle of commands of two cycles, the next ACT may begin a cycle earlier.
    pub fn precharged(&self, bank: BankIndex) -> Cycle {
        self.bank_hold(bank, Kind::Act).until() + Cycles(u64::from(self.timings.counts_from_second_cycle()))
    }

    /// Cycle of the last command to a bank, excluding rank-wide commands.
    pub fn last_in_bank(&self, bank: BankId) -> Option<Cycle> {
        self.bank(bank).lasts.of_banks()
    }

    /// Cycle of the last command to any bank of a rank, excluding rank-wide commands.
    pub fn last_in_rank(&self, rank: u8) -> Option<Cycle> {
        self.rank(rank).lasts.of_banks()
    }

    /// First cycle at which `command` is legal, and the rule that delays it until then. A WR may become illegal for a
    /// time ([`Self::has_exclusion`]); other commands remain legal.
    ///
    /// # Errors
    /// If the present state forbids the command, independent of the cycle.
    #[inline]
    pub fn earliest(&self, command: &Command) -> Result<Hold, Refusal> {
        let held = match *command {
            Command::Activate { bank, row } => self.activation(bank, row)?.1,
            Command::Precharge { bank } => self.precharge(bank)?,
            Command::Read { bank, auto_precharge: AutoPrecharge::No, .. } => self.column_access(bank, Kind::Rd)?,
            Command::Read { bank, auto_precharge: AutoPrecharge::Yes, .. } => self.column_access(bank, Kind::Rda)?,
            Command::Write { bank, auto_precharge, .. } => {
                let is_last = auto_precharge == AutoPrecharge::Yes;
                let held = self.column_access(bank, if is_last { Kind::Wra } else { Kind::Wr })?;
                self.not_excluded(bank.rank, held)
            }
            Command::Transfer { src, dst, .. } => self.transfer(src, dst)?,
            Command::MoveRowBuffer { bank, row } => self.row_buffer_movement(bank, row)?.1,
            Command::RefreshSameBank { bank } => self.same_bank_refresh(bank)?,
            Command::PrechargeAll { rank }
            | Command::Refresh { rank }
            | Command::PowerDownEnter { rank }
            | Command::PowerDownExit { rank }
            | Command::SelfRefreshEnter { rank }
            | Command::SelfRefreshExit { rank } => self.rank_wide(command, rank)?.1,
        };
        Ok(held)
    }

    /// [`Self::issue`] of less frequent commands.
    #[inline(never)]
    fn issue_less_frequent(&mut self, at: Cycle, command: Command) -> Effect {
        match command {
            Command::RefreshSameBank { bank } => self.issue_same_bank_refresh(at, &command, bank),
            Command::MoveRowBuffer { bank, row } => self.issue_row_buffer_movement(at, &command, bank, row),
            Command::Read { bank, .. } => self.access_column_and_close(at, command, bank, Kind::Rda),
            Command::Write { bank, .. } => self.access_column_and_close(at, command, bank, Kind::Wra),
            Command::PrechargeAll { rank }
            | Command::Refresh { rank }
            | Command::PowerDownEnter { rank }
            | Command::PowerDownExit { rank }
            | Command::SelfRefreshEnter { rank }
            | Command::SelfRefreshExit { rank } => self.issue_rank_wide(at, &command, rank),
            Command::Activate { .. } | Command::Precharge { .. } | Command::Transfer { .. } => {
                unreachable!("these are frequent")
            }
        }
    }

    /// Asserts that no maximum is exceeded at the end of the run.
    pub fn finish(&self, at: Cycle) {
        for rank in 0..self.geometry.ranks() {
            self.rank(rank).finish(at);
            for bank in 0..self.geometry.banks() {
                self.assert_row_not_overdue(at, BankId { rank, bank });
            }
        }
    }

    #[inline]
    fn rank(&self, rank: u8) -> &Rank {
        &self.ranks[rank]
    }

    #[inline]
    fn bank(&self, id: BankId) -> &Bank {
        &self.banks[self.topology.index(id)]
    }

    /// The bank, if it is open.
    #[inline]
    fn open_bank(&self, id: BankId) -> Result<&Bank, Refusal> {
        let bank = self.bank(id);
        if bank.open.is_some() { Ok(bank) } else { Err(Refusal::BankClosed) }
    }

    /// Delay of a kind of command by its bank.
    #[inline]
    fn held_in_bank(&self, bank: &Bank, kind: Kind) -> Hold {
        match KeptKind::of(kind) {
            Some(kept) if kind == Kind::Rda => {
                bank.holds[kept as usize].max(self.constraints.work_out_in_bank(kind, &bank.lasts))
            }
            Some(kept) => bank.holds[kept as usize],
            None => self.constraints.work_out_in_bank(kind, &bank.lasts),
        }
    }

    /// Delay of a PRE.
    #[inline]
    fn precharge(&self, id: BankId) -> Result<Hold, Refusal> {
        self.awake(id.rank)?;
        if self.moved.contains(self.topology.index(id)) {
            return Err(Refusal::Moved);
        }
        Ok(self.held(id, Kind::Pre).max(self.held_in_bank(self.bank(id), Kind::Pre)))
    }

    /// Open row and delay of an RBM.
    fn row_buffer_movement(&self, id: BankId, row: Row) -> Result<(Row, Hold), Refusal> {
        self.awake(id.rank)?;
        let bank = self.bank(id);
        let open = bank.open.ok_or(Refusal::BankClosed)?;
        if self.geometry.is_same_subarray(open, row) {
            return Err(Refusal::MovedSubarray);
        }
        Ok((open, self.held(id, Kind::Rbm).max(self.held_in_bank(bank, Kind::Rbm))))
    }

    /// [`Self::issue`] of an RBM. The bank stays active, without an open row.
    fn issue_row_buffer_movement(&mut self, at: Cycle, command: &Command, id: BankId, row: Row) -> Effect {
        let movement = self.row_buffer_movement(id, row);
        self.assert_legal(at, command, movement.map(|(_, held)| held));
        let Ok((src, _)) = movement else { unreachable!("the movement is legal") };
        self.assert_row_not_overdue(at, id);
        let index = self.topology.index(id);
        self.moved.insert(index);
        self.movements[index] = (src, row);
        self.banks[index].open = None;
        self.delay_by_own_time(at, id, Kind::Rbm, self.own_time(index).expect("a movement has a time of its own"));
        Effect::Moved { src, hops: self.geometry.subarray_distance(src, row) }
    }

    /// Delay of a column access.
    #[inline]
    fn column_access(&self, id: BankId, kind: Kind) -> Result<Hold, Refusal> {
        self.awake(id.rank)?;
        Ok(self.held(id, kind).max(self.held_in_bank(self.open_bank(id)?, kind)))
    }

    #[inline]
    fn transfer(&self, src: BankId, dst: BankId) -> Result<Hold, Refusal> {
        self.awake(src.rank)?;
        if src.rank != dst.rank || src.bank == dst.bank {
            return Err(Refusal::TransferBanks);
        }
        let out = self.held_in_bank(self.open_bank(src)?, Kind::TransferSrc);
        let into = self.held_in_bank(self.open_bank(dst)?, Kind::TransferDst);
        Ok(self.held(src, Kind::Transfer).max(out).max(into))
    }

    /// Kind of a rank-wide command in the present state, and its delay.
    fn rank_wide(&self, command: &Command, index: u8) -> Result<(Kind, Hold), Refusal> {
        let (rank, first) = (self.rank(index), BankId { rank: index, bank: 0 });
        let kind = match (command, rank.power) {
            (Command::PowerDownExit { .. }, Power::PrechargePowerDown { .. })
                if self.slow_exit == Some(SlowExit::Precharge) =>
            {
                Kind::PdxSlow
            }
            (Command::PowerDownExit { .. }, Power::ActivePowerDown { .. })
                if self.slow_exit == Some(SlowExit::Active) =>
            {
                Kind::PdxSlow
            }
            (Command::PowerDownExit { .. }, Power::ActivePowerDown { .. } | Power::PrechargePowerDown { .. }) => {
                Kind::Pdx
            }
            (Command::SelfRefreshExit { .. }, Power::SelfRefresh { .. }) => Kind::Srx,
            (Command::PowerDownExit { .. } | Command::SelfRefreshExit { .. }, _) => return Err(Refusal::Awake),
            (_, Power::ActivePowerDown { .. } | Power::PrechargePowerDown { .. } | Power::SelfRefresh { .. }) => {
                return Err(Refusal::Asleep);
            }
            (Command::PowerDownEnter { .. } | Command::PrechargeAll { .. }, Power::Awake)
                if self.moved.intersects(self.topology.rank(index)) =>
            {
                return Err(Refusal::Moved);
            }
            (Command::PowerDownEnter { .. }, Power::Awake) if self.owes_refresh_before_power_down(index) => {
                return Err(Refusal::PowerDownUnrefreshed);
            }
            (Command::PowerDownEnter { .. }, Power::Awake) => Kind::Pde,
            (Command::PrechargeAll { .. }, Power::Awake) => {
                let banks = self.topology.rank(index).into_iter();
                let in_banks = banks.map(|bank| self.bank_hold(bank, Kind::PreA)).max();
                return Ok((Kind::PreA, self.held(first, Kind::PreA).max(in_banks.unwrap_or(Hold::NONE))));
            }
            (_, Power::Awake) if self.any_open(index) => return Err(Refusal::BanksOpen),
            (Command::SelfRefreshEnter { .. }, Power::Awake) if rank.owes_refresh_before_self_refresh() => {
                return Err(Refusal::SelfRefreshUnrefreshed);
            }
            (Command::SelfRefreshEnter { .. }, Power::Awake) => Kind::Sre,
            (_, Power::Awake) => Kind::Ref,
        };
        Ok((kind, self.held(first, kind)))
    }

    /// Delay of a REFsb: that of the banks which it refreshes.
    fn same_bank_refresh(&self, id: BankId) -> Result<Hold, Refusal> {
        self.awake(id.rank)?;
        let banks = self.topology.bank_set(id);
        if self.open.intersects(banks) {
            return Err(Refusal::BanksOpen);
        }
        if self.rank(id.rank).was_refreshed_in_round(self.topology.number_in_group(id)) {
            return Err(Refusal::RefreshedInRound);
        }
        let in_banks = banks.into_iter().map(|bank| self.bank_hold(bank, Kind::RefSb)).max();
        Ok(self.held(id, Kind::RefSb).max(in_banks.unwrap_or(Hold::NONE)))
    }

    /// Delay of a kind of command by the bus, its rank and its bank group.
    #[inline]
    fn held(&self, id: BankId, kind: Kind) -> Hold {
        let held = if let Some(kept) = KeptKind::of(kind) {
            self.floors.at(Floor::of(self.bank(id).group, kept))
        } else {
            let Rank { lasts, refreshes, .. } = self.rank(id.rank);
            self.constraints.work_out_in_rank(kind, lasts, refreshes)
        };
        self.bus.max(held)
    }

    /// Asserts that the CKE of a rank is high.
    #[inline]
    fn awake(&self, rank: u8) -> Result<(), Refusal> {
        if self.rank(rank).power == Power::Awake { Ok(()) } else { Err(Refusal::Asleep) }
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
