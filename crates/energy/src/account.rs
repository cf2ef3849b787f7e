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
    /// Banks per rank.
    banks: u8,
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
    /// Clocks in which banks were open while the rank was awake, summed over the banks: the cycles in
    /// which banks ceased to be open, less those in which they began to be, modulo 2^64.
    open_bank_clocks: u64,
    banks: Box<[BankAccount]>,
    /// Bit mask of the banks not closed by PRE, RDA or WRA.
    open_banks: u32,
    /// Start of the last auto-precharge, or end of the last refresh: the rank counts as active
    /// until then. No [`BankAccount::open_until`] is later.
    active_until: Cycle,
}

#[derive(Clone, Copy, Debug, Default)]
struct BankAccount {
    /// Cycle of the last ACT that was not dropped.
    activated: Cycle,
    /// Start of the last auto-precharge, or end of the last refresh: the bank counts as open until then.
    open_until: Cycle,
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
            open_bank_clocks: 0,
            banks: vec![BankAccount::default(); geometry.banks().into()].into(),
            open_banks: 0,
            active_until: Cycle::ZERO,
        };
        let channel = ChannelAccount { last: Cycle::ZERO, ranks: vec![rank; geometry.ranks().into()] };
        Account {
            geometry,
            banks: geometry.banks(),
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
        if bank.bank >= self.banks {
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

    /// Counts a command of the most frequent kinds, if address and time are valid.
    // Where the kind of the command is known, little of this is left.
    #[inline(always)]
    fn take(&mut self, event: &CommandEvent) -> Option<()> {
        let (at, channel, effect) = (event.at, event.channel, event.effect);
        let (rows, columns, asleep) = (self.geometry.rows_per_bank(), self.columns, self.asleep);
        match event.command {
            Command::Read { bank, column, auto_precharge: AutoPrecharge::No } if column.0 < columns => {
                self.rank_of(at, channel, bank)?.count(CommandKind::Read);
            }
            Command::Write { bank, column, auto_precharge: AutoPrecharge::No } if column.0 < columns => {
                self.rank_of(at, channel, bank)?.count(CommandKind::Write);
            }
            Command::Activate { bank, row } if row.0 < rows => {
                self.rank_of(at, channel, bank)?.activate(at, bank, effect, asleep);
            }
            Command::Precharge { bank } => {
                let rank = self.rank_of(at, channel, bank)?;
                rank.count(CommandKind::Precharge);
                rank.close(at, bank, asleep);
            }
            Command::Transfer { src, src_column, dst, dst_column }
                if src_column.0 < columns && dst_column.0 < columns && dst.bank < self.banks =>
            {
                self.rank_of(at, channel, src).filter(|_| dst.rank == src.rank)?.count(CommandKind::Transfer);
            }
            _ => return None,
        }
        Some(())
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
    #[inline(always)]
    fn command(&mut self, event: &CommandEvent) {
        if self.take(event).is_none() {
            self.take_or_fault(event.at, event.channel, event.command, event.effect);
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
        if copy.mode == Mode::Awake {
            copy.end_all(now);
        }
        Counts { open_bank_clocks: Cycles(copy.open_bank_clocks), ..copy.counts }
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
            if from == Mode::Awake {
                self.end_all(at);
            }
            if to == Mode::Awake {
                self.begin_all(at);
            }
            self.mode = to;
        }
    }

    /// A bank begins to be open, or continues after its auto-precharge or refresh.
    #[inline]
    fn begin(&mut self, at: Cycle, bank: u8) {
        self.open_bank_clocks = self.open_bank_clocks.wrapping_sub(self.past_open_until(at, bank).0);
    }

    /// A bank ceases to be open: at the end of its auto-precharge or refresh, if that is later.
    #[inline]
    fn end(&mut self, at: Cycle, bank: u8) {
        self.open_bank_clocks = self.open_bank_clocks.wrapping_add(self.past_open_until(at, bank).0);
    }

    /// The later of a cycle and the end of a bank's auto-precharge or refresh.
    #[inline]
    fn past_open_until(&self, at: Cycle, bank: u8) -> Cycle {
        // The usual case first: it needs no state of the bank.
        if at >= self.active_until { at } else { at.max(self.banks[usize::from(bank)].open_until) }
    }

    /// The rank awakes: all banks in use begin to be open.
    fn begin_all(&mut self, at: Cycle) {
        let clocks = self.clocks_after(at);
        self.open_bank_clocks = self.open_bank_clocks.wrapping_add(clocks);
    }

    /// The rank is awake no more: all banks in use cease to be open.
    fn end_all(&mut self, at: Cycle) {
        let clocks = self.clocks_after(at);
        self.open_bank_clocks = self.open_bank_clocks.wrapping_sub(clocks);
    }

    /// The part of [`Self::open_bank_clocks`] for the time after a cycle, while no bank opens or closes: the ends of
    /// auto-precharges and refreshes, and the open banks, which have no end yet.
    fn clocks_after(&self, at: Cycle) -> u64 {
        let clocks = |(number, bank): (usize, &BankAccount)| match self.open_banks >> number & 1 {
            0 => bank.open_until.since(at).0,
            _ => at.0.wrapping_neg(),
        };
        self.banks.iter().enumerate().map(clocks).fold(0, u64::wrapping_add)
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
                if self.mode == Mode::Awake && self.open_banks & bit == 0 {
                    self.begin(at, id.bank);
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
        if self.mode == Mode::Awake && self.open_banks & bit != 0 {
            self.end(at, id.bank);
        }
        self.open_banks &= !bit;
    }

    fn close_all(&mut self, at: Cycle, asleep: PowerState) {
        for bank in 0..self.banks.len() as u8 {
            self.close(at, BankId { rank: 0, bank }, asleep);
        }
    }

    /// REF, and the refresh at SRE: `E_REF` excludes IDD3N, so all banks count as open for tRFC.
    fn start_refresh(&mut self, at: Cycle, t_rfc: Cycles, asleep: PowerState) {
        self.advance_to(at, asleep);
        for bank in 0..self.banks.len() as u8 {
            self.use_until(at, bank, at + t_rfc);
        }
    }

    /// A bank counts as open until a cycle, by its auto-precharge or a refresh.
    fn use_until(&mut self, at: Cycle, bank: u8, until: Cycle) {
        let is_closed = self.mode == Mode::Awake && self.open_banks >> bank & 1 == 0;
        if is_closed {
            self.begin(at, bank);
        }
        let open_until = &mut self.banks[usize::from(bank)].open_until;
        *open_until = until.max(*open_until);
        self.active_until = self.active_until.max(until);
        if is_closed {
            self.end(at, bank);
        }
    }

    /// RDA and WRA: the bank is closed to later commands at once, but counts as active until its
    /// internal precharge, which tRAS may delay beyond `ready` clocks from now.
    fn close_by_itself(&mut self, at: Cycle, id: BankId, ready: Cycles, closing: Closing, asleep: PowerState) {
        if self.open_banks & 1 << id.bank != 0 {
            self.close(at, id, asleep);
            let precharge = self.banks[usize::from(id.bank)].activated + closing.activate;
            self.use_until(at, id.bank, precharge.max(at + ready));
        }
    }
}
