//! The row policies, by the section "Commands" of `docs/controller.md`.

/// A row policy with its parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// A row stays open until another row of its bank is needed.
    Open,
    /// The last queued access to a row closes it, by auto-precharge.
    Closed,
    /// A row is closed a number of cycles after the last command to its bank (26).
    Timeout(u64),
}
