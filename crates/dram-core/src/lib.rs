//! What a DRAM rank does: timing rules, bank and subarray state, row contents.
//!
//! A [`Device`] is the ranks of one channel and the command bus that they share. It has no queue, no policy, no wish: it
//! answers "how soon?" ([`Device::earliest`]) and obeys ([`Device::issue`]). An early command is the caller's bug, and
//! panics with the rule's name.

mod bank;
pub mod cells;
mod constraints;
pub mod device;
mod hold;
mod rank;
pub mod rules;
pub mod timings;

#[cfg(feature = "test-api")]
pub use cells::Defect;
pub use cells::{Background, Cells, Line, RowOrigin, StoredRow};
pub use constraints::KeptKind;
pub use device::{Device, Effect, Refusal};
pub use hold::Hold;
pub use rank::{Power, RefreshLedger};
pub use rules::{Kind, MAXIMA, Maximum, Origin, RULES, Rule, Scope, Term, When};
pub use timings::{P, Timings};
