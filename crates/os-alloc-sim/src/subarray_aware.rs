//! `subarray-aware`: a pool of free frames a subarray, and copies from one pool.

use crate::allocator::{Found, FrameAllocator, Grant, Policy, Request};
use crate::blocks::FreeBlocks;
use crate::frame::{Frame, FrameMap};
use crate::frame_set::FrameSet;
use crate::fullest::Fullest;
use crate::pools::Pools;

/// Hands out the destination of a copy from the pool of its source's subarray; else from the bank of the same rank
/// with most free frames, lowest index on ties; else from any. It has no blocks above a grain.
///
/// What is no copy's destination comes from the pool with most free frames. Whatever bank or "any" is chosen from,
/// the pool is the one with most free frames, lowest index on ties. Pools are counted by channel, rank, bank and
/// subarray, the last fastest; of the frames of a pool, the last freed is the first out.
#[derive(Clone, Debug)]
pub struct SubarrayAware {
    set: FrameSet,
    pools: Pools,
    /// By grain: its pool.
    pool: Vec<u32>,
    fullest: Fullest,
    /// By bank of all: its free grains.
    free_in_bank: Vec<u32>,
    free: u32,
    pools_per_bank: u32,
    banks_per_rank: u32,
}

impl SubarrayAware {
    /// With all frames of a set free.
    pub fn new(map: &FrameMap, set: &FrameSet) -> SubarrayAware {
        let geometry = map.address_map().geometry();
        let (pools_per_bank, banks_per_rank) = (geometry.subarrays_per_bank(), u32::from(geometry.banks()));
        let banks = u32::from(geometry.channels()) * u32::from(geometry.ranks()) * banks_per_rank;
        let pool_of = |grain| {
            let at = map.subarray(set.frame(grain));
            let rank = u32::from(at.channel.0) * u32::from(geometry.ranks()) + u32::from(at.bank.rank);
            (rank * banks_per_rank + u32::from(at.bank.bank)) * pools_per_bank + at.subarray
        };
        let pool: Vec<u32> = (0..set.end()).map(pool_of).collect();
        let grains: Vec<(u32, u32)> = set.numbers().iter().map(|grain| (grain, pool[grain as usize])).collect();
        let count = banks * pools_per_bank;
        let pools = Pools::new(count as usize, set.end(), grains.iter().copied());
        let counts: Vec<u32> = (0..count).map(|pool| pools.free(pool)).collect();
        let free_in_bank: Vec<u32> = counts.chunks(pools_per_bank as usize).map(|bank| bank.iter().sum()).collect();
        let (fullest, free) = (Fullest::new(&counts), grains.len() as u32);
        SubarrayAware { set: set.clone(), pools, pool, fullest, free_in_bank, free, pools_per_bank, banks_per_rank }
    }

    /// The pool to take a frame from; it may be empty if all are.
    fn choose(&self, source: Option<Frame>) -> (u32, Found) {
        let Some(source) = source else { return (self.fullest.first(), Found::Unbound) };
        let pool = self.pool[self.set.grain(source) as usize];
        if self.pools.free(pool) > 0 {
            return (pool, Found::SourcePool);
        }
        let rank = pool / self.pools_per_bank / self.banks_per_rank * self.banks_per_rank;
        let free_in = |bank: u32| self.free_in_bank[bank as usize];
        let banks = rank..rank + self.banks_per_rank;
        match banks.rev().max_by_key(|&bank| free_in(bank)).filter(|&bank| free_in(bank) > 0) {
            Some(bank) => {
                let first = bank * self.pools_per_bank;
                (self.fullest.in_range(first..first + self.pools_per_bank), Found::SourceRank)
            }
            None => (self.fullest.first(), Found::Elsewhere),
        }
    }

    fn count_one(&mut self, pool: u32, out: bool) {
        self.fullest.set(pool, self.pools.free(pool));
        let in_bank = &mut self.free_in_bank[(pool / self.pools_per_bank) as usize];
        for count in [in_bank, &mut self.free] {
            *count = if out { *count - 1 } else { *count + 1 };
        }
    }
}

impl FrameAllocator for SubarrayAware {
    fn policy(&self) -> Policy {
        Policy::SubarrayAware
    }

    fn allocate(&mut self, request: Request) -> Option<Grant> {
        if request.order > self.set.grain_order() {
            return None;
        }
        let (pool, found) = self.choose(request.source);
        let grain = self.pools.pop(pool)?;
        self.count_one(pool, true);
        Some(Grant { frame: self.set.frame(grain), found })
    }

    fn free(&mut self, frame: Frame) {
        let grain = self.set.grain(frame);
        let pool = self.pool[grain as usize];
        assert!(self.pools.put(grain, pool), "{frame} is not handed out");
        self.count_one(pool, false);
    }

    fn claim(&mut self, frame: Frame) -> bool {
        let grain = self.set.grain(frame);
        let pool = self.pool[grain as usize];
        let claimed = self.pools.take(grain, pool);
        if claimed {
            self.count_one(pool, true);
        }
        claimed
    }

    fn is_free(&self, frame: Frame) -> bool {
        let grain = self.set.grain(frame);
        self.pools.is_free(grain, self.pool[grain as usize])
    }

    fn free_frames(&self) -> u64 {
        u64::from(self.free) << self.set.grain_order()
    }

    fn free_blocks(&self) -> FreeBlocks {
        FreeBlocks::of(&self.pools.free_grains(), self.set.grain_order())
    }
}
