//! Memory controller: accepts requests, schedules commands, manages refresh and power, and executes
//! copy programs. `docs/controller.md` has its rules.

mod access;
mod channel;
mod config;
mod controller;
mod copy;
pub mod estimate;
mod front_end;
pub mod policy;
mod queues;
mod request;
pub mod stats;

pub use access::{AccessKind, QueuedAccess, Stamp};
#[cfg(feature = "test-api")]
pub use channel::yield_from;

pub use config::{Config, ConfigError, LowPower, PowerPolicy, Queues, RefreshPolicy};
pub use controller::{Controller, Interrupt};
pub use estimate::PriceTable;
pub use request::{Completion, Request, RequestSource};
