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
