//! The other users of bulk copies: checkpoints, clones of virtual machines, de-duplication, migration.

use std::collections::BTreeMap;

use crate::allocator::{Found, Grant};
use crate::fault::Fault;
use crate::frame::Frame;
use crate::kernel::{CheckpointId, Kernel, ProcessId};
use crate::operation::{Cause, MemoryOperation};
use crate::page_table::Entry;

/// Where a page is moved to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// As the policy places a copy of it.
    NearSource,
    /// As the policy places anything else.
    Anywhere,
    /// As the policy places a copy of another frame.
    Near(Frame),
}

impl Kernel {
    /// Copies all pages of a process that have a frame to frames that are kept until the checkpoint is dropped.
    ///
    /// # Errors
    ///
    /// If the process does not live, or there is no room for all of it.
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
    /// If there is no such checkpoint.
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

    /// Begins a copy of a process (a virtual machine) that shares nothing: all pages are copied at once.
    ///
    /// # Errors
    ///
    /// If the process does not live, or there is no room for all of it.
    pub fn clone_machine(
        &mut self,
        process: ProcessId,
        operations: &mut Vec<MemoryOperation>,
    ) -> Result<ProcessId, Fault> {
        let mut space = self.space(process)?.clone();
        for (page, frame) in self.copy_all(process, Cause::Clone, operations)? {
            space.enter(page, Entry::alone(frame));
        }
        Ok(self.adopt(space))
    }

    /// Copies all pages that have a frame: each by its first page, and the frame of its copy.
    fn copy_all(
        &mut self,
        process: ProcessId,
        cause: Cause,
        operations: &mut Vec<MemoryOperation>,
    ) -> Result<Vec<(u64, Frame)>, Fault> {
        let entries: Vec<(u64, Entry)> = self.space(process)?.entries().collect();
        self.need(entries.len())?;
        entries.into_iter().map(|(page, entry)| Ok((page, self.copy_near(entry.frame, cause, operations)?))).collect()
    }

    /// Copies a grain to one near it.
    fn copy_near(&mut self, src: Frame, cause: Cause, operations: &mut Vec<MemoryOperation>) -> Result<Frame, Fault> {
        let grant = self.take(Some(src))?;
        self.copy(src, grant, cause, operations);
        Ok(grant.frame)
    }

    /// Copies a grain to one just taken.
    fn copy(&mut self, src: Frame, grant: Grant, cause: Cause, operations: &mut Vec<MemoryOperation>) {
        let (Grant { frame: dst, found }, frames) = (grant, self.grain_frames());
        self.issue(MemoryOperation::Copy { src, dst, frames, cause, found }, operations);
    }

    /// Lets a page share the frame of another of equal contents, and frees its own. Says whether it had one of its own.
    ///
    /// That the contents are equal is the caller's word: no contents are kept here.
    ///
    /// # Errors
    ///
    /// If a process does not live, or a page has no frame.
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
            self.space_mut(process)?.enter(page, Entry { merged: true, ..Entry::alone(frame) });
        }
        self.release(freed, operations);
        Ok(true)
    }

    /// Undoes de-duplication for all pages of a process: each that still shares its frame gets a copy.
    ///
    /// # Errors
    ///
    /// If the process does not live, or there is no room for all of it.
    pub fn undo_deduplication(
        &mut self,
        process: ProcessId,
        operations: &mut Vec<MemoryOperation>,
    ) -> Result<(), Fault> {
        let merged: Vec<(u64, Entry)> = self.space(process)?.entries().filter(|(_, entry)| entry.merged).collect();
        // The last user of a frame keeps it: of a process's own pages, too, one may.
        let mut pages = BTreeMap::new();
        for (_, entry) in &merged {
            *pages.entry(entry.frame).or_insert(0_u32) += 1;
        }
        self.need(pages.iter().map(|(&frame, &own)| own.min(self.references(frame) - 1) as usize).sum())?;
        for (page, entry) in merged {
            let frame = if self.references(entry.frame) > 1 {
                let copy = self.copy_near(entry.frame, Cause::DedupUndo, operations)?;
                self.release(entry.frame, operations);
                copy
            } else {
                entry.frame
            };
            self.space_mut(process)?.enter(page, Entry::alone(frame));
        }
        Ok(())
    }

    /// Moves a page to another frame, and frees the one that it had; the new one.
    ///
    /// # Errors
    ///
    /// If the process does not live, the page has no frame or shares it, or there is no other frame. (As with Linux's
    /// `MPOL_MF_MOVE`, what others use too stays where it is.)
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
        self.space_mut(process)?.enter(page, Entry::alone(frame));
        self.release(entry.frame, operations);
        self.frame(process, page)
    }
}
