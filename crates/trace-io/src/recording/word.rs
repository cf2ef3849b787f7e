//! Words of 64 bits: accesses, instructions, and the first words of events.

/// Greatest value in bits 47:0 of a word.
pub const INLINE_MAX: u64 = (1 << 48) - 1;

/// Greatest number of instructions in a word of an access.
pub(super) const ACCESS_INSTRUCTIONS_MAX: u64 = (1 << 11) - 1;

/// A load or store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryAccess {
    /// Whether it writes.
    pub is_store: bool,
    /// Virtual address of its first byte, of which bit 47 is copied to bits 63:48.
    pub address: u64,
    /// Log2 of its bytes, 0 to 7.
    pub log2_bytes: u8,
    /// Instructions since the word before, its own included; 0 for a further access of an instruction. At
    /// most 2,047.
    pub instructions: u16,
}

impl MemoryAccess {
    /// Number of bytes.
    pub const fn bytes(self) -> u64 {
        1 << self.log2_bytes
    }

    /// The words of an access of any size, which `instructions` precede, its own included.
    pub fn words(is_store: bool, address: u64, bytes: u64, instructions: u64) -> impl Iterator<Item = u64> {
        let (before, mut instructions) = MemoryAccess::split(instructions);
        let before = (before > 0).then(|| Word::Instructions(before).bits());
        let mut done = 0;
        let parts = std::iter::from_fn(move || {
            let log2_bytes = (bytes - done).checked_ilog2()?.min(7) as u8;
            let access = MemoryAccess { is_store, address: address.wrapping_add(done), log2_bytes, instructions };
            done += access.bytes();
            instructions = 0;
            Some(Word::Access(access).bits())
        });
        before.into_iter().chain(parts)
    }

    /// Divides instructions into those of a word of instructions, 0 if it is not needed, and those of the access
    /// that follows it.
    pub const fn split(instructions: u64) -> (u64, u16) {
        if instructions <= ACCESS_INSTRUCTIONS_MAX { (0, instructions as u16) } else { (instructions - 1, 1) }
    }
}

/// A word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// A load or store.
    Access(MemoryAccess),
    /// Instructions without memory access, from 1 to [`INLINE_MAX`].
    Instructions(u64),
    /// The first word of an event.
    Event {
        /// Number of the event, below 64.
        number: u8,
        /// Number of words that follow it, below 16.
        further: u8,
        /// First operand, at most [`INLINE_MAX`].
        first: u64,
    },
}

/// Reason why 64 bits are no word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WordError {
    /// Bits that a word does not use are set.
    #[error("the word {found:#018x} has bits that must be 0")]
    UnusedBits {
        /// The word.
        found: u64,
    },
    /// A word of instructions has none.
    #[error("a word of instructions has none")]
    NoInstructions,
}

impl Word {
    /// The bits of a word.
    ///
    /// # Panics
    /// If a field is beyond its range.
    #[inline]
    pub const fn bits(self) -> u64 {
        match self {
            Word::Access(MemoryAccess { is_store, address, log2_bytes, instructions }) => {
                assert!(log2_bytes < 8 && instructions as u64 <= ACCESS_INSTRUCTIONS_MAX);
                (is_store as u64) << 62 | (log2_bytes as u64) << 59 | (instructions as u64) << 48 | address & INLINE_MAX
            }
            Word::Instructions(count) => {
                assert!(count > 0 && count <= INLINE_MAX);
                0b10 << 62 | count
            }
            Word::Event { number, further, first } => {
                assert!(number < 64 && further < 16 && first <= INLINE_MAX);
                0b11 << 62 | (number as u64) << 56 | (further as u64) << 52 | first
            }
        }
    }

    /// The word of 64 bits.
    ///
    /// # Errors
    /// If bits that it does not use are set, or if it has no instructions.
    #[inline]
    pub const fn from_bits(bits: u64) -> Result<Word, WordError> {
        let first = bits & INLINE_MAX;
        match bits >> 62 {
            0b10 if bits >> 48 & 0x3fff != 0 => Err(WordError::UnusedBits { found: bits }),
            0b10 if first == 0 => Err(WordError::NoInstructions),
            0b10 => Ok(Word::Instructions(first)),
            0b11 if bits >> 48 & 0xf != 0 => Err(WordError::UnusedBits { found: bits }),
            0b11 => Ok(Word::Event { number: (bits >> 56) as u8 & 63, further: (bits >> 52) as u8 & 15, first }),
            is_store => Ok(Word::Access(MemoryAccess {
                is_store: is_store != 0,
                address: ((bits << 16).cast_signed() >> 16).cast_unsigned(),
                log2_bytes: (bits >> 59) as u8 & 7,
                instructions: (bits >> 48) as u16 & ACCESS_INSTRUCTIONS_MAX as u16,
            })),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_have_the_bits_of_the_specification() {
        let access = |is_store, address, log2_bytes, instructions| {
            Word::Access(MemoryAccess { is_store, address, log2_bytes, instructions }).bits()
        };
        assert_eq!(access(false, 0x7fff_1234_5678, 3, 2), 0x1802_7fff_1234_5678);
        assert_eq!(access(true, 0xffff_8880_0000_0000, 6, 2047), 0x77ff_8880_0000_0000);
        assert_eq!(Word::Instructions(5).bits(), 0x8000_0000_0000_0005);
        assert_eq!(Word::Event { number: 9, further: 4, first: 1 }.bits(), 0xc940_0000_0000_0001);
        assert_eq!(MemoryAccess::split(2047), (0, 2047));
        assert_eq!(MemoryAccess::split(2048), (2047, 1));
    }

    #[test]
    fn an_access_of_another_size_is_several_words() {
        let words: Vec<_> = MemoryAccess::words(true, 0x1000, 138, 3000).map(Word::from_bits).collect();
        let access = |address, log2_bytes, instructions| {
            Ok(Word::Access(MemoryAccess { is_store: true, address, log2_bytes, instructions }))
        };
        let parts = [access(0x1000, 7, 1), access(0x1080, 3, 0), access(0x1088, 1, 0)];
        assert_eq!(words, [&[Ok(Word::Instructions(2999))][..], &parts].concat());
    }

    #[test]
    fn unused_bits_are_refused() {
        assert_eq!(Word::from_bits(0x8001_0000_0000_0005), Err(WordError::UnusedBits { found: 0x8001_0000_0000_0005 }));
        assert_eq!(Word::from_bits(0xc941_0000_0000_0001), Err(WordError::UnusedBits { found: 0xc941_0000_0000_0001 }));
        assert_eq!(Word::from_bits(0x8000_0000_0000_0000), Err(WordError::NoInstructions));
    }

    proptest! {
        #[test]
        fn a_word_of_bits_has_these_bits(bits: u64) {
            if let Ok(word) = Word::from_bits(bits) {
                prop_assert_eq!(word.bits(), bits);
            }
        }
    }
}
