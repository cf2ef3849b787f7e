//! Division of copies and fills into pieces within pages.

use dram_spec::PhysicalAddress;
use dram_spec::address::FRAME_BYTES;
use rowclone::Operation;

/// Iterator over the pieces of a copy or a fill, divided at page boundaries of the destination and
/// of the source.
///
/// Pieces are in the order in which a `memmove` must process them.
#[derive(Clone, Debug)]
pub(super) struct Pieces {
    src: Option<u64>,
    dst: u64,
    bytes: u64,
    cut: u64,
    overlap: bool,
}

/// A run of bytes within one page of the destination and, for a copy, one page of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) src: Option<PhysicalAddress>,
    pub(super) dst: PhysicalAddress,
    pub(super) bytes: u64,
    /// Frame assignment of the destination page.
    pub(super) page: DestinationPage,
}

/// Frame assignment of a piece's destination page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DestinationPage {
    /// The page keeps its frame: the operation covers only a part of it, or an earlier piece of the
    /// operation has renewed it.
    Kept,
    /// The page gets another frame: the operation covers all of it, and this is its first piece.
    Renewed,
}

impl Pieces {
    pub(super) fn new(operation: &Operation) -> Pieces {
        let (src, dst, bytes) = (operation.src().map(|src| src.0), operation.target().0, operation.bytes());
        Pieces { src, dst, bytes, cut: 0, overlap: src.is_some_and(|src| src.abs_diff(dst) < bytes) }
    }

    /// Offset of the next piece within the operation, and its length.
    fn run(&self) -> (u64, u64) {
        let starts = [Some(self.dst), self.src].into_iter().flatten();
        let left = self.bytes - self.cut;
        if self.overlap && self.src.is_some_and(|src| src < self.dst) {
            // Backwards: each piece ends where the preceding one starts.
            let in_page = |start: u64| (start + (left - 1)) % FRAME_BYTES + 1;
            let length = starts.map(in_page).fold(left, u64::min);
            (left - length, length)
        } else {
            let in_page = |start: u64| FRAME_BYTES - (start + self.cut) % FRAME_BYTES;
            (self.cut, starts.map(in_page).fold(left, u64::min))
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
        let (dst, start) = (self.dst + first, (self.dst + first) / FRAME_BYTES * FRAME_BYTES);
        // An overlapping copy moves data within existing pages: no frame is allocated.
        let renewed = !self.overlap && dst == start && self.bytes - first >= FRAME_BYTES;
        let page = if renewed { DestinationPage::Renewed } else { DestinationPage::Kept };
        Some(Piece { src: self.src.map(|src| PhysicalAddress(src + first)), dst: PhysicalAddress(dst), bytes, page })
    }
}

#[cfg(test)]
mod tests {
    use DestinationPage::{Kept, Renewed};

    use super::*;

    fn check(src: Option<u64>, dst: u64, bytes: u64, expected: &[(u64, u64, DestinationPage)]) {
        let dst_address = PhysicalAddress(dst);
        let operation = match src {
            Some(src) => Operation::Copy { src: PhysicalAddress(src), dst: dst_address, bytes },
            None => Operation::Init { dst: dst_address, bytes, value: 0 },
        };
        let pieces: Vec<Piece> = Pieces::new(&operation).collect();
        let found: Vec<_> = pieces.iter().map(|piece| (piece.dst.0, piece.bytes, piece.page)).collect();
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
