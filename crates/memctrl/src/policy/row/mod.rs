//! Row policies, which determine when an open row that no access needs is closed.

mod closed;
mod open;
mod timeout;

use std::fmt;

use dram_spec::Cycles;

pub use closed::Closed;
pub use open::Open;
pub use timeout::Timeout;

/// Names of the row policies, in the order of messages.
pub const ROW_POLICIES: [&str; 3] = [Open::NAME, Closed::NAME, Timeout::NAME];

/// Policy that determines when an open row is closed. `docs/extending.md` has the steps to add one.
pub trait RowPolicy: fmt::Debug + Send + Sync {
    /// Name in the configuration.
    fn name(&self) -> &'static str;

    /// Whether the last queued access to a row closes it, by auto-precharge.
    fn closes_after_last_access(&self) -> bool {
        false
    }

    /// Time after the last command to its bank at which a row that no queued access needs is
    /// closed, by PRE.
    fn closes_after(&self) -> Option<Cycles> {
        None
    }
}
