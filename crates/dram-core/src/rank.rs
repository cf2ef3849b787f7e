//! A rank: eight banks, their shared windows, CKE, and the refresh that is owed.

use dram_spec::{Cycle, Cycles, Refresh};

use crate::bank::{Bank, Holds};
use crate::constraints::Constraints;
use crate::hold::Hold;
use crate::rules::{Kind, PD_MAX, REF_GAP, REF_POSTPONED};
use crate::timings::{P, Timings};

/// What CKE and the mode make of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Power {
    /// CKE high.
    Awake,
    /// Power-down with a bank open.
    ActivePowerDown {
        /// Since its PDE.
        since: Cycle,
    },
    /// Power-down with all banks closed.
    PrechargePowerDown {
        /// Since its PDE.
        since: Cycle,
    },
    /// Self-refresh.
    SelfRefresh {
        /// Since its SRE.
        since: Cycle,
    },
}

/// The latest few commands of one sort, oldest first to go.
#[derive(Clone, Debug)]
struct Ring {
    at: Vec<Option<Cycle>>,
    oldest: usize,
}

/// Which refreshes a rank has had, and until when the next may be put off.
///
/// Its clock stands still in self-refresh. The k-th REF is due at k tREFI; at most eight count in advance.
#[derive(Clone, Debug)]
pub struct RefreshLedger {
    interval: Cycles,
    on: bool,
    counted: u64,
    last: Cycles,
    asleep: Cycles,
}

impl RefreshLedger {
    const POSTPONED_MOST: u64 = 8;
    const ADVANCED_MOST: u64 = 8;

    fn new(refresh: Refresh, timings: &Timings) -> Self {
        let interval = timings.get(P::Refi);
        RefreshLedger { interval, on: refresh != Refresh::Off, counted: 0, last: Cycles(0), asleep: Cycles(0) }
    }

    fn clock(&self, at: Cycle) -> Cycles {
        Cycles(at.0 - self.asleep.0)
    }

    /// How many REF have fallen due by `at` and have not been issued.
    pub fn owed(&self, at: Cycle) -> u64 {
        if !self.on || at < self.due() {
            return 0;
        }
        (self.clock(at).0 / self.interval.0).saturating_sub(self.counted)
    }

    /// When the first REF that has not been issued falls due, or fell.
    fn due(&self) -> Cycle {
        Cycle((self.counted + 1) * self.interval.0 + self.asleep.0)
    }

    /// When the REF after those that are owed or done falls due; never with refresh off.
    pub fn next_due(&self, at: Cycle) -> Option<Cycle> {
        if self.on && at < self.due() {
            return Some(self.due());
        }
        let done = self.counted.max(self.clock(at).0 / self.interval.0);
        self.on.then(|| Cycle((done + 1) * self.interval.0 + self.asleep.0))
    }

    /// The last instant at which the next REF is still in time; never with refresh off.
    pub fn deadline(&self) -> Option<Cycle> {
        let postponed = (self.counted + 1 + Self::POSTPONED_MOST) * self.interval.0;
        let gap = self.last.0 + 9 * self.interval.0;
        self.on.then(|| Cycle(postponed.min(gap) + self.asleep.0))
    }

    fn refresh(&mut self, at: Cycle) {
        self.assert_in_time(at);
        let clock = self.clock(at);
        if self.counted < clock.0 / self.interval.0 + Self::ADVANCED_MOST {
            self.counted += 1;
        }
        self.last = clock;
    }

    fn assert_in_time(&self, at: Cycle) {
        if let Some(deadline) = self.deadline() {
            let (gap, late) = (REF_GAP.name, REF_POSTPONED.name);
            assert!(at <= deadline, "no REF by cycle {deadline}, and it is {at}: breaks {gap} or {late}");
        }
    }
}

/// One rank.
#[derive(Clone, Debug)]
pub(crate) struct Rank {
    pub(crate) banks: [Bank; 8],
    /// A bit for each open bank.
    pub(crate) open_banks: u8,
    pub(crate) power: Power,
    pub(crate) holds: Holds,
    pub(crate) refresh: RefreshLedger,
    windows: Vec<Ring>,
}

impl Rank {
    pub(crate) fn new(refresh: Refresh, timings: &Timings, constraints: &Constraints) -> Rank {
        let windows =
            constraints.windows.iter().map(|window| Ring { at: vec![None; window.depth], oldest: 0 }).collect();
        Rank {
            banks: Default::default(),
            open_banks: 0,
            power: Power::Awake,
            holds: Holds::default(),
            refresh: RefreshLedger::new(refresh, timings),
            windows,
        }
    }

    /// Enters a command into the windows that it belongs to.
    pub(crate) fn enter_windows(&mut self, kind: Kind, at: Cycle, constraints: &Constraints) {
        for (window, ring) in constraints.windows.iter().zip(&mut self.windows) {
            if !window.from.contains(&kind) {
                continue;
            }
            ring.at[ring.oldest] = Some(at);
            ring.oldest = (ring.oldest + 1) % window.depth;
            if let Some(oldest) = ring.at[ring.oldest] {
                for &to in window.to {
                    self.holds.raise(to, Hold { until: oldest + window.gap, rule: window.rule });
                }
            }
        }
    }

    /// REF was issued.
    pub(crate) fn refreshed(&mut self, at: Cycle) {
        self.refresh.refresh(at);
    }

    /// CKE went low, or high again, or the run ended: asserts the maxima, and stops the refresh clock in self-refresh.
    pub(crate) fn set_power(&mut self, at: Cycle, to: Power, timings: &Timings) {
        self.assert_power_down_in_time(at, timings);
        match (self.power, to) {
            (_, Power::SelfRefresh { .. }) => self.refresh.assert_in_time(at),
            (Power::SelfRefresh { since }, _) => self.refresh.asleep += at.since(since),
            _ => {}
        }
        self.power = to;
    }

    /// The run ends at `at`: nothing may be overdue.
    pub(crate) fn finish(&self, at: Cycle, timings: &Timings) {
        self.assert_power_down_in_time(at, timings);
        if !matches!(self.power, Power::SelfRefresh { .. }) {
            self.refresh.assert_in_time(at);
        }
    }

    fn assert_power_down_in_time(&self, at: Cycle, timings: &Timings) {
        if let Power::ActivePowerDown { since } | Power::PrechargePowerDown { since } = self.power {
            let most = PD_MAX.cycles(timings);
            assert!(at.since(since) <= most, "power-down from cycle {since} to {at}: breaks {} ({most})", PD_MAX.name);
        }
    }
}
