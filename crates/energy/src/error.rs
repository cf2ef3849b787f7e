//! Errors of energy accounting.

use dram_spec::{Channel, Command, Cycle, Width};

use crate::counts::PowerState;

/// Reason why the energy of a command stream cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
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
    /// A rank was in a state whose current the set does not have.
    #[error("a rank was in a state that draws {}, which the current set \"{set}\" does not have", state.current())]
    Current {
        /// Name of the set.
        set: String,
        /// Power state.
        state: PowerState,
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
            Self::Current { state, .. } => {
                let key = state.current().to_lowercase();
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
