//! What processes do: map, touch, fork, write, unmap, exit.

use crate::allocator::Grant;
use crate::blocks::HUGE_ORDER;
use crate::fault::Fault;
use crate::frame::Frame;
use crate::kernel::{Kernel, ProcessId};
use crate::operation::{Cause, MemoryOperation};
use crate::page_table::{AddressSpace, Entry, PageSize};

/// Frames of a huge page.
const HUGE: u32 = 1 << HUGE_ORDER;

impl Kernel {
    /// Begins a process without any pages.
    pub fn spawn(&mut self) -> ProcessId {
        self.adopt(AddressSpace::new(self.set.grain_order()))
    }

    /// Begins a process with these pages.
    pub(crate) fn adopt(&mut self, space: AddressSpace) -> ProcessId {
        let process = ProcessId(self.next_process);
        self.next_process += 1;
        self.spaces.insert(process, space);
        process
    }

    /// Maps so many pages, which get their frames when they are first touched; the first of them.
    ///
    /// Where units are handed out together, the number is rounded up to whole units.
    ///
    /// # Errors
    ///
    /// If the process does not live.
    pub fn map(&mut self, process: ProcessId, pages: u64, size: PageSize) -> Result<u64, Fault> {
        Ok(self.space_mut(process)?.map(pages, size))
    }

    /// Reads a page: the first touch gives it a frame of zeros. The frame that it has.
    ///
    /// # Errors
    ///
    /// If the process does not live, the page is not mapped, or there is no frame for it.
    pub fn touch(
        &mut self,
        process: ProcessId,
        page: u64,
        operations: &mut Vec<MemoryOperation>,
    ) -> Result<Frame, Fault> {
        let space = self.space(process)?;
        if !space.is_mapped(page) {
            return Err(Fault::NotMapped { process, page });
        }
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

    /// Writes to a page: the first touch gives it a frame of zeros, and a frame that others use too is copied first.
    /// The frame that it has then, and that nobody else uses.
    ///
    /// The last user of a frame keeps it without a copy, whoever was the first.
    ///
    /// # Errors
    ///
    /// If the process does not live, the page is not mapped, or there is no frame for it.
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
            self.space_mut(process)?.enter(page, Entry { merged: false, ..entry });
        }
        self.frame(process, page)
    }

    /// Gives a page, or the huge page that it is part of, frames of its own.
    pub(crate) fn unshare(
        &mut self,
        process: ProcessId,
        page: u64,
        entry: Entry,
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

    /// The huge page that a page is part of, and its first frame, if others use all of its frames, and it was never split.
    fn shared_huge_page(&self, process: ProcessId, page: u64) -> Result<Option<(u64, Frame)>, Fault> {
        let space = self.space(process)?;
        let Some(first) = space.huge_page(page) else { return Ok(None) };
        let whole = (first..first + u64::from(HUGE))
            .all(|page| space.entry(page).is_some_and(|entry| entry.huge && self.references(entry.frame) > 1));
        Ok(space.frame(first).filter(|_| whole).map(|src| (first, src)))
    }

    /// Begins a copy of a process that shares all its frames.
    ///
    /// # Errors
    ///
    /// If the process does not live.
    pub fn fork(&mut self, process: ProcessId) -> Result<ProcessId, Fault> {
        let space = self.space(process)?.clone();
        space.entries().for_each(|(_, entry)| self.share(entry.frame));
        Ok(self.adopt(space))
    }

    /// Unmaps consecutive pages, mapped or not. Frames that nobody else uses are freed.
    ///
    /// Where units are handed out together, a unit goes with the first of its pages.
    ///
    /// # Errors
    ///
    /// If the process does not live.
    pub fn unmap(
        &mut self,
        process: ProcessId,
        page: u64,
        pages: u64,
        operations: &mut Vec<MemoryOperation>,
    ) -> Result<(), Fault> {
        let gone = self.space_mut(process)?.unmap(page, pages);
        for entry in gone {
            self.release(entry.frame, operations);
        }
        Ok(())
    }

    /// Ends a process. Frames that nobody else uses are freed.
    ///
    /// # Errors
    ///
    /// If the process does not live.
    pub fn exit(&mut self, process: ProcessId, operations: &mut Vec<MemoryOperation>) -> Result<(), Fault> {
        let space = self.spaces.remove(&process).ok_or(Fault::NoProcess { process })?;
        space.entries().for_each(|(_, entry)| self.release(entry.frame, operations));
        Ok(())
    }

    /// Gives consecutive pages consecutive frames of their own.
    pub(crate) fn enter(&mut self, process: ProcessId, first: u64, frame: Frame, frames: u32) {
        let step = self.grain_frames();
        let space = self.spaces.get_mut(&process).expect("the event has found the process");
        for at in (0..frames).step_by(step as usize) {
            space.enter(
                first + u64::from(at),
                Entry { frame: frame.plus(at), merged: false, huge: frames == HUGE && step < HUGE },
            );
        }
    }

    /// The frame of a page that has one.
    pub(crate) fn frame(&self, process: ProcessId, page: u64) -> Result<Frame, Fault> {
        self.space(process)?.frame(page).ok_or(Fault::NotPresent { process, page })
    }
}
