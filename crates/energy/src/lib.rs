//! Energy of a command stream, by cause.
//!
//! An [`Account`] counts commands and clocks in integers; [`Prices`] convert the counts to
//! picojoules with one multiplication each. `docs/energy.md` defines the energy model.

pub mod account;
mod by_request;
pub mod cause;
pub mod counts;
pub mod currents;
pub mod error;
pub mod pins;
pub mod prices;
mod raw_currents;
pub mod report;
mod shipped;

pub use account::Account;
pub use by_request::ByRequest;
pub use cause::{Cause, Component};
pub use counts::{Counts, PowerState};
pub use currents::{Currents, PerSupply};
pub use error::EnergyError;
pub use prices::{EventPrices, Prices};
pub use raw_currents::{CurrentsError, RawCurrents};
pub use report::EnergyReport;
pub use shipped::{fitting, shipped};
