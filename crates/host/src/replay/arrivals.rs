//! When records arrive: instructions, as clocks of the memory.

use dram_spec::{Cycle, Cycles};

use super::error::ReplayError;

/// The latest arrival. 2^52 clocks are 65 days at DDR3-1600, and up to there a quotient of counts is exact to half a clock.
const LATEST: Cycle = Cycle(1 << 52);

/// The CPU that was recorded, as far as it is known: at which instruction it is, and when.
///
/// Instructions are added up and divided once, so that nothing drifts: 3 a clock make 1000 records of 1 instruction take
/// 333 clocks, not 0 and not 1000. What comes out is the nearest clock (of two as near, the later one).
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrivals {
    instructions_per_clock: f64,
    /// When the CPU last went on after a stop, and how many instructions it has executed since.
    since: Cycle,
    instructions: u64,
}

impl Arrivals {
    /// From cycle 0.
    pub(super) fn new(instructions_per_clock: f64) -> Result<Arrivals, ReplayError> {
        if !(instructions_per_clock.is_finite() && instructions_per_clock > 0.0) {
            return Err(ReplayError::InstructionsPerClock { found: instructions_per_clock });
        }
        Ok(Arrivals { instructions_per_clock, since: Cycle::ZERO, instructions: 0 })
    }

    /// Now, or nothing where that is too late to be simulated.
    pub(super) fn now(&self) -> Option<Cycle> {
        let clocks = (self.instructions as f64 / self.instructions_per_clock).round();
        #[expect(clippy::cast_sign_loss, reason = "neither count is below 0")]
        let clocks = if clocks <= LATEST.0 as f64 { Cycles(clocks as u64) } else { return None };
        Some(self.since + clocks).filter(|&now| now <= LATEST)
    }

    /// Executes instructions.
    pub(super) const fn execute(&mut self, instructions: u64) {
        self.instructions = self.instructions.saturating_add(instructions);
    }

    /// Goes on after a stop.
    pub(super) fn resume(&mut self, at: Cycle) {
        *self = Arrivals { since: at, instructions: 0, ..*self };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(rate: f64, instructions: &[u64]) -> Vec<u64> {
        let mut arrivals = Arrivals::new(rate).unwrap();
        let mut at = |&instructions: &u64| {
            arrivals.execute(instructions);
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
        let mut arrivals = Arrivals::new(0.1).unwrap();
        (0..10_000_000).for_each(|_| arrivals.execute(7));
        assert_eq!(arrivals.now(), Some(Cycle(700_000_000)));
    }

    #[test]
    fn a_stop_leaves_no_fraction_behind() {
        let mut arrivals = Arrivals::new(4.0).unwrap();
        arrivals.execute(5);
        arrivals.resume(Cycle(100));
        arrivals.execute(5);
        assert_eq!(arrivals.now(), Some(Cycle(101)));
    }

    #[test]
    fn what_is_no_rate_or_too_late_is_refused() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Arrivals::new(rate).is_err(), "{rate}");
        }
        for (rate, instructions) in [(1.0, u64::MAX), (f64::MIN_POSITIVE, 1), (1.0, (1 << 52) + 1)] {
            let mut arrivals = Arrivals::new(rate).unwrap();
            arrivals.execute(instructions);
            assert_eq!(arrivals.now(), None, "{instructions} at {rate}");
        }
    }
}
