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
pub(crate) struct Entry {
    pub(crate) frame: Frame,
    /// Whether de-duplication assigned the frame.
    pub(crate) merged: bool,
    /// Whether the frame was allocated as part of a huge page.
    pub(crate) huge: bool,
}

impl Entry {
    /// A small page with an unshared frame.
    pub(crate) const fn alone(frame: Frame) -> Entry {
        Entry { frame, merged: false, huge: false }
    }
}

/// Consecutive pages that were mapped together: one slot per grain, empty until the first touch.
#[derive(Clone, Debug)]
struct Region {
    size: PageSize,
    slots: Vec<Option<Entry>>,
}

/// The pages of a process, numbered from 0, in grains.
#[derive(Clone, Debug)]
pub struct AddressSpace {
    /// Regions by first page.
    regions: BTreeMap<u64, Region>,
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
            self.regions.insert(first, Region { size, slots: vec![None; slots as usize] });
        }
        first
    }

    /// The region of a page, by its first page, and the slot of the page in it.
    fn find(&self, page: u64) -> Option<(u64, usize)> {
        let (&first, region) = self.regions.range(..=page).next_back()?;
        let slot = ((page - first) >> self.grain_order) as usize;
        (slot < region.slots.len()).then_some((first, slot))
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

    pub(crate) fn entry(&self, page: u64) -> Option<Entry> {
        let (first, slot) = self.find(page)?;
        self.regions[&first].slots[slot]
    }

    /// Sets the entry of a mapped page; returns the entry before.
    pub(crate) fn enter(&mut self, page: u64, entry: Entry) -> Option<Entry> {
        let (first, slot) = self.find(page)?;
        let region = self.regions.get_mut(&first)?;
        region.slots[slot].replace(entry)
    }

    /// The first page of the huge page of a page, if that lies as a whole in one region of huge
    /// pages.
    pub(crate) fn huge_page(&self, page: u64) -> Option<u64> {
        let (first, _) = self.find(page)?;
        let region = &self.regions[&first];
        let huge = page >> HUGE_ORDER << HUGE_ORDER;
        let end = first + ((region.slots.len() as u64) << self.grain_order);
        (region.size == PageSize::Huge
            && self.grain_order <= HUGE_ORDER
            && first <= huge
            && huge + (1 << HUGE_ORDER) <= end)
            .then_some(huge)
    }

    /// Unmaps consecutive pages, mapped or not, rounded out to whole grains; returns their entries.
    pub(crate) fn unmap(&mut self, page: u64, pages: u64) -> Vec<Entry> {
        let order = self.grain_order;
        let start = page >> order << order;
        let end = page.saturating_add(pages).div_ceil(1 << order) << order;
        let first = self.find(start).map_or(start, |(first, _)| first);
        let touched: Vec<u64> = self.regions.range(first..end).map(|(&first, _)| first).collect();
        let mut gone = Vec::new();
        for first in touched {
            let Some(mut region) = self.regions.remove(&first) else { continue };
            let slot = |page: u64| (page.saturating_sub(first) >> order) as usize;
            let after = region.slots.split_off(slot(end).min(region.slots.len()));
            let within = region.slots.split_off(slot(start));
            gone.extend(within.into_iter().flatten());
            for (first, slots) in [(first, region.slots), (end, after)] {
                if !slots.is_empty() {
                    self.regions.insert(first, Region { size: region.size, slots });
                }
            }
        }
        gone
    }

    /// All present pages, by the first page of each grain, ascending.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (u64, Entry)> {
        self.regions.iter().flat_map(move |(first, region)| {
            let slots = region.slots.iter().enumerate();
            slots.filter_map(move |(slot, entry)| {
                entry.map(|entry| (first + ((slot as u64) << self.grain_order), entry))
            })
        })
    }

    /// All present pages, with their frames, ascending.
    pub fn pages(&self) -> impl Iterator<Item = (u64, Frame)> {
        let of_grain = |(page, entry): (u64, Entry)| {
            (0..1 << self.grain_order).map(move |at| (page + u64::from(at), entry.frame.plus(at)))
        };
        self.entries().flat_map(of_grain)
    }

    /// Number of present pages.
    pub fn present(&self) -> u64 {
        (self.entries().count() as u64) << self.grain_order
    }
}
