//! Checks of system settings that the constructors do not make.

use dram_spec::{BankId, Channel, Geometry, PrechargePowerDown, Refresh, Row, System};
use energy::{Currents, PowerState, Prices};
use memctrl::policy::row::RowPolicy;
use memctrl::{ConfigError, LowPower, PowerPolicy, QueueSettings, RefreshPolicy};

use crate::controller::ControllerSettings;
use crate::error::SystemError;
use crate::range::{CYCLES_MAX, OutOfRange, within};

/// Range of tREFI in ps: from a quarter of JEDEC's, for hot or dense parts, to 1 s, the limit of
/// command logs.
pub const T_REFI_PS: (u64, u64) = (1_950_000, 1_000_000_000_000);
/// Maximum number of postponed REFs in any refresh mode of a standard: DDR4's mode 4x.
pub const POSTPONE_MAX: u64 = 32;

pub(crate) fn faulty_rows(rows: &[(Channel, BankId, Row)], geometry: &Geometry) -> Result<(), OutOfRange> {
    for (channel, bank, row) in rows {
        within("faulty_rows.channel", channel.0.into(), 0, u64::from(geometry.channels()) - 1)?;
        within("faulty_rows.rank", bank.rank.into(), 0, u64::from(geometry.ranks()) - 1)?;
        within("faulty_rows.bank", bank.bank.into(), 0, u64::from(geometry.banks()) - 1)?;
        within("faulty_rows.row", row.0.into(), 0, u64::from(geometry.rows_per_bank()) - 1)?;
    }
    Ok(())
}

pub(crate) fn refresh(system: &System, policy: RefreshPolicy) -> Result<(), OutOfRange> {
    within("refresh.t_refi_ps", system.t_refi_ps(), T_REFI_PS.0, T_REFI_PS.1)?;
    within("refresh_policy.postpone_max", policy.postpone_max, 0, system.refresh_mode.postponed_most)?;
    within("refresh_policy.idle", policy.idle.0, 0, CYCLES_MAX)
}

pub(crate) fn queues(controller: &ControllerSettings) -> Result<(), SystemError> {
    let QueueSettings { read_entries, write_entries, copy_entries, admission_per_cycle, .. } = controller.queues;
    within("staging_lines", controller.staging_lines as u64, 1, ControllerSettings::STAGING_LINES_MAX)?;
    for (setting, found) in [
        ("queues.read_entries", read_entries),
        ("queues.write_entries", write_entries),
        ("queues.copy_entries", copy_entries),
        ("queues.admission_per_cycle", admission_per_cycle),
    ] {
        within(setting, found as u64, 1, ControllerSettings::ENTRIES_MAX)?;
    }
    controller.queues.check()?;
    Ok(within("copy_hold_max", controller.copy_hold_max.map_or(1, |cycles| cycles.0), 1, CYCLES_MAX)?)
}

/// Checks the settings of the scheduler and of the row policy.
pub(crate) fn policies(controller: &ControllerSettings) -> Result<(), OutOfRange> {
    let scheduler = controller.scheduler_or_default();
    for (setting, value) in scheduler.settings().iter().zip(scheduler.values()) {
        within(setting.name, value, setting.least, setting.most)?;
    }
    match controller.row_policy {
        RowPolicy::Timeout { after } => within("row_policy.after", after.0, 1, CYCLES_MAX),
        RowPolicy::Open | RowPolicy::Closed => Ok(()),
    }
}

pub(crate) fn power(power: PowerPolicy, system: &System, currents: Option<&Currents>) -> Result<(), SystemError> {
    for (state, after) in power.states() {
        within(format!("power.{}", state.name()), after.0, 1, CYCLES_MAX)?;
    }
    let checked = power.check(system.refresh);
    // The order of the two times is the last thing to be wrong.
    if !matches!(checked, Err(ConfigError::SelfRefreshFirst { .. })) {
        checked?;
    }
    if let Some(currents) = currents
        && let Some((state, current)) = missing_current(power, system.precharge_power_down, currents)
    {
        let setting = state.name();
        return Err(SystemError::NoCurrent { setting, current, set: currents.name().to_owned() });
    }
    Ok(checked?)
}

/// Checks the background model.
pub(crate) fn background(rho: f64) -> Result<(), SystemError> {
    if (0.0..=1.0).contains(&rho) { Ok(()) } else { Err(SystemError::Background { found: rho }) }
}

/// Checks that the current set of a system with refresh has the current of a refresh.
pub(crate) fn refresh_current(refresh: Refresh, prices: Option<&Prices>) -> Result<(), SystemError> {
    match prices.filter(|prices| refresh != Refresh::Off && !prices.has_refresh()) {
        Some(prices) => Err(SystemError::NoRefreshCurrent { set: prices.set().to_owned() }),
        None => Ok(()),
    }
}

/// The first state of idle ranks whose current a current set does not have, and the name of that current.
pub fn missing_current(
    power: PowerPolicy,
    precharge_power_down: PrechargePowerDown,
    currents: &Currents,
) -> Option<(LowPower, &'static str)> {
    power.states().find_map(|(state, _)| {
        let other = match state {
            LowPower::PowerDown => PowerState::closed_power_down(currents.standard(), precharge_power_down),
            LowPower::SelfRefresh => PowerState::SelfRefresh,
        };
        // The refresh on entry to self-refresh draws the current of active power-down, too.
        let drawn = [PowerState::ActivePowerDown, other];
        let mut drawn = drawn.into_iter().map(|drawn| currents.of_state(drawn, precharge_power_down));
        let (lacks, _) = drawn.find(|(_, found)| found.is_none())?;
        Some((state, lacks))
    })
}
