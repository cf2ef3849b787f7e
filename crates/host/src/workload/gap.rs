//! The time between two arrivals.

use dram_spec::{Clock, Cycles, Min};

/// Parts per cycle. tCK is 15,000 ps / k with an integer k, so every time in ps is a whole number
/// of parts.
const PARTS_PER_CYCLE: u64 = 15_000;

/// Time between two arrivals. With 0, each request arrives when it is accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    parts: u64,
}

impl Gap {
    /// No gap: each request arrives when it is accepted.
    pub const ZERO: Gap = Gap { parts: 0 };

    /// Longest gap of a workload: 2^40 cycles, about 23 minutes at DDR3-1600.
    pub const CYCLES_MAX: u64 = 1 << 40;

    /// Creates a gap from a time in ps. DDR3-1866: 10,000 ps are 9 1/3 cycles, and requests arrive
    /// at cycles 0, 10, 19, 28, 38.
    pub fn of_ps(ps: u64, clock: Clock) -> Gap {
        Gap { parts: ps.saturating_mul(clock.at_least(Min::ps(PARTS_PER_CYCLE)).0) }
    }

    /// The gap in cycles, rounded up.
    pub(super) const fn cycles(self) -> u64 {
        self.parts.div_ceil(PARTS_PER_CYCLE)
    }

    /// Whether requests arrive when they are accepted.
    pub(super) const fn is_zero(self) -> bool {
        self.parts == 0
    }
}

impl From<Cycles> for Gap {
    fn from(cycles: Cycles) -> Gap {
        Gap { parts: cycles.0.saturating_mul(PARTS_PER_CYCLE) }
    }
}

/// Gaps rounded to cycles. Each arrival is rounded up to a cycle; the mean gap is exact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gaps {
    gap: Gap,
    /// Rounding of the last arrival in parts: less than a cycle.
    ahead: u64,
}

impl Gaps {
    pub(super) const fn new(gap: Gap) -> Gaps {
        Gaps { gap, ahead: 0 }
    }

    pub(super) const fn are_zero(&self) -> bool {
        self.gap.is_zero()
    }

    /// Cycles from an arrival to the next.
    #[inline]
    pub(super) fn next(&mut self) -> Cycles {
        let cycles = self.gap.parts.saturating_sub(self.ahead).div_ceil(PARTS_PER_CYCLE);
        self.ahead = self.ahead + cycles * PARTS_PER_CYCLE - self.gap.parts;
        Cycles(cycles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(gap: Gap) -> [u64; 5] {
        let mut gaps = Gaps::new(gap);
        let mut at = 0;
        [0; 5].map(|_| {
            let arrival = at;
            at += gaps.next().0;
            arrival
        })
    }

    #[test]
    fn fractions_of_a_cycle_add_up() {
        assert_eq!(arrivals(Cycles(7).into()), [0, 7, 14, 21, 28]);
        assert_eq!(arrivals(Gap::of_ps(10_000, Clock::DDR3_1866)), [0, 10, 19, 28, 38]);
        assert_eq!(arrivals(Gap::of_ps(1_875, Clock::DDR3_1066)), [0, 1, 2, 3, 4]);
        assert_eq!(arrivals(Gap::of_ps(1_876, Clock::DDR3_1066)), [0, 2, 3, 4, 5]);
        assert_eq!(arrivals(Gap::of_ps(500, Clock::DDR3_1600)), [0, 1, 1, 2, 2], "above one request per cycle");
        assert_eq!(arrivals(Gap::ZERO), [0; 5]);
    }

    /// 12.345 ns in a million gaps: 12.345 ms, to a clock, at each speed.
    #[test]
    fn the_offered_load_is_that_of_every_clock() {
        for (clock, cycles) in
            [(Clock::DDR3_800, 4_938_000), (Clock::DDR3_1333, 8_230_000), (Clock::DDR3_2133, 13_168_000)]
        {
            let mut gaps = Gaps::new(Gap::of_ps(12_345, clock));
            let sum: u64 = (0..1_000_000).map(|_| gaps.next().0).sum();
            assert_eq!(sum, cycles, "{clock:?}");
        }
    }
}
