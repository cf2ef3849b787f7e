//! The interface of all allocation policies, of which each has a file.

mod buddy;
mod fullest;
mod pools;
mod random;
mod sequential;
mod subarray_aware;

use std::borrow::Cow;
use std::fmt::Debug;

pub use buddy::Buddy;
pub use random::Random;
pub use sequential::Sequential;
pub use subarray_aware::{Near, SubarrayAware};

use derive_more::Display;
use dyn_clone::DynClone;

use crate::blocks::{FreeBlocks, MAX_ORDER};
use crate::frame::{Frame, FrameMap};
use crate::frame_set::FrameSet;

/// A request for frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameRequest {
    /// Block size: 2^`order` frames, aligned to the block's size. At least one grain is allocated.
    pub order: u8,
    /// Source of the copy whose destination is requested; none for other uses.
    pub source: Option<Frame>,
}

impl FrameRequest {
    /// One grain at any place.
    pub const ANYWHERE: FrameRequest = FrameRequest { order: 0, source: None };

    /// One grain as the destination of a copy of `source`.
    pub const fn near(source: Frame) -> FrameRequest {
        FrameRequest { order: 0, source: Some(source) }
    }
}

/// Place of an allocated frame relative to the source of the copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Found {
    /// At any place: the policy does not look for the source's pool.
    Blind,
    /// Among the frames on offer to first touches: the request has no source.
    Unbound,
    /// In the source's pool.
    SourcePool,
    /// In the bank with most free frames of the source's rank: the source's pool was empty.
    SourceRank,
    /// In the pool with most free frames of the memory: the source's rank had none.
    Elsewhere,
}

/// Allocated frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// First frame.
    pub frame: Frame,
    /// Place of the frames relative to the source.
    pub found: Found,
}

/// Allocates and frees frames.
pub trait FrameAllocator: DynClone + Debug + Send + Sync {
    /// Allocation policy.
    fn policy(&self) -> Policy;

    /// Allocates frames; `None` if no free block is large enough.
    ///
    /// The grains of a block may be freed separately.
    fn allocate(&mut self, request: FrameRequest) -> Option<Grant>;

    /// Frees the grain that contains a frame.
    ///
    /// # Panics
    ///
    /// If the grain is not allocated.
    fn free(&mut self, frame: Frame);

    /// Allocates the grain that contains this frame; `false` if it is not free.
    fn claim(&mut self, frame: Frame) -> bool;

    /// Whether a frame is free.
    fn is_free(&self, frame: Frame) -> bool;

    /// Free frames.
    fn free_frames(&self) -> u64;

    /// Free frames by the order of their block.
    fn free_blocks(&self) -> FreeBlocks;
}

dyn_clone::clone_trait_object!(FrameAllocator);

dram_spec::named! {
    /// Rule by which an allocator chooses a free frame.
    #[derive(Clone, Copy, Debug, Display, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[display("{}", self.name())]
    pub enum Policy {
        /// The lowest free frame.
        Sequential = "sequential",
        /// Any free frame, with equal probability.
        Random = "random",
        /// From the smallest block that suffices, as Linux does.
        Buddy = "buddy",
        /// From the pool of the source's subarray.
        SubarrayAware = "subarray-aware",
        /// From another bank of the source's rank.
        BankAware = "bank-aware",
    }
}

/// Reason why an allocator cannot be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// A unit is larger than the largest block.
    #[error("`buddy` hands out blocks of at most 1024 frames, but {frames} frames share rows and are a unit")]
    UnitAboveBlock {
        /// Frames of a unit.
        frames: u32,
    },
}

impl PolicyError {
    /// What to do next.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::UnitAboveBlock { .. } => "try `copy_unit = \"page\"`, or a map that interleaves over fewer banks",
        }
    }
}

impl Policy {
    /// Builds an allocator in which all frames of a set are free. Only `random` uses the seed.
    ///
    /// # Errors
    ///
    /// If the policy is `buddy` and a unit is larger than its largest block.
    pub fn allocator(self, map: &FrameMap, set: &FrameSet, seed: u64) -> Result<Box<dyn FrameAllocator>, PolicyError> {
        self.allocator_after(map, set, seed, None)
    }

    /// The same allocator, after it has allocated all grains by [`FrameRequest::ANYWHERE`], and freed these in this
    /// order.
    pub(crate) fn allocator_after(
        self,
        map: &FrameMap,
        set: &FrameSet,
        seed: u64,
        freed: Option<&[u32]>,
    ) -> Result<Box<dyn FrameAllocator>, PolicyError> {
        Ok(match self {
            Policy::Sequential => Box::new(Sequential::new(set, freed)),
            Policy::Random => Box::new(Random::new(set, seed, freed)),
            Policy::Buddy if set.grain_order() > MAX_ORDER => {
                return Err(PolicyError::UnitAboveBlock { frames: set.grain_frames() });
            }
            Policy::Buddy => Box::new(Buddy::new(set, &freed.map_or_else(|| set.descending().into(), Cow::from))),
            Policy::SubarrayAware => Box::new(SubarrayAware::new(map, set, Near::Subarray, freed)),
            Policy::BankAware => Box::new(SubarrayAware::new(map, set, Near::OtherBank, freed)),
        })
    }
}
