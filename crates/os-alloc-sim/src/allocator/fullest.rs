//! The maximum of many counts.

use std::ops::Range;

/// Counts, as the leaves of a tree in which each node has the larger count of its two children.
#[derive(Clone, Debug)]
pub(crate) struct Fullest {
    leaves: usize,
    /// Maximum of each node: the root at 1, the children of node i at 2i and 2i + 1.
    most: Vec<u32>,
}

impl Fullest {
    /// Creates the tree of these counts. Their number must be a power of two.
    pub(crate) fn new(counts: &[u32]) -> Fullest {
        assert!(counts.len().is_power_of_two(), "{} counts make no full tree", counts.len());
        let leaves = counts.len();
        let mut most = vec![0; leaves];
        most.extend_from_slice(counts);
        for node in (1..leaves).rev() {
            most[node] = most[2 * node].max(most[2 * node + 1]);
        }
        Fullest { leaves, most }
    }

    /// Sets a count.
    pub(crate) fn set(&mut self, leaf: u32, count: u32) {
        let mut node = self.leaves + leaf as usize;
        self.most[node] = count;
        while node > 1 {
            let most = self.most[node].max(self.most[node ^ 1]);
            node /= 2;
            if self.most[node] == most {
                break;
            }
            self.most[node] = most;
        }
    }

    /// Index of the largest count of a range, the first on ties. The range's length is a power of
    /// two, and its start is a multiple of that length.
    pub(crate) fn in_range(&self, range: Range<u32>) -> u32 {
        assert!(range.len().is_power_of_two() && (range.start as usize).is_multiple_of(range.len()));
        let mut node = (self.leaves + range.start as usize) / range.len();
        while node < self.leaves {
            node *= 2;
            node += usize::from(self.most[node] < self.most[node + 1]);
        }
        (node - self.leaves) as u32
    }

    /// Index of the largest count; the first on ties.
    pub(crate) fn first(&self) -> u32 {
        self.in_range(0..self.leaves as u32)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_finds_the_first_of_the_largest(
            moves in prop::collection::vec((0_u32..32, 0_u32..6, 0_u32..6), 1..100),
        ) {
            let mut counts = [3; 32];
            let mut tree = Fullest::new(&counts);
            for (leaf, count, order) in moves {
                counts[leaf as usize] = count;
                tree.set(leaf, count);
                let start = leaf >> order << order;
                let range = start..start + (1 << order);
                let first = range.clone().rev().max_by_key(|&leaf| counts[leaf as usize]);
                prop_assert_eq!(Some(tree.in_range(range)), first);
            }
        }
    }
}
