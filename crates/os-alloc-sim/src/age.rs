//! Aging: a memory filled to a given utilization and fragmentation.

use crate::allocator::{FrameAllocator, Policy, PolicyError};
use crate::bits::Bits;
use crate::blocks::{FreeBlocks, HUGE_ORDER};
use crate::frame::{Frame, FrameMap};
use crate::frame_set::FrameSet;
use crate::generator::Generator;

/// Target utilization and fragmentation of an aged memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Age {
    utilization: f64,
    unusable: f64,
}

/// An age with a share out of range.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("`{key}` is {found}, but must be a share from 0 to 1")]
pub struct AgeError {
    /// Configuration key.
    pub key: &'static str,
    /// Value found.
    pub found: f64,
}

impl AgeError {
    /// Suggested change.
    pub fn help(&self) -> String {
        let share = if self.found > 1.0 && self.found <= 100.0 { self.found / 100.0 } else { 0.5 };
        format!("try `{} = {share}`", self.key)
    }
}

impl Age {
    /// Creates an age from the share of frames in use and the unusable free space index of order 9,
    /// each from 0 to 1.
    ///
    /// # Errors
    ///
    /// If a value is not from 0 to 1.
    pub fn new(utilization: f64, unusable: f64) -> Result<Age, AgeError> {
        for (key, found) in [("utilization", utilization), ("fragmentation", unusable)] {
            if !(0.0..=1.0).contains(&found) {
                return Err(AgeError { key, found });
            }
        }
        Ok(Age { utilization, unusable })
    }

    /// Target share of frames in use, 0 to 1.
    pub const fn utilization(&self) -> f64 {
        self.utilization
    }

    /// Target unusable free space index of order 9, 0 to 1.
    pub const fn unusable(&self) -> f64 {
        self.unusable
    }

    /// Chooses the grains of a set that are to be free, in random order.
    fn free(&self, set: &FrameSet, generator: &mut Generator) -> Vec<u32> {
        let order = HUGE_ORDER.saturating_sub(set.grain_order());
        let per_block = 1_usize << order;
        let block = |grain: &u32| (grain >> order) as usize;
        let mut grains = set.ascending();
        let target = portion(1.0 - self.utilization, grains.len() as f64);

        // First, the blocks that are to be free as a whole.
        let mut held = vec![0; grains.last().map_or(0, block) + 1];
        for grain in &grains {
            held[block(grain)] += 1;
        }
        let can_be_whole: Vec<bool> = held.iter().map(|&grains| grains == per_block).collect();
        let mut blocks: Vec<usize> = (0..held.len()).filter(|&block| can_be_whole[block]).collect();
        generator.shuffle(&mut blocks);
        let mut is_whole = vec![false; held.len()];
        let whole = portion(1.0 - self.unusable, target as f64 / per_block as f64);
        for &block in blocks.iter().take(whole.min(target / per_block)) {
            is_whole[block] = true;
        }

        // Then single grains, without completing a free block unless no other grains remain.
        generator.shuffle(&mut grains);
        let (mut free, others): (Vec<u32>, Vec<u32>) = grains.into_iter().partition(|grain| is_whole[block(grain)]);
        let mut last = Vec::new();
        for grain in others {
            if free.len() == target {
                break;
            }
            // A block with a reserved frame is never free as a whole: all its other grains may be
            // freed.
            let held = &mut held[block(&grain)];
            if *held == 1 && can_be_whole[block(&grain)] {
                last.push(grain);
            } else {
                *held -= 1;
                free.push(grain);
            }
        }
        free.extend(last.into_iter().take(target - free.len()));
        generator.shuffle(&mut free);
        free
    }
}

/// A share of a count, rounded.
#[expect(clippy::cast_sign_loss, reason = "neither a share nor a count is below 0")]
fn portion(share: f64, count: f64) -> usize {
    (share * count).round() as usize
}

/// Result of aging.
#[derive(Clone, Debug, PartialEq)]
pub struct Aged {
    /// Grains in use, by their first frames, ascending.
    pub held: Vec<Frame>,
    /// Share of the frames in use, 0 to 1.
    pub utilization: f64,
    /// Free blocks by order.
    pub free: FreeBlocks,
}

impl Aged {
    fn new(set: &FrameSet, free: &Bits) -> Aged {
        let held: Vec<Frame> = set.numbers().without(free).iter().map(|grain| set.frame(grain)).collect();
        let in_use = held.len() as f64 * f64::from(set.grain_frames());
        let utilization = if set.frames() == 0 { 1.0 } else { in_use / set.frames() as f64 };
        Aged { held, utilization, free: FreeBlocks::of(free, set.grain_order()) }
    }

    /// A memory of which all frames are free.
    pub fn fresh(set: &FrameSet) -> Aged {
        Aged::new(set, set.numbers())
    }

    /// Unusable free space index of order 9, 0 to 1.
    pub fn unusable(&self) -> f64 {
        self.free.unusable(HUGE_ORDER)
    }
}

/// Ages a memory and builds its allocator, as if it had allocated all frames, and then freed as many in random order
/// as the target requires.
///
/// Utilization is within half a grain of its target. Fragmentation is as close to its target as
/// whole blocks of order 9 permit: it is 1 with less than one block free, and about 0 with almost
/// nothing in use.
///
/// # Errors
///
/// As of [`Policy::allocator`].
pub fn age(
    map: &FrameMap,
    set: &FrameSet,
    policy: Policy,
    age: Age,
    seeds: &mut Generator,
) -> Result<(Box<dyn FrameAllocator>, Aged), PolicyError> {
    let seed = seeds.number();
    let freed = age.free(set, &mut Generator::new(seeds.number()));
    let allocator = policy.allocator_after(map, set, seed, Some(&freed))?;
    Ok((allocator, Aged::new(set, &Bits::collect(set.end() as usize, freed.into_iter()))))
}
