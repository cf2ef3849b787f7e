//! Closed rows.

use super::RowPolicy;

/// A row is closed with the last access to it that is queued, by RDA or WRA.
#[derive(Clone, Copy, Debug, Default)]
pub struct Closed;

impl Closed {
    /// The name in the configuration.
    pub const NAME: &str = "closed";
}

impl RowPolicy for Closed {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn closes_after_last_access(&self) -> bool {
        true
    }
}
