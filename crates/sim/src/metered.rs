//! Energy and bus use of the measurement intervals of a run.

use std::collections::BTreeMap;

use dram_spec::{ColumnRun, CommandEvent, Cycle, Cycles, EventSink, System};
use energy::{Account, Counts, EnergyError, EnergyReport, Prices};
use memctrl::stats::Stats;

use crate::buses::{BusUse, Buses};

/// Meters of energy and bus use, and their readings at the boundaries of the intervals.
pub struct Metered {
    account: Account,
    buses: Buses,
    /// The next boundary, if any.
    next: Option<Cycle>,
    epoch: Option<Cycles>,
    readings: BTreeMap<Cycle, MeterReading>,
    /// Reading at the end of the run.
    last: MeterReading,
}

/// Reading of the meters.
#[derive(Clone, Copy, Default)]
struct MeterReading {
    counts: Counts,
    buses: BusUse,
}

/// Energy and bus use of an interval.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Energy; `None` without a current set.
    pub energy: Option<EnergyReport>,
    /// Bus use.
    pub buses: BusUse,
}

/// Measurements of an empty interval.
impl Default for Measured {
    fn default() -> Measured {
        Measured { energy: Some(EnergyReport::empty()), buses: BusUse::default() }
    }
}

/// Measurements of a run and of its epochs.
#[derive(Clone, Debug, Default)]
pub struct Measurements {
    /// From the end of the warm-up to the end of the run.
    pub whole: Measured,
    /// Each epoch.
    pub epochs: Vec<Measured>,
}

impl Metered {
    /// Creates the meters of a system at cycle 0, read at `warm_up` and then every `epoch` cycles.
    pub fn new(system: &System, warm_up: Cycles, epoch: Option<Cycles>) -> Metered {
        Metered {
            account: Account::new(system),
            buses: Buses::new(system),
            next: Some(Cycle::ZERO + warm_up),
            epoch,
            readings: BTreeMap::new(),
            last: MeterReading::default(),
        }
    }

    /// Returns energy and bus use of the intervals of `stats`; without prices, bus use alone.
    ///
    /// # Errors
    /// If the energy of the stream cannot be computed, or a rank was in a state whose current the
    /// set lacks.
    pub fn report(&self, prices: Option<&Prices>, stats: &Stats) -> Result<Measurements, EnergyError> {
        match prices {
            Some(prices) => self.account.report(prices).map(drop)?,
            None => self.account.check()?,
        }
        let measured = |from: MeterReading, to: MeterReading| -> Result<Measured, EnergyError> {
            let energy = prices.map(|prices| prices.report(&to.counts.since(&from.counts))).transpose()?;
            Ok(Measured { energy, buses: to.buses - from.buses })
        };
        let starts = stats.epochs.iter().map(|epoch| self.at(epoch.from));
        // An epoch ends where the next begins; the last one ends with the run.
        let ends = stats.epochs.iter().skip(1).map(|epoch| self.at(epoch.from)).chain([self.last]);
        let epochs = starts.zip(ends).map(|(from, to)| measured(from, to)).collect::<Result<_, _>>()?;
        Ok(Measurements { whole: measured(self.at(stats.from), self.last)?, epochs })
    }

    /// The reading at a boundary; the last one if the run ended before its warm-up.
    fn at(&self, cycle: Cycle) -> MeterReading {
        self.readings.get(&cycle).copied().unwrap_or(self.last)
    }

    /// Reads the meters at all boundaries up to `now`. A command at a boundary belongs to the
    /// interval after it.
    fn read_to(&mut self, now: Cycle) {
        while let Some(boundary) = self.next.filter(|&boundary| boundary <= now) {
            // The background energy up to the boundary is that of a run that ended there.
            let mut ended = self.account.clone();
            ended.finish(boundary);
            let reading = MeterReading { counts: ended.counts(), buses: self.buses.used_before(boundary) };
            self.readings.insert(boundary, reading);
            self.next = self.epoch.map(|epoch| boundary + epoch);
        }
    }
}

impl EventSink for Metered {
    // Where the kind of the command is known, little of this is left.
    #[inline(always)]
    fn command(&mut self, event: &CommandEvent) {
        if self.next.is_some_and(|boundary| boundary <= event.at) {
            self.read_to(event.at);
        }
        self.account.command(event);
        self.buses.push(event.at, event.channel, event.kind());
    }

    fn run(&mut self, run: &ColumnRun) {
        if self.next.is_some_and(|boundary| boundary <= run.last()) {
            run.events().for_each(|event| self.command(&event));
            return;
        }
        self.account.run(run);
        self.buses.run(run);
    }

    /// No command after the end of an epoch is issued before all those before it.
    fn wants_order(&self) -> bool {
        false
    }

    fn finish(&mut self, end: Cycle) {
        self.read_to(end);
        self.account.finish(end);
        self.last = MeterReading { counts: self.account.counts(), buses: self.buses.used_before(end) };
    }
}

#[cfg(test)]
mod tests {
    use dram_spec::{AutoPrecharge, BankId, Channel, Column, Command, CommandKind, Effect, Row};
    use energy::PowerState::{ActiveStandby, PrechargedStandby};
    use memctrl::stats::{Epoch, Figures};

    use super::*;
    use crate::SystemBuilder;

    const BANK: BankId = BankId { rank: 0, bank: 0 };

    fn stats(from: u64, boundaries: &[u64], end: u64) -> Stats {
        let ends = boundaries.iter().skip(1).copied().chain([end + 1]);
        let epochs = boundaries.iter().zip(ends).map(|(&from, to)| Epoch {
            from: Cycle(from),
            to: Cycle(to),
            figures: Figures::default(),
        });
        Stats { from: Cycle(from), end: Cycle(end), epochs: epochs.collect(), ..Stats::default() }
    }

    /// ACT at 10, RD at 30, PRE at 60; 100 clocks; counted from 20, in epochs of 25 clocks.
    fn play(warm_up: u64, epoch: Option<u64>) -> (Metered, Prices) {
        let config = SystemBuilder::default().build().unwrap();
        let mut metered = Metered::new(config.system(), Cycles(warm_up), epoch.map(Cycles));
        let read = Command::Read { bank: BANK, column: Column(0), auto_precharge: AutoPrecharge::No };
        for (at, command) in
            [(10, Command::Activate { bank: BANK, row: Row(1) }), (30, read), (60, Command::Precharge { bank: BANK })]
        {
            metered.command(&CommandEvent::new(Cycle(at), Channel(0), command, Effect::Plain));
        }
        metered.finish(Cycle(100));
        (metered, config.prices().unwrap().clone())
    }

    #[test]
    fn epochs_and_the_warm_up_make_up_the_whole() {
        let (metered, prices) = play(20, Some(25));
        let stats = stats(20, &[20, 45, 70, 95], 100);
        let energy = metered.report(Some(&prices), &stats).unwrap();
        let all = play(0, None).0.account.report(&prices).unwrap().total().0;
        // 20 clocks of two ranks, one of which had a bank open for 10; and the activation.
        let standby = |state| prices.clock(state).unwrap().0;
        let before = 30.0 * standby(PrechargedStandby)
            + 10.0 * standby(ActiveStandby)
            + prices.events().total(CommandKind::Activate).0;
        assert!((energy.whole.energy.as_ref().unwrap().total().0 + before - all).abs() < 1e-6 * all);
        let epochs: f64 = energy.epochs.iter().map(|epoch| epoch.energy.as_ref().unwrap().total().0).sum();
        assert!((epochs - energy.whole.energy.as_ref().unwrap().total().0).abs() < 1e-6 * all);
        // The read is in the first epoch, which has 25 clocks of both states; the last epoch has 5
        // clocks of two ranks with closed banks.
        let first = 25.0 * (standby(PrechargedStandby) + standby(ActiveStandby));
        let read = prices.events().total(CommandKind::Read).0;
        assert!((energy.epochs[0].energy.as_ref().unwrap().total().0 - first - read).abs() < 1e-6 * all);
        assert!(
            (energy.epochs[3].energy.as_ref().unwrap().total().0 - 10.0 * standby(PrechargedStandby)).abs()
                < 1e-6 * all
        );
    }

    #[test]
    fn a_run_shorter_than_its_warm_up_has_no_energy() {
        let (metered, prices) = play(1000, Some(10));
        let energy = metered.report(Some(&prices), &stats(100, &[], 100)).unwrap();
        assert!(energy.whole.energy.as_ref().unwrap().total().0 < 1e-9 && energy.epochs.is_empty());
    }

    #[test]
    fn a_command_at_a_boundary_comes_after_it() {
        let (metered, prices) = play(10, None);
        let energy = metered.report(Some(&prices), &stats(10, &[], 100)).unwrap();
        assert!(energy.whole.energy.as_ref().unwrap().of(energy::Cause::Activate).0 > 0.0);
        let (metered, prices) = play(11, None);
        let energy = metered.report(Some(&prices), &stats(11, &[], 100)).unwrap();
        assert!(energy.whole.energy.as_ref().unwrap().of(energy::Cause::Activate).0 < 1.0);
    }

    /// DDR3-1066G: the data of the RD at 30 are on the bus from 38 to 42.
    #[test]
    fn a_burst_across_a_boundary_counts_on_both_sides() {
        for (boundary, before, after) in [(38, 0, 4), (39, 1, 3), (41, 3, 1), (42, 4, 0)] {
            let (metered, prices) = play(0, Some(boundary));
            let measured = metered.report(Some(&prices), &stats(0, &[0, boundary], 100)).unwrap();
            assert_eq!(measured.epochs.iter().map(|epoch| epoch.buses.data.0).collect::<Vec<_>>(), [before, after]);
            assert_eq!(measured.whole.buses, BusUse { command: Cycles(3), data: Cycles(4) });
            let (metered, prices) = play(boundary, None);
            let measured = metered.report(Some(&prices), &stats(boundary, &[], 100)).unwrap();
            assert_eq!(measured.whole.buses.data, Cycles(after), "the warm-up is excluded");
        }
    }
}
