//! The table `[controller]` of a system file: sizes, order of service, and when ranks sleep. All of it has defaults.

use dram_spec::{Cycles, Geometry, PrechargePowerDown, Refresh};
use energy::{Currents, PowerState};
use std::sync::Arc;

use memctrl::policy::row::{Closed, Open, ROW_POLICIES, RowPolicy, Timeout};
use memctrl::policy::scheduler::{Bliss, FrFcfs, FrFcfsCap, ParBs, SCHEDULERS, Scheduler};
use memctrl::{PowerPolicy, Queues, RefreshPolicy};
use rowclone_sim::{CYCLES_MAX, ControllerSettings};
use serde::Deserialize;

use crate::CliError;

use super::document::Document;

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
    bliss_threshold: Option<u64>,
    bliss_clearing_cycles: Option<u64>,
    par_bs_marking_cap: Option<u64>,
    admission_per_cycle: Option<u64>,
    refresh_idle_cycles: Option<u64>,
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
    pub(super) postpone_max: u64,
    pub(super) precharge_power_down: PrechargePowerDown,
    pub(super) currents: &'a Currents,
}

impl Surroundings<'_> {
    /// The table with its defaults filled in.
    pub(super) fn check(&self, raw: &RawController) -> Result<ControllerSettings, CliError> {
        let defaults = ControllerSettings::new(self.geometry);
        let staging_lines = raw.staging_lines.unwrap_or(defaults.staging_lines as u64);
        self.within("staging_lines", staging_lines, 1, ControllerSettings::STAGING_LINES_MAX)?;
        Ok(ControllerSettings {
            staging_lines: staging_lines as usize,
            copy_hold_max: self.cycles("copy_hold_max_cycles", raw.copy_hold_max_cycles)?,
            queues: self.queues(raw)?,
            scheduler: self.scheduler(raw)?,
            row_policy: self.row_policy(raw)?,
            refresh: RefreshPolicy { postpone_max: self.postpone_max, idle: self.refresh_idle(raw)? },
            power: self.power(raw)?,
        })
    }

    fn scheduler(&self, raw: &RawController) -> Result<Box<dyn Scheduler>, CliError> {
        let scheduler = match &raw.scheduler {
            Some(found) => {
                let known = SCHEDULERS.map(|scheduler| (scheduler.name(), scheduler));
                self.document.choice("controller.scheduler", found, &known)?
            }
            None => &FrFcfs,
        };
        let name = scheduler.name();
        let number = |key, found, variant, most| {
            self.only_with(key, found, name == variant, "scheduler", variant)?;
            found.map_or(Ok(()), |found| self.within(key, found, 1, most))
        };
        number("scheduler_cap", raw.scheduler_cap, FrFcfsCap::NAME, CAP_MAX)?;
        number("bliss_threshold", raw.bliss_threshold, Bliss::NAME, CAP_MAX)?;
        number("bliss_clearing_cycles", raw.bliss_clearing_cycles, Bliss::NAME, CYCLES_MAX)?;
        number("par_bs_marking_cap", raw.par_bs_marking_cap, ParBs::NAME, ControllerSettings::ENTRIES_MAX)?;
        Ok(match name {
            FrFcfsCap::NAME => {
                let cap = self.required("scheduler_cap", raw.scheduler_cap, "scheduler", name)?;
                Box::new(FrFcfsCap { cap: cap as u32 })
            }
            Bliss::NAME => Box::new(Bliss::new(
                raw.bliss_threshold.map_or(Bliss::THRESHOLD, |threshold| threshold as u32),
                raw.bliss_clearing_cycles.map_or(Bliss::CLEARING_INTERVAL, Cycles),
            )),
            ParBs::NAME => Box::new(ParBs::new(raw.par_bs_marking_cap.map_or(ParBs::MARKING_CAP, |cap| cap as usize))),
            _ => scheduler.clone_box(),
        })
    }

    fn row_policy(&self, raw: &RawController) -> Result<Arc<dyn RowPolicy>, CliError> {
        let name = match &raw.row_policy {
            Some(found) => {
                self.document.choice("controller.row_policy", found, &ROW_POLICIES.map(|name| (name, name)))?
            }
            None => Open::NAME,
        };
        let (key, found) = ("row_timeout_cycles", raw.row_timeout_cycles);
        self.only_with(key, found, name == Timeout::NAME, "row_policy", Timeout::NAME)?;
        Ok(match name {
            Closed::NAME => Arc::new(Closed),
            Timeout::NAME => {
                let after = self.required(key, found, "row_policy", Timeout::NAME)?;
                self.within(key, after, 1, CYCLES_MAX)?;
                Arc::new(Timeout { after: Cycles(after) })
            }
            _ => Arc::new(Open),
        })
    }

    /// A number that one variant has, and no other.
    fn only_with(
        &self,
        key: &str,
        found: Option<u64>,
        is_wanted: bool,
        owner: &str,
        variant: &str,
    ) -> Result<(), CliError> {
        if found.is_none() || is_wanted {
            return Ok(());
        }
        let message = format!("`controller.{key}` is given, but `{owner}` is not \"{variant}\"");
        let help = format!("leave `{key}` out, or write `{owner} = \"{variant}\"`");
        Err(self.fault(key, message).with_help(help))
    }

    /// A number that its variant needs.
    fn required(&self, key: &str, found: Option<u64>, owner: &str, variant: &str) -> Result<u64, CliError> {
        found.ok_or_else(|| {
            let message = format!("`controller.{key}` is missing, and `{owner} = \"{variant}\"` needs it");
            let example = self.document.example(&format!("controller.{key}")).unwrap_or("1");
            let help = format!("add for example `{key} = {example}` to `controller`");
            self.fault(owner, message).with_help(help)
        })
    }

    fn queues(&self, raw: &RawController) -> Result<Queues, CliError> {
        let defaults = Queues::default();
        let entries = |key: &str, found: Option<u64>, default: usize| {
            let found = found.unwrap_or(default as u64);
            self.within(key, found, 1, ControllerSettings::ENTRIES_MAX).map(|()| found as usize)
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
            admission_per_cycle: entries("admission_per_cycle", raw.admission_per_cycle, defaults.admission_per_cycle)?,
            drain_high: drain_high as usize,
            drain_low: drain_low as usize,
        })
    }

    fn refresh_idle(&self, raw: &RawController) -> Result<Cycles, CliError> {
        let found = raw.refresh_idle_cycles.unwrap_or(RefreshPolicy::IDLE.0);
        self.within("refresh_idle_cycles", found, 0, CYCLES_MAX)?;
        Ok(Cycles(found))
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
        let fitting = energy::shipped().filter(|set| set.width() == width && lacks(set).is_none());
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
