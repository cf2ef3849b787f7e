//! Errors of systems and experiments.

use dram_spec::GeometryError;
use dram_spec::address::AddressMapError;
use energy::EnergyError;
use host::workload::WorkloadError;
use host::{AllocatorError, ReplayError, SpecError};
use memctrl::ConfigError;

use crate::range::OutOfRange;

/// Reason why a system cannot be built. The message names the setting and the value found;
/// [`SystemError::help`] returns what to change.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SystemError {
    /// The geometry is not available in chips.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// The address map does not fit the geometry.
    #[error(transparent)]
    AddressMap(#[from] AddressMapError),
    /// No shipped current set has this name.
    #[error("`current_set` is \"{found}\", which is no shipped current set")]
    NoCurrentSet {
        /// Name.
        found: String,
    },
    /// The current set is for other chips, or does not fit the background model.
    #[error(transparent)]
    Currents(EnergyError),
    /// The background model is no share.
    #[error("`background_rho` is {found}, but must be from 0 to 1")]
    Background {
        /// Value found.
        found: f64,
    },
    /// Refresh is on, and the current set does not have the current of a refresh.
    #[error("the system refreshes, but the current set \"{set}\" has neither IDD5B nor IDD5R")]
    NoRefreshCurrent {
        /// Name of the current set.
        set: String,
    },
    /// A number is out of range, or contradicts another setting.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// Settings of the controller contradict each other.
    #[error(transparent)]
    Controller(#[from] ConfigError),
    /// The current of a power state is not known.
    #[error(
        "`power.{setting}` puts ranks into a state that draws {current}, which the current set \"{set}\" does not have"
    )]
    NoCurrent {
        /// Field of the power policy.
        setting: &'static str,
        /// Name of the current.
        current: &'static str,
        /// Name of the current set.
        set: String,
    },
}

impl SystemError {
    /// Suggested change.
    pub fn help(&self) -> String {
        match self {
            SystemError::Geometry(error) => error.help(),
            SystemError::AddressMap(error) => error.help(),
            SystemError::NoCurrentSet { .. } => {
                let names: Vec<String> = energy::shipped().map(|set| format!("`{}`", set.name())).collect();
                format!("the shipped sets are {}", names.join(", "))
            }
            SystemError::Currents(error) => error.help(),
            SystemError::Background { .. } => "0 counts active standby per open bank, 1 per rank".to_owned(),
            SystemError::NoRefreshCurrent { set } => EnergyError::Refresh { set: set.clone() }.help(),
            SystemError::OutOfRange(error) => error.help(),
            SystemError::Controller(error) => error.help(),
            SystemError::NoCurrent { setting, .. } => {
                format!("leave `power.{setting}` out, or take a current set that has the current")
            }
        }
    }
}

/// Reason why an experiment cannot run to its end.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// An operation is not possible on the system.
    #[error("operation {index}: {source}")]
    Operation {
        /// Index in the list.
        index: usize,
        /// Reason.
        source: SpecError,
    },
    /// The settings of a workload do not fit the system.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// A program did not run to its end.
    #[error(transparent)]
    Machine(#[from] host::machine::MachineError),
    /// The allocator cannot be built for the memory.
    #[error(transparent)]
    Allocator(#[from] AllocatorError),
    /// The trace cannot be replayed.
    #[error(transparent)]
    Trace(#[from] ReplayError),
    /// A number is out of range.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// The energy of the command stream cannot be computed.
    #[error(transparent)]
    Energy(#[from] EnergyError),
    /// The copy policy compares energies, and the system has no current set.
    #[error("the policy `{policy}` compares energies, but the system has no current set")]
    NoPrices {
        /// Policy.
        policy: &'static str,
    },
    /// A page-mode memory executes no copies, and has no scheduler.
    #[error(
        "the policy `{policy}` needs a memory controller that copies or schedules, but the memory is a page-mode memory"
    )]
    PageMode {
        /// Policy.
        policy: &'static str,
    },
    /// A page-mode memory executes no copies, which a workload without cores requests from the memory.
    #[error("the workload copies or zeroes in the memory controller, but the memory is a page-mode memory")]
    PageModeCopy,
    /// The caller stopped the run.
    #[error("the run was stopped")]
    Stopped,
}

impl ExperimentError {
    /// Suggested change, if known.
    pub fn help(&self) -> Option<String> {
        match self {
            ExperimentError::Operation { source, .. } => Some(source.help()),
            ExperimentError::Machine(error) => Some(error.help()),
            ExperimentError::Workload(error) => Some(error.help()),
            ExperimentError::Allocator(error) => Some(error.help()),
            ExperimentError::Trace(error) => Some(error.help()),
            ExperimentError::OutOfRange(error) => Some(error.help()),
            ExperimentError::Energy(error) => Some(error.help()),
            ExperimentError::NoPrices { .. } => {
                Some("give the supply currents of the chips, `device.currents` in a system file".to_owned())
            }
            ExperimentError::PageMode { .. } => Some("choose the policy `baseline` or `dma`".to_owned()),
            ExperimentError::PageModeCopy => {
                Some("copy by programs on cores, such as `workload.kind = \"memcopy\"` with `machine`".to_owned())
            }
            ExperimentError::Stopped => None,
        }
    }
}
