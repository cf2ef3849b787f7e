//! Random accesses, mixed with copies and zeroings of pages.

use dram_spec::{Cycle, LINE_BYTES, PhysicalAddress};
use os_alloc_sim::Generator;
use rowclone::{Operation, Planner};

use super::error::WorkloadError;
use super::gap::Gap;
use super::pace::Pace;
use super::pairs::{PagePairs, Pairs};
use super::region::{Region, positive_multiple};
use super::share::Share;

/// Reads and writes of random lines of a region, and copies and zeroings of random pages of it,
/// without reserved rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mixed {
    /// Number of requests of all kinds.
    pub count: u64,
    /// Start of the region: a multiple of 64.
    pub start: PhysicalAddress,
    /// Size of the region in bytes: a multiple of `page_bytes`.
    pub bytes: u64,
    /// Share of the requests that write a line, 0 to 1.
    pub writes: f64,
    /// Share of the requests that copy a page, 0 to 1.
    pub copies: f64,
    /// Share of the requests that zero a page, 0 to 1. The remaining requests read a line.
    pub zeroings: f64,
    /// Size of a page in bytes: a multiple of 64.
    pub page_bytes: u64,
    /// Pairs of source and destination pages.
    pub pairs: Pairs,
    /// Time between two arrivals. With 0, each request arrives when it is accepted.
    pub gap: Gap,
}

/// The requests of a [`Mixed`].
#[derive(Clone, Debug)]
pub(super) struct MixedSource {
    left: u64,
    requests: u64,
    lines: Region,
    pairs: PagePairs,
    page_bytes: u64,
    /// Upper bound of the random numbers that select a write.
    to_writes: Share,
    /// Upper bound of the random numbers that select a copy.
    to_copies: Share,
    /// Upper bound of the random numbers that select a zeroing.
    to_zeroings: Share,
    generator: Generator,
    pace: Pace,
}

impl Mixed {
    pub(super) fn source(&self, planner: &Planner, seed: u64) -> Result<MixedSource, WorkloadError> {
        let Mixed { count, start, bytes, writes, copies, zeroings, page_bytes, pairs, gap } = *self;
        positive_multiple("count", count, 1)?;
        positive_multiple("page_bytes", page_bytes, LINE_BYTES)?;
        for (key, share) in [("writes", writes), ("copies", copies), ("zeroings", zeroings)] {
            Share::new(key, share)?;
        }
        let sum = writes + copies + zeroings;
        // A sum of decimal fractions may exceed 1 by rounding.
        if sum > 1.0 + 1e-9 {
            return Err(WorkloadError::SharesAboveOne { keys: "writes`, `copies` and `zeroings", sum });
        }
        let mut generator = Generator::new(seed);
        let pages = Generator::new(generator.number());
        Ok(MixedSource {
            left: count,
            requests: count,
            pairs: PagePairs::new(planner, (start, bytes), page_bytes, pairs, pages)?,
            lines: Region::new(planner, start, bytes, LINE_BYTES)?,
            page_bytes,
            to_writes: Share::new("writes", writes)?,
            to_copies: Share::new("copies", (writes + copies).min(1.0))?,
            to_zeroings: Share::new("zeroings", sum.min(1.0))?,
            generator,
            pace: Pace::new(gap),
        })
    }
}

impl MixedSource {
    pub(super) const fn requests(&self) -> u64 {
        self.requests
    }

    pub(super) fn next_arrival(&self) -> Option<Cycle> {
        (self.left > 0).then_some(self.pace.next())
    }

    pub(super) fn take(&mut self, _: Cycle) -> (Option<Cycle>, Operation) {
        self.left -= 1;
        let kind = self.generator.number();
        let operation = if self.to_writes.holds(kind) {
            Operation::Write { address: self.lines.draw(&mut self.generator), bytes: LINE_BYTES }
        } else if self.to_copies.holds(kind) {
            let (src, dst) = self.pairs.draw();
            Operation::Copy { src, dst, bytes: self.page_bytes }
        } else if self.to_zeroings.holds(kind) {
            Operation::Init { dst: self.pairs.draw_page(), bytes: self.page_bytes, value: 0 }
        } else {
            Operation::Read { address: self.lines.draw(&mut self.generator), bytes: LINE_BYTES }
        };
        (self.pace.arrive(), operation)
    }
}
