//! The table `[controller]` of a system file: sizes, order of service, and when ranks sleep. All of it has defaults.

use dram_spec::{Cycles, Geometry, PrechargePowerDown, Refresh};
use energy::{Currents, PowerState};
use memctrl::{PowerPolicy, Queues, RowPolicy, Scheduler};
use serde::Deserialize;

use crate::CliError;

use super::currents;
use super::document::Document;

/// What a memory controller is told besides its policy; checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControllerConfig {
    /// Lines that a copy over the channel stages, 1 to 65,536.
    pub staging_lines: usize,
    /// How long a copy may hold a bank that a read waits for.
    pub copy_hold_max: Option<Cycles>,
    /// Sizes and watermarks.
    pub queues: Queues,
    /// Which access goes first.
    pub scheduler: Scheduler,
    /// When rows are closed.
    pub row_policy: RowPolicy,
    /// When ranks are put to sleep.
    pub power: PowerPolicy,
}

impl ControllerConfig {
    /// The defaults: those of `memctrl`, with a staging buffer of one row.
    pub fn new(geometry: &Geometry) -> ControllerConfig {
        ControllerConfig {
            staging_lines: usize::from(geometry.columns()),
            copy_hold_max: None,
            queues: Queues::default(),
            scheduler: Scheduler::default(),
            row_policy: RowPolicy::default(),
            power: PowerPolicy::default(),
        }
    }

    /// In half a line: `fr-fcfs, open rows, 64 + 64 entries a channel`.
    pub fn summary(&self) -> String {
        let scheduler = match self.scheduler {
            Scheduler::Fcfs => "fcfs".to_owned(),
            Scheduler::FrFcfs => "fr-fcfs".to_owned(),
            Scheduler::FrFcfsCap(cap) => format!("fr-fcfs with a cap of {cap}"),
        };
        let rows = match self.row_policy {
            RowPolicy::Open => "open rows".to_owned(),
            RowPolicy::Closed => "closed rows".to_owned(),
            RowPolicy::Timeout(after) => format!("rows closed after {after} clocks"),
        };
        let Queues { read_entries, write_entries, .. } = self.queues;
        let hold = self.copy_hold_max.map_or(String::new(), |most| format!(", copies held to {most} clocks"));
        format!("{scheduler}, {rows}, {read_entries} + {write_entries} entries a channel{hold}")
    }
}

/// 4 MiB of staging: more than any row of all channels.
const STAGING_LINES_MAX: u64 = 65_536;
/// More than any controller has; a wider search than this would be a slow one.
const ENTRIES_MAX: u64 = 4096;
/// About half an hour of memory.
const CYCLES_MAX: u64 = 1 << 40;
const CAP_MAX: u64 = 1 << 30;

/// As the file has it. All keys may be left out.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawController {
    staging_lines: Option<u64>,
    scheduler: Option<String>,
    scheduler_cap: Option<u64>,
    row_policy: Option<String>,
    row_timeout_cycles: Option<u64>,
    read_entries: Option<u64>,
    write_entries: Option<u64>,
    copy_entries: Option<u64>,
    drain_high: Option<u64>,
    drain_low: Option<u64>,
    copy_hold_max_cycles: Option<u64>,
    power_down_after_cycles: Option<u64>,
    self_refresh_after_cycles: Option<u64>,
}

/// What the table is checked against.
pub(super) struct Surroundings<'a> {
    pub(super) document: &'a Document,
    pub(super) geometry: &'a Geometry,
    pub(super) refresh: Refresh,
    pub(super) precharge_power_down: PrechargePowerDown,
    pub(super) currents: &'a Currents,
}

/// Variants of the scheduler and of the row policy, before their numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Fcfs,
    FrFcfs,
    FrFcfsCap,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Rows {
    Open,
    Closed,
    Timeout,
}

const SCHEDULERS: [(&str, Order); 3] =
    [("fcfs", Order::Fcfs), ("fr-fcfs", Order::FrFcfs), ("fr-fcfs-cap", Order::FrFcfsCap)];
const ROW_POLICIES: [(&str, Rows); 3] = [("open", Rows::Open), ("closed", Rows::Closed), ("timeout", Rows::Timeout)];

impl Surroundings<'_> {
    /// The table with its defaults filled in.
    pub(super) fn check(&self, raw: &RawController) -> Result<ControllerConfig, CliError> {
        let defaults = ControllerConfig::new(self.geometry);
        let staging_lines = raw.staging_lines.unwrap_or(defaults.staging_lines as u64);
        self.within("staging_lines", staging_lines, 1, STAGING_LINES_MAX)?;
        Ok(ControllerConfig {
            staging_lines: staging_lines as usize,
            copy_hold_max: self.cycles("copy_hold_max_cycles", raw.copy_hold_max_cycles)?,
            queues: self.queues(raw)?,
            scheduler: self.scheduler(raw)?,
            row_policy: self.row_policy(raw)?,
            power: self.power(raw)?,
        })
    }

    fn scheduler(&self, raw: &RawController) -> Result<Scheduler, CliError> {
        let order = match &raw.scheduler {
            Some(found) => self.document.choice("controller.scheduler", found, &SCHEDULERS)?,
            None => Order::FrFcfs,
        };
        let cap =
            self.belongs("scheduler_cap", raw.scheduler_cap, order == Order::FrFcfsCap, "scheduler", "fr-fcfs-cap")?;
        if let Some(cap) = cap {
            self.within("scheduler_cap", cap, 1, CAP_MAX)?;
        }
        Ok(match (order, cap) {
            (_, Some(cap)) => Scheduler::FrFcfsCap(cap as u32),
            (Order::Fcfs, None) => Scheduler::Fcfs,
            (Order::FrFcfs | Order::FrFcfsCap, None) => Scheduler::FrFcfs,
        })
    }

    fn row_policy(&self, raw: &RawController) -> Result<RowPolicy, CliError> {
        let rows = match &raw.row_policy {
            Some(found) => self.document.choice("controller.row_policy", found, &ROW_POLICIES)?,
            None => Rows::Open,
        };
        let key = "row_timeout_cycles";
        let timeout = self.belongs(key, raw.row_timeout_cycles, rows == Rows::Timeout, "row_policy", "timeout")?;
        Ok(match (rows, self.cycles(key, timeout)?) {
            (_, Some(after)) => RowPolicy::Timeout(after),
            (Rows::Closed, None) => RowPolicy::Closed,
            (Rows::Open | Rows::Timeout, None) => RowPolicy::Open,
        })
    }

    /// A number that one variant needs, and no other has.
    fn belongs(
        &self,
        key: &str,
        found: Option<u64>,
        wanted: bool,
        owner: &str,
        variant: &str,
    ) -> Result<Option<u64>, CliError> {
        match (found, wanted) {
            (Some(_), false) => {
                let message = format!("`controller.{key}` is given, but `{owner}` is not \"{variant}\"");
                let help = format!("leave `{key}` out, or write `{owner} = \"{variant}\"`");
                Err(self.fault(key, message).with_help(help))
            }
            (None, true) => {
                let message = format!("`controller.{key}` is missing, and `{owner} = \"{variant}\"` needs it");
                let example = self.document.example(&format!("controller.{key}")).unwrap_or("1");
                let help = format!("add for example `{key} = {example}` to `controller`");
                Err(self.fault(owner, message).with_help(help))
            }
            (found, _) => Ok(found),
        }
    }

    fn queues(&self, raw: &RawController) -> Result<Queues, CliError> {
        let defaults = Queues::default();
        let entries = |key: &str, found: Option<u64>, default: usize| {
            let found = found.unwrap_or(default as u64);
            self.within(key, found, 1, ENTRIES_MAX).map(|()| found as usize)
        };
        let write_entries = entries("write_entries", raw.write_entries, defaults.write_entries)?;
        // Three quarters, and a third of that: 48 and 16 of 64.
        let drain_high = raw.drain_high.unwrap_or((write_entries as u64 * 3 / 4).max(1));
        self.within("drain_high", drain_high, 1, write_entries as u64)?;
        let drain_low = raw.drain_low.unwrap_or(drain_high / 3);
        if drain_low >= drain_high {
            let message =
                format!("`controller.drain_low` is {drain_low}, but must be less than `drain_high`, {drain_high}");
            return Err(self.fault("drain_low", message).with_help(format!("try `drain_low = {}`", drain_high / 3)));
        }
        Ok(Queues {
            read_entries: entries("read_entries", raw.read_entries, defaults.read_entries)?,
            write_entries,
            copy_entries: entries("copy_entries", raw.copy_entries, defaults.copy_entries)?,
            drain_high: drain_high as usize,
            drain_low: drain_low as usize,
        })
    }

    fn power(&self, raw: &RawController) -> Result<PowerPolicy, CliError> {
        let (down, refresh) = ("power_down_after_cycles", "self_refresh_after_cycles");
        let power_down_after = self.cycles(down, raw.power_down_after_cycles)?;
        let self_refresh_after = self.cycles(refresh, raw.self_refresh_after_cycles)?;
        for (key, given) in [(down, power_down_after), (refresh, self_refresh_after)] {
            if given.is_some() && self.refresh == Refresh::Off {
                let message = format!("`controller.{key}` is given, but `refresh.enabled` is false");
                let help =
                    "a rank that sleeps is woken for its refreshes: leave it out, or set `refresh.enabled = true`";
                return Err(self.fault(key, message).with_help(help));
            }
        }
        if let (Some(sleep), Some(deep)) = (power_down_after, self_refresh_after)
            && deep <= sleep
        {
            let message = format!("`controller.{refresh}` is {deep}, but must be more than `{down}`, {sleep}");
            let help = format!("leave `{down}` out: no rank would come to power-down before self-refresh");
            return Err(self.fault(refresh, message).with_help(help));
        }
        let precharged = match self.precharge_power_down {
            PrechargePowerDown::FastExit => PowerState::FastPowerDown,
            PrechargePowerDown::SlowExit => PowerState::SlowPowerDown,
        };
        if power_down_after.is_some() {
            self.has_currents(down, &[PowerState::ActivePowerDown, precharged])?;
        }
        if self_refresh_after.is_some() {
            self.has_currents(refresh, &[PowerState::SelfRefresh])?;
        }
        Ok(PowerPolicy { power_down_after, self_refresh_after })
    }

    /// That the states into which a key puts ranks can be priced: said before a run, not at its end.
    fn has_currents(&self, key: &str, states: &[PowerState]) -> Result<(), CliError> {
        let lacks = |set: &Currents| states.iter().find(|&&state| set.milliamperes(state).is_none()).copied();
        let Some(state) = lacks(self.currents) else { return Ok(()) };
        let (name, width) = (self.currents.name(), self.currents.width());
        let message = format!(
            "`controller.{key}` puts ranks into a state that draws {}, which the current set \"{name}\" does not have",
            state.current()
        );
        let fitting = currents::shipped()?.into_iter().filter(|set| set.width() == width && lacks(set).is_none());
        let names: Vec<String> = fitting.map(|set| format!("`{}`", set.name())).collect();
        let way_out = match state {
            PowerState::FastPowerDown if self.currents.milliamperes(PowerState::SlowPowerDown).is_some() => {
                "set `device.precharge_power_down = \"slow-exit\"`, whose current it has"
            }
            _ => "leave it out",
        };
        let help = format!("{way_out}, or take a set of {width} chips that has them all: {}", names.join(", "));
        Err(self.fault(key, message).with_help(help))
    }

    fn cycles(&self, key: &str, found: Option<u64>) -> Result<Option<Cycles>, CliError> {
        found.map(|found| self.within(key, found, 1, CYCLES_MAX).map(|()| Cycles(found))).transpose()
    }

    fn within(&self, key: &str, found: u64, least: u64, most: u64) -> Result<(), CliError> {
        self.document.within(&format!("controller.{key}"), found, least, most)
    }

    fn fault(&self, key: &str, message: String) -> CliError {
        self.document.fault(&format!("controller.{key}"), message)
    }
}
