//! Random accesses, mixed with copies and zeroings of pages.

use dram_spec::{LINE_BYTES, PhysicalAddress};
use os_alloc_sim::Generator;
use rowclone::Operation;

use super::error::WorkloadError;
use super::gap::Gap;
use super::kind::{KindProperties, RequestGenerator, WorkloadKind};
use super::machine::Setup;
use super::pace::Paced;
use super::pairs::{PagePairs, Pairs};
use super::region::{BlockRange, positive_multiple};
use super::share::Share;

/// Reads and writes of random lines of a region, and copies and zeroings of random pages of it,
/// without reserved rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mixed {
    /// Number of requests of all kinds.
    pub count: u64,
    /// Start of the region: a multiple of 64.
    pub start: PhysicalAddress,
    /// Size of the region in bytes: a multiple of `page_bytes`.
    pub bytes: u64,
    /// Share of the requests that write a line, 0 to 1.
    pub write_share: f64,
    /// Share of the requests that copy a page, 0 to 1.
    pub copy_share: f64,
    /// Share of the requests that zero a page, 0 to 1. The remaining requests read a line.
    pub zero_share: f64,
    /// Size of a page in bytes: a multiple of 64.
    pub page_bytes: u64,
    /// Pairs of source and destination pages.
    pub pairs: Pairs,
    /// Time between two arrivals. With 0, each request arrives when it is accepted.
    pub gap: Gap,
}

/// The requests of a [`Mixed`].
#[derive(Clone, Debug)]
struct MixedRequests {
    lines: BlockRange,
    pairs: PagePairs,
    page_bytes: u64,
    /// Upper bound of the random numbers that select a write.
    to_writes: Share,
    /// Upper bound of the random numbers that select a copy.
    to_copies: Share,
    /// Upper bound of the random numbers that select a zeroing.
    to_zeroings: Share,
    generator: Generator,
}

impl WorkloadKind for Mixed {
    fn properties(&self) -> KindProperties {
        KindProperties { name: "mixed", gap: self.gap, needs_allocator: false }
    }

    fn generator(&self, setup: &Setup<'_>) -> Result<Box<dyn RequestGenerator>, WorkloadError> {
        let Mixed { count, start, bytes, write_share, copy_share, zero_share, page_bytes, pairs, gap } = *self;
        positive_multiple("count", count, 1)?;
        positive_multiple("page_bytes", page_bytes, LINE_BYTES)?;
        for (key, share) in [("write_share", write_share), ("copy_share", copy_share), ("zero_share", zero_share)] {
            Share::new(key, share)?;
        }
        let sum = write_share + copy_share + zero_share;
        // A sum of decimal fractions may exceed 1 by rounding.
        if sum > 1.0 + 1e-9 {
            return Err(WorkloadError::SharesAboveOne { keys: "write_share`, `copy_share` and `zero_share", sum });
        }
        let mut generator = Generator::new(setup.seed);
        let pages = Generator::new(generator.number());
        let requests = MixedRequests {
            pairs: PagePairs::new(setup.planner, (start, bytes), page_bytes, pairs, pages)?,
            lines: BlockRange::new(setup.planner, start, bytes, LINE_BYTES)?,
            page_bytes,
            to_writes: Share::new("write_share", write_share)?,
            to_copies: Share::new("copy_share", (write_share + copy_share).min(1.0))?,
            to_zeroings: Share::new("zero_share", sum.min(1.0))?,
            generator,
        };
        Ok(Paced::generator(requests, count, gap))
    }
}

impl Iterator for MixedRequests {
    type Item = Operation;

    fn next(&mut self) -> Option<Operation> {
        let kind = self.generator.number();
        Some(if self.to_writes.holds(kind) {
            Operation::Write { address: self.lines.draw(&mut self.generator), bytes: LINE_BYTES }
        } else if self.to_copies.holds(kind) {
            let (src, dst) = self.pairs.draw();
            Operation::Copy { src, dst, bytes: self.page_bytes }
        } else if self.to_zeroings.holds(kind) {
            Operation::Init { dst: self.pairs.draw_page(), bytes: self.page_bytes, value: 0 }
        } else {
            Operation::Read { address: self.lines.draw(&mut self.generator), bytes: LINE_BYTES }
        })
    }
}
