//! The memory controller: takes requests, schedules commands, refreshes, and runs copy programs. `docs/controller.md` has its rules.

mod channel;
mod config;
mod controller;
mod copy;
mod front_end;
pub mod policy;
mod request;
pub mod stats;

pub use channel::{AccessKind, QueuedAccess, Stamp, yield_from};
pub use config::{Config, PowerPolicy, Queues, RefreshPolicy};
pub use controller::{Controller, Interrupt};
pub use copy::estimate::{self, PriceTable};
pub use request::{Completion, Request, RequestSource};
