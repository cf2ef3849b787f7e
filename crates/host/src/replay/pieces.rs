//! A copy or a fill, page by page.

use dram_spec::PhysicalAddress;
use dram_spec::address::FRAME_BYTES;
use rowclone::Operation;

/// The addresses of a copy or a fill, cut at the borders of pages: of the destination's, and of the source's.
///
/// In the order in which the pieces of a `memmove` must be done, one after another.
#[derive(Clone, Debug)]
pub(super) struct Pieces {
    src: Option<u64>,
    dst: u64,
    bytes: u64,
    cut: u64,
    overlap: bool,
}

/// A run of bytes in one page of the destination and, for a copy, one of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) src: Option<PhysicalAddress>,
    pub(super) dst: PhysicalAddress,
    pub(super) bytes: u64,
    /// What becomes of the destination page.
    pub(super) page: DestinationPage,
}

/// What becomes of the destination page of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DestinationPage {
    /// It keeps its frame: the operation covers only a part of it, or this is a further piece of it.
    Kept,
    /// It gets another frame: the operation covers all of it, and this is the first piece of it.
    Renewed,
}

impl Pieces {
    pub(super) fn new(operation: &Operation) -> Pieces {
        let (src, dst, bytes) = (operation.src().map(|src| src.0), operation.target().0, operation.bytes());
        Pieces { src, dst, bytes, cut: 0, overlap: src.is_some_and(|src| src.abs_diff(dst) < bytes) }
    }

    /// The first byte of the next piece, counted from the first of the operation, and its length.
    fn run(&self) -> (u64, u64) {
        let starts = [Some(self.dst), self.src].into_iter().flatten();
        let left = self.bytes - self.cut;
        if self.overlap && self.src.is_some_and(|src| src < self.dst) {
            // Backwards: each piece ends where the one before begins.
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
        // What overlaps is moved within memory that somebody uses: nothing of it is allocated.
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
        // A page of two halves, from two pages.
        check(Some(0x8800), 0x1000, 0x1000, &[(0x1000, 0x800, Renewed), (0x1800, 0x800, Kept)]);
    }

    /// The last page of all: its end is 2^64.
    #[test]
    fn the_last_page_of_the_address_space_is_cut_like_any_other() {
        let page = 0u64.wrapping_sub(0x1000);
        check(Some(0x8000), page, 0x1000, &[(page, 0x1000, Renewed)]);
        check(Some(page - 0x800), page, 0x1000, &[(page + 0x800, 0x800, Kept), (page, 0x800, Kept)]);
        check(None, page + 0xfff, 1, &[(page + 0xfff, 1, Kept)]);
    }

    #[test]
    fn what_overlaps_is_moved_in_place_from_the_safe_end() {
        check(Some(0x1000), 0x2000, 0x2000, &[(0x3000, 0x1000, Kept), (0x2000, 0x1000, Kept)]);
        check(Some(0x2000), 0x1000, 0x2000, &[(0x1000, 0x1000, Kept), (0x2000, 0x1000, Kept)]);
        check(Some(0x1000), 0x1000, 0x1000, &[(0x1000, 0x1000, Kept)]);
        check(Some(0x1000), 0x1800, 0x1000, &[(0x2000, 0x800, Kept), (0x1800, 0x800, Kept)]);
    }
}
