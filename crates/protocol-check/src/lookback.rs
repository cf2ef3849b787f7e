//! The look back from one instant: distances to what came before, and the verdict on them.

use dram_spec::{
    Channel, CopyActivations, Cycle, Cycles, Dialect, Geometry, Issued, PrechargePowerDown, Refresh, System,
};

use crate::limits::Limits;
use crate::report::Report;
use crate::rule::Rule;
use crate::violation::Violation;

/// What is fixed for the whole run.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) geometry: Geometry,
    pub(crate) dialect: Dialect,
    pub(crate) copy_activations: CopyActivations,
    pub(crate) precharge_power_down: PrechargePowerDown,
    /// Whether REF is owed at all.
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

/// The instant from which one looks back: that of a command, or the end of the run.
#[derive(Debug)]
pub(crate) struct Lookback<'a> {
    pub(crate) setting: &'a Setting,
    pub(crate) report: &'a mut Report,
    pub(crate) at: Cycle,
    pub(crate) channel: Channel,
    pub(crate) rank: u8,
    /// None at the end of the run.
    pub(crate) command: Option<Issued>,
}

impl Lookback<'_> {
    /// Least distance: the nearest `earlier` command must lie at least as far back as the rule asks.
    ///
    /// Nothing is said of what lies ahead, which takes a command that is out of order.
    pub(crate) fn least(&mut self, rule: Rule, earlier: Option<Issued>) {
        let Some(from) = earlier else { return };
        let Some(found) = self.at.0.checked_sub(from.at.0) else { return };
        let bound = self.setting.limits.of(rule);
        if found < bound {
            self.charge(rule, earlier, Some(Cycles(bound)), Some(bound - found));
        }
    }

    /// Greatest distance: what `earlier` began may have lasted as long as the rule allows, and no longer.
    pub(crate) fn most(&mut self, rule: Rule, earlier: Option<Issued>) {
        if let Some(from) = earlier {
            let bound = self.setting.limits.of(rule);
            self.at_most(rule, earlier, self.at.since(from.at).0, bound);
        }
    }

    /// Greatest distance on a clock of the caller's.
    pub(crate) fn at_most(&mut self, rule: Rule, earlier: Option<Issued>, found: u64, bound: u64) {
        if found > bound {
            self.charge(rule, earlier, Some(Cycles(bound)), Some(found - bound));
        }
    }

    /// A broken state rule.
    pub(crate) fn state(&mut self, rule: Rule, earlier: Option<Issued>) {
        self.charge(rule, earlier, None, None);
    }

    /// A command before `earlier`, which was issued before it.
    pub(crate) fn order(&mut self, earlier: Option<Issued>) {
        if let Some(before) = earlier
            && self.at < before.at
        {
            self.charge(Rule::Order, earlier, None, Some(before.at.since(self.at).0));
        }
    }

    /// The nearer of two commands, what lies ahead left out.
    pub(crate) fn nearest(&self, commands: [Option<Issued>; 2]) -> Option<Issued> {
        let [one, other] = commands.map(|command| command.filter(|issued| issued.at <= self.at));
        match (one, other) {
            (Some(a), Some(b)) if a.at >= b.at => one,
            (_, Some(_)) => other,
            (_, None) => one,
        }
    }

    #[cold]
    fn charge(&mut self, rule: Rule, earlier: Option<Issued>, bound: Option<Cycles>, clocks_short: Option<u64>) {
        let Lookback { at, channel, rank, command, .. } = *self;
        self.report.add(Violation { rule, at, channel, rank, command, earlier, bound, clocks_short });
    }
}
