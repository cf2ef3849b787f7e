//! Open rows: a row stays open until another row of its bank is needed.

/// Name in the configuration.
pub(super) const NAME: &str = "open";
