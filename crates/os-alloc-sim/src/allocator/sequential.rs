//! `sequential`: the lowest free frame.

use super::{Found, FrameAllocator, FrameRequest, Grant, Policy};
use crate::bits::Bits;
use crate::blocks::FreeBlocks;
use crate::frame::Frame;
use crate::frame_set::FrameSet;

/// Allocates the lowest free grain. Blocks above a grain are not supported.
#[derive(Clone, Debug)]
pub struct Sequential {
    set: FrameSet,
    free: Bits,
    count: u32,
}

impl Sequential {
    /// Creates the allocator with these grains of a set free, or all.
    pub(super) fn new(set: &FrameSet, free: Option<&[u32]>) -> Sequential {
        let free =
            free.map_or_else(|| set.numbers().clone(), |free| Bits::collect(set.end() as usize, free.iter().copied()));
        let count = free.words().iter().map(|word| word.count_ones()).sum();
        Sequential { set: set.clone(), free, count }
    }
}

impl FrameAllocator for Sequential {
    fn policy(&self) -> Policy {
        Policy::Sequential
    }

    fn allocate(&mut self, request: FrameRequest) -> Option<Grant> {
        if request.order > self.set.grain_order() {
            return None;
        }
        let grain = self.free.first()?;
        self.free.remove(grain);
        self.count -= 1;
        Some(Grant { frame: self.set.frame(grain), found: Found::Blind })
    }

    fn free(&mut self, frame: Frame) {
        assert!(self.set.contains(frame) && self.free.insert(self.set.grain(frame)), "{frame} is not allocated");
        self.count += 1;
    }

    fn claim(&mut self, frame: Frame) -> bool {
        let claimed = self.free.remove(self.set.grain(frame));
        self.count -= u32::from(claimed);
        claimed
    }

    fn is_free(&self, frame: Frame) -> bool {
        self.free.contains(self.set.grain(frame))
    }

    fn free_frames(&self) -> u64 {
        u64::from(self.count) << self.set.grain_order()
    }

    fn free_blocks(&self) -> FreeBlocks {
        FreeBlocks::of(&self.free, self.set.grain_order())
    }
}
