//! Free blocks by size, and fragmentation.

use crate::bits::Bits;

/// The largest order of a block: 2^10 frames, 4 MiB.
pub const MAX_ORDER: u8 = 10;

/// The order of a huge page: 2^9 frames, 2 MiB.
pub const HUGE_ORDER: u8 = 9;

/// Number of free blocks of each order.
///
/// A free block of order k is 2^k free frames, aligned to its size, that are not half of a free block of order k + 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FreeBlocks(pub [u64; MAX_ORDER as usize + 1]);

impl FreeBlocks {
    /// Counts the blocks of a set of free grains of 2^`grain_order` frames each.
    pub(crate) fn of(free: &Bits, grain_order: u8) -> FreeBlocks {
        let mut blocks = FreeBlocks::default();
        let mut whole: Vec<u32> = free.iter().collect();
        for order in grain_order..MAX_ORDER {
            let pairs = |pair: &[u32]| pair[0].is_multiple_of(2) && pair[1] == pair[0] + 1;
            let merged: Vec<u32> = whole.windows(2).filter(|pair| pairs(pair)).map(|pair| pair[0] / 2).collect();
            blocks.0[usize::from(order)] = (whole.len() - 2 * merged.len()) as u64;
            whole = merged;
        }
        blocks.0[usize::from(MAX_ORDER)] = (whole.len() as u64) << grain_order.saturating_sub(MAX_ORDER);
        blocks
    }

    /// Free frames in blocks of any order.
    pub fn frames(&self) -> u64 {
        self.frames_from(0)
    }

    /// Free frames in blocks of at least this order.
    pub fn frames_from(&self, order: u8) -> u64 {
        (order..=MAX_ORDER).map(|order| self.0[usize::from(order)] << order).sum()
    }

    /// The share of free memory that a request of an order cannot use, 0 to 1: Linux's unusable free space index.
    ///
    /// `(free - sum over i >= order of 2^i blocks_i) / free`; 1 where nothing is free. With 512 free frames in one
    /// block of order 9 and 512 single ones, the index of order 9 is 0.5.
    pub fn unusable(&self, order: u8) -> f64 {
        let free = self.frames();
        if free == 0 { 1.0 } else { (free - self.frames_from(order)) as f64 / free as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(free: &[(u32, u32)], blocks: &[(u8, u64)], unusable: f64) {
        let mut bits = Bits::new(4096);
        for frame in free.iter().flat_map(|&(from, to)| from..to) {
            bits.insert(frame);
        }
        let found = FreeBlocks::of(&bits, 0);
        let mut expected = FreeBlocks::default();
        for &(order, count) in blocks {
            expected.0[usize::from(order)] = count;
        }
        assert_eq!(found, expected);
        assert_eq!(found.frames(), free.iter().map(|(from, to)| u64::from(to - from)).sum::<u64>());
        assert!((found.unusable(HUGE_ORDER) - unusable).abs() < 1e-12);
    }

    #[test]
    fn free_memory_is_cut_into_its_largest_aligned_blocks() {
        check(&[], &[], 1.0);
        check(&[(0, 4096)], &[(10, 4)], 0.0);
        check(&[(512, 1025)], &[(9, 1), (0, 1)], 1.0 / 513.0);
        check(&[(256, 768)], &[(8, 2)], 1.0);
        check(&[(1, 4)], &[(0, 1), (1, 1)], 1.0);
        let (mut halves, ends) = ((0..9).map(|order| (order, 1)).collect::<Vec<_>>(), [(0, 1024), (1537, 2048)]);
        halves.push((10, 1));
        check(&ends, &halves, 511.0 / 1535.0);
    }
}
