//! Demand traffic with copies and zeroings of pages among it.

use dram_spec::{Cycle, LINE_BYTES, PhysicalAddress};
use os_alloc_sim::Generator;
use rowclone::{Operation, Planner};

use super::error::WorkloadError;
use super::gap::Gap;
use super::pace::Pace;
use super::pairs::{PagePairs, Pairs};
use super::region::{Region, some};
use super::share::Share;

/// Reads and writes of random lines of a region, and copies and zeroings of random pages of it; reserved rows are left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mixed {
    /// Requests of all kinds.
    pub count: u64,
    /// Where the region begins: a multiple of 64.
    pub start: PhysicalAddress,
    /// How large it is: a multiple of `page_bytes`.
    pub bytes: u64,
    /// The share of the requests that are writes of a line, 0 to 1.
    pub writes: f64,
    /// The share of the requests that are copies of a page, 0 to 1.
    pub copies: f64,
    /// The share of the requests that are zeroings of a page, 0 to 1. What the shares leave are reads of a line.
    pub zeroings: f64,
    /// What a copy or a zeroing is about, in bytes: a multiple of 64.
    pub page_bytes: u64,
    /// Which pages are copied to which.
    pub pairs: Pairs,
    /// Between the arrivals of two requests; 0: each arrives when it can be taken.
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
    /// Numbers up to here make a write, ...
    to_writes: Share,
    /// ... those above it up to here a copy, ...
    to_copies: Share,
    /// ... and those above it up to here a zeroing.
    to_zeroings: Share,
    generator: Generator,
    pace: Pace,
}

impl Mixed {
    pub(super) fn source(&self, planner: &Planner, seed: u64) -> Result<MixedSource, WorkloadError> {
        let Mixed { count, start, bytes, writes, copies, zeroings, page_bytes, pairs, gap } = *self;
        some("count", count, 1)?;
        some("page_bytes", page_bytes, LINE_BYTES)?;
        for (key, share) in [("writes", writes), ("copies", copies), ("zeroings", zeroings)] {
            Share::new(key, share)?;
        }
        let sum = writes + copies + zeroings;
        // Shares in hundredths may come to a little more than 1.
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

    pub(super) fn take(&mut self, now: Cycle) -> (Cycle, Operation) {
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
        (self.pace.arrive(now), operation)
    }
}
