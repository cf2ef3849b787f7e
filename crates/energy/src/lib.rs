//! Reads the command stream and prices it, by cause.
//!
//! An [`Account`] counts commands and clocks in integers; [`Prices`] turn the counts into picojoules with one
//! multiplication each. `plain` (feature `test-api`) does the same over again, as naively as possible, so that tests can compare the two.
//! What is charged for what, and why, stands in `docs/energy.md`.

pub mod account;
mod by_request;
pub mod cause;
pub mod counts;
pub mod currents;
pub mod error;
pub mod pins;
#[cfg(feature = "test-api")]
pub mod plain;
pub mod prices;
pub mod report;
mod shipped;

pub use account::Account;
pub use by_request::ByRequest;
pub use cause::Cause;
pub use counts::{Counts, PowerState};
pub use currents::{Currents, CurrentsError, RawCurrents};
pub use error::EnergyError;
pub use prices::{EventPrices, Prices};
pub use report::EnergyReport;
pub use shipped::{SHIPPED, shipped};
