//! Comparison of what the processes of the cores read at virtual addresses with a plain memory per
//! process.

use std::ops::RangeInclusive;

use dram_spec::address::FRAME_BYTES;
use dram_spec::{LINE_BYTES, PhysicalAddress};

use super::Machine;
use crate::virtual_memory::Owner;

impl Machine {
    /// Checks a load of the program that was executed, or applies a store.
    #[cold]
    pub(super) fn executed(
        &mut self,
        index: usize,
        address: PhysicalAddress,
        physical: PhysicalAddress,
        bytes: u64,
        is_store: bool,
    ) {
        // A store past the cache writes its whole line.
        let (address, physical, bytes) = if is_store && self.cores[index].is_uncached {
            let first = |address: PhysicalAddress| PhysicalAddress(address.0 / LINE_BYTES * LINE_BYTES);
            (first(address), first(physical), LINE_BYTES)
        } else {
            (address, physical, bytes)
        };
        let (owner, Some(check)) = (self.owner(index), &mut self.check) else { return };
        let now = check.expected(physical, bytes);
        if is_store {
            check.memories.write(owner, address.0, &now);
        } else {
            check.memories.compare(owner, address.0, &now);
        }
    }

    /// Applies a copy, or without a source a zeroing, of the program.
    pub(super) fn copied(&mut self, index: usize, src: Option<PhysicalAddress>, dst: PhysicalAddress, bytes: u64) {
        let (owner, Some(check)) = (self.owner(index), &mut self.check) else { return };
        let data = src.map_or_else(|| vec![0; bytes as usize], |src| check.memories.read(owner, src.0, bytes));
        check.memories.write(owner, dst.0, &data);
    }

    /// Enters the data of all pages of a copy unit, which get them with their frames, without an
    /// access.
    pub(super) fn unit_found(&mut self, index: usize, address: PhysicalAddress) {
        self.found(index, address, 0..=u64::MAX);
    }

    /// Enters the data of the pages of a copy unit that are among some.
    pub(super) fn found(&mut self, index: usize, address: PhysicalAddress, pages: RangeInclusive<u64>) {
        let (owner, Some(check)) = (self.owner(index), &mut self.check) else { return };
        for (page, frame) in self.processes.unit_of(index, address) {
            if pages.contains(&page) {
                check.find(owner, page, frame);
            }
        }
    }

    /// Enters the data of those pages of a range, which has just been mapped, that joined a copy unit
    /// with frames.
    pub(super) fn joined(&mut self, index: usize, address: PhysicalAddress, bytes: u64) {
        let pages_per_unit = self.processes.pages_per_unit();
        let (owner, Some(check)) = (self.owner(index), &mut self.check) else { return };
        let (first, last) = (address.0 / FRAME_BYTES, (address.0 + (bytes - 1)) / FRAME_BYTES);
        let of_unit = |page: u64| {
            let start = page / pages_per_unit * pages_per_unit;
            first.max(start)..=last.min(start + (pages_per_unit - 1))
        };
        for page in of_unit(first).chain(of_unit(last)) {
            if let Ok(Some((frame, _))) = self.processes.frame(index, PhysicalAddress(page * FRAME_BYTES), false) {
                check.find(owner, page, frame);
            }
        }
    }

    /// Applies a fork of the running process.
    pub(super) fn forked(&mut self, index: usize, child: u32) {
        let parent = self.owner(index);
        if let Some(check) = &mut self.check {
            check.memories.fork(parent, Owner::OfCore(index, child));
        }
    }

    /// Compares the running process with its frames, before it ends.
    pub(super) fn exits(&mut self, index: usize) {
        let Owner::OfCore(_, process) = self.owner(index) else { return };
        self.compare_process(index, process);
    }

    /// Compares all processes of a core with their frames, before they end, unless a copy was left
    /// unfinished at the end of the run.
    pub(super) fn compare_core(&mut self, index: usize) {
        for process in self.processes.numbers(index) {
            self.compare_process(index, process);
        }
    }

    fn compare_process(&mut self, index: usize, process: u32) {
        let Some(check) = &mut self.check else { return };
        let owner = Owner::OfCore(index, process);
        if !check.is_cut.contains(&index) {
            for (page, frame) in self.processes.frames_of(index, process) {
                check.compare_page(owner, page, frame);
            }
        }
        check.memories.end(owner);
    }

    fn owner(&self, index: usize) -> Owner {
        Owner::OfCore(index, self.processes.running_number(index))
    }
}
