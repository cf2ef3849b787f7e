//! Rows with a timeout.

use std::sync::Arc;

use dram_spec::Cycles;

use super::RowPolicy;

/// A row is closed some cycles after the last command to its bank, if no access to it is queued.
#[derive(Clone, Copy, Debug)]
pub struct Timeout {
    /// Cycles after the last command to the bank, at least 1.
    pub after: Cycles,
}

impl Timeout {
    /// Name in the configuration.
    pub const NAME: &str = "timeout";
}

impl RowPolicy for Timeout {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn shared(&self) -> Arc<dyn RowPolicy> {
        Arc::new(*self)
    }

    fn closes_after(&self) -> Option<Cycles> {
        Some(self.after)
    }
}
