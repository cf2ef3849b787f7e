//! What the allocator's report says of a copy is what the planner makes of it.

use dram_spec::AddressMap;
use memctrl::policy::copy::ROWCLONE;
use os_alloc_sim::{Frame, FrameMap};
use proptest::prelude::*;
use rowclone::{FaultyRows, Operation, Planner};

use crate::cases::{arb_map, arb_system};

/// How the planner's parts of an operation go by the paper's rule, each once.
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
    /// A page, or a whole unit of them, from anywhere to near it or far away.
    #[test]
    fn frames_are_copied_and_zeroed_as_the_planner_says(
        system in arb_system(), raw in arb_map(), at in any::<u32>(), flips in any::<u32>(), near in 0u32..32, whole in any::<bool>(),
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
            let mut told: Vec<_> = (0..frames).map(|at| map.copied(src, dst, frames, at).mechanism.name()).collect();
            told.sort_unstable();
            told.dedup();
            prop_assert_eq!(told, planned(&planner, &copy), "{} with {}", copy, map.unit().unwrap_or(0));
        }
        let zero = Operation::Init { dst: dst.address(), bytes, value: 0 };
        if planner.check(&zero).is_ok() {
            let mut told: Vec<_> = (0..frames).map(|at| map.zeroed(dst, frames, at).mechanism.name()).collect();
            told.sort_unstable();
            told.dedup();
            prop_assert_eq!(told, planned(&planner, &zero), "{}", zero);
        }
    }
}
