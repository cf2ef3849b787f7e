//! Copies of pages.

use dram_spec::{Cycle, LINE_BYTES, PhysicalAddress};
use os_alloc_sim::Generator;
use rowclone::{Operation, Planner};

use super::error::WorkloadError;
use super::gap::Gap;
use super::pace::Pace;
use super::pairs::{PagePairs, Pairs};
use super::region::some;

/// How a page is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyBy {
    /// By one request, which the controller's policy serves.
    Operation,
    /// By reads of all its lines, and then writes of all lines of the destination. They wait for nothing, and the writes carry
    /// data of their own.
    Lines,
}

/// Copies of the pages of a region, in order, and after the last pair again from the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageCopies {
    /// Pages copied.
    pub count: u64,
    /// Where the region begins: a multiple of 64.
    pub start: PhysicalAddress,
    /// How large it is: a multiple of `page_bytes`.
    pub bytes: u64,
    /// A page, in bytes: a multiple of 64.
    pub page_bytes: u64,
    /// Which are copied to which.
    pub pairs: Pairs,
    /// How.
    pub by: CopyBy,
    /// Between the arrivals of two requests; 0: each arrives when it can be taken.
    pub gap: Gap,
}

/// The requests of a [`PageCopies`].
#[derive(Clone, Debug)]
pub(super) struct PageCopiesSource {
    left: u64,
    requests: u64,
    pairs: PagePairs,
    page_bytes: u64,
    by: CopyBy,
    /// The pair in progress, and the bytes of it that are read or written, both counted.
    current: Option<(PhysicalAddress, PhysicalAddress, u64)>,
    pace: Pace,
}

impl PageCopies {
    pub(super) fn source(&self, planner: &Planner, seed: u64) -> Result<PageCopiesSource, WorkloadError> {
        let PageCopies { count, start, bytes, page_bytes, pairs, by, gap } = *self;
        some("count", count, 1)?;
        some("page_bytes", page_bytes, LINE_BYTES)?;
        let each = match by {
            CopyBy::Operation => 1,
            CopyBy::Lines => page_bytes / LINE_BYTES * 2,
        };
        Ok(PageCopiesSource {
            left: count,
            requests: count.saturating_mul(each),
            pairs: PagePairs::new(planner, (start, bytes), page_bytes, pairs, Generator::new(seed))?,
            page_bytes,
            by,
            current: None,
            pace: Pace::new(gap),
        })
    }
}

impl PageCopiesSource {
    pub(super) const fn requests(&self) -> u64 {
        self.requests
    }

    pub(super) fn next_arrival(&self) -> Option<Cycle> {
        (self.left > 0).then_some(self.pace.next())
    }

    pub(super) fn take(&mut self, now: Cycle) -> (Cycle, Operation) {
        let (src, dst, moved) = self.current.take().unwrap_or_else(|| {
            let (src, dst) = self.pairs.next();
            (src, dst, 0)
        });
        let operation = match self.by {
            CopyBy::Operation => {
                self.left -= 1;
                Operation::Copy { src, dst, bytes: self.page_bytes }
            }
            CopyBy::Lines => {
                let (bytes, all) = (LINE_BYTES, self.page_bytes);
                if moved + bytes < 2 * all {
                    self.current = Some((src, dst, moved + bytes));
                } else {
                    self.left -= 1;
                }
                match moved.checked_sub(all) {
                    None => Operation::Read { address: PhysicalAddress(src.0 + moved), bytes },
                    Some(written) => Operation::Write { address: PhysicalAddress(dst.0 + written), bytes },
                }
            }
        };
        (self.pace.arrive(now), operation)
    }
}
