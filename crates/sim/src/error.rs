//! Why a system cannot be built, or an experiment cannot be run.

use dram_spec::GeometryError;
use dram_spec::address::AddressMapError;
use energy::{EnergyError, PowerState};
use host::workload::WorkloadError;
use host::{AllocatorError, ReplayError, SpecError};

use crate::range::OutOfRange;

/// Why a system cannot be built. The text names the setting and what was found; [`SystemError::help`] says what would work.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SystemError {
    /// A shape that the chips do not have.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// An address map that does not fit the geometry.
    #[error(transparent)]
    AddressMap(#[from] AddressMapError),
    /// A name that no shipped current set has.
    #[error("`current_set` is \"{found}\", which is no shipped current set")]
    NoCurrentSet {
        /// The name.
        found: String,
    },
    /// Currents of chips of another width.
    #[error(transparent)]
    Currents(EnergyError),
    /// A number that is out of its range, or contradicts another setting.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// Power-down or self-refresh without refresh, which ends them in time.
    #[error("`{setting}` is given, but `refresh` is off")]
    PowerWithoutRefresh {
        /// The setting.
        setting: &'static str,
    },
    /// A power state whose current is not known.
    #[error("`{setting}` puts ranks into a state that draws {}, which the current set \"{set}\" does not have", state.current())]
    NoCurrent {
        /// The setting.
        setting: &'static str,
        /// The state.
        state: PowerState,
        /// The name of the set.
        set: String,
    },
}

impl SystemError {
    /// What would work.
    pub fn help(&self) -> String {
        match self {
            SystemError::Geometry(error) => error.help(),
            SystemError::AddressMap(error) => error.help(),
            SystemError::NoCurrentSet { .. } => {
                let names: Vec<String> = energy::shipped().map(|set| format!("`{}`", set.name())).collect();
                format!("the shipped sets are {}", names.join(", "))
            }
            SystemError::Currents(error) => error.help(),
            SystemError::OutOfRange(error) => error.help(),
            SystemError::PowerWithoutRefresh { setting } => {
                format!("ranks leave power-down for their refreshes: leave `{setting}` out, or turn refresh on")
            }
            SystemError::NoCurrent { setting, .. } => {
                format!("leave `{setting}` out, or take a current set that has the current")
            }
        }
    }
}

/// Why an experiment cannot be run to its end.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// An operation that cannot be done on the system.
    #[error("operation {index}: {source}")]
    Operation {
        /// Its place in the list, counted from 0.
        index: usize,
        /// What is wrong with it.
        source: SpecError,
    },
    /// A workload whose settings do not fit the system.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// An allocator that the memory cannot have.
    #[error(transparent)]
    Allocator(#[from] AllocatorError),
    /// A trace that cannot be played.
    #[error(transparent)]
    Trace(#[from] ReplayError),
    /// A number that is out of its range.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// A command stream that cannot be priced.
    #[error(transparent)]
    Energy(#[from] EnergyError),
    /// The caller stopped the run.
    #[error("the run was stopped")]
    Stopped,
}

impl ExperimentError {
    /// What would work, where anything is known.
    pub fn help(&self) -> Option<String> {
        match self {
            ExperimentError::Operation { source, .. } => Some(source.help()),
            ExperimentError::Workload(error) => Some(error.help()),
            ExperimentError::Allocator(error) => Some(error.help()),
            ExperimentError::Trace(error) => Some(error.help()),
            ExperimentError::OutOfRange(error) => Some(error.help()),
            ExperimentError::Energy(error) => Some(error.help()),
            ExperimentError::Stopped => None,
        }
    }
}
