//! Which addresses may be used: those in no reserved row.

use dram_spec::PhysicalAddress;
use rowclone::{Operation, PlanError, Planner};

/// A stretch of addresses known to be in the memory and in no reserved row, so that most questions cost a comparison.
#[derive(Clone, Debug)]
pub(super) struct Sound {
    planner: Planner,
    from: u64,
    to: u64,
}

impl Sound {
    /// Nothing known yet.
    pub(super) fn new(planner: &Planner) -> Sound {
        Sound { planner: planner.clone(), from: 0, to: 0 }
    }

    /// Whether so many bytes from there may be used.
    pub(super) fn holds(&mut self, address: u64, bytes: u64) -> bool {
        (address >= self.from && address + bytes <= self.to) || self.look(address, bytes)
    }

    /// How many bytes from there on are known to be of use, after [`Self::holds`].
    pub(super) const fn known_from(&self, address: u64) -> u64 {
        if address < self.from { 0 } else { self.to.saturating_sub(address) }
    }

    /// Asks how far the addresses from there may be used.
    #[cold]
    fn look(&mut self, address: u64, bytes: u64) -> bool {
        let end = self.planner.map().geometry().bytes();
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
