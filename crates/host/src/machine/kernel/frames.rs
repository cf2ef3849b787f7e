//! Frames that pages get without a page fault.

use dram_spec::PhysicalAddress;
use dram_spec::address::FRAME_BYTES;
use os_alloc_sim::Frame;

use super::super::clock::CoreCycle;
use super::super::core::Core;
use super::super::memory::Memory;
use super::{Kernel, ProgramFault};
use crate::defects::{Planted, is_planted};

impl Kernel {
    /// Frames of the kernel that it shares with devices.
    ///
    /// # Errors
    /// If there are not as many.
    pub fn device_frames(&mut self, count: usize) -> Result<Vec<PhysicalAddress>, ProgramFault> {
        let frames = self.processes.device_frames(count)?;
        Ok(frames.into_iter().map(Frame::address).collect())
    }

    /// Gives the pages of a range frames, and the cache the dirty lines that fit and were written
    /// last. The memory holds the contents at reset, which the program wrote.
    pub(super) fn fill(
        &mut self,
        core: &mut Core,
        memory: &mut Memory,
        (address, bytes): (PhysicalAddress, u64),
        at: CoreCycle,
    ) -> Result<(), ProgramFault> {
        self.populate(core, memory, (address, bytes), Written::Yes, at)?;
        let (mut latest, size) = (memory.caches.latest_lines(), memory.line_size());
        for virtual_line in (address.0 / size.bytes()..(address.0 + bytes).div_ceil(size.bytes())).rev() {
            if latest.is_full() {
                break;
            }
            let at = PhysicalAddress(virtual_line * size.bytes());
            let physical = self.translate(core, at, true)?.expect("the page was written");
            latest.add(size.line(physical));
        }
        latest.into_lines().for_each(|line| memory.insert_written(core.index(), line));
        Ok(())
    }

    /// Gives the pages of a range frames. If the program has written them, a shared page gets a frame of
    /// its own.
    pub(super) fn populate(
        &mut self,
        core: &Core,
        memory: &mut Memory,
        (address, bytes): (PhysicalAddress, u64),
        written: Written,
        at: CoreCycle,
    ) -> Result<(), ProgramFault> {
        let index = core.index();
        for page in address.0 / FRAME_BYTES..(address.0 + bytes).div_ceil(FRAME_BYTES) {
            let address = PhysicalAddress(page * FRAME_BYTES);
            let before = self.processes.frame(index, address, false)?;
            if before.is_some() && written == Written::No {
                continue;
            }
            let populated = self.processes.populate(index, address)?;
            if before != self.processes.frame(index, address, false)? {
                self.unit_found(index, memory, address);
            }
            if let Some(frame) = populated {
                self.clean(index, memory, frame, at);
            }
        }
        Ok(())
    }

    /// Gives a page that has no frame that of its source, which gets one, as of `present`, if it has none.
    pub(super) fn share_page(
        &mut self,
        core: &Core,
        memory: &mut Memory,
        (address, source): (PhysicalAddress, PhysicalAddress),
        at: CoreCycle,
    ) -> Result<(), ProgramFault> {
        self.populate(core, memory, (source, FRAME_BYTES), Written::No, at)?;
        self.processes.share_page(core.index(), address, source)?;
        self.shared(core.index(), memory, (address, source));
        Ok(())
    }

    /// Gives each copy unit that lies as a whole in the pages of a range new frames, for a copy of
    /// `source`. Other units keep theirs: their other pages would lose their data, and so would pages of the kernel's
    /// region be lost to the processes that share their frames.
    pub(super) fn renew(
        &mut self,
        core: &Core,
        memory: &mut Memory,
        (address, bytes): (PhysicalAddress, u64),
        source: PhysicalAddress,
        at: CoreCycle,
    ) -> Result<(), ProgramFault> {
        let pages_per_unit = self.processes.pages_per_unit();
        let (first, last) = (address.0 / FRAME_BYTES, (address.0 + (bytes - 1)) / FRAME_BYTES);
        for unit in first / pages_per_unit..=last / pages_per_unit {
            let start = unit * pages_per_unit;
            if !(is_planted(Planted::RenewedInPart) || first <= start && start + (pages_per_unit - 1) <= last) {
                continue;
            }
            let source = source.0 / FRAME_BYTES + start.saturating_sub(first);
            let (unit, source) = (PhysicalAddress(start * FRAME_BYTES), PhysicalAddress(source * FRAME_BYTES));
            if self.processes.is_shared_by_kernel(core.index(), unit)? {
                continue;
            }
            let frame = self.processes.renew(core.index(), unit, source)?;
            self.clean(core.index(), memory, frame, at);
            self.found(core.index(), memory, unit, first..=last);
        }
        Ok(())
    }

    /// Removes the lines of the copy unit that contains a frame, and that gets a new user without a
    /// copy or a zeroing, from the caches of other cores; the core that gets it writes dirty ones back.
    pub(super) fn clean(&self, core: usize, memory: &mut Memory, frame: Frame, at: CoreCycle) {
        if !self.processes.has_freed() {
            return;
        }
        let first = self.processes.first_of_unit(frame).address();
        let lines = memory.line_size().lines(first, self.processes.pages_per_unit() * FRAME_BYTES);
        memory.flush_others(core, lines.map(|(line, _)| line), memory.after_lookup(at));
    }
}

/// Whether the program has written a range before the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    Yes,
    No,
}
