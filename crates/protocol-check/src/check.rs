//! The check of one command: the distance to an earlier command, and the violations that follow.

use dram_spec::{
    Channel, CopyActivations, Cycle, Cycles, Dialect, Geometry, Issued, PrechargePowerDown, Refresh, System,
};

use crate::limits::Limits;
use crate::report::Report;
use crate::rule::Rule;
use crate::violation::Violation;

/// The parameters of a run.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) geometry: Geometry,
    pub(crate) dialect: Dialect,
    pub(crate) copy_activations: CopyActivations,
    pub(crate) precharge_power_down: PrechargePowerDown,
    /// Whether `REF-gap` and `REF-postponed` apply.
    pub(crate) refresh: Refresh,
    pub(crate) limits: Limits,
}

impl Setting {
    pub(crate) fn new(system: &System, dialect: Dialect) -> Setting {
        Setting {
            geometry: system.geometry,
            dialect,
            copy_activations: system.copy_activations,
            precharge_power_down: system.precharge_power_down,
            refresh: system.refresh,
            limits: Limits::new(system),
        }
    }
}

/// The check of one command, or of the end of the run, at one instant.
#[derive(Debug)]
pub(crate) struct Check<'a> {
    pub(crate) setting: &'a Setting,
    pub(crate) report: &'a mut Report,
    pub(crate) at: Cycle,
    pub(crate) channel: Channel,
    pub(crate) rank: u8,
    /// None at the end of the run.
    pub(crate) command: Option<&'a Issued>,
}

impl Check<'_> {
    /// Minimum distance: at least the limit of the rule must lie between `earlier` and now.
    ///
    /// A distance to a command at a later instant (the stream is out of order) is not judged.
    #[inline]
    pub(crate) fn minimum(&mut self, rule: Rule, earlier: Option<Issued>) {
        // The distance to a command at a later instant wraps around, and is looked at again.
        if let Some(from) = earlier
            && self.at.0.wrapping_sub(from.at.0) < self.setting.limits.of(rule)
        {
            self.below_minimum(rule, from);
        }
    }

    #[cold]
    fn below_minimum(&mut self, rule: Rule, from: Issued) {
        self.at_least(rule, from, self.setting.limits.of(rule));
    }

    /// Minimum distance of `bound` clocks.
    pub(crate) fn at_least(&mut self, rule: Rule, from: Issued, bound: u64) {
        if let Some(found) = self.at.0.checked_sub(from.at.0).filter(|&found| found < bound) {
            self.violated(rule, Some(from), Some(Cycles(bound)), Some(bound - found));
        }
    }

    /// Maximum distance: at most the limit of the rule may lie between `earlier` and now.
    pub(crate) fn maximum(&mut self, rule: Rule, earlier: Option<Issued>) {
        if let Some(from) = earlier {
            let bound = self.setting.limits.of(rule);
            self.at_most(rule, earlier, self.at.since(from.at).0, bound);
        }
    }

    /// Maximum of a duration `found`, in clocks, which the caller has counted.
    pub(crate) fn at_most(&mut self, rule: Rule, earlier: Option<Issued>, found: u64, bound: u64) {
        if found > bound {
            self.violated(rule, earlier, Some(Cycles(bound)), Some(found - bound));
        }
    }

    /// A violation of a state rule.
    pub(crate) fn state(&mut self, rule: Rule, earlier: Option<Issued>) {
        self.violated(rule, earlier, None, None);
    }

    /// `order`: the previous command of the channel must not be later.
    pub(crate) fn order(&mut self, previous: Option<Issued>) {
        if let Some(before) = previous
            && self.at < before.at
        {
            self.violated(Rule::Order, previous, None, Some(before.at.since(self.at).0));
        }
    }

    /// The latest of several commands, without those at later instants than now.
    pub(crate) fn latest<const N: usize>(&self, commands: [Option<Issued>; N]) -> Option<Issued> {
        commands.into_iter().flatten().filter(|issued| issued.at <= self.at).max_by_key(|issued| issued.at)
    }

    #[cold]
    fn violated(&mut self, rule: Rule, earlier: Option<Issued>, bound: Option<Cycles>, clocks_short: Option<u64>) {
        let Check { at, channel, rank, .. } = *self;
        let command = self.command.copied();
        self.report.add(Violation { rule, at, channel, rank, command, earlier, bound, clocks_short });
    }
}
