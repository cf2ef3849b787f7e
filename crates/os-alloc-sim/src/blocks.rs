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
        let mut free = free.words().to_vec();
        let count = |words: &[u64]| words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        let mut blocks = FreeBlocks::default();
        for order in grain_order..MAX_ORDER {
            let merged = merged(&free);
            blocks.0[usize::from(order)] = count(&free) - 2 * count(&merged);
            free = merged;
        }
        blocks.0[usize::from(MAX_ORDER)] = count(&free) << grain_order.saturating_sub(MAX_ORDER);
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

/// A bit for each pair of bits of a set, the lowest first: whether both are set.
pub(crate) fn merged(free: &[u64]) -> Vec<u64> {
    free.chunks(2).map(|two| whole_pairs(two[0]) | two.get(1).map_or(0, |&it| whole_pairs(it) << 32)).collect()
}

/// A bit for each pair of bits, the lowest first: whether both are set.
const fn whole_pairs(word: u64) -> u64 {
    // The bits at even places move together: groups of 1, 2, 4, 8 and 16 bits are joined with the next group.
    let mut pairs = word & (word >> 1) & 0x5555_5555_5555_5555;
    pairs = (pairs | (pairs >> 1)) & 0x3333_3333_3333_3333;
    pairs = (pairs | (pairs >> 2)) & 0x0F0F_0F0F_0F0F_0F0F;
    pairs = (pairs | (pairs >> 4)) & 0x00FF_00FF_00FF_00FF;
    pairs = (pairs | (pairs >> 8)) & 0x0000_FFFF_0000_FFFF;
    (pairs | (pairs >> 16)) & 0xFFFF_FFFF
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(free: &[(u32, u32)], blocks: &[(u8, u64)], unusable: f64) {
        let bits = Bits::collect(4096, free.iter().flat_map(|&(from, to)| from..to));
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
