//! The clock of the cores, in an exact ratio to the memory's clock.

use dram_spec::Cycle;

/// An instant on the clock of the cores, counted in core cycles since reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CoreCycle(pub u64);

impl CoreCycle {
    /// After all others.
    pub const NEVER: CoreCycle = CoreCycle(u64::MAX);
}

/// Core cycles per memory clocks, a ratio of integers. 6 to 1 with DDR3-1066 is 3.2 GHz.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockRatio {
    core: u64,
    memory: u64,
}

impl ClockRatio {
    /// Creates the ratio of `core` core cycles to `memory` memory clocks.
    ///
    /// # Panics
    /// If a number is 0 or above 1000.
    pub fn new(core: u64, memory: u64) -> ClockRatio {
        assert!((1..=1000).contains(&core) && (1..=1000).contains(&memory), "{core} to {memory}");
        ClockRatio { core, memory }
    }

    /// Core cycles per memory clock.
    pub fn per_clock(self) -> f64 {
        self.core as f64 / self.memory as f64
    }

    /// The first memory clock at or after a core cycle.
    pub const fn memory_at(self, at: CoreCycle) -> Cycle {
        Cycle((at.0 * self.memory).div_ceil(self.core))
    }

    /// The first core cycle at or after a memory clock.
    pub const fn core_at(self, at: Cycle) -> CoreCycle {
        CoreCycle((at.0 * self.core).div_ceil(self.memory))
    }

    /// The last core cycle whose [`Self::memory_at`] is at most `now`.
    pub const fn core_until(self, now: Cycle) -> CoreCycle {
        CoreCycle(now.0 * self.core / self.memory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_round_up_and_never_precede_their_cause() {
        let six = ClockRatio::new(6, 1);
        assert_eq!((six.memory_at(CoreCycle(12)), six.memory_at(CoreCycle(13))), (Cycle(2), Cycle(3)));
        assert_eq!((six.core_at(Cycle(3)), six.core_until(Cycle(3))), (CoreCycle(18), CoreCycle(18)));
        // 2.5 core cycles per clock: clock 1 begins within core cycle 2.
        let half = ClockRatio::new(5, 2);
        assert_eq!((half.core_at(Cycle(1)), half.core_until(Cycle(1))), (CoreCycle(3), CoreCycle(2)));
        for core in 0..100 {
            let at = half.memory_at(CoreCycle(core));
            assert!(half.core_until(at) >= CoreCycle(core), "{core}");
            assert!(at.0 == 0 || half.core_until(Cycle(at.0 - 1)) < CoreCycle(core), "{core}");
        }
    }
}
