//! An energy account that is read where a run's figures begin, and where each epoch does.

use std::collections::BTreeMap;

use dram_spec::{Channel, Command, CommandSink, Cycle, Cycles, System};
use energy::{Account, Counts, EnergyError, EnergyReport, Prices};
use memctrl::Stats;

/// An account, and its readings at the boundaries of a run's figures.
pub struct Metered {
    account: Account,
    /// The next boundary; none where no more are wanted.
    next: Option<Cycle>,
    epoch: Option<Cycles>,
    readings: BTreeMap<Cycle, Counts>,
}

/// The energy of a run, and of its epochs.
pub struct MeteredEnergy {
    /// From where the figures begin to the end.
    pub whole: EnergyReport,
    /// Of each epoch.
    pub epochs: Vec<EnergyReport>,
}

impl Metered {
    /// An account of a system at cycle 0, read at `warm_up`, and each `epoch` cycles after it.
    pub fn new(system: &System, warm_up: Cycles, epoch: Option<Cycles>) -> Metered {
        Metered { account: Account::new(system), next: Some(Cycle::ZERO + warm_up), epoch, readings: BTreeMap::new() }
    }

    /// The energy of what `stats` counted.
    ///
    /// # Errors
    /// The stream cannot be priced, or a rank was in a state whose current the set does not have.
    pub fn report(&self, prices: &Prices, stats: &Stats) -> Result<MeteredEnergy, EnergyError> {
        self.account.report(prices)?;
        let starts = stats.epochs.iter().map(|epoch| self.at(epoch.from));
        // An epoch ends where the next one begins; the last one with the run.
        let ends = stats.epochs.iter().skip(1).map(|epoch| self.at(epoch.from)).chain([self.account.counts()]);
        let epochs = starts.zip(ends).map(|(from, to)| prices.report(&to.since(&from))).collect::<Result<_, _>>()?;
        Ok(MeteredEnergy { whole: prices.report(&self.account.counts().since(&self.at(stats.from)))?, epochs })
    }

    /// What had been done before a cycle that figures begin at.
    fn at(&self, cycle: Cycle) -> Counts {
        match self.readings.get(&cycle) {
            Some(reading) => *reading,
            // The run was over before the warm-up was.
            None => self.account.counts(),
        }
    }

    /// Reads the account at all boundaries up to `now`. A command at a boundary comes after it.
    fn read_to(&mut self, now: Cycle) {
        while let Some(boundary) = self.next.filter(|&boundary| boundary <= now) {
            // A run that ended here would have its idle clocks counted up to here.
            let mut ended = self.account.clone();
            ended.finish(boundary);
            self.readings.insert(boundary, ended.counts());
            self.next = self.epoch.map(|epoch| boundary + epoch);
        }
    }
}

impl CommandSink for Metered {
    fn push(&mut self, at: Cycle, channel: Channel, command: &Command) {
        if self.next.is_some_and(|boundary| boundary <= at) {
            self.read_to(at);
        }
        self.account.push(at, channel, command);
    }

    fn finish(&mut self, end: Cycle) {
        self.read_to(end);
        self.account.finish(end);
    }
}

#[cfg(test)]
mod tests {
    use dram_spec::{AutoPrecharge, BankId, Column, Row};
    use energy::PowerState::{ActiveStandby, PrechargedStandby};
    use memctrl::{Epoch, Figures};

    use super::*;
    use crate::input::{Overrides, SystemConfig};

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

    /// ACT at 10, RD at 30, PRE at 60; 100 clocks; counted from 20, by epochs of 25 clocks.
    fn play(warm_up: u64, epoch: Option<u64>) -> (Metered, Prices) {
        let config = SystemConfig::paper(&Overrides::default()).unwrap();
        let mut metered = Metered::new(&config.system, Cycles(warm_up), epoch.map(Cycles));
        let read = Command::Read { bank: BANK, column: Column(0), auto_precharge: AutoPrecharge::No };
        for (at, command) in
            [(10, Command::Activate { bank: BANK, row: Row(1) }), (30, read), (60, Command::Precharge { bank: BANK })]
        {
            metered.push(Cycle(at), Channel(0), &command);
        }
        metered.finish(Cycle(100));
        (metered, Prices::new(&config.system, &config.currents).unwrap())
    }

    #[test]
    fn epochs_and_the_warm_up_make_up_the_whole() {
        let (metered, prices) = play(20, Some(25));
        let stats = stats(20, &[20, 45, 70, 95], 100);
        let energy = metered.report(&prices, &stats).unwrap();
        let all = play(0, None).0.account.report(&prices).unwrap().total().0;
        // 20 clocks of two ranks, one of which has had its bank open for 10; and the activation.
        let standby = |state| prices.clock(state).unwrap().0;
        let before = 30.0 * standby(PrechargedStandby) + 10.0 * standby(ActiveStandby) + prices.events().activate.0;
        assert!((energy.whole.total().0 + before - all).abs() < 1e-6 * all);
        let epochs: f64 = energy.epochs.iter().map(|epoch| epoch.total().0).sum();
        assert!((epochs - energy.whole.total().0).abs() < 1e-6 * all);
        // The read is in the first epoch, which has 25 clocks of both states; the last one has 5 clocks of two closed ranks.
        let first = 25.0 * (standby(PrechargedStandby) + standby(ActiveStandby));
        let read = prices.events().read.0 + prices.events().read_io.0;
        assert!((energy.epochs[0].total().0 - first - read).abs() < 1e-6 * all);
        assert!((energy.epochs[3].total().0 - 10.0 * standby(PrechargedStandby)).abs() < 1e-6 * all);
    }

    #[test]
    fn a_run_shorter_than_its_warm_up_has_no_energy() {
        let (metered, prices) = play(1000, Some(10));
        let energy = metered.report(&prices, &stats(100, &[], 100)).unwrap();
        assert!(energy.whole.total().0 < 1e-9 && energy.epochs.is_empty());
    }

    #[test]
    fn a_command_at_a_boundary_comes_after_it() {
        let (metered, prices) = play(10, None);
        let energy = metered.report(&prices, &stats(10, &[], 100)).unwrap();
        assert!(energy.whole.of(energy::Cause::Activate).0 > 0.0);
        let (metered, prices) = play(11, None);
        let energy = metered.report(&prices, &stats(11, &[], 100)).unwrap();
        assert!(energy.whole.of(energy::Cause::Activate).0 < 1.0);
    }
}
