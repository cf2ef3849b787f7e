//! Properties on random systems, controllers and requests.

use std::cell::RefCell;
use std::collections::BTreeSet;

use memctrl::Config;
use memctrl::policy::copy::CopyPolicy;
use memctrl::policy::row::ROW_POLICIES;
use memctrl::policy::scheduler::SCHEDULERS;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::cases::{Case, arb_case, registered_copy_policies};
use crate::compare::same;
use crate::runs::{Outcome, engine, model, silent, stepped, unordered};

#[path = "sequence.rs"]
mod sequence;

use self::sequence::{in_halves, runs};

/// Number of random cases of the comparison with the reference model.
const CASES: u32 = 120;

/// Commands, their cycles and causes, completions, memory and statistics are equal. The cases draw
/// each registered scheduler, row policy and copy policy.
#[test]
fn engine_and_reference_model_agree() {
    let halves = in_halves(&runs(CASES, 1), |config| {
        let drawn = RefCell::new(BTreeSet::new());
        let compare = |case: Case| {
            let Config { scheduler, row_policy, copy_policy, .. } = &case.config;
            drawn.borrow_mut().extend([scheduler.name(), row_policy.name(), copy_policy.name()]);
            same(["engine", "model"], [&engine(&case)?, &model(&case)])
        };
        let cases = config.cases;
        TestRunner::new(config).run(&arb_case(), compare).unwrap_or_else(|failure| panic!("{failure}"));
        (cases, drawn.into_inner())
    });
    let cases: u32 = halves.iter().map(|(cases, _)| cases).sum();
    let drawn: BTreeSet<&str> = halves.into_iter().flat_map(|(_, drawn)| drawn).collect();
    let registered = (SCHEDULERS.iter().map(|scheduler| scheduler.name()))
        .chain(ROW_POLICIES.iter().map(|policy| policy.name()))
        .chain(registered_copy_policies().into_iter().map(CopyPolicy::name));
    let missing: Vec<_> = registered.filter(|name| !drawn.contains(name)).collect();
    assert!(missing.is_empty() || cases < CASES, "no case has {missing:?}");
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
    #![proptest_config(runs(60, 4))]

    /// Readers that need no order get the same commands of each channel, and a source that asks for
    /// no completions of accesses changes nothing.
    #[test]
    fn readers_without_order_get_the_same_commands(case in arb_case()) {
        let (events, stats) = unordered(&case);
        let expected = model(&case);
        same(["unordered", "model"], [&Outcome { events, stats, ..expected.clone() }, &expected])?;
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

    /// So does each read whose completion the source does not ask for.
    #[test]
    fn unreported_reads_return_the_bytes_of_a_flat_memory(case in arb_case()) {
        silent(&case)?;
    }
}
