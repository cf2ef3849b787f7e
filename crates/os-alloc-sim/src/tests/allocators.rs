//! Every allocator compared with a set of free frames.

use std::collections::{BTreeMap, BTreeSet};

use dram_spec::address::MapPreset;
use dram_spec::{AddressMap, SubarrayId};
use proptest::prelude::*;

use crate::bits::Bits;
use crate::fixture::{geometry, memories};
use crate::{
    CopyUnit, Found, Frame, FrameAllocator, FrameMap, FrameRequest, FrameSet, FreeBlocks, Generator, MAX_ORDER, Policy,
};

/// A request to an allocator; indices are taken modulo what exists.
#[derive(Clone, Copy, Debug)]
enum Move {
    Allocate {
        order: u8,
        source: Option<u32>,
    },
    /// Allocates until at most this number of grains is free.
    Drain {
        left: u32,
    },
    Free {
        which: u32,
    },
    Claim {
        which: u32,
    },
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        6 => (0..=MAX_ORDER, prop::option::of(any::<u32>()))
            .prop_map(|(order, source)| Move::Allocate { order, source }),
        6 => prop::option::of(any::<u32>()).prop_map(|source| Move::Allocate { order: 0, source }),
        1 => (0_u32..40).prop_map(|left| Move::Drain { left }),
        8 => any::<u32>().prop_map(|which| Move::Free { which }),
        2 => any::<u32>().prop_map(|which| Move::Claim { which }),
    ];
    prop::collection::vec(one, 1..120)
}

/// The free grains, by their first frames, as a plain set.
struct Model<'a> {
    map: &'a FrameMap,
    set: &'a FrameSet,
    all: Vec<Frame>,
    free: BTreeSet<Frame>,
    out: Vec<Frame>,
}

impl<'a> Model<'a> {
    fn new(map: &'a FrameMap, set: &'a FrameSet) -> Model<'a> {
        let all: Vec<Frame> = set.grains().collect();
        Model { map, set, free: all.iter().copied().collect(), all, out: Vec::new() }
    }

    fn grain(&self, frame: Frame) -> Frame {
        Frame(frame.0 >> self.set.grain_order() << self.set.grain_order())
    }

    fn blocks(&self) -> FreeBlocks {
        let grains = self.free.iter().map(|grain| grain.0 >> self.set.grain_order());
        let bits = Bits::collect(self.map.frames() as usize, grains);
        FreeBlocks::of(&bits, self.set.grain_order())
    }

    /// The pool that the destination of a copy must come from, unless no grain is free.
    fn pool(&self, source: Frame) -> Option<(SubarrayId, Found)> {
        let mut pools: BTreeMap<SubarrayId, usize> = BTreeMap::new();
        for grain in &self.free {
            *pools.entry(self.map.subarray(*grain)).or_default() += 1;
        }
        // The first of those with most: pools are ordered by their names.
        let fullest = |among: &dyn Fn(&SubarrayId) -> bool| {
            let pools = pools.iter().rev().filter(|(pool, _)| among(pool));
            pools.max_by_key(|(_, free)| **free).map(|(pool, _)| *pool)
        };
        let source = self.map.subarray(self.grain(source));
        if pools.contains_key(&source) {
            return Some((source, Found::SourcePool));
        }
        let mut banks = BTreeMap::new();
        for (pool, free) in &pools {
            if (pool.channel, pool.bank.rank) == (source.channel, source.bank.rank) {
                *banks.entry(pool.bank).or_insert(0) += free;
            }
        }
        let Some((bank, _)) = banks.iter().rev().max_by_key(|(_, free)| **free) else {
            return Some((fullest(&|_| true)?, Found::Elsewhere));
        };
        let in_bank = |pool: &SubarrayId| pool.channel == source.channel && pool.bank == *bank;
        Some((fullest(&in_bank)?, Found::SourceRank))
    }

    fn allocate(&mut self, allocator: &mut dyn FrameAllocator, request: FrameRequest) -> Result<(), TestCaseError> {
        let (policy, grain_order) = (allocator.policy(), self.set.grain_order());
        let order = request.order.max(grain_order);
        let before = self.blocks();
        let grant = allocator.allocate(request);
        let possible = match policy {
            Policy::Buddy => before.frames_from(order) > 0,
            _ => order == grain_order && !self.free.is_empty(),
        };
        prop_assert_eq!(grant.is_some(), possible, "{:?} with {:?}", request, before);
        let Some(grant) = grant else { return Ok(()) };
        prop_assert!(grant.frame.0.is_multiple_of(1 << order));
        match policy {
            Policy::Sequential => prop_assert_eq!(Some(&grant.frame), self.free.first()),
            Policy::SubarrayAware => {
                if let Some(source) = request.source {
                    prop_assert_eq!(Some((self.map.subarray(grant.frame), grant.found)), self.pool(source));
                } else {
                    prop_assert_eq!(grant.found, Found::Unbound);
                }
            }
            Policy::BankAware => {
                let place = |frame: Frame| self.map.subarray(frame);
                let in_rank = |a: SubarrayId, b: SubarrayId| a.channel == b.channel && a.bank.rank == b.bank.rank;
                let is_other = |a: SubarrayId, b: SubarrayId| in_rank(a, b) && a.bank != b.bank;
                if let Some(source) = request.source.map(|source| place(self.grain(source))) {
                    let has_other = self.free.iter().any(|&frame| is_other(place(frame), source));
                    prop_assert_eq!(is_other(place(grant.frame), source), has_other);
                    prop_assert_eq!(grant.found == Found::Blind, has_other);
                }
            }
            Policy::Random | Policy::Buddy => prop_assert_eq!(grant.found, Found::Blind),
        }
        for frame in (grant.frame.0..grant.frame.0 + (1 << order)).step_by(1 << grain_order).map(Frame) {
            prop_assert!(self.free.remove(&frame), "{} was not free", frame);
            self.out.push(frame);
        }
        if policy == Policy::Buddy {
            // A block as small as will do was split in halves, one of which is left of each order below its own.
            let smallest = (order..=MAX_ORDER).find(|&order| before.0[usize::from(order)] > 0);
            let mut after = before;
            after.0[usize::from(smallest.unwrap_or(order))] -= 1;
            for halved in order..smallest.unwrap_or(order) {
                after.0[usize::from(halved)] += 1;
            }
            prop_assert_eq!(self.blocks(), after);
        }
        Ok(())
    }

    fn step(&mut self, allocator: &mut dyn FrameAllocator, step: Move) -> Result<(), TestCaseError> {
        let any = |which: u32, frames: &[Frame]| frames[which as usize % frames.len()];
        match step {
            Move::Allocate { order, source } => {
                let source = source.map(|which| any(which, &self.all).plus(which % self.set.grain_frames()));
                self.allocate(allocator, FrameRequest { order, source })?;
            }
            Move::Drain { left } => {
                while self.free.len() > left as usize {
                    let grant = allocator.allocate(FrameRequest::ANYWHERE);
                    let frame = grant.expect("there are free grains").frame;
                    prop_assert!(self.free.remove(&frame), "{} was not free", frame);
                    self.out.push(frame);
                }
            }
            Move::Free { which } if !self.out.is_empty() => {
                let frame = self.out.swap_remove(which as usize % self.out.len());
                allocator.free(frame.plus(which % self.set.grain_frames()));
                self.free.insert(frame);
            }
            Move::Free { .. } => {}
            Move::Claim { which } => {
                let frame = any(which, &self.all);
                prop_assert_eq!(allocator.claim(frame), self.free.remove(&frame));
                if !self.out.contains(&frame) {
                    self.out.push(frame);
                }
            }
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_frame_is_lost_or_allocated_twice(
        memory in 0..memories().len(),
        policy in prop::sample::select(Policy::ALL.to_vec()),
        moves in moves(),
        seed in any::<u64>(),
    ) {
        let (map, set) = &memories()[memory];
        let Ok(mut allocator) = policy.allocator(map, set, seed) else {
            prop_assert!(policy == Policy::Buddy && set.grain_order() > MAX_ORDER);
            return Ok(());
        };
        let mut model = Model::new(map, set);
        for step in moves {
            model.step(allocator.as_mut(), step)?;
            prop_assert_eq!(allocator.free_frames(), (model.free.len() as u64) << set.grain_order());
        }
        prop_assert_eq!(allocator.free_blocks(), model.blocks());
        for &grain in &model.all {
            prop_assert_eq!(allocator.is_free(grain), model.free.contains(&grain));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Whatever is claimed and allocated then.
    #[test]
    fn an_allocator_after_frees_has_allocated_all_grains_and_freed_them_one_by_one(
        memory in 0..memories().len(),
        policy in prop::sample::select(Policy::ALL.to_vec()),
        freed in 0..400_usize,
        after in moves(),
        seed in any::<u64>(),
    ) {
        let (map, set) = &memories()[memory];
        let Ok(mut single) = policy.allocator(map, set, seed) else { return Ok(()) };
        while single.allocate(FrameRequest::ANYWHERE).is_some() {}
        prop_assert_eq!((single.free_frames(), single.free_blocks()), (0, FreeBlocks::default()));
        // Grains of all parts of the memory, or two whole blocks and others.
        let mut free: Vec<u32> = set.numbers().iter().collect();
        let all: Vec<Frame> = set.grains().collect();
        if freed > 0 {
            free = free.iter().copied().step_by(free.len().div_ceil(freed)).collect();
        }
        Generator::new(seed).shuffle(&mut free);
        for &grain in &free {
            single.free(set.frame(grain));
        }
        let mut whole = policy.allocator_after(map, set, seed, Some(&free)).unwrap();
        prop_assert_eq!((whole.free_frames(), whole.free_blocks()), (single.free_frames(), single.free_blocks()));
        prop_assert!(all.iter().all(|&frame| whole.is_free(frame) == single.is_free(frame)));
        for step in after {
            let grant = |allocator: &mut dyn FrameAllocator| match step {
                Move::Allocate { order, source } => {
                    let source = source.map(|which| all[which as usize % all.len()]);
                    allocator.allocate(FrameRequest { order, source }).map(|grant| (grant.frame, grant.found))
                }
                Move::Claim { which } => {
                    let frame = all[which as usize % all.len()];
                    allocator.claim(frame).then_some((frame, Found::Blind))
                }
                Move::Drain { .. } | Move::Free { .. } => None,
            };
            prop_assert_eq!(grant(whole.as_mut()), grant(single.as_mut()));
            prop_assert_eq!(whole.free_blocks(), single.free_blocks());
        }
    }
}

/// A seed is part of a result: the sequence of allocations must not change.
#[test]
fn a_seed_determines_the_frames_allocated() {
    let map = FrameMap::new(AddressMap::preset(geometry(4096), MapPreset::RowInterleaved));
    let set = FrameSet::new(&map, CopyUnit::RowSet);
    let frames = |seed| {
        let mut random = Policy::Random.allocator(&map, &set, seed).unwrap();
        std::array::from_fn(|_| random.allocate(FrameRequest::ANYWHERE).unwrap().frame.0)
    };
    assert_eq!(frames(1), [113_505, 66_573, 7_595, 145_508, 145_533]);
    assert_eq!(frames(2), [107_055, 65_691, 105_892, 61_432, 180_276]);
}

/// Linux: order 0 of an empty memory splits one block of order 10 all the way down, and freeing it merges it again.
#[test]
fn a_buddy_splits_and_merges_all_the_way() {
    let (map, set) = &memories()[0];
    let mut buddy = Policy::Buddy.allocator(map, set, 0).unwrap();
    let mut single = Vec::new();
    let whole = buddy.free_blocks();
    assert_eq!(whole.0[10], 2);
    while buddy.free_blocks().0[10] == 2 {
        single.push(buddy.allocate(FrameRequest::ANYWHERE).unwrap().frame);
    }
    assert_eq!(buddy.free_blocks().0, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
    let huge = buddy.allocate(FrameRequest { order: 9, source: None }).unwrap().frame;
    assert!(huge.0.is_multiple_of(512) && huge.0 / 2048 == 3);
    assert_eq!(buddy.free_blocks().0[10], 1, "the smaller block will do");
    (0..512).for_each(|at| buddy.free(huge.plus(at)));
    for frame in single {
        buddy.free(frame);
    }
    assert_eq!(buddy.free_blocks(), whole);
}

#[test]
#[should_panic(expected = "is not allocated")]
fn a_frame_cannot_be_freed_twice() {
    let (map, set) = &memories()[0];
    let mut allocator = Policy::SubarrayAware.allocator(map, set, 0).unwrap();
    let frame = allocator.allocate(FrameRequest::ANYWHERE).unwrap().frame;
    allocator.free(frame);
    allocator.free(frame);
}

#[test]
fn a_unit_above_a_block_is_refused_with_a_remedy() {
    let units: Vec<_> = memories().iter().filter(|(_, set)| set.grain_order() > MAX_ORDER).collect();
    for (map, set) in units {
        let error = Policy::Buddy.allocator(map, set, 0).unwrap_err();
        assert!(error.to_string().contains(&set.grain_frames().to_string()) && error.help().contains("marked"));
    }
}
