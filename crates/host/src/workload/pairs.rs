//! Pairs of source and destination pages.

use dram_spec::PhysicalAddress;
use os_alloc_sim::Generator;
use rowclone::{Operation, Planner};

use crate::operation::{Place, PlacementError, place};

use super::error::WorkloadError;
use super::region::{BlockRange, below};

/// Rule that pairs the pages of a region. Pages that overlap a reserved row are skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pairs {
    /// Page 2i to page 2i + 1.
    #[default]
    Neighbors,
    /// To each page from the nearest page with this relation to it, in the region or not. Pages
    /// without such a source are skipped.
    Placed(Place),
    /// Any page to any other page, at random.
    Random,
}

/// Pairs of pages of a region.
#[derive(Clone, Debug)]
pub(super) struct PagePairs {
    planner: Planner,
    pages: BlockRange,
    page_bytes: u64,
    pairs: Pairs,
    /// Index of the next pair in order.
    at: u64,
    generator: Generator,
}

/// Source and destination.
type Pair = (PhysicalAddress, PhysicalAddress);

impl PagePairs {
    /// Creates the pairs of the pages within `bytes` from `start`.
    pub(super) fn new(
        planner: &Planner,
        (start, bytes): (PhysicalAddress, u64),
        page_bytes: u64,
        pairs: Pairs,
        generator: Generator,
    ) -> Result<PagePairs, WorkloadError> {
        let pages = BlockRange::new(planner, start, bytes, page_bytes)?;
        let least = 2 * page_bytes;
        if !matches!(pairs, Pairs::Placed(_)) && bytes < least {
            return Err(WorkloadError::TooSmall {
                key: "bytes",
                found: bytes,
                least,
                why: "a page is copied to another",
            });
        }
        if let Pairs::Placed(Place::Address(address)) = pairs {
            planner.check(&Operation::Read { address, bytes: page_bytes })?;
        }
        let found = PagePairs { planner: planner.clone(), pages, page_bytes, pairs, at: 0, generator };
        found.ensure_any()?;
        Ok(found)
    }

    /// Returns an error unless at least one pair exists.
    fn ensure_any(&self) -> Result<(), WorkloadError> {
        let usable = |number: &u64| self.pages.is_usable(self.pages.place(*number));
        let found = match self.pairs {
            Pairs::Random => (0..self.pages.places()).filter(usable).nth(1).is_some(),
            Pairs::Neighbors => (0..self.numbers()).any(|number| self.neighbors(number).is_some()),
            Pairs::Placed(_) => {
                let mut first_error = None;
                let found = (0..self.numbers()).filter(usable).any(|number| match self.placed(number) {
                    Ok(_) => true,
                    Err(error) => {
                        first_error.get_or_insert(error);
                        false
                    }
                });
                if let (false, Some(error)) = (found, first_error) {
                    return Err(error.into());
                }
                found
            }
        };
        if found { Ok(()) } else { Err(WorkloadError::AllReserved { key: "bytes" }) }
    }

    /// Number of pair indices, including unusable pairs.
    const fn numbers(&self) -> u64 {
        match self.pairs {
            Pairs::Neighbors => self.pages.places() / 2,
            Pairs::Placed(_) | Pairs::Random => self.pages.places(),
        }
    }

    fn neighbors(&self, number: u64) -> Option<Pair> {
        let (src, dst) = (self.pages.place(2 * number), self.pages.place(2 * number + 1));
        (self.pages.is_usable(src) && self.pages.is_usable(dst)).then_some((src, dst))
    }

    fn placed(&self, number: u64) -> Result<Pair, PlacementError> {
        let (dst, at) =
            (self.pages.place(number), if let Pairs::Placed(at) = self.pairs { at } else { Place::SameBank });
        Ok((place(&self.planner, at, dst, self.page_bytes)?, dst))
    }

    /// The pair with this index, if it is usable; a random pair for [`Pairs::Random`].
    fn pair(&mut self, number: u64) -> Option<Pair> {
        match self.pairs {
            Pairs::Neighbors => self.neighbors(number),
            Pairs::Placed(_) => {
                // For a fixed address, `placed` does not check the destination.
                let is_checked = !matches!(self.pairs, Pairs::Placed(Place::Address(_)));
                self.placed(number).ok().filter(|(_, dst)| is_checked || self.pages.is_usable(*dst))
            }
            Pairs::Random => {
                let pair = (self.pages.draw(&mut self.generator), self.pages.draw(&mut self.generator));
                (pair.0 != pair.1).then_some(pair)
            }
        }
    }

    /// The next pair in order, cyclically.
    pub(super) fn next(&mut self) -> Pair {
        loop {
            let number = self.at;
            self.at = (number + 1) % self.numbers();
            if let Some(pair) = self.pair(number) {
                return pair;
            }
        }
    }

    /// A random pair.
    pub(super) fn draw(&mut self) -> Pair {
        loop {
            let numbers = self.numbers();
            let number = below(&mut self.generator, numbers);
            if let Some(pair) = self.pair(number) {
                return pair;
            }
        }
    }

    /// A random usable page.
    pub(super) fn draw_page(&mut self) -> PhysicalAddress {
        self.pages.draw(&mut self.generator)
    }
}
