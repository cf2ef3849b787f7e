//! Energy of each command and each clock, for one system and one current set.

use dram_spec::{Cycles, Picojoule, System};

use crate::cause::Cause;
use crate::counts::{Counts, PowerState};
use crate::currents::Currents;
use crate::error::EnergyError;
use crate::pins;
use crate::report::EnergyReport;

/// Dynamic energy of one command (without background), for all chips of the rank together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EventPrices {
    /// One activation, ordinary or copy, including the precharge that follows.
    pub activate: Picojoule,
    /// One read burst, within the chips.
    pub read: Picojoule,
    /// One write burst, within the chips.
    pub write: Picojoule,
    /// One TRANSFER: the mean of `read` and `write`, without I/O.
    pub transfer: Picojoule,
    /// Driving the pins for one read burst.
    pub read_io: Picojoule,
    /// Terminating the pins for one write burst, in the rank written to.
    pub write_io: Picojoule,
    /// Terminating the pins for one read burst in another rank; 0 if the channel has one rank.
    pub idle_rank_read: Picojoule,
    /// Terminating the pins for one write burst in another rank; 0 if the channel has one rank.
    pub idle_rank_write: Picojoule,
    /// One REF, or the refresh that SRE starts.
    pub refresh: Picojoule,
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
        let chips = width.chips() as f64;
        let (read_pins, write_pins) = (pins::read_pins(width), pins::write_pins(width));
        let others = if geometry.ranks() > 1 { 1.0 } else { 0.0 };
        let (read, write) = (currents.read() * chips, currents.write() * chips);
        let clock_of = |ma| Picojoule(currents.raw().vdd_v * ma * clock.ns(Cycles(1)) * chips);
        Ok(Prices {
            set: currents.name().to_owned(),
            events: EventPrices {
                activate: currents.activate() * chips,
                read,
                write,
                transfer: (read + write) * 0.5,
                read_io: pins::burst(pins::READ_DRIVER_MW, read_pins, clock),
                write_io: pins::burst(pins::WRITE_TERMINATION_MW, write_pins, clock),
                idle_rank_read: pins::burst(pins::IDLE_READ_TERMINATION_MW, read_pins, clock) * others,
                idle_rank_write: pins::burst(pins::IDLE_WRITE_TERMINATION_MW, write_pins, clock) * others,
                refresh: currents.refresh() * chips,
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
    pub fn operation(&self, counts: &Counts) -> EnergyReport {
        let price = &self.events;
        let mut report = EnergyReport::empty();
        let mut book = |cause, count: u64, each: Picojoule| report.book(cause, each * count as f64);
        book(Cause::Activate, counts.activates, price.activate);
        book(Cause::CopyActivate, counts.copy_activates, price.activate);
        book(Cause::Read, counts.reads, price.read);
        book(Cause::Write, counts.writes, price.write);
        book(Cause::Transfer, counts.transfers, price.transfer);
        book(Cause::ReadIo, counts.reads, price.read_io);
        book(Cause::WriteIo, counts.writes, price.write_io);
        book(Cause::IdleRankIo, counts.reads, price.idle_rank_read);
        book(Cause::IdleRankIo, counts.writes, price.idle_rank_write);
        report
    }

    /// Energy of the counts: commands, refresh and background.
    ///
    /// # Errors
    ///
    /// If a rank was in a state whose current the set lacks.
    pub fn report(&self, counts: &Counts) -> Result<EnergyReport, EnergyError> {
        let mut report = self.operation(counts);
        report.book(Cause::Refresh, self.events.refresh * (counts.refreshes + counts.self_refreshes) as f64);
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
