//! The reader of the command stream: counts commands and clocks, and forgets the commands.

use dram_spec::datasheet::BURST;
use dram_spec::{
    AutoPrecharge, BankId, Channel, Column, Command, CommandEvent, Cycle, Cycles, EventSink, Geometry,
    PrechargePowerDown, Row, System,
};

use crate::counts::{Counts, PowerState};
use crate::error::EnergyError;
use crate::prices::Prices;
use crate::report::EnergyReport;

/// Counts commands by kind and clocks by state, rank by rank, as the commands are issued.
///
/// Its memory does not grow with the stream, and one command costs it constant time. It takes any stream: of what
/// breaks the rules of the device it makes what `docs/energy.md` says. Only what cannot be priced at all (a place that
/// the system does not have, time running backwards) is an error, which [`Account::report`] gives.
#[derive(Clone, Debug)]
pub struct Account {
    geometry: Geometry,
    columns: u16,
    closing: Closing,
    asleep: PowerState,
    channels: Vec<ChannelAccount>,
    fault: Option<EnergyError>,
    /// The channels, once there is a fault: of those above there is then none. So no command is taken, and the most frequent need not ask
    /// whether there is a fault.
    ended: Vec<ChannelAccount>,
}

/// Clocks for which a command keeps its rank in active standby by itself.
#[derive(Clone, Copy, Debug)]
struct Closing {
    /// RDA to its internal precharge.
    read: Cycles,
    /// WRA to its internal precharge.
    write: Cycles,
    /// ACT to the earliest internal precharge.
    activate: Cycles,
    /// REF to its end: tRFC.
    refresh: Cycles,
}

#[derive(Clone, Debug)]
struct ChannelAccount {
    /// The last instant taken in; instants never fall.
    last: Cycle,
    ranks: Vec<RankAccount>,
}

#[derive(Clone, Debug)]
struct RankAccount {
    counts: Counts,
    /// The clocks before this one are counted.
    counted: Cycle,
    mode: Mode,
    banks: Box<[BankAccount]>,
    /// Banks that no PRE, RDA or WRA has closed, a bit each.
    open_banks: u32,
    /// When the last auto-precharge starts, or the last refresh ends: until then the rank counts as active.
    active_until: Cycle,
}

#[derive(Clone, Copy, Debug, Default)]
struct BankAccount {
    /// The row that was last activated; it is open where the bank is.
    row: Row,
    /// When.
    activated: Cycle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Awake,
    PowerDown,
    SelfRefresh,
}

impl Account {
    /// An account of a system at cycle 0: all banks closed, all ranks awake.
    pub fn new(system: &System) -> Account {
        let bin = system.bin;
        let geometry = system.geometry;
        let rank = RankAccount {
            counts: Counts::default(),
            counted: Cycle::ZERO,
            mode: Mode::Awake,
            banks: vec![BankAccount::default(); geometry.banks().into()].into(),
            open_banks: 0,
            active_until: Cycle::ZERO,
        };
        let channel = ChannelAccount { last: Cycle::ZERO, ranks: vec![rank; geometry.ranks().into()] };
        Account {
            geometry,
            columns: geometry.columns(),
            closing: Closing {
                read: bin.clock.at_least(bin.t_rtp),
                write: Cycles(bin.cwl) + BURST + bin.clock.at_least(bin.t_wr),
                activate: bin.clock.at_least(bin.t_ras),
                refresh: bin.clock.at_least(system.t_rfc()),
            },
            asleep: match system.precharge_power_down {
                PrechargePowerDown::FastExit => PowerState::FastPowerDown,
                PrechargePowerDown::SlowExit => PowerState::SlowPowerDown,
            },
            channels: vec![channel; geometry.channels().into()],
            fault: None,
            ended: Vec::new(),
        }
    }

    /// All ranks together: each up to the last command of its channel, or to the end of the run once it has ended; of a stream that cannot be
    /// priced, up to the command that cannot.
    pub fn counts(&self) -> Counts {
        let channels = self.channels.iter().chain(&self.ended);
        let ranks = channels.flat_map(|channel| channel.ranks.iter().map(|rank| (rank, channel.last)));
        ranks.fold(Counts::default(), |sum, (rank, last)| sum + rank.counts_at(last, self.asleep))
    }

    /// One rank, up to the last command of its channel; `None` where the system does not have it.
    pub fn rank_counts(&self, channel: Channel, rank: u8) -> Option<Counts> {
        let channel = self.channels.iter().chain(&self.ended).nth(usize::from(channel.0))?;
        Some(channel.ranks.get(usize::from(rank))?.counts_at(channel.last, self.asleep))
    }

    /// What all this cost.
    ///
    /// # Errors
    ///
    /// If the stream cannot be priced, or if a rank was in a state whose current the set does not have.
    pub fn report(&self, prices: &Prices) -> Result<EnergyReport, EnergyError> {
        match &self.fault {
            Some(fault) => Err(fault.clone()),
            None => prices.report(&self.counts()),
        }
    }

    /// Takes a command in, if it can be priced; none of those that [`EventSink::push`] has taken.
    fn take_less_frequent(&mut self, at: Cycle, channel: Channel, command: &Command) -> Option<()> {
        if !exists(&self.geometry, channel, command) {
            return None;
        }
        let (closing, asleep) = (self.closing, self.asleep);
        let rank = self.rank(at, channel, command.rank())?;
        match *command {
            Command::Read { bank, .. } => {
                rank.counts.reads += 1;
                rank.close_by_itself(at, bank, closing.read, closing, asleep);
            }
            Command::Write { bank, .. } => {
                rank.counts.writes += 1;
                rank.close_by_itself(at, bank, closing.write, closing, asleep);
            }
            Command::Transfer { .. } => rank.counts.transfers += 1,
            Command::PrechargeAll { .. } => rank.close_all(at, asleep),
            Command::Refresh { .. } => rank.refresh(at, closing.refresh, asleep),
            Command::PowerDownEnter { .. } => rank.change_mode(at, Mode::Awake, Mode::PowerDown, asleep),
            Command::PowerDownExit { .. } => rank.change_mode(at, Mode::PowerDown, Mode::Awake, asleep),
            Command::SelfRefreshEnter { .. } => {
                rank.counts.self_refreshes += u64::from(rank.mode == Mode::Awake);
                rank.change_mode(at, Mode::Awake, Mode::SelfRefresh, asleep);
            }
            Command::SelfRefreshExit { .. } => rank.change_mode(at, Mode::SelfRefresh, Mode::Awake, asleep),
            Command::Activate { .. } | Command::Precharge { .. } => unreachable!("these have their own way"),
        }
        Some(())
    }

    /// The rank of a command to a bank, once both and its time are found to exist.
    #[inline]
    fn rank_of(&mut self, at: Cycle, channel: Channel, bank: BankId) -> Option<&mut RankAccount> {
        if bank.bank >= self.geometry.banks() {
            return None;
        }
        self.rank(at, channel, bank.rank)
    }

    /// The rank of a command, once it and its time are found to exist.
    #[inline]
    fn rank(&mut self, at: Cycle, channel: Channel, rank: u8) -> Option<&mut RankAccount> {
        let channel = self.channels.get_mut(usize::from(channel.0))?;
        let rank = channel.ranks.get_mut(usize::from(rank)).filter(|_| at >= channel.last)?;
        channel.last = at;
        Some(rank)
    }

    /// Takes a command in, or says why it cannot be priced.
    #[inline(never)]
    fn take_or_fault(&mut self, at: Cycle, channel: Channel, command: Command) {
        if self.fault.is_none() && self.take_less_frequent(at, channel, &command).is_none() {
            self.fail(self.fault(at, channel, command));
        }
    }

    /// The stream cannot be priced: nothing more of it is counted.
    #[cold]
    fn fail(&mut self, fault: EnergyError) {
        self.fault = Some(fault);
        self.ended = std::mem::take(&mut self.channels);
    }

    /// Why a command cannot be priced.
    #[cold]
    fn fault(&self, at: Cycle, channel: Channel, command: Command) -> EnergyError {
        if exists(&self.geometry, channel, &command) {
            EnergyError::Order { at, channel, command, last: self.channels[usize::from(channel.0)].last }
        } else {
            EnergyError::Address { at, channel, command }
        }
    }
}

impl EventSink for Account {
    #[expect(clippy::inline_always, reason = "who issues a command knows its kind: then little of this is left")]
    #[inline(always)]
    fn command(&mut self, event: &CommandEvent) {
        let (at, channel, command) = (event.at, event.channel, &event.command);
        let (geometry, columns, asleep) = (self.geometry, self.columns, self.asleep);
        // Most commands are RD, WR, ACT, PRE and TRANSFER.
        let taken = match *command {
            Command::Read { bank, column, auto_precharge: AutoPrecharge::No } if column.0 < columns => {
                self.rank_of(at, channel, bank).map(|rank| rank.counts.reads += 1)
            }
            Command::Write { bank, column, auto_precharge: AutoPrecharge::No } if column.0 < columns => {
                self.rank_of(at, channel, bank).map(|rank| rank.counts.writes += 1)
            }
            Command::Activate { bank, row } if row.0 < geometry.rows_per_bank() => {
                self.rank_of(at, channel, bank).map(|rank| rank.activate(at, bank, row, &geometry, asleep))
            }
            Command::Precharge { bank } => self.rank_of(at, channel, bank).map(|rank| rank.close(at, bank, asleep)),
            Command::Transfer { src, src_column, dst, dst_column }
                if src_column.0 < columns && dst_column.0 < columns && dst.bank < geometry.banks() =>
            {
                self.rank_of(at, channel, src).filter(|_| dst.rank == src.rank).map(|rank| rank.counts.transfers += 1)
            }
            _ => None,
        };
        if taken.is_none() {
            self.take_or_fault(at, channel, *command);
        }
    }

    fn finish(&mut self, end: Cycle) {
        let last = self.channels.iter().map(|channel| channel.last).max().unwrap_or(end);
        if last > end {
            return self.fail(EnergyError::End { end, last });
        }
        for channel in &mut self.channels {
            channel.last = end;
        }
    }
}

/// Whether the system has all the places that a command names.
pub(crate) fn exists(geometry: &Geometry, channel: Channel, command: &Command) -> bool {
    let holds = |bank, row, column| geometry.holds(channel, bank, row, column);
    match *command {
        Command::Activate { bank, row } => holds(bank, row, Column(0)),
        Command::Precharge { bank } => holds(bank, Row(0), Column(0)),
        Command::Read { bank, column, .. } | Command::Write { bank, column, .. } => holds(bank, Row(0), column),
        Command::Transfer { src, src_column, dst, dst_column } => {
            holds(src, Row(0), src_column) && holds(dst, Row(0), dst_column)
        }
        Command::PrechargeAll { rank }
        | Command::Refresh { rank }
        | Command::PowerDownEnter { rank }
        | Command::PowerDownExit { rank }
        | Command::SelfRefreshEnter { rank }
        | Command::SelfRefreshExit { rank } => holds(BankId { rank, bank: 0 }, Row(0), Column(0)),
    }
}

impl RankAccount {
    fn counts_at(&self, now: Cycle, asleep: PowerState) -> Counts {
        let mut copy = self.clone();
        copy.advance_to(now, asleep);
        copy.counts
    }

    /// Counts the clocks from where they were last counted: before the first bank opens, before the last one closes, and
    /// before the mode changes. In between, all clocks are alike.
    #[inline(never)]
    fn advance_to(&mut self, now: Cycle, asleep: PowerState) {
        let closed = if self.open_banks != 0 { now } else { self.active_until.clamp(self.counted, now) };
        let (while_open, while_closed) = match self.mode {
            Mode::Awake => (PowerState::ActiveStandby, PowerState::PrechargedStandby),
            Mode::PowerDown => (PowerState::ActivePowerDown, asleep),
            Mode::SelfRefresh => (PowerState::SelfRefresh, PowerState::SelfRefresh),
        };
        self.counts.clocks[while_open as usize] += closed.since(self.counted);
        self.counts.clocks[while_closed as usize] += now.since(closed);
        self.counted = now;
    }

    /// Changes nothing where the rank is in another mode than the command supposes.
    fn change_mode(&mut self, at: Cycle, from: Mode, to: Mode, asleep: PowerState) {
        self.advance_to(at, asleep);
        if self.mode == from {
            self.mode = to;
        }
    }

    #[inline]
    fn activate(&mut self, at: Cycle, id: BankId, row: Row, geometry: &Geometry, asleep: PowerState) {
        let (bank, bit) = (&mut self.banks[usize::from(id.bank)], 1 << id.bank);
        if self.open_banks & bit == 0 {
            *bank = BankAccount { row, activated: at };
            if self.open_banks == 0 {
                self.advance_to(at, asleep);
            }
            self.counts.activates += 1;
            self.open_banks |= bit;
        } else if geometry.subarray(bank.row) == geometry.subarray(row) {
            *bank = BankAccount { row, activated: at };
            self.counts.copy_activates += 1;
        } else {
            self.counts.dropped_activates += 1;
        }
    }

    #[inline]
    fn close(&mut self, at: Cycle, id: BankId, asleep: PowerState) {
        let bit = 1 << id.bank;
        if self.open_banks == bit {
            self.advance_to(at, asleep);
        }
        self.open_banks &= !bit;
    }

    fn close_all(&mut self, at: Cycle, asleep: PowerState) {
        self.advance_to(at, asleep);
        self.open_banks = 0;
    }

    /// REF: `E_REF` is what it draws above IDD3N, so its tRFC counts as active.
    fn refresh(&mut self, at: Cycle, t_rfc: Cycles, asleep: PowerState) {
        self.advance_to(at, asleep);
        self.counts.refreshes += 1;
        self.active_until = self.active_until.max(at + t_rfc);
    }

    /// RDA and WRA: the bank is closed to all later commands at once, but draws as an open one until its precharge, which its
    /// own restoring may hold up beyond `ready` clocks from now.
    fn close_by_itself(&mut self, at: Cycle, id: BankId, ready: Cycles, closing: Closing, asleep: PowerState) {
        if self.open_banks & 1 << id.bank != 0 {
            self.close(at, id, asleep);
            let restored = self.banks[usize::from(id.bank)].activated + closing.activate;
            self.active_until = self.active_until.max(at + ready).max(restored);
        }
    }
}
