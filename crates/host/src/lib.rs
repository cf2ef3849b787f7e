//! What issues memory traffic to the controller.

pub mod allocator_settings;
pub mod comparison;
pub mod contents;
pub mod flat_memory;
pub mod placement;
pub mod replay;
pub mod scenario;
pub mod witness;
pub mod workload;

pub use allocator_settings::{AgedMemory, AllocatorError, AllocatorSettings};
pub use comparison::Mismatch;
pub use contents::Contents;
pub use flat_memory::FlatMemory;
pub use placement::{Place, PlacementError, place};
pub use replay::{
    Copier, PageReport, Placement, Replay, ReplayError, ReplayOutcome, ReplaySettings, Skipped, TraceCounts,
    UnusableRecords,
};
pub use scenario::{Kind, OperationSpec, Sequence, SpecError};
pub use witness::{MemoryCheck, Witnessed};
