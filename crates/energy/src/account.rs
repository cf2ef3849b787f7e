//! The reader of the command stream: counts commands and clocks, and forgets the commands.

use dram_spec::datasheet::{BANKS, BURST};
use dram_spec::{
    AutoPrecharge, BankId, Channel, Column, Command, CommandSink, Cycle, Cycles, Geometry, PrechargePowerDown, Row,
    System,
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
    closing: Closing,
    asleep: PowerState,
    channels: Vec<ChannelAccount>,
    fault: Option<EnergyError>,
}

/// Clocks from a command to the precharge that it brings about by itself.
#[derive(Clone, Copy, Debug)]
struct Closing {
    read: Cycles,
    write: Cycles,
    activate: Cycles,
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
    banks: [BankAccount; BANKS as usize],
    /// Banks that no PRE, RDA or WRA has closed.
    open_banks: u32,
    /// When the last of the auto-precharges starts; until then its bank counts as open.
    closing_until: Cycle,
}

#[derive(Clone, Copy, Debug, Default)]
struct BankAccount {
    open_subarray: Option<u32>,
    /// The last ACT.
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
            banks: [BankAccount::default(); BANKS as usize],
            open_banks: 0,
            closing_until: Cycle::ZERO,
        };
        let channel = ChannelAccount { last: Cycle::ZERO, ranks: vec![rank; geometry.ranks().into()] };
        Account {
            geometry,
            closing: Closing {
                read: bin.clock.at_least(bin.t_rtp),
                write: Cycles(bin.cwl) + BURST + bin.clock.at_least(bin.t_wr),
                activate: bin.clock.at_least(bin.t_ras),
            },
            asleep: match system.precharge_power_down {
                PrechargePowerDown::FastExit => PowerState::FastPowerDown,
                PrechargePowerDown::SlowExit => PowerState::SlowPowerDown,
            },
            channels: vec![channel; geometry.channels().into()],
            fault: None,
        }
    }

    /// All ranks together: each up to the last command of its channel, or to the end of the run once it has ended.
    pub fn counts(&self) -> Counts {
        let ranks = self.channels.iter().flat_map(|channel| channel.ranks.iter().map(|rank| (rank, channel.last)));
        ranks.fold(Counts::default(), |sum, (rank, last)| sum + rank.counts_at(last, self.asleep))
    }

    /// One rank, up to the last command of its channel; `None` where the system does not have it.
    pub fn rank_counts(&self, channel: Channel, rank: u8) -> Option<Counts> {
        let channel = self.channels.get(usize::from(channel.0))?;
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

    /// Takes a command in, if it can be priced.
    fn take(&mut self, at: Cycle, channel: Channel, command: &Command) -> Option<()> {
        let (geometry, closing, asleep) = (self.geometry, self.closing, self.asleep);
        let wide = |rank| BankId { rank, bank: 0 };
        match *command {
            Command::Activate { bank, row } => {
                self.rank(at, channel, bank, row, Column(0))?.activate(at, bank, geometry.subarray(row), asleep);
            }
            Command::Precharge { bank } => self.rank(at, channel, bank, Row(0), Column(0))?.close(at, bank, asleep),
            Command::Read { bank, column, auto_precharge } => {
                let rank = self.rank(at, channel, bank, Row(0), column)?;
                rank.counts.reads += 1;
                if auto_precharge == AutoPrecharge::Yes {
                    rank.close_by_itself(at, bank, closing.read, closing, asleep);
                }
            }
            Command::Write { bank, column, auto_precharge } => {
                let rank = self.rank(at, channel, bank, Row(0), column)?;
                rank.counts.writes += 1;
                if auto_precharge == AutoPrecharge::Yes {
                    rank.close_by_itself(at, bank, closing.write, closing, asleep);
                }
            }
            Command::Transfer { src, src_column, dst, dst_column }
                if geometry.holds(channel, dst, Row(0), dst_column) =>
            {
                self.rank(at, channel, src, Row(0), src_column)?.counts.transfers += 1;
            }
            Command::Transfer { .. } => return None,
            Command::PrechargeAll { rank } => {
                self.rank(at, channel, wide(rank), Row(0), Column(0))?.close_all(at, asleep);
            }
            Command::Refresh { rank } => self.rank(at, channel, wide(rank), Row(0), Column(0))?.counts.refreshes += 1,
            Command::PowerDownEnter { rank } => self.change_mode(at, channel, rank, Mode::Awake, Mode::PowerDown)?,
            Command::PowerDownExit { rank } => self.change_mode(at, channel, rank, Mode::PowerDown, Mode::Awake)?,
            Command::SelfRefreshEnter { rank } => {
                self.change_mode(at, channel, rank, Mode::Awake, Mode::SelfRefresh)?;
            }
            Command::SelfRefreshExit { rank } => self.change_mode(at, channel, rank, Mode::SelfRefresh, Mode::Awake)?,
        }
        Some(())
    }

    /// The rank of a command, once its place and its time are found to exist.
    #[inline]
    fn rank(
        &mut self,
        at: Cycle,
        channel: Channel,
        bank: BankId,
        row: Row,
        column: Column,
    ) -> Option<&mut RankAccount> {
        let exists = self.geometry.holds(channel, bank, row, column);
        let account = self.channels.get_mut(usize::from(channel.0)).filter(|account| exists && at >= account.last)?;
        account.last = at;
        account.ranks.get_mut(usize::from(bank.rank))
    }

    /// Changes nothing where the rank is in another mode than the command supposes.
    fn change_mode(&mut self, at: Cycle, channel: Channel, rank: u8, from: Mode, to: Mode) -> Option<()> {
        let asleep = self.asleep;
        let rank = self.rank(at, channel, BankId { rank, bank: 0 }, Row(0), Column(0))?;
        rank.advance_to(at, asleep);
        if rank.mode == from {
            rank.mode = to;
        }
        Some(())
    }

    /// Takes a command in, or says why it cannot be priced.
    #[inline(never)]
    fn take_or_fault(&mut self, at: Cycle, channel: Channel, command: &Command) {
        if self.take(at, channel, command).is_none() {
            self.fault = Some(self.fault(at, channel, command));
        }
    }

    /// Why a command cannot be priced.
    #[cold]
    fn fault(&self, at: Cycle, channel: Channel, command: &Command) -> EnergyError {
        let command = *command;
        if exists(&self.geometry, channel, &command) {
            EnergyError::Order { at, channel, command, last: self.channels[usize::from(channel.0)].last }
        } else {
            EnergyError::Address { at, channel, command }
        }
    }
}

impl CommandSink for Account {
    #[inline]
    fn push(&mut self, at: Cycle, channel: Channel, command: &Command) {
        if self.fault.is_some() {
            return;
        }
        // Most commands are RD or WR, and these only count.
        let (bank, column, is_read) = match *command {
            Command::Read { bank, column, auto_precharge: AutoPrecharge::No } => (bank, column, true),
            Command::Write { bank, column, auto_precharge: AutoPrecharge::No } => (bank, column, false),
            _ => return self.take_or_fault(at, channel, command),
        };
        if let Some(rank) = self.rank(at, channel, bank, Row(0), column) {
            rank.counts.reads += u64::from(is_read);
            rank.counts.writes += u64::from(!is_read);
        } else {
            self.take_or_fault(at, channel, command);
        }
    }

    fn finish(&mut self, end: Cycle) {
        let last = self.channels.iter().map(|channel| channel.last).max().unwrap_or(end);
        if last > end {
            self.fault.get_or_insert(EnergyError::End { end, last });
            return;
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
    fn advance_to(&mut self, now: Cycle, asleep: PowerState) {
        let closed = if self.open_banks > 0 { now } else { self.closing_until.clamp(self.counted, now) };
        let (while_open, while_closed) = match self.mode {
            Mode::Awake => (PowerState::ActiveStandby, PowerState::PrechargedStandby),
            Mode::PowerDown => (PowerState::ActivePowerDown, asleep),
            Mode::SelfRefresh => (PowerState::SelfRefresh, PowerState::SelfRefresh),
        };
        self.counts.clocks[while_open as usize] += closed.since(self.counted);
        self.counts.clocks[while_closed as usize] += now.since(closed);
        self.counted = now;
    }

    fn activate(&mut self, at: Cycle, id: BankId, subarray: u32, asleep: PowerState) {
        let bank = &mut self.banks[usize::from(id.bank)];
        match bank.open_subarray {
            None => {
                *bank = BankAccount { open_subarray: Some(subarray), activated: at };
                if self.open_banks == 0 {
                    self.advance_to(at, asleep);
                }
                self.counts.activates += 1;
                self.open_banks += 1;
            }
            Some(open) if open == subarray => {
                bank.activated = at;
                self.counts.copy_activates += 1;
            }
            Some(_) => self.counts.dropped_activates += 1,
        }
    }

    fn close(&mut self, at: Cycle, id: BankId, asleep: PowerState) {
        if self.banks[usize::from(id.bank)].open_subarray.take().is_some() {
            if self.open_banks == 1 {
                self.advance_to(at, asleep);
            }
            self.open_banks -= 1;
        }
    }

    fn close_all(&mut self, at: Cycle, asleep: PowerState) {
        self.advance_to(at, asleep);
        self.banks = self.banks.map(|bank| BankAccount { open_subarray: None, ..bank });
        self.open_banks = 0;
    }

    /// RDA and WRA: the bank is closed to all later commands at once, but draws as an open one until its precharge, which its
    /// own restoring may hold up beyond `ready` clocks from now.
    fn close_by_itself(&mut self, at: Cycle, id: BankId, ready: Cycles, closing: Closing, asleep: PowerState) {
        let bank = self.banks[usize::from(id.bank)];
        if bank.open_subarray.is_some() {
            self.close(at, id, asleep);
            let restored = bank.activated + closing.activate;
            self.closing_until = self.closing_until.max(at + ready).max(restored);
        }
    }
}
