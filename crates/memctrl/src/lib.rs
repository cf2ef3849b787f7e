//! The memory controller: takes requests, plans copies, schedules commands, refreshes, and owns the only event loop.

pub mod config;
pub mod copy;
pub mod engine;
pub mod policy;
pub mod prices;
pub mod refresh;
pub mod request;
mod segment;
pub mod stats;

pub use config::{Config, PowerPolicy, Queues, RowPolicy, Scheduler};
pub use engine::{Controller, Interrupt};
pub use policy::Policy;
pub use prices::PriceTable;
pub use request::{CommandCounts, Completion, Request, RequestId, RequestSource, SegmentTally};
pub use stats::{Depth, Epoch, Figures, Histogram, Outcomes, Stats, Summary};
