//! Processes of the cores, on one kernel.

use std::collections::BTreeMap;

use dram_spec::PhysicalAddress;
use dram_spec::address::FRAME_BYTES;
use os_alloc_sim::{AddressSpace, Fault, Frame, Kernel, MemoryOperation, PageSize, ProcessId, Report};

use super::data::{Array, ArrayMemory, PagesOfEvent};

/// Reason why a program cannot continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramFault {
    /// The address is not mapped.
    #[error("address {:#x} of process {process} is not mapped", address.0)]
    NotMapped {
        /// The process, as the program numbers it.
        process: u32,
        /// The address.
        address: PhysicalAddress,
    },
    /// A page of the range is mapped.
    #[error("a page of the {bytes} bytes at {:#x} of process {process} is already mapped", address.0)]
    Mapped {
        /// The process.
        process: u32,
        /// First byte of the range.
        address: PhysicalAddress,
        /// Bytes of the range.
        bytes: u64,
    },
    /// The process does not exist.
    #[error("process {process} does not exist")]
    NoProcess {
        /// The process.
        process: u32,
    },
    /// The child of a fork exists.
    #[error("process {process} exists already")]
    ProcessExists {
        /// The process.
        process: u32,
    },
    /// The machine has no network adapter.
    #[error("the machine has no network adapter")]
    NoAdapter,
    /// A program awaits packets, and there are more receive queues than cores: packets begin to arrive once the core of
    /// each queue has awaited packets.
    #[error("packets never arrive: `network.queues` is {queues}, and the number of programs {cores}")]
    TooFewCores {
        /// Receive queues.
        queues: usize,
        /// Cores.
        cores: usize,
    },
    /// The network adapter has no such port.
    #[error("port {port} does not exist: the network adapter has {ports}")]
    NoPort {
        /// The port.
        port: usize,
        /// Ports of the adapter.
        ports: usize,
    },
    /// The receive queue of the core is full.
    #[error("the receive queue of the core holds {ring} buffers already")]
    NoRoomForBuffer {
        /// Buffers of the queue.
        ring: usize,
    },
    /// A header or a payload lies in two pages.
    #[error("the {bytes} bytes of a packet at {:#x} cross a page", address.0)]
    PacketCrossesPage {
        /// First byte.
        address: PhysicalAddress,
        /// Number of bytes.
        bytes: u64,
    },
    /// The kernel cannot serve the request.
    #[error(transparent)]
    Kernel(#[from] Fault),
}

impl ProgramFault {
    /// Suggested change.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::NotMapped { .. } => "map the address first: `map ADDRESS BYTES`",
            Self::Mapped { .. } => "map each page once",
            Self::NoProcess { .. } => {
                "a program begins as process 1; `fork` starts others, and `run` selects one that lives"
            }
            Self::ProcessExists { .. } => "give the child a number that no process has",
            Self::NoAdapter => "give the machine a network adapter, or leave out `post`, `await` and `send`",
            Self::NoPort { .. } => "ports are counted from 0",
            Self::TooFewCores { .. } => "set `network.queues` to at most the number of programs, or run more of them",
            Self::NoRoomForBuffer { .. } => "use a longer ring or post fewer buffers; core N has receive queue N",
            Self::PacketCrossesPage { .. } => "place each header and each payload within a page of 4 KiB",
            Self::Kernel(_) => "use more memory, or less of it in use before the run",
        }
    }
}

/// Consecutive pages of a program that are consecutive pages of the kernel. A copy unit of virtual
/// addresses is a copy unit of the kernel: of both numbers of a page, the remainder by the pages per
/// unit is equal.
#[derive(Clone, Copy, Debug)]
struct Range {
    pages: u64,
    /// The kernel's number of the first page.
    kernel_first: u64,
}

#[derive(Clone, Debug)]
struct Process {
    id: ProcessId,
    /// Number of its array of page table entries: the lowest that no other process of the core has.
    table: u32,
    /// By first virtual page.
    ranges: BTreeMap<u64, Range>,
}

impl Process {
    fn new(id: ProcessId) -> Process {
        Process { id, table: 0, ranges: BTreeMap::new() }
    }

    /// The kernel's number of the first page of a copy unit, if a page of the unit is mapped.
    fn kernel_unit(&self, unit: u64, pages_per_unit: u64) -> Option<u64> {
        let start = unit * pages_per_unit;
        let (first, range) = self.ranges.range(..=start + (pages_per_unit - 1)).next_back()?;
        let page = start.max(*first);
        (page - first < range.pages).then(|| (range.kernel_first + page - first) - (page - start))
    }
}

/// The processes of a core.
#[derive(Debug)]
struct Family {
    running: u32,
    processes: BTreeMap<u32, Process>,
    memory: ArrayMemory,
}

impl Family {
    fn new(first: ProcessId) -> Family {
        Family { running: 1, processes: BTreeMap::from([(1, Process::new(first))]), memory: ArrayMemory::default() }
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
        for process in ended.processes.into_values() {
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

    fn running(&self, core: usize) -> Result<(u32, &Process), ProgramFault> {
        let Family { running: process, processes, .. } = &self.families[core];
        let found = processes.get(process).ok_or(ProgramFault::NoProcess { process: *process })?;
        Ok((*process, found))
    }

    /// The running process and the kernel's number of the page of an address.
    fn page(&self, core: usize, address: PhysicalAddress) -> Result<(ProcessId, u64), ProgramFault> {
        let (number, Process { id, ranges, .. }) = self.running(core)?;
        let page = address.0 / FRAME_BYTES;
        let range = ranges.range(..=page).next_back().filter(|(first, range)| page - *first < range.pages);
        let (first, range) = range.ok_or(ProgramFault::NotMapped { process: number, address })?;
        Ok((*id, range.kernel_first + page - first))
    }

    /// Number of the running process.
    pub(super) fn running_number(&self, core: usize) -> u32 {
        self.families[core].running
    }

    /// Numbers of the processes of a core.
    pub(super) fn numbers(&self, core: usize) -> Vec<u32> {
        self.families[core].processes.keys().copied().collect()
    }

    /// The virtual pages of a process that have frames; none if it does not exist.
    pub(super) fn frames_of(&self, core: usize, process: u32) -> Vec<(u64, Frame)> {
        let Some(Process { id, ranges, .. }) = self.families[core].processes.get(&process) else { return Vec::new() };
        let by_kernel: BTreeMap<u64, (u64, u64)> =
            ranges.iter().map(|(first, range)| (range.kernel_first, (*first, range.pages))).collect();
        let virtual_page = |(page, frame): (u64, Frame)| {
            let (start, (first, pages)) = by_kernel.range(..=page).next_back()?;
            (page - start < *pages).then_some((first + (page - start), frame))
        };
        self.kernel.address_space(*id).into_iter().flat_map(AddressSpace::pages).filter_map(virtual_page).collect()
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
        let found = frame.map(|frame| (frame, self.kernel.references(frame) == 1));
        Ok(found.filter(|(_, is_writable)| *is_writable || !is_store))
    }

    /// Handles the page fault of an access; returns its copy or zeroing.
    pub(super) fn fault(
        &mut self,
        core: usize,
        address: PhysicalAddress,
        is_store: bool,
    ) -> Result<(MemoryOperation, PagesOfEvent), ProgramFault> {
        let (id, page) = self.page(core, address)?;
        let mut operations = Vec::new();
        let frame = if is_store {
            self.kernel.write(id, page, &mut operations)?
        } else {
            self.kernel.touch(id, page, &mut operations)?
        };
        let [operation] = operations[..] else { unreachable!("an access that faults needs a frame") };
        let (_, Process { table, .. }) = self.running(core)?;
        Ok((operation, PagesOfEvent::of_fault(*table, (page, frame), &operation)))
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
        self.kernel.write(id, page, &mut Vec::new())?;
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
        let pages_per_unit = self.pages_per_unit();
        let first = address.0 / FRAME_BYTES;
        let end = (address.0 + bytes).div_ceil(FRAME_BYTES);
        let (process, found) = self.running(core)?;
        let before = found.ranges.range(..end).next_back();
        if before.is_some_and(|(other, range)| first < other + range.pages) {
            return Err(ProgramFault::Mapped { process, address, bytes });
        }
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
        let process = self.families[core].processes.get_mut(&process).expect("it runs");
        for (units, kernel_first) in joined {
            let start = units.start * pages_per_unit;
            let (from, to) = (start.max(first), (units.end * pages_per_unit).min(end));
            process.ranges.insert(from, Range { pages: to - from, kernel_first: kernel_first + (from - start) });
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
        let (forked, tables) = (Process { table, ..parent.clone() }, [parent.table, table]);
        let event = self.pages(parent.id, &tables);
        let id = self.kernel.fork(parent.id)?;
        self.families[core].processes.insert(child, Process { id, ..forked });
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
