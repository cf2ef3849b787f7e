//! `subarray-aware`: copies within one subarray, all else in the order of `buddy`; and `bank-aware`:
//! copies between two banks of a rank.

use std::borrow::Cow;
use std::sync::Arc;

use super::buddy::Buddy;
use super::fullest::Fullest;
use super::pools::Pools;
use super::{Found, FrameAllocator, FrameRequest, Grant, Policy};
use crate::blocks::FreeBlocks;
use crate::frame::{Frame, FrameMap};
use crate::frame_set::FrameSet;

/// Reciprocal of the share of a pool's free grains that is its quota.
const QUOTA_PART: u32 = 8;

/// Quota of a pool: grains it may provide before first touches use the other pools.
const fn quota(free: u32) -> u32 {
    free.div_ceil(QUOTA_PART)
}

/// Place that the destination of a copy should have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Near {
    /// The source's subarray: FPM copies.
    Subarray,
    /// Another bank of the source's rank: PSM copies.
    OtherBank,
}

/// Allocates the destination of a copy in the pool of the source's subarray; if that is empty, in
/// the bank with most free frames of the same rank (lowest index on ties); else anywhere. Blocks
/// above a grain are not supported.
///
/// Other requests (first touches) get grains on offer, in the order of [`Buddy`]. Initially, the
/// lowest eighth of each pool is on offer. All other free grains are set aside for copies, as are
/// freed grains and grains of a pool whose quota is used up. When no grain is on offer, all grains
/// set aside are offered, and each pool gets a new quota: an eighth of its free grains.
///
/// Pools are numbered by channel, rank, bank and subarray, the subarray fastest. A copy gets the
/// most recently freed grain of its pool, or else the highest. If the source's pool is empty, the
/// copy gets a grain of the pool with most free grains, lowest index on ties.
///
/// With [`Near::OtherBank`], a copy gets a grain of the bank with most free frames among the other
/// banks of the source's rank; if those are full, the places above.
#[derive(Clone, Debug)]
pub struct SubarrayAware {
    near: Near,
    set: FrameSet,
    /// All free grains, by pool.
    pools: Pools,
    /// Pool of each grain.
    pool: Arc<[u32]>,
    /// Free grains available to first touches. Each free grain is here or in `aside`.
    offered: Buddy,
    /// Free grains available to copies only, until `offered` is empty.
    aside: Buddy,
    /// Remaining quota of each pool. First touches skip a pool whose quota is 0.
    quotas: Vec<u32>,
    fullest: Fullest,
    /// Free grains of each bank of the memory.
    free_in_bank: Vec<u32>,
    pools_per_bank: u32,
    banks_per_rank: u32,
}

impl SubarrayAware {
    /// Creates the allocator with all frames of a set free; or as if it had allocated all, and these grains were freed
    /// again in this order.
    pub(crate) fn new(map: &FrameMap, set: &FrameSet, near: Near, freed: Option<&[u32]>) -> SubarrayAware {
        let geometry = map.address_map().geometry();
        // A power of two, as the tree of counts needs; pools above the last subarray stay empty.
        let pools_per_bank = geometry.subarrays_per_bank().next_power_of_two();
        let banks_per_rank = u32::from(geometry.banks());
        let ranks = u32::from(geometry.ranks());
        let pool_of = |grain| {
            let at = map.subarray(set.frame(grain));
            let rank = u32::from(at.channel.0) * ranks + u32::from(at.bank.rank);
            (rank * banks_per_rank + u32::from(at.bank.bank)) * pools_per_bank + at.subarray
        };
        let pool: Arc<[u32]> = (0..set.end()).map(pool_of).collect();
        let count = u32::from(geometry.channels()) * ranks * banks_per_rank * pools_per_bank;
        let free = freed.map_or_else(|| set.ascending().into(), Cow::from);
        let pools = Pools::new(count as usize, set, &free, |grain| pool[grain as usize]);
        // The last request for all grains, which found none, gave each pool the quota of one without free grains.
        let quota_of = |free: &u32| if freed.is_some() { 0 } else { quota(*free) };
        let quotas: Vec<u32> = pools.all_free().iter().map(quota_of).collect();
        let mut left = quotas.clone();
        let is_offered = |grain: &u32| {
            let left = &mut left[pool[*grain as usize] as usize];
            left.checked_sub(1).map(|less| *left = less).is_some()
        };
        let (mut offered, mut aside): (Vec<u32>, Vec<u32>) = free.iter().copied().partition(is_offered);
        if freed.is_none() {
            // Buddies list the lowest block first.
            offered.reverse();
            aside.reverse();
        }
        let free_in_bank: Vec<u32> =
            pools.all_free().chunks(pools_per_bank as usize).map(|bank| bank.iter().sum()).collect();
        SubarrayAware {
            near,
            set: set.clone(),
            fullest: Fullest::new(pools.all_free()),
            pools,
            pool,
            offered: Buddy::new(set, &offered),
            aside: Buddy::new(set, &aside),
            quotas,
            free_in_bank,
            pools_per_bank,
            banks_per_rank,
        }
    }

    /// Allocates the first grain on offer whose pool has quota left.
    fn first_touch(&mut self) -> Option<u32> {
        loop {
            if self.offered.is_empty() {
                std::mem::swap(&mut self.offered, &mut self.aside);
                self.quotas = (0..self.quotas.len() as u32).map(|pool| quota(self.pools.free(pool))).collect();
            }
            let frame = self.offered.allocate(FrameRequest::ANYWHERE)?.frame;
            let grain = self.set.grain(frame);
            let pool = self.pool[grain as usize];
            if self.quotas[pool as usize] > 0 {
                self.pools.take(grain, pool);
                return Some(grain);
            }
            self.aside.free(frame);
        }
    }

    /// Allocates the destination of a copy of `source`.
    fn near(&mut self, source: Frame) -> Option<(u32, Found)> {
        let (pool, found) = self.pool_near(source);
        let grain = self.pools.pop(pool)?;
        self.withdraw(grain);
        Some((grain, found))
    }

    /// The pool for the destination of a copy of `source`; empty only if all pools are.
    fn pool_near(&self, source: Frame) -> (u32, Found) {
        let pool = self.pool[self.set.grain(source) as usize];
        let own_bank = pool / self.pools_per_bank;
        let rank = own_bank / self.banks_per_rank * self.banks_per_rank;
        let free_in = |bank: u32| self.free_in_bank[bank as usize];
        let fullest_bank = |is_candidate: &dyn Fn(u32) -> bool| {
            let banks =
                (rank..rank + self.banks_per_rank).rev().filter(|&bank| is_candidate(bank) && free_in(bank) > 0);
            let first = banks.max_by_key(|&bank| free_in(bank))? * self.pools_per_bank;
            Some(self.fullest.in_range(first..first + self.pools_per_bank))
        };
        if self.near == Near::OtherBank
            && let Some(pool) = fullest_bank(&|bank| bank != own_bank)
        {
            return (pool, Found::Blind);
        }
        if self.pools.free(pool) > 0 {
            return (pool, Found::SourcePool);
        }
        match fullest_bank(&|_| true) {
            Some(pool) => (pool, Found::SourceRank),
            None => (self.fullest.first(), Found::Elsewhere),
        }
    }

    /// Removes a free grain from the block lists.
    fn withdraw(&mut self, grain: u32) {
        let frame = self.set.frame(grain);
        assert!(
            self.offered.claim(frame) || self.aside.claim(frame),
            "{frame} is free, but neither on offer nor set aside"
        );
    }

    fn count_one(&mut self, grain: u32, out: bool) {
        let pool = self.pool[grain as usize];
        self.fullest.set(pool, self.pools.free(pool));
        let in_bank = &mut self.free_in_bank[(pool / self.pools_per_bank) as usize];
        *in_bank = if out { *in_bank - 1 } else { *in_bank + 1 };
    }
}

impl FrameAllocator for SubarrayAware {
    fn policy(&self) -> Policy {
        match self.near {
            Near::Subarray => Policy::SubarrayAware,
            Near::OtherBank => Policy::BankAware,
        }
    }

    fn allocate(&mut self, request: FrameRequest) -> Option<Grant> {
        if request.order > self.set.grain_order() {
            return None;
        }
        let (grain, found) = match request.source {
            None => (self.first_touch()?, Found::Unbound),
            Some(source) => self.near(source)?,
        };
        self.count_one(grain, true);
        let quota = &mut self.quotas[self.pool[grain as usize] as usize];
        *quota = quota.saturating_sub(1);
        Some(Grant { frame: self.set.frame(grain), found })
    }

    fn free(&mut self, frame: Frame) {
        let grain = self.set.grain(frame);
        assert!(self.pools.put(grain, self.pool[grain as usize]), "{frame} is not allocated");
        self.aside.free(frame);
        self.count_one(grain, false);
    }

    fn claim(&mut self, frame: Frame) -> bool {
        let grain = self.set.grain(frame);
        let claimed = self.pools.take(grain, self.pool[grain as usize]);
        if claimed {
            self.withdraw(grain);
            self.count_one(grain, true);
        }
        claimed
    }

    fn is_free(&self, frame: Frame) -> bool {
        let grain = self.set.grain(frame);
        self.pools.is_free(grain, self.pool[grain as usize])
    }

    fn free_frames(&self) -> u64 {
        self.free_in_bank.iter().copied().map(u64::from).sum::<u64>() << self.set.grain_order()
    }

    fn free_blocks(&self) -> FreeBlocks {
        // Each of the two allocators takes the grains of the other as in use.
        let in_use = self.offered.in_use().without(&self.set.numbers().without(self.aside.in_use()));
        FreeBlocks::of(&self.set.numbers().without(&in_use), self.set.grain_order())
    }
}
