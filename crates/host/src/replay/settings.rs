//! How a trace is played.

use dram_spec::Clock;

use crate::allocator_settings::AllocatorSettings;

/// What to do with a record that this memory cannot take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnusableRecords {
    /// Stop, and name it.
    #[default]
    Refuse,
    /// Leave it out, and count it.
    Skip,
}

/// Who copies and fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copier {
    /// The CPU, over the channel: when the memory is done, the instructions of the copy or fill delay what follows.
    Cpu,
    /// The memory controller: the CPU executes none of those instructions.
    Controller,
}

/// Where the pages of the trace lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Placement {
    /// At the addresses that were recorded.
    AsRecorded,
    /// In frames that an allocator chooses.
    Allocator(AllocatorSettings),
}

/// How a trace is played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplaySettings {
    /// What becomes of records that this memory cannot take.
    pub unusable: UnusableRecords,
    /// The command clock of the memory, in which arrivals are counted.
    pub clock: Clock,
    /// How many instructions the CPU that was recorded executes per clock of the memory, finite and above 0; none for a trace that
    /// has no instructions.
    pub instructions_per_clock: Option<f64>,
    /// Who copies and fills.
    pub copier: Copier,
    /// Where the pages lie.
    pub placement: Placement,
}
