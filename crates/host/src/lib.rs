//! What issues memory traffic to the controller.

pub mod allocator_settings;
pub mod flat_memory;
pub mod pages;
pub mod placement;
pub mod replay;
pub mod scenario;
pub mod witness;
pub mod workload;

pub use allocator_settings::{AgedMemory, AllocatorError, AllocatorSettings};
pub use flat_memory::{Contents, FlatMemory, Mismatch};
pub use placement::{Place, PlacementError, place};
pub use replay::{Copier, Placement, Replay, ReplayError, ReplayOutcome, ReplaySettings, TraceCounts, UnusableRecords};
pub use scenario::{Kind, OperationSpec, Sequence, SpecError};
pub use witness::{MemoryCheck, Witnessed};
