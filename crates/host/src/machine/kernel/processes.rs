//! Processes of the cores, on one kernel.

mod mappings;

use std::collections::BTreeMap;

use dram_spec::PhysicalAddress;
use dram_spec::address::FRAME_BYTES;
use os_alloc_sim::{Frame, Kernel, MemoryOperation, PageSize, ProcessId, Report};

use super::data::{Array, ArrayMemory, PagesOfEvent};
use super::fault::ProgramFault;

/// First address of the kernel's region: its memory is that of all processes of a core.
const KERNEL_REGION: u64 = 1 << 63;

/// The array of page table entries of the kernel's region.
const KERNEL_TABLE: u32 = u32::MAX;

/// Whether an address is in the kernel's region.
pub(super) const fn is_of_kernel(address: PhysicalAddress) -> bool {
    address.0 >= KERNEL_REGION
}

/// Checks that a range lies on one side of the start of the kernel's region.
fn require_region(address: PhysicalAddress, bytes: u64) -> Result<(), ProgramFault> {
    let is_sound = is_of_kernel(address) || address.0 + bytes <= KERNEL_REGION;
    if is_sound { Ok(()) } else { Err(ProgramFault::WrongRegion { address, bytes }) }
}

/// The page after a range.
const fn end_page(address: PhysicalAddress, bytes: u64) -> u64 {
    (address.0 + bytes).div_ceil(FRAME_BYTES)
}

/// Consecutive pages of a program that are consecutive pages of the kernel. A copy unit of virtual
/// addresses is a copy unit of the kernel: of both numbers of a page, the remainder by the pages per
/// unit is equal.
#[derive(Clone, Copy, Debug)]
struct Range {
    pages: u64,
    /// The kernel's number of the first page.
    kernel_first: u64,
    /// Page of the kernel's region whose frame the first page shares until it is written; that of the others follows.
    source: Option<u64>,
}

impl Range {
    /// Some of its pages.
    const fn part(self, first: u64, pages: u64) -> Range {
        let source = match self.source {
            Some(source) => Some(source + first),
            None => None,
        };
        Range { pages, kernel_first: self.kernel_first + first, source }
    }
}

#[derive(Clone, Debug)]
struct KernelProcess {
    id: ProcessId,
    /// Number of its array of page table entries: the lowest that no other process of the core has.
    table: u32,
    /// By first virtual page.
    ranges: BTreeMap<u64, Range>,
}

impl KernelProcess {
    fn new(id: ProcessId) -> KernelProcess {
        KernelProcess { id, table: 0, ranges: BTreeMap::new() }
    }

    /// The kernel's number of the first page of a copy unit, if a page of the unit is mapped.
    fn kernel_unit(&self, unit: u64, pages_per_unit: u64) -> Option<u64> {
        let start = unit * pages_per_unit;
        let (first, range) = self.ranges.range(..=start + (pages_per_unit - 1)).next_back()?;
        let page = start.max(*first);
        (page - first < range.pages).then(|| (range.kernel_first + page - first) - (page - start))
    }

    /// The range of a page, with the distance of the page from its first one.
    fn range(&self, page: u64) -> Option<(u64, Range)> {
        let (first, range) = self.ranges.range(..=page).next_back()?;
        (page - first < range.pages).then_some((page - first, *range))
    }

    /// The parts of ranges in the pages from `first` to before `end`, by their first pages.
    fn ranges_in(&self, first: u64, end: u64) -> impl Iterator<Item = (u64, Range)> {
        let before = self.range(first).map_or(first, |(distance, _)| first - distance);
        self.ranges.range(before..end).map(move |(&start, range)| {
            let (from, to) = (start.max(first), (start + range.pages).min(end));
            (from, range.part(from - start, to - from))
        })
    }
}

/// The processes of a core.
#[derive(Debug)]
struct Family {
    running: u32,
    processes: BTreeMap<u32, KernelProcess>,
    /// The memory of the kernel; none before its first page.
    kernel: Option<KernelProcess>,
    memory: ArrayMemory,
}

impl Family {
    fn new(first: ProcessId) -> Family {
        let processes = BTreeMap::from([(1, KernelProcess::new(first))]);
        Family { running: 1, processes, kernel: None, memory: ArrayMemory::default() }
    }

    /// The running process, or the kernel for an address of its region.
    fn owner_mut(&mut self, address: PhysicalAddress) -> Option<&mut KernelProcess> {
        if is_of_kernel(address) { self.kernel.as_mut() } else { self.processes.get_mut(&self.running) }
    }
}

/// The processes of all cores. A process runs on one core, as do its children.
#[derive(Debug)]
pub(super) struct Processes {
    kernel: Kernel,
    families: Vec<Family>,
    /// Whether a frame may have had an earlier user.
    has_freed: bool,
}

impl Processes {
    /// Starts process 1 of each core.
    pub(super) fn new(mut kernel: Kernel, cores: usize) -> Processes {
        let families = (0..cores).map(|_| Family::new(kernel.spawn())).collect();
        Processes { kernel, families, has_freed: false }
    }

    /// Ends all processes of a core without cost, and starts process 1 again.
    pub(super) fn restart(&mut self, core: usize) {
        let family = &mut self.families[core];
        let ended = std::mem::replace(family, Family::new(self.kernel.spawn()));
        family.memory = ended.memory;
        for process in ended.processes.into_values().chain(ended.kernel) {
            self.kernel.exit(process.id, &mut Vec::new()).expect("the process lives");
        }
        self.has_freed = true;
    }

    /// Whether a frame may have had an earlier user, whose lines are in a cache.
    pub(super) const fn has_freed(&self) -> bool {
        self.has_freed
    }

    /// Counts of the kernel.
    pub(super) fn report(&self) -> Report {
        self.kernel.report()
    }

    fn running(&self, core: usize) -> Result<(u32, &KernelProcess), ProgramFault> {
        let Family { running: process, processes, .. } = &self.families[core];
        let found = processes.get(process).ok_or(ProgramFault::NoProcess { process: *process })?;
        Ok((*process, found))
    }

    /// The running process, or the kernel for an address of its region.
    fn owner(&self, core: usize, address: PhysicalAddress) -> Result<&KernelProcess, ProgramFault> {
        let family = &self.families[core];
        if is_of_kernel(address) {
            let process = family.running;
            return family.kernel.as_ref().ok_or(ProgramFault::NotMapped { process, address });
        }
        self.running(core).map(|(_, process)| process)
    }

    /// The process and the kernel's number of the page of an address.
    fn page(&self, core: usize, address: PhysicalAddress) -> Result<(ProcessId, u64), ProgramFault> {
        let (process, page) = (self.owner(core, address)?, address.0 / FRAME_BYTES);
        match process.range(page) {
            Some((distance, range)) => Ok((process.id, range.kernel_first + distance)),
            None => Err(ProgramFault::NotMapped { process: self.running_number(core), address }),
        }
    }

    /// The page of the kernel's region whose frame the page of an address shares at its first access.
    pub(super) fn source_of(
        &self,
        core: usize,
        address: PhysicalAddress,
    ) -> Result<Option<PhysicalAddress>, ProgramFault> {
        if self.frame(core, address, false)?.is_some() {
            return Ok(None);
        }
        let found = self.owner(core, address)?.range(address.0 / FRAME_BYTES);
        let source = found.and_then(|(distance, range)| Some(range.source? + distance));
        Ok(source.map(|page| PhysicalAddress(page * FRAME_BYTES)))
    }

    /// Gives the page of an address, which has no frame, that of a page of the kernel's region, which has one.
    pub(super) fn share_page(
        &mut self,
        core: usize,
        address: PhysicalAddress,
        source: PhysicalAddress,
    ) -> Result<(), ProgramFault> {
        self.kernel.share_page(self.page(core, address)?, self.page(core, source)?)?;
        Ok(())
    }

    /// Number of the running process.
    pub(super) fn running_number(&self, core: usize) -> u32 {
        self.families[core].running
    }

    /// Numbers of the processes of a core.
    pub(super) fn numbers(&self, core: usize) -> Vec<u32> {
        self.families[core].processes.keys().copied().collect()
    }

    /// The virtual pages of a process, or of the kernel's region, that have frames; none if it does not exist.
    pub(super) fn frames_of(&self, core: usize, process: Option<u32>) -> Vec<(u64, Frame)> {
        let family = &self.families[core];
        let process = process.map_or(family.kernel.as_ref(), |number| family.processes.get(&number));
        process.map_or_else(Vec::new, |process| self.frames_in(process, 0, u64::MAX))
    }

    /// The virtual pages of a range that have frames.
    pub(super) fn frames_of_range(
        &self,
        core: usize,
        address: PhysicalAddress,
        bytes: u64,
    ) -> Result<Vec<(u64, Frame)>, ProgramFault> {
        Ok(self.frames_in(self.owner(core, address)?, address.0 / FRAME_BYTES, end_page(address, bytes)))
    }

    /// The virtual pages with frames of a process from `first` to before `end`.
    fn frames_in(&self, process: &KernelProcess, first: u64, end: u64) -> Vec<(u64, Frame)> {
        let Some(space) = self.kernel.address_space(process.id) else { return Vec::new() };
        let of_range = |(from, range): (u64, Range)| {
            let pages = space.pages_in(range.kernel_first, range.pages);
            pages.map(move |(page, frame)| (from + (page - range.kernel_first), frame))
        };
        process.ranges_in(first, end).flat_map(of_range).collect()
    }

    /// The pages of the running process in the copy unit of an address, with their frames.
    pub(super) fn unit_of(&self, core: usize, address: PhysicalAddress) -> Vec<(u64, Frame)> {
        let (set, page) = (self.kernel.frame_set(), address.0 / FRAME_BYTES);
        let (others, last) = (u64::from(set.grain_frames()) - 1, u64::MAX / FRAME_BYTES);
        let frame = |page: u64| Some(self.frame(core, PhysicalAddress(page * FRAME_BYTES), false).ok()??.0);
        let unit = frame(page).map(|frame| set.first_of_grain(frame));
        let near = page.saturating_sub(others)..=(page + others).min(last);
        let of_unit = |frame: &Frame| Some(set.first_of_grain(*frame)) == unit;
        near.filter_map(|page| frame(page).filter(of_unit).map(|frame| (page, frame))).collect()
    }

    /// The frame of an address, and whether a store may use it; `None` if an access faults.
    pub(super) fn frame(
        &self,
        core: usize,
        address: PhysicalAddress,
        is_store: bool,
    ) -> Result<Option<(Frame, bool)>, ProgramFault> {
        let (id, page) = self.page(core, address)?;
        let frame = self.kernel.address_space(id).and_then(|space| space.frame(page));
        // The page cache is written in place: its pages remain those of the processes that share them.
        let found = frame.map(|frame| (frame, is_of_kernel(address) || self.kernel.references(frame) == 1));
        Ok(found.filter(|(_, is_writable)| *is_writable || !is_store))
    }

    /// Handles the page fault of an access; returns its copy or zeroing.
    pub(super) fn fault(
        &mut self,
        core: usize,
        address: PhysicalAddress,
        is_store: bool,
    ) -> Result<(Option<MemoryOperation>, PagesOfEvent), ProgramFault> {
        let (id, page) = self.page(core, address)?;
        let table = self.owner(core, address)?.table;
        let mut operations = Vec::new();
        let frame = if is_store {
            self.kernel.write(id, page, &mut operations)?
        } else {
            self.kernel.touch(id, page, &mut operations)?
        };
        Ok(match operations[..] {
            // The page shares a frame that its source has.
            [] => (None, PagesOfEvent::new([(page, frame)].into_iter(), &[table])),
            [operation] => (Some(operation), PagesOfEvent::of_fault(table, (page, frame), &operation)),
            _ => unreachable!("an access needs one frame"),
        })
    }

    /// The frame of a page of an array of the kernel's data, and whether it is new.
    pub(super) fn array_frame(&mut self, core: usize, array: Array, page: u64) -> Result<(Frame, bool), ProgramFault> {
        Ok(self.families[core].memory.frame(&mut self.kernel, array, page)?)
    }

    /// Frames of a process of the kernel, which keeps them.
    pub(super) fn device_frames(&mut self, count: usize) -> Result<Vec<Frame>, ProgramFault> {
        let mut frames = Vec::with_capacity(count);
        if count > 0 {
            let owner = self.kernel.spawn();
            for _ in 0..count {
                let page = self.kernel.map(owner, 1, PageSize::Small)?;
                frames.push(self.kernel.renew(owner, page, None)?);
            }
        }
        Ok(frames)
    }

    /// Gives the page of an address an unshared frame, without a page fault; returns the frame if
    /// the page had none.
    pub(super) fn populate(&mut self, core: usize, address: PhysicalAddress) -> Result<Option<Frame>, ProgramFault> {
        let (id, page) = self.page(core, address)?;
        if self.kernel.address_space(id).is_some_and(|space| space.frame(page).is_none()) {
            return Ok(Some(self.kernel.renew(id, page, None)?));
        }
        if !is_of_kernel(address) {
            self.kernel.write(id, page, &mut Vec::new())?;
        }
        Ok(None)
    }

    /// Gives the copy unit that begins at an address new frames, for a copy of `source`; returns the
    /// first one.
    pub(super) fn renew(
        &mut self,
        core: usize,
        unit: PhysicalAddress,
        source: PhysicalAddress,
    ) -> Result<Frame, ProgramFault> {
        let near = self.frame(core, source, false)?.map(|(frame, _)| self.kernel.frame_set().first_of_grain(frame));
        let (id, page) = self.page(core, unit)?;
        self.has_freed = true;
        Ok(self.kernel.renew(id, page, near)?)
    }

    /// Whether a page is one of the kernel's region whose frame processes share.
    pub(super) fn is_shared_by_kernel(&self, core: usize, address: PhysicalAddress) -> Result<bool, ProgramFault> {
        let frame = if is_of_kernel(address) { self.frame(core, address, false)? } else { None };
        Ok(frame.is_some_and(|(frame, _)| self.kernel.references(frame) > 1))
    }

    /// Pages per copy unit.
    pub(super) fn pages_per_unit(&self) -> u64 {
        self.kernel.frame_set().grain_frames().into()
    }

    /// First frame of the copy unit of a frame.
    pub(super) fn first_of_unit(&self, frame: Frame) -> Frame {
        self.kernel.frame_set().first_of_grain(frame)
    }

    /// Checks that all pages of a range are mapped.
    pub(super) fn require_mapped(&self, core: usize, address: PhysicalAddress, bytes: u64) -> Result<(), ProgramFault> {
        (address.0 / FRAME_BYTES..=(address.0 + (bytes - 1)) / FRAME_BYTES)
            .try_for_each(|page| self.page(core, PhysicalAddress(page * FRAME_BYTES)).map(|_| ()))
    }

    /// Maps the pages that contain a range. A page of a copy unit of which another page is mapped
    /// joins the kernel's unit, and has a frame if the unit has.
    pub(super) fn map(&mut self, core: usize, address: PhysicalAddress, bytes: u64) -> Result<(), ProgramFault> {
        require_region(address, bytes)?;
        if is_of_kernel(address) && self.families[core].kernel.is_none() {
            let kernel = KernelProcess { table: KERNEL_TABLE, ..KernelProcess::new(self.kernel.spawn()) };
            self.families[core].kernel = Some(kernel);
        }
        self.require_unmapped(core, address, bytes)?;
        let pages_per_unit = self.pages_per_unit();
        let (first, end) = (address.0 / FRAME_BYTES, end_page(address, bytes));
        let found = self.owner(core, address)?;
        let (mut units, id) = (first / pages_per_unit..end.div_ceil(pages_per_unit), found.id);
        // Units that another range has begun.
        let mut joined = Vec::new();
        for unit in [units.start, units.end - 1] {
            if let Some(kernel_first) = found.kernel_unit(unit, pages_per_unit)
                && units.contains(&unit)
            {
                joined.push((unit..unit + 1, kernel_first));
                units = if unit == units.start { unit + 1..units.end } else { units.start..unit };
            }
        }
        if !units.is_empty() {
            let pages = (units.end - units.start) * pages_per_unit;
            joined.push((units, self.kernel.map(id, pages, PageSize::Small)?));
        }
        let process = self.families[core].owner_mut(address).expect("it was found");
        for (units, kernel_first) in joined {
            let start = units.start * pages_per_unit;
            let (from, to) = (start.max(first), (units.end * pages_per_unit).min(end));
            let range = Range { pages: to - from, kernel_first: kernel_first + (from - start), source: None };
            process.ranges.insert(from, range);
        }
        Ok(())
    }

    /// Checks that no page of a range is mapped.
    fn require_unmapped(&self, core: usize, address: PhysicalAddress, bytes: u64) -> Result<(), ProgramFault> {
        let before = self.owner(core, address)?.ranges.range(..end_page(address, bytes)).next_back();
        if before.is_some_and(|(other, range)| address.0 / FRAME_BYTES < other + range.pages) {
            return Err(ProgramFault::Mapped { process: self.running_number(core), address, bytes });
        }
        Ok(())
    }

    /// Forks the running process; returns its pages that have frames, with the entries of both.
    pub(super) fn fork(&mut self, core: usize, child: u32) -> Result<PagesOfEvent, ProgramFault> {
        let processes = &self.families[core].processes;
        if processes.contains_key(&child) {
            return Err(ProgramFault::ProcessExists { process: child });
        }
        let is_free = |table: &u32| processes.values().all(|process| process.table != *table);
        let table = (0..=u32::MAX).find(is_free).expect("processes are fewer than numbers");
        let (_, parent) = self.running(core)?;
        let (forked, tables) = (KernelProcess { table, ..parent.clone() }, [parent.table, table]);
        let event = self.pages(parent.id, &tables);
        let id = self.kernel.fork(parent.id)?;
        self.families[core].processes.insert(child, KernelProcess { id, ..forked });
        Ok(event)
    }

    /// The pages of a process that have frames, with their entries in some tables.
    fn pages(&self, process: ProcessId, tables: &[u32]) -> PagesOfEvent {
        let pages = self.kernel.address_space(process).into_iter().flat_map(os_alloc_sim::AddressSpace::pages);
        PagesOfEvent::new(pages, tables)
    }

    /// Switches a core to one of its processes.
    pub(super) fn run(&mut self, core: usize, process: u32) -> Result<(), ProgramFault> {
        let family = &mut self.families[core];
        if !family.processes.contains_key(&process) {
            return Err(ProgramFault::NoProcess { process });
        }
        family.running = process;
        Ok(())
    }

    /// Ends the running process; returns its pages that had frames, with their entries.
    pub(super) fn exit(&mut self, core: usize) -> Result<PagesOfEvent, ProgramFault> {
        let (number, process) = self.running(core)?;
        let (id, event) = (process.id, self.pages(process.id, &[process.table]));
        let mut operations = Vec::new();
        self.kernel.exit(id, &mut operations)?;
        self.has_freed = true;
        assert!(operations.is_empty(), "frames keep their contents when they are freed");
        self.families[core].processes.remove(&number);
        Ok(event)
    }
}
