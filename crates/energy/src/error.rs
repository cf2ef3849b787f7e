//! Why a command stream cannot be priced.

use dram_spec::{Channel, Command, Cycle, Width};

use crate::counts::PowerState;

/// Why a command stream cannot be priced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnergyError {
    /// The current set is of another width than the chips of the system.
    #[error("the current set \"{set}\" is of {found} chips, but the system has {wanted} chips")]
    Width {
        /// The set's name.
        set: String,
        /// Its width.
        found: Width,
        /// The system's.
        wanted: Width,
    },
    /// A rank was in a state whose current the set does not have.
    #[error("a rank was in a state that draws {}, which the current set \"{set}\" does not have", state.current())]
    Current {
        /// The set's name.
        set: String,
        /// The state.
        state: PowerState,
    },
    /// A command to a place that the system does not have.
    #[error("cycle {at}, channel {}: `{command}` is to a place that the system does not have", channel.0)]
    Address {
        /// When it was issued.
        at: Cycle,
        /// Its channel.
        channel: Channel,
        /// The command.
        command: Command,
    },
    /// A command earlier than the one before it on its channel, or after the end of the run.
    #[error("cycle {at}, channel {}: `{command}` comes after cycle {last} has been read", channel.0)]
    Order {
        /// When it was issued.
        at: Cycle,
        /// Its channel.
        channel: Channel,
        /// The command.
        command: Command,
        /// The last instant of the channel before it.
        last: Cycle,
    },
    /// The run ended before its last command.
    #[error("the run ends at cycle {end}, before its last command at cycle {last}")]
    End {
        /// When it was said to end.
        end: Cycle,
        /// The last command.
        last: Cycle,
    },
}

impl EnergyError {
    /// What to do next.
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
