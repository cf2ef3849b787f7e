//! Lines: their numbers and states, and those that leave a cache.

use std::sync::Arc;

use dram_core::Line;
use dram_spec::{LINE_BYTES, PhysicalAddress};

use super::super::counters::Purpose;

/// Number of a line: its physical address divided by 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineNumber(pub u64);

impl LineNumber {
    /// Address of the first byte.
    pub const fn address(self) -> PhysicalAddress {
        PhysicalAddress(self.0 * LINE_BYTES)
    }

    /// The line that contains an address.
    pub const fn of(address: PhysicalAddress) -> LineNumber {
        LineNumber(address.0 / LINE_BYTES)
    }
}

/// State of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineState {
    /// Whether its data are on their way from memory, or it is held.
    pub is_pending: bool,
    /// Who made it dirty; `None` if it is clean.
    pub dirty: Option<Purpose>,
}

/// A line removed from a cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct Removed {
    pub(super) line: LineNumber,
    /// Who made it dirty, if it was.
    pub(super) dirty: Option<Purpose>,
    /// Its data, where contents are modeled.
    pub(super) data: Option<Line>,
}

/// A dirty line to be written to memory.
#[derive(Clone, Debug)]
#[must_use = "a dirty line must be written to memory"]
pub struct WriteBack {
    /// The line.
    pub line: LineNumber,
    /// Its data, where contents are modeled.
    pub data: Option<Arc<[u8]>>,
}

/// Lines that a range overlaps, and whether the range covers each as a whole.
pub fn lines(address: PhysicalAddress, bytes: u64) -> impl Iterator<Item = (LineNumber, bool)> {
    let (start, end) = (address.0, address.0 + bytes);
    (start / LINE_BYTES..end.div_ceil(LINE_BYTES)).map(move |line| {
        let is_whole = line * LINE_BYTES >= start && (line + 1) * LINE_BYTES <= end;
        (LineNumber(line), is_whole)
    })
}
