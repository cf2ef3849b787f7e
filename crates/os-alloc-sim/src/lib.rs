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
mod bulk;
#[cfg(test)]
mod fixture;
mod frame;
mod frame_set;
mod generator;
mod kernel;
mod mechanism;
mod operation;
mod page_table;
mod process;
mod report;
mod survey;
#[cfg(test)]
mod tests;

pub use age::{Age, AgeError, Aged, age};
pub use allocator::{
    Buddy, Found, FrameAllocator, FrameRequest, Grant, Near, Policy, PolicyError, Random, Sequential, SubarrayAware,
};
pub use blocks::{FreeBlocks, HUGE_ORDER, MAX_ORDER};
pub use bulk::Destination;
pub use frame::{Frame, FrameMap};
pub use frame_set::{CopyUnit, FrameSet, Reservation, RowSharing};
pub use generator::Generator;
pub use kernel::{CheckpointId, Fault, Kernel, ProcessId, ZeroOnFree};
pub use operation::{Cause, MemoryOperation};
pub use page_table::{AddressSpace, PageSize};
pub use report::{Fallback, HugePages, Report, Tally, Traffic};
pub use survey::{Survey, Surveyed};
