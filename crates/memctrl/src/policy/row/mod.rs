//! Row policies, which determine when an open row that no access needs is closed. Each has its rule
//! in a file. `docs/extending.md` has the steps to add one.

mod closed;
mod open;
mod timeout;

use dram_core::Device;
use dram_spec::{BankIndex, Cycle, Cycles};

use crate::queues::Queues;

/// All row policies, in the order of messages. The configuration replaces their parameters.
pub const ROW_POLICIES: [RowPolicy; 3] = [RowPolicy::Open, RowPolicy::Closed, RowPolicy::Timeout { after: Cycles(1) }];

/// Policy that determines when an open row is closed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowPolicy {
    /// A row stays open until another row of its bank is needed.
    #[default]
    Open,
    /// The last queued access to a row closes the row, by RDA or WRA.
    Closed,
    /// A row is closed some cycles after the last command to its bank, if no access to it is
    /// queued.
    Timeout {
        /// Cycles after the last command to the bank, at least 1.
        after: Cycles,
    },
}

impl RowPolicy {
    /// Name in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            RowPolicy::Open => open::NAME,
            RowPolicy::Closed => closed::NAME,
            RowPolicy::Timeout { .. } => timeout::NAME,
        }
    }

    /// Whether the RD or WR of the access at a place of the pool closes its row, by auto-precharge.
    #[inline]
    pub(crate) fn closes_with(self, queues: &Queues, place: u16) -> bool {
        match self {
            RowPolicy::Closed => closed::closes(queues, place),
            RowPolicy::Open | RowPolicy::Timeout { .. } => false,
        }
    }

    /// Whether rows may be closed by PRE while no access needs another row.
    #[inline]
    pub(crate) const fn closes_unneeded(self) -> bool {
        matches!(self, RowPolicy::Timeout { .. })
    }

    /// Cycle from which the open row of a bank may be closed by PRE, though no access needs another
    /// row of the bank.
    pub(crate) fn closes_from(self, device: &Device, queues: &Queues, bank: BankIndex) -> Option<Cycle> {
        match self {
            RowPolicy::Timeout { after } => timeout::closes_from(after, device, queues, bank),
            RowPolicy::Open | RowPolicy::Closed => None,
        }
    }
}
