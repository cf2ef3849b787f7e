//! Energy account: counts commands and clocks of a command stream.

use dram_spec::{
    AutoPrecharge, BankId, Channel, ColumnRun, Command, CommandEvent, CommandKind, Cycle, Cycles, Effect, EventSink,
    Geometry, System,
};

use crate::counts::{Counts, PowerState};
use crate::error::EnergyError;
use crate::prices::Prices;
use crate::report::EnergyReport;

/// Counts commands by kind and clocks by power state for each rank, as the commands are issued.
///
/// Memory is independent of the length of the stream, and a command takes constant time. Streams
/// that break the device's rules are accepted; `docs/energy.md` defines their counts. Only a stream
/// whose energy cannot be computed (an address that the system does not have, or decreasing times)
/// is an error, which [`Account::report`] returns.
#[derive(Clone, Debug)]
pub struct Account {
    geometry: Geometry,
    columns: u16,
    closing: Closing,
    asleep: PowerState,
    channels: Vec<ChannelAccount>,
    fault: Option<EnergyError>,
    /// The channels after a fault; `channels` is then empty, so that no further command is counted
    /// and frequent commands need no check of `fault`.
    ended: Vec<ChannelAccount>,
}

/// Clocks for which a command keeps its rank in active standby after it.
#[derive(Clone, Copy, Debug)]
struct Closing {
    /// RDA to its internal precharge.
    read: Cycles,
    /// WRA to its internal precharge.
    write: Cycles,
    /// ACT to the earliest internal precharge.
    activate: Cycles,
    /// REF to its end: tRFC of the refresh mode.
    refresh: Cycles,
    /// SRE to the end of the refresh on entry: tRFC of normal refresh.
    entry_refresh: Cycles,
}

#[derive(Clone, Debug)]
struct ChannelAccount {
    /// Cycle of the last command, or the end of the run.
    last: Cycle,
    ranks: Vec<RankAccount>,
}

#[derive(Clone, Debug)]
struct RankAccount {
    counts: Counts,
    /// Clocks before this one are counted.
    counted: Cycle,
    mode: Mode,
    banks: Box<[BankAccount]>,
    /// Bit mask of the banks not closed by PRE, RDA or WRA.
    open_banks: u32,
    /// Start of the last auto-precharge, or end of the last refresh: the rank counts as active
    /// until then.
    active_until: Cycle,
}

#[derive(Clone, Copy, Debug, Default)]
struct BankAccount {
    /// Cycle of the last ACT that was not dropped.
    activated: Cycle,
    /// Start of the last auto-precharge, or end of the last refresh: the bank counts as open until then.
    open_until: Cycle,
    /// Clocks before this one are counted.
    counted: Cycle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Awake,
    PowerDown,
    SelfRefresh,
}

impl Account {
    /// Creates an account of a system at cycle 0: all banks closed, all ranks awake.
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
                write: Cycles(bin.cwl) + system.burst() + bin.clock.at_least(bin.t_wr),
                activate: bin.clock.at_least(bin.t_ras),
                refresh: bin.clock.at_least(system.t_rfc()),
                entry_refresh: bin.clock.at_least(bin.t_rfc.unwrap_or(geometry.chip().t_rfc[0])),
            },
            asleep: PowerState::closed_power_down(system.standard(), system.precharge_power_down),
            channels: vec![channel; geometry.channels().into()],
            fault: None,
            ended: Vec::new(),
        }
    }

    /// Counts of all ranks, each up to the last command of its channel, or to the end of the run
    /// once it has ended; after a fault, up to the faulty command.
    pub fn counts(&self) -> Counts {
        let channels = self.channels.iter().chain(&self.ended);
        let ranks = channels.flat_map(|channel| channel.ranks.iter().map(|rank| (rank, channel.last)));
        ranks.fold(Counts::default(), |sum, (rank, last)| sum + rank.counts_at(last, self.asleep))
    }

    /// Counts of one rank, up to the last command of its channel; `None` if the system does not
    /// have it.
    pub fn rank_counts(&self, channel: Channel, rank: u8) -> Option<Counts> {
        let channel = self.channels.iter().chain(&self.ended).nth(usize::from(channel.0))?;
        Some(channel.ranks.get(usize::from(rank))?.counts_at(channel.last, self.asleep))
    }

    /// Checks the stream up to now: its addresses and times.
    ///
    /// # Errors
    ///
    /// If the energy of the stream cannot be computed with any current set.
    pub fn check(&self) -> Result<(), EnergyError> {
        self.fault.clone().map_or(Ok(()), Err)
    }

    /// Computes the energy of the commands and clocks counted.
    ///
    /// # Errors
    ///
    /// If the energy of the stream cannot be computed, or a rank was in a state whose current the
    /// set lacks.
    pub fn report(&self, prices: &Prices) -> Result<EnergyReport, EnergyError> {
        self.check()?;
        prices.report(&self.counts())
    }

    /// Counts a command that [`EventSink::command`] has not counted, if its address and time are
    /// valid.
    fn take_less_frequent(&mut self, at: Cycle, channel: Channel, command: &Command, effect: Effect) -> Option<()> {
        if !self.geometry.holds_command(channel, command) {
            return None;
        }
        let (closing, asleep) = (self.closing, self.asleep);
        let rank = self.rank(at, channel, command.rank())?;
        match *command {
            Command::Read { bank, .. } => {
                rank.count(CommandKind::Read);
                rank.close_by_itself(at, bank, closing.read, closing, asleep);
            }
            Command::Write { bank, .. } => {
                rank.count(CommandKind::Write);
                rank.close_by_itself(at, bank, closing.write, closing, asleep);
            }
            Command::PrechargeAll { .. } => {
                rank.count(CommandKind::Precharge);
                rank.close_all(at, asleep);
            }
            Command::Refresh { .. } => {
                rank.count(CommandKind::Refresh);
                rank.start_refresh(at, closing.refresh, asleep);
            }
            Command::PowerDownEnter { .. } => {
                rank.count(CommandKind::PowerDownEnter);
                rank.change_mode(at, Mode::Awake, Mode::PowerDown, asleep);
            }
            Command::PowerDownExit { .. } => {
                rank.count(CommandKind::WakeUp);
                rank.change_mode(at, Mode::PowerDown, Mode::Awake, asleep);
            }
            Command::SelfRefreshEnter { .. } => {
                if rank.mode == Mode::Awake {
                    rank.count(CommandKind::SelfRefreshEnter);
                    rank.start_refresh(at, closing.entry_refresh, asleep);
                }
                rank.change_mode(at, Mode::Awake, Mode::SelfRefresh, asleep);
            }
            Command::SelfRefreshExit { .. } => {
                rank.count(CommandKind::WakeUp);
                rank.change_mode(at, Mode::SelfRefresh, Mode::Awake, asleep);
            }
            Command::Activate { .. } | Command::Precharge { .. } => unreachable!("`command` counts these"),
            // The others leave the state of banks and rank. A REFsb takes no part of the rank's standby: the other
            // banks stay in use.
            _ => rank.counts.commands.count(command, effect),
        }
        Some(())
    }

    /// The rank of a command to a bank, if address and time are valid.
    #[inline]
    fn rank_of(&mut self, at: Cycle, channel: Channel, bank: BankId) -> Option<&mut RankAccount> {
        if bank.bank >= self.geometry.banks() {
            return None;
        }
        self.rank(at, channel, bank.rank)
    }

    /// The rank of a command, if address and time are valid.
    #[inline]
    fn rank(&mut self, at: Cycle, channel: Channel, rank: u8) -> Option<&mut RankAccount> {
        let channel = self.channels.get_mut(usize::from(channel.0))?;
        let rank = channel.ranks.get_mut(usize::from(rank)).filter(|_| at >= channel.last)?;
        channel.last = at;
        Some(rank)
    }

    /// Counts a command, or records the fault.
    #[inline(never)]
    fn take_or_fault(&mut self, at: Cycle, channel: Channel, command: Command, effect: Effect) {
        if self.fault.is_none() && self.take_less_frequent(at, channel, &command, effect).is_none() {
            self.fail(self.fault(at, channel, command));
        }
    }

    /// Records a fault and ends the counting.
    #[cold]
    fn fail(&mut self, fault: EnergyError) {
        self.fault = Some(fault);
        self.ended = std::mem::take(&mut self.channels);
    }

    /// Returns the fault of a command.
    #[cold]
    fn fault(&self, at: Cycle, channel: Channel, command: Command) -> EnergyError {
        if self.geometry.holds_command(channel, &command) {
            EnergyError::Order { at, channel, command, last: self.channels[usize::from(channel.0)].last }
        } else {
            EnergyError::Address { at, channel, command }
        }
    }
}

impl EventSink for Account {
    #[expect(
        clippy::inline_always,
        reason = "the kind of a command is a constant where it is issued, so most of this is removed"
    )]
    #[inline(always)]
    fn command(&mut self, event: &CommandEvent) {
        let (at, channel, command) = (event.at, event.channel, &event.command);
        let (rows, columns, asleep) = (self.geometry.rows_per_bank(), self.columns, self.asleep);
        // Most commands are RD, WR, ACT, PRE and TRANSFER.
        let taken = match *command {
            Command::Read { bank, column, auto_precharge: AutoPrecharge::No } if column.0 < columns => {
                self.rank_of(at, channel, bank).map(|rank| rank.count(CommandKind::Read))
            }
            Command::Write { bank, column, auto_precharge: AutoPrecharge::No } if column.0 < columns => {
                self.rank_of(at, channel, bank).map(|rank| rank.count(CommandKind::Write))
            }
            Command::Activate { bank, row } if row.0 < rows => {
                self.rank_of(at, channel, bank).map(|rank| rank.activate(at, bank, event.effect, asleep))
            }
            Command::Precharge { bank } => self.rank_of(at, channel, bank).map(|rank| {
                rank.count(CommandKind::Precharge);
                rank.close(at, bank, asleep);
            }),
            Command::Transfer { src, src_column, dst, dst_column }
                if src_column.0 < columns && dst_column.0 < columns && dst.bank < self.geometry.banks() =>
            {
                self.rank_of(at, channel, src)
                    .filter(|_| dst.rank == src.rank)
                    .map(|rank| rank.count(CommandKind::Transfer))
            }
            _ => None,
        };
        if taken.is_none() {
            self.take_or_fault(at, channel, *command, event.effect);
        }
    }

    fn run(&mut self, run: &ColumnRun) {
        // Column and cycle of the last command are valid only if all are.
        let (at, channel, columns) = (run.last(), run.first.channel, run.lines - 1);
        let command = run.first.command.further(columns as u16);
        self.command(&CommandEvent { at, command, ..run.first });
        let Some(counts) = self.channels.get_mut(usize::from(channel.0)) else { return };
        let counts = &mut counts.ranks[usize::from(command.rank())].counts;
        counts.commands[run.first.kind()] += columns;
    }

    fn wants_order(&self) -> bool {
        false
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

impl RankAccount {
    fn counts_at(&self, now: Cycle, asleep: PowerState) -> Counts {
        let mut copy = self.clone();
        copy.advance_to(now, asleep);
        copy.count_banks_to(now);
        copy.counts
    }

    /// Counts the clocks since the last count: before the first bank opens, before the last one
    /// closes, and before the mode changes. The state is constant in between.
    #[inline(never)]
    fn advance_to(&mut self, now: Cycle, asleep: PowerState) {
        let closed = if self.open_banks != 0 { now } else { self.active_until.clamp(self.counted, now) };
        let (while_open, while_closed) = match self.mode {
            Mode::Awake => (PowerState::ActiveStandby, PowerState::PrechargedStandby),
            Mode::PowerDown => (PowerState::ActivePowerDown, asleep),
            Mode::SelfRefresh => (PowerState::ActivePowerDown, PowerState::SelfRefresh),
        };
        self.counts.clocks[while_open as usize] += closed.since(self.counted);
        self.counts.clocks[while_closed as usize] += now.since(closed);
        self.counted = now;
    }

    /// Changes the mode; has no effect if the current mode is not `from`.
    fn change_mode(&mut self, at: Cycle, from: Mode, to: Mode, asleep: PowerState) {
        self.advance_to(at, asleep);
        if self.mode == from {
            self.count_banks_to(at);
            self.mode = to;
        }
    }

    /// Counts the clocks in which a bank was open since the last count: before it opens, closes or is
    /// refreshed, and before the mode changes.
    #[inline(never)]
    fn count_bank_to(&mut self, now: Cycle, bank: u8) {
        let is_open = self.open_banks & 1 << bank != 0;
        let account = &mut self.banks[usize::from(bank)];
        if self.mode == Mode::Awake {
            let until = if is_open { now } else { account.open_until.clamp(account.counted, now) };
            self.counts.open_bank_clocks += until.since(account.counted);
        }
        account.counted = now;
    }

    fn count_banks_to(&mut self, now: Cycle) {
        for bank in 0..self.banks.len() as u8 {
            self.count_bank_to(now, bank);
        }
    }

    #[inline]
    fn count(&mut self, kind: CommandKind) {
        self.counts.commands[kind] += 1;
    }

    #[inline]
    fn activate(&mut self, at: Cycle, id: BankId, effect: Effect, asleep: PowerState) {
        match effect {
            Effect::Copied { .. } => self.count(CommandKind::CopyActivate),
            Effect::Dropped { .. } => return self.count(CommandKind::DroppedActivate),
            _ => {
                if self.open_banks == 0 {
                    self.advance_to(at, asleep);
                }
                let bit = 1 << id.bank;
                let bank = &mut self.banks[usize::from(id.bank)];
                // Most banks have been closed by a PRE for some time, and have no clocks to count.
                if bank.open_until > bank.counted || self.open_banks & bit != 0 {
                    self.count_bank_to(at, id.bank);
                } else {
                    bank.counted = at;
                }
                self.open_banks |= bit;
                self.count(CommandKind::Activate);
            }
        }
        self.banks[usize::from(id.bank)].activated = at;
    }

    #[inline]
    fn close(&mut self, at: Cycle, id: BankId, asleep: PowerState) {
        let bit = 1 << id.bank;
        if self.open_banks == bit {
            self.advance_to(at, asleep);
        }
        if self.open_banks & bit != 0 {
            let bank = &mut self.banks[usize::from(id.bank)];
            if self.mode == Mode::Awake {
                self.counts.open_bank_clocks += at.since(bank.counted);
            }
            bank.counted = at;
        }
        self.open_banks &= !bit;
    }

    fn close_all(&mut self, at: Cycle, asleep: PowerState) {
        self.advance_to(at, asleep);
        self.count_banks_to(at);
        self.open_banks = 0;
    }

    /// REF, and the refresh at SRE: `E_REF` excludes IDD3N, so all banks count as open for tRFC.
    fn start_refresh(&mut self, at: Cycle, t_rfc: Cycles, asleep: PowerState) {
        self.advance_to(at, asleep);
        self.count_banks_to(at);
        self.active_until = self.active_until.max(at + t_rfc);
        for bank in &mut self.banks {
            bank.open_until = bank.open_until.max(at + t_rfc);
        }
    }

    /// RDA and WRA: the bank is closed to later commands at once, but counts as active until its
    /// internal precharge, which tRAS may delay beyond `ready` clocks from now.
    fn close_by_itself(&mut self, at: Cycle, id: BankId, ready: Cycles, closing: Closing, asleep: PowerState) {
        if self.open_banks & 1 << id.bank != 0 {
            self.close(at, id, asleep);
            let bank = &mut self.banks[usize::from(id.bank)];
            bank.open_until = bank.open_until.max(at + ready).max(bank.activated + closing.activate);
            self.active_until = self.active_until.max(bank.open_until);
        }
    }
}
