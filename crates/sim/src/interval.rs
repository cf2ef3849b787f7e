//! Energy of the interval that covers the measured regions of all cores.

use std::cell::Cell;
use std::rc::Rc;

use dram_spec::{Channel, CommandEvent, Cycle, Cycles, EventSink, Queued, RequestId};
use energy::{Account, ByRequest, Counts, EnergyError, EnergyReport};
use host::machine::{Machine, Phase};

use crate::system::MemorySystem;

/// A reading at a boundary of the interval.
#[derive(Debug)]
struct Reading {
    at: Cycle,
    counts: Counts,
    by_core: Vec<Counts>,
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
    readings: Vec<Reading>,
    next: Option<&'a mut dyn EventSink>,
}

/// Measurements of the interval.
pub(crate) struct MeasuredInterval {
    /// Length.
    pub(crate) cycles: Cycles,
    /// Energy with background and refresh.
    pub(crate) energy: EnergyReport,
    /// Dynamic energy of the commands for the requests of each core.
    pub(crate) by_core: Vec<EnergyReport>,
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
            by_core: ByRequest::in_groups(system.system().geometry, cores),
            cores,
            readings: Vec::with_capacity(2),
            next,
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
            self.readings.push(Reading { at: now, counts: ended.counts(), by_core });
        }
    }

    /// Returns the measurements after a run; none if the regions did not end.
    ///
    /// # Errors
    /// If the current set lacks the current of a state of the ranks.
    pub(crate) fn report(&self, system: &MemorySystem) -> Result<Option<MeasuredInterval>, EnergyError> {
        let [from, to] = &self.readings[..] else { return Ok(None) };
        let by_core = to.by_core.iter().zip(&from.by_core);
        Ok(Some(MeasuredInterval {
            cycles: to.at.since(from.at),
            energy: system.prices().report(&to.counts.since(&from.counts))?,
            by_core: by_core.map(|(to, from)| system.prices().operation(&to.since(from))).collect(),
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

    fn finish(&mut self, end: Cycle) {
        self.read(end);
        self.account.finish(end);
        self.next.finish(end);
    }
}
