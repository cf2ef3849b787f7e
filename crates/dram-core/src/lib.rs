//! DRAM device model: timing rules, bank and rank state, row contents.
//!
//! A [`Device`] is the ranks of one channel and their command bus. It contains no queueing or
//! scheduling logic: [`Device::earliest`] reports the earliest legal cycle of a command, and
//! [`Device::issue`] executes the command. An early command is an error of the caller, and panics
//! with the rule's name.

mod bank;
pub mod cells;
mod constraints;
#[cfg(feature = "test-api")]
mod defects;
pub mod device;
mod history;
mod hold;
mod rank;
pub mod rules;
pub mod timings;

pub use bank::Floor;
pub use cells::{Background, Cells, LineBytes, Movement, RowOrigin, StoredRow};
pub use constraints::KeptKind;
#[cfg(feature = "test-api")]
pub use defects::{Defect, Defective};
pub use device::{Device, Refusal};
pub use dram_spec::Effect;
pub use hold::Hold;
pub use rank::{Power, RefreshLedger};
pub use rules::{Kind, Maximum, Origin, Rule, RuleTable, Scope, Term, When, maxima, rules_of, table};
pub use timings::{P, Timings};
