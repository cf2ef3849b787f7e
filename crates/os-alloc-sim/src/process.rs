//! Events of processes: map, touch, fork, write, unmap, exit.

use crate::allocator::Grant;
use crate::blocks::HUGE_ORDER;
use crate::frame::Frame;
use crate::kernel::{Fault, Kernel, ProcessId};
use crate::operation::{Cause, MemoryOperation};
use crate::page_table::{AddressSpace, PageSize, PageTableEntry};

/// Frames per huge page.
const HUGE: u32 = 1 << HUGE_ORDER;

impl Kernel {
    /// Starts a process without pages.
    pub fn spawn(&mut self) -> ProcessId {
        self.adopt(AddressSpace::new(self.set.grain_order()))
    }

    /// Starts a process with the pages of `space`.
    pub(crate) fn adopt(&mut self, space: AddressSpace) -> ProcessId {
        let process = ProcessId(self.next_process);
        self.next_process += 1;
        self.spaces.insert(process, space);
        process
    }

    /// Maps pages and returns the first of them. A page gets its frame at its first touch.
    ///
    /// If units are allocated together, the number of pages is rounded up to whole units.
    ///
    /// # Errors
    ///
    /// If the process does not exist.
    pub fn map(&mut self, process: ProcessId, pages: u64, size: PageSize) -> Result<u64, Fault> {
        Ok(self.space_mut(process)?.map(pages, size))
    }

    /// Reads a page and returns its frame. The first touch gives the page a zeroed frame.
    ///
    /// # Errors
    ///
    /// If the process does not exist, the page is not mapped, or no frame is free.
    pub fn touch(
        &mut self,
        process: ProcessId,
        page: u64,
        operations: &mut Vec<MemoryOperation>,
    ) -> Result<Frame, Fault> {
        let space = self.mapped(process, page)?;
        if let Some(frame) = space.frame(page) {
            return Ok(frame);
        }
        let untouched = |first: &u64| (*first..first + u64::from(HUGE)).all(|page| space.entry(page).is_none());
        let huge = space.huge_page(page).filter(untouched);
        self.need(1)?;
        let (grant, first, frames) = match huge.and_then(|first| Some((self.take_huge(None)?, first))) {
            Some((grant, first)) => (grant, first, HUGE),
            None => (self.take(None)?, page, self.grain_frames()),
        };
        self.enter(process, first, grant.frame, frames);
        if !self.free_frames_hold_zeros() {
            let zero = MemoryOperation::Zero { dst: grant.frame, frames, cause: Cause::DemandZero };
            self.issue(zero, operations);
        }
        self.frame(process, page)
    }

    /// Gives a mapped page without a frame a frame of the page cache, which keeps it as another user.
    /// Its contents come from a file: it is not zeroed, and a write copies it.
    ///
    /// # Errors
    ///
    /// If the process does not exist, the page is not mapped or has a frame, or no frame is free.
    pub fn map_cached(&mut self, process: ProcessId, page: u64) -> Result<Frame, Fault> {
        self.mapped_without_frame(process, page)?;
        let Grant { frame, .. } = self.take(None)?;
        self.share(frame);
        self.enter(process, page, frame, self.grain_frames());
        self.frame(process, page)
    }

    /// Gives a mapped page without a frame the frame of a page of another process, as a mapping of the page cache does;
    /// a write copies it.
    ///
    /// # Errors
    ///
    /// If a process does not exist, the page is not mapped or has a frame, or the other page has none.
    pub fn share_page(
        &mut self,
        (process, page): (ProcessId, u64),
        (other, source): (ProcessId, u64),
    ) -> Result<Frame, Fault> {
        self.mapped_without_frame(process, page)?;
        let found = self.space(other)?.entry(source).ok_or(Fault::NotPresent { process: other, page: source })?;
        self.share(found.frame);
        self.enter(process, page, found.frame, self.grain_frames());
        self.frame(process, page)
    }

    /// Gives a mapped page a new frame, which is about to be overwritten as a whole with a copy of
    /// `source`, and releases the frame that the page has.
    ///
    /// # Errors
    ///
    /// If the process does not exist, the page is not mapped, or no frame is free.
    pub fn renew(&mut self, process: ProcessId, page: u64, source: Option<Frame>) -> Result<Frame, Fault> {
        let old = self.mapped(process, page)?.entry(page);
        let Grant { frame, .. } = self.take(source)?;
        self.enter(process, page, frame, self.grain_frames());
        if let Some(old) = old {
            self.release(old.frame, &mut Vec::new());
        }
        self.frame(process, page)
    }

    /// Writes to a page and returns its frame, which no other page then uses. The first touch gives
    /// the page a zeroed frame; a shared frame is copied first.
    ///
    /// The last user of a frame keeps it without a copy, also if it was not the first user.
    ///
    /// # Errors
    ///
    /// If the process does not exist, the page is not mapped, or no frame is free.
    pub fn write(
        &mut self,
        process: ProcessId,
        page: u64,
        operations: &mut Vec<MemoryOperation>,
    ) -> Result<Frame, Fault> {
        let Some(entry) = self.space(process)?.entry(page) else {
            return self.touch(process, page, operations);
        };
        if self.references(entry.frame) > 1 {
            self.unshare(process, page, entry, operations)?;
        } else if entry.merged {
            self.space_mut(process)?.enter(page, PageTableEntry { merged: false, ..entry });
        }
        self.frame(process, page)
    }

    /// Zeroes a page in place: its neighbors in the copy unit keep their data. A page without a frame
    /// gets a zeroed unit; a shared one is copied first.
    ///
    /// # Errors
    ///
    /// As [`Kernel::write`].
    pub fn clear(
        &mut self,
        process: ProcessId,
        page: u64,
        operations: &mut Vec<MemoryOperation>,
    ) -> Result<Frame, Fault> {
        let had_frame = self.space(process)?.entry(page).is_some();
        let dst = self.write(process, page, operations)?;
        if had_frame {
            self.issue(MemoryOperation::Zero { dst, frames: 1, cause: Cause::DemandZero }, operations);
        }
        Ok(dst)
    }

    /// Gives a page, or its whole huge page, unshared frames.
    pub(crate) fn unshare(
        &mut self,
        process: ProcessId,
        page: u64,
        entry: PageTableEntry,
        operations: &mut Vec<MemoryOperation>,
    ) -> Result<(), Fault> {
        let cause = if entry.merged { Cause::DedupUndo } else { Cause::CopyOnWrite };
        let huge = self.shared_huge_page(process, page)?;
        self.need(1)?;
        let (src, grant, first, frames) =
            match huge.and_then(|(first, src)| Some((src, self.take_huge(Some(src))?, first))) {
                Some((src, grant, first)) => (src, grant, first, HUGE),
                None => (entry.frame, self.take(Some(entry.frame))?, page, self.grain_frames()),
            };
        let Grant { frame: dst, found } = grant;
        self.issue(MemoryOperation::Copy { src, dst, frames, cause, found }, operations);
        self.enter(process, first, dst, frames);
        for at in (0..frames).step_by(self.grain_frames() as usize) {
            self.release(src.plus(at), operations);
        }
        Ok(())
    }

    /// The huge page of a page and its first frame, if all its frames are shared and it was never
    /// split.
    fn shared_huge_page(&self, process: ProcessId, page: u64) -> Result<Option<(u64, Frame)>, Fault> {
        let space = self.space(process)?;
        let Some(first) = space.huge_page(page) else { return Ok(None) };
        let whole = (first..first + u64::from(HUGE))
            .all(|page| space.entry(page).is_some_and(|entry| entry.huge && self.references(entry.frame) > 1));
        Ok(space.frame(first).filter(|_| whole).map(|src| (first, src)))
    }

    /// Starts a copy of a process; both share all frames.
    ///
    /// # Errors
    ///
    /// If the process does not exist.
    pub fn fork(&mut self, process: ProcessId) -> Result<ProcessId, Fault> {
        let space = self.space(process)?.clone();
        space.entries().for_each(|(_, entry)| self.share(entry.frame));
        Ok(self.adopt(space))
    }

    /// Unmaps consecutive pages, mapped or not, and frees frames without other users.
    ///
    /// If units are allocated together, unmapping one page unmaps its whole unit.
    ///
    /// # Errors
    ///
    /// If the process does not exist.
    pub fn unmap(
        &mut self,
        process: ProcessId,
        page: u64,
        pages: u64,
        operations: &mut Vec<MemoryOperation>,
    ) -> Result<(), Fault> {
        let gone = self.space_mut(process)?.unmap(page, pages);
        self.release_all(gone, operations);
        Ok(())
    }

    /// Removes the frames of consecutive pages, which remain mapped, and frees frames without other users.
    ///
    /// If units are allocated together, discarding one page discards its whole unit.
    ///
    /// # Errors
    ///
    /// If the process does not exist.
    pub fn discard(
        &mut self,
        process: ProcessId,
        page: u64,
        pages: u64,
        operations: &mut Vec<MemoryOperation>,
    ) -> Result<(), Fault> {
        let gone = self.space_mut(process)?.discard(page, pages);
        self.release_all(gone, operations);
        Ok(())
    }

    /// Removes a user of the frame of each entry.
    fn release_all(&mut self, gone: Vec<PageTableEntry>, operations: &mut Vec<MemoryOperation>) {
        for entry in gone {
            self.release(entry.frame, operations);
        }
    }

    /// Ends a process and frees frames without other users.
    ///
    /// # Errors
    ///
    /// If the process does not exist.
    pub fn exit(&mut self, process: ProcessId, operations: &mut Vec<MemoryOperation>) -> Result<(), Fault> {
        let space = self.spaces.remove(&process).ok_or(Fault::NoProcess { process })?;
        space.entries().for_each(|(_, entry)| self.release(entry.frame, operations));
        Ok(())
    }

    /// Gives consecutive pages consecutive unshared frames.
    #[inline]
    pub(crate) fn enter(&mut self, process: ProcessId, first: u64, frame: Frame, frames: u32) {
        let step = self.grain_frames();
        let space = self.spaces.get_mut(&process).expect("the event has found the process");
        for at in (0..frames).step_by(step as usize) {
            space.enter(
                first + u64::from(at),
                PageTableEntry { frame: frame.plus(at), merged: false, huge: frames == HUGE && step < HUGE },
            );
        }
    }

    /// The pages of a process, of which this one is mapped.
    fn mapped(&self, process: ProcessId, page: u64) -> Result<&AddressSpace, Fault> {
        let space = self.space(process)?;
        if space.is_mapped(page) { Ok(space) } else { Err(Fault::NotMapped { process, page }) }
    }

    /// Checks that a page is mapped and has no frame.
    fn mapped_without_frame(&self, process: ProcessId, page: u64) -> Result<(), Fault> {
        let entry = self.mapped(process, page)?.entry(page);
        if entry.is_none() { Ok(()) } else { Err(Fault::Present { process, page }) }
    }

    /// The frame of a present page.
    pub(crate) fn frame(&self, process: ProcessId, page: u64) -> Result<Frame, Fault> {
        self.space(process)?.frame(page).ok_or(Fault::NotPresent { process, page })
    }
}
