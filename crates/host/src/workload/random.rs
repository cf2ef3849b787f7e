//! Accesses to random lines.

use dram_spec::{LINE_BYTES, PhysicalAddress};
use os_alloc_sim::Generator;
use rowclone::Operation;

use super::error::WorkloadError;
use super::gap::Gap;
use super::kind::{KindProperties, RequestGenerator, WorkloadKind};
use super::machine::Setup;
use super::pace::Paced;
use super::region::{BlockRange, positive_multiple};
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
struct RandomRequests {
    region: BlockRange,
    writes: Share,
    generator: Generator,
}

impl WorkloadKind for Random {
    fn properties(&self) -> KindProperties {
        KindProperties { name: "random", gap: self.gap, needs_allocator: false }
    }

    fn generator(&self, setup: &Setup<'_>) -> Result<Box<dyn RequestGenerator>, WorkloadError> {
        let Random { count, start, bytes, write_share, gap } = *self;
        positive_multiple("count", count, 1)?;
        let region = BlockRange::new(setup.planner, start, bytes, LINE_BYTES)?;
        let accesses = RandomRequests {
            region,
            writes: Share::new("write_share", write_share)?,
            generator: Generator::new(setup.seed),
        };
        Ok(Paced::generator(accesses, count, gap))
    }
}

impl Iterator for RandomRequests {
    type Item = Operation;

    #[inline]
    fn next(&mut self) -> Option<Operation> {
        let (address, rest) = self.region.draw_and_rest(&mut self.generator);
        let (write, bytes) = (self.writes.holds(rest), LINE_BYTES);
        Some(if write { Operation::Write { address, bytes } } else { Operation::Read { address, bytes } })
    }
}
