//! The allocator's report of a copy agrees with the planner.

use dram_spec::AddressMap;
use memctrl::policy::copy::ROWCLONE;
use os_alloc_sim::{Frame, FrameMap};
use proptest::prelude::*;
use rowclone::{FaultyRows, Operation, Planner};

use crate::cases::{arb_map, arb_system};

/// Mechanisms of the planner's parts of an operation by the paper's rule, without duplicates.
fn planned(planner: &Planner, operation: &Operation) -> Vec<&'static str> {
    let mut names = Vec::new();
    for block in planner.blocks(operation) {
        names.extend(block.parts().iter().map(|part| ROWCLONE.preferred(part).name()));
    }
    names.sort_unstable();
    names.dedup();
    names
}

proptest! {
    /// A page, or a whole unit, copied from anywhere to a near or a distant place.
    #[test]
    fn frames_are_copied_and_zeroed_as_the_planner_classifies(
        system in arb_system(), raw in arb_map(), at in any::<u32>(), flips in any::<u32>(), near in 0u32..32,
        whole in any::<bool>(),
    ) {
        let Ok(map) = AddressMap::new(system.geometry, &raw) else { return Ok(()) };
        let planner = Planner::new(map.clone(), FaultyRows::default());
        let map = FrameMap::new(map);
        let frames = if whole { map.unit().unwrap_or(1) } else { 1 };
        let dst = Frame(at % map.frames() / frames * frames);
        let src = Frame((dst.0 ^ flips.unbounded_shr(near)) % map.frames() / frames * frames);
        let bytes = u64::from(frames) * 4096;
        let copy = Operation::Copy { src: src.address(), dst: dst.address(), bytes };
        if src != dst && planner.check(&copy).is_ok() {
            let mechanism = |at| map.copied(src, dst, frames, at).mechanism.name();
            let mut reported: Vec<_> = (0..frames).map(mechanism).collect();
            reported.sort_unstable();
            reported.dedup();
            prop_assert_eq!(reported, planned(&planner, &copy), "{} with {}", copy, map.unit().unwrap_or(0));
        }
        let zero = Operation::Init { dst: dst.address(), bytes, value: 0 };
        if planner.check(&zero).is_ok() {
            let mut reported: Vec<_> = (0..frames).map(|at| map.zeroed(dst, frames, at).mechanism.name()).collect();
            reported.sort_unstable();
            reported.dedup();
            prop_assert_eq!(reported, planned(&planner, &zero), "{}", zero);
        }
    }
}
