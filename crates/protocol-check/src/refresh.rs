//! The refresh clock of a rank, which stands still in self-refresh, and the REFs counted on it.

use dram_spec::{Cycle, Issued, Refresh};

use crate::lookback::Lookback;
use crate::rule::Rule;

/// How many REFs may be late, and how many early.
const INTERVALS: u64 = 8;

/// What a rank has had of REFs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Upkeep {
    /// The last REF, and its instant on the refresh clock; cycle 0 where there was none.
    last: Option<Issued>,
    last_instant: u64,
    /// How many REFs counted.
    counted: u64,
    /// Clocks spent in self-refresh so far, and the SRE of the one going on.
    slept: u64,
    entered: Option<Cycle>,
}

impl Upkeep {
    /// What the refresh clock shows at a cycle.
    fn instant(&self, at: Cycle) -> u64 {
        let asleep = self.entered.map_or(0, |entered| at.since(entered).0);
        at.0.saturating_sub(self.slept).saturating_sub(asleep)
    }

    /// Judges the time since the last REF, and the debt; at the next REF and at the end of the run.
    pub(crate) fn judge(&self, look: &mut Lookback<'_>) {
        if look.setting.refresh == Refresh::Off {
            return;
        }
        let instant = self.instant(look.at);
        let gap = look.setting.limits.of(Rule::RefGap);
        look.at_most(Rule::RefGap, self.last, instant.saturating_sub(self.last_instant), gap);
        // With n counted, the (n + 1)th is due at n + 1 intervals, and may be eight late.
        let due = self.counted.saturating_add(1 + INTERVALS).saturating_mul(look.setting.limits.interval);
        look.at_most(Rule::RefPostponed, None, instant, due);
    }

    /// A REF; one that comes more than eight intervals early does not count.
    pub(crate) fn refresh(&mut self, issued: Issued, interval: u64) {
        self.last = Some(issued);
        self.last_instant = self.instant(issued.at);
        if self.counted < (self.last_instant / interval).saturating_add(INTERVALS) {
            self.counted += 1;
        }
    }

    /// SRE: the refresh clock stops.
    pub(crate) fn enter(&mut self, at: Cycle) {
        self.entered = Some(at);
    }

    /// SRX: the refresh clock goes on.
    pub(crate) fn exit(&mut self, at: Cycle) {
        if let Some(entered) = self.entered.take() {
            self.slept = self.slept.saturating_add(at.since(entered).0);
        }
    }
}
