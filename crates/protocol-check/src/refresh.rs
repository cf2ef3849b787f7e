//! The refresh clock of a rank, which stops in self-refresh, and the REFs counted on it.

use dram_spec::{Cycle, Issued, Refresh};

use crate::check::Check;
use crate::limits::RefreshLimits;
use crate::rule::Rule;

/// The refresh clock of a rank and its counted REFs, or `REFsb` where they are what the refresh mode requires.
#[derive(Clone, Debug, Default)]
pub(crate) struct RefreshLedger {
    /// The last REF, and its instant on the refresh clock; cycle 0 where there was none.
    last: Option<Issued>,
    last_instant: u64,
    /// The number of REFs that count.
    counted: u64,
    /// Clocks spent in self-refresh before the present one.
    in_self_refresh: u64,
    /// The SRE of the present self-refresh.
    entered: Option<Cycle>,
}

impl RefreshLedger {
    /// The refresh clock at a cycle.
    fn instant(&self, at: Cycle) -> u64 {
        let present = self.entered.map_or(0, |entered| at.since(entered).0);
        at.0.saturating_sub(self.in_self_refresh).saturating_sub(present)
    }

    /// Checks `REF-gap` and `REF-postponed`, at a REF and at the end of the run.
    pub(crate) fn check(&self, check: &mut Check<'_>) {
        if check.setting.refresh == Refresh::Off {
            return;
        }
        let instant = self.instant(check.at);
        let gap = check.setting.limits.of(Rule::RefGap);
        check.at_most(Rule::RefGap, self.last, instant.saturating_sub(self.last_instant), gap);
        // With n counted, the (n + 1)th is due at n + 1 intervals, and may be late by those that may be postponed.
        let RefreshLimits { interval, postponed_most, .. } = check.setting.limits.refresh;
        let due = self.counted.saturating_add(1 + postponed_most).saturating_mul(interval);
        check.at_most(Rule::RefPostponed, None, instant, due);
    }

    /// Records a REF or `REFsb` that counts as `units`, as far as these are not too early.
    pub(crate) fn refresh(&mut self, issued: Issued, units: u64, limits: &RefreshLimits) {
        if units == 0 {
            return;
        }
        self.last = Some(issued);
        self.last_instant = self.instant(issued.at);
        let most = (self.last_instant / limits.interval).saturating_add(limits.advanced_most);
        self.counted = self.counted.max(most.min(self.counted.saturating_add(units)));
    }

    /// SRE: the refresh clock stops.
    pub(crate) fn enter_self_refresh(&mut self, at: Cycle) {
        self.entered = Some(at);
    }

    /// SRX: the refresh clock runs again.
    pub(crate) fn exit_self_refresh(&mut self, at: Cycle) {
        if let Some(entered) = self.entered.take() {
            self.in_self_refresh = self.in_self_refresh.saturating_add(at.since(entered).0);
        }
    }
}
