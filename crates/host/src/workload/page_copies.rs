//! Copies of pages, as operations or line by line.

use dram_spec::{Cycle, LINE_BYTES, PhysicalAddress};
use os_alloc_sim::Generator;
use rowclone::{Operation, Planner};

use super::error::WorkloadError;
use super::gap::Gap;
use super::pace::Pace;
use super::pairs::{PagePairs, Pairs};
use super::region::positive_multiple;

dram_spec::named! {
    /// Method of copying a page.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CopyBy {
        /// One request, which the controller's copy policy serves.
        Operation = "operation",
        /// Reads of all source lines, then writes of all destination lines. No request waits for
        /// another, and the writes carry generated data.
        Lines = "lines",
    }
}

/// Copies of the pages of a region, in order and repeatedly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageCopies {
    /// Number of pages copied.
    pub count: u64,
    /// Start of the region: a multiple of 64.
    pub start: PhysicalAddress,
    /// Size of the region in bytes: a multiple of `page_bytes`.
    pub bytes: u64,
    /// Size of a page in bytes: a multiple of 64.
    pub page_bytes: u64,
    /// Pairs of source and destination pages.
    pub pairs: Pairs,
    /// Method of copying a page.
    pub by: CopyBy,
    /// Time between two arrivals. With 0, each request arrives when it is accepted.
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
    /// The current pair, and the bytes of it read plus the bytes written.
    current: Option<(PhysicalAddress, PhysicalAddress, u64)>,
    pace: Pace,
}

impl PageCopies {
    pub(super) fn source(&self, planner: &Planner, seed: u64) -> Result<PageCopiesSource, WorkloadError> {
        let PageCopies { count, start, bytes, page_bytes, pairs, by, gap } = *self;
        positive_multiple("count", count, 1)?;
        positive_multiple("page_bytes", page_bytes, LINE_BYTES)?;
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

    pub(super) fn take(&mut self, _: Cycle) -> (Option<Cycle>, Operation) {
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
        (self.pace.arrive(), operation)
    }
}
