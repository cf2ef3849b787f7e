//! The memory controller: takes requests, plans copies, schedules commands, refreshes, and owns the only event loop.

pub mod copy;
pub mod engine;
pub mod policy;
pub mod refresh;
pub mod request;
mod segment;
pub mod stats;

pub use engine::{Config, Controller, Interrupt};
pub use policy::Policy;
pub use request::{CommandCounts, Completion, Request, RequestId, RequestSource, SegmentTally};
pub use stats::{Histogram, Stats};
