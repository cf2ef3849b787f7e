//! The pages of a recorded trace, placed in frames by an allocator.

use os_alloc_sim::{
    Cause, Frame, FrameAllocator, FrameMap, FrameSet, MemoryOperation, Report, Request, Traffic, Units,
};
use rustc_hash::FxHashMap;

use crate::allocator_settings::{AllocatorError, AllocatorSettings};

/// The memory has no frame left for a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no frame is left for the page at {address:#x}: {pages} pages of the trace are placed")]
pub struct NoFrameLeft {
    /// The page's recorded address.
    pub address: u64,
    /// Pages that have a frame.
    pub pages: usize,
}

/// Which frame each page has. A page is 4 KiB of recorded addresses, and its recorded address is nothing but its name.
#[derive(Debug)]
pub struct Pages {
    map: FrameMap,
    set: FrameSet,
    allocator: Box<dyn FrameAllocator>,
    frames: FxHashMap<u64, Frame>,
    traffic: Traffic,
}

impl Pages {
    /// No page has a frame yet; the memory is as old as the settings say. Frames are handed out one by one, whether or not they share rows.
    ///
    /// # Errors
    /// No such age.
    pub fn new(settings: &AllocatorSettings, map: &dram_spec::AddressMap) -> Result<Pages, AllocatorError> {
        let map = FrameMap::new(map.clone());
        let set = FrameSet::new(&map, Units::Marked);
        let mut allocator = settings.policy.allocator(&map, &set, settings.seed)?;
        let age = os_alloc_sim::Age::new(settings.utilisation, settings.fragmentation)?;
        if settings.utilisation > 0.0 || settings.fragmentation > 0.0 {
            os_alloc_sim::age(&set, allocator.as_mut(), age, settings.seed);
        }
        Ok(Pages { map, set, allocator, frames: FxHashMap::default(), traffic: Traffic::default() })
    }

    /// The frame of a page, which it gets at its first appearance: from the pool with most free frames, where the policy has pools.
    ///
    /// # Errors
    /// The memory is full.
    pub fn frame(&mut self, page: u64) -> Result<Frame, NoFrameLeft> {
        if let Some(frame) = self.frames.get(&page) {
            return Ok(*frame);
        }
        let granted = self.allocator.allocate(Request::ANYWHERE).ok_or_else(|| self.full(page))?;
        self.frames.insert(page, granted.frame);
        Ok(granted.frame)
    }

    /// A page is wanted anew for a copy of another: what it held before is freed, and a frame is taken, from the source's pool if the policy has pools.
    /// Both frames.
    ///
    /// # Errors
    /// The memory is full.
    pub fn copy(&mut self, src: u64, dst: u64) -> Result<(Frame, Frame), NoFrameLeft> {
        let src = self.frame(src)?;
        let granted = self.renew(dst, Request::near(src))?;
        let (dst, found) = (granted.frame, granted.found);
        let operation = MemoryOperation::Copy { src, dst, frames: 1, cause: Cause::CopyOnWrite, found };
        self.traffic.count(&self.map, &operation);
        Ok((src, dst))
    }

    /// A page is wanted anew to be filled. Fills with zeros are counted.
    ///
    /// # Errors
    /// The memory is full.
    pub fn fill(&mut self, dst: u64, value: u8) -> Result<Frame, NoFrameLeft> {
        let dst = self.renew(dst, Request::ANYWHERE)?.frame;
        if value == 0 {
            self.traffic.count(&self.map, &MemoryOperation::Zero { dst, frames: 1, cause: Cause::DemandZero });
        }
        Ok(dst)
    }

    fn renew(&mut self, page: u64, request: Request) -> Result<os_alloc_sim::Grant, NoFrameLeft> {
        if let Some(before) = self.frames.remove(&page) {
            self.allocator.free(before);
        }
        let granted = self.allocator.allocate(request).ok_or_else(|| self.full(page))?;
        self.frames.insert(page, granted.frame);
        Ok(granted)
    }

    fn full(&self, page: u64) -> NoFrameLeft {
        NoFrameLeft { address: page * dram_spec::address::FRAME_BYTES, pages: self.frames.len() }
    }

    /// What was allocated, and how the memory was left. Copies are counted under [`Cause::CopyOnWrite`], fills under [`Cause::DemandZero`].
    pub fn report(&self) -> Report {
        Report {
            policy: self.allocator.policy(),
            sharing: self.set.sharing(),
            traffic: self.traffic,
            huge_pages: os_alloc_sim::HugePages::default(),
            frames: self.set.frames(),
            free: self.allocator.free_blocks(),
            reservation: self.set.reservation(),
        }
    }
}
