//! Energy of each command and each clock, for one system and one current set.

use dram_spec::{Burst, ChipEnergy, CommandCounts, CommandKind, Cycles, PerKind, Picojoule, PinPowers, System};

use crate::cause::{Cause, Component};
use crate::counts::{Counts, PowerState};
use crate::currents::{Currents, PerSupply};
use crate::error::EnergyError;
use crate::pins;
use crate::report::EnergyReport;

/// Dynamic energy of one command of each kind (without background), for all chips of the rank
/// together, by component.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EventPrices {
    /// Within the chips. Ordinary and copy activations have one price, which includes the precharge
    /// that follows; a TRANSFER takes the mean of a read burst and a write burst; SRE starts a refresh.
    core: PerKind<Picojoule>,
    /// Driving the pins for one read burst; terminating them for one write burst, in the rank
    /// written to.
    io: PerKind<Picojoule>,
    /// Terminating the pins for one burst in another rank; 0 if the channel has one rank.
    idle_rank: PerKind<Picojoule>,
}

impl EventPrices {
    /// A component of the energy of one command.
    pub fn of(&self, kind: CommandKind, component: Component) -> Picojoule {
        match component {
            Component::Core => self.core[kind],
            Component::Io => self.io[kind],
            Component::IdleRankIo => self.idle_rank[kind],
        }
    }

    /// Dynamic energy of one command: the sum of its components.
    pub fn total(&self, kind: CommandKind) -> Picojoule {
        self.core[kind] + self.io[kind] + self.idle_rank[kind]
    }
}

/// Energy of each command, and of each clock in each state, of one system with one current set.
#[derive(Clone, Debug, PartialEq)]
pub struct Prices {
    set: String,
    rho: f64,
    events: EventPrices,
    has_refresh: bool,
    io_is_modeled: bool,
    /// Energy of one rank per clock, in the order of [`PowerState::ALL`]; in active standby, the part that
    /// does not depend on the number of open banks. `Err` has the name of the missing current.
    clocks: [Result<Picojoule, &'static str>; 6],
    /// Energy of one open bank of a rank per clock of active standby, beside the above.
    open_bank_clock: Picojoule,
}

impl Prices {
    /// Computes the prices of a system whose chips have these currents, under the background model of the
    /// standard.
    ///
    /// # Errors
    ///
    /// The errors of [`Prices::with_background`].
    pub fn new(system: &System, currents: &Currents) -> Result<Prices, EnergyError> {
        Prices::with_background(system, currents, system.standard().definition().background_rho)
    }

    /// Computes the prices of a system whose chips have these currents. `rho` is the share of the
    /// difference between active and precharged standby that does not depend on the number of open banks,
    /// 0 to 1.
    ///
    /// Core energies use the clock of the set's bin; I/O, termination and background that of the
    /// system.
    ///
    /// # Errors
    ///
    /// If the set is for another standard or width than the system's chips, or with this background an
    /// activation would take no energy.
    pub fn with_background(system: &System, currents: &Currents, rho: f64) -> Result<Prices, EnergyError> {
        let (geometry, clock) = (&system.geometry, system.clock());
        check_fit(system, currents)?;
        let activation = currents.activate(rho).vdd;
        if activation.0 <= 0.0 {
            return Err(EnergyError::Background { set: currents.name().to_owned(), rho, activation });
        }
        let chips = geometry.chips() as f64;
        let clock_of = |milliwatts| Picojoule(milliwatts * clock.ns(Cycles(1)) * chips);
        let vdd = currents.raw().vdd_v;
        let state = |state| match (state, currents.of_state(state, system.precharge_power_down)) {
            (_, (current, None)) => Err(current),
            (PowerState::ActiveStandby, _) => Ok(currents.shared_standby_ma(rho)),
            (_, (_, Some(ma))) => Ok(ma),
        };
        let open_bank_ma = (currents.raw().idd3n_ma - currents.shared_standby_ma(rho)) / f64::from(geometry.banks());
        let others = if geometry.ranks() > 1 { 1.0 } else { 0.0 };
        Ok(Prices {
            set: currents.name().to_owned(),
            rho,
            events: EventPrices {
                core: in_chips(system, currents, rho),
                io: bursts(system, 1.0, |powers| (powers.read_driver_mw, powers.write_termination_mw)),
                idle_rank: bursts(system, others, |powers| {
                    (powers.idle_read_termination_mw, powers.idle_write_termination_mw)
                }),
            },
            has_refresh: currents.refresh().is_some(),
            io_is_modeled: system.standard().definition().pin_powers.is_some(),
            clocks: PowerState::ALL.map(|one| state(one).map(|ma| clock_of(vdd * ma + currents.vpp_mw(one)))),
            open_bank_clock: clock_of(vdd * open_bank_ma),
        })
    }

    /// Name of the current set.
    pub fn set(&self) -> &str {
        &self.set
    }

    /// Energy of each command.
    pub const fn events(&self) -> &EventPrices {
        &self.events
    }

    /// Background model: the share of the difference between active and precharged standby that does not
    /// depend on the number of open banks.
    pub const fn background_rho(&self) -> f64 {
        self.rho
    }

    /// Whether the energy of the data pins is computed: whether the standard has powers of its pins.
    pub const fn io_is_modeled(&self) -> bool {
        self.io_is_modeled
    }

    /// Whether the set has the current of a refresh.
    pub const fn has_refresh(&self) -> bool {
        self.has_refresh
    }

    /// Energy of one rank per clock of a state, if the set has its current; in active standby, without
    /// [`Prices::open_bank_clock`].
    pub fn clock(&self, state: PowerState) -> Option<Picojoule> {
        self.clocks[state as usize].ok()
    }

    /// Energy of each open bank per clock of active standby; 0 if `rho` is 1.
    pub const fn open_bank_clock(&self) -> Picojoule {
        self.open_bank_clock
    }

    /// Dynamic energy of these commands; refresh and background are 0. This is the energy of one
    /// copy or zeroing, independent of other activity.
    pub fn operation(&self, commands: &CommandCounts) -> EnergyReport {
        let mut report = EnergyReport::new(self.io_is_modeled);
        for component in Component::ALL {
            for kind in CommandKind::ALL {
                if let Some(cause) = Cause::of(kind, component).filter(|cause| cause.in_operation()) {
                    report.book(cause, self.events.of(kind, component) * commands[kind] as f64);
                }
            }
        }
        report
    }

    /// Energy of the counts: commands, refresh and background.
    ///
    /// # Errors
    ///
    /// If a rank was refreshed, or in a state, and the set lacks the current.
    pub fn report(&self, counts: &Counts) -> Result<EnergyReport, EnergyError> {
        let mut report = self.operation(&counts.commands);
        let kinds = [CommandKind::Refresh, CommandKind::SelfRefreshEnter, CommandKind::RefreshSameBank];
        if !self.has_refresh && kinds.into_iter().any(|kind| counts.commands[kind] > 0) {
            return Err(EnergyError::Refresh { set: self.set.clone() });
        }
        let [(refresh, refreshes), (entry, entries), (same_bank, same_banks)] =
            kinds.map(|kind| (self.events.of(kind, Component::Core), counts.commands[kind]));
        if refresh == entry {
            report.book(Cause::Refresh, refresh * (refreshes + entries) as f64);
        } else {
            report.book(Cause::Refresh, refresh * refreshes as f64 + entry * entries as f64);
        }
        report.book(Cause::Refresh, same_bank * same_banks as f64);
        report.book(Cause::BackgroundActive, self.open_bank_clock * counts.open_bank_clocks.0 as f64);
        for state in PowerState::ALL {
            let clocks = counts.in_state(state);
            if clocks > Cycles(0) {
                let missing = |current| EnergyError::Current { set: self.set.clone(), state, current };
                let clock = self.clocks[state as usize].map_err(missing)?;
                report.book(state.cause(), clock * clocks.0 as f64);
            }
        }
        Ok(report)
    }
}

/// Checks that a set is for the chips of a system.
pub(crate) fn check_fit(system: &System, currents: &Currents) -> Result<(), EnergyError> {
    let (found, wanted) = (currents.width(), system.geometry.width());
    let set = currents.name().to_owned();
    if currents.standard() != system.standard() {
        let (found, wanted) = (currents.standard(), system.standard());
        return Err(EnergyError::Standard { set, found, wanted, width: system.geometry.width() });
    }
    if found != wanted {
        return Err(EnergyError::Width { set, found, wanted });
    }
    Ok(())
}

/// Energy at the pins of some ranks for one burst of a read and of a write; 0 if the standard has no powers.
fn bursts(system: &System, ranks: f64, powers: impl Fn(PinPowers) -> (f64, f64)) -> PerKind<Picojoule> {
    let Some(pin_powers) = system.standard().definition().pin_powers else { return PerKind::default() };
    let (read, write) = powers(pin_powers);
    let burst = |milliwatts, pins| pins::burst(milliwatts, pins, system.clock(), system.burst()) * ranks;
    PerKind::from_fn(|kind| match kind.burst() {
        Some(Burst::Read) => burst(read, pins::read_pins(&system.geometry)),
        Some(Burst::Write) => burst(write, pins::write_pins(&system.geometry)),
        None => Picojoule(0.0),
    })
}

/// Energy of one command of each kind within the chips of a rank.
fn in_chips(system: &System, currents: &Currents, rho: f64) -> PerKind<Picojoule> {
    let chips = system.geometry.chips() as f64;
    let (read, write) = (currents.read() * chips, currents.write() * chips);
    // Without a refresh current, `Prices::report` accepts no refresh.
    let all = |energy: Option<PerSupply>| energy.map_or(Picojoule(0.0), |energy| energy.total() * chips);
    PerKind::from_fn(|kind| match kind.chip_energy() {
        ChipEnergy::Zero => Picojoule(0.0),
        ChipEnergy::Activation | ChipEnergy::CopyActivation => currents.activate(rho).total() * chips,
        ChipEnergy::Read => read,
        ChipEnergy::Write => write,
        ChipEnergy::Transfer => (read + write) * 0.5,
        ChipEnergy::Refresh => all(currents.refresh_in(system.refresh_mode)),
        ChipEnergy::RefreshSameBank => all(currents.refresh_same_bank(system.refresh_mode)),
        ChipEnergy::NormalRefresh => all(currents.refresh()),
        ChipEnergy::Chosen(energy) => energy.of_row(system.geometry.row_bytes()),
    })
}
