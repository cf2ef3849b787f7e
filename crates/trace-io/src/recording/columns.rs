//! Columns of the words of a block.
//!
//! An instruction mostly accesses an address near that of its last execution. The upper bits of the words around it
//! identify it, without its own address. Differences of addresses compress to about half of the words themselves.

use super::word::INLINE_MAX;

/// Log2 of the addresses that are remembered.
const SLOTS_LOG: u32 = 14;

/// Golden ratio, times 2^64.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Converts words to columns or back, with the state of the blocks before.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// Upper 16 bits of the last four words.
    history: u64,
    /// Lower 48 bits of the last word of each slot.
    last: Box<[u64; 1 << SLOTS_LOG]>,
}

impl Default for Columns {
    fn default() -> Columns {
        let last = vec![0; 1 << SLOTS_LOG].into_boxed_slice();
        Columns { history: 0, last: last.try_into().expect("it has this length") }
    }
}

impl Columns {
    /// The slot of a word with these upper 16 bits.
    #[inline]
    fn slot(&mut self, upper: u64) -> &mut u64 {
        self.history = self.history << 16 | upper;
        &mut self.last[(self.history.wrapping_mul(MULTIPLIER) >> (64 - SLOTS_LOG)) as usize]
    }

    /// The columns of words.
    pub fn columns_of(&mut self, words: &[u64], columns: &mut Vec<u8>) {
        let count = words.len();
        columns.clear();
        columns.resize(8 * count, 0);
        let (uppers, rest) = columns.split_at_mut(2 * count);
        let (lows, highs) = rest.split_at_mut(2 * count);
        let halves = uppers.as_chunks_mut::<2>().0.iter_mut().zip(lows.as_chunks_mut::<2>().0);
        for ((&word, (upper, low)), high) in words.iter().zip(halves).zip(highs.as_chunks_mut::<4>().0) {
            let slot = self.slot(word >> 48);
            // The difference of 48 bits, sign-extended; then its sign in bit 0.
            let difference = ((word.wrapping_sub(*slot) << 16).cast_signed()) >> 16;
            let folded = (difference << 1 ^ difference >> 63).cast_unsigned() & INLINE_MAX;
            *slot = word;
            *upper = ((word >> 48) as u16).to_le_bytes();
            *low = (folded as u16).to_le_bytes();
            *high = ((folded >> 16) as u32).to_le_bytes();
        }
    }

    /// The words of columns, of which there are 8 bytes per word.
    pub fn words_of(&mut self, columns: &[u8], words: &mut Vec<u64>) {
        let count = columns.len() / 8;
        let (uppers, rest) = columns.split_at(2 * count);
        let (lows, highs) = rest.split_at(2 * count);
        let halves = uppers.as_chunks::<2>().0.iter().zip(lows.as_chunks::<2>().0);
        words.clear();
        words.extend(halves.zip(highs.as_chunks::<4>().0).map(|((&upper, &low), &high)| {
            let upper = u64::from(u16::from_le_bytes(upper));
            let folded = u64::from(u32::from_le_bytes(high)) << 16 | u64::from(u16::from_le_bytes(low));
            let slot = self.slot(upper);
            let lower = slot.wrapping_add(folded >> 1 ^ (folded & 1).wrapping_neg()) & INLINE_MAX;
            *slot = lower;
            upper << 48 | lower
        }));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn columns_have_the_bytes_of_the_page() {
        let mut columns = Vec::new();
        // The fourth and fifth word have one slot, the words before have others.
        let words = [0x1802_0000_0000_0010; 5];
        Columns::default().columns_of(&words, &mut columns);
        assert_eq!(columns[..10], [0x02, 0x18].repeat(5));
        let lows = [0x20, 0, 0x20, 0, 0x20, 0, 0x20, 0, 0, 0];
        assert_eq!(columns[10..20], lows);
        assert_eq!(columns[20..], [0; 20]);
    }

    proptest! {
        #[test]
        fn words_of_columns_are_the_words(
            blocks in prop::collection::vec(prop::collection::vec(prop_oneof![any::<u64>(), 0..99_u64], 0..20), 0..5),
        ) {
            let (mut to, mut from) = (Columns::default(), Columns::default());
            let (mut columns, mut read) = (Vec::new(), Vec::new());
            for words in blocks {
                to.columns_of(&words, &mut columns);
                from.words_of(&columns, &mut read);
                prop_assert_eq!(&read, &words);
            }
        }
    }
}
