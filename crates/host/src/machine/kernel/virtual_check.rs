//! Comparison of what the processes of the cores read at virtual addresses with a plain memory per
//! process.

use std::ops::RangeInclusive;

use dram_spec::PhysicalAddress;
use dram_spec::address::FRAME_BYTES;

use super::super::bulk::Bulk;
use super::super::memory::{Access, LoadOrStore, Memory, OnMiss};
use super::Kernel;
use super::processes::is_of_kernel;
use crate::virtual_memory::Owner;

impl Kernel {
    /// Checks a load of the program that was executed at a virtual address, or applies a store.
    #[cold]
    pub fn executed(&self, core: usize, memory: &mut Memory, address: PhysicalAddress, access: &Access) {
        let is_store = access.kind != LoadOrStore::Load;
        // A store past the cache writes its whole line.
        let (address, physical, bytes) = if is_store && access.on_miss == OnMiss::Bypass {
            let size = memory.line_size();
            let first = |address: PhysicalAddress| size.address(size.line(address));
            (first(address), first(access.address), size.bytes())
        } else {
            (address, access.address, access.bytes)
        };
        let (owner, Some(check)) = (self.owner(core, address), &mut memory.check) else { return };
        let now = check.expected(physical, bytes);
        if is_store {
            check.memories.write(owner, address.0, &now);
        } else {
            check.memories.compare(owner, address.0, &now);
        }
    }

    /// Applies a copy or zeroing of the program.
    pub(super) fn copied(&self, core: usize, memory: &mut Memory, bulk: &Bulk) {
        let Some(check) = &mut memory.check else { return };
        let zeros = || vec![0; bulk.bytes as usize];
        let data = bulk.src.map_or_else(zeros, |src| check.memories.read(self.owner(core, src), src.0, bulk.bytes));
        check.memories.write(self.owner(core, bulk.dst), bulk.dst.0, &data);
    }

    /// Enters the data of all pages of a copy unit, which get them with their frames, without an
    /// access.
    pub(super) fn unit_found(&self, core: usize, memory: &mut Memory, address: PhysicalAddress) {
        self.found(core, memory, address, 0..=u64::MAX);
    }

    /// Enters the data of those pages of a copy unit that are in `pages`.
    pub(super) fn found(&self, core: usize, memory: &mut Memory, address: PhysicalAddress, pages: RangeInclusive<u64>) {
        let (owner, Some(check)) = (self.owner(core, address), &mut memory.check) else { return };
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
        let (owner, Some(check)) = (self.owner(core, address), &mut memory.check) else { return };
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
        let parent = Owner::OfCore(core, self.processes.running_number(core));
        if let Some(check) = &mut memory.check {
            check.memories.fork(parent, Owner::OfCore(core, child));
        }
    }

    /// Compares the running process with its frames, before it ends.
    pub(super) fn exits(&self, core: usize, memory: &mut Memory) {
        self.compare_process(core, memory, Some(self.processes.running_number(core)));
    }

    /// Compares the mapped pages of a range with their frames, before these are released.
    pub(super) fn released(&self, core: usize, memory: &mut Memory, address: PhysicalAddress, bytes: u64) {
        let (owner, Some(check)) = (self.owner(core, address), &mut memory.check) else { return };
        for (page, frame) in self.processes.frames_of_range(core, address, bytes).unwrap_or_default() {
            check.compare_page(owner, page, frame);
        }
        check.memories.release(owner, address.0 / FRAME_BYTES..(address.0 + bytes).div_ceil(FRAME_BYTES));
    }

    /// Applies a move of the mapped pages of a range.
    pub(super) fn moved(
        &self,
        core: usize,
        memory: &mut Memory,
        (from, to): (PhysicalAddress, PhysicalAddress),
        bytes: u64,
    ) {
        let (owner, Some(check)) = (self.owner(core, from), &mut memory.check) else { return };
        let pages = from.0 / FRAME_BYTES..(from.0 + bytes).div_ceil(FRAME_BYTES);
        check.memories.move_pages(owner, pages, to.0 / FRAME_BYTES);
    }

    /// Lets the page of an address have the data of a page of the kernel's region.
    pub(super) fn shared(
        &self,
        core: usize,
        memory: &mut Memory,
        (address, source): (PhysicalAddress, PhysicalAddress),
    ) {
        let Some(check) = &mut memory.check else { return };
        let [page, source] = [address, source].map(|at| (self.owner(core, at), at.0 / FRAME_BYTES));
        check.memories.share(page, source);
    }

    /// Compares all processes of a core with their frames, before they end, unless a copy was left
    /// unfinished at the end of the run.
    pub fn compare_core(&self, core: usize, memory: &mut Memory) {
        for process in self.processes.numbers(core).into_iter().map(Some).chain([None]) {
            self.compare_process(core, memory, process);
        }
    }

    /// Compares a process, or the kernel's region.
    fn compare_process(&self, core: usize, memory: &mut Memory, process: Option<u32>) {
        let Some(check) = &mut memory.check else { return };
        let owner = process.map_or(Owner::KernelOf(core), |process| Owner::OfCore(core, process));
        if !check.is_cut.contains(&core) {
            for (page, frame) in self.processes.frames_of(core, process) {
                check.compare_page(owner, page, frame);
            }
        }
        check.memories.end(owner);
    }

    /// The running process, or the kernel for an address of its region.
    fn owner(&self, core: usize, address: PhysicalAddress) -> Owner {
        if is_of_kernel(address) {
            Owner::KernelOf(core)
        } else {
            Owner::OfCore(core, self.processes.running_number(core))
        }
    }
}
