//! Accesses to random lines.

use dram_spec::{LINE_BYTES, PhysicalAddress};
use os_alloc_sim::Generator as Random64;
use rowclone::Operation;

use super::error::WorkloadError;
use super::gap::Gap;
use super::kind::{About, Generator, Kind, On};
use super::pace::Paced;
use super::region::{Region, positive_multiple};
use super::share::Share;

/// Reads and writes of random lines of a region, without reserved rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Random {
    /// Number of requests, one line each.
    pub count: u64,
    /// Start of the region: a multiple of 64.
    pub start: PhysicalAddress,
    /// Size of the region in bytes: a multiple of 64.
    pub bytes: u64,
    /// Share of the requests that are writes, 0 to 1. The others are reads.
    pub write_share: f64,
    /// Time between two arrivals. With 0, each request arrives when it is accepted.
    pub gap: Gap,
}

/// The requests of a [`Random`].
#[derive(Clone, Debug)]
struct Accesses {
    region: Region,
    writes: Share,
    generator: Random64,
}

impl Kind for Random {
    fn about(&self) -> About {
        About { name: "random", gap: self.gap, needs_allocator: false }
    }

    fn generator(&self, on: &On<'_>) -> Result<Box<dyn Generator>, WorkloadError> {
        let Random { count, start, bytes, write_share, gap } = *self;
        positive_multiple("count", count, 1)?;
        let region = Region::new(on.planner, start, bytes, LINE_BYTES)?;
        let accesses =
            Accesses { region, writes: Share::new("write_share", write_share)?, generator: Random64::new(on.seed) };
        Ok(Paced::generator(accesses, count, gap))
    }
}

impl Iterator for Accesses {
    type Item = Operation;

    #[inline]
    fn next(&mut self) -> Option<Operation> {
        let (address, rest) = self.region.draw_and_rest(&mut self.generator);
        let (write, bytes) = (self.writes.holds(rest), LINE_BYTES);
        Some(if write { Operation::Write { address, bytes } } else { Operation::Read { address, bytes } })
    }
}
