//! Survey of the copies in an aged memory: which of them FPM serves.

use crate::age::{Age, Aged, age};
use crate::allocator::{FrameRequest, Policy, PolicyError};
use crate::frame::FrameMap;
use crate::frame_set::{CopyUnit, FrameSet};
use crate::generator::Generator;
use crate::operation::{Cause, MemoryOperation};
use crate::report::{HugePages, Report, Traffic};

/// A series of copies in an aged memory: each copies a random grain in use as for a write to a
/// shared page, and then frees another random grain, so that utilization stays constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Survey {
    /// Allocation policy.
    pub policy: Policy,
    /// Treatment of frames that share rows.
    pub copy_unit: CopyUnit,
    /// Age of the memory.
    pub age: Age,
    /// Number of copies.
    pub copies: u64,
    /// Determines the frames in use, the frames copied, and the allocations of `random`.
    pub seed: u64,
}

/// Result of a survey.
#[derive(Clone, Debug, PartialEq)]
pub struct Surveyed {
    /// State of the memory before the copies.
    pub aged: Aged,
    /// Counts of the copies: 0 if no frame is in use, or none is free.
    pub report: Report,
}

impl Survey {
    /// Runs the survey.
    ///
    /// # Errors
    ///
    /// If the policy cannot allocate these units.
    pub fn run(&self, map: &FrameMap) -> Result<Surveyed, PolicyError> {
        let set = FrameSet::new(map, self.copy_unit);
        let mut seeds = Generator::new(self.seed);
        let (mut allocator, aged) = age(map, &set, self.policy, self.age, &mut seeds)?;
        let (mut held, mut generator) = (aged.held.clone(), Generator::new(seeds.number()));
        let mut traffic = Traffic::default();
        for _ in 0..if held.is_empty() { 0 } else { self.copies } {
            let mut any = || generator.below(held.len() as u32) as usize;
            let (src, victim) = (held[any()], any());
            let Some(grant) = allocator.allocate(FrameRequest::near(src)) else { break };
            let (dst, frames) = (grant.frame, set.grain_frames());
            let copy = MemoryOperation::Copy { src, dst, frames, cause: Cause::CopyOnWrite, found: grant.found };
            traffic.count(map, &copy);
            allocator.free(std::mem::replace(&mut held[victim], dst));
        }
        let report = Report::new(&*allocator, &set, traffic, HugePages::default(), aged.free);
        Ok(Surveyed { aged, report })
    }
}
