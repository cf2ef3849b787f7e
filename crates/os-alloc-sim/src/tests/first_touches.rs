//! Placement of requests without a source by `subarray-aware`.

use std::collections::BTreeMap;

use dram_spec::address::MapPreset;
use dram_spec::{AddressMap, BankId, Channel, SubarrayId};

use crate::fixture::{few, geometry, maps};
use crate::{CopyUnit, FrameAllocator, FrameMap, FrameRequest, FrameSet, Policy};

/// First touches of the channel and bank with most of them.
fn most_in_a_bank(map: &FrameMap, allocator: &mut dyn FrameAllocator, touches: u32) -> u32 {
    let mut banks: BTreeMap<(Channel, BankId), u32> = BTreeMap::new();
    for _ in 0..touches {
        let frame = allocator.allocate(FrameRequest::ANYWHERE).unwrap().frame;
        let SubarrayId { channel, bank, .. } = map.subarray(frame);
        *banks.entry((channel, bank)).or_default() += 1;
    }
    banks.into_values().max().unwrap()
}

/// No bank gets more first touches than the fullest bank of `buddy`, to 2 %, as the policies split
/// blocks at different places.
#[test]
fn first_touches_of_a_fresh_memory_are_spread_over_banks_like_those_of_buddy() {
    for (map, copy_unit) in maps().into_iter().flat_map(|map| CopyUnit::ALL.map(|copy_unit| (map.clone(), copy_unit))) {
        let map = FrameMap::new(map);
        let set = FrameSet::new(&map, copy_unit);
        let touches = 2048 >> set.grain_order();
        let Ok(mut buddy) = Policy::Buddy.allocator(&map, &set, 0) else { continue };
        let mut aware = Policy::SubarrayAware.allocator(&map, &set, 0).unwrap();
        let [buddy, aware] =
            [&mut buddy, &mut aware].map(|allocator| most_in_a_bank(&map, allocator.as_mut(), touches));
        assert!(aware * 50 <= buddy * 51, "{aware} of {touches} in one bank, and {buddy} with `buddy`");
    }
}

/// Of two pools of equal size, none has less than 7/8 of the free grains of the other, rounded
/// down, until all memory is allocated.
#[test]
fn first_touches_leave_every_pool_seven_eighths_of_what_any_other_has() {
    let (map, few) = few(AddressMap::preset(geometry(4096), MapPreset::RowInterleaved), CopyUnit::RowSet);
    for set in [few, FrameSet::new(&map, CopyUnit::RowSet)] {
        let mut sizes: BTreeMap<SubarrayId, u64> = BTreeMap::new();
        set.grains().for_each(|grain| *sizes.entry(map.subarray(grain)).or_default() += 1);
        let (pools, sizes): (Vec<SubarrayId>, Vec<u64>) = sizes.into_iter().unzip();
        let mut free = sizes.clone();
        let mut aware = Policy::SubarrayAware.allocator(&map, &set, 0).unwrap();
        while let Some(grant) = aware.allocate(FrameRequest::ANYWHERE) {
            let pool = pools.binary_search(&map.subarray(grant.frame)).unwrap();
            free[pool] -= 1;
            let equal = free.iter().zip(&sizes).filter(|(_, size)| **size == sizes[pool]);
            let most = equal.map(|(free, _)| *free).max().unwrap();
            assert!(free[pool] >= 7 * most / 8, "{} free, and {most} in another pool", free[pool]);
        }
        assert!(free.iter().all(|&free| free == 0));
    }
}

/// First touches skip a pool half of which copies have used: they go to all other pools.
#[test]
fn first_touches_skip_a_pool_that_copies_have_drained() {
    let map = FrameMap::new(AddressMap::preset(geometry(4096), MapPreset::RowInterleaved));
    let set = FrameSet::new(&map, CopyUnit::RowSet);
    let mut aware = Policy::SubarrayAware.allocator(&map, &set, 0).unwrap();
    let source = aware.allocate(FrameRequest::ANYWHERE).unwrap().frame;
    let pool = map.subarray(source);
    let in_pool = set.grains().filter(|&grain| map.subarray(grain) == pool).count();
    for _ in 0..in_pool / 2 {
        assert_eq!(map.subarray(aware.allocate(FrameRequest::near(source)).unwrap().frame), pool);
    }
    for _ in 0..set.frames() / 16 {
        assert_ne!(map.subarray(aware.allocate(FrameRequest::ANYWHERE).unwrap().frame), pool);
    }
}
