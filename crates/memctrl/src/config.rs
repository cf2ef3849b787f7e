//! Configuration of a controller.

use std::sync::Arc;

use dram_core::{Background, P, Timings};
use dram_spec::{Cycles, Mechanism, Refresh, System, Topology};
use rowclone::Planner;

use crate::policy::copy::CopyPolicy;
use crate::policy::row::RowPolicy;
use crate::policy::scheduler::{FrFcfs, Scheduler};
use crate::price::PriceTable;

/// Queue sizes, and watermarks of the write drain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSettings {
    /// Entries of a channel's read queue.
    pub read_entries: usize,
    /// Entries of a channel's write queue.
    pub write_entries: usize,
    /// Copies in progress in all channels.
    pub copy_entries: usize,
    /// Accesses that a channel accepts per cycle, and copies that the front end accepts per cycle.
    pub admission_per_cycle: usize,
    /// Queued writes at which a channel starts a write drain.
    pub drain_high: usize,
    /// Queued writes at which a channel ends a write drain; less than `drain_high`.
    pub drain_low: usize,
}

impl Default for QueueSettings {
    /// 64 and 64 entries per channel, as in the paper's table 2; the other values are this
    /// project's choice.
    fn default() -> QueueSettings {
        QueueSettings {
            read_entries: 64,
            write_entries: 64,
            copy_entries: 32,
            admission_per_cycle: 1,
            drain_high: 48,
            drain_low: 16,
        }
    }
}

impl QueueSettings {
    /// Checks the watermarks.
    ///
    /// # Errors
    /// If they are out of order.
    pub fn check(&self) -> Result<(), ConfigError> {
        let QueueSettings { write_entries, drain_high, drain_low, .. } = *self;
        if !(1..=write_entries).contains(&drain_high) {
            return Err(ConfigError::DrainHigh { found: drain_high, write_entries });
        }
        if drain_low >= drain_high {
            return Err(ConfigError::DrainLow { found: drain_low, drain_high });
        }
        Ok(())
    }
}

/// Reason why settings contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A write drain starts at no write, or at more than the queue holds.
    #[error("`queues.drain_high` is {found}, but must be from 1 to {write_entries}")]
    DrainHigh {
        /// `drain_high`.
        found: usize,
        /// Entries of the write queue.
        write_entries: usize,
    },
    /// A write drain ends before it starts.
    #[error("`queues.drain_low` is {found}, but must be from 0 to {}", .drain_high - 1)]
    DrainLow {
        /// `drain_low`.
        found: usize,
        /// `drain_high`.
        drain_high: usize,
    },
    /// A copy may hold a bank longer than a REF can wait.
    #[error(
        "`copy.mechanisms` has `{mechanism}`, and with copies through {subarrays} subarrays a rank may need {takes} \
         cycles before its REF, which can be postponed by {postponed} only"
    )]
    LongHold {
        /// Name of the mechanism.
        mechanism: &'static str,
        /// Subarrays per bank.
        subarrays: u32,
        /// Longest time until a rank is ready for its REF.
        takes: Cycles,
        /// Time for which a REF can be postponed.
        postponed: Cycles,
    },
    /// The order of sources may change before a bank has opened a row and served an access.
    #[error("the quantum of the scheduler is {found} cycles, but a bank may need {least} to serve an access")]
    ShortQuantum {
        /// Quantum of the scheduler.
        found: Cycles,
        /// Shortest one.
        least: Cycles,
    },
    /// Ranks enter a state that their refreshes end in time, but refresh is off.
    #[error("`power.{}` is given, but `refresh` is off", .0.name())]
    NoRefresh(LowPower),
    /// Ranks enter self-refresh no later than power-down.
    #[error("`power.self_refresh_after` is {found}, but must be more than {power_down_after}")]
    SelfRefreshFirst {
        /// `self_refresh_after`.
        found: Cycles,
        /// `power_down_after`.
        power_down_after: Cycles,
    },
    /// A count or a time is 0.
    #[error("`{0}` is 0, but must be at least 1")]
    Zero(&'static str),
}

impl ConfigError {
    /// Suggested change.
    pub fn help(&self) -> String {
        match self {
            ConfigError::DrainHigh { found, write_entries } => {
                format!("try {} for `queues.drain_high`", (*found).clamp(1, *write_entries))
            }
            ConfigError::DrainLow { drain_high, .. } => format!("try {} for `queues.drain_low`", drain_high / 3),
            ConfigError::LongHold { mechanism, .. } => format!(
                "use larger subarrays or a longer interval of refreshes, or leave `{mechanism}` out of \
                    `copy.mechanisms`"
            ),
            ConfigError::NoRefresh(state) => {
                let setting = state.name();
                format!("ranks leave power-down for their refreshes: leave `power.{setting}` out, or turn refresh on")
            }
            ConfigError::SelfRefreshFirst { .. } => {
                "leave `power.power_down_after` out: no rank would come to power-down before self-refresh".to_owned()
            }
            ConfigError::ShortQuantum { least, .. } => format!("try a quantum of {least} cycles, or a longer one"),
            ConfigError::Zero(setting) => format!("try 1 for `{setting}`"),
        }
    }
}

/// Scheduling of refresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefreshPolicy {
    /// Number of REFs that a rank may owe while it is used: from 0 (each REF precedes other work)
    /// to 8 (JEDEC's limit).
    pub postpone_max: u64,
    /// Idle time after which a rank with open rows that owes fewer than `postpone_max` REFs closes
    /// the rows for a REF.
    pub idle: Cycles,
}

impl RefreshPolicy {
    /// Default of `idle`; `docs/decisions/0018-refresh-idle-cycles.md` has the measurement.
    pub const IDLE: Cycles = Cycles(50);
}

impl Default for RefreshPolicy {
    fn default() -> RefreshPolicy {
        RefreshPolicy { postpone_max: 0, idle: RefreshPolicy::IDLE }
    }
}

/// Time after the last ACT, PRE or column command to a rank at which it enters power-down or
/// self-refresh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PowerPolicy {
    /// Time until power-down; `None` disables it.
    pub power_down_after: Option<Cycles>,
    /// Time until self-refresh; `None` disables it.
    pub self_refresh_after: Option<Cycles>,
}

dram_spec::named! {
    /// A state of an idle rank that draws less current, under the name of the field of [`PowerPolicy`] that enables it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum LowPower {
        /// Power-down.
        PowerDown = "power_down_after",
        /// Self-refresh.
        SelfRefresh = "self_refresh_after",
    }
}

impl PowerPolicy {
    /// The states that ranks enter, with the times.
    pub fn states(&self) -> impl Iterator<Item = (LowPower, Cycles)> {
        let states = [(LowPower::PowerDown, self.power_down_after), (LowPower::SelfRefresh, self.self_refresh_after)];
        states.into_iter().filter_map(|(state, after)| Some((state, after?)))
    }

    /// Checks the times with each other and with refresh.
    ///
    /// # Errors
    /// If refresh is off, or self-refresh is not later than power-down.
    pub fn check(&self, refresh: Refresh) -> Result<(), ConfigError> {
        if let Some((state, _)) = self.states().next().filter(|_| refresh == Refresh::Off) {
            return Err(ConfigError::NoRefresh(state));
        }
        match (self.power_down_after, self.self_refresh_after) {
            (Some(power_down_after), Some(found)) if found <= power_down_after => {
                Err(ConfigError::SelfRefreshFirst { found, power_down_after })
            }
            _ => Ok(()),
        }
    }
}

/// Configuration of a controller.
#[derive(Clone)]
pub struct Config {
    /// The memory system.
    pub system: System,
    /// Planner of copies, with the address map and the faulty rows.
    pub planner: Arc<Planner>,
    /// Policy that chooses the mechanism of each part of a copy.
    pub copy_policy: &'static dyn CopyPolicy,
    /// Energy of each command; required by the copy policy `least-energy`.
    pub prices: Option<PriceTable>,
    /// Maximum number of lines that a program over the channel reads before it writes them.
    pub staging_lines: usize,
    /// Time for which a thread may hold a bank in which a read is queued; with `None`, until it is
    /// done with the bank.
    pub copy_hold_max: Option<Cycles>,
    /// Queue sizes and watermarks.
    pub queues: QueueSettings,
    /// Order of the accesses of a channel.
    pub scheduler: Box<dyn Scheduler>,
    /// When rows are closed.
    pub row_policy: RowPolicy,
    /// Scheduling of refresh.
    pub refresh: RefreshPolicy,
    /// When idle ranks enter power-down or self-refresh.
    pub power: PowerPolicy,
    /// Length of the warm-up, which statistics exclude.
    pub warm_up: Cycles,
    /// Length of an epoch of the statistics.
    pub epoch: Option<Cycles>,
    /// Memory contents at reset; without them, commands move no data.
    pub contents: Option<Arc<dyn Background>>,
}

impl Config {
    /// Creates a configuration with the defaults: FR-FCFS, open rows, a staging buffer of one row,
    /// no postponed refresh, no power-down, no bound on copies.
    pub fn new(system: System, planner: Arc<Planner>, copy_policy: &'static dyn CopyPolicy) -> Config {
        Config {
            staging_lines: usize::from(system.geometry.columns()),
            system,
            planner,
            copy_policy,
            prices: None,
            copy_hold_max: None,
            queues: QueueSettings::default(),
            scheduler: Box::new(FrFcfs),
            row_policy: RowPolicy::Open,
            refresh: RefreshPolicy::default(),
            power: PowerPolicy::default(),
            warm_up: Cycles(0),
            epoch: None,
            contents: None,
        }
    }

    /// Longest time for which a copy holds a bank beyond a copy activation: that of a command with a time of its
    /// own ([`Timings::own_time`]), and of the second activation of the destination row. 0 if the chips offer no
    /// mechanism with such a command.
    pub fn longer_hold(&self) -> Cycles {
        longest_hold(&self.system, &self.planner).map_or(Cycles(0), |(time, _)| time)
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// If a count or a time is 0, or if settings contradict each other.
    pub fn check(&self) -> Result<(), ConfigError> {
        let QueueSettings { read_entries, copy_entries, admission_per_cycle, .. } = self.queues;
        let quantum = self.scheduler.quantum().filter(|_| self.scheduler.has_state());
        let least = |cycles: Option<Cycles>| cycles.map_or(1, |cycles| cycles.0 as usize);
        let counts = [
            ("queues.read_entries", read_entries),
            ("queues.copy_entries", copy_entries),
            ("queues.admission_per_cycle", admission_per_cycle),
            ("staging_lines", self.staging_lines),
            ("epoch", least(self.epoch)),
            ("copy_hold_max", least(self.copy_hold_max)),
            ("the quantum of the scheduler", least(quantum)),
        ];
        if let Some((setting, _)) = counts.into_iter().find(|&(_, found)| found == 0) {
            return Err(ConfigError::Zero(setting));
        }
        self.queues.check()?;
        check_progress(&self.system, &self.planner, &*self.scheduler)?;
        // Self-refresh before power-down is of no use, but possible.
        match self.power.check(self.system.refresh) {
            Err(ConfigError::SelfRefreshFirst { .. }) => Ok(()),
            other => other,
        }
    }
}

/// Longest time that a rank needs to close its rows.
///
/// A bank requires at most a row cycle, a copy activation and a write recovery before it can be
/// closed, and `longer_hold` more if a copy may hold it longer ([`Config::longer_hold`]). The banks of the
/// channel share the command bus with all other work, and a rank in power-down must leave it first.
pub(crate) fn closing_time(timings: &Timings, topology: Topology, longer_hold: Cycles) -> Cycles {
    let n = |parameter| timings.get(parameter).0;
    let close = n(P::Rc) + n(P::Ras) + n(P::Cwl) + n(P::Burst) + n(P::Wr) + n(P::Rp) + n(P::Xp);
    // Each bank of the channel may need four commands first; a TRANSFER takes two cycles.
    let bus = 4 * topology.banks().max(32) as u64;
    Cycles(close + bus) + longer_hold
}

/// [`Config::longer_hold`], and the mechanism that causes it.
fn longest_hold(system: &System, planner: &Planner) -> Option<(Cycles, Mechanism)> {
    let timings = Timings::new(system);
    let of_kinds = |mechanism: Mechanism| {
        let times = mechanism.commands().iter().filter_map(|&kind| timings.longest_own_time(kind, &system.geometry));
        times.max().map(|time| (time + timings.get(P::Rp) + timings.get(P::Ras), mechanism))
    };
    planner.mechanisms().filter_map(of_kinds).max_by_key(|&(time, _)| time)
}

/// Checks that a rank can be used between its refreshes, and that a bank serves an access in a quantum of the
/// scheduler.
///
/// # Errors
/// If not: refreshes, or changes of the order of sources, could then keep each access waiting without end.
pub fn check_progress(system: &System, planner: &Planner, scheduler: &dyn Scheduler) -> Result<(), ConfigError> {
    check_longer_hold(system, planner)?;
    check_quantum(system, scheduler)
}

/// Checks that a rank is ready for a REF in time after a copy by any mechanism of the chips.
fn check_longer_hold(system: &System, planner: &Planner) -> Result<(), ConfigError> {
    let Some((hold, mechanism)) = longest_hold(system, planner).filter(|_| system.refresh != Refresh::Off) else {
        return Ok(());
    };
    let takes = closing_time(&Timings::new(system), system.geometry.topology(), hold);
    let most = system.refresh_mode.postponed_most * system.refreshes_per_round();
    let postponed = system.refresh_interval() * most;
    let subarrays = system.geometry.subarrays_per_bank();
    let mechanism = mechanism.name();
    if takes > postponed { Err(ConfigError::LongHold { mechanism, subarrays, takes, postponed }) } else { Ok(()) }
}

/// Checks that a bank can close a row, open another and serve an access of it in a quantum of the scheduler.
fn check_quantum(system: &System, scheduler: &dyn Scheduler) -> Result<(), ConfigError> {
    let Some(found) = scheduler.quantum().filter(|_| scheduler.has_state()) else { return Ok(()) };
    let timings = Timings::new(system);
    // Commands to other banks may take the command bus for some cycles.
    let least = timings.get(P::Rc) + timings.get(P::Rcd) + Cycles(4);
    if found < least { Err(ConfigError::ShortQuantum { found, least }) } else { Ok(()) }
}
