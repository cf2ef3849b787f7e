//! Errors of energy accounting.

use dram_spec::{Channel, Command, Cycle, Picojoule, Standard, Width};

use crate::counts::PowerState;

/// Reason why the energy of a command stream cannot be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EnergyError {
    /// The current set is for chips of another width than the system's.
    #[error("the current set \"{set}\" is of {found} chips, but the system has {wanted} chips")]
    Width {
        /// Name of the set.
        set: String,
        /// Width of the set.
        found: Width,
        /// Width of the system's chips.
        wanted: Width,
    },
    /// The current set is for chips of another standard than the system's.
    #[error(
        "the current set \"{set}\" is of {} chips, but the system has {} chips", found.name(), wanted.name()
    )]
    Standard {
        /// Name of the set.
        set: String,
        /// Standard of the set.
        found: Standard,
        /// Standard of the system.
        wanted: Standard,
        /// Width of the system's chips.
        width: Width,
    },
    /// With this background model, an activation would take no energy.
    #[error("with the current set \"{set}\" and rho {rho}, an activation would take {:.2} pJ per chip", activation.0)]
    Background {
        /// Name of the set.
        set: String,
        /// Background model.
        rho: f64,
        /// Energy of an activation of one chip.
        activation: Picojoule,
    },
    /// A rank was in a state whose current the set does not have.
    #[error("a rank was in a state that draws {current}, which the current set \"{set}\" does not have")]
    Current {
        /// Name of the set.
        set: String,
        /// Power state.
        state: PowerState,
        /// Name of the current.
        current: &'static str,
    },
    /// A rank was refreshed, and the set does not have the current of a refresh.
    #[error("a rank was refreshed, but the current set \"{set}\" has neither IDD5B nor IDD5R")]
    Refresh {
        /// Name of the set.
        set: String,
    },
    /// The system does not have the address of a command.
    #[error("cycle {at}, channel {}: `{command}` is to a place that the system does not have", channel.0)]
    Address {
        /// Cycle of the command.
        at: Cycle,
        /// Channel of the command.
        channel: Channel,
        /// Command.
        command: Command,
    },
    /// A command is earlier than its predecessor on its channel, or after the end of the run.
    #[error("cycle {at}, channel {}: `{command}` comes after cycle {last} has been read", channel.0)]
    Order {
        /// Cycle of the command.
        at: Cycle,
        /// Channel of the command.
        channel: Channel,
        /// Command.
        command: Command,
        /// Cycle of the channel's last command.
        last: Cycle,
    },
    /// The run ended before its last command.
    #[error("the run ends at cycle {end}, before its last command at cycle {last}")]
    End {
        /// Specified end.
        end: Cycle,
        /// Cycle of the last command.
        last: Cycle,
    },
}

impl EnergyError {
    /// Suggested change.
    pub fn help(&self) -> String {
        match self {
            Self::Width { found, wanted, .. } => {
                format!("take a current set of {wanted} chips, or set `width = {}`", found.pins())
            }
            Self::Standard { wanted, width, .. } => crate::shipped::fitting(*wanted, *width),
            Self::Background { .. } => {
                "set a lower `device.background_rho`; 0 counts active standby per open bank".to_owned()
            }
            Self::Refresh { .. } => {
                "add `idd5b_ma` or `idd5r_ma` to the set, take a set that has one, or set `refresh.enabled = false`"
                    .to_owned()
            }
            Self::Current { state, current, .. } => {
                let key = current.to_lowercase();
                let other = match state {
                    PowerState::SelfRefresh => "keep the ranks out of self-refresh",
                    PowerState::SlowPowerDown => "switch precharge power-down to fast exit",
                    PowerState::FastPowerDown => "switch precharge power-down to slow exit",
                    _ => "keep the ranks out of power-down",
                };
                format!("add `{key}_ma` to the set, take a set that has it, or {other}")
            }
            Self::Address { .. } => "describe the system that the log was made with".to_owned(),
            Self::Order { .. } => "sort the log by cycle, channel by channel".to_owned(),
            Self::End { last, .. } => format!("let the run end at cycle {last} or later"),
        }
    }
}
