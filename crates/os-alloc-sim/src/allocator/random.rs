//! `random`: any free frame.

use std::borrow::Cow;

use super::pools::Pools;
use super::{Found, FrameAllocator, FrameRequest, Grant, Policy};
use crate::bits::Bits;
use crate::blocks::FreeBlocks;
use crate::frame::Frame;
use crate::frame_set::FrameSet;
use crate::generator::Generator;

/// Allocates any free grain with equal probability, by seed. Blocks above a grain are not
/// supported.
#[derive(Clone, Debug)]
pub struct Random {
    set: FrameSet,
    /// All grains, as a single pool.
    pools: Pools,
    generator: Generator,
}

impl Random {
    /// Creates the allocator with all frames of a set free; or as if it had allocated all, and these grains were freed
    /// again in this order.
    pub(super) fn new(set: &FrameSet, seed: u64, freed: Option<&[u32]>) -> Random {
        let mut generator = Generator::new(seed);
        if freed.is_some() {
            for free in (1..=set.grain_count()).rev() {
                generator.below(free);
            }
        }
        let free = freed.map_or_else(|| set.descending().into(), Cow::from);
        Random { set: set.clone(), pools: Pools::new(1, set, &free, |_| 0), generator }
    }
}

impl FrameAllocator for Random {
    fn policy(&self) -> Policy {
        Policy::Random
    }

    fn allocate(&mut self, request: FrameRequest) -> Option<Grant> {
        if request.order > self.set.grain_order() || self.pools.free(0) == 0 {
            return None;
        }
        let place = self.generator.below(self.pools.free(0));
        let grain = self.pools.take_at(place, 0);
        Some(Grant { frame: self.set.frame(grain), found: Found::Blind })
    }

    fn free(&mut self, frame: Frame) {
        assert!(self.pools.put(self.set.grain(frame), 0), "{frame} is not allocated");
    }

    fn claim(&mut self, frame: Frame) -> bool {
        self.pools.take(self.set.grain(frame), 0)
    }

    fn is_free(&self, frame: Frame) -> bool {
        self.pools.is_free(self.set.grain(frame), 0)
    }

    fn free_frames(&self) -> u64 {
        u64::from(self.pools.free(0)) << self.set.grain_order()
    }

    fn free_blocks(&self) -> FreeBlocks {
        let free = self.set.numbers().iter().filter(|&grain| self.pools.is_free(grain, 0));
        FreeBlocks::of(&Bits::collect(self.set.end() as usize, free), self.set.grain_order())
    }
}
