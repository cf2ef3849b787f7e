//! A rank: the activation window of its banks, CKE, and the refresh ledger.

use dram_spec::{Cycle, Cycles, Refresh, System};

use crate::bank::KeptHolds;
use crate::constraints::{KEPT, Raises};
use crate::history::{Lasts, Refreshes, Ring};
use crate::hold::{Gap, Hold};
use crate::rules::{PD_MAX, REF_GAP, REF_POSTPONED, maxima};
use crate::timings::Timings;

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
/// The refresh clock stops in self-refresh. The k-th REF is due at k intervals of the refresh mode,
/// which also limits the REFs postponed and in advance.
#[derive(Clone, Debug)]
pub struct RefreshLedger {
    interval: Cycles,
    /// Most REFs postponed.
    postponed_most: u64,
    /// Most REFs in advance that count.
    advanced_most: u64,
    /// Longest distance of two REFs, in intervals.
    gap_most: u64,
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
    fn new(system: &System) -> Self {
        let mode = system.refresh_mode;
        let sets = system.refreshes_per_round();
        let mut ledger = RefreshLedger {
            interval: system.refresh_interval(),
            postponed_most: mode.postponed_most * sets,
            advanced_most: mode.advanced_most * sets,
            gap_most: mode.gap_most * sets,
            on: system.refresh != Refresh::Off,
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
            let postponed = (self.counted + 1 + self.postponed_most) * self.interval.0;
            let gap = self.last.0 + self.gap_most * self.interval.0;
            self.due = Cycle((self.counted + 1) * self.interval.0 + self.asleep.0);
            self.deadline = Cycle(postponed.min(gap) + self.asleep.0);
        }
    }

    fn clock(&self, at: Cycle) -> Cycles {
        Cycles(at.0 - self.asleep.0)
    }

    /// Number of REFs due by `at` and not issued.
    #[inline]
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

    /// Records a refresh command that counts as `units` of what the refresh mode requires, as far as these are not too
    /// early.
    fn refresh(&mut self, at: Cycle, units: u64) {
        self.assert_in_time(at);
        let clock = self.clock(at);
        let most = clock.0 / self.interval.0 + self.advanced_most;
        self.counted = self.counted.max(most.min(self.counted + units));
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
            let (gap, late) = (REF_GAP, REF_POSTPONED);
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
    /// Longest time in power-down.
    power_down_most: Cycles,
    /// Bank numbers with a REFsb in the present round, and the number of bank numbers.
    round: (u8, u8),
    /// How much a REF and a REFsb count in the ledger: a REFsb in its refresh mode 1, and a REF as one of each bank
    /// number.
    units: (u64, u64),
    /// Whether the rank left self-refresh and was not refreshed since.
    is_unrefreshed: bool,
}

impl Rank {
    pub(crate) fn new(system: &System, timings: &Timings) -> Rank {
        let [_, power_down, ..] = maxima(system);
        Rank {
            power: Power::Awake,
            refresh: RefreshLedger::new(system),
            power_down_most: power_down.cycles(timings),
            round: (0, system.geometry.chip().banks_per_group),
            units: (system.refreshes_per_round(), u64::from(system.refresh_mode.same_bank)),
            is_unrefreshed: false,
            lasts: Lasts::default(),
            window: Ring::EMPTY,
            refreshes: Refreshes::NONE,
        }
    }

    /// Adds a command to the activation window, if it counts there.
    #[inline]
    pub(crate) fn enter_window(&mut self, at: Cycle, window: Option<(Gap, Raises)>) {
        if let Some((gap, _)) = window {
            self.window.enter(Hold::new(at, gap));
        }
    }

    /// Delays in `holds` some of the `possible` kinds by the oldest command of the activation window. The possible
    /// kinds are constants at compile time, so that other kinds take no time.
    #[inline]
    pub(crate) fn delay_by_window(&self, window: Option<(Gap, Raises)>, possible: Raises, holds: &mut KeptHolds) {
        let Some((_, raises)) = window else { return };
        let hold = self.window.hold();
        for kept in 0..KEPT.len() {
            if possible[kept] && raises[kept] && hold > holds[kept] {
                holds[kept] = hold;
            }
        }
    }

    /// Records a REF, which refreshes all banks, so that a new round of REFsb begins.
    pub(crate) fn refreshed(&mut self, at: Cycle) {
        self.refresh.refresh(at, self.units.0);
        self.refreshes.enter(at);
        self.round.0 = 0;
        self.is_unrefreshed = false;
    }

    /// Whether a bank number had its REFsb in the present round.
    pub(crate) fn was_refreshed_in_round(&self, number: u8) -> bool {
        self.round.0 >> number & 1 != 0
    }

    /// Records a REFsb of a bank number; the last of a round has refreshed all banks, and begins the next one.
    pub(crate) fn refreshed_number(&mut self, at: Cycle, number: u8) {
        if self.units.1 > 0 {
            self.refresh.refresh(at, self.units.1);
        }
        self.round.0 |= 1 << number;
        if u32::from(self.round.1) == self.round.0.count_ones() {
            self.round.0 = 0;
            self.is_unrefreshed = false;
        }
    }

    /// Whether SRE requires a refresh of all banks first: none was issued since the rank left self-refresh.
    pub(crate) const fn owes_refresh_before_self_refresh(&self) -> bool {
        self.is_unrefreshed
    }

    /// Records a change of CKE: asserts the maxima, and stops the refresh clock in self-refresh.
    pub(crate) fn set_power(&mut self, at: Cycle, to: Power) {
        self.assert_power_down_in_time(at);
        match (self.power, to) {
            // Self-refresh refreshes all banks, too: a new round of REFsb begins.
            (_, Power::SelfRefresh { .. }) => {
                self.refresh.assert_in_time(at);
                self.round.0 = 0;
            }
            (Power::SelfRefresh { since }, _) => {
                self.refresh.slept(at.since(since));
                self.is_unrefreshed = true;
            }
            _ => {}
        }
        self.power = to;
    }

    /// Asserts that no maximum is exceeded at the end of the run.
    pub(crate) fn finish(&self, at: Cycle) {
        self.assert_power_down_in_time(at);
        if !matches!(self.power, Power::SelfRefresh { .. }) {
            self.refresh.assert_in_time(at);
        }
    }

    fn assert_power_down_in_time(&self, at: Cycle) {
        if let Power::ActivePowerDown { since } | Power::PrechargePowerDown { since } = self.power {
            let most = self.power_down_most;
            assert!(at.since(since) <= most, "power-down from cycle {since} to {at}: breaks {PD_MAX} ({most})");
        }
    }
}
