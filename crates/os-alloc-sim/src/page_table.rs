//! Page tables: the frame of each page of a process.

use std::collections::BTreeMap;

use crate::blocks::HUGE_ORDER;
use crate::frame::Frame;

/// Size of the pages of a region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PageSize {
    /// 4 KiB, or a unit if units are allocated together.
    #[default]
    Small,
    /// 2 MiB if a block is free, else small.
    Huge,
}

/// A present page, or the pages of a grain: the first frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageTableEntry {
    pub(crate) frame: Frame,
    /// Whether de-duplication assigned the frame.
    pub(crate) merged: bool,
    /// Whether the frame was allocated as part of a huge page.
    pub(crate) huge: bool,
}

impl PageTableEntry {
    /// A small page with an unshared frame.
    pub(crate) const fn alone(frame: Frame) -> PageTableEntry {
        PageTableEntry { frame, merged: false, huge: false }
    }
}

/// Consecutive pages that were mapped together: one slot per grain, empty until the first touch.
/// Its memory grows with the grains that were touched.
#[derive(Clone, Debug)]
struct PageRegion {
    size: PageSize,
    /// Number of slots.
    slots: u64,
    /// The filled slots.
    entries: BTreeMap<u64, PageTableEntry>,
}

/// The pages of a process, numbered from 0, in grains.
#[derive(Clone, Debug)]
pub struct AddressSpace {
    /// Regions by first page.
    regions: BTreeMap<u64, PageRegion>,
    grain_order: u8,
    /// First page of the next region.
    next: u64,
}

impl AddressSpace {
    pub(crate) const fn new(grain_order: u8) -> AddressSpace {
        AddressSpace { regions: BTreeMap::new(), grain_order, next: 0 }
    }

    /// Maps pages, rounded up to whole grains, at a multiple of a huge page; returns the first
    /// page.
    pub(crate) fn map(&mut self, pages: u64, size: PageSize) -> u64 {
        let first = self.next;
        let slots = pages.div_ceil(1 << self.grain_order);
        let huge = 1 << HUGE_ORDER.max(self.grain_order);
        self.next = (first + (slots << self.grain_order)).next_multiple_of(huge);
        if slots > 0 {
            self.regions.insert(first, PageRegion { size, slots, entries: BTreeMap::new() });
        }
        first
    }

    /// The region of a page, by its first page, and the slot of the page in it.
    fn find(&self, page: u64) -> Option<(u64, u64)> {
        let (&first, region) = self.regions.range(..=page).next_back()?;
        let slot = (page - first) >> self.grain_order;
        (slot < region.slots).then_some((first, slot))
    }

    /// Whether a page is mapped.
    pub fn is_mapped(&self, page: u64) -> bool {
        self.find(page).is_some()
    }

    /// The frame of a page, if the page is mapped and was touched.
    pub fn frame(&self, page: u64) -> Option<Frame> {
        let within = page as u32 & !(u32::MAX << self.grain_order);
        self.entry(page).map(|entry| entry.frame.plus(within))
    }

    pub(crate) fn entry(&self, page: u64) -> Option<PageTableEntry> {
        let (first, slot) = self.find(page)?;
        self.regions[&first].entries.get(&slot).copied()
    }

    /// Sets the entry of a mapped page; returns the entry before.
    pub(crate) fn enter(&mut self, page: u64, entry: PageTableEntry) -> Option<PageTableEntry> {
        let (first, slot) = self.find(page)?;
        let region = self.regions.get_mut(&first)?;
        region.entries.insert(slot, entry)
    }

    /// The first page of the huge page of a page, if that lies as a whole in one region of huge
    /// pages.
    pub(crate) fn huge_page(&self, page: u64) -> Option<u64> {
        let (first, _) = self.find(page)?;
        let region = &self.regions[&first];
        let huge = page >> HUGE_ORDER << HUGE_ORDER;
        let end = first + (region.slots << self.grain_order);
        (region.size == PageSize::Huge
            && self.grain_order <= HUGE_ORDER
            && first <= huge
            && huge + (1 << HUGE_ORDER) <= end)
            .then_some(huge)
    }

    /// Unmaps consecutive pages, mapped or not, rounded out to whole grains; returns their entries.
    pub(crate) fn unmap(&mut self, page: u64, pages: u64) -> Vec<PageTableEntry> {
        let order = self.grain_order;
        let start = page >> order << order;
        let end = page.saturating_add(pages).div_ceil(1 << order) << order;
        let first = self.find(start).map_or(start, |(first, _)| first);
        let touched: Vec<u64> = self.regions.range(first..end).map(|(&first, _)| first).collect();
        let mut gone = Vec::new();
        for first in touched {
            let Some(mut region) = self.regions.remove(&first) else { continue };
            let slot = |page: u64| (page.saturating_sub(first) >> order).min(region.slots);
            let (from, to) = (slot(start), slot(end));
            let after = region.entries.split_off(&to);
            gone.extend(region.entries.split_off(&from).into_values());
            let after = after.into_iter().map(|(slot, entry)| (slot - to, entry)).collect();
            for (first, slots, entries) in [(first, from, region.entries), (end, region.slots - to, after)] {
                if slots > 0 {
                    self.regions.insert(first, PageRegion { size: region.size, slots, entries });
                }
            }
        }
        gone
    }

    /// Removes the frames of consecutive pages, mapped or not, rounded out to whole grains; returns their entries.
    /// The pages remain mapped.
    pub(crate) fn discard(&mut self, page: u64, pages: u64) -> Vec<PageTableEntry> {
        let order = self.grain_order;
        let end = page.saturating_add(pages);
        let before = self.find(page).map_or(page, |(first, _)| first);
        let mut gone = Vec::new();
        for (&first, region) in self.regions.range_mut(before..end) {
            let (from, to) = (page.saturating_sub(first) >> order, (end - first).div_ceil(1 << order));
            let mut tail = region.entries.split_off(&from);
            region.entries.append(&mut tail.split_off(&to));
            gone.extend(tail.into_values());
        }
        gone
    }

    /// Those of consecutive pages that are present, with their frames, ascending.
    pub fn pages_in(&self, page: u64, pages: u64) -> impl Iterator<Item = (u64, Frame)> {
        let (order, end) = (self.grain_order, page.saturating_add(pages));
        let before = self.find(page).map_or(page, |(first, _)| first);
        let of_region = move |(&first, region): (&u64, &'_ PageRegion)| {
            let (from, to) = (page.saturating_sub(first) >> order, (end - first).div_ceil(1 << order));
            let grains = region.entries.range(from..to).map(|(slot, entry)| (first + (slot << order), entry.frame));
            let grains: Vec<(u64, Frame)> = grains.collect();
            grains
        };
        let of_grain =
            move |(first, frame): (u64, Frame)| (0..1 << order).map(move |at| (first + u64::from(at), frame.plus(at)));
        let grains = self.regions.range(before..end.max(before)).flat_map(of_region);
        grains.flat_map(of_grain).filter(move |(at, _)| (page..end).contains(at))
    }

    /// All present pages, by the first page of each grain, ascending.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (u64, PageTableEntry)> {
        self.regions.iter().flat_map(move |(first, region)| {
            region.entries.iter().map(move |(slot, entry)| (first + (slot << self.grain_order), *entry))
        })
    }

    /// All present pages, with their frames, ascending.
    pub fn pages(&self) -> impl Iterator<Item = (u64, Frame)> {
        let of_grain = |(page, entry): (u64, PageTableEntry)| {
            (0..1 << self.grain_order).map(move |at| (page + u64::from(at), entry.frame.plus(at)))
        };
        self.entries().flat_map(of_grain)
    }

    /// Number of present pages.
    pub fn present(&self) -> u64 {
        (self.entries().count() as u64) << self.grain_order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All pages of 64-bit addresses, of which two are touched, and then all but two unmapped.
    #[test]
    fn memory_grows_with_touched_pages_only() {
        let mut space = AddressSpace::new(0);
        assert_eq!(space.map(1 << 52, PageSize::Small), 0);
        let last = (1 << 52) - 1;
        for (page, frame) in [(7, Frame(1)), (last, Frame(2))] {
            assert_eq!(space.enter(page, PageTableEntry::alone(frame)), None);
        }
        assert_eq!(space.clone().present(), 2);
        assert_eq!(space.unmap(1, last - 1), [PageTableEntry::alone(Frame(1))]);
        assert_eq!([0, 1, 7, last - 1, last].map(|page| space.is_mapped(page)), [true, false, false, false, true]);
        assert_eq!((space.frame(last), space.frame(0)), (Some(Frame(2)), None));
        assert_eq!(space.entries().collect::<Vec<_>>(), [(last, PageTableEntry::alone(Frame(2)))]);
    }
}
