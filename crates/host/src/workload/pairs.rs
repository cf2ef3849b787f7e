//! Which page is copied to which.

use dram_spec::PhysicalAddress;
use os_alloc_sim::Generator;
use rowclone::{Operation, Planner};

use crate::placement::{Place, PlacementError, place};

use super::error::WorkloadError;
use super::region::{Region, below};

/// Which pages of a region are copied to which. Pages with a part in a reserved row are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairs {
    /// Page 2i to page 2i + 1.
    Neighbours,
    /// To each page from the nearest that lies so to it, in the region or not; pages to which none lies so are left out.
    Placed(Place),
    /// Any page to any other.
    Random,
}

/// Pairs of pages of a region.
#[derive(Clone, Debug)]
pub(super) struct PagePairs {
    planner: Planner,
    pages: Region,
    page_bytes: u64,
    pairs: Pairs,
    /// The number of the next, where they are taken in order.
    at: u64,
    generator: Generator,
}

/// Source and destination.
type Pair = (PhysicalAddress, PhysicalAddress);

impl PagePairs {
    /// Of the pages that `bytes` from `start` hold.
    pub(super) fn new(
        planner: &Planner,
        (start, bytes): (PhysicalAddress, u64),
        page_bytes: u64,
        pairs: Pairs,
        generator: Generator,
    ) -> Result<PagePairs, WorkloadError> {
        let pages = Region::new(planner, start, bytes, page_bytes)?;
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
        found.assure_one()?;
        Ok(found)
    }

    /// Fails where there is no pair at all.
    fn assure_one(&self) -> Result<(), WorkloadError> {
        let sound = |number: &u64| self.pages.is_sound(self.pages.place(*number));
        let found = match self.pairs {
            Pairs::Random => (0..self.pages.places()).filter(sound).nth(1).is_some(),
            Pairs::Neighbours => (0..self.numbers()).any(|number| self.neighbours(number).is_some()),
            Pairs::Placed(_) => {
                let mut first_error = None;
                let found = (0..self.numbers()).filter(sound).any(|number| match self.placed(number) {
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

    /// How many pairs there are to count through, whether or not they are of use.
    const fn numbers(&self) -> u64 {
        match self.pairs {
            Pairs::Neighbours => self.pages.places() / 2,
            Pairs::Placed(_) | Pairs::Random => self.pages.places(),
        }
    }

    fn neighbours(&self, number: u64) -> Option<Pair> {
        let (src, dst) = (self.pages.place(2 * number), self.pages.place(2 * number + 1));
        (self.pages.is_sound(src) && self.pages.is_sound(dst)).then_some((src, dst))
    }

    fn placed(&self, number: u64) -> Result<Pair, PlacementError> {
        let (dst, at) =
            (self.pages.place(number), if let Pairs::Placed(at) = self.pairs { at } else { Place::SameBank });
        Ok((place(&self.planner, at, dst, self.page_bytes)?, dst))
    }

    /// The pair of that number, if it is of use; any pair, where they are random.
    fn pair(&mut self, number: u64) -> Option<Pair> {
        match self.pairs {
            Pairs::Neighbours => self.neighbours(number),
            Pairs::Placed(_) => {
                // An address is not asked about its destination.
                self.placed(number).ok().filter(|(_, dst)| self.pages.is_sound(*dst))
            }
            Pairs::Random => {
                let pair = (self.pages.draw(&mut self.generator), self.pages.draw(&mut self.generator));
                (pair.0 != pair.1).then_some(pair)
            }
        }
    }

    /// The next in order; after the last, the first.
    pub(super) fn next(&mut self) -> Pair {
        loop {
            let number = self.at;
            self.at = (number + 1) % self.numbers();
            if let Some(pair) = self.pair(number) {
                return pair;
            }
        }
    }

    /// Any of them.
    pub(super) fn draw(&mut self) -> Pair {
        loop {
            let numbers = self.numbers();
            let number = below(&mut self.generator, numbers);
            if let Some(pair) = self.pair(number) {
                return pair;
            }
        }
    }

    /// Any page that may be used.
    pub(super) fn draw_page(&mut self) -> PhysicalAddress {
        self.pages.draw(&mut self.generator)
    }
}
