//! Changes of mapped pages.

use dram_spec::PhysicalAddress;
use dram_spec::address::FRAME_BYTES;
use os_alloc_sim::{Fault, Kernel, MemoryOperation, ProcessId};

use super::super::data::Datum;
use super::{KernelProcess, PagesOfEvent, Processes, ProgramFault, Range, end_page, is_of_kernel, require_region};

impl KernelProcess {
    /// Splits the range of a page before the page, unless it begins there.
    fn split_at(&mut self, page: u64) {
        if let Some((distance, range)) = self.range(page)
            && distance > 0
        {
            self.ranges.insert(page - distance, range.part(0, distance));
            self.ranges.insert(page, range.part(distance, range.pages - distance));
        }
    }

    /// Removes the ranges of pages from one on and before another.
    fn take_out(&mut self, first: u64, end: u64) -> Vec<(u64, Range)> {
        self.split_at(first);
        self.split_at(end);
        let taken: Vec<(u64, Range)> = self.ranges_in(first, end).collect();
        self.ranges.retain(|page, _| !(first..end).contains(page));
        taken
    }
}

impl Processes {
    /// Maps the pages that contain a range to those of the kernel's region at a source.
    pub(in super::super) fn share(
        &mut self,
        core: usize,
        (address, source): (PhysicalAddress, PhysicalAddress),
        bytes: u64,
    ) -> Result<(), ProgramFault> {
        self.require_pages()?;
        for (address, is_right) in [(address, !is_of_kernel(address)), (source, is_of_kernel(source))] {
            if !is_right {
                return Err(ProgramFault::WrongRegion { address, bytes });
            }
        }
        require_same_offset(address, source)?;
        self.map(core, address, bytes)?;
        let process = self.families[core].owner_mut(address).expect("it was found");
        let range = process.ranges.get_mut(&(address.0 / FRAME_BYTES)).expect("its pages are one range");
        range.source = Some(source.0 / FRAME_BYTES);
        Ok(())
    }

    /// Unmaps the mapped pages of a range; returns those that had frames, with their entries.
    pub(in super::super) fn unmap(
        &mut self,
        core: usize,
        address: PhysicalAddress,
        bytes: u64,
    ) -> Result<PagesOfEvent, ProgramFault> {
        let event = self.release_pages(core, (address, bytes), Kernel::unmap)?;
        let process = self.families[core].owner_mut(address).expect("it was found");
        process.take_out(address.0 / FRAME_BYTES, end_page(address, bytes));
        Ok(event)
    }

    /// Takes the frames of the mapped pages of a range; returns these pages, with their entries.
    pub(in super::super) fn discard(
        &mut self,
        core: usize,
        address: PhysicalAddress,
        bytes: u64,
    ) -> Result<PagesOfEvent, ProgramFault> {
        self.release_pages(core, (address, bytes), Kernel::discard)
    }

    /// Releases the frames of a range.
    fn release_pages(
        &mut self,
        core: usize,
        (address, bytes): (PhysicalAddress, u64),
        release: impl Fn(&mut Kernel, ProcessId, u64, u64, &mut Vec<MemoryOperation>) -> Result<(), Fault>,
    ) -> Result<PagesOfEvent, ProgramFault> {
        self.require_pages()?;
        require_region(address, bytes)?;
        let (first, end) = (address.0 / FRAME_BYTES, end_page(address, bytes));
        let process = self.owner(core, address)?;
        let (id, event) = (process.id, self.event_of(process, first, end));
        let ranges: Vec<(u64, Range)> = process.ranges_in(first, end).collect();
        let mut operations = Vec::new();
        for (_, range) in ranges {
            release(&mut self.kernel, id, range.kernel_first, range.pages, &mut operations)?;
        }
        self.has_freed = true;
        assert!(operations.is_empty(), "frames keep their contents when they are freed");
        Ok(event)
    }

    /// Maps the mapped pages of a range at another address; returns those that have frames, with their entries.
    pub(in super::super) fn move_pages(
        &mut self,
        core: usize,
        (from, to): (PhysicalAddress, PhysicalAddress),
        bytes: u64,
    ) -> Result<PagesOfEvent, ProgramFault> {
        self.require_pages()?;
        for address in [from, to] {
            require_region(address, bytes)?;
        }
        if is_of_kernel(from) != is_of_kernel(to) {
            return Err(ProgramFault::WrongRegion { address: to, bytes });
        }
        require_same_offset(from, to)?;
        self.require_unmapped(core, to, bytes)?;
        let (first, end) = (from.0 / FRAME_BYTES, end_page(from, bytes));
        let mut event = self.event_of(self.owner(core, from)?, first, end);
        event.data.retain(Datum::is_entry);
        let process = self.families[core].owner_mut(from).expect("it was found");
        for (page, range) in process.take_out(first, end) {
            process.ranges.insert(page - first + to.0 / FRAME_BYTES, range);
        }
        Ok(event)
    }

    /// The pages with frames of a process from `first` to before `end`, with their entries.
    fn event_of(&self, process: &KernelProcess, first: u64, end: u64) -> PagesOfEvent {
        let Some(space) = self.kernel.address_space(process.id) else { return PagesOfEvent::default() };
        let pages = process.ranges_in(first, end);
        let present = pages.flat_map(|(_, range)| space.pages_in(range.kernel_first, range.pages));
        PagesOfEvent::new(present, &[process.table])
    }

    /// Checks that pages are allocated one by one.
    fn require_pages(&self) -> Result<(), ProgramFault> {
        match self.pages_per_unit() {
            1 => Ok(()),
            pages => Err(ProgramFault::LargeUnits { pages }),
        }
    }
}

/// Checks that two addresses have one offset within their pages.
fn require_same_offset(from: PhysicalAddress, to: PhysicalAddress) -> Result<(), ProgramFault> {
    let is_same = from.0 % FRAME_BYTES == to.0 % FRAME_BYTES;
    if is_same { Ok(()) } else { Err(ProgramFault::Unaligned { from, to }) }
}
