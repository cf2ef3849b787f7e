//! An independent implementation of the energy model, which visits every clock.
//!
//! It shares no formula, count or state with [`crate::Account`] and [`crate::Prices`]: it adds
//! picojoules command by command and clock by clock, from the currents of the set. Its time grows
//! with the cycles of the run, so it is for tests and small runs.

use dram_spec::{AutoPrecharge, Channel, Command, CommandLog, Cycle, Picojoule, PrechargePowerDown, Row, System};

use crate::cause::Cause;
use crate::counts::PowerState;
use crate::currents::Currents;
use crate::error::EnergyError;

/// Clocks per subtotal. A long sum of equal terms drifts in floating point; a sum of subtotals
/// drifts far less.
const SUBTOTAL_CLOCKS: u64 = 1024;

/// Total energy of a run.
///
/// # Errors
///
/// The errors of [`by_cause`].
pub fn total(system: &System, currents: &Currents, log: &CommandLog) -> Result<Picojoule, EnergyError> {
    Ok(by_cause(system, currents, log)?.into_iter().map(|(_, energy)| energy).sum())
}

/// Energy of a run, in the order of [`Cause::ALL`].
///
/// # Errors
///
/// If the energy cannot be computed: a width that does not fit, a command with an invalid address
/// or time, a missing current.
pub fn by_cause(
    system: &System,
    currents: &Currents,
    log: &CommandLog,
) -> Result<Vec<(Cause, Picojoule)>, EnergyError> {
    check(system, currents, log)?;
    let mut spent = vec![0.0; Cause::ALL.len()];
    for channel in 0..system.geometry.channels() {
        for rank in 0..system.geometry.ranks() {
            let commands: Vec<(u64, Command)> = log
                .commands
                .iter()
                .filter(|issued| issued.channel == Channel(channel) && issued.command.rank() == rank)
                .map(|issued| (issued.at.0, issued.command))
                .collect();
            walk(system, currents, &commands, log.end.0, &mut spent)?;
        }
    }
    Ok(Cause::ALL.into_iter().zip(spent.into_iter().map(Picojoule)).collect())
}

fn check(system: &System, currents: &Currents, log: &CommandLog) -> Result<(), EnergyError> {
    let (found, wanted) = (currents.width(), system.geometry.width());
    if found != wanted {
        return Err(EnergyError::Width { set: currents.name().to_owned(), found, wanted });
    }
    let mut lasts = vec![Cycle::ZERO; usize::from(system.geometry.channels())];
    for issued in &log.commands {
        let (at, channel, command) = (issued.at, issued.channel, issued.command);
        if !system.geometry.holds_command(channel, &command) {
            return Err(EnergyError::Address { at, channel, command });
        }
        let last = &mut lasts[usize::from(channel.0)];
        if at < *last {
            return Err(EnergyError::Order { at, channel, command, last: *last });
        }
        *last = at;
    }
    match lasts.into_iter().max() {
        Some(last) if last > log.end => Err(EnergyError::End { end: log.end, last }),
        _ => Ok(()),
    }
}

/// State of a bank.
#[derive(Clone, Copy, Default)]
struct Bank {
    open: Option<Row>,
    activated: u64,
    /// Start of the auto-precharge; the bank draws the current of an open bank before it.
    shuts_at: u64,
}

/// Adds the energy of one rank, clock by clock.
fn walk(
    system: &System,
    currents: &Currents,
    commands: &[(u64, Command)],
    end: u64,
    spent: &mut [f64],
) -> Result<(), EnergyError> {
    let raw = currents.raw();
    let chips = 64.0 / raw.width as f64;
    let t_ck = system.clock().t_ck_ns();
    let mut banks = vec![Bank::default(); system.geometry.banks().into()];
    let (mut power_down, mut self_refresh) = (false, false);
    let mut refreshing_until = 0;
    let t_rfc = system.clock().at_least(system.t_rfc()).0;
    let mut subtotal = vec![0.0; Cause::ALL.len()];
    let mut next = 0;
    for clock in 0..=end {
        while let Some(&(at, command)) = commands.get(next).filter(|(at, _)| *at == clock) {
            add_command(system, currents, &banks, &command, &mut subtotal);
            change_banks(system, &mut banks, at, &command);
            let said = |name| command.mnemonic() == name;
            if said("REF") {
                refreshing_until = at + t_rfc;
            }
            if said("SRE") && !power_down && !self_refresh {
                refreshing_until = at + t_rfc;
                add_command(system, currents, &banks, &Command::Refresh { rank: command.rank() }, &mut subtotal);
            }
            power_down = (power_down || said("PDE") && !self_refresh) && !said("PDX");
            self_refresh = (self_refresh || said("SRE") && !power_down) && !said("SRX");
            next += 1;
        }
        if clock < end {
            let open =
                banks.iter().any(|bank| bank.open.is_some() || clock < bank.shuts_at) || clock < refreshing_until;
            let slow = system.precharge_power_down == PrechargePowerDown::SlowExit;
            let (cause, state, ma) = match (self_refresh, power_down, open) {
                (true, _, true) | (_, true, true) => {
                    (Cause::PowerDownActive, PowerState::ActivePowerDown, raw.idd3p_ma)
                }
                (true, _, false) => (Cause::SelfRefresh, PowerState::SelfRefresh, raw.idd6_ma),
                (_, true, false) if slow => (Cause::PowerDownSlow, PowerState::SlowPowerDown, raw.idd2p0_ma),
                (_, true, false) => (Cause::PowerDownFast, PowerState::FastPowerDown, raw.idd2p1_ma),
                (_, _, true) => (Cause::BackgroundActive, PowerState::ActiveStandby, Some(raw.idd3n_ma)),
                (_, _, false) => (Cause::BackgroundPrecharged, PowerState::PrechargedStandby, Some(raw.idd2n_ma)),
            };
            let ma = ma.ok_or_else(|| EnergyError::Current { set: raw.name.clone().into_owned(), state })?;
            subtotal[cause as usize] += raw.vdd_v * ma * t_ck * chips;
        }
        if clock % SUBTOTAL_CLOCKS == 0 || clock == end {
            for (spent, part) in spent.iter_mut().zip(&mut subtotal) {
                *spent += std::mem::take(part);
            }
        }
    }
    Ok(())
}

/// Adds the energy of one command.
fn add_command(system: &System, currents: &Currents, banks: &[Bank], command: &Command, spent: &mut [f64]) {
    let raw = currents.raw();
    let chips = 64.0 / raw.width as f64;
    // Core energies use the clock of the set's bin.
    let own = currents.bin();
    let ns = |min| own.clock.at_least(min).0 as f64 * own.clock.t_ck_ns();
    let (t_rc, t_ras, t_rfc) = (
        ns(own.t_rc),
        ns(own.t_ras),
        ns(own.standard.chip(currents.density(), currents.width()).expect("the set names a chip").t_rfc[0]),
    );
    let burst = 4.0 * own.clock.t_ck_ns();
    let row = raw.idd0_ma * t_rc - raw.idd3n_ma * t_ras - raw.idd2n_ma * (t_rc - t_ras);
    let read = chips * raw.vdd_v * (raw.idd4r_ma - raw.idd3n_ma) * burst;
    let write = chips * raw.vdd_v * (raw.idd4w_ma - raw.idd3n_ma) * burst;
    // I/O energies use the clock of the system. 64 DQ; DQS and DM of all chips together.
    let bus = 4.0 * system.clock().t_ck_ns();
    let (strobes, masks) = match raw.width {
        4 => (16.0, 0.0),
        _ => (8.0, 8.0),
    };
    let idle_ranks = f64::from(system.geometry.ranks().min(2) - 1);
    match *command {
        Command::Activate { bank, row: to } => {
            let subarray = |row| system.geometry.subarray(row);
            let cause = match banks[usize::from(bank.bank)].open {
                None => Cause::Activate,
                Some(open) if subarray(open) == subarray(to) => Cause::CopyActivate,
                Some(_) => return,
            };
            spent[cause as usize] += chips * raw.vdd_v * row;
        }
        Command::Read { .. } => {
            spent[Cause::Read as usize] += read;
            spent[Cause::ReadIo as usize] += 4.6 * (64.0 + strobes) * bus;
            spent[Cause::IdleRankIo as usize] += idle_ranks * 15.5 * (64.0 + strobes) * bus;
        }
        Command::Write { .. } => {
            spent[Cause::Write as usize] += write;
            spent[Cause::WriteIo as usize] += 21.2 * (64.0 + strobes + masks) * bus;
            spent[Cause::IdleRankIo as usize] += idle_ranks * 15.4 * (64.0 + strobes + masks) * bus;
        }
        Command::Transfer { .. } => spent[Cause::Transfer as usize] += f64::midpoint(read, write),
        Command::MoveRowBuffer { bank, row } => {
            let subarray = |row: Row| f64::from(row.0 / system.geometry.rows_per_subarray());
            let hops =
                banks[usize::from(bank.bank)].open.map_or(1.0, |open| (subarray(open) - subarray(row)).abs().max(1.0));
            spent[Cause::MoveRowBuffer as usize] += hops * 5_700.0 * system.geometry.row_bytes() as f64 / 8192.0;
        }
        Command::Refresh { .. } => {
            spent[Cause::Refresh as usize] += chips * raw.vdd_v * (raw.idd5b_ma - raw.idd3n_ma) * t_rfc;
        }
        Command::Precharge { .. }
        | Command::PrechargeAll { .. }
        | Command::PowerDownEnter { .. }
        | Command::PowerDownExit { .. }
        | Command::SelfRefreshEnter { .. }
        | Command::SelfRefreshExit { .. } => {}
    }
}

/// Updates the open rows of banks.
fn change_banks(system: &System, banks: &mut [Bank], at: u64, command: &Command) {
    let bin = system.bin;
    let clocks = |min| bin.clock.at_least(min).0;
    match *command {
        Command::Activate { bank, row } => {
            let bank = &mut banks[usize::from(bank.bank)];
            let dropped = bank.open.is_some_and(|open| system.geometry.subarray(open) != system.geometry.subarray(row));
            if !dropped {
                bank.open = Some(row);
                bank.activated = at;
            }
        }
        // The next ACT is a copy activation in the destination subarray, as if its row had been open.
        Command::MoveRowBuffer { bank, row } => {
            let bank = &mut banks[usize::from(bank.bank)];
            bank.open = bank.open.map(|_| row);
        }
        Command::Precharge { bank } => banks[usize::from(bank.bank)].open = None,
        Command::PrechargeAll { .. } => {
            for bank in banks {
                bank.open = None;
            }
        }
        Command::Read { bank, auto_precharge: AutoPrecharge::Yes, .. } => {
            shut(&mut banks[usize::from(bank.bank)], at + clocks(bin.t_rtp), clocks(bin.t_ras));
        }
        Command::Write { bank, auto_precharge: AutoPrecharge::Yes, .. } => {
            shut(&mut banks[usize::from(bank.bank)], at + bin.cwl + 4 + clocks(bin.t_wr), clocks(bin.t_ras));
        }
        Command::Read { auto_precharge: AutoPrecharge::No, .. }
        | Command::Write { auto_precharge: AutoPrecharge::No, .. }
        | Command::Transfer { .. }
        | Command::Refresh { .. }
        | Command::PowerDownEnter { .. }
        | Command::PowerDownExit { .. }
        | Command::SelfRefreshEnter { .. }
        | Command::SelfRefreshExit { .. } => {}
    }
}

/// Closes a bank by auto-precharge, if it is open.
fn shut(bank: &mut Bank, ready: u64, t_ras: u64) {
    if bank.open.take().is_some() {
        bank.shuts_at = bank.shuts_at.max(ready).max(bank.activated + t_ras);
    }
}
