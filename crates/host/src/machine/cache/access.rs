//! Accesses of requesters.

use dram_spec::PhysicalAddress;

use super::super::counters::Purpose;
use super::line::{LineNumber, LineSize};

/// An access to a part of a line.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// First byte.
    pub address: PhysicalAddress,
    /// Bytes; they matter where contents are modeled, and to stores that leave for memory.
    pub bytes: u64,
    /// Load or store.
    pub kind: LoadOrStore,
    /// On whose behalf.
    pub purpose: Purpose,
    /// What a miss does.
    pub on_miss: OnMiss,
}

impl Access {
    /// The line.
    pub const fn line(&self, size: LineSize) -> LineNumber {
        size.line(self.address)
    }

    /// The access to its whole line.
    pub const fn whole_line(&self, size: LineSize) -> Access {
        Access { address: size.address(self.line(size)), bytes: size.bytes(), ..*self }
    }

    /// Whether a line that no cache holds takes a place without a request.
    pub const fn stores_line(&self) -> bool {
        matches!(self.kind, LoadOrStore::WholeLine(_))
    }
}

/// Kind of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadOrStore {
    /// A load.
    Load,
    /// A store.
    Store(StoreData),
    /// A store of a whole line, which needs no data from memory.
    WholeLine(StoreData),
    /// A store of a whole line that bypasses the cache.
    NonTemporal(StoreData),
}

/// What becomes of a line that a cache does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnMiss {
    /// It takes a place in the caches.
    Allocate,
    /// It takes none: a load is served past the caches.
    Bypass,
}

/// Data of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreData {
    /// A number that no other store writes.
    Tag,
    /// The bytes at another address.
    CopyOf(PhysicalAddress),
    /// Zeros.
    Zero,
}
