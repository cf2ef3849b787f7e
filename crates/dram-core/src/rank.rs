//! A rank: the activation window of its banks, CKE, and the refresh ledger.

use dram_spec::{Cycle, Cycles, Refresh};

use crate::bank::{Holds, Lasts, raise_to};
use crate::constraints::{Raises, Refreshes, Ring};
use crate::hold::{Gap, Hold};
use crate::rules::{Kind, PD_MAX, REF_GAP, REF_POSTPONED};
use crate::timings::{P, Timings};

/// Power state of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Power {
    /// CKE high.
    Awake,
    /// Power-down with a bank open.
    ActivePowerDown {
        /// Cycle of its PDE.
        since: Cycle,
    },
    /// Power-down with all banks closed.
    PrechargePowerDown {
        /// Cycle of its PDE.
        since: Cycle,
    },
    /// Self-refresh.
    SelfRefresh {
        /// Cycle of its SRE.
        since: Cycle,
    },
}

/// Refreshes issued to a rank, and the deadline of the next.
///
/// The refresh clock stops in self-refresh. The k-th REF is due at k tREFI; at most eight count in
/// advance.
#[derive(Clone, Debug)]
pub struct RefreshLedger {
    interval: Cycles,
    on: bool,
    counted: u64,
    last: Cycles,
    asleep: Cycles,
    /// Cycle at which the first REF not issued is due; never with refresh off. Derived from the
    /// fields above, like `deadline`, as both are queried often.
    due: Cycle,
    /// Last cycle at which that REF is in time.
    deadline: Cycle,
}

impl RefreshLedger {
    const POSTPONED_MOST: u64 = 8;
    const ADVANCED_MOST: u64 = 8;

    fn new(refresh: Refresh, timings: &Timings) -> Self {
        let interval = timings.get(P::Refi);
        let mut ledger = RefreshLedger {
            interval,
            on: refresh != Refresh::Off,
            counted: 0,
            last: Cycles(0),
            asleep: Cycles(0),
            due: Cycle::NEVER,
            deadline: Cycle::NEVER,
        };
        ledger.look_ahead();
        ledger
    }

    /// Updates the derived cycles.
    fn look_ahead(&mut self) {
        if self.on {
            let postponed = (self.counted + 1 + Self::POSTPONED_MOST) * self.interval.0;
            let gap = self.last.0 + 9 * self.interval.0;
            self.due = Cycle((self.counted + 1) * self.interval.0 + self.asleep.0);
            self.deadline = Cycle(postponed.min(gap) + self.asleep.0);
        }
    }

    fn clock(&self, at: Cycle) -> Cycles {
        Cycles(at.0 - self.asleep.0)
    }

    /// Number of REFs due by `at` and not issued.
    pub fn owed(&self, at: Cycle) -> u64 {
        let late = at.since(self.due);
        match at >= self.due {
            false => 0,
            // The usual case; avoids the slow division.
            true if late < self.interval => 1,
            true => 1 + late.0 / self.interval.0,
        }
    }

    /// Cycle at which the REF after those owed or issued is due; never with refresh off.
    pub fn next_due(&self, at: Cycle) -> Option<Cycle> {
        self.on.then(|| self.due + self.interval * self.owed(at))
    }

    /// Last cycle at which the next REF is in time; never with refresh off.
    pub fn deadline(&self) -> Option<Cycle> {
        self.on.then_some(self.deadline)
    }

    fn refresh(&mut self, at: Cycle) {
        self.assert_in_time(at);
        let clock = self.clock(at);
        if self.counted < clock.0 / self.interval.0 + Self::ADVANCED_MOST {
            self.counted += 1;
        }
        self.last = clock;
        self.look_ahead();
    }

    /// Adds the duration of a self-refresh, in which the clock stopped.
    fn slept(&mut self, asleep: Cycles) {
        self.asleep += asleep;
        self.look_ahead();
    }

    fn assert_in_time(&self, at: Cycle) {
        if let Some(deadline) = self.deadline() {
            let (gap, late) = (REF_GAP.name, REF_POSTPONED.name);
            assert!(at <= deadline, "no REF by cycle {deadline}, and it is {at}: breaks {gap} or {late}");
        }
    }
}

/// A rank.
#[derive(Clone, Debug)]
pub(crate) struct Rank {
    pub(crate) power: Power,
    pub(crate) refresh: RefreshLedger,
    pub(crate) lasts: Lasts,
    pub(crate) window: Ring,
    pub(crate) refreshes: Refreshes,
}

impl Rank {
    pub(crate) fn new(refresh: Refresh, timings: &Timings) -> Rank {
        Rank {
            power: Power::Awake,
            refresh: RefreshLedger::new(refresh, timings),
            lasts: Lasts::default(),
            window: Ring::EMPTY,
            refreshes: Refreshes::NONE,
        }
    }

    /// Adds a command to the activation window, if it counts there. The oldest command of the
    /// window then delays in `holds` some of the `possible` kinds, which are constants at compile
    /// time, so that other kinds take no time.
    #[inline]
    pub(crate) fn enter_window(
        &mut self,
        at: Cycle,
        window: Option<(Gap, Raises)>,
        possible: Raises,
        holds: &mut Holds,
    ) {
        if let Some((gap, raises)) = window {
            self.window.enter(Hold::new(at, gap));
            let raised = |(raised, possible)| possible && raised;
            raise_to(holds, self.window.hold(), raises.into_iter().zip(possible).map(raised));
        }
    }

    /// Records a REF.
    pub(crate) fn refreshed(&mut self, at: Cycle) {
        self.refresh.refresh(at);
        self.refreshes.enter(at);
    }

    /// Whether SRE requires a REF first: none was issued since the rank left self-refresh.
    pub(crate) fn owes_refresh_before_self_refresh(&self) -> bool {
        let (exit, refresh) = (self.lasts.of(Kind::Srx), self.lasts.of(Kind::Ref));
        exit != Cycle::NEVER && (refresh == Cycle::NEVER || refresh < exit)
    }

    /// Records a change of CKE: asserts the maxima, and stops the refresh clock in self-refresh.
    pub(crate) fn set_power(&mut self, at: Cycle, to: Power, timings: &Timings) {
        self.assert_power_down_in_time(at, timings);
        match (self.power, to) {
            (_, Power::SelfRefresh { .. }) => self.refresh.assert_in_time(at),
            (Power::SelfRefresh { since }, _) => self.refresh.slept(at.since(since)),
            _ => {}
        }
        self.power = to;
    }

    /// Asserts that no maximum is exceeded at the end of the run.
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
