//! Properties of random programs on machines with a DMA engine, and of copies that programs begin.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::cases::{Case, arb_case, arb_case_with_dma};
use crate::programs::with_begins;
use crate::properties::determined;
use crate::runs::{checked, engine, reference, same, tick_by_tick};
use crate::sequence::runs;

proptest! {
    #![proptest_config(runs(250, 6))]

    /// Requests, commands, counters and cycles of the machine and the reference model are equal, with a DMA engine.
    #[test]
    fn machine_and_reference_model_agree_with_a_dma_engine(case in arb_case_with_dma()) {
        let outcomes = [engine(&case), reference(&case)].map(|outcome| determined(&case, outcome));
        same(["engine", "reference model"], [&outcomes[0], &outcomes[1]])?;
    }
}

proptest! {
    #![proptest_config(runs(100, 7))]

    /// With a DMA engine, each load returns what a flat memory returns, and a controller that visits every clock
    /// changes nothing.
    #[test]
    fn loads_are_right_with_a_dma_engine(case in arb_case_with_dma(), seed: u64) {
        let (log, outcome) = checked(&case, seed);
        prop_assert_eq!(outcome.check.expect("contents are modeled").1, None);
        let found = protocol_check::audit(&case.config.system, dram_spec::Dialect::RowClone, &log);
        prop_assert!(found.is_empty(), "{:#?}", found);
        same(["controller", "tick by tick"], [&engine(&case), &tick_by_tick(&case)])?;
    }
}

/// The case with copies that begin as others, and with steps `issue` and `wait`.
fn with_begun_copies(case: &Case, numbers: &[u8]) -> Case {
    let mut begun = case.clone();
    for program in &mut begun.programs {
        program.steps = with_begins(std::mem::take(&mut program.steps), numbers);
    }
    begun
}

proptest! {
    #![proptest_config(runs(100, 8))]

    /// Without a DMA engine, `begin` is `copy`, and `issue` and `wait` do nothing.
    #[test]
    fn begun_copies_are_copies_of_other_copiers(case in arb_case(), numbers in vec(any::<u8>(), 64), seed: u64) {
        let begun = with_begun_copies(&case, &numbers);
        same(["begin", "copy"], [&engine(&begun), &engine(&case)])?;
        let outcomes = [engine(&begun), reference(&begun)].map(|outcome| determined(&begun, outcome));
        same(["engine", "reference model"], [&outcomes[0], &outcomes[1]])?;
        prop_assert_eq!(checked(&begun, seed).1.check.expect("contents are modeled").1, None);
    }
}
