//! What is wrong with the settings of a workload.

use dram_spec::PhysicalAddress;
use rowclone::PlanError;

use crate::allocator_settings::AllocatorError;
use crate::placement::PlacementError;

/// Why a workload cannot be had. Where one setting is at fault, the text begins with its name.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WorkloadError {
    /// There must be something.
    #[error("`{key}` is 0, but must be at least {least}")]
    Zero {
        /// The setting.
        key: &'static str,
        /// What will do.
        least: u64,
    },
    /// Not whole lines, or pages.
    #[error("`{key}` is {found}, but must be a multiple of {unit}")]
    NotAMultiple {
        /// The setting.
        key: &'static str,
        /// Its value.
        found: u64,
        /// What it must be a multiple of.
        unit: u64,
    },
    /// No share.
    #[error("`{key}` is {found}, but must be a share from 0 to 1")]
    NotAShare {
        /// The setting.
        key: &'static str,
        /// Its value.
        found: f64,
    },
    /// More shares than there are requests.
    #[error("`{keys}` are shares of all requests, but come to {sum} together")]
    SharesAboveOne {
        /// The settings.
        keys: &'static str,
        /// Their sum.
        sum: f64,
    },
    /// It leaves the memory.
    #[error("`{key}` leads past the end of the memory at {end}")]
    PastEnd {
        /// The setting.
        key: &'static str,
        /// Where the memory ends.
        end: PhysicalAddress,
    },
    /// A gap that is longer than [`Gap::CYCLES_MAX`](super::Gap::CYCLES_MAX).
    #[error("`gap` is {found} cycles, but must be at most {most}")]
    GapTooLong {
        /// The gap, in cycles.
        found: u64,
        /// The longest gap, in cycles.
        most: u64,
    },
    /// Too few places of the memory.
    #[error("`{key}` is {found}, but must be at least {least}: {why}")]
    TooSmall {
        /// The setting.
        key: &'static str,
        /// Its value.
        found: u64,
        /// What will do.
        least: u64,
        /// Why it must.
        why: &'static str,
    },
    /// More than there are.
    #[error("`{key}` is {found}, but there are only {most}")]
    TooMany {
        /// The setting.
        key: &'static str,
        /// Its value.
        found: u64,
        /// What there is.
        most: u64,
    },
    /// Reserved rows, and little else.
    #[error("`{key}` leaves nothing but reserved rows to use")]
    AllReserved {
        /// The setting.
        key: &'static str,
    },
    /// The allocator has not so many frames.
    #[error("`{key}` takes {needed} frames of 4 KiB in all, but {free} are free")]
    OutOfMemory {
        /// The setting.
        key: &'static str,
        /// Frames that the workload takes.
        needed: u64,
        /// Frames that are free after ageing.
        free: u64,
    },
    /// Processes need frames.
    #[error("`{workload}` takes frames from an allocator, and none is set")]
    NoAllocator {
        /// The workload.
        workload: &'static str,
    },
    /// Nobody would ask it.
    #[error("`{workload}` takes no frames from an allocator, but one is set")]
    NeedlessAllocator {
        /// The workload.
        workload: &'static str,
    },
    /// No such allocator.
    #[error(transparent)]
    Allocator(#[from] AllocatorError),
    /// No page lies so.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// Nothing can be copied from that address.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

impl WorkloadError {
    /// The setting that is at fault, where it is one of the workload.
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
            Self::GapTooLong { .. } => Some("gap"),
            Self::Placement(_) | Self::Plan(_) => Some("pairs"),
            Self::SharesAboveOne { .. }
            | Self::NoAllocator { .. }
            | Self::NeedlessAllocator { .. }
            | Self::Allocator(_) => None,
        }
    }

    /// What to do next.
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
                format!("lower `{key}`, or begin at a lower address: the whole memory is {} bytes", end.0)
            }
            Self::GapTooLong { most, .. } => format!("take a gap of at most {most} cycles"),
            Self::Zero { key, least } | Self::TooSmall { key, least, .. } => format!("try `{key} = {least}`"),
            Self::TooMany { key, most, .. } => format!("try `{key} = {most}`"),
            Self::AllReserved { .. } => {
                "the last row of each subarray is reserved: choose other addresses, or more of them".to_owned()
            }
            Self::OutOfMemory { key, .. } => format!("lower `{key}`, or the allocator's `utilisation`"),
            Self::NoAllocator { .. } => {
                "add an allocator, for example with `policy = \"subarray-aware\"`, or `\"buddy\"` for one that looks at no subarrays"
                    .to_owned()
            }
            Self::NeedlessAllocator { .. } => "leave the allocator out: the addresses are the workload's own".to_owned(),
            Self::Allocator(error) => error.help(),
            Self::Placement(error) => error.help().to_owned(),
            Self::Plan(error) => error.help(),
        }
    }
}
