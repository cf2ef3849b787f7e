//! An independent implementation of the energy model, which visits every clock.
//!
//! It shares no formula, count or state with [`energy::Account`] and [`energy::Prices`]: it adds
//! picojoules command by command and clock by clock, from the currents of the set. Its time grows
//! with the cycles of the run, so it is for tests and small runs.

use dram_spec::{
    AutoPrecharge, Channel, Command, CommandLog, Cycle, Min, Picojoule, PrechargePowerDown, Row, SlowExit, System,
};

use energy::{Cause, Currents, EnergyError, PowerState};

/// Clocks per subtotal. A long sum of equal terms drifts in floating point; a sum of subtotals
/// drifts far less.
const SUBTOTAL_CLOCKS: u64 = 1024;

/// Total energy of a run, under the background model of the standard.
///
/// # Errors
///
/// The errors of [`by_cause`].
pub fn total(system: &System, currents: &Currents, log: &CommandLog) -> Result<Picojoule, EnergyError> {
    let rho = system.standard().definition().background_rho;
    Ok(by_cause(system, currents, rho, log)?.into_iter().map(|(_, energy)| energy).sum())
}

/// Energy of a run, in the order of [`Cause::ALL`]. `rho` is that of [`energy::Prices::with_background`];
/// where the standard has no powers of the pins, their energy is 0.
///
/// # Errors
///
/// If the energy cannot be computed: a set that does not fit, a command with an invalid address
/// or time, a missing current.
pub fn by_cause(
    system: &System,
    currents: &Currents,
    rho: f64,
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
            walk(system, &Chips { currents, rho }, &commands, log.end.0, &mut spent)?;
        }
    }
    Ok(Cause::ALL.into_iter().zip(spent.into_iter().map(Picojoule)).collect())
}

fn check(system: &System, currents: &Currents, log: &CommandLog) -> Result<(), EnergyError> {
    let (set, width) = (currents.name().to_owned(), system.geometry.width());
    if currents.bin().standard != system.bin.standard {
        let (found, wanted) = (currents.bin().standard, system.bin.standard);
        return Err(EnergyError::Standard { set, found, wanted, width });
    }
    if currents.width() != width {
        return Err(EnergyError::Width { set, found: currents.width(), wanted: width });
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

/// The chips of a rank, and the background model.
struct Chips<'a> {
    currents: &'a Currents,
    rho: f64,
}

/// Adds the energy of one rank, clock by clock.
fn walk(
    system: &System,
    chips: &Chips<'_>,
    commands: &[(u64, Command)],
    end: u64,
    spent: &mut [f64],
) -> Result<(), EnergyError> {
    let mut banks = vec![Bank::default(); system.geometry.banks().into()];
    let (mut power_down, mut self_refresh) = (false, false);
    let mut refreshing_until = 0;
    let t_rfc = system.clock().at_least(system.t_rfc()).0;
    let entry_t_rfc = system.clock().at_least(system.bin.t_rfc.unwrap_or(system.geometry.chip().t_rfc[0])).0;
    let mut subtotal = vec![0.0; Cause::ALL.len()];
    let mut next = 0;
    for clock in 0..=end {
        while let Some(&(at, command)) = commands.get(next).filter(|(at, _)| *at == clock) {
            add_command(system, chips, &banks, &command, &mut subtotal)?;
            change_banks(system, &mut banks, at, &command);
            let said = |name| command.mnemonic() == name;
            if said("REF") {
                refreshing_until = refreshing_until.max(at + t_rfc);
            }
            if said("SRE") && !power_down && !self_refresh {
                refreshing_until = refreshing_until.max(at + entry_t_rfc);
                subtotal[Cause::Refresh as usize] += chips.whole_refresh(system)?;
            }
            power_down = (power_down || said("PDE") && !self_refresh) && !said("PDX");
            self_refresh = (self_refresh || said("SRE") && !power_down) && !said("SRX");
            next += 1;
        }
        if clock < end {
            let is_open = |bank: &&Bank| bank.open.is_some() || clock < bank.shuts_at || clock < refreshing_until;
            let open = banks.iter().filter(is_open).count();
            let (cause, picojoules) = chips.clock(system, open, power_down, self_refresh)?;
            subtotal[cause as usize] += picojoules;
        }
        if clock % SUBTOTAL_CLOCKS == 0 || clock == end {
            for (spent, part) in spent.iter_mut().zip(&mut subtotal) {
                *spent += std::mem::take(part);
            }
        }
    }
    Ok(())
}

impl Chips<'_> {
    /// Chips that fill the data pins of a channel.
    fn number(&self, system: &System) -> f64 {
        system.bin.standard.definition().channel_pins as f64 / self.currents.raw().width as f64
    }

    /// Energy of one clock with some banks open.
    fn clock(
        &self,
        system: &System,
        open: usize,
        power_down: bool,
        self_refresh: bool,
    ) -> Result<(Cause, f64), EnergyError> {
        use PowerState as S;
        let raw = self.currents.raw();
        let slow = (system.precharge_power_down == PrechargePowerDown::SlowExit)
            .then(|| system.bin.standard.definition().slow_exit)
            .flatten();
        let active = raw.idd3n_ma - raw.idd2n_ma;
        let open_share = open as f64 / f64::from(system.geometry.banks());
        let standby = raw.idd2n_ma + active * (self.rho + (1.0 - self.rho) * open_share);
        let (cause, state, current, ma) = match (self_refresh, power_down, open > 0) {
            (true, _, true) | (_, true, true) if slow == Some(SlowExit::Active) => {
                (Cause::PowerDownActive, S::ActivePowerDown, "IDD3P0", raw.idd3p0_ma)
            }
            (true, _, true) | (_, true, true) => (Cause::PowerDownActive, S::ActivePowerDown, "IDD3P", raw.idd3p_ma),
            (true, _, false) => (Cause::SelfRefresh, S::SelfRefresh, "IDD6", raw.idd6_ma),
            (_, true, false) if slow == Some(SlowExit::Precharge) => {
                (Cause::PowerDownSlow, S::SlowPowerDown, "IDD2P0", raw.idd2p0_ma)
            }
            (_, true, false) => (Cause::PowerDownFast, S::FastPowerDown, "IDD2P1", raw.idd2p1_ma),
            (_, _, true) => (Cause::BackgroundActive, S::ActiveStandby, "IDD3N", Some(standby)),
            (_, _, false) => (Cause::BackgroundPrecharged, S::PrechargedStandby, "IDD2N", Some(raw.idd2n_ma)),
        };
        let ma = ma.ok_or_else(|| EnergyError::Current { set: raw.name.clone(), state, current })?;
        let on_vpp = if cause == Cause::SelfRefresh { raw.ipp6_ma.or(raw.ipp3n_ma) } else { raw.ipp3n_ma };
        let milliwatts = raw.vdd_v * ma + raw.vpp_v.unwrap_or(0.0) * on_vpp.unwrap_or(0.0);
        Ok((cause, milliwatts * system.clock().t_ck_ns() * self.number(system)))
    }

    /// A minimum at the clock of the set's bin, ns.
    fn ns(&self, min: Min) -> f64 {
        let clock = self.currents.bin().clock;
        clock.at_least(min).0 as f64 * clock.t_ck_ns()
    }

    /// Energy of the activation and precharge of a row.
    fn row(&self, system: &System) -> f64 {
        let (raw, bin) = (self.currents.raw(), self.currents.bin());
        let (t_rc, t_ras) = (self.ns(bin.t_rc), self.ns(bin.t_ras));
        let one_bank_share = self.rho + (1.0 - self.rho) / f64::from(self.currents.chip().banks());
        let open_ma = raw.idd2n_ma + (raw.idd3n_ma - raw.idd2n_ma) * one_bank_share;
        let vdd = raw.vdd_v * (raw.idd0_ma * t_rc - open_ma * t_ras - raw.idd2n_ma * (t_rc - t_ras));
        let vpp = raw.vpp_v.unwrap_or(0.0) * (raw.ipp0_ma.unwrap_or(0.0) - raw.ipp3n_ma.unwrap_or(0.0)) * t_rc;
        (vdd + vpp) * self.number(system)
    }

    /// Energies of a read burst and of a write burst.
    fn bursts(&self, system: &System) -> (f64, f64) {
        let (raw, bin) = (self.currents.raw(), self.currents.bin());
        let burst = bin.standard.definition().burst.0 as f64 * bin.clock.t_ck_ns();
        let of = |ma: f64| raw.vdd_v * (ma - raw.idd3n_ma) * burst * self.number(system);
        (of(raw.idd4r_ma), of(raw.idd4w_ma))
    }

    /// Energy of refreshing as many rows as a REF of normal refresh.
    fn whole_refresh(&self, system: &System) -> Result<f64, EnergyError> {
        let (raw, bin) = (self.currents.raw(), self.currents.bin());
        let t_rfc = self.ns(self.currents.chip().t_rfc[0]);
        let t_refi = bin.clock.at_most(bin.standard.definition().t_refi_ps).0 as f64 * bin.clock.t_ck_ns();
        let vdd = match (raw.idd5b_ma, raw.idd5r_ma) {
            (None, None) => return Err(EnergyError::Refresh { set: raw.name.clone() }),
            (Some(burst), _) => raw.vdd_v * (burst - raw.idd3n_ma) * t_rfc,
            (_, Some(regular)) => raw.vdd_v * (regular - raw.idd3n_ma) * t_refi,
        };
        Ok((vdd + self.refresh_on_vpp(t_rfc, t_refi)) * self.number(system))
    }

    fn refresh_on_vpp(&self, t_rfc: f64, t_refi: f64) -> f64 {
        let raw = self.currents.raw();
        let above = |ma: Option<f64>, time: f64| ma.map_or(0.0, |ma| (ma - raw.ipp3n_ma.unwrap_or(0.0)) * time);
        raw.vpp_v.unwrap_or(0.0) * (above(raw.ipp5b_ma, t_rfc) + above(raw.ipp5r_ma, t_refi))
    }

    /// Energy of a REF of the system's mode, or of a `REFsb`.
    fn refresh(&self, system: &System, is_same_bank: bool) -> Result<f64, EnergyError> {
        let (raw, mode, chip) = (self.currents.raw(), system.refresh_mode, self.currents.chip());
        let parts = mode.divisor as f64;
        let t_rfc = self.ns(chip.t_rfc[mode.duration]);
        let whole = self.whole_refresh(system)?;
        let t_refi = self.currents.bin().clock.at_most(self.currents.bin().standard.definition().t_refi_ps).0 as f64;
        let vpp = self.refresh_on_vpp(self.ns(chip.t_rfc[0]), t_refi * self.currents.bin().clock.t_ck_ns()) / parts;
        let fine = raw.idd5f_ma.filter(|_| mode.divisor > 1);
        let one =
            fine.map_or(whole / parts, |fine| (raw.vdd_v * (fine - raw.idd3n_ma) * t_rfc + vpp) * self.number(system));
        if !is_same_bank {
            return Ok(one);
        }
        let sets = f64::from(chip.banks_per_group);
        Ok(match raw.idd5c_ma {
            Some(ma) => {
                let vdd = raw.vdd_v * (ma - raw.idd2n_ma) * self.ns(chip.t_rfc_sb);
                (vdd + vpp / sets) * self.number(system)
            }
            // A REFsb has no active standby of its own, so that of the REF is part of it.
            None => (one + raw.vdd_v * (raw.idd3n_ma - raw.idd2n_ma) * t_rfc * self.number(system)) / sets,
        })
    }
}

/// Adds the energy of one command.
fn add_command(
    system: &System,
    chips: &Chips<'_>,
    banks: &[Bank],
    command: &Command,
    spent: &mut [f64],
) -> Result<(), EnergyError> {
    let (read, write) = chips.bursts(system);
    match *command {
        Command::Activate { bank, row: to } => {
            let subarray = |row| system.geometry.subarray(row);
            let cause = match banks[usize::from(bank.bank)].open {
                None => Cause::Activate,
                Some(open) if subarray(open) == subarray(to) => Cause::CopyActivate,
                Some(_) => return Ok(()),
            };
            spent[cause as usize] += chips.row(system);
        }
        Command::Read { .. } => {
            spent[Cause::Read as usize] += read;
            let (own, other) = at_pins(system, false);
            spent[Cause::ReadIo as usize] += own;
            spent[Cause::IdleRankIo as usize] += other;
        }
        Command::Write { .. } => {
            spent[Cause::Write as usize] += write;
            let (own, other) = at_pins(system, true);
            spent[Cause::WriteIo as usize] += own;
            spent[Cause::IdleRankIo as usize] += other;
        }
        Command::Transfer { .. } => spent[Cause::Transfer as usize] += f64::midpoint(read, write),
        Command::MoveRowBuffer { bank, row } => {
            let subarray = |row: Row| f64::from(system.geometry.subarray(row));
            let hops =
                banks[usize::from(bank.bank)].open.map_or(1.0, |open| (subarray(open) - subarray(row)).abs().max(1.0));
            spent[Cause::Mechanism as usize] += hops * 5_700.0 * system.geometry.row_bytes() as f64 / 8192.0;
        }
        Command::Refresh { .. } => spent[Cause::Refresh as usize] += chips.refresh(system, false)?,
        Command::RefreshSameBank { .. } => spent[Cause::Refresh as usize] += chips.refresh(system, true)?,
        Command::Precharge { .. }
        | Command::PrechargeAll { .. }
        | Command::PowerDownEnter { .. }
        | Command::PowerDownExit { .. }
        | Command::SelfRefreshEnter { .. }
        | Command::SelfRefreshExit { .. } => {}
    }
    Ok(())
}

/// Energy of a burst at the pins of its rank, and of another one, at the clock of the system.
fn at_pins(system: &System, is_write: bool) -> (f64, f64) {
    let definition = system.bin.standard.definition();
    let Some(powers) = definition.pin_powers else { return (0.0, 0.0) };
    let pins = definition.channel_pins as f64;
    // DQS and DM of all chips together.
    let (strobes, masks) = match system.geometry.width().pins() {
        4 => (pins / 4.0, 0.0),
        _ => (pins / 8.0, pins / 8.0),
    };
    let (own, other, driven) = if is_write {
        (powers.write_termination_mw, powers.idle_write_termination_mw, pins + strobes + masks)
    } else {
        (powers.read_driver_mw, powers.idle_read_termination_mw, pins + strobes)
    };
    let bus = definition.burst.0 as f64 * system.clock().t_ck_ns();
    let idle_ranks = f64::from(system.geometry.ranks().min(2) - 1);
    (own * driven * bus, idle_ranks * other * driven * bus)
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
            shut(
                &mut banks[usize::from(bank.bank)],
                at + bin.cwl + system.burst().0 + clocks(bin.t_wr),
                clocks(bin.t_ras),
            );
        }
        Command::Read { auto_precharge: AutoPrecharge::No, .. }
        | Command::Write { auto_precharge: AutoPrecharge::No, .. }
        | Command::Transfer { .. }
        | Command::Refresh { .. }
        | Command::RefreshSameBank { .. }
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
