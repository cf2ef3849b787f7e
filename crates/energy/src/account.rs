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
    /// The last instant read; instants never fall.
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

    fn read(&mut self, at: Cycle, channel: Channel, command: &Command) -> Result<(), EnergyError> {
        if !exists(&self.geometry, channel, command) {
            return Err(EnergyError::Address { at, channel, command: *command });
        }
        let account = &mut self.channels[usize::from(channel.0)];
        if at < account.last {
            return Err(EnergyError::Order { at, channel, command: *command, last: account.last });
        }
        account.last = at;
        let rank = &mut account.ranks[usize::from(command.rank())];
        rank.advance_to(at, self.asleep);
        rank.take(at, command, &self.geometry, self.closing);
        Ok(())
    }
}

impl CommandSink for Account {
    fn push(&mut self, at: Cycle, channel: Channel, command: &Command) {
        if self.fault.is_none() {
            self.fault = self.read(at, channel, command).err();
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

    /// Counts the clocks from where the last command left off.
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

    fn take(&mut self, at: Cycle, command: &Command, geometry: &Geometry, closing: Closing) {
        match *command {
            Command::Activate { bank, row } => self.activate(at, bank, geometry.subarray(row)),
            Command::Precharge { bank } => self.close(bank),
            Command::PrechargeAll { .. } => {
                self.banks = self.banks.map(|bank| BankAccount { open_subarray: None, ..bank });
                self.open_banks = 0;
            }
            Command::Read { bank, auto_precharge, .. } => {
                self.counts.reads += 1;
                self.close_by_itself(bank, auto_precharge, at + closing.read, closing);
            }
            Command::Write { bank, auto_precharge, .. } => {
                self.counts.writes += 1;
                self.close_by_itself(bank, auto_precharge, at + closing.write, closing);
            }
            Command::Transfer { .. } => self.counts.transfers += 1,
            Command::Refresh { .. } => self.counts.refreshes += 1,
            Command::PowerDownEnter { .. } => self.change_mode(Mode::Awake, Mode::PowerDown),
            Command::PowerDownExit { .. } => self.change_mode(Mode::PowerDown, Mode::Awake),
            Command::SelfRefreshEnter { .. } => self.change_mode(Mode::Awake, Mode::SelfRefresh),
            Command::SelfRefreshExit { .. } => self.change_mode(Mode::SelfRefresh, Mode::Awake),
        }
    }

    fn bank(&mut self, bank: BankId) -> &mut BankAccount {
        &mut self.banks[usize::from(bank.bank)]
    }

    fn activate(&mut self, at: Cycle, bank: BankId, subarray: u32) {
        match self.bank(bank).open_subarray {
            None => {
                self.counts.activates += 1;
                self.open_banks += 1;
            }
            Some(open) if open == subarray => self.counts.copy_activates += 1,
            Some(_) => {
                self.counts.dropped_activates += 1;
                return;
            }
        }
        *self.bank(bank) = BankAccount { open_subarray: Some(subarray), activated: at };
    }

    fn close(&mut self, bank: BankId) {
        if self.bank(bank).open_subarray.take().is_some() {
            self.open_banks -= 1;
        }
    }

    /// RDA and WRA: the bank is closed to all later commands at once, but draws as an open one until its precharge.
    fn close_by_itself(&mut self, bank: BankId, auto_precharge: AutoPrecharge, ready: Cycle, closing: Closing) {
        match auto_precharge {
            AutoPrecharge::Yes if self.bank(bank).open_subarray.is_some() => {
                let restored = self.bank(bank).activated + closing.activate;
                self.closing_until = self.closing_until.max(ready).max(restored);
                self.close(bank);
            }
            AutoPrecharge::Yes | AutoPrecharge::No => {}
        }
    }

    /// Changes nothing where the rank is in another mode than the command supposes.
    fn change_mode(&mut self, from: Mode, to: Mode) {
        if self.mode == from {
            self.mode = to;
        }
    }
}
