//! Properties of random programs on machines with a DMA engine.

use proptest::prelude::*;

use crate::cases::arb_case_with_dma;
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
