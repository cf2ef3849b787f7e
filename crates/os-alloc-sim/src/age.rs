//! A memory that has been in use for long: filled to a share, and fragmented.

use crate::allocator::{FrameAllocator, Request};
use crate::blocks::HUGE_ORDER;
use crate::frame::Frame;
use crate::frame_set::FrameSet;
use crate::generator::Generator;
use crate::kernel::Kernel;

/// How old a memory is to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Age {
    utilisation: f64,
    unusable: f64,
}

/// What is wrong with an age.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("`{key}` is {found}, but must be a share from 0 to 1")]
pub struct AgeError {
    /// The key.
    pub key: &'static str,
    /// Its value.
    pub found: f64,
}

impl AgeError {
    /// What to do next.
    pub fn help(&self) -> String {
        format!(
            "try `{} = {}`",
            self.key,
            if self.found > 1.0 && self.found <= 100.0 { self.found / 100.0 } else { 0.5 }
        )
    }
}

impl Age {
    /// The share of the frames that are in use, and the unusable free space index of order 9; both 0 to 1.
    ///
    /// # Errors
    ///
    /// If one of them is not.
    pub fn new(utilisation: f64, unusable: f64) -> Result<Age, AgeError> {
        for (key, found) in [("utilisation", utilisation), ("fragmentation", unusable)] {
            if !(0.0..=1.0).contains(&found) {
                return Err(AgeError { key, found });
            }
        }
        Ok(Age { utilisation, unusable })
    }

    /// The share of the frames that are to be in use.
    pub const fn utilisation(&self) -> f64 {
        self.utilisation
    }

    /// The unusable free space index that is to be reached.
    pub const fn unusable(&self) -> f64 {
        self.unusable
    }

    /// Which grains of a set are to be free, in random order.
    fn free(&self, set: &FrameSet, generator: &mut Generator) -> Vec<Frame> {
        let block_order = HUGE_ORDER.max(set.grain_order());
        let per_block = 1_usize << (block_order - set.grain_order());
        let block = |grain: &Frame| (grain.0 >> block_order) as usize;
        let mut grains: Vec<Frame> = set.grains().collect();
        let target = portion(1.0 - self.utilisation, grains.len() as f64);

        // First the blocks that are to be free as a whole.
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

        // Then single grains, but none that would free a whole block; those only if there are no others left.
        generator.shuffle(&mut grains);
        let (mut free, others): (Vec<Frame>, Vec<Frame>) = grains.into_iter().partition(|grain| is_whole[block(grain)]);
        let mut last = Vec::new();
        for grain in others {
            if free.len() == target {
                break;
            }
            // A block with a reserved frame never gets whole: it may be freed to the last.
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

/// What ageing came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Aged {
    /// The grains in use, by their first frames, rising.
    pub held: Vec<Frame>,
    /// The share of the frames in use.
    pub utilisation: f64,
    /// The unusable free space index of order 9.
    pub unusable: f64,
}

/// Ages a memory: hands out all of it, and takes back, in random order, as much as makes it that old.
///
/// Utilisation is reached to half a grain. Fragmentation is reached as far as whole blocks of order 9 allow it: with
/// less than a block free it can only be 1, and with (almost) nothing in use, only 0.
///
/// # Panics
///
/// If some of the memory is in use already.
pub fn age(set: &FrameSet, allocator: &mut dyn FrameAllocator, age: Age, seed: u64) -> Aged {
    assert_eq!(allocator.free_frames(), set.frames(), "a memory is aged before it is used");
    while allocator.allocate(Request::ANYWHERE).is_some() {}
    for frame in age.free(set, &mut Generator::new(seed)) {
        allocator.free(frame);
    }
    let held: Vec<Frame> = set.grains().filter(|&grain| !allocator.is_free(grain)).collect();
    let in_use = held.len() as f64 * f64::from(set.grain_frames());
    let utilisation = if set.frames() == 0 { 1.0 } else { in_use / set.frames() as f64 };
    Aged { held, utilisation, unusable: allocator.free_blocks().unusable(HUGE_ORDER) }
}

impl Kernel {
    /// Ages the memory before there are processes, see [`age`]. What is in use then belongs to the background, which
    /// does nothing. The background's grains are listed in the answer.
    ///
    /// # Panics
    ///
    /// If some of the memory is in use already.
    pub fn age(&mut self, target: Age, seed: u64) -> Aged {
        let aged = age(&self.set, self.allocator.as_mut(), target, seed);
        aged.held.iter().for_each(|&grain| self.share(grain));
        self.background.clone_from(&aged.held);
        aged
    }
}
