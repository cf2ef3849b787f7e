//! Copies of pages, as operations or line by line.

use dram_spec::{LINE_BYTES, PhysicalAddress};
use os_alloc_sim::Generator;
use rowclone::Operation;

use super::error::WorkloadError;
use super::gap::Gap;
use super::kind::{KindProperties, RequestGenerator, WorkloadKind};
use super::machine::Setup;
use super::pace::Paced;
use super::pairs::{PagePairs, Pairs};
use super::region::positive_multiple;

dram_spec::named! {
    /// Method of copying a page.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum CopyBy {
        /// One request, which the controller's copy policy serves.
        #[default]
        Operation = "operation",
        /// Reads of all source lines, then writes of all destination lines. No request waits for
        /// another, and the writes carry generated data.
        Lines = "lines",
    }
}

/// Copies of the pages of a region, in order and repeatedly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
struct PageCopyRequests {
    pairs: PagePairs,
    page_bytes: u64,
    by: CopyBy,
    /// The current pair, and the bytes of it read plus the bytes written.
    current: Option<(PhysicalAddress, PhysicalAddress, u64)>,
}

impl WorkloadKind for PageCopies {
    fn properties(&self) -> KindProperties {
        KindProperties { name: "page-copies", gap: self.gap, needs_allocator: false }
    }

    fn generator(&self, setup: &Setup<'_>) -> Result<Box<dyn RequestGenerator>, WorkloadError> {
        let PageCopies { count, start, bytes, page_bytes, pairs, by, gap } = *self;
        positive_multiple("count", count, 1)?;
        positive_multiple("page_bytes", page_bytes, LINE_BYTES)?;
        let each = match by {
            CopyBy::Operation => 1,
            CopyBy::Lines => page_bytes / LINE_BYTES * 2,
        };
        let pairs = PagePairs::new(setup.planner, (start, bytes), page_bytes, pairs, Generator::new(setup.seed))?;
        Ok(Paced::generator(PageCopyRequests { pairs, page_bytes, by, current: None }, count.saturating_mul(each), gap))
    }
}

impl Iterator for PageCopyRequests {
    type Item = Operation;

    fn next(&mut self) -> Option<Operation> {
        let (src, dst, moved) = self.current.take().unwrap_or_else(|| {
            let (src, dst) = self.pairs.next();
            (src, dst, 0)
        });
        Some(match self.by {
            CopyBy::Operation => Operation::Copy { src, dst, bytes: self.page_bytes },
            CopyBy::Lines => {
                let (bytes, all) = (LINE_BYTES, self.page_bytes);
                if moved + bytes < 2 * all {
                    self.current = Some((src, dst, moved + bytes));
                }
                match moved.checked_sub(all) {
                    None => Operation::Read { address: PhysicalAddress(src.0 + moved), bytes },
                    Some(written) => Operation::Write { address: PhysicalAddress(dst.0 + written), bytes },
                }
            }
        })
    }
}
