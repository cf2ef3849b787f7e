//! Closed rows.

use std::sync::Arc;

use super::RowPolicy;

/// The last queued access to a row closes the row, by RDA or WRA.
#[derive(Clone, Copy, Debug, Default)]
pub struct Closed;

impl Closed {
    /// Name in the configuration.
    pub const NAME: &str = "closed";
}

impl RowPolicy for Closed {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn shared(&self) -> Arc<dyn RowPolicy> {
        Arc::new(*self)
    }

    fn closes_after_last_access(&self) -> bool {
        true
    }
}
