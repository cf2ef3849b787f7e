//! Arrivals of trace records, in memory clocks.

use dram_spec::{Clock, Cycle, Cycles, Min};
use trace_io::trace::Arrival;

use super::error::ReplayError;
use super::settings::Timing;

/// Latest arrival. 2^52 clocks are 65 days at DDR3-1600; up to this value, a quotient of counts is
/// exact to half a clock.
const LATEST: Cycle = Cycle(1 << 52);

/// State of the arrivals of a trace: the position of the recorded CPU, or the time of the last
/// record.
///
/// Instructions are summed and divided once, so that rounding errors do not add up: at 3 per clock,
/// 1000 records of 1 instruction take 333 clocks, not 0 and not 1000. Arrivals are rounded to the
/// nearest clock, halves up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrivals {
    clock: Clock,
    timing: Timing,
    /// Arrival of the last record without instructions, or the cycle at which the CPU resumed; and
    /// the instructions executed since.
    since: Cycle,
    instructions: u64,
    /// Latest time given by a record.
    time: Cycle,
    /// End of the last page fault, before which no later record arrives.
    fault_end: Cycle,
    late: LateRecords,
}

/// Records whose time precedes that of an earlier record. They arrive at the latest time before
/// them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LateRecords {
    /// Number.
    pub records: u64,
    /// Largest distance to the latest time before.
    pub jump_max: Cycles,
}

/// Reason why a record has no arrival. The replay adds the line number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoArrival {
    /// More than 2^52 clocks after reset.
    TooLate,
    /// The record counts instructions, but the timing is [`Timing::Recorded`].
    NoRate,
}

impl Arrivals {
    /// Starts at cycle 0.
    pub(super) fn new(clock: Clock, timing: Timing) -> Result<Arrivals, ReplayError> {
        match timing {
            Timing::Instructions(found) if !(found.is_finite() && found > 0.0) => {
                Err(ReplayError::InstructionsPerClock { found })
            }
            _ => Ok(Arrivals {
                clock,
                timing,
                since: Cycle::ZERO,
                instructions: 0,
                time: Cycle::ZERO,
                fault_end: Cycle::ZERO,
                late: LateRecords::default(),
            }),
        }
    }

    /// Arrival of a record under this timing.
    #[inline]
    pub(super) const fn of(&self, recorded: Arrival) -> Arrival {
        match self.timing {
            Timing::Recorded | Timing::Instructions(_) => recorded,
            Timing::BackToBack | Timing::Window(_) => Arrival::WhenTaken,
        }
    }

    /// Whether a record has had a time after reset.
    pub(super) fn has_times(&self) -> bool {
        self.time > Cycle::ZERO
    }

    /// Advances to a record.
    #[inline]
    pub(super) fn advance(&mut self, arrival: Arrival) -> Result<(), NoArrival> {
        match arrival {
            Arrival::WhenTaken => {}
            Arrival::AfterInstructions(instructions) => match self.timing {
                Timing::Instructions(_) => self.execute(instructions),
                _ => return Err(NoArrival::NoRate),
            },
            Arrival::AtCycle(at) => self.advance_to(at),
            Arrival::AfterCycles(cycles) => self.advance_to(Cycle(self.time.0.saturating_add(cycles.0))),
            Arrival::AtPicoseconds(ps) => self.advance_to(Cycle::ZERO + self.clock.at_least(Min::ps(ps))),
        }
        Ok(())
    }

    fn advance_to(&mut self, at: Cycle) {
        if at < self.time {
            self.late.records += 1;
            self.late.jump_max = self.late.jump_max.max(self.time.since(at));
        }
        self.time = self.time.max(at);
        self.resume(self.time.max(self.fault_end));
    }

    /// Spends the time of a page fault, which the CPU begins at the current arrival.
    pub(super) fn fault(&mut self, time: Cycles) {
        self.since = Cycle(self.since.0.saturating_add(time.0));
        self.fault_end = self.since;
    }

    /// Late records so far.
    pub(super) const fn late(&self) -> LateRecords {
        self.late
    }

    /// Arrival of the current record.
    #[inline]
    pub(super) fn now(&self) -> Result<Cycle, NoArrival> {
        match self.timing {
            Timing::Instructions(rate) => self.now_by_instructions(rate),
            _ if self.since > LATEST => Err(NoArrival::TooLate),
            _ => Ok(self.since),
        }
    }

    #[inline(never)]
    fn now_by_instructions(&self, rate: f64) -> Result<Cycle, NoArrival> {
        let clocks = (self.instructions as f64 / rate).round();
        if clocks > LATEST.0 as f64 || self.since > LATEST {
            return Err(NoArrival::TooLate);
        }
        #[expect(clippy::cast_sign_loss, reason = "neither count is below 0")]
        let now = self.since + Cycles(clocks as u64);
        if now > LATEST { Err(NoArrival::TooLate) } else { Ok(now) }
    }

    /// Adds executed instructions.
    pub(super) const fn execute(&mut self, instructions: u64) {
        self.instructions = self.instructions.saturating_add(instructions);
    }

    /// Resumes after a copy, or after a record that was taken at this cycle.
    pub(super) const fn resume(&mut self, at: Cycle) {
        self.since = at;
        self.instructions = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(rate: f64) -> Arrivals {
        Arrivals::new(Clock::DDR3_1066, Timing::Instructions(rate)).unwrap()
    }

    fn arrivals(rate: f64, instructions: &[u64]) -> Vec<u64> {
        let mut arrivals = recorded(rate);
        let mut at = |&instructions: &u64| {
            arrivals.advance(Arrival::AfterInstructions(instructions)).unwrap();
            arrivals.now().unwrap().0
        };
        instructions.iter().map(&mut at).collect()
    }

    #[test]
    fn fractions_of_a_clock_add_up() {
        assert_eq!(arrivals(4.0, &[4, 1, 1, 1, 1, 7]), [1, 1, 2, 2, 2, 4]);
        assert_eq!(arrivals(0.3, &[3, 3, 1]), [10, 20, 23]);
        assert_eq!(arrivals(3.0, &[1; 1000])[999], 333);
        // 0.1 is no binary fraction; a sum of 10 million quotients would be off by then.
        let mut arrivals = recorded(0.1);
        (0..10_000_000).for_each(|_| arrivals.execute(7));
        assert_eq!(arrivals.now(), Ok(Cycle(700_000_000)));
    }

    #[test]
    fn resuming_discards_the_fraction_of_a_clock() {
        let mut arrivals = recorded(4.0);
        arrivals.execute(5);
        arrivals.resume(Cycle(100));
        arrivals.execute(5);
        assert_eq!(arrivals.now(), Ok(Cycle(101)));
    }

    /// DDR3-1066: 15,000 ps are 8 clocks.
    #[test]
    fn times_are_the_first_clock_at_or_after_them() {
        let mut arrivals = Arrivals::new(Clock::DDR3_1066, Timing::Recorded).unwrap();
        for (time, clock) in [
            (Arrival::AtPicoseconds(15_000), 8),
            (Arrival::AtPicoseconds(15_001), 9),
            (Arrival::AtCycle(Cycle(9)), 9),
            (Arrival::WhenTaken, 9),
            (Arrival::AfterCycles(Cycles(3)), 12),
            (Arrival::AtPicoseconds(1_152_921_504_606_840), 614_891_469_124),
        ] {
            arrivals.advance(time).unwrap();
            assert_eq!(arrivals.now(), Ok(Cycle(clock)), "{time:?}");
        }
        // Late records arrive at the latest time before them.
        for at in [614_891_469_120, 7, 614_891_469_123] {
            arrivals.advance(Arrival::AtCycle(Cycle(at))).unwrap();
            assert_eq!(arrivals.now(), Ok(Cycle(614_891_469_124)));
        }
        arrivals.advance(Arrival::AtCycle(Cycle(614_891_469_124))).unwrap();
        assert_eq!(arrivals.late(), LateRecords { records: 3, jump_max: Cycles(614_891_469_117) });
        for late in [Arrival::AtCycle(Cycle(LATEST.0 + 1)), Arrival::AtPicoseconds(u64::MAX)] {
            arrivals.advance(late).unwrap();
            assert_eq!(arrivals.now(), Err(NoArrival::TooLate));
        }
        assert_eq!(arrivals.advance(Arrival::AfterInstructions(1)), Err(NoArrival::NoRate));
    }

    /// Faults at 10, 12 and 50, of 5 clocks each: they end at 15, 20 and 55, and the record at 52 waits for the last.
    #[test]
    fn faults_follow_one_another_and_delay_later_records() {
        let mut arrivals = Arrivals::new(Clock::DDR3_1066, Timing::Recorded).unwrap();
        for (at, time, arrival) in [(10, 5, 15), (12, 5, 20), (50, 5, 55), (52, 0, 55), (60, 0, 60)] {
            arrivals.advance(Arrival::AtCycle(Cycle(at))).unwrap();
            arrivals.fault(Cycles(time));
            assert_eq!(arrivals.now(), Ok(Cycle(arrival)), "{at}");
        }
        arrivals.fault(Cycles(u64::MAX));
        assert_eq!(arrivals.now(), Err(NoArrival::TooLate));
    }

    #[test]
    fn invalid_rates_and_late_arrivals_are_refused() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Arrivals::new(Clock::DDR3_1066, Timing::Instructions(rate)).is_err(), "{rate}");
        }
        for (rate, instructions) in [(1.0, u64::MAX), (f64::MIN_POSITIVE, 1), (1.0, (1 << 52) + 1)] {
            let mut arrivals = recorded(rate);
            arrivals.execute(instructions);
            assert_eq!(arrivals.now(), Err(NoArrival::TooLate), "{instructions} at {rate}");
        }
    }
}
