//! Comparison of what the processes of the cores read at virtual addresses with a plain memory per
//! process.

use std::ops::RangeInclusive;

use dram_spec::PhysicalAddress;
use dram_spec::address::FRAME_BYTES;

use super::super::bulk::Bulk;
use super::super::memory::{Access, AccessKind, Memory, OnMiss};
use super::Kernel;
use crate::virtual_memory::Owner;

impl Kernel {
    /// Checks a load of the program that was executed at a virtual address, or applies a store.
    #[cold]
    pub fn executed(&self, core: usize, memory: &mut Memory, address: PhysicalAddress, access: &Access) {
        let is_store = access.kind != AccessKind::Load;
        // A store past the cache writes its whole line.
        let (address, physical, bytes) = if is_store && access.on_miss == OnMiss::Bypass {
            let size = memory.line_size();
            let first = |address: PhysicalAddress| size.address(size.line(address));
            (first(address), first(access.address), size.bytes())
        } else {
            (address, access.address, access.bytes)
        };
        let (owner, Some(check)) = (self.owner(core), &mut memory.check) else { return };
        let now = check.expected(physical, bytes);
        if is_store {
            check.memories.write(owner, address.0, &now);
        } else {
            check.memories.compare(owner, address.0, &now);
        }
    }

    /// Applies a copy or zeroing of the program.
    pub(super) fn copied(&self, core: usize, memory: &mut Memory, bulk: &Bulk) {
        let (owner, Some(check)) = (self.owner(core), &mut memory.check) else { return };
        let zeros = || vec![0; bulk.bytes as usize];
        let data = bulk.src.map_or_else(zeros, |src| check.memories.read(owner, src.0, bulk.bytes));
        check.memories.write(owner, bulk.dst.0, &data);
    }

    /// Enters the data of all pages of a copy unit, which get them with their frames, without an
    /// access.
    pub(super) fn unit_found(&self, core: usize, memory: &mut Memory, address: PhysicalAddress) {
        self.found(core, memory, address, 0..=u64::MAX);
    }

    /// Enters the data of the pages of a copy unit that are among some.
    pub(super) fn found(&self, core: usize, memory: &mut Memory, address: PhysicalAddress, pages: RangeInclusive<u64>) {
        let (owner, Some(check)) = (self.owner(core), &mut memory.check) else { return };
        for (page, frame) in self.processes.unit_of(core, address) {
            if pages.contains(&page) {
                check.find(owner, page, frame);
            }
        }
    }

    /// Enters the data of those pages of a range, which has just been mapped, that joined a copy unit
    /// with frames.
    pub(super) fn joined(&self, core: usize, memory: &mut Memory, address: PhysicalAddress, bytes: u64) {
        let pages_per_unit = self.processes.pages_per_unit();
        let (owner, Some(check)) = (self.owner(core), &mut memory.check) else { return };
        let (first, last) = (address.0 / FRAME_BYTES, (address.0 + (bytes - 1)) / FRAME_BYTES);
        let of_unit = |page: u64| {
            let start = page / pages_per_unit * pages_per_unit;
            first.max(start)..=last.min(start + (pages_per_unit - 1))
        };
        for page in of_unit(first).chain(of_unit(last)) {
            if let Ok(Some((frame, _))) = self.processes.frame(core, PhysicalAddress(page * FRAME_BYTES), false) {
                check.find(owner, page, frame);
            }
        }
    }

    /// Applies a fork of the running process.
    pub(super) fn forked(&self, core: usize, memory: &mut Memory, child: u32) {
        let parent = self.owner(core);
        if let Some(check) = &mut memory.check {
            check.memories.fork(parent, Owner::OfCore(core, child));
        }
    }

    /// Compares the running process with its frames, before it ends.
    pub(super) fn exits(&self, core: usize, memory: &mut Memory) {
        let Owner::OfCore(_, process) = self.owner(core) else { return };
        self.compare_process(core, memory, process);
    }

    /// Compares all processes of a core with their frames, before they end, unless a copy was left
    /// unfinished at the end of the run.
    pub fn compare_core(&self, core: usize, memory: &mut Memory) {
        for process in self.processes.numbers(core) {
            self.compare_process(core, memory, process);
        }
    }

    fn compare_process(&self, core: usize, memory: &mut Memory, process: u32) {
        let Some(check) = &mut memory.check else { return };
        let owner = Owner::OfCore(core, process);
        if !check.is_cut.contains(&core) {
            for (page, frame) in self.processes.frames_of(core, process) {
                check.compare_page(owner, page, frame);
            }
        }
        check.memories.end(owner);
    }

    fn owner(&self, core: usize) -> Owner {
        Owner::OfCore(core, self.processes.running_number(core))
    }
}
