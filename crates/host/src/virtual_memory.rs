//! The memory that each process reads at its virtual addresses, and its comparison with the physical
//! memory.
//!
//! The reference is plain: a map from the pages of a process to their bytes, which the stores of the
//! process change, and which a fork copies. It has no frames, except that of a page whose data
//! existed before the run.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::rc::Rc;

use dram_spec::PhysicalAddress;
use dram_spec::address::FRAME_BYTES;
use os_alloc_sim::Frame;
use rowclone::Operation;

use crate::contents::Contents;
use crate::flat_memory::{FlatMemory, lines};

/// A process, or a checkpoint, which no process writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, derive_more::Display)]
pub enum Owner {
    /// A process, by the number of the kernel.
    #[display("process {_0}")]
    Process(u32),
    /// A checkpoint of a process.
    #[display("checkpoint {_0}")]
    Checkpoint(u32),
    /// A process of a core, by core and the number of the program.
    #[display("process {_1} of core {_0}")]
    OfCore(usize, u32),
    /// The kernel's region of the processes of a core.
    #[display("the kernel of core {_0}")]
    KernelOf(usize),
}

/// A byte that a process reads at a virtual address, and that differs from the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, derive_more::Display)]
#[display("{owner} reads {found:#04x} at virtual address {address:#x}, and a plain memory holds {expected:#04x}")]
pub struct WrongByte {
    /// Process.
    pub owner: Owner,
    /// Virtual address.
    pub address: u64,
    /// Value in the physical memory, at the frame of the page.
    pub found: u8,
    /// Value in the memory of the process.
    pub expected: u8,
}

/// The bytes of a page.
#[derive(Clone, Debug)]
enum PageBytes {
    /// Those at reset of the frame.
    AtReset(Frame),
    /// Those of another page, which is not [`PageBytes::Of`] itself.
    Of(Owner, u64),
    Bytes(Rc<[u8; FRAME_BYTES as usize]>),
}

/// The plain memories of all processes.
#[derive(Debug)]
pub(crate) struct ProcessMemories {
    contents: Contents,
    pages: BTreeMap<(Owner, u64), PageBytes>,
    /// The first wrong byte.
    pub(crate) wrong: Option<WrongByte>,
}

impl ProcessMemories {
    pub(crate) const fn new(contents: Contents) -> ProcessMemories {
        ProcessMemories { contents, pages: BTreeMap::new(), wrong: None }
    }

    /// Enters a page whose data existed before: those of its frame.
    pub(crate) fn find(&mut self, owner: Owner, page: u64, frame: Frame, physical: &FlatMemory) {
        let found = if physical.is_at_reset(frame) {
            PageBytes::AtReset(frame)
        } else {
            PageBytes::Bytes(Rc::new(bytes_of(physical, frame)))
        };
        self.pages.insert((owner, page), found);
    }

    /// Copies all pages of a process.
    pub(crate) fn fork(&mut self, parent: Owner, child: Owner) {
        let pages = self.of(parent).map(|(page, data)| ((child, page), data.clone())).collect::<Vec<_>>();
        self.pages.extend(pages);
    }

    /// Gives a page the data of another, which may change.
    pub(crate) fn share(&mut self, page: (Owner, u64), source: (Owner, u64)) {
        self.pages.insert(page, PageBytes::Of(source.0, source.1));
    }

    /// Removes pages. Those that have their data keep them.
    pub(crate) fn release(&mut self, owner: Owner, pages: Range<u64>) {
        if let Owner::KernelOf(_) = owner {
            self.keep_shared(owner, &pages);
        }
        let gone: Vec<u64> =
            self.pages.range((owner, pages.start)..(owner, pages.end)).map(|((_, page), _)| *page).collect();
        for page in gone {
            self.pages.remove(&(owner, page));
        }
    }

    /// Gives the pages that have the data of some other pages data of their own.
    fn keep_shared(&mut self, owner: Owner, pages: &Range<u64>) {
        let is_of = |data: &PageBytes| matches!(data, PageBytes::Of(of, page) if *of == owner && pages.contains(page));
        let kept: Vec<(Owner, u64)> = self.pages.iter().filter(|(_, data)| is_of(data)).map(|(key, _)| *key).collect();
        for key in kept {
            self.pages.insert(key, PageBytes::Bytes(self.page(key.0, key.1)));
        }
    }

    /// Moves pages to a place where no page is.
    pub(crate) fn move_pages(&mut self, owner: Owner, pages: Range<u64>, to: u64) {
        if let Owner::KernelOf(_) = owner {
            self.keep_shared(owner, &pages);
        }
        for page in pages.clone() {
            if let Some(data) = self.pages.remove(&(owner, page)) {
                self.pages.insert((owner, page - pages.start + to), data);
            }
        }
    }

    /// Removes all pages of a process.
    pub(crate) fn end(&mut self, owner: Owner) {
        let pages: Vec<u64> = self.of(owner).map(|(page, _)| page).collect();
        for page in pages {
            self.pages.remove(&(owner, page));
        }
    }

    /// Gives a page the data of another, which are equal by the assumption of the caller.
    pub(crate) fn merge(&mut self, kept: (Owner, u64), merged: (Owner, u64)) {
        match self.pages.get(&kept).cloned() {
            Some(data) => self.pages.insert(merged, data),
            None => self.pages.remove(&merged),
        };
    }

    /// Stores bytes.
    pub(crate) fn write(&mut self, owner: Owner, address: u64, bytes: &[u8]) {
        let (mut at, mut rest) = (address, bytes);
        while !rest.is_empty() {
            let (key, within) = ((owner, at / FRAME_BYTES), (at % FRAME_BYTES) as usize);
            let (now, later) = rest.split_at(rest.len().min(FRAME_BYTES as usize - within));
            if !matches!(self.pages.get(&key), Some(PageBytes::Bytes(_))) {
                self.pages.insert(key, PageBytes::Bytes(self.page(owner, key.1)));
            }
            if let Some(PageBytes::Bytes(data)) = self.pages.get_mut(&key) {
                // Only a page that another process has is copied.
                Rc::make_mut(data)[within..within + now.len()].copy_from_slice(now);
            }
            (at, rest) = (at.wrapping_add(now.len() as u64), later);
        }
    }

    /// Loads bytes.
    pub(crate) fn read(&self, owner: Owner, address: u64, bytes: u64) -> Vec<u8> {
        let mut read = Vec::with_capacity(bytes as usize);
        while (read.len() as u64) < bytes {
            let from = address.wrapping_add(read.len() as u64);
            let within = (from % FRAME_BYTES) as usize;
            let length = (FRAME_BYTES as usize - within).min(bytes as usize - read.len());
            self.read_page(owner, from / FRAME_BYTES, within..within + length, &mut read);
        }
        read
    }

    /// Appends bytes of a page.
    fn read_page(&self, owner: Owner, page: u64, bytes: Range<usize>, read: &mut Vec<u8>) {
        match self.pages.get(&(owner, page)) {
            None => read.resize(read.len() + bytes.len(), 0),
            Some(PageBytes::Bytes(data)) => read.extend_from_slice(&data[bytes]),
            Some(PageBytes::Of(owner, page)) => self.read_page(*owner, *page, bytes, read),
            Some(PageBytes::AtReset(frame)) => {
                let first = PhysicalAddress(frame.address().0 + bytes.start as u64);
                for (line, part) in lines(first, bytes.len() as u64) {
                    read.extend_from_slice(&self.contents.line_at(line)[part]);
                }
            }
        }
    }

    /// Compares bytes that a process reads.
    pub(crate) fn compare(&mut self, owner: Owner, address: u64, found: &[u8]) {
        if self.wrong.is_some() {
            return;
        }
        let expected = self.read(owner, address, found.len() as u64);
        let at = (0..found.len()).find(|&at| found[at] != expected[at]);
        self.wrong = at.map(|at| WrongByte {
            owner,
            address: address.wrapping_add(at as u64),
            found: found[at],
            expected: expected[at],
        });
    }

    /// Compares a page with its frame.
    pub(crate) fn compare_page(&mut self, owner: Owner, page: u64, frame: Frame, physical: &FlatMemory) {
        let is_untouched = matches!(self.pages.get(&(owner, page)), Some(PageBytes::AtReset(known)) if *known == frame);
        if !is_untouched || !physical.is_at_reset(frame) {
            self.compare(owner, page * FRAME_BYTES, &bytes_of(physical, frame));
        }
    }

    /// The pages of a process.
    fn of(&self, owner: Owner) -> impl Iterator<Item = (u64, &PageBytes)> {
        self.pages.range((owner, 0)..=(owner, u64::MAX)).map(|((_, page), data)| (*page, data))
    }

    fn page(&self, owner: Owner, page: u64) -> Rc<[u8; FRAME_BYTES as usize]> {
        match self.pages.get(&(owner, page)) {
            Some(PageBytes::Bytes(bytes)) => Rc::clone(bytes),
            _ => Rc::new(self.read(owner, page * FRAME_BYTES, FRAME_BYTES).try_into().expect("a page has these bytes")),
        }
    }
}

/// The bytes of a frame.
fn bytes_of(physical: &FlatMemory, frame: Frame) -> [u8; FRAME_BYTES as usize] {
    physical.read(frame.address(), FRAME_BYTES).try_into().expect("a frame is a page")
}

/// What a process does, or a request of it, in the order of the requests.
#[derive(Clone, Debug)]
pub(crate) enum ProcessEvent {
    /// A page whose data existed before the run has this frame.
    Found { owner: Owner, page: u64, frame: Frame },
    /// A frame held zeros before the run, unless a request has written it.
    FreeAndZero { frame: Frame },
    /// A process is copied.
    Fork { parent: Owner, child: Owner },
    /// The second page shares the frame of the first.
    Merge { kept: (Owner, u64), merged: (Owner, u64) },
    /// A process stores to a page of this frame a number that no other store writes, without a
    /// request.
    Mark { owner: Owner, page: u64, frame: Frame },
    /// The pages of a process have these frames.
    Compare { owner: Owner, frames: Vec<(u64, Frame)> },
    /// A process ends.
    End { owner: Owner },
    /// The next request is of the kernel: it changes no data of a process.
    Kernel,
    /// The next request is a load of a process.
    Load { owner: Owner, address: u64 },
    /// The next request is a store of a process.
    Store { owner: Owner, address: u64 },
    /// The next request copies data of a process from another address of it.
    Copy { owner: Owner, dst: u64, src: u64 },
}

impl ProcessEvent {
    const fn is_request(&self) -> bool {
        match self {
            Self::Kernel | Self::Load { .. } | Self::Store { .. } | Self::Copy { .. } => true,
            Self::Found { .. }
            | Self::FreeAndZero { .. }
            | Self::Fork { .. }
            | Self::Merge { .. }
            | Self::Mark { .. }
            | Self::Compare { .. }
            | Self::End { .. } => false,
        }
    }
}

/// Events that are not checked yet.
#[derive(Debug)]
pub(crate) struct EventLog {
    events: VecDeque<ProcessEvent>,
    is_kept: bool,
}

impl EventLog {
    /// A log that keeps events.
    pub(crate) const fn new() -> EventLog {
        EventLog { events: VecDeque::new(), is_kept: true }
    }

    /// Drops all events, those to come included.
    pub(crate) fn stop(&mut self) {
        (self.events, self.is_kept) = (VecDeque::new(), false);
    }

    /// Whether events are kept.
    pub(crate) const fn is_kept(&self) -> bool {
        self.is_kept
    }

    pub(crate) fn push(&mut self, event: ProcessEvent) {
        if self.is_kept {
            self.events.push_back(event);
        }
    }

    /// Appends the requests of operations of the kernel.
    pub(crate) fn kernel_requests(&mut self, requests: usize) {
        (0..requests).for_each(|_| self.push(ProcessEvent::Kernel));
    }
}

/// The check of a source whose processes have virtual addresses: a flat physical memory of its own,
/// to which the requests are applied in their order, and the memories of the processes.
#[derive(derive_more::Debug)]
#[debug("VirtualCheck({:?})", memories.wrong)]
pub(crate) struct VirtualCheck {
    physical: FlatMemory,
    memories: ProcessMemories,
    marks: u64,
}

impl VirtualCheck {
    pub(crate) fn new(contents: Contents) -> VirtualCheck {
        VirtualCheck { physical: FlatMemory::new(contents.clone()), memories: ProcessMemories::new(contents), marks: 0 }
    }

    /// Checks all events up to those of a request.
    pub(crate) fn request(&mut self, log: &mut EventLog, operation: &Operation, payload: Option<&[u8]>) {
        while let Some(event) = log.events.pop_front() {
            if event.is_request() {
                self.physical.apply(operation, payload);
                return self.requested(&event, operation, payload);
            }
            self.other(event);
        }
        unreachable!("each request has its event");
    }

    /// Checks the remaining events; returns the first wrong byte.
    pub(crate) fn finish(mut self, log: &mut EventLog) -> Option<WrongByte> {
        while let Some(event) = log.events.pop_front() {
            self.other(event);
        }
        self.memories.wrong
    }

    fn requested(&mut self, event: &ProcessEvent, operation: &Operation, payload: Option<&[u8]>) {
        match (event, operation) {
            (ProcessEvent::Load { owner, address }, Operation::Read { address: at, bytes }) => {
                let found = self.physical.read(*at, *bytes);
                self.memories.compare(*owner, *address, &found);
            }
            (ProcessEvent::Store { owner, address }, Operation::Write { .. }) => {
                self.memories.write(*owner, *address, payload.unwrap_or_default());
            }
            (ProcessEvent::Store { owner, address }, Operation::Init { bytes, value, .. }) => {
                self.memories.write(*owner, *address, &vec![*value; *bytes as usize]);
            }
            (ProcessEvent::Copy { owner, dst, src }, Operation::Copy { bytes, .. }) => {
                let moved = self.memories.read(*owner, *src, *bytes);
                self.memories.write(*owner, *dst, &moved);
            }
            (ProcessEvent::Kernel, _) => {}
            _ => unreachable!("{event:?} is no event of {operation}"),
        }
    }

    fn other(&mut self, event: ProcessEvent) {
        let VirtualCheck { physical, memories, marks } = self;
        match event {
            ProcessEvent::Found { owner, page, frame } => memories.find(owner, page, frame, physical),
            ProcessEvent::FreeAndZero { frame } => {
                if physical.is_at_reset(frame) {
                    physical.apply(&Operation::Init { dst: frame.address(), bytes: FRAME_BYTES, value: 0 }, None);
                }
            }
            ProcessEvent::Fork { parent, child } => memories.fork(parent, child),
            ProcessEvent::Merge { kept, merged } => memories.merge(kept, merged),
            ProcessEvent::Mark { owner, page, frame } => {
                *marks += 1;
                physical.write(frame.address(), &marks.to_le_bytes());
                memories.write(owner, page * FRAME_BYTES, &marks.to_le_bytes());
            }
            ProcessEvent::Compare { owner, frames } => {
                for (page, frame) in frames {
                    memories.compare_page(owner, page, frame, physical);
                }
            }
            ProcessEvent::End { owner } => memories.end(owner),
            ProcessEvent::Kernel
            | ProcessEvent::Load { .. }
            | ProcessEvent::Store { .. }
            | ProcessEvent::Copy { .. } => unreachable!("a run ends after all requests"),
        }
    }
}

#[cfg(test)]
mod tests {
    use dram_spec::address::MapPreset;
    use dram_spec::{AddressMap, Cycle, Cycles, Density, RawGeometry, System, Width};
    use memctrl::{Completion, RequestSource};
    use os_alloc_sim::{CopyUnit, Policy};
    use rowclone::{FaultyRows, Planner};
    use trace_io::trace::TraceReader;

    use super::*;
    use crate::defects::{PLANTED, Planted};
    use crate::workload::{
        Checkpoint, Deduplication, Fill, Fork, Gap, MachineClone, Migration, MoveTo, ProcessExits, Settings,
    };
    use crate::{AllocatorSettings, Replay, ReplayCopier, ReplaySettings, Timing, UnusableRecords};

    const BYTES: u64 = 63 * 4096;

    /// Rows of two pages.
    fn planner() -> Planner {
        let raw = RawGeometry { row_bytes: 8192, ..System::paper(1, Density::Gb1, Width::X8).geometry.raw() };
        let geometry = raw.try_into().unwrap();
        Planner::new(AddressMap::preset(geometry, MapPreset::RowInterleaved), FaultyRows::default())
    }

    fn allocator(copy_unit: CopyUnit) -> AllocatorSettings {
        AllocatorSettings { policy: Policy::SubarrayAware, seed: 1, utilization: 0.0, fragmentation: 0.0, copy_unit }
    }

    /// Completes each request when it is taken.
    fn drive<S: RequestSource>(mut sources: S) -> S {
        while let Some(arrival) = sources.next_arrival() {
            let request = sources.take(arrival).unwrap();
            let (id, source, operation) = (request.id, request.source, request.operation);
            let (first_command, done, data) = (None, Cycle(arrival.0 + 10), None);
            let served = memctrl::stats::PartTally::default();
            sources.complete(Completion { id, source, operation, arrival, first_command, done, served, data });
        }
        sources
    }

    /// The result of a workload, whose system software has a defect.
    fn made(settings: &Settings, copy_unit: CopyUnit, defect: Option<Planted>) -> Option<WrongByte> {
        let planner = planner();
        let contents = Contents::new(1, planner.map().clone());
        PLANTED.set(defect);
        let source = settings.source(&planner, Some(&allocator(copy_unit)), 3, Some(contents)).unwrap();
        let outcome = drive(source).into_outcome();
        PLANTED.set(None);
        outcome.wrong
    }

    /// The result of a replay, whose system software has a defect.
    fn replayed(trace: &str, copy_unit: CopyUnit, defect: Option<Planted>) -> Option<WrongByte> {
        let planner = planner();
        let contents = Contents::new(1, planner.map().clone());
        let settings = ReplaySettings {
            unusable: UnusableRecords::Refuse,
            clock: System::paper(1, Density::Gb1, Width::X8).clock(),
            timing: Timing::BackToBack,
            copier: ReplayCopier::Controller,
            allocator: Some(allocator(copy_unit)),
            fault: Cycles(0),
        };
        PLANTED.set(defect);
        let reader = TraceReader::new(trace.as_bytes(), None).unwrap();
        let source = Replay::new(reader, &planner, settings, Some(contents)).unwrap();
        let outcome = drive(source).into_outcome().unwrap();
        PLANTED.set(None);
        outcome.wrong
    }

    fn workloads() -> [Settings; 7] {
        let (gap, window, bytes) = (Gap::ZERO, 2, BYTES);
        [
            Settings::new(Fork { bytes, pages: 20, fill: Fill::Before, gap }),
            Settings::new(Fork { bytes, pages: 20, fill: Fill::Played, gap }),
            Settings::new(Checkpoint { bytes, checkpoints: 3, writes: 20, window, gap }),
            Settings::new(MachineClone { bytes, clones: 2, window, gap }),
            Settings::new(Migration { bytes, pages: 90, to: MoveTo::NearSource, window, gap }),
            Settings::new(Deduplication { bytes, pages: 30, writes: 40, gap }),
            Settings::new(ProcessExits { bytes, processes: 3, window, gap }),
        ]
    }

    #[test]
    fn sound_system_software_passes_under_every_workload() {
        for copy_unit in CopyUnit::ALL {
            for settings in workloads() {
                assert_eq!(made(&settings, copy_unit, None), None, "{settings:?}, {copy_unit:?}");
            }
        }
    }

    #[test]
    fn a_store_to_a_wrong_frame_is_found() {
        let [before, played, checkpoint, _, _, merged, exits] = workloads();
        for settings in [before, played, checkpoint, merged, exits] {
            let wrong = made(&settings, CopyUnit::Page, Some(Planted::WrongFrame));
            assert!(wrong.is_some_and(|wrong| wrong.found != wrong.expected), "{settings:?}");
        }
    }

    #[test]
    fn a_lost_copy_on_write_is_found_with_its_process_and_address() {
        let [fork, _, _, _, _, merged, _] = workloads();
        for settings in [fork, merged] {
            let wrong = made(&settings, CopyUnit::Page, Some(Planted::LostCopyOnWrite)).unwrap();
            // The second process has lost the data of a page.
            assert_eq!(wrong.owner, Owner::Process(1), "{settings:?}");
            assert!(wrong.address < BYTES && wrong.found != wrong.expected);
            let text = wrong.to_string();
            assert!(
                text.starts_with("process 1 reads 0x") && text.contains(&format!("{:#x}", wrong.address)),
                "{text}"
            );
        }
    }

    /// A copy of one page of a unit of two must not give the unit other frames: the neighbor would
    /// lose its data.
    #[test]
    fn a_neighbor_that_is_lost_is_found() {
        let trace = "W 0x1000
W 0x2000
W 0x3000
COPY 0x2000 0x8000 4096
R 0x3000
ZERO 0x10000 8192
                     COPY 0x20000 0x10000 8192
ZERO 0x20800 100
";
        for copy_unit in CopyUnit::ALL {
            assert_eq!(replayed(trace, copy_unit, None), None, "{copy_unit:?}");
        }
        let wrong = replayed(trace, CopyUnit::RowSet, Some(Planted::RenewedInPart)).unwrap();
        assert_eq!((wrong.owner, wrong.address / 4096), (Owner::Process(0), 3));
    }

    /// Pages of one unit of two: the second finds its frame, a page absent again is zeroed beside its
    /// neighbor, and a unit in the page cache is copied as a whole.
    #[test]
    fn recorded_faults_of_neighbors_pass() {
        let fault = |pid: u32, at: u32, address: u32, code: u32| {
            format!(
                "sh {pid} [0] 1.{at:06}: exceptions:page_fault_user: address={address:#x} ip=0x40 \
                    error_code={code:#x}\n"
            )
        };
        let faults = |pid: u32, from: u32, list: &[(u32, u32)]| -> String {
            list.iter().zip(from..).map(|(&(address, code), at)| fault(pid, at, address, code)).collect()
        };
        let before = [(0x1000, 6), (0x0, 6), (0x4000, 4), (0x5008, 7), (0x8000, 6), (0x9000, 4)];
        let after = [(0x0, 7), (0x1008, 7), (0x0, 6), (0x4000, 6), (0x9000, 6), (0x8000, 6)];
        let trace = faults(1, 0, &before)
            + "sh 1 [0] 1.000010: PERF_RECORD_FORK(2:2):(1:1)\n"
            + &faults(2, 20, &after)
            + &faults(1, 40, &[(0x1000, 6), (0x0, 7)])
            + "sh 2 [0] 1.000050: PERF_RECORD_EXIT(2:2):(1:1)\n";
        for copy_unit in CopyUnit::ALL {
            assert_eq!(replayed(&trace, copy_unit, None), None, "{copy_unit:?}");
            for defect in [Planted::LostCopyOnWrite, Planted::WrongFrame] {
                assert!(replayed(&trace, copy_unit, Some(defect)).is_some(), "{copy_unit:?}, {defect:?}");
            }
        }
    }

    #[test]
    fn a_lost_copy_of_a_recorded_fault_is_found() {
        let trace = "sh 1 [0] 1.000000: exceptions:page_fault_user: address=0x1000 ip=0x40 error_code=0x6\n\
                     sh 1 [0] 1.000001: exceptions:page_fault_user: address=0x2000 ip=0x40 error_code=0x4\n\
                     sh 1 [0] 1.000002: PERF_RECORD_FORK(2:2):(1:1)\n\
                     sh 2 [0] 1.000003: exceptions:page_fault_user: address=0x1000 ip=0x40 error_code=0x7\n\
                     sh 1 [0] 1.000004: exceptions:page_fault_user: address=0x2008 ip=0x40 error_code=0x7\n\
                     sh 2 [0] 1.000005: PERF_RECORD_EXIT(2:2):(1:1)\n";
        for copy_unit in CopyUnit::ALL {
            assert_eq!(replayed(trace, copy_unit, None), None, "{copy_unit:?}");
            for defect in [Planted::LostCopyOnWrite, Planted::WrongFrame] {
                assert!(replayed(trace, copy_unit, Some(defect)).is_some(), "{copy_unit:?}, {defect:?}");
            }
        }
    }
}
