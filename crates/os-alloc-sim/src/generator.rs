//! Seeded pseudorandom numbers.

/// A pseudorandom number generator: `SplitMix64`.
///
/// Results are reproducible by their seed, so this sequence never changes. From Steele, Lea and
/// Flood, "Fast splittable pseudorandom number generators" (2014): each step adds 2^64 / golden
/// ratio to the state, and a number is a mix of the state.
#[derive(Clone, Debug)]
pub struct Generator {
    state: u64,
}

impl Generator {
    /// Creates the generator of a seed.
    pub const fn new(seed: u64) -> Generator {
        Generator { state: seed }
    }

    /// A number from 0 to 2^64 - 1.
    #[inline]
    pub const fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A uniformly distributed number below `end`.
    ///
    /// # Panics
    ///
    /// If `end` is 0.
    pub const fn below(&mut self, end: u32) -> u32 {
        assert!(end > 0, "there is no number below 0");
        // The high half of a product. The low half identifies the few draws to reject, which would
        // bias the result (Lemire, 2019). Their bound is below `end`, and takes a division.
        loop {
            let product = (self.number() >> 32) * end as u64;
            let low = product as u32;
            if low >= end || low >= end.wrapping_neg() % end {
                return (product >> 32) as u32;
            }
        }
    }

    /// Shuffles a list; all orders are equally likely.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last as u32 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of seed 1234567, a test vector of the literature.
    #[test]
    fn a_seed_gives_the_published_sequence() {
        let mut generator = Generator::new(1_234_567);
        let numbers: [u64; 5] = std::array::from_fn(|_| generator.number());
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(numbers, published);
    }

    /// 60,000 throws of a die: each face within 4 sigma (of sqrt(60,000 x 1/6 x 5/6) = 91).
    #[test]
    fn numbers_are_uniformly_distributed() {
        let mut generator = Generator::new(1);
        let mut faces = [0_i32; 6];
        for _ in 0..60_000 {
            faces[generator.below(6) as usize] += 1;
        }
        assert!(faces.iter().all(|face| (face - 10_000).abs() < 4 * 91), "{faces:?}");
    }
}
