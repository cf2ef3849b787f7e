//! Sources of memory requests: scenarios, traces and workloads; and the reference memory they are
//! checked against.

pub mod aged_memory;
pub mod checked_source;
pub mod comparison;
pub mod contents;
mod decisions;
pub mod flat_memory;
pub mod machine;
pub mod placement;
pub mod replay;
pub mod scenario;
pub mod virtual_memory;
pub mod workload;

pub use aged_memory::{AgedMemories, AgedMemory, AllocatorError, AllocatorSettings};
pub use checked_source::{CheckedSource, MemoryCheck};
pub use comparison::Mismatch;
pub use contents::Contents;
pub use flat_memory::FlatMemory;
pub use placement::{Place, PlacementError, place};
pub use replay::{
    Copier, LateRecords, PageReport, Placement, RESERVED_PERCENT_MAX, Replay, ReplayError, ReplayOutcome,
    ReplaySettings, Skipped, Timing, TraceCounts, Unusable, UnusableRecords,
};
pub use scenario::{OperationKind, OperationSpec, Sequence, SpecError};
pub use virtual_memory::{Owner, WrongByte};
