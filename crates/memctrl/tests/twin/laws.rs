//! Properties on random systems, controllers and requests.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::cases::arb_case;
use crate::judge::same;
use crate::runs::{engine, plain, stepped};

#[path = "sequence.rs"]
mod sequence;

use self::sequence::runs;

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
