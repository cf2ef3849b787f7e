//! Counters of a channel.

use std::ops::AddAssign;

use dram_core::Effect;
use dram_spec::Command;

use super::histogram::Histogram;
use crate::access::RowOutcome;

/// Commands by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommandCounts {
    /// ACT to a closed bank.
    pub activates: u64,
    /// Copy activations.
    pub copy_activates: u64,
    /// Copy activations that the chips dropped.
    pub dropped_activates: u64,
    /// PRE and PREA.
    pub precharges: u64,
    /// RD and RDA.
    pub reads: u64,
    /// WR and WRA.
    pub writes: u64,
    /// TRANSFER.
    pub transfers: u64,
    /// REF.
    pub refreshes: u64,
    /// PDE.
    pub power_downs: u64,
    /// SRE.
    pub self_refreshes: u64,
    /// PDX and SRX.
    pub wake_ups: u64,
}

impl CommandCounts {
    /// Counts a command that had an effect.
    #[inline]
    pub(crate) fn count(&mut self, command: &Command, effect: Effect) {
        let count = match command {
            Command::Activate { .. } => match effect {
                Effect::Plain => &mut self.activates,
                Effect::Copied { .. } => &mut self.copy_activates,
                Effect::Dropped { .. } => &mut self.dropped_activates,
            },
            Command::Precharge { .. } | Command::PrechargeAll { .. } => &mut self.precharges,
            Command::Read { .. } => &mut self.reads,
            Command::Write { .. } => &mut self.writes,
            Command::Transfer { .. } => &mut self.transfers,
            Command::Refresh { .. } => &mut self.refreshes,
            Command::PowerDownEnter { .. } => &mut self.power_downs,
            Command::SelfRefreshEnter { .. } => &mut self.self_refreshes,
            Command::PowerDownExit { .. } | Command::SelfRefreshExit { .. } => &mut self.wake_ups,
        };
        *count += 1;
    }

    /// Counts the column commands of a run.
    pub(crate) fn count_columns(&mut self, command: &Command, lines: u64) {
        *match command {
            Command::Read { .. } => &mut self.reads,
            Command::Write { .. } => &mut self.writes,
            _ => &mut self.transfers,
        } += lines;
    }
}

impl AddAssign for CommandCounts {
    fn add_assign(&mut self, other: CommandCounts) {
        let CommandCounts {
            activates,
            copy_activates,
            dropped_activates,
            precharges,
            reads,
            writes,
            transfers,
            refreshes,
            power_downs,
            self_refreshes,
            wake_ups,
        } = other;
        self.activates += activates;
        self.copy_activates += copy_activates;
        self.dropped_activates += dropped_activates;
        self.precharges += precharges;
        self.reads += reads;
        self.writes += writes;
        self.transfers += transfers;
        self.refreshes += refreshes;
        self.power_downs += power_downs;
        self.self_refreshes += self_refreshes;
        self.wake_ups += wake_ups;
    }
}

/// Row-buffer outcomes of accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

impl AddAssign for Outcomes {
    fn add_assign(&mut self, other: Outcomes) {
        let Outcomes { hits, misses, conflicts } = other;
        self.hits += hits;
        self.misses += misses;
        self.conflicts += conflicts;
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
