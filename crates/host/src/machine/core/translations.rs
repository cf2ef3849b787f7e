//! Frames of recently used pages.

use dram_spec::PhysicalAddress;
use dram_spec::address::FRAME_BYTES;
use os_alloc_sim::Frame;

/// Frame of a page, and whether a store may use it.
#[derive(Clone, Copy, Debug)]
struct Translation {
    page: u64,
    frame: Frame,
    is_writable: bool,
}

/// Frames of recently used pages of the running process.
#[derive(Debug)]
pub struct Translations {
    entries: Box<[Option<Translation>]>,
}

impl Translations {
    /// Pages of 64 MiB.
    const ENTRIES: usize = 1 << 14;

    pub fn new() -> Translations {
        Translations { entries: vec![None; Self::ENTRIES].into() }
    }

    /// Physical address of a virtual one, if the page is known and allows the access.
    #[inline]
    pub fn find(&self, address: PhysicalAddress, is_store: bool) -> Option<PhysicalAddress> {
        let page = address.0 / FRAME_BYTES;
        let known = self.entries[page as usize % Self::ENTRIES].as_ref()?;
        (known.page == page && (known.is_writable || !is_store)).then(|| within(known.frame, address))
    }

    pub fn insert(&mut self, address: PhysicalAddress, (frame, is_writable): (Frame, bool)) {
        let page = address.0 / FRAME_BYTES;
        self.entries[page as usize % Self::ENTRIES] = Some(Translation { page, frame, is_writable });
    }

    pub fn clear(&mut self) {
        self.entries.fill(None);
    }
}

/// Physical address of a virtual one whose page has a frame.
pub const fn within(frame: Frame, address: PhysicalAddress) -> PhysicalAddress {
    PhysicalAddress(frame.address().0 + address.0 % FRAME_BYTES)
}
