//! Search for address ranges without reserved rows.

use dram_spec::PhysicalAddress;
use rowclone::{Operation, PlanError, Planner};

/// A cached range of addresses in the memory and in no reserved row, so that most queries take one
/// comparison.
#[derive(Clone, Debug)]
pub(super) struct UnreservedRange {
    planner: Planner,
    from: u64,
    to: u64,
}

impl UnreservedRange {
    /// Starts with an empty range.
    pub(super) fn new(planner: &Planner) -> UnreservedRange {
        UnreservedRange { planner: planner.clone(), from: 0, to: 0 }
    }

    /// Whether `bytes` bytes from `address` are in the memory and in no reserved row.
    pub(super) fn contains(&mut self, address: u64, bytes: u64) -> bool {
        (address >= self.from && address + bytes <= self.to) || self.extend(address, bytes)
    }

    /// Bytes of the cached range from `address` on; call after [`Self::contains`].
    pub(super) const fn known_from(&self, address: u64) -> u64 {
        if address < self.from { 0 } else { self.to.saturating_sub(address) }
    }

    /// Replaces the range by the longest usable one from `address`.
    #[cold]
    fn extend(&mut self, address: u64, bytes: u64) -> bool {
        let end = self.planner.map().usable_end().0;
        if address >= end {
            return false;
        }
        let rest = Operation::Read { address: PhysicalAddress(address), bytes: end - address };
        let to = match self.planner.check(&rest) {
            Err(PlanError::Reserved { address, .. }) => address.0,
            _ => end,
        };
        (self.from, self.to) = (address, to);
        to >= address + bytes
    }
}
