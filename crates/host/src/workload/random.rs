//! Accesses to random lines.

use dram_spec::{Cycle, LINE_BYTES, PhysicalAddress};
use os_alloc_sim::Generator;
use rowclone::{Operation, Planner};

use super::error::WorkloadError;
use super::gap::Gap;
use super::pace::Pace;
use super::region::{Region, positive_multiple};
use super::share::Share;

/// Reads and writes of random lines of a region, without reserved rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Random {
    /// Number of requests, one line each.
    pub count: u64,
    /// Start of the region: a multiple of 64.
    pub start: PhysicalAddress,
    /// Size of the region in bytes: a multiple of 64.
    pub bytes: u64,
    /// Share of the requests that are writes, 0 to 1. The others are reads.
    pub writes: f64,
    /// Time between two arrivals. With 0, each request arrives when it is accepted.
    pub gap: Gap,
}

/// The requests of a [`Random`].
#[derive(Clone, Debug)]
pub(super) struct RandomSource {
    left: u64,
    requests: u64,
    region: Region,
    writes: Share,
    generator: Generator,
    pace: Pace,
}

impl Random {
    pub(super) fn source(&self, planner: &Planner, seed: u64) -> Result<RandomSource, WorkloadError> {
        let Random { count, start, bytes, writes, gap } = *self;
        positive_multiple("count", count, 1)?;
        Ok(RandomSource {
            left: count,
            requests: count,
            region: Region::new(planner, start, bytes, LINE_BYTES)?,
            writes: Share::new("writes", writes)?,
            generator: Generator::new(seed),
            pace: Pace::new(gap),
        })
    }
}

impl RandomSource {
    pub(super) const fn requests(&self) -> u64 {
        self.requests
    }

    pub(super) fn next_arrival(&self) -> Option<Cycle> {
        (self.left > 0).then_some(self.pace.next())
    }

    #[inline]
    pub(super) fn take(&mut self, _: Cycle) -> (Option<Cycle>, Operation) {
        self.left -= 1;
        let (address, rest) = self.region.draw_and_rest(&mut self.generator);
        let (write, bytes) = (self.writes.holds(rest), LINE_BYTES);
        let operation = if write { Operation::Write { address, bytes } } else { Operation::Read { address, bytes } };
        (self.pace.arrive(), operation)
    }
}
