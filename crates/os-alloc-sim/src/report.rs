//! Counts of copies and zeroings by mechanism.

use rowclone::{Classification, MAX_WINDOW_BYTES, MECHANISMS, Mechanism, Reason};

use crate::allocator::{Found, FrameAllocator, Policy};
use crate::blocks::FreeBlocks;
use crate::frame::FrameMap;
use crate::frame_set::{FrameSet, Reservation, RowSharing};
use crate::operation::{Cause, MemoryOperation};

dram_spec::named! {
    /// Reason why FPM did not serve a frame.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Fallback {
        /// The smallest block of whole rows exceeds 16 MiB: FPM serves no frame.
        UnitTooLarge = "unit-too-large",
        /// The operation does not cover all frames that share the row.
        SharedRow = "shared-row",
        /// The policy ignores the source.
        PolicyBlind = "policy-blind",
        /// The request did not name the source of the copy.
        NotAsked = "not-asked",
        /// The pool of the source's subarray was empty.
        PoolEmpty = "pool-empty",
        /// The source's rank had no free frame.
        RankEmpty = "rank-empty",
    }
}

impl Fallback {
    /// Combines the planner's reason with where the allocator found the destination.
    fn of(reason: Reason, found: Found) -> Fallback {
        match (reason.uncovered_granularity(), found) {
            (Some(granularity), _) if granularity > MAX_WINDOW_BYTES => Fallback::UnitTooLarge,
            (Some(_), _) => Fallback::SharedRow,
            (None, Found::SourceRank) => Fallback::PoolEmpty,
            (None, Found::Elsewhere) => Fallback::RankEmpty,
            (None, Found::Blind) => Fallback::PolicyBlind,
            // FPM serves whole units of one pool: the destination was requested near another frame
            // than the source.
            (None, Found::Unbound | Found::SourcePool) => Fallback::NotAsked,
        }
    }
}

/// Operations of one kind, counted by mechanism and by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Operations, each of one or more frames.
    pub operations: u64,
    /// Frames by mechanism, in the order of [`MECHANISMS`].
    by_mechanism: [u64; MECHANISMS.len()],
    by_fallback: [u64; Fallback::ALL.len()],
}

impl Tally {
    /// Frames of all mechanisms.
    pub fn frames(&self) -> u64 {
        self.by_mechanism.iter().sum()
    }

    /// Frames served by a mechanism.
    pub fn by(&self, mechanism: Mechanism) -> u64 {
        MECHANISMS.iter().zip(self.by_mechanism).find(|(other, _)| **other == mechanism).map_or(0, |(_, count)| count)
    }

    /// Share of the frames served by a mechanism, 0 to 1; `None` without frames.
    pub fn share(&self, mechanism: Mechanism) -> Option<f64> {
        let frames = self.frames();
        (frames > 0).then(|| self.by(mechanism) as f64 / frames as f64)
    }

    /// Frames that FPM did not serve for one reason.
    pub const fn fallbacks(&self, why: Fallback) -> u64 {
        self.by_fallback[why as usize]
    }

    fn add(&mut self, Classification { mechanism, fpm }: Classification, found: Found) {
        let mut counts = MECHANISMS.iter().zip(&mut self.by_mechanism);
        *counts.find(|(other, _)| **other == mechanism).expect("the planner lists its mechanisms").1 += 1;
        if let Err(reason) = fpm {
            self.by_fallback[Fallback::of(reason, found) as usize] += 1;
        }
    }

    fn merge(&mut self, other: &Tally) {
        let Tally { operations, by_mechanism, by_fallback } = other;
        self.operations += operations;
        self.by_mechanism.iter_mut().zip(by_mechanism).for_each(|(sum, more)| *sum += more);
        self.by_fallback.iter_mut().zip(by_fallback).for_each(|(sum, more)| *sum += more);
    }
}

/// Copies and zeroings by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    copies: [Tally; Cause::ALL.len()],
    zeroings: [Tally; Cause::ALL.len()],
}

impl Traffic {
    /// Counts an operation, frame by frame.
    pub fn count(&mut self, map: &FrameMap, operation: &MemoryOperation) {
        match *operation {
            MemoryOperation::Copy { src, dst, frames, cause, found } => {
                let tally = &mut self.copies[cause as usize];
                tally.operations += 1;
                for at in 0..frames {
                    tally.add(map.copied(src, dst, frames, at), found);
                }
            }
            MemoryOperation::Zero { dst, frames, cause } => {
                let tally = &mut self.zeroings[cause as usize];
                tally.operations += 1;
                for at in 0..frames {
                    tally.add(map.zeroed(dst, frames, at), Found::Unbound);
                }
            }
        }
    }

    /// Copies of one cause.
    pub const fn copies_of(&self, cause: Cause) -> &Tally {
        &self.copies[cause as usize]
    }

    /// Zeroings of one cause.
    pub const fn zeroings_of(&self, cause: Cause) -> &Tally {
        &self.zeroings[cause as usize]
    }

    /// Copies of all causes.
    pub fn copies(&self) -> Tally {
        sum(&self.copies)
    }

    /// Zeroings of all causes.
    pub fn zeroings(&self) -> Tally {
        sum(&self.zeroings)
    }
}

fn sum(tallies: &[Tally]) -> Tally {
    let mut sum = Tally::default();
    for tally in tallies {
        sum.merge(tally);
    }
    sum
}

/// Counts of huge pages requested and allocated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HugePages {
    /// First touches and copies of a huge page.
    pub wanted: u64,
    /// Requests for which a block of order 9 was free. Small pages served the others.
    pub served: u64,
}

/// Counts of an allocator, and the state of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Allocation policy.
    pub policy: Policy,
    /// Sharing of rows by frames.
    pub sharing: RowSharing,
    /// Copies and zeroings.
    pub traffic: Traffic,
    /// Huge pages requested and allocated.
    pub huge_pages: HugePages,
    /// Allocatable frames.
    pub frames: u64,
    /// Free frames by the order of their block, before the first process and after aging.
    pub free_before: FreeBlocks,
    /// Free frames by the order of their block.
    pub free: FreeBlocks,
    /// Memory that cannot be allocated.
    pub reservation: Reservation,
}

impl Report {
    /// The counts of an allocator's requests, and the present state of its memory.
    pub fn new(
        allocator: &dyn FrameAllocator,
        set: &FrameSet,
        traffic: Traffic,
        huge_pages: HugePages,
        free_before: FreeBlocks,
    ) -> Report {
        Report {
            policy: allocator.policy(),
            sharing: set.sharing(),
            traffic,
            huge_pages,
            frames: set.frames(),
            free_before,
            free: allocator.free_blocks(),
            reservation: set.reservation(),
        }
    }

    /// Share of the frames in use, 0 to 1; 1 if the memory has no allocatable frame.
    pub fn utilization(&self) -> f64 {
        if self.frames == 0 { 1.0 } else { 1.0 - self.free.frames() as f64 / self.frames as f64 }
    }
}
