//! Row policies, which determine when an open row that no access needs is closed.

mod closed;
mod open;
mod timeout;

use std::fmt;
use std::sync::Arc;

use dram_spec::Cycles;

pub use closed::Closed;
pub use open::Open;
pub use timeout::Timeout;

/// All row policies, in the order of messages. The configuration replaces their parameters.
pub static ROW_POLICIES: [&dyn RowPolicy; 3] = [&Open, &Closed, &Timeout { after: Cycles(1) }];

/// Policy that determines when an open row is closed. `docs/extending.md` has the steps to add one.
pub trait RowPolicy: fmt::Debug + Send + Sync {
    /// Name in the configuration.
    fn name(&self) -> &'static str;

    /// A copy for the configuration of a controller.
    fn shared(&self) -> Arc<dyn RowPolicy>;

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
