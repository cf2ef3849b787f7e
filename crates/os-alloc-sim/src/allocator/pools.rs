//! Pools of free grains with removal in constant time.

use std::sync::Arc;

use crate::bits::Bits;
use crate::frame_set::FrameSet;

/// No slot: the grain is never allocated.
const NOWHERE: u32 = u32::MAX;

/// Grains, each free or not, and each a member of one fixed pool.
///
/// The slots of a pool are contiguous, those of its free grains first:
///
/// ```text
/// slots     | 4 0 . 2 | 5 1 3 . |     pool 0 has grains 0, 2, 4 and another (.)
/// free         ^2         ^3          4 and 0 are free, and the next one out is 0
/// ```
#[derive(Clone, Debug)]
pub(crate) struct Pools {
    /// First slot of each pool.
    start: Vec<u32>,
    /// Number of free grains of each pool.
    free: Vec<u32>,
    slots: Numbers,
    /// Slot of each grain.
    slot: Numbers,
}

/// A list of numbers in parts. Clones share the parts that they have not changed.
#[derive(Clone, Debug)]
struct Numbers(Vec<Arc<[u32]>>);

/// Numbers in a part.
const PART: usize = 1024;

impl Numbers {
    fn new(numbers: &[u32]) -> Numbers {
        Numbers(numbers.chunks(PART).map(Arc::from).collect())
    }

    fn get(&self, index: u32) -> u32 {
        self.0[index as usize / PART][index as usize % PART]
    }

    fn set(&mut self, index: u32, number: u32) {
        Arc::make_mut(&mut self.0[index as usize / PART])[index as usize % PART] = number;
    }
}

impl Pools {
    /// Creates pools of the grains of a set, of which these are free. Each pool provides them in reverse order, as if
    /// they were freed one by one.
    pub(crate) fn new(pools: usize, set: &FrameSet, free: &[u32], pool: impl Fn(u32) -> u32) -> Pools {
        let in_use = set.numbers().without(&Bits::collect(set.end() as usize, free.iter().copied()));
        let mut sizes = vec![0; pools];
        free.iter().copied().for_each(|grain| sizes[pool(grain) as usize] += 1);
        let free_of_pool = sizes.clone();
        in_use.iter().for_each(|grain| sizes[pool(grain) as usize] += 1);
        let next = |next: &mut u32, size: &u32| Some(std::mem::replace(next, *next + size));
        let start: Vec<u32> = sizes.iter().scan(0, next).collect();
        let mut slots = vec![NOWHERE; set.grain_count() as usize];
        let mut slot = vec![NOWHERE; set.end() as usize];
        let mut next = start.clone();
        let mut enter = |grain: u32| {
            let next = &mut next[pool(grain) as usize];
            (slots[*next as usize], slot[grain as usize]) = (grain, *next);
            *next += 1;
        };
        free.iter().copied().for_each(&mut enter);
        in_use.iter().for_each(enter);
        Pools { start, free: free_of_pool, slots: Numbers::new(&slots), slot: Numbers::new(&slot) }
    }

    /// Number of free grains of a pool.
    pub(crate) fn free(&self, pool: u32) -> u32 {
        self.free[pool as usize]
    }

    /// Number of free grains of each pool.
    pub(crate) fn all_free(&self) -> &[u32] {
        &self.free
    }

    /// Whether a grain of this pool is free.
    pub(crate) fn is_free(&self, grain: u32, pool: u32) -> bool {
        let slot = self.slot.get(grain);
        slot != NOWHERE && slot - self.start[pool as usize] < self.free[pool as usize]
    }

    /// Takes the most recently freed grain of a pool, if any is free.
    pub(crate) fn pop(&mut self, pool: u32) -> Option<u32> {
        let left = self.free[pool as usize].checked_sub(1)?;
        self.free[pool as usize] = left;
        Some(self.slots.get(self.start[pool as usize] + left))
    }

    /// Takes the free grain at a position of a pool's list.
    pub(crate) fn take_at(&mut self, place: u32, pool: u32) -> u32 {
        assert!(place < self.free(pool), "pool {pool} has {} free grains: none at {place}", self.free(pool));
        let grain = self.slots.get(self.start[pool as usize] + place);
        self.take(grain, pool);
        grain
    }

    /// Takes a grain of this pool; returns whether it was free.
    pub(crate) fn take(&mut self, grain: u32, pool: u32) -> bool {
        let free = self.is_free(grain, pool);
        if free {
            self.free[pool as usize] -= 1;
            self.exchange(grain, self.start[pool as usize] + self.free[pool as usize]);
        }
        free
    }

    /// Returns a grain to its pool; returns whether it was taken.
    pub(crate) fn put(&mut self, grain: u32, pool: u32) -> bool {
        let taken = self.slot.get(grain) != NOWHERE && !self.is_free(grain, pool);
        if taken {
            self.exchange(grain, self.start[pool as usize] + self.free[pool as usize]);
            self.free[pool as usize] += 1;
        }
        taken
    }

    /// Exchanges a grain with the grain in slot `to`.
    fn exchange(&mut self, grain: u32, to: u32) {
        let from = self.slot.get(grain);
        let other = self.slots.get(to);
        self.slots.set(from, other);
        self.slots.set(to, grain);
        self.slot.set(other, from);
        self.slot.set(grain, to);
    }
}
