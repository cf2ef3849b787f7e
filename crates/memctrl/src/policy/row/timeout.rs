//! Rows with a timeout: a row is closed some cycles after the last command to its bank, if no access
//! to it is queued.

use dram_core::Device;
use dram_spec::{BankIndex, Cycle, Cycles};

use crate::queues::Queues;

/// Name in the configuration.
pub(super) const NAME: &str = "timeout";

/// Cycle from which the open row of a bank may be closed.
pub(super) fn closes_from(after: Cycles, device: &Device, queues: &Queues, bank: BankIndex) -> Option<Cycle> {
    if device.row_in(bank).is_some_and(|row| queues.has_any(bank, row)) {
        return None;
    }
    let last = device.last_in_bank(device.topology().bank(bank)).unwrap_or(Cycle::ZERO);
    Some(last + after)
}
