//! Settings of a replay.

use std::num::NonZeroU32;

use dram_spec::{Clock, Cycles};

use crate::aged_memory::AllocatorSettings;

dram_spec::named! {
    /// Treatment of a record that does not fit the memory. With [`Self::SkipReserved`] and [`Self::Skip`], skipped
    /// records are counted.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum UnusableRecords {
        /// Skip records on reserved rows between usable ones, as some user-defined maps have them. Stop with an error
        /// if they are more than [`RESERVED_PERCENT_MAX`] percent of the trace, or at a record outside the usable
        /// memory.
        #[default]
        SkipReserved = "skip-reserved",
        /// Skip the record.
        Skip = "skip",
        /// Stop with an error that names the record.
        Refuse = "refuse",
    }
}

/// Largest share of records on reserved rows that [`UnusableRecords::SkipReserved`] skips, in percent of the trace.
pub const RESERVED_PERCENT_MAX: u64 = 5;

/// Who executes copies and fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayCopier {
    /// The CPU, over the channel: after the memory operations, the instructions of the copy or fill
    /// delay the following records.
    Cpu,
    /// The memory controller: the CPU does not execute those instructions.
    Controller,
}

/// Arrival of the records of a trace.
#[derive(Clone, Copy, Debug, PartialEq, derive_more::Display, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum Timing {
    /// At the times of the records; a record without a time arrives when it is taken.
    #[display("as recorded")]
    Recorded,
    /// After the instructions of the records, of which the recorded CPU executes this number per
    /// memory clock, finite and above 0.
    #[display("instructions, {_0} per memory clock")]
    Instructions(f64),
    /// As fast as the controller accepts requests.
    #[display("back to back")]
    BackToBack,
    /// As fast as the controller accepts requests, while at most this number are in flight.
    #[display("window of {_0} requests in flight")]
    Window(NonZeroU32),
}

impl Timing {
    /// Names of the timings in scenarios, in the order of the variants.
    pub const NAMES: &[&str] = <Timing as strum::VariantNames>::VARIANTS;

    /// Name in scenarios.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Settings of a replay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplaySettings {
    /// Treatment of records that do not fit the memory.
    pub unusable: UnusableRecords,
    /// Command clock of the memory, which is the unit of arrivals.
    pub clock: Clock,
    /// Arrival of the records.
    pub timing: Timing,
    /// Who executes copies and fills.
    pub copier: ReplayCopier,
    /// The allocator that places the pages in frames; without one they keep the recorded addresses.
    pub allocator: Option<AllocatorSettings>,
    /// CPU time of a recorded page fault, apart from its copy or zeroing.
    pub fault: Cycles,
}
