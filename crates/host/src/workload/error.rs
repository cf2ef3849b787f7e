//! Errors of workload settings.

use dram_spec::PhysicalAddress;
use rowclone::PlanError;

use crate::aged_memory::AllocatorError;
use crate::operation::PlacementError;

/// Reason why a workload cannot be built. If one setting is the cause, the message starts with its name.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WorkloadError {
    /// The setting is 0.
    #[error("`{key}` is 0, but must be at least {least}")]
    Zero {
        /// Setting.
        key: &'static str,
        /// Least valid value.
        least: u64,
    },
    /// The setting is not a multiple of its unit.
    #[error("`{key}` is {found}, but must be a multiple of {unit}")]
    NotAMultiple {
        /// Setting.
        key: &'static str,
        /// Value found.
        found: u64,
        /// Unit.
        unit: u64,
    },
    /// The setting is not a share.
    #[error("`{key}` is {found}, but must be a share from 0 to 1")]
    NotAShare {
        /// Setting.
        key: &'static str,
        /// Value found.
        found: f64,
    },
    /// The shares sum to more than 1.
    #[error("`{keys}` are shares of all requests, but sum to {sum}")]
    SharesAboveOne {
        /// Settings.
        keys: &'static str,
        /// Sum of the shares.
        sum: f64,
    },
    /// The setting exceeds the usable memory.
    #[error("`{key}` leads past the end of the usable memory at {end}")]
    PastEnd {
        /// Setting.
        key: &'static str,
        /// End of the usable memory, exclusive.
        end: PhysicalAddress,
    },
    /// The gap exceeds [`Gap::CYCLES_MAX`](super::Gap::CYCLES_MAX).
    #[error("`gap` is {found} cycles, but must be at most {most}")]
    GapTooLong {
        /// Gap in cycles.
        found: u64,
        /// Longest valid gap in cycles.
        most: u64,
    },
    /// The setting is too small.
    #[error("`{key}` is {found}, but must be at least {least}: {why}")]
    TooSmall {
        /// Setting.
        key: &'static str,
        /// Value found.
        found: u64,
        /// Least valid value.
        least: u64,
        /// Reason for the limit.
        why: &'static str,
    },
    /// The setting is too large.
    #[error("`{key}` is {found}, but there are only {most}")]
    TooMany {
        /// Setting.
        key: &'static str,
        /// Value found.
        found: u64,
        /// Largest valid value.
        most: u64,
    },
    /// The region contains only reserved rows.
    #[error("`{key}` leaves nothing but reserved rows to use")]
    AllReserved {
        /// Setting.
        key: &'static str,
    },
    /// The allocator has too few free frames.
    #[error("`{key}` takes {needed} frames of 4 KiB in all, but {free} are free")]
    OutOfMemory {
        /// Setting.
        key: &'static str,
        /// Frames required.
        needed: u64,
        /// Free frames after aging.
        free: u64,
    },
    /// The workload requires an allocator.
    #[error("`{workload}` takes frames from an allocator, and none is set")]
    NoAllocator {
        /// The workload.
        workload: &'static str,
    },
    /// The workload does not use an allocator.
    #[error("`{workload}` takes no frames from an allocator, but one is set")]
    NeedlessAllocator {
        /// The workload.
        workload: &'static str,
    },
    /// The allocator cannot be built.
    #[error(transparent)]
    Allocator(#[from] AllocatorError),
    /// No page has the required relation.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// The source address cannot be read.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

impl WorkloadError {
    /// The setting that is the cause, if it is one of the workload.
    pub const fn key(&self) -> Option<&'static str> {
        match self {
            Self::Zero { key, .. }
            | Self::NotAMultiple { key, .. }
            | Self::NotAShare { key, .. }
            | Self::PastEnd { key, .. }
            | Self::TooSmall { key, .. }
            | Self::TooMany { key, .. }
            | Self::AllReserved { key }
            | Self::OutOfMemory { key, .. } => Some(key),
            Self::Placement(_) | Self::Plan(_) => Some("pairs"),
            Self::SharesAboveOne { .. }
            | Self::GapTooLong { .. }
            | Self::NoAllocator { .. }
            | Self::NeedlessAllocator { .. }
            | Self::Allocator(_) => None,
        }
    }

    /// Suggested change.
    pub fn help(&self) -> String {
        match self {
            Self::NotAMultiple { key, found, unit } => {
                format!("try `{key} = {}`", found.checked_next_multiple_of(*unit).unwrap_or(*unit))
            }
            Self::NotAShare { key, found } => {
                let percent = *found > 1.0 && *found <= 100.0;
                format!("try `{key} = {}`", if percent { found / 100.0 } else { 0.5 })
            }
            Self::SharesAboveOne { .. } => "lower one of them: what is left to 1 is the share of reads".to_owned(),
            Self::PastEnd { key, end } => {
                format!("lower `{key}`, or begin at a lower address: the usable capacity is {} bytes", end.0)
            }
            Self::GapTooLong { most, .. } => format!("take a gap of at most {most} cycles"),
            Self::Zero { key, least } | Self::TooSmall { key, least, .. } => format!("try `{key} = {least}`"),
            Self::TooMany { key, most, .. } => format!("try `{key} = {most}`"),
            Self::AllReserved { .. } => {
                "the last row of each subarray is reserved: choose other addresses, or more of them".to_owned()
            }
            Self::OutOfMemory { key, .. } => format!("lower `{key}`, or the allocator's `utilization`"),
            Self::NoAllocator { .. } => {
                "add an allocator, for example with `policy = \"subarray-aware\"`, or `\"buddy\"`, which ignores \
                    subarrays"
                    .to_owned()
            }
            Self::NeedlessAllocator { .. } => "leave the allocator out: the addresses are the workload's \
                own"
            .to_owned(),
            Self::Allocator(error) => error.help(),
            Self::Placement(error) => error.help().to_owned(),
            Self::Plan(error) => error.help(),
        }
    }
}
