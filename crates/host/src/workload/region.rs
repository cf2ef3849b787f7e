//! Memory region of a workload.

use dram_spec::{LINE_BYTES, PhysicalAddress};
use os_alloc_sim::Generator;
use rowclone::{Operation, Planner};

use super::error::WorkloadError;
use super::reserved_rows::ReservedRows;

/// Consecutive blocks of one size (lines, pages), without those in reserved rows.
#[derive(Clone, Debug)]
pub(super) struct BlockRange {
    planner: Planner,
    reserved: ReservedRows,
    start: u64,
    places: u64,
    place_bytes: u64,
}

impl BlockRange {
    /// Creates the region of the blocks within `bytes` from `start`.
    pub(super) fn new(
        planner: &Planner,
        start: PhysicalAddress,
        bytes: u64,
        place_bytes: u64,
    ) -> Result<BlockRange, WorkloadError> {
        multiple("start", start.0, LINE_BYTES)?;
        positive_multiple("bytes", bytes, place_bytes)?;
        let end = planner.map().usable_end();
        if start.0.checked_add(bytes).is_none_or(|last| last > end.0) {
            return Err(WorkloadError::PastEnd { key: "bytes", end });
        }
        let reserved = ReservedRows::new(planner);
        let region =
            BlockRange { planner: planner.clone(), reserved, start: start.0, places: bytes / place_bytes, place_bytes };
        if (0..region.places).all(|place| !region.is_usable(region.place(place))) {
            return Err(WorkloadError::AllReserved { key: "bytes" });
        }
        Ok(region)
    }

    /// Number of blocks, including those in reserved rows.
    pub(super) const fn places(&self) -> u64 {
        self.places
    }

    /// Address of block `number`.
    pub(super) const fn place(&self, number: u64) -> PhysicalAddress {
        PhysicalAddress(self.start + number * self.place_bytes)
    }

    /// Whether a block of the region overlaps no reserved row.
    #[inline]
    pub(super) fn is_usable(&self, address: PhysicalAddress) -> bool {
        if self.place_bytes == LINE_BYTES {
            !self.reserved.hold(&self.planner, address)
        } else {
            self.is_usable_throughout(address)
        }
    }

    fn is_usable_throughout(&self, address: PhysicalAddress) -> bool {
        self.planner.check(&Operation::Read { address, bytes: self.place_bytes }).is_ok()
    }

    /// A uniformly distributed usable block.
    pub(super) fn draw(&self, generator: &mut Generator) -> PhysicalAddress {
        self.draw_and_rest(generator).0
    }

    /// A uniformly distributed usable block, and 64 random bits that are independent of it.
    #[inline]
    pub(super) fn draw_and_rest(&self, generator: &mut Generator) -> (PhysicalAddress, u64) {
        loop {
            let product = u128::from(generator.number()) * u128::from(self.places);
            let address = self.place((product >> 64) as u64);
            if self.is_usable(address) {
                return (address, product as u64);
            }
        }
    }
}

/// Returns an error unless a setting is a multiple of its unit.
pub(super) const fn multiple(key: &'static str, found: u64, unit: u64) -> Result<(), WorkloadError> {
    if found.is_multiple_of(unit) { Ok(()) } else { Err(WorkloadError::NotAMultiple { key, found, unit }) }
}

/// Returns an error unless a setting is a positive multiple of its unit.
pub(super) fn positive_multiple(key: &'static str, found: u64, unit: u64) -> Result<(), WorkloadError> {
    if found == 0 { Err(WorkloadError::Zero { key, least: unit }) } else { multiple(key, found, unit) }
}

/// A number below `end`, uniformly distributed to 1 in 2^64 / `end`.
pub(super) fn below(generator: &mut Generator, end: u64) -> u64 {
    ((u128::from(generator.number()) * u128::from(end)) >> 64) as u64
}
