//! Which copies of an aged memory FPM serves.

use crate::age::{Age, Aged, age};
use crate::allocator::{Policy, PolicyError, Request};
use crate::frame::FrameMap;
use crate::frame_set::{FrameSet, Units};
use crate::generator::Generator;
use crate::operation::{Cause, MemoryOperation};
use crate::report::{HugePages, Report, Traffic};

/// Copies of an aged memory: each writes to a random grain in use as to a shared page, and frees another in turn, so that
/// the memory stays as full as it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Survey {
    /// The policy.
    pub policy: Policy,
    /// What becomes of frames that share rows.
    pub units: Units,
    /// How old the memory is.
    pub age: Age,
    /// How many copies.
    pub copies: u64,
    /// Decides which frames are in use, which are copied, and what `random` hands out.
    pub seed: u64,
}

/// What a survey found.
#[derive(Clone, Debug, PartialEq)]
pub struct Surveyed {
    /// How old the memory was before the copies.
    pub aged: Aged,
    /// The copies. There are none where nothing is in use, or nothing is free.
    pub report: Report,
}

impl Survey {
    /// Makes the copies.
    ///
    /// # Errors
    ///
    /// If the policy cannot hand out such units.
    pub fn run(&self, map: &FrameMap) -> Result<Surveyed, PolicyError> {
        let set = FrameSet::new(map, self.units);
        let mut seeds = Generator::new(self.seed);
        let mut allocator = self.policy.allocator(map, &set, seeds.number())?;
        let aged = age(&set, allocator.as_mut(), self.age, seeds.number());
        let (mut held, mut generator) = (aged.held.clone(), Generator::new(seeds.number()));
        let mut traffic = Traffic::default();
        for _ in 0..if held.is_empty() { 0 } else { self.copies } {
            let mut any = || generator.below(held.len() as u32) as usize;
            let (src, victim) = (held[any()], any());
            let Some(grant) = allocator.allocate(Request::near(src)) else { break };
            let (dst, frames) = (grant.frame, set.grain_frames());
            let copy = MemoryOperation::Copy { src, dst, frames, cause: Cause::CopyOnWrite, found: grant.found };
            traffic.count(map, &copy);
            allocator.free(std::mem::replace(&mut held[victim], dst));
        }
        let report = Report {
            policy: self.policy,
            sharing: set.sharing(),
            traffic,
            huge_pages: HugePages::default(),
            frames: set.frames(),
            free: allocator.free_blocks(),
            reservation: set.reservation(),
        };
        Ok(Surveyed { aged, report })
    }
}
