//! Settings of a replay.

use dram_spec::Clock;

use crate::allocator_settings::AllocatorSettings;

/// Treatment of a record that does not fit the memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnusableRecords {
    /// Stop with an error that names the record.
    #[default]
    Refuse,
    /// Skip and count the record.
    Skip,
}

/// Who executes copies and fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copier {
    /// The CPU, over the channel: after the memory operations, the instructions of the copy or fill
    /// delay the following records.
    Cpu,
    /// The memory controller: the CPU does not execute those instructions.
    Controller,
}

/// Placement of a trace's pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Placement {
    /// At the recorded addresses.
    AsRecorded,
    /// In frames that an allocator chooses.
    Allocator(AllocatorSettings),
}

/// Settings of a replay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplaySettings {
    /// Treatment of records that do not fit the memory.
    pub unusable: UnusableRecords,
    /// Command clock of the memory, which is the unit of arrivals.
    pub clock: Clock,
    /// Instructions that the recorded CPU executes per memory clock, finite and above 0; `None` for
    /// a trace without instructions.
    pub instructions_per_clock: Option<f64>,
    /// Who executes copies and fills.
    pub copier: Copier,
    /// Placement of the pages.
    pub placement: Placement,
}
