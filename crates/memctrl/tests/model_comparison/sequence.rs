//! Configuration of property tests with a fixed sequence of cases.

use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;

/// A fixed sequence of `cases` cases, unless `PROPTEST_CASES` sets another number or
/// `PROPTEST_RNG_SEED` another sequence.
pub fn runs(cases: u32, seed: u64) -> ProptestConfig {
    let asked = ProptestConfig::default();
    ProptestConfig {
        cases: if std::env::var_os("PROPTEST_CASES").is_some() { asked.cases } else { cases },
        rng_seed: if asked.rng_seed == RngSeed::Random { RngSeed::Fixed(seed) } else { asked.rng_seed },
        max_shrink_iters: 2000,
        failure_persistence: None,
        ..asked
    }
}

/// Two sequences of half of the cases, side by side, for the longest properties; what is returned for each.
pub fn in_halves<T: Send>(config: &ProptestConfig, of_half: impl Fn(ProptestConfig) -> T + Sync) -> [T; 2] {
    let half = |number: u64| {
        let mut config = ProptestConfig { cases: config.cases.div_ceil(2), ..config.clone() };
        if let RngSeed::Fixed(seed) = &mut config.rng_seed {
            *seed = seed.wrapping_add(number);
        }
        of_half(config)
    };
    let half = &half;
    std::thread::scope(|scope| {
        [0, 1].map(|number| scope.spawn(move || half(number))).map(|half| half.join().expect("no case differs"))
    })
}
