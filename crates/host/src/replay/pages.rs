//! The pages of a trace, and the frames that an allocator gives them.

use dram_spec::address::FRAME_BYTES;
use dram_spec::{AddressMap, PhysicalAddress};
use os_alloc_sim::{Cause, Found, Frame, HugePages, MemoryOperation, Report, Request, Traffic, Units};
use rustc_hash::FxHashMap;

use super::pieces::{DestinationPage, Piece};
use crate::allocator_settings::{AgedMemory, AllocatorError, AllocatorSettings};

/// What an allocator made of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct PageReport {
    /// The settings.
    pub settings: AllocatorSettings,
    /// The share of the frames in use before the trace began: what ageing reached.
    pub utilisation_before: f64,
    /// The unusable free space index of order 9 by then.
    pub fragmentation_before: f64,
    /// Frames handed out to pages at their first appearance, other than as a whole destination.
    pub appeared: u64,
    /// Frames handed out to destinations of copies.
    pub copied: u64,
    /// Frames handed out to destinations of fills.
    pub filled: u64,
    /// Frames freed: those of destinations that had one.
    pub freed: u64,
    /// Copies that the tallies leave out: of parts of pages, and within one range. None of them can go by FPM.
    pub copies_in_part: u64,
    /// Fills that the tallies leave out: of parts of pages.
    pub fills_in_part: u64,
    /// Fills of whole pages with another value than zero, which the tallies leave out as well.
    pub fills_of_other_values: u64,
    /// How whole pages are copied (as `copy-on-write`) and set to zero (as `demand-zero`), by what their frames allow; what is
    /// free in the end; what the reserved rows cost.
    pub allocator: Report,
}

impl PageReport {
    /// All frames handed out.
    pub const fn allocations(&self) -> u64 {
        self.appeared + self.copied + self.filled
    }
}

/// Nothing is free.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoFrame {
    /// The page that wants a frame.
    pub(super) page: PhysicalAddress,
}

/// The frame of each page. A recorded address is a name: any 64-bit one is a byte of some page.
#[derive(Debug)]
pub(super) struct Pages {
    settings: AllocatorSettings,
    memory: AgedMemory,
    /// By the number of the page; at most one entry per frame of the memory. Only looked up, so that its order does not matter.
    frames: FxHashMap<u64, Frame>,
    counts: Counts,
    traffic: Traffic,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    appeared: u64,
    copied: u64,
    filled: u64,
    freed: u64,
    copies_in_part: u64,
    fills_in_part: u64,
    fills_of_other_values: u64,
}

impl Pages {
    /// No page has a frame. A page of a trace is a frame, and so those that share rows are handed out one by one.
    pub(super) fn new(map: &AddressMap, settings: AllocatorSettings) -> Result<Pages, AllocatorError> {
        let memory = settings.memory(map, Units::Marked)?;
        Ok(Pages {
            settings,
            memory,
            frames: FxHashMap::default(),
            counts: Counts::default(),
            traffic: Traffic::default(),
        })
    }

    /// Frames that there were to hand out, and how many of them were in use before.
    pub(super) fn frames(&self) -> (u64, u64) {
        let held = self.memory.aged.held.len() as u64 * u64::from(self.memory.set.grain_frames());
        (self.memory.set.frames(), held)
    }

    /// Where a byte lies; its page is given a frame if it has none.
    pub(super) fn place(&mut self, address: PhysicalAddress) -> Result<PhysicalAddress, NoFrame> {
        let frame = if let Some(frame) = self.frame(address) {
            frame
        } else {
            self.counts.appeared += 1;
            self.allocate(address, Request::ANYWHERE)?.0
        };
        Ok(PhysicalAddress(frame.address().0 + address.0 % FRAME_BYTES))
    }

    /// Where a piece of a copy has its source and its destination, in this order.
    pub(super) fn place_copy(
        &mut self,
        src: PhysicalAddress,
        piece: &Piece,
    ) -> Result<(PhysicalAddress, PhysicalAddress), NoFrame> {
        let placed = self.place(src)?;
        if piece.page != DestinationPage::Renewed {
            self.counts.copies_in_part += 1;
            return Ok((placed, self.place(piece.dst)?));
        }
        self.release(piece.dst);
        self.counts.copied += 1;
        let source = frame_of(placed);
        let (frame, found) = self.allocate(piece.dst, Request::near(source))?;
        if piece.bytes == FRAME_BYTES {
            let cause = Cause::CopyOnWrite;
            let copy = MemoryOperation::Copy { src: source, dst: frame, frames: 1, cause, found };
            self.traffic.count(&self.memory.map, &copy);
        } else {
            self.counts.copies_in_part += 1;
        }
        Ok((placed, frame.address()))
    }

    /// Where a piece of a fill has its destination.
    pub(super) fn place_fill(&mut self, value: u8, piece: &Piece) -> Result<PhysicalAddress, NoFrame> {
        if piece.page != DestinationPage::Renewed {
            self.counts.fills_in_part += 1;
            return self.place(piece.dst);
        }
        self.release(piece.dst);
        self.counts.filled += 1;
        let (frame, _) = self.allocate(piece.dst, Request::ANYWHERE)?;
        if value == 0 {
            let zero = MemoryOperation::Zero { dst: frame, frames: 1, cause: Cause::DemandZero };
            self.traffic.count(&self.memory.map, &zero);
        } else {
            self.counts.fills_of_other_values += 1;
        }
        Ok(frame.address())
    }

    /// What became of the pages.
    pub(super) fn into_report(self) -> PageReport {
        let Pages { settings, memory: AgedMemory { map: _, set, allocator, aged }, frames: _, counts, traffic } = self;
        let Counts { appeared, copied, filled, freed, copies_in_part, fills_in_part, fills_of_other_values } = counts;
        PageReport {
            settings,
            utilisation_before: aged.utilisation,
            fragmentation_before: aged.unusable,
            appeared,
            copied,
            filled,
            freed,
            copies_in_part,
            fills_in_part,
            fills_of_other_values,
            allocator: Report {
                policy: settings.policy,
                sharing: set.sharing(),
                traffic,
                huge_pages: HugePages::default(),
                frames: set.frames(),
                free: allocator.free_blocks(),
                reservation: set.reservation(),
            },
        }
    }

    fn frame(&self, address: PhysicalAddress) -> Option<Frame> {
        self.frames.get(&number(address)).copied()
    }

    /// The frame of a page goes back: nobody will read what it holds.
    fn release(&mut self, page: PhysicalAddress) {
        if let Some(frame) = self.frames.remove(&number(page)) {
            self.memory.allocator.free(frame);
            self.counts.freed += 1;
        }
    }

    fn allocate(&mut self, address: PhysicalAddress, request: Request) -> Result<(Frame, Found), NoFrame> {
        let page = PhysicalAddress(address.0 / FRAME_BYTES * FRAME_BYTES);
        let grant = self.memory.allocator.allocate(request).ok_or(NoFrame { page })?;
        self.frames.insert(number(page), grant.frame);
        Ok((grant.frame, grant.found))
    }
}

/// The number of the page that holds an address.
const fn number(address: PhysicalAddress) -> u64 {
    address.0 / FRAME_BYTES
}

/// The frame of an address.
const fn frame_of(address: PhysicalAddress) -> Frame {
    Frame((address.0 / FRAME_BYTES) as u32)
}
