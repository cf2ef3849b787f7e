//! Properties on random systems, controllers and requests.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::cases::arb_case;
use crate::judge::same;
use crate::runs::{engine, plain, stepped};

/// A fixed sequence of `cases` cases, unless `PROPTEST_CASES` sets another number or
/// `PROPTEST_RNG_SEED` another sequence.
fn runs(cases: u32, seed: u64) -> ProptestConfig {
    let asked = ProptestConfig::default();
    ProptestConfig {
        cases: if std::env::var_os("PROPTEST_CASES").is_some() { asked.cases } else { cases },
        rng_seed: if asked.rng_seed == RngSeed::Random { RngSeed::Fixed(seed) } else { asked.rng_seed },
        max_shrink_iters: 2000,
        failure_persistence: None,
        ..asked
    }
}

proptest! {
    #![proptest_config(runs(60, 1))]

    /// Commands, their cycles and causes, completions, memory and statistics are equal.
    #[test]
    fn engine_and_plain_controller_agree(case in arb_case()) {
        same(["engine", "plain"], [&engine(&case)?, &plain(&case)])?;
    }
}

proptest! {
    #![proptest_config(runs(60, 2))]

    /// The size of the requester's steps has no effect, and no event occurs before it is announced.
    #[test]
    fn steps_of_any_length_give_the_same_run(
        case in arb_case(),
        distances in vec(prop_oneof![1u64..4, 1u64..100, 1u64..10_000], 1..20),
    ) {
        same(["one run", "in steps"], [&engine(&case)?, &stepped(&case, &distances)?])?;
    }
}

proptest! {
    #![proptest_config(runs(100, 3))]

    /// Each read returns the bytes of a flat memory, memory ends as a flat memory would, and the
    /// commands are legal.
    #[test]
    fn reads_return_the_bytes_of_a_flat_memory(case in arb_case()) {
        engine(&case)?;
    }
}
