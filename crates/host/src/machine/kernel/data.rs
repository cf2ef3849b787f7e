//! Data of the kernel that a fork, an exit or a page fault reads and writes: page table entries and
//! page descriptors.

use dram_spec::PhysicalAddress;
use dram_spec::address::FRAME_BYTES;
use os_alloc_sim::{Fault, Frame, MemoryOperation, PageSize, ProcessId};
use rustc_hash::FxHashMap;

use super::super::clock::CoreCycle;
use super::super::core::{Advance, Core, Work};
use super::super::counters::Purpose;
use super::super::memory::{Access, LineSize, LoadOrStore, Memory, OnMiss, StoreData};
use super::{Kernel, ProgramFault};

/// An array of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Array {
    /// Page table entries of a process, by page.
    Entries(u32),
    /// Page descriptors, by frame.
    Descriptors,
}

/// An element of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Datum {
    array: Array,
    index: u64,
}

impl Datum {
    /// Whether it is a page table entry.
    pub(super) const fn is_entry(&self) -> bool {
        matches!(self.array, Array::Entries(_))
    }
}

/// Data of the pages of an event, equally many of each page.
#[derive(Clone, Debug, Default)]
pub(super) struct PagesOfEvent {
    pub(super) pages: u64,
    pub(super) data: Vec<Datum>,
}

impl PagesOfEvent {
    /// The entries of some tables and the descriptor of the frame of each page, the descriptor second.
    pub(super) fn new(pages: impl Iterator<Item = (u64, Frame)>, tables: &[u32]) -> PagesOfEvent {
        let mut found = PagesOfEvent::default();
        for (page, frame) in pages {
            found.pages += 1;
            let mut entries = tables.iter().map(|&table| Datum { array: Array::Entries(table), index: page });
            found.data.extend(entries.next());
            found.data.push(Datum { array: Array::Descriptors, index: frame.0.into() });
            found.data.extend(entries);
        }
        found
    }

    /// The entry, and the descriptors of the frames before and after, of each page of a fault's copy
    /// or zeroing, one of which is given with its new frame.
    pub(super) fn of_fault(table: u32, (page, frame): (u64, Frame), operation: &MemoryOperation) -> PagesOfEvent {
        let (src, dst, frames) = match *operation {
            MemoryOperation::Copy { src, dst, frames, .. } => (Some(src), dst, frames),
            MemoryOperation::Zero { dst, frames, .. } => (None, dst, frames),
        };
        let first = page - u64::from(frame.0 - dst.0);
        let data = (0..frames).flat_map(|at| {
            let entry = Datum { array: Array::Entries(table), index: first + u64::from(at) };
            let descriptors = src.into_iter().chain([dst]).map(move |first| first.plus(at));
            let descriptors = descriptors.map(|frame| Datum { array: Array::Descriptors, index: frame.0.into() });
            [entry].into_iter().chain(descriptors)
        });
        PagesOfEvent { pages: 1, data: data.collect() }
    }
}

/// Memory of the arrays of a core, in page frames.
#[derive(Debug, Default)]
pub(super) struct ArrayMemory {
    /// Frames by page of an array.
    frames: FxHashMap<(Array, u64), Frame>,
    /// The user of the frames; none before the first one.
    owner: Option<ProcessId>,
}

impl ArrayMemory {
    /// The frame of a page of an array, and whether it is new.
    pub(super) fn frame(
        &mut self,
        kernel: &mut os_alloc_sim::Kernel,
        array: Array,
        page: u64,
    ) -> Result<(Frame, bool), Fault> {
        if let Some(&frame) = self.frames.get(&(array, page)) {
            return Ok((frame, false));
        }
        let owner = *self.owner.get_or_insert_with(|| kernel.spawn());
        let of_owner = kernel.map(owner, 1, PageSize::Small)?;
        let frame = kernel.renew(owner, of_owner, None)?;
        self.frames.insert((array, page), frame);
        Ok((frame, true))
    }
}

impl Kernel {
    /// Adds the time per page and the accesses of an event, which begins at a cycle, to the work of a
    /// core.
    pub(super) fn add_pages(
        &mut self,
        core: &mut Core,
        memory: &mut Memory,
        event: &PagesOfEvent,
        cycles: u64,
        at: CoreCycle,
    ) -> Result<(), ProgramFault> {
        for datum in &event.data {
            let bytes = match datum.array {
                Array::Entries(_) => self.settings.page_table_entry_bytes,
                Array::Descriptors => self.settings.page_descriptor_bytes,
            };
            if bytes > 0 {
                let address = self.datum_address(core.index(), memory, (*datum, bytes), at)?;
                self.data[core.index()].push_back((address, bytes));
            }
        }
        if let Some(data) = (self.data[core.index()].len() as u64).checked_div(event.pages) {
            core.add(Work::Pages { pages: event.pages, cycles, data });
        }
        Ok(())
    }

    /// The address of a datum. A page of an array gets its frame at its first use.
    fn datum_address(
        &mut self,
        core: usize,
        memory: &mut Memory,
        (datum, bytes): (Datum, u64),
        at: CoreCycle,
    ) -> Result<PhysicalAddress, ProgramFault> {
        let offset = datum.index * bytes;
        let (frame, is_new) = self.processes.array_frame(core, datum.array, offset / FRAME_BYTES)?;
        if is_new {
            self.clean(core, memory, frame, at);
        }
        Ok(PhysicalAddress(frame.address().0 + offset % FRAME_BYTES))
    }

    /// Gives a core the time of the next page of an event, and a load and a store of each datum of the
    /// page: of its first line, if it is larger than a line.
    pub fn next_page(&mut self, core: &mut Core, size: LineSize, (pages, cycles, data): (u64, u64, u64)) -> Advance {
        if pages > 1 {
            core.add(Work::Pages { pages: pages - 1, cycles, data });
        }
        for (address, bytes) in self.data[core.index()].drain(..data as usize).rev() {
            for kind in [LoadOrStore::Store(StoreData::Tag), LoadOrStore::Load] {
                let (purpose, on_miss) = (Purpose::KernelData, OnMiss::Allocate);
                let bytes = bytes.min(size.bytes());
                core.add(Work::Access(Access { address, bytes, kind, purpose, on_miss }));
            }
        }
        core.add(Work::Time(cycles));
        Advance::Done
    }
}
