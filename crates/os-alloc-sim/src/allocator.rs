//! What every policy of handing out frames answers.

use std::fmt;

use crate::blocks::FreeBlocks;
use crate::buddy::Buddy;
use crate::frame::{Frame, FrameMap};
use crate::frame_set::FrameSet;
use crate::random::Random;
use crate::sequential::Sequential;
use crate::subarray_aware::SubarrayAware;

/// What is asked of an allocator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// 2 to this power frames, aligned to their number; at least one grain is handed out.
    pub order: u8,
    /// The source of the copy that the frames are wanted for.
    pub source: Option<Frame>,
}

impl Request {
    /// One grain, anywhere.
    pub const ANYWHERE: Request = Request { order: 0, source: None };

    /// One grain, for a copy of this frame.
    pub const fn near(source: Frame) -> Request {
        Request { order: 0, source: Some(source) }
    }
}

/// How a frame was found: where it lies in relation to the source of the copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Found {
    /// Wherever it was: the policy does not look at sources.
    Blind,
    /// Among the frames on offer to first touches: the request names no source.
    Unbound,
    /// In the source's pool.
    SourcePool,
    /// In the bank of the source's rank with most free frames: the source's pool was empty.
    SourceRank,
    /// In the pool with most free frames: the source's rank had none.
    Elsewhere,
}

/// Frames handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The first of them.
    pub frame: Frame,
    /// How they were found.
    pub found: Found,
}

/// Hands out frames and takes them back.
pub trait FrameAllocator: fmt::Debug + Send {
    /// The policy that it follows.
    fn policy(&self) -> Policy;

    /// Hands out frames, or `None` where there are not so many together.
    ///
    /// Those of a request above a grain may be freed grain by grain.
    fn allocate(&mut self, request: Request) -> Option<Grant>;

    /// Takes back the grain that a frame belongs to.
    ///
    /// # Panics
    ///
    /// If it is not handed out: somebody would be left with memory that another gets.
    fn free(&mut self, frame: Frame);

    /// Hands out the grain of this very frame; `false` if it is not free.
    fn claim(&mut self, frame: Frame) -> bool;

    /// Whether a frame is free.
    fn is_free(&self, frame: Frame) -> bool;

    /// How many frames are free.
    fn free_frames(&self) -> u64;

    /// The free frames by the order of the block that they lie in.
    fn free_blocks(&self) -> FreeBlocks;
}

/// A way of choosing which free frame to hand out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Policy {
    /// The lowest.
    Sequential,
    /// Any, each as likely.
    Random,
    /// From a block as small as will do, as Linux does.
    Buddy,
    /// From the pool of the source's subarray.
    SubarrayAware,
}

/// An allocator that cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// A unit that is larger than the largest block.
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
            Self::UnitAboveBlock { .. } => "try `units = \"marked\"`, or a map that interleaves over fewer banks",
        }
    }
}

impl Policy {
    /// All policies, in the order in which reports list them.
    pub const ALL: [Policy; 4] = [Policy::Sequential, Policy::Random, Policy::Buddy, Policy::SubarrayAware];

    /// The name that a user writes.
    pub const fn name(self) -> &'static str {
        match self {
            Policy::Sequential => "sequential",
            Policy::Random => "random",
            Policy::Buddy => "buddy",
            Policy::SubarrayAware => "subarray-aware",
        }
    }

    /// The policy of that name.
    pub fn from_name(name: &str) -> Option<Policy> {
        Policy::ALL.into_iter().find(|policy| policy.name() == name)
    }

    /// An allocator that has all frames of a set to hand out. The seed is for `random` alone.
    ///
    /// # Errors
    ///
    /// `buddy` cannot hand out units above its largest block.
    pub fn allocator(self, map: &FrameMap, set: &FrameSet, seed: u64) -> Result<Box<dyn FrameAllocator>, PolicyError> {
        Ok(match self {
            Policy::Sequential => Box::new(Sequential::new(set)),
            Policy::Random => Box::new(Random::new(set, seed)),
            Policy::Buddy => Box::new(Buddy::new(set)?),
            Policy::SubarrayAware => Box::new(SubarrayAware::new(map, set)),
        })
    }
}

/// As a listing prints it: its name.
impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
