//! Counters of a channel.

use dram_spec::CommandCounts;

use super::histogram::Histogram;
use crate::access::RowOutcome;

/// Row-buffer outcomes of accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, derive_more::AddAssign)]
pub struct Outcomes {
    /// Row hits: neither ACT nor PRE was issued for the access.
    pub hits: u64,
    /// Row misses: an ACT was issued, and no PRE.
    pub misses: u64,
    /// Row conflicts: a PRE was issued.
    pub conflicts: u64,
}

impl Outcomes {
    /// Counts an access.
    #[inline]
    pub(crate) fn count(&mut self, outcome: RowOutcome) {
        *match outcome {
            RowOutcome::Hit => &mut self.hits,
            RowOutcome::Miss => &mut self.misses,
            RowOutcome::Conflict => &mut self.conflicts,
        } += 1;
    }

    /// Number of accesses.
    pub const fn total(&self) -> u64 {
        self.hits + self.misses + self.conflicts
    }
}

/// Counts of a channel in the present epoch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counters {
    pub(crate) commands: CommandCounts,
    pub(crate) reads: Outcomes,
    pub(crate) writes: Outcomes,
    pub(crate) blocked_by_copies: Histogram,
    /// ACTs of accesses whose row was closed unused.
    pub(crate) unused_activates: u64,
}

#[cfg(test)]
mod tests;
