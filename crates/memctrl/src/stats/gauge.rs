//! Occupancy of a queue over time.

use dram_spec::Cycle;

use super::Depth;

/// Number of entries in use.
///
/// The number of entry-cycles is stored minus the product of level and present cycle: an entry
/// subtracts its first cycle, and adds the cycle after its last. Thus no update is needed while
/// the level does not change.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gauge {
    level: u64,
    /// Modulo 2^64.
    sum: u64,
    most: u64,
}

impl Gauge {
    /// Entries in use.
    #[inline]
    pub(crate) fn level(&self) -> u64 {
        self.level
    }

    /// Records that an entry is taken.
    #[inline]
    pub(crate) fn enter(&mut self, now: Cycle) {
        self.level += 1;
        self.most = self.most.max(self.level);
        self.sum = self.sum.wrapping_sub(now.0);
    }

    /// Records that an entry is free from `after` on.
    #[inline]
    pub(crate) fn leave(&mut self, after: Cycle) {
        self.level -= 1;
        self.sum = self.sum.wrapping_add(after.0);
    }

    /// An entry that is freed in the first cycle of an epoch is not in use in it.
    pub(crate) fn begin_epoch(&mut self) {
        self.most = self.level;
    }

    /// Returns the depth up to `now`, and restarts the count there.
    pub(crate) fn take(&mut self, now: Cycle) -> Depth {
        let up_to_now = self.level.wrapping_mul(now.0);
        let entry_cycles = std::mem::replace(&mut self.sum, 0_u64.wrapping_sub(up_to_now)).wrapping_add(up_to_now);
        Depth { entry_cycles, most: std::mem::replace(&mut self.most, self.level) }
    }
}

#[cfg(test)]
mod tests;
