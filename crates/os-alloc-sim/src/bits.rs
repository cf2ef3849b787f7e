//! A bit set with a fast minimum.

/// Bits of a word.
const WIDTH: usize = u64::BITS as usize;

/// A set of integers below a bound: a tree of bits, 64 per node, so that every query takes O(log64
/// n).
#[derive(Clone, Debug)]
pub(crate) struct Bits {
    /// Levels, lowest first: a bit stands for one word of the level below, and is set if that word
    /// is not 0.
    levels: Vec<Vec<u64>>,
}

impl Bits {
    /// Creates a set of integers below `end`: all those below `count`.
    pub(crate) fn below(count: usize, end: usize) -> Bits {
        let mut words = vec![0; end.div_ceil(WIDTH).max(1)];
        words[..count / WIDTH].fill(u64::MAX);
        if !count.is_multiple_of(WIDTH) {
            words[count / WIDTH] = (1 << (count % WIDTH)) - 1;
        }
        Bits::of(words)
    }

    /// Creates the set of these integers, which are below `end`.
    pub(crate) fn collect(end: usize, numbers: impl Iterator<Item = u32>) -> Bits {
        let mut words = vec![0; end.div_ceil(WIDTH).max(1)];
        numbers.for_each(|number| words[number as usize / WIDTH] |= 1 << (number as usize % WIDTH));
        Bits::of(words)
    }

    /// The set whose lowest level is these words.
    pub(crate) fn of(words: Vec<u64>) -> Bits {
        let mut levels = vec![words];
        while let Some(words) = levels.last().filter(|words| words.len() > 1) {
            let any = |words: &[u64]| words.iter().rev().fold(0, |bits, word| bits << 1 | u64::from(*word != 0));
            levels.push(words.chunks(WIDTH).map(any).collect());
        }
        Bits { levels }
    }

    /// The numbers that another set with this bound does not contain.
    pub(crate) fn without(&self, other: &Bits) -> Bits {
        Bits::of(self.words().iter().zip(other.words()).map(|(word, other)| word & !other).collect())
    }

    /// Whether the set contains a number.
    pub(crate) fn contains(&self, number: u32) -> bool {
        let number = number as usize;
        self.levels[0].get(number / WIDTH).is_some_and(|word| word >> (number % WIDTH) & 1 == 1)
    }

    /// Inserts a number; returns whether it was absent.
    pub(crate) fn insert(&mut self, number: u32) -> bool {
        if self.contains(number) {
            return false;
        }
        let mut number = number as usize;
        for level in &mut self.levels {
            level[number / WIDTH] |= 1 << (number % WIDTH);
            number /= WIDTH;
        }
        true
    }

    /// Removes a number; returns whether it was present.
    pub(crate) fn remove(&mut self, number: u32) -> bool {
        let there = self.contains(number);
        let mut number = number as usize;
        for level in &mut self.levels {
            let word = &mut level[number / WIDTH];
            *word &= !(1 << (number % WIDTH));
            if *word != 0 {
                break;
            }
            number /= WIDTH;
        }
        there
    }

    /// The least number of the set.
    pub(crate) fn first(&self) -> Option<u32> {
        let mut word = 0;
        for level in self.levels.iter().rev() {
            let bits = level[word];
            if bits == 0 {
                return None;
            }
            word = word * WIDTH + bits.trailing_zeros() as usize;
        }
        Some(word as u32)
    }

    /// A bit per number below the bound, 64 in a word.
    pub(crate) fn words(&self) -> &[u64] {
        &self.levels[0]
    }

    /// All numbers of the set, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        let words = self.levels[0].iter().enumerate().filter(|(_, bits)| **bits != 0);
        words.flat_map(|(word, bits)| {
            (0..WIDTH).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| (word * WIDTH + bit) as u32)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_an_ordered_set(
            end in 1_u32..9000,
            moves in prop::collection::vec((any::<bool>(), any::<u32>()), 0..300),
        ) {
            let (mut bits, mut model) = (Bits::below(0, end as usize), BTreeSet::new());
            for (insert, number) in moves {
                let number = number % end;
                if insert {
                    prop_assert_eq!(bits.insert(number), model.insert(number));
                } else {
                    prop_assert_eq!(bits.remove(number), model.remove(&number));
                }
                prop_assert_eq!(bits.first(), model.first().copied());
            }
            prop_assert_eq!(bits.iter().collect::<Vec<_>>(), model.into_iter().collect::<Vec<_>>());
        }
    }
}
