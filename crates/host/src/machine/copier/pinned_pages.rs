//! Pages that stay in their frames because a device uses their physical addresses.

use std::collections::BTreeMap;

use dram_spec::PhysicalAddress;
use dram_spec::address::FRAME_BYTES;
use rustc_hash::FxHashMap;

use super::super::bulk::Bulk;

/// A pinned page.
#[derive(Clone, Copy, Debug)]
struct Pin {
    /// Position in the order of use.
    used: u64,
    /// Copies in progress that need it.
    copies: u64,
}

/// Pages pinned and unpinned for a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    pub(super) pinned: u64,
    pub(super) unpinned: u64,
}

/// The pinned pages, at most a number of them.
#[derive(Debug)]
pub(super) struct PinnedPages {
    most: usize,
    /// By number of the frame.
    pins: FxHashMap<u64, Pin>,
    /// Frames, the one used last at the end.
    by_use: BTreeMap<u64, u64>,
    uses: u64,
}

impl PinnedPages {
    pub(super) fn new(most: usize) -> PinnedPages {
        PinnedPages { most, pins: FxHashMap::default(), by_use: BTreeMap::new(), uses: 0 }
    }

    /// Pins the pages of a copy until its release, those of the source first; returns what changed. Pages beyond
    /// the cap are unpinned, least recently used first. `None` if too many pages are in use by copies.
    ///
    /// # Panics
    /// If the copy has more pages than may be pinned.
    pub(super) fn pin(&mut self, bulk: &Bulk) -> Option<Changes> {
        let frames = frames(bulk);
        assert!(frames.len() <= self.most, "a copy has {} pages, and at most {} are pinned", frames.len(), self.most);
        let missing = frames.iter().filter(|frame| !self.pins.contains_key(frame)).count();
        let is_unused = |frame: &u64| self.pins[frame].copies == 0 && !frames.contains(frame);
        let excess = (self.pins.len() + missing).saturating_sub(self.most);
        let victims: Vec<u64> = self.by_use.values().copied().filter(is_unused).take(excess).collect();
        if victims.len() < excess {
            return None;
        }
        for frame in &victims {
            let pin = self.pins.remove(frame).expect("it is pinned");
            self.by_use.remove(&pin.used);
        }
        for frame in frames {
            let pin = self.pins.entry(frame).or_insert(Pin { used: self.uses, copies: 0 });
            self.by_use.remove(&pin.used);
            (pin.used, pin.copies) = (self.uses, pin.copies + 1);
            self.by_use.insert(self.uses, frame);
            self.uses += 1;
        }
        Some(Changes { pinned: missing as u64, unpinned: excess as u64 })
    }

    /// Ends the use of the pages of a copy, which stay pinned.
    pub(super) fn release(&mut self, bulk: &Bulk) {
        for frame in frames(bulk) {
            self.pins.get_mut(&frame).expect("pages in use stay pinned").copies -= 1;
        }
    }
}

/// The frames of a copy in the order of their last uses, those of the source before those of the destination.
fn frames(bulk: &Bulk) -> Vec<u64> {
    let mut frames = Vec::new();
    for PhysicalAddress(start) in bulk.src.into_iter().chain([bulk.dst]) {
        let of_range = start / FRAME_BYTES..=(start + (bulk.bytes - 1)) / FRAME_BYTES;
        frames.retain(|frame| !of_range.contains(frame));
        frames.extend(of_range);
    }
    frames
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A copy of a page by numbers of frames.
    fn copy(src: u64, dst: u64) -> Bulk {
        let at = |frame: u64| PhysicalAddress(frame * FRAME_BYTES);
        Bulk { src: Some(at(src)), dst: at(dst), bytes: FRAME_BYTES }
    }

    #[test]
    fn pages_beyond_the_cap_are_unpinned_least_recently_used_first() {
        let mut pages = PinnedPages::new(4);
        let mut done = |src, dst| {
            let changes = pages.pin(&copy(src, dst)).unwrap();
            pages.release(&copy(src, dst));
            (changes.pinned, changes.unpinned)
        };
        assert_eq!([done(1, 2), done(3, 4), done(1, 3)], [(2, 0), (2, 0), (0, 0)]);
        // The order of use is 2, 4, 1, 3.
        assert_eq!([done(5, 6), done(1, 3), done(2, 1)], [(2, 2), (0, 0), (1, 1)]);
    }

    #[test]
    fn pages_in_use_stay_pinned() {
        let mut pages = PinnedPages::new(3);
        assert!(pages.pin(&copy(1, 2)).is_some());
        assert_eq!(pages.pin(&copy(3, 4)), None);
        assert_eq!(pages.pin(&copy(1, 3)), Some(Changes { pinned: 1, unpinned: 0 }));
        pages.release(&copy(1, 2));
        // Page 1 is in use by the second copy.
        assert_eq!(pages.pin(&copy(4, 3)), Some(Changes { pinned: 1, unpinned: 1 }));
        assert_eq!(pages.pin(&copy(2, 3)), None);
    }

    /// Source and destination in one page; and unaligned ranges, of two pages each.
    #[test]
    fn a_page_is_pinned_once() {
        let mut pages = PinnedPages::new(4);
        let within = Bulk { src: Some(PhysicalAddress(0)), dst: PhysicalAddress(64), bytes: 64 };
        assert_eq!(pages.pin(&within), Some(Changes { pinned: 1, unpinned: 0 }));
        let unaligned = Bulk { src: Some(PhysicalAddress(100)), dst: PhysicalAddress(0x10_0064), bytes: 4096 };
        assert_eq!(pages.pin(&unaligned), Some(Changes { pinned: 3, unpinned: 0 }));
    }
}
