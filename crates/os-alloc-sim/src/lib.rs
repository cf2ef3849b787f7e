//! Frame allocation and process memory of an operating system: fork, copy-on-write, zeroing.
//!
//! A [`Kernel`] runs processes over the frames of a memory: each event (touch, fork, write, exit)
//! returns the [`MemoryOperation`]s that the caller issues. A [`FrameAllocator`] allocates frames
//! by a [`Policy`]. [`FrameMap`] alone queries the address map. The crate has no clock, no banks
//! and no commands. `docs/allocator.md` describes the policies.

mod age;
mod allocator;
mod bits;
mod blocks;
mod buddy;
mod bulk;
mod fault;
#[cfg(test)]
mod fixture;
mod frame;
mod frame_set;
mod fullest;
mod generator;
mod kernel;
mod mechanism;
mod operation;
mod page_table;
mod pools;
mod process;
mod random;
mod report;
mod sequential;
mod subarray_aware;
mod survey;
#[cfg(test)]
mod tests;

pub use age::{Age, AgeError, Aged, age};
pub use allocator::{Found, FrameAllocator, Grant, Policy, PolicyError, Request};
pub use blocks::{FreeBlocks, HUGE_ORDER, MAX_ORDER};
pub use buddy::Buddy;
pub use bulk::Destination;
pub use fault::Fault;
pub use frame::{Frame, FrameMap};
pub use frame_set::{CopyUnit, FrameSet, Reservation, Sharing};
pub use generator::Generator;
pub use kernel::{CheckpointId, Kernel, ProcessId, ZeroOnFree};
pub use operation::{Cause, MemoryOperation};
pub use page_table::{AddressSpace, PageSize};
pub use random::Random;
pub use report::{Fallback, HugePages, Report, Tally, Traffic};
pub use sequential::Sequential;
pub use subarray_aware::{Near, SubarrayAware};
pub use survey::{Survey, Surveyed};
