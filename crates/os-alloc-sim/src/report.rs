//! How the copies and zeroings went.

use rowclone::{Classification, MAX_WINDOW_BYTES, MECHANISMS, Mechanism, Reason};

use crate::allocator::{Found, Policy};
use crate::blocks::FreeBlocks;
use crate::frame::FrameMap;
use crate::frame_set::{Reservation, Sharing};
use crate::operation::{Cause, MemoryOperation};

/// Why a frame did not go by FPM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fallback {
    /// The smallest block of whole rows is above 16 MiB: nothing goes by FPM.
    UnitTooLarge,
    /// The operation leaves out frames that share the row.
    SharedRow,
    /// The policy did not look where the source lies.
    PolicyBlind,
    /// Whoever wanted the copy did not ask for a place near the source.
    NotAsked,
    /// The pool of the source's subarray was empty.
    PoolEmpty,
    /// The whole rank of the source was.
    RankEmpty,
}

impl Fallback {
    /// All, in the order in which reports list them: where several hold, the first is counted.
    pub const ALL: [Fallback; 6] = [
        Fallback::UnitTooLarge,
        Fallback::SharedRow,
        Fallback::PolicyBlind,
        Fallback::NotAsked,
        Fallback::PoolEmpty,
        Fallback::RankEmpty,
    ];

    /// The name, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Fallback::UnitTooLarge => "unit-too-large",
            Fallback::SharedRow => "shared-row",
            Fallback::PolicyBlind => "policy-blind",
            Fallback::NotAsked => "not-asked",
            Fallback::PoolEmpty => "pool-empty",
            Fallback::RankEmpty => "rank-empty",
        }
    }

    /// From the planner's reason and, where it is the place of the frames, from how the allocator found the destination.
    fn of(reason: Reason, found: Found) -> Fallback {
        match (reason.uncovered_granularity(), found) {
            (Some(granularity), _) if granularity > MAX_WINDOW_BYTES => Fallback::UnitTooLarge,
            (Some(_), _) => Fallback::SharedRow,
            (None, Found::SourceRank) => Fallback::PoolEmpty,
            (None, Found::Elsewhere) => Fallback::RankEmpty,
            (None, Found::Blind) => Fallback::PolicyBlind,
            // Whole units of one pool go by FPM: the destination was found near another frame than this one's source.
            (None, Found::Unbound | Found::SourcePool) => Fallback::NotAsked,
        }
    }
}

/// Operations of one kind, by how their frames go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Operations; one may have many frames.
    pub operations: u64,
    /// In the order of [`MECHANISMS`].
    by_mechanism: [u64; MECHANISMS.len()],
    by_fallback: [u64; Fallback::ALL.len()],
}

impl Tally {
    /// Frames, however they go.
    pub fn frames(&self) -> u64 {
        self.by_mechanism.iter().sum()
    }

    /// Frames that go one way.
    pub fn by(&self, mechanism: Mechanism) -> u64 {
        MECHANISMS.iter().zip(self.by_mechanism).find(|(other, _)| **other == mechanism).map_or(0, |(_, count)| count)
    }

    /// The share of the frames that go one way, 0 to 1; none where there are no frames.
    pub fn share(&self, mechanism: Mechanism) -> Option<f64> {
        let frames = self.frames();
        (frames > 0).then(|| self.by(mechanism) as f64 / frames as f64)
    }

    /// Frames that did not go by FPM for one reason.
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

/// Copies and zeroings, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    copies: [Tally; Cause::ALL.len()],
    zeroings: [Tally; Cause::ALL.len()],
}

impl Traffic {
    /// Counts an operation.
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

    /// The copies of one cause.
    pub const fn copies_of(&self, cause: Cause) -> &Tally {
        &self.copies[cause as usize]
    }

    /// The zeroings of one cause.
    pub const fn zeroings_of(&self, cause: Cause) -> &Tally {
        &self.zeroings[cause as usize]
    }

    /// All copies.
    pub fn copies(&self) -> Tally {
        sum(&self.copies)
    }

    /// All zeroings.
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

/// Huge pages: how many were wanted, and how many there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HugePages {
    /// First touches and copies of a huge page.
    pub wanted: u64,
    /// Those for which there was a block of order 9. The others were served by small pages.
    pub served: u64,
}

/// What an allocator did, and how it left the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The policy.
    pub policy: Policy,
    /// What became of frames that share a row.
    pub sharing: Sharing,
    /// Copies and zeroings.
    pub traffic: Traffic,
    /// Huge pages.
    pub huge_pages: HugePages,
    /// Frames that there were to hand out.
    pub frames: u64,
    /// Those of them that are free, by the order of their block.
    pub free: FreeBlocks,
    /// Memory that nobody can have.
    pub reservation: Reservation,
}

impl Report {
    /// The share of the frames that are in use, 0 to 1; 1 where there are none.
    pub fn utilisation(&self) -> f64 {
        if self.frames == 0 { 1.0 } else { 1.0 - self.free.frames() as f64 / self.frames as f64 }
    }
}
