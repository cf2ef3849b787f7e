//! Instants, distances, energies, and the exact DDR3 clock.

use std::ops::{Add, AddAssign};

use derive_more::{Add, AddAssign, Display, Mul, Sub};

/// An instant on the command clock, counted in tCK since reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Display)]
pub struct Cycle(pub u64);

/// A distance between instants, in tCK. `Cycle + Cycles` is a `Cycle`; `Cycle + Cycle` does not compile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Add, AddAssign, Sub, Mul, Display)]
pub struct Cycles(pub u64);

impl Cycle {
    /// The first instant after reset.
    pub const ZERO: Cycle = Cycle(0);

    /// Later than any cycle of a run: the time of an event that does not occur.
    pub const NEVER: Cycle = Cycle(u64::MAX);

    /// Distance from `earlier` to `self`; 0 if `earlier` is later.
    #[inline]
    pub const fn since(self, earlier: Cycle) -> Cycles {
        Cycles(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Cycles> for Cycle {
    type Output = Cycle;
    #[inline]
    fn add(self, distance: Cycles) -> Cycle {
        Cycle(self.0 + distance.0)
    }
}

impl AddAssign<Cycles> for Cycle {
    fn add_assign(&mut self, distance: Cycles) {
        self.0 += distance.0;
    }
}

/// Energy. mA x V x ns is pJ, so no formula carries a power of ten.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Add, AddAssign, Mul)]
pub struct Picojoule(pub f64);

impl Picojoule {
    /// Energy in nJ, the unit of reports.
    pub fn nj(self) -> f64 {
        self.0 / 1000.0
    }
}

impl std::iter::Sum for Picojoule {
    fn sum<I: Iterator<Item = Picojoule>>(parts: I) -> Picojoule {
        parts.fold(Picojoule(0.0), |sum, part| sum + part)
    }
}

/// A datasheet minimum: "max(4 nCK, 7.5 ns)" is `Min { ck: 4, ps: 7_500 }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Min {
    /// Minimum in clocks.
    pub ck: u64,
    /// Minimum in picoseconds.
    pub ps: u64,
}

impl Min {
    /// A minimum in clocks.
    pub const fn ck(ck: u64) -> Min {
        Min { ck, ps: 0 }
    }
    /// A minimum in picoseconds.
    pub const fn ps(ps: u64) -> Min {
        Min { ck: 0, ps }
    }
    /// A minimum of "max(clocks, picoseconds)".
    pub const fn max(ck: u64, ps: u64) -> Min {
        Min { ck, ps }
    }
}

/// The clock of a data rate. Each rate of DDR2 to DDR5 is `k` x 133 1/3 MT/s, so tCK is exactly 15 ns / `k`.
///
/// (With tCK rounded to 1071 ps, DDR3-1866 would get tWTR = 8; the standard says 7.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Clock {
    k: u64,
}

impl Clock {
    /// 800 MT/s, tCK 2.5 ns.
    pub const DDR3_800: Clock = Clock { k: 6 };
    /// 1066 MT/s, tCK 1.875 ns.
    pub const DDR3_1066: Clock = Clock { k: 8 };
    /// 1333 MT/s, tCK 1.5 ns.
    pub const DDR3_1333: Clock = Clock { k: 10 };
    /// 1600 MT/s, tCK 1.25 ns.
    pub const DDR3_1600: Clock = Clock { k: 12 };
    /// 1866 MT/s, tCK 15/14 ns.
    pub const DDR3_1866: Clock = Clock { k: 14 };
    /// 2133 MT/s, tCK 0.9375 ns.
    pub const DDR3_2133: Clock = Clock { k: 16 };

    /// The clock of `k` x 133 1/3 MT/s: 18 is 2400 MT/s, tCK 15/18 ns.
    pub const fn of_rate(k: u64) -> Clock {
        Clock { k }
    }

    /// Clocks that cover a *minimum* such as tRCD, rounded up. DDR3-1066, 13.125 ns: 7 cycles. The
    /// maximum of `u64` for more than 2^58 ps, which are three days.
    #[inline]
    pub const fn at_least(&self, min: Min) -> Cycles {
        // Up to this, the product does not overflow.
        let ck = if min.ps > u64::MAX / self.k { u64::MAX } else { (min.ps * self.k).div_ceil(15_000) };
        Cycles(if ck > min.ck { ck } else { min.ck })
    }

    /// Clocks within a *maximum* such as tREFI, rounded down. DDR3-1066, 7.8 us: 4160 cycles.
    pub const fn at_most(&self, ps: u64) -> Cycles {
        Cycles(ps * self.k / 15_000)
    }

    /// Clock period in ns, rounded to a double. DDR3-1066: 1.875.
    pub fn t_ck_ns(&self) -> f64 {
        15.0 / self.k as f64
    }

    /// Distance in ns. DDR3-1066, 48 cycles: 90.0 ns.
    pub fn ns(&self, distance: Cycles) -> f64 {
        (distance.0 * 15) as f64 / self.k as f64
    }

    /// Data rate in the standards' names: 800, 1066, 1333 MT/s. They drop the fraction, but DDR2-667 rounds it up.
    pub const fn mega_transfers(&self) -> u64 {
        if self.k == 5 { 667 } else { self.k * 400 / 3 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_add_and_nanojoules_are_a_thousand_picojoules() {
        let mut cycles = Cycles(3);
        cycles += Cycles(4);
        assert_eq!(cycles, Cycles(7));
        let sum: Picojoule = [Picojoule(1_250.0), Picojoule(1_250.0)].into_iter().sum();
        assert_eq!((sum, sum.nj()), (Picojoule(2_500.0), 2.5));
    }

    #[test]
    fn minimums_round_up_and_maximums_round_down() {
        assert_eq!(Clock::DDR3_1066.at_least(Min::ps(13_125)), Cycles(7), "exact");
        assert_eq!(Clock::DDR3_1066.at_least(Min::ps(13_126)), Cycles(8), "a picosecond more costs a clock");
        assert_eq!(Clock::DDR3_1866.at_least(Min::max(4, 7_500)), Cycles(7), "15/14 ns, not 1.071 ns");
        assert_eq!(Clock::DDR3_1066.at_least(Min::ps(90_001)), Cycles(49));
        assert_eq!(Clock::DDR3_2133.at_least(Min::ps(u64::MAX / 8)), Cycles(u64::MAX), "without overflow");
        assert_eq!(Clock::DDR3_2133.at_least(Min::ps(u64::MAX / 16)), Cycles(u64::MAX / 15_000 + 1));
        assert_eq!(Clock::DDR3_1866.at_most(7_800_000), Cycles(7280));
        assert_eq!(Clock::DDR3_1866.at_most(7_799_999), Cycles(7279));
    }

    #[test]
    fn the_clock_knows_its_data_rate_and_period() {
        let all =
            [Clock::DDR3_800, Clock::DDR3_1066, Clock::DDR3_1333, Clock::DDR3_1600, Clock::DDR3_1866, Clock::DDR3_2133];
        assert_eq!(all.map(|clock| clock.mega_transfers()), [800, 1066, 1333, 1600, 1866, 2133]);
        assert!((Clock::DDR3_1066.ns(Cycles(558)) - 1046.25).abs() < 1e-9);
    }
}
