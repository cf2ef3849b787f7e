//! The table `[controller]` of a system file: queues, scheduler, row policy, and the power-down of idle ranks.

use dram_spec::{Cycles, PrechargePowerDown, Refresh};
use energy::{Currents, PowerState};
use memctrl::policy::row::{ROW_POLICIES, RowPolicy};
use memctrl::policy::scheduler::{Candidacy, FrFcfs, SCHEDULERS, Scheduler, Setting, SettingUnit};
use memctrl::{ConfigError, LowPower, PowerPolicy, QueueSettings, RefreshPolicy};
use rowclone_sim::quantity::grouped;
use rowclone_sim::{CYCLES_MAX, ControllerSettings, missing_current};

use crate::Failure;
use crate::document::Section;
use crate::key::{Holds, Key, key};

/// Range of the entries of a queue.
const ENTRIES: Holds = Holds::Count(1, ControllerSettings::ENTRIES_MAX);
const CLOCKS: Holds = Holds::Clocks(1, CYCLES_MAX);

/// Keys of `[controller]`, without those of schedulers.
#[rustfmt::skip]
const KEYS: &[Key] = &[
    Key::new("controller", Holds::Table, "", "the memory controller (`controller.md`)").or("as below"),
    key!(ControllerSettings, controller.staging_lines, Holds::Count(1, ControllerSettings::STAGING_LINES_MAX), "64", "lines of 64 bytes that a copy over the channel reads before it writes them").or("the lines of one row"),
    Key::new("controller.row_policy", Holds::Name(|| ROW_POLICIES.map(RowPolicy::name).into()), "\"open\"", "when a row that no access waits for is closed: when another row is needed; with the last access to it; after a time").or("`open`"),
    Key::new("controller.row_timeout_cycles", CLOCKS, "200", "with `timeout` only: clocks from the last command to the bank to the precharge").or("required with `timeout`"),
    key!(QueueSettings, controller.read_entries, ENTRIES, "64", "entries of a channel's read queue").or("64"),
    key!(QueueSettings, controller.write_entries, ENTRIES, "64", "entries of a channel's write queue").or("64"),
    key!(QueueSettings, controller.copy_entries, ENTRIES, "32", "copies and initializations in progress, over all channels").or("32"),
    key!(QueueSettings, controller.admission_per_cycle, ENTRIES, "1", "line accesses that a channel accepts per clock, and copies that the front end accepts per clock").or("1"),
    key!(QueueSettings, controller.drain_high, Holds::Count(0, u64::MAX), "48", "except with `fifo`, which has no write drain: queued writes at which one starts").values("1 to `write_entries`").or("three quarters of `write_entries`: 48"),
    key!(QueueSettings, controller.drain_low, Holds::Count(0, u64::MAX), "16", "except with `fifo`: queued writes at which a write drain ends").values("0 to `drain_high` - 1").or("a third of `drain_high`: 16"),
    key!(ControllerSettings, controller.copy_hold_max_cycles => copy_hold_max, CLOCKS, "200", "how long a copy may hold a bank that a read waits for").or("until the copy has finished in the bank"),
    key!(RefreshPolicy, controller.refresh_idle_cycles => idle, Holds::Clocks(0, CYCLES_MAX), "50", "clocks without an access after which a rank that owes fewer than `refresh.postpone_max` REF closes its rows for one").or("50"),
    key!(PowerPolicy, controller.power_down_after_cycles => power_down_after, CLOCKS, "100", "clocks of idleness after which a rank enters power-down; needs refresh, and currents of these states").or("never"),
    key!(PowerPolicy, controller.self_refresh_after_cycles => self_refresh_after, CLOCKS, "10_000", "clocks of idleness after which a rank enters self-refresh, more than `power_down_after_cycles`; needs refresh, and currents of these states").or("never"),
];

/// Keys of `[controller]`: those of schedulers after the first two.
pub(crate) fn keys() -> Vec<Key> {
    let (first, rest) = KEYS.split_at(2);
    let settings =
        settings_of_schedulers().map(|(scheduler, setting, default)| setting_key(scheduler, setting, default));
    first.iter().copied().chain([scheduler_key()]).chain(settings).chain(rest.iter().copied()).collect()
}

fn scheduler_key() -> Key {
    let names = || SCHEDULERS.iter().map(|scheduler| scheduler.name()).collect();
    let orders: Vec<_> = SCHEDULERS.iter().map(|scheduler| scheduler.about()).collect();
    let about = format!("order of accesses: {}", orders.join("; ")).leak();
    Key::new("controller.scheduler", Holds::Name(names), "\"fr-fcfs\"", about)
        .or("`fr-fcfs`; under a policy with a device, the one it needs (`cores.md`)")
}

/// The settings of all schedulers, with their defaults.
fn settings_of_schedulers() -> impl Iterator<Item = (&'static str, &'static Setting, u64)> {
    SCHEDULERS.iter().flat_map(|scheduler| {
        let settings = scheduler.settings().iter().zip(scheduler.values());
        settings.map(|(setting, default)| (scheduler.name(), setting, default))
    })
}

/// The key of a scheduler's setting. Keys last as long as the program.
fn setting_key(scheduler: &str, setting: &Setting, default: u64) -> Key {
    let Setting { name, unit, least, most, is_required, about } = *setting;
    let holds = match unit {
        SettingUnit::Count => Holds::Count(least, most),
        SettingUnit::Clocks => Holds::Clocks(least, most),
    };
    let absent = if is_required { format!("required with `{scheduler}`") } else { grouped(default) };
    let about = format!("with `{scheduler}` only: {about}").leak();
    Key::new(format!("controller.{name}").leak(), holds, default.to_string().leak(), about).or(absent.leak())
}

/// The table, and the settings of the system with which it is compared.
pub(crate) struct ControllerTable<'a> {
    pub(crate) table: Section<'a>,
    pub(crate) defaults: ControllerSettings,
    pub(crate) refresh: Refresh,
    pub(crate) postpone_max: u64,
    pub(crate) precharge_power_down: PrechargePowerDown,
    pub(crate) currents: Option<&'a Currents>,
}

impl ControllerTable<'_> {
    /// The settings of the table, with defaults for keys that are not given.
    pub(crate) fn check(&self) -> Result<ControllerSettings, Failure> {
        let scheduler = self.scheduler()?;
        if scheduler.candidacy() == Candidacy::Oldest {
            self.no_write_drain(scheduler.name())?;
        }
        let refresh = RefreshPolicy { postpone_max: self.postpone_max, idle: RefreshPolicy::IDLE };
        Ok(ControllerSettings {
            queues: self.queues()?,
            scheduler: self.table.has("scheduler").then_some(scheduler),
            row_policy: self.row_policy()?,
            refresh: self.table.over(refresh),
            power: self.power()?,
            ..self.table.over(self.defaults.clone())
        })
    }

    fn scheduler(&self) -> Result<Box<dyn Scheduler>, Failure> {
        let known: Vec<_> = SCHEDULERS.iter().map(|scheduler| (scheduler.name(), *scheduler)).collect();
        let scheduler = self.table.choice("scheduler", &known).unwrap_or(&FrFcfs);
        let name = scheduler.name();
        for (owner, setting, _) in settings_of_schedulers() {
            self.only_with(setting.name, "scheduler", owner, name)?;
        }
        let value = |(setting, default): (&Setting, u64)| {
            if setting.is_required {
                self.table.needs(setting.name, "scheduler", name)?;
            }
            Ok(self.table.get(setting.name).unwrap_or(default))
        };
        let settings = scheduler.settings().iter().zip(scheduler.values());
        let values = settings.map(value).collect::<Result<Vec<u64>, Failure>>()?;
        let mut scheduler = dyn_clone::clone_box(scheduler);
        scheduler.set_values(&values);
        Ok(scheduler)
    }

    fn row_policy(&self) -> Result<RowPolicy, Failure> {
        let known = ROW_POLICIES.map(|policy| (policy.name(), policy));
        let mut policy = self.table.choice("row_policy", &known).unwrap_or_default();
        let name = policy.name();
        match &mut policy {
            RowPolicy::Timeout { after } => {
                self.table.needs("row_timeout_cycles", "row_policy", name)?;
                *after = Cycles(self.table.of("row_timeout_cycles"));
            }
            RowPolicy::Open | RowPolicy::Closed => {
                self.only_with("row_timeout_cycles", "row_policy", "timeout", name)?;
            }
        }
        Ok(policy)
    }

    /// Checks that a key of one variant of `owner` is not given with another.
    fn only_with(&self, key: &str, owner: &str, variant: &str, chosen: &str) -> Result<(), Failure> {
        if chosen == variant {
            return Ok(());
        }
        let why = format!(", but `{owner}` is not \"{variant}\"");
        self.table.without(&[key], &why, &format!("leave `{key}` out, or write `{owner} = \"{variant}\"`"))
    }

    /// Checks that no watermark is given with a scheduler that has no write drain.
    fn no_write_drain(&self, scheduler: &str) -> Result<(), Failure> {
        let why = format!(", but `scheduler = \"{scheduler}\"` has no write drain");
        ["drain_high", "drain_low"].into_iter().try_for_each(|key| {
            let help = format!("leave `{key}` out, or choose another scheduler: `fcfs` serves the oldest of a kind");
            self.table.without(&[key], &why, &help)
        })
    }

    fn queues(&self) -> Result<QueueSettings, Failure> {
        let mut queues = self.table.over(QueueSettings::default());
        // Three quarters, and a third of that: 48 and 16 of 64.
        if !self.table.has("drain_high") {
            queues.drain_high = (queues.write_entries * 3 / 4).max(1);
        }
        if !self.table.has("drain_low") {
            queues.drain_low = queues.drain_high / 3;
        }
        queues.check().map_err(|error| self.contradiction(error))?;
        Ok(queues)
    }

    /// An error of the controller, with the key.
    fn contradiction(&self, error: ConfigError) -> Failure {
        let (down, deep) = (key_of(LowPower::PowerDown), key_of(LowPower::SelfRefresh));
        let (key, wrong, help) = match error {
            ConfigError::DrainHigh { found, write_entries } => {
                let within = self.table.within("drain_high", found as u64, 1, write_entries as u64);
                return within.expect_err("it is out of range");
            }
            ConfigError::DrainLow { found, drain_high } => (
                "drain_low",
                format!("is {found}, but must be less than `drain_high`, {drain_high}"),
                format!("try `drain_low = {}`", drain_high / 3),
            ),
            ConfigError::NoRefresh(state) => (
                key_of(state),
                "is given, but `refresh.enabled` is false".to_owned(),
                "a rank leaves power-down for its refreshes: leave it out, or set `refresh.enabled = true`".to_owned(),
            ),
            ConfigError::SelfRefreshFirst { found, power_down_after } => (
                deep,
                format!("is {found}, but must be more than `{down}`, {power_down_after}"),
                format!("leave `{down}` out: no rank would come to power-down before self-refresh"),
            ),
            ConfigError::Zero(_) | ConfigError::LongHold { .. } | ConfigError::ShortQuantum { .. } => {
                unreachable!("the keys and the system exclude it")
            }
        };
        self.table.fault(key, format!("`controller.{key}` {wrong}")).with_help(help)
    }

    fn power(&self) -> Result<PowerPolicy, Failure> {
        let power = self.table.over(PowerPolicy::default());
        power.check(self.refresh).map_err(|error| self.contradiction(error))?;
        let Some(currents) = self.currents else { return Ok(power) };
        match missing_current(power, self.precharge_power_down, currents) {
            None => Ok(power),
            Some((low_power, current)) => Err(self.no_current(key_of(low_power), power, current, currents)),
        }
    }

    /// The current set does not have a current of the states into which a key puts ranks.
    fn no_current(&self, key: &str, power: PowerPolicy, current: &str, currents: &Currents) -> Failure {
        let (name, standard, width) = (currents.name(), currents.standard(), currents.width());
        let message = format!(
            "`controller.{key}` puts ranks into a state that draws {current}, which the current set \"{name}\" does \
                not have"
        );
        let fitting = energy::shipped()
            .filter(|set| set.fits(standard, width))
            .filter(|set| missing_current(power, self.precharge_power_down, set).is_none());
        let names: Vec<String> = fitting.map(|set| format!("`{}`", set.name())).collect();
        let slow = PowerState::closed_power_down(standard, PrechargePowerDown::SlowExit);
        let (_, of_slow) = currents.of_state(slow, PrechargePowerDown::SlowExit);
        let way_out =
            if slow == PowerState::SlowPowerDown && current == PowerState::FastPowerDown.name() && of_slow.is_some() {
                "set `device.precharge_power_down = \"slow-exit\"`, whose current it has"
            } else {
                "leave it out"
            };
        let help = format!("{way_out}, or take a set of {width} chips that has them all: {}", names.join(", "));
        self.table.fault(key, message).with_help(help)
    }
}

/// The key of the time after which idle ranks enter a state.
const fn key_of(state: LowPower) -> &'static str {
    match state {
        LowPower::PowerDown => "power_down_after_cycles",
        LowPower::SelfRefresh => "self_refresh_after_cycles",
    }
}
