//! Energy of the interval that covers the measured regions of all cores.

use std::cell::Cell;
use std::rc::Rc;

use dram_spec::{Channel, CommandCounts, CommandEvent, Cycle, Cycles, EventSink, Picojoule, Queued, RequestId};
use energy::{Account, ByRequest, Counts, EnergyError, EnergyReport};
use host::machine::{Machine, Phase};

use crate::system::MemorySystem;

/// A reading at a boundary of the interval.
#[derive(Debug)]
struct IntervalReading {
    at: Cycle,
    counts: Counts,
    by_core: Vec<CommandCounts>,
}

/// Event sink that counts the commands of the interval, in total and by core, and forwards all
/// events.
///
/// The machine changes the phase between two commands; the reading has the cycle of the second.
pub(crate) struct IntervalMeter<'a> {
    phase: Rc<Cell<Phase>>,
    account: Account,
    by_core: ByRequest,
    cores: u64,
    readings: Vec<IntervalReading>,
    next: Vec<&'a mut dyn EventSink>,
}

/// Measurements of the interval.
pub(crate) struct MeasuredInterval {
    /// Length.
    pub(crate) cycles: Cycles,
    /// Energy with background and refresh; `None` without a current set.
    pub(crate) energy: Option<EnergyReport>,
    /// Dynamic energy of the commands for the requests of each core; `None` without a current set.
    pub(crate) by_core: Vec<Option<EnergyReport>>,
    /// Dynamic energy from the start of the interval to the end of the run; `None` without a current set.
    pub(crate) to_end: Option<Picojoule>,
}

impl<'a> IntervalMeter<'a> {
    /// Starts at cycle 0.
    pub(crate) fn new(
        system: &MemorySystem,
        machine: &Machine,
        cores: usize,
        next: Option<&'a mut dyn EventSink>,
    ) -> IntervalMeter<'a> {
        let cores = cores as u64;
        let mut meter = IntervalMeter {
            phase: machine.phase(),
            account: Account::new(system.system()),
            by_core: ByRequest::in_groups(cores),
            cores,
            readings: Vec::with_capacity(2),
            next: next.into_iter().collect(),
        };
        meter.read(Cycle::ZERO);
        meter
    }

    /// Reads the counts at the boundaries that the machine has passed.
    fn read(&mut self, now: Cycle) {
        while self.readings.len() < self.phase.get() as usize {
            // The background energy up to the boundary is that of a run that ended there.
            let mut ended = self.account.clone();
            ended.finish(now);
            let by_core = (0..self.cores).map(|core| self.by_core.of(RequestId(core))).collect();
            self.readings.push(IntervalReading { at: now, counts: ended.counts(), by_core });
        }
    }

    /// Returns the measurements after a run; none if the regions did not end.
    ///
    /// # Errors
    /// If the current set lacks the current of a state of the ranks.
    pub(crate) fn report(&self, system: &MemorySystem) -> Result<Option<MeasuredInterval>, EnergyError> {
        let [from, to] = &self.readings[..] else { return Ok(None) };
        let prices = system.prices();
        let by_core = to.by_core.iter().zip(&from.by_core);
        let to_end = self.account.counts().since(&from.counts);
        Ok(Some(MeasuredInterval {
            cycles: to.at.since(from.at),
            energy: prices.map(|prices| prices.report(&to.counts.since(&from.counts))).transpose()?,
            by_core: by_core.map(|(to, from)| Some(prices?.operation(&to.since(from)))).collect(),
            to_end: prices.map(|prices| prices.report(&to_end)).transpose()?.map(|energy| energy.operation()),
        }))
    }
}

impl EventSink for IntervalMeter<'_> {
    fn command(&mut self, event: &CommandEvent) {
        self.read(event.at);
        self.account.command(event);
        self.by_core.command(event);
        self.next.command(event);
    }

    fn wants_queues(&self) -> bool {
        self.next.wants_queues()
    }

    fn queued(&mut self, at: Cycle, channel: Channel, queued: Queued) {
        self.next.queued(at, channel, queued);
    }

    fn reached(&mut self, at: Cycle) {
        self.read(at);
        self.next.reached(at);
    }

    fn finish(&mut self, end: Cycle) {
        self.read(end);
        self.account.finish(end);
        self.next.finish(end);
    }
}

#[cfg(test)]
mod tests {
    use dram_spec::{BankId, Command, CommandKind, Effect, Row};

    use super::*;
    use crate::SystemBuilder;

    /// The regions begin at clock 100 and end at 350: the ACT at 100 and later count, that at 350 does
    /// not. Request 2 is of core 0, and request 3 of core 1.
    #[test]
    fn an_interval_lasts_from_the_first_phase_to_the_last() {
        let system = SystemBuilder::default().channels(1).build().unwrap();
        let phase = Rc::new(Cell::new(Phase::WarmUp));
        let mut meter = IntervalMeter {
            phase: Rc::clone(&phase),
            account: Account::new(system.system()),
            by_core: ByRequest::in_groups(2),
            cores: 2,
            readings: Vec::new(),
            next: Vec::new(),
        };
        let mut activate = |at, phase_now, bank, request| {
            phase.set(phase_now);
            let command = Command::Activate { bank: BankId { rank: 0, bank }, row: Row(1) };
            let event = CommandEvent::new(Cycle(at), Channel(0), command, Effect::Plain);
            meter.command(&CommandEvent { cause: dram_spec::IssueCause::Read(RequestId(request)), ..event });
        };
        activate(50, Phase::WarmUp, 0, 2);
        activate(100, Phase::Measured, 1, 2);
        activate(200, Phase::Measured, 2, 3);
        activate(300, Phase::Measured, 3, 3);
        activate(350, Phase::Over, 4, 2);
        meter.finish(Cycle(400));
        let measured = meter.report(&system).unwrap().unwrap();
        let activation = system.prices().unwrap().events().total(CommandKind::Activate).0;
        assert_eq!(measured.cycles, Cycles(250));
        let of = |report: &Option<EnergyReport>| report.as_ref().unwrap().of(energy::Cause::Activate).0 / activation;
        assert!((of(&measured.energy) - 3.0).abs() < 1e-9);
        for (found, expected) in measured.by_core.iter().map(of).zip([1.0, 2.0]) {
            assert!((found - expected).abs() < 1e-9, "{found}");
        }
        assert_eq!(measured.by_core.len(), 2);
    }
}
