//! Memory controller: accepts requests, schedules commands, manages refresh and power, and executes
//! copy programs. `docs/controller.md` has its rules.

mod access;
mod channel;
mod config;
mod controller;
mod copy;
mod front_end;
mod page_mode;
pub mod policy;
pub mod price;
mod queues;
mod request;
pub mod stats;

pub use access::{AccessKind, QueuedAccess, Stamp};
#[cfg(feature = "test-api")]
pub use channel::yield_from;

pub use config::{Config, ConfigError, LowPower, PowerPolicy, QueueSettings, RefreshPolicy, check_progress};
pub use controller::{Controller, Interrupt};
pub use front_end::Durations;
pub use page_mode::{PageMode, PageModeError, PageModeMemory};
pub use price::PriceTable;
pub use request::{Completion, Request, RequestSource};
