//! Bulk copies: checkpoints, clones of virtual machines, de-duplication, migration.

use crate::allocator::{Found, Grant};
use crate::frame::Frame;
use crate::kernel::{CheckpointId, Fault, Kernel, ProcessId};
use crate::operation::{Cause, MemoryOperation};
use crate::page_table::PageTableEntry;

/// Destination of a page migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// The place of a copy of the page.
    NearSource,
    /// The place of a request without a source.
    Anywhere,
    /// The place of a copy of this frame.
    Near(Frame),
}

impl Kernel {
    /// Copies all present pages of a process to frames that are kept until the checkpoint is
    /// dropped.
    ///
    /// # Errors
    ///
    /// If the process does not exist, or too few frames are free.
    pub fn checkpoint(
        &mut self,
        process: ProcessId,
        operations: &mut Vec<MemoryOperation>,
    ) -> Result<CheckpointId, Fault> {
        let copies = self.copy_all(process, Cause::Checkpoint, operations)?;
        let checkpoint = CheckpointId(self.next_checkpoint);
        self.next_checkpoint += 1;
        self.checkpoints.insert(checkpoint, copies.into_iter().map(|(_, frame)| frame).collect());
        Ok(checkpoint)
    }

    /// Frees the frames of a checkpoint.
    ///
    /// # Errors
    ///
    /// If the checkpoint does not exist.
    pub fn drop_checkpoint(
        &mut self,
        checkpoint: CheckpointId,
        operations: &mut Vec<MemoryOperation>,
    ) -> Result<(), Fault> {
        let frames = self.checkpoints.remove(&checkpoint).ok_or(Fault::NoCheckpoint { checkpoint })?;
        for frame in frames {
            self.release(frame, operations);
        }
        Ok(())
    }

    /// Starts a copy of a process (a virtual machine) without sharing: all present pages are copied
    /// at once.
    ///
    /// # Errors
    ///
    /// If the process does not exist, or too few frames are free.
    pub fn clone_machine(
        &mut self,
        process: ProcessId,
        operations: &mut Vec<MemoryOperation>,
    ) -> Result<ProcessId, Fault> {
        let mut space = self.space(process)?.clone();
        for (page, frame) in self.copy_all(process, Cause::Clone, operations)? {
            space.enter(page, PageTableEntry::alone(frame));
        }
        Ok(self.adopt(space))
    }

    /// Copies all present pages; returns the first page of each grain and the frame of its copy.
    fn copy_all(
        &mut self,
        process: ProcessId,
        cause: Cause,
        operations: &mut Vec<MemoryOperation>,
    ) -> Result<Vec<(u64, Frame)>, Fault> {
        let entries: Vec<(u64, PageTableEntry)> = self.space(process)?.entries().collect();
        self.need(entries.len())?;
        entries.into_iter().map(|(page, entry)| Ok((page, self.copy_near(entry.frame, cause, operations)?))).collect()
    }

    /// Copies a grain to a newly allocated one near it.
    fn copy_near(&mut self, src: Frame, cause: Cause, operations: &mut Vec<MemoryOperation>) -> Result<Frame, Fault> {
        let grant = self.take(Some(src))?;
        self.copy(src, grant, cause, operations);
        Ok(grant.frame)
    }

    /// Copies a grain to an allocated one.
    fn copy(&mut self, src: Frame, grant: Grant, cause: Cause, operations: &mut Vec<MemoryOperation>) {
        let (Grant { frame: dst, found }, frames) = (grant, self.grain_frames());
        self.issue(MemoryOperation::Copy { src, dst, frames, cause, found }, operations);
    }

    /// Shares the frame of the page `kept` with the page `merged`, and frees the frame of `merged`;
    /// returns whether the two frames differed.
    ///
    /// The caller guarantees equal contents: the kernel stores none.
    ///
    /// # Errors
    ///
    /// If a process does not exist, or a page has no frame.
    pub fn deduplicate(
        &mut self,
        kept: (ProcessId, u64),
        merged: (ProcessId, u64),
        operations: &mut Vec<MemoryOperation>,
    ) -> Result<bool, Fault> {
        let present = |(process, page): (ProcessId, u64)| {
            let entry = self.space(process)?.entry(page);
            entry.map(|entry| entry.frame).ok_or(Fault::NotPresent { process, page })
        };
        let (frame, freed) = (present(kept)?, present(merged)?);
        if frame == freed {
            return Ok(false);
        }
        self.share(frame);
        for (process, page) in [kept, merged] {
            self.space_mut(process)?.enter(page, PageTableEntry { merged: true, ..PageTableEntry::alone(frame) });
        }
        self.release(freed, operations);
        Ok(true)
    }

    /// Moves a page to another frame, frees its old frame, and returns the new one.
    ///
    /// # Errors
    ///
    /// If the process does not exist, the page has no frame or shares it, or no other frame is
    /// free. (As with Linux's `MPOL_MF_MOVE`, shared pages are not moved.)
    pub fn migrate(
        &mut self,
        process: ProcessId,
        page: u64,
        to: Destination,
        operations: &mut Vec<MemoryOperation>,
    ) -> Result<Frame, Fault> {
        let entry = self.space(process)?.entry(page).ok_or(Fault::NotPresent { process, page })?;
        if self.references(entry.frame) > 1 {
            return Err(Fault::Shared { process, page });
        }
        let near = match to {
            Destination::NearSource => Some(entry.frame),
            Destination::Anywhere => None,
            Destination::Near(frame) => Some(frame),
        };
        let Grant { frame, found } = self.take(near)?;
        let found = if near == Some(entry.frame) || found == Found::Blind { found } else { Found::Unbound };
        self.copy(entry.frame, Grant { frame, found }, Cause::Migration, operations);
        self.space_mut(process)?.enter(page, PageTableEntry::alone(frame));
        self.release(entry.frame, operations);
        self.frame(process, page)
    }
}
