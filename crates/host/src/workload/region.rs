//! A stretch of memory that a workload keeps to.

use dram_spec::{LINE_BYTES, PhysicalAddress};
use os_alloc_sim::Generator;
use rowclone::{Operation, Planner};

use super::error::WorkloadError;
use super::reserved_rows::ReservedRows;

/// Consecutive places of one size (lines, pages), without those in reserved rows.
#[derive(Clone, Debug)]
pub(super) struct Region {
    planner: Planner,
    reserved: ReservedRows,
    start: u64,
    places: u64,
    place_bytes: u64,
}

impl Region {
    /// The places that `bytes` from `start` hold.
    pub(super) fn new(
        planner: &Planner,
        start: PhysicalAddress,
        bytes: u64,
        place_bytes: u64,
    ) -> Result<Region, WorkloadError> {
        multiple("start", start.0, LINE_BYTES)?;
        some("bytes", bytes, place_bytes)?;
        let end = planner.map().geometry().bytes();
        if start.0.checked_add(bytes).is_none_or(|last| last > end) {
            return Err(WorkloadError::PastEnd { key: "bytes", end: PhysicalAddress(end) });
        }
        let reserved = ReservedRows::new(planner.map());
        let region =
            Region { planner: planner.clone(), reserved, start: start.0, places: bytes / place_bytes, place_bytes };
        if (0..region.places).all(|place| !region.is_sound(region.place(place))) {
            return Err(WorkloadError::AllReserved { key: "bytes" });
        }
        Ok(region)
    }

    /// How many places, those in reserved rows included.
    pub(super) const fn places(&self) -> u64 {
        self.places
    }

    /// The place of that number.
    pub(super) const fn place(&self, number: u64) -> PhysicalAddress {
        PhysicalAddress(self.start + number * self.place_bytes)
    }

    /// Whether a place of the region may be used.
    #[inline]
    pub(super) fn is_sound(&self, address: PhysicalAddress) -> bool {
        if self.place_bytes == LINE_BYTES { !self.reserved.hold(address) } else { self.is_sound_throughout(address) }
    }

    fn is_sound_throughout(&self, address: PhysicalAddress) -> bool {
        self.planner.check(&Operation::Read { address, bytes: self.place_bytes }).is_ok()
    }

    /// Any place that may be used, each as likely as any other.
    pub(super) fn draw(&self, generator: &mut Generator) -> PhysicalAddress {
        self.draw_and_rest(generator).0
    }

    /// The same, and a number of 64 bits that says nothing of the place.
    #[inline]
    pub(super) fn draw_and_rest(&self, generator: &mut Generator) -> (PhysicalAddress, u64) {
        loop {
            let product = u128::from(generator.number()) * u128::from(self.places);
            let address = self.place((product >> 64) as u64);
            if self.is_sound(address) {
                return (address, product as u64);
            }
        }
    }
}

/// Fails unless a setting is a multiple of a unit.
pub(super) const fn multiple(key: &'static str, found: u64, unit: u64) -> Result<(), WorkloadError> {
    if found.is_multiple_of(unit) { Ok(()) } else { Err(WorkloadError::NotAMultiple { key, found, unit }) }
}

/// Fails unless a setting is a multiple of a unit, and more than 0.
pub(super) fn some(key: &'static str, found: u64, unit: u64) -> Result<(), WorkloadError> {
    if found == 0 { Err(WorkloadError::Zero { key, least: unit }) } else { multiple(key, found, unit) }
}

/// A number below `end`, each as likely as any other (to 1 in 2^64 / `end`).
pub(super) fn below(generator: &mut Generator, end: u64) -> u64 {
    ((u128::from(generator.number()) * u128::from(end)) >> 64) as u64
}
