//! Sources of memory requests: scenarios, traces and workloads; and the reference memory they are
//! checked against.

pub mod aged_memory;
pub mod checked_source;
pub mod comparison;
pub mod contents;
mod defects;
pub mod flat_memory;
pub mod machine;
pub mod operation;
pub mod replay;
pub mod sequence;
pub mod virtual_memory;
pub mod workload;

pub use aged_memory::{AgedMemories, AgedMemory, AllocatorError, AllocatorSettings};
pub use checked_source::{CheckedSource, MemoryCheck};
pub use comparison::Mismatch;
pub use contents::Contents;
pub use flat_memory::FlatMemory;
pub use operation::{ListedOperation, OperationKind, OperationSpec, Place, PlacementError, SpecError, place};
pub use replay::{
    LateRecords, PageReport, RESERVED_PERCENT_MAX, Replay, ReplayCopier, ReplayError, ReplayOutcome, ReplaySettings,
    Skipped, Timing, TraceCounts, Unusable, UnusableRecords,
};
pub use sequence::Sequence;
pub use virtual_memory::{Owner, WrongByte};
