//! Open rows.

use std::sync::Arc;

use super::RowPolicy;

/// A row stays open until another row of its bank is needed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Open;

impl Open {
    /// Name in the configuration.
    pub const NAME: &str = "open";
}

impl RowPolicy for Open {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn shared(&self) -> Arc<dyn RowPolicy> {
        Arc::new(*self)
    }
}
