//! Energy of each command and each clock, for one system and one current set.

use dram_spec::{CommandCounts, CommandKind, Cycles, PerKind, Picojoule, System};

use crate::cause::{Cause, Component};
use crate::counts::{Counts, PowerState};
use crate::currents::Currents;
use crate::error::EnergyError;
use crate::pins;
use crate::report::EnergyReport;

/// Energy of one hop of a row of 8 KB. Chosen: the slope of the published energies of copies over 1 and
/// 15 hops, (0.17 - 0.09) uJ / 14 (Chang et al., "LISA", HPCA 2016). No current of a datasheet has it.
const HOP_OF_8_KB: Picojoule = Picojoule(5_700.0);

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
    events: EventPrices,
    /// Energy of one rank per clock, in the order of [`PowerState::ALL`].
    clocks: [Option<Picojoule>; 6],
}

impl Prices {
    /// Computes the prices of a system whose chips have these currents.
    ///
    /// Core energies use the clock of the set's bin; I/O, termination and background that of the
    /// system.
    ///
    /// # Errors
    ///
    /// If the set is for another width than the system's chips.
    pub fn new(system: &System, currents: &Currents) -> Result<Prices, EnergyError> {
        let (geometry, clock) = (&system.geometry, system.clock());
        let width = geometry.width();
        if currents.width() != width {
            let set = currents.name().to_owned();
            return Err(EnergyError::Width { set, found: currents.width(), wanted: width });
        }
        let chips = geometry.chips() as f64;
        let (read_pins, write_pins) = (pins::read_pins(geometry), pins::write_pins(geometry));
        let others = if geometry.ranks() > 1 { 1.0 } else { 0.0 };
        let (read, write) = (currents.read() * chips, currents.write() * chips);
        let clock_of = |ma| Picojoule(currents.raw().vdd_v * ma * clock.ns(Cycles(1)) * chips);
        Ok(Prices {
            set: currents.name().to_owned(),
            events: EventPrices {
                core: PerKind::from_fn(|kind| match kind {
                    CommandKind::Activate | CommandKind::CopyActivate => currents.activate() * chips,
                    CommandKind::Read => read,
                    CommandKind::Write => write,
                    CommandKind::Transfer => (read + write) * 0.5,
                    CommandKind::MoveRowBuffer => HOP_OF_8_KB * (geometry.row_bytes() as f64 / 8192.0),
                    CommandKind::Refresh | CommandKind::SelfRefreshEnter => currents.refresh() * chips,
                    CommandKind::RefreshSameBank => {
                        currents.refresh() * (chips / f64::from(geometry.chip().banks_per_group))
                    }
                    CommandKind::DroppedActivate
                    | CommandKind::Precharge
                    | CommandKind::PowerDownEnter
                    | CommandKind::WakeUp => Picojoule(0.0),
                }),
                io: PerKind::default()
                    .with(CommandKind::Read, pins::burst(pins::READ_DRIVER_MW, read_pins, clock, system.burst()))
                    .with(
                        CommandKind::Write,
                        pins::burst(pins::WRITE_TERMINATION_MW, write_pins, clock, system.burst()),
                    ),
                idle_rank: PerKind::default()
                    .with(
                        CommandKind::Read,
                        pins::burst(pins::IDLE_READ_TERMINATION_MW, read_pins, clock, system.burst()) * others,
                    )
                    .with(
                        CommandKind::Write,
                        pins::burst(pins::IDLE_WRITE_TERMINATION_MW, write_pins, clock, system.burst()) * others,
                    ),
            },
            clocks: PowerState::ALL.map(|state| currents.milliamperes(state).map(clock_of)),
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

    /// Energy of one rank per clock of a state, if the set has its current.
    pub const fn clock(&self, state: PowerState) -> Option<Picojoule> {
        self.clocks[state as usize]
    }

    /// Dynamic energy of these commands; refresh and background are 0. This is the energy of one
    /// copy or zeroing, independent of other activity.
    pub fn operation(&self, commands: &CommandCounts) -> EnergyReport {
        let mut report = EnergyReport::empty();
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
    /// If a rank was in a state whose current the set lacks.
    pub fn report(&self, counts: &Counts) -> Result<EnergyReport, EnergyError> {
        let mut report = self.operation(&counts.commands);
        let refreshes = counts.commands[CommandKind::Refresh] + counts.commands[CommandKind::SelfRefreshEnter];
        report.book(Cause::Refresh, self.events.of(CommandKind::Refresh, Component::Core) * refreshes as f64);
        let same_bank = counts.commands[CommandKind::RefreshSameBank] as f64;
        report.book(Cause::Refresh, self.events.of(CommandKind::RefreshSameBank, Component::Core) * same_bank);
        for state in PowerState::ALL {
            let clocks = counts.in_state(state);
            if clocks > Cycles(0) {
                let missing = || EnergyError::Current { set: self.set.clone(), state };
                report.book(state.cause(), self.clock(state).ok_or_else(missing)? * clocks.0 as f64);
            }
        }
        Ok(report)
    }
}
