//! `buddy`: blocks that are split in halves and merged again.

use rustc_hash::FxHashMap;

use super::{Found, FrameAllocator, FrameRequest, Grant, Policy};
use crate::bits::Bits;
use crate::blocks::{FreeBlocks, MAX_ORDER, merged};
use crate::frame::Frame;
use crate::frame_set::FrameSet;

/// End of a list.
const NONE: u32 = u32::MAX;

/// A free block, in the list of its order.
#[derive(Clone, Copy, Debug)]
struct ListNode {
    /// Relative to the grain's.
    order: u8,
    /// First grain of its neighbors in the list.
    next: u32,
    previous: u32,
}

/// Free blocks of one order, most recently freed first.
#[derive(Clone, Copy, Debug)]
struct FreeList {
    head: u32,
    blocks: u64,
}

/// Allocates the smallest block that suffices, as Linux does.
///
/// If no block of the requested order is free, the first block of the next larger order is split:
/// the lower half is split further, the upper half becomes a free block. A freed block is merged
/// with its buddy (the other half of the block above) while the buddy is free as a whole. A list is
/// last in, first out. Linux's per-processor lists, zones and migration types are not modeled.
#[derive(Clone, Debug)]
pub struct Buddy {
    set: FrameSet,
    /// List of each order above the grain's order.
    lists: Vec<FreeList>,
    /// Free blocks by their first grain.
    blocks: FxHashMap<u32, ListNode>,
    /// Allocated grains.
    out: Bits,
}

impl Buddy {
    /// Creates the allocator with these grains of a set free, as if they were freed one by one in this order.
    pub(super) fn new(set: &FrameSet, freed: &[u32]) -> Buddy {
        let mut buddy = Buddy::empty(set);
        let free = Bits::collect(set.end() as usize, freed.iter().copied());
        buddy.out = set.numbers().without(&free);
        let mut whole = vec![free];
        for order in 1..buddy.lists.len() {
            whole.push(Bits::of(merged(whole[order - 1].words())));
        }
        // A block enters its list when the last of its grains is freed.
        let (mut listed, mut blocks) = (Bits::below(0, set.end() as usize), Vec::new());
        let mut latest = 0..0;
        for grain in freed.iter().rev() {
            if latest.contains(grain) {
                continue;
            }
            let is_whole = |order: &u8| whole[usize::from(*order)].contains(grain >> order);
            let order = (0..whole.len() as u8).take_while(is_whole).last().expect("the grain itself is free");
            let first = grain >> order << order;
            if listed.insert(first) {
                blocks.push((first, order));
            }
            latest = first..first + (1 << order);
        }
        buddy.blocks.reserve(blocks.len());
        blocks.into_iter().rev().for_each(|(first, order)| buddy.push(first, order));
        buddy
    }

    /// Creates the allocator with all frames of a set allocated. A grain above the largest block is
    /// a block.
    pub(crate) fn empty(set: &FrameSet) -> Buddy {
        let orders = usize::from(MAX_ORDER.saturating_sub(set.grain_order())) + 1;
        Buddy {
            set: set.clone(),
            lists: vec![FreeList { head: NONE, blocks: 0 }; orders],
            blocks: FxHashMap::default(),
            out: set.numbers().clone(),
        }
    }

    /// Allocated grains.
    pub(super) const fn in_use(&self) -> &Bits {
        &self.out
    }

    /// Whether no frame is free.
    pub(crate) fn is_empty(&self) -> bool {
        self.lists.iter().all(|list| list.blocks == 0)
    }

    fn push(&mut self, grain: u32, order: u8) {
        let list = &mut self.lists[usize::from(order)];
        let next = std::mem::replace(&mut list.head, grain);
        list.blocks += 1;
        self.blocks.insert(grain, ListNode { order, next, previous: NONE });
        if let Some(next) = self.blocks.get_mut(&next) {
            next.previous = grain;
        }
    }

    /// Removes a block from its list.
    fn unlink(&mut self, grain: u32) {
        let ListNode { order, next, previous } = self.blocks.remove(&grain).expect("a free block starts here");
        let list = &mut self.lists[usize::from(order)];
        list.blocks -= 1;
        match self.blocks.get_mut(&previous) {
            Some(previous) => previous.next = next,
            None => list.head = next,
        }
        if let Some(next) = self.blocks.get_mut(&next) {
            next.previous = previous;
        }
    }

    /// The other half of the block above a block, where it is free as a whole.
    fn free_buddy(&self, first: u32, order: u8) -> Option<u32> {
        let other = first ^ 1 << order;
        let is_whole = |block: &ListNode| block.order == order && usize::from(order) + 1 < self.lists.len();
        self.blocks.get(&other).is_some_and(is_whole).then_some(other)
    }

    /// Frees a grain and merges it with free buddies.
    fn give(&mut self, grain: u32) {
        let (mut first, mut order) = (grain, 0);
        while let Some(other) = self.free_buddy(first, order) {
            self.unlink(other);
            (first, order) = (first & other, order + 1);
        }
        self.push(first, order);
    }

    /// The free block that contains a free grain, and its order.
    fn block(&self, grain: u32) -> (u32, u8) {
        let mut blocks = (0..self.lists.len() as u8).map(|order| (grain >> order << order, order));
        blocks
            .find(|(first, order)| self.blocks.get(first).is_some_and(|block| block.order == *order))
            .expect("a free grain lies in a free block")
    }
}

impl FrameAllocator for Buddy {
    fn policy(&self) -> Policy {
        Policy::Buddy
    }

    fn allocate(&mut self, request: FrameRequest) -> Option<Grant> {
        let wanted = request.order.saturating_sub(self.set.grain_order());
        let mut order = (wanted..self.lists.len() as u8).find(|&order| self.lists[usize::from(order)].blocks > 0)?;
        let first = self.lists[usize::from(order)].head;
        self.unlink(first);
        while order > wanted {
            order -= 1;
            self.push(first + (1 << order), order);
        }
        for grain in first..first + (1 << wanted) {
            self.out.insert(grain);
        }
        Some(Grant { frame: self.set.frame(first), found: Found::Blind })
    }

    fn free(&mut self, frame: Frame) {
        let grain = self.set.grain(frame);
        assert!(self.out.remove(grain), "{frame} is not allocated");
        self.give(grain);
    }

    fn claim(&mut self, frame: Frame) -> bool {
        if !self.is_free(frame) {
            return false;
        }
        let grain = self.set.grain(frame);
        let (mut first, mut order) = self.block(grain);
        self.unlink(first);
        while order > 0 {
            order -= 1;
            let upper = first + (1 << order);
            let rest = if grain < upper { upper } else { std::mem::replace(&mut first, upper) };
            self.push(rest, order);
        }
        self.out.insert(grain)
    }

    fn is_free(&self, frame: Frame) -> bool {
        self.set.contains(frame) && !self.out.contains(self.set.grain(frame))
    }

    fn free_frames(&self) -> u64 {
        self.free_blocks().frames()
    }

    fn free_blocks(&self) -> FreeBlocks {
        let mut blocks = FreeBlocks::default();
        for (list, count) in self.lists.iter().zip(&mut blocks.0[usize::from(self.set.grain_order())..]) {
            *count = list.blocks;
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::fixture::maps;
    use crate::frame::FrameMap;
    use crate::frame_set::CopyUnit;
    use crate::generator::Generator;

    /// Compares an allocator with one that frees these grains one by one.
    fn check(set: &FrameSet, freed: &[u32]) {
        let (mut buddy, mut single) = (Buddy::new(set, freed), Buddy::empty(set));
        for &grain in freed {
            single.free(set.frame(grain));
        }
        assert_eq!(buddy.free_blocks(), single.free_blocks());
        assert!(set.grains().all(|frame| buddy.is_free(frame) == single.is_free(frame)));
        let next = |buddy: &mut Buddy| buddy.allocate(FrameRequest::ANYWHERE).map(|grant| grant.frame);
        while let Some(frame) = next(&mut buddy) {
            assert_eq!(next(&mut single), Some(frame));
        }
        assert_eq!(next(&mut single), None);
    }

    /// Lists built from whole blocks are those of grains freed one by one, the highest first, or in any order.
    #[test]
    fn a_new_allocator_has_the_lists_of_grains_freed_one_by_one() {
        // Many maps reserve the same frames: the map itself has no effect.
        let mut seen = BTreeSet::new();
        for map in maps() {
            let mut set = FrameSet::new(&FrameMap::new(map), CopyUnit::Page);
            // Holes of one grain, besides the reserved frames.
            for hole in [5, 6, 4096] {
                assert!(set.withhold(Frame(hole)));
            }
            if !seen.insert(set.numbers().words().to_vec()) {
                continue;
            }
            let mut scattered = set.descending();
            scattered.retain(|it| it / 100 % 3 != 2 && it % 7 != 0);
            for mut freed in [set.descending(), scattered] {
                check(&set, &freed);
                Generator::new(1).shuffle(&mut freed);
                check(&set, &freed);
            }
        }
    }
}
