//! The check of one command: the distance to an earlier command, and the violations that follow.

use dram_spec::{
    Channel, CopyActivations, Cycle, Cycles, Dialect, Geometry, Issued, PrechargePowerDown, Refresh, SlowExit, System,
};

use crate::limits::Limits;
use crate::report::ViolationReport;
use crate::rule::Rule;
use crate::violation::Violation;

/// The parameters of a run.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) geometry: Geometry,
    pub(crate) dialect: Dialect,
    pub(crate) copy_activations: CopyActivations,
    /// The power-down state whose exit is slow, if any.
    pub(crate) slow_exit: Option<SlowExit>,
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
            slow_exit: match system.precharge_power_down {
                PrechargePowerDown::FastExit => None,
                PrechargePowerDown::SlowExit => system.bin.standard.definition().slow_exit,
            },
            refresh: system.refresh,
            limits: Limits::new(system),
        }
    }
}

/// The check of one command, or of the end of the run, at one instant.
#[derive(Debug)]
pub(crate) struct Check<'a> {
    pub(crate) setting: &'a Setting,
    pub(crate) report: &'a mut ViolationReport,
    pub(crate) at: Cycle,
    /// The cycle to which distances count: that of the command, or its second one.
    reference: u64,
    pub(crate) channel: Channel,
    pub(crate) rank: u8,
    /// None at the end of the run.
    pub(crate) command: Option<&'a Issued>,
}

impl<'a> Check<'a> {
    /// The check of a command.
    pub(crate) fn of(setting: &'a Setting, report: &'a mut ViolationReport, issued: &'a Issued) -> Check<'a> {
        let Issued { at, channel, command } = issued;
        let reference = at.0.saturating_add(setting.limits.reference(command));
        Check { setting, report, at: *at, reference, channel: *channel, rank: command.rank(), command: Some(issued) }
    }

    /// The check of a rank at the end of the run.
    pub(crate) fn of_end(
        setting: &'a Setting,
        report: &'a mut ViolationReport,
        at: Cycle,
        channel: Channel,
        rank: u8,
    ) -> Check<'a> {
        Check { setting, report, at, reference: at.0, channel, rank, command: None }
    }
}

impl Check<'_> {
    /// Minimum distance: at least the limit of the rule must lie between `earlier` and now.
    ///
    /// A distance to a command at a later instant (the stream is out of order) is not checked.
    #[inline]
    pub(crate) fn minimum(&mut self, rule: Rule, earlier: Option<Issued>) {
        self.minima([rule], earlier);
    }

    /// Minimum distance, which a shorter distance of exactly `permitted` clocks does not break.
    pub(crate) fn minimum_or_exactly(&mut self, permitted: u64, rule: Rule, earlier: Option<Issued>) {
        if earlier.is_none_or(|from| self.reference.wrapping_sub(from.at.0) != permitted) {
            self.minimum(rule, earlier);
        }
    }

    /// The minimum distances of several rules between two commands.
    #[inline]
    pub(crate) fn minima<const N: usize>(&mut self, rules: [Rule; N], earlier: Option<Issued>) {
        if let Some(from) = earlier {
            for rule in rules {
                // The distance to a command at a later instant wraps around, and is looked at again.
                if self.reference.wrapping_sub(from.at.0) < self.setting.limits.of(rule) {
                    self.below_minimum(rule, from, self.reference);
                }
            }
        }
    }

    /// Minimum distance on the command bus, from the first cycle of a command to that of another.
    #[inline]
    pub(crate) fn on_bus(&mut self, rule: Rule, earlier: Option<Issued>) {
        if let Some(from) = earlier
            && self.at.0.wrapping_sub(from.at.0) < self.setting.limits.of(rule)
        {
            self.below_minimum(rule, from, self.at.0);
        }
    }

    #[cold]
    fn below_minimum(&mut self, rule: Rule, from: Issued, reference: u64) {
        self.below(self.setting.limits.of(rule), rule, from, reference);
    }

    /// Minimum distance of `limit` clocks, for a rule whose limit depends on the earlier command.
    pub(crate) fn at_least(&mut self, limit: u64, rule: Rule, from: Issued) {
        if self.reference.wrapping_sub(from.at.0) < limit {
            self.below(limit, rule, from, self.reference);
        }
    }

    fn below(&mut self, limit: u64, rule: Rule, from: Issued, reference: u64) {
        if let Some(found) = self.at.0.checked_sub(from.at.0) {
            let bound = limit - reference.wrapping_sub(self.at.0);
            self.violated(rule, Some(from), Some(Cycles(bound)), Some(bound - found));
        }
    }

    /// Maximum distance: at most the limit of the rule may lie between `earlier` and now.
    pub(crate) fn maximum(&mut self, rule: Rule, earlier: Option<Issued>) {
        if let Some(from) = earlier {
            let bound = self.setting.limits.of(rule).saturating_sub(self.reference - self.at.0);
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
    pub(crate) fn latest(&self, commands: impl IntoIterator<Item = Option<Issued>>) -> Option<Issued> {
        commands.into_iter().flatten().filter(|issued| issued.at <= self.at).max_by_key(|issued| issued.at)
    }

    #[cold]
    fn violated(&mut self, rule: Rule, earlier: Option<Issued>, bound: Option<Cycles>, clocks_short: Option<u64>) {
        let Check { at, channel, rank, .. } = *self;
        let (command, source) = (self.command.copied(), self.setting.limits.rules.source(rule));
        self.report.add(Violation { rule, at, channel, rank, command, earlier, bound, clocks_short, source });
    }
}
