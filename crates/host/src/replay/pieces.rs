//! Division of copies and fills into pieces within copy units.

use dram_spec::PhysicalAddress;
use rowclone::Operation;

use crate::defects::{Planted, is_planted};

/// Iterator over the pieces of a copy or a fill, divided at boundaries of copy units of the
/// destination and of the source.
///
/// Pieces are in the order in which a `memmove` must process them.
#[derive(Clone, Debug)]
pub(super) struct Pieces {
    src: Option<u64>,
    dst: u64,
    bytes: u64,
    unit_bytes: u64,
    cut: u64,
    overlap: bool,
}

/// A run of bytes within one unit of the destination and, for a copy, one unit of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) src: Option<PhysicalAddress>,
    pub(super) dst: PhysicalAddress,
    pub(super) bytes: u64,
    /// Frame assignment of the destination unit.
    pub(super) unit: DestinationUnit,
}

/// Frame assignment of a piece's destination unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DestinationUnit {
    /// The unit keeps its frames: the operation covers only a part of it, or an earlier piece of the
    /// operation has renewed it.
    Kept,
    /// The unit gets other frames: the operation covers all of it, and this is its first piece.
    Renewed,
}

impl Pieces {
    /// The pieces of an operation, in units of `unit_bytes`.
    pub(super) fn new(operation: &Operation, unit_bytes: u64) -> Pieces {
        let (src, dst, bytes) = (operation.src().map(|src| src.0), operation.target().0, operation.bytes());
        Pieces { src, dst, bytes, unit_bytes, cut: 0, overlap: src.is_some_and(|src| src.abs_diff(dst) < bytes) }
    }

    /// Offset of the next piece within the operation, and its length.
    fn run(&self) -> (u64, u64) {
        let starts = [Some(self.dst), self.src].into_iter().flatten();
        let left = self.bytes - self.cut;
        if self.overlap && self.src.is_some_and(|src| src < self.dst) {
            // Backwards: each piece ends where the preceding one starts.
            let in_unit = |start: u64| (start + (left - 1)) % self.unit_bytes + 1;
            let length = starts.map(in_unit).fold(left, u64::min);
            (left - length, length)
        } else {
            let in_unit = |start: u64| self.unit_bytes - (start + self.cut) % self.unit_bytes;
            (self.cut, starts.map(in_unit).fold(left, u64::min))
        }
    }
}

impl Iterator for Pieces {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        if self.cut == self.bytes {
            return None;
        }
        let (first, bytes) = self.run();
        self.cut += bytes;
        let dst = self.dst + first;
        // An overlapping copy moves data within existing units: no frame is allocated.
        let is_whole = dst.is_multiple_of(self.unit_bytes) && self.bytes - first >= self.unit_bytes;
        let unit = if (is_whole || is_planted(Planted::RenewedInPart)) && !self.overlap {
            DestinationUnit::Renewed
        } else {
            DestinationUnit::Kept
        };
        Some(Piece { src: self.src.map(|src| PhysicalAddress(src + first)), dst: PhysicalAddress(dst), bytes, unit })
    }
}

#[cfg(test)]
mod tests {
    use DestinationUnit::{Kept, Renewed};

    use super::*;

    fn check(src: Option<u64>, dst: u64, bytes: u64, expected: &[(u64, u64, DestinationUnit)]) {
        let dst_address = PhysicalAddress(dst);
        let operation = match src {
            Some(src) => Operation::Copy { src: PhysicalAddress(src), dst: dst_address, bytes },
            None => Operation::Init { dst: dst_address, bytes, value: 0 },
        };
        let pieces: Vec<Piece> = Pieces::new(&operation, 4096).collect();
        let found: Vec<_> = pieces.iter().map(|piece| (piece.dst.0, piece.bytes, piece.unit)).collect();
        assert_eq!(found, expected, "{operation}");
        assert!(pieces.iter().all(|piece| piece.src.map(|at| at.0) == src.map(|src| src + (piece.dst.0 - dst))));
    }

    #[test]
    fn operations_are_cut_at_pages() {
        check(Some(0x8000), 0x1000, 0x1000, &[(0x1000, 0x1000, Renewed)]);
        check(None, 0x1000, 0x2000, &[(0x1000, 0x1000, Renewed), (0x2000, 0x1000, Renewed)]);
        check(None, 0x1800, 0x1C00, &[(0x1800, 0x800, Kept), (0x2000, 0x1000, Renewed), (0x3000, 0x400, Kept)]);
        check(None, 0x1010, 0x20, &[(0x1010, 0x20, Kept)]);
        // One destination page, with halves from two source pages.
        check(Some(0x8800), 0x1000, 0x1000, &[(0x1000, 0x800, Renewed), (0x1800, 0x800, Kept)]);
    }

    /// The last page of the address space ends at 2^64.
    #[test]
    fn the_last_page_of_the_address_space_is_cut_like_any_other() {
        let page = 0u64.wrapping_sub(0x1000);
        check(Some(0x8000), page, 0x1000, &[(page, 0x1000, Renewed)]);
        check(Some(page - 0x800), page, 0x1000, &[(page + 0x800, 0x800, Kept), (page, 0x800, Kept)]);
        check(None, page + 0xfff, 1, &[(page + 0xfff, 1, Kept)]);
    }

    #[test]
    fn overlapping_copies_are_moved_in_place_from_the_safe_end() {
        check(Some(0x1000), 0x2000, 0x2000, &[(0x3000, 0x1000, Kept), (0x2000, 0x1000, Kept)]);
        check(Some(0x2000), 0x1000, 0x2000, &[(0x1000, 0x1000, Kept), (0x2000, 0x1000, Kept)]);
        check(Some(0x1000), 0x1000, 0x1000, &[(0x1000, 0x1000, Kept)]);
        check(Some(0x1000), 0x1800, 0x1000, &[(0x2000, 0x800, Kept), (0x1800, 0x800, Kept)]);
    }
}
