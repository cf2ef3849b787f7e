//! Checks of system settings that the constructors do not make.

use dram_spec::{BankId, Channel, Geometry, PrechargePowerDown, Refresh, Row, System};
use energy::{Currents, PowerState};
use memctrl::policy::row::RowPolicy;
use memctrl::{PowerPolicy, Queues, RefreshPolicy};

use crate::controller::ControllerSettings;
use crate::error::SystemError;
use crate::range::{CYCLES_MAX, OutOfRange, within};

/// Range of tREFI in ps: from a quarter of JEDEC's, for hot or dense parts, to 1 s, the limit of
/// command logs.
const T_REFI_PS: (u64, u64) = (1_950_000, 1_000_000_000_000);
/// Maximum number of postponed REFs in JEDEC's standard.
const POSTPONE_MAX: u64 = 8;

pub(crate) fn faulty_rows(rows: &[(Channel, BankId, Row)], geometry: &Geometry) -> Result<(), OutOfRange> {
    for (channel, bank, row) in rows {
        within("faulty_rows.channel", channel.0.into(), 0, u64::from(geometry.channels()) - 1)?;
        within("faulty_rows.rank", bank.rank.into(), 0, u64::from(geometry.ranks()) - 1)?;
        within("faulty_rows.bank", bank.bank.into(), 0, u64::from(geometry.banks()) - 1)?;
        within("faulty_rows.row", row.0.into(), 0, u64::from(geometry.rows_per_bank()) - 1)?;
    }
    Ok(())
}

pub(crate) fn refresh(refresh: Refresh, policy: RefreshPolicy) -> Result<(), OutOfRange> {
    within("refresh.t_refi_ps", refresh.interval_ps(), T_REFI_PS.0, T_REFI_PS.1)?;
    within("refresh_policy.postpone_max", policy.postpone_max, 0, POSTPONE_MAX)?;
    within("refresh_policy.idle", policy.idle.0, 0, CYCLES_MAX)
}

pub(crate) fn queues(controller: &ControllerSettings) -> Result<(), OutOfRange> {
    let Queues { read_entries, write_entries, copy_entries, admission_per_cycle, drain_high, drain_low } =
        controller.queues;
    within("staging_lines", controller.staging_lines as u64, 1, ControllerSettings::STAGING_LINES_MAX)?;
    for (setting, found) in [
        ("queues.read_entries", read_entries),
        ("queues.write_entries", write_entries),
        ("queues.copy_entries", copy_entries),
        ("queues.admission_per_cycle", admission_per_cycle),
    ] {
        within(setting, found as u64, 1, ControllerSettings::ENTRIES_MAX)?;
    }
    within("queues.drain_high", drain_high as u64, 1, write_entries as u64)?;
    within("queues.drain_low", drain_low as u64, 0, drain_high as u64 - 1)?;
    within("copy_hold_max", controller.copy_hold_max.map_or(1, |cycles| cycles.0), 1, CYCLES_MAX)
}

/// Checks the settings of the scheduler and of the row policy.
pub(crate) fn policies(controller: &ControllerSettings) -> Result<(), OutOfRange> {
    for (setting, value) in controller.scheduler.settings().iter().zip(controller.scheduler.values()) {
        within(setting.name, value, setting.least, setting.most)?;
    }
    match controller.row_policy {
        RowPolicy::Timeout { after } => within("row_policy.after", after.0, 1, CYCLES_MAX),
        RowPolicy::Open | RowPolicy::Closed => Ok(()),
    }
}

pub(crate) fn power(power: PowerPolicy, system: &System, currents: &Currents) -> Result<(), SystemError> {
    let precharged = match system.precharge_power_down {
        PrechargePowerDown::FastExit => PowerState::FastPowerDown,
        PrechargePowerDown::SlowExit => PowerState::SlowPowerDown,
    };
    let states = [
        ("power.power_down_after", power.power_down_after, &[PowerState::ActivePowerDown, precharged][..]),
        // The refresh on entry draws the current of active power-down.
        (
            "power.self_refresh_after",
            power.self_refresh_after,
            &[PowerState::ActivePowerDown, PowerState::SelfRefresh][..],
        ),
    ];
    for (setting, after, states) in states {
        let Some(after) = after else { continue };
        within(setting, after.0, 1, CYCLES_MAX)?;
        if system.refresh == Refresh::Off {
            return Err(SystemError::PowerWithoutRefresh { setting });
        }
        if let Some(&state) = states.iter().find(|&&state| currents.milliamperes(state).is_none()) {
            return Err(SystemError::NoCurrent { setting, state, set: currents.name().to_owned() });
        }
    }
    match (power.power_down_after, power.self_refresh_after) {
        (Some(power_down), Some(self_refresh)) if self_refresh <= power_down => {
            Ok(within("power.self_refresh_after", self_refresh.0, power_down.0 + 1, CYCLES_MAX)?)
        }
        _ => Ok(()),
    }
}
