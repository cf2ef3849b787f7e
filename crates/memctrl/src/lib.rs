//! The memory controller: takes requests, plans copies, schedules commands, refreshes, and owns the only event loop.

mod access;
mod ahead;
mod bank_queue;
mod candidate;
mod channel;
pub mod config;
mod copy;
mod delivery;
mod done;
pub mod engine;
pub mod estimate;
mod flight;
mod flights;
mod intake;
mod outstanding;
mod parties;
pub mod policy;
pub mod prices;
mod progress;
mod rank;
mod recorder;
pub mod refresh;
pub mod request;
mod scheduler;
mod segment;
mod serve;
mod slots;
mod spot;
pub mod stats;
mod streak;

pub use config::{Config, PowerPolicy, Queues, RowPolicy, Scheduler};
pub use engine::{Controller, Interrupt};
pub use policy::Policy;
pub use prices::PriceTable;
pub use request::{CommandCounts, Completion, Request, RequestId, RequestSource, SegmentTally};
pub use stats::{Depth, Epoch, Figures, Histogram, Outcomes, Stats, Summary};
