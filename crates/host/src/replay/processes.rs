//! Recorded events of processes, played on a simulated kernel.

use dram_spec::PhysicalAddress;
use dram_spec::address::FRAME_BYTES;
use os_alloc_sim::{Frame, HUGE_ORDER, Kernel, MemoryOperation, PageSize, ProcessId};
use rowclone::Operation;
use rustc_hash::{FxHashMap, FxHashSet};
use trace_io::trace::{FaultKind, OsEvent};

use super::pages::{NoFrame, PageReport};
use crate::aged_memory::AllocatorSettings;
use crate::defects::{is_executed, stored_to};
use crate::virtual_memory::{EventLog, Owner, ProcessEvent};
use crate::workload::request;

/// The kernel, and the recorded processes on it.
///
/// - A write to an absent page gets a zeroed frame. (The recording does not tell a page of a file,
///   which is copied instead.) A page that has a frame was unmapped since; its frame is freed first.
/// - A read of an absent page gets a frame of the page cache, without traffic.
/// - A write to a write-protected page copies the page, unless its frame has no other user. A page
///   that the recording has not shown before lies in the page cache.
/// - Where the copy unit is larger than a page, an event gives frames to the aligned unit of virtual
///   addresses around the page. A later first fault of another page of the unit finds its frame. An
///   absent page that was shown before, in a unit with other shown pages, is zeroed in place.
#[derive(Debug)]
pub(super) struct RecordedProcesses {
    settings: AllocatorSettings,
    kernel: Kernel,
    by_pid: FxHashMap<u32, ReplayedProcess>,
    before: Before,
    /// Pages that got a frame of the page cache.
    cached: u64,
    /// Pages zeroed in place.
    cleared: u64,
    /// What processes do, for the check of virtual addresses.
    pub(super) log: EventLog,
}

/// Owner of the pages of a process. A recorded page has the number of the kernel's page.
const fn owner(process: ProcessId) -> Owner {
    Owner::Process(process.0)
}

/// A process of the kernel.
#[derive(Clone, Debug)]
struct ReplayedProcess {
    id: ProcessId,
    /// The kernel's first page of each copy unit.
    units: FxHashMap<u64, u64>,
    /// Pages that the recording has shown.
    shown: FxHashSet<u64>,
}

impl ReplayedProcess {
    fn new(id: ProcessId) -> ReplayedProcess {
        ReplayedProcess { id, units: FxHashMap::default(), shown: FxHashSet::default() }
    }
}

/// The memory before the trace.
#[derive(Clone, Copy, Debug)]
struct Before {
    free: u64,
    utilization: f64,
    fragmentation: f64,
}

impl RecordedProcesses {
    /// Starts with the kernel of these settings, which has no processes.
    pub(super) fn new(settings: AllocatorSettings, kernel: Kernel) -> RecordedProcesses {
        let (frames, free) = (kernel.frame_set().frames(), kernel.allocator().free_frames());
        let before = Before {
            free,
            utilization: (frames - free) as f64 / frames as f64,
            fragmentation: kernel.allocator().free_blocks().unusable(HUGE_ORDER),
        };
        RecordedProcesses {
            settings,
            kernel,
            by_pid: FxHashMap::default(),
            before,
            cached: 0,
            cleared: 0,
            log: EventLog::new(),
        }
    }

    /// Frames, and frames in use before the trace.
    pub(super) fn frames(&self) -> (u64, u64) {
        let frames = self.kernel.frame_set().frames();
        (frames, frames - self.before.free)
    }

    /// Plays an event; returns the copies and zeroings that the kernel issues.
    pub(super) fn play(&mut self, event: OsEvent) -> Result<Vec<Operation>, NoFrame> {
        let mut operations = Vec::new();
        match event {
            OsEvent::Fault { pid, address, kind } => {
                let fault = self.fault(pid, address.0 / FRAME_BYTES, kind, &mut operations);
                fault.map_err(|_| NoFrame { page: PhysicalAddress(address.0 / FRAME_BYTES * FRAME_BYTES) })?;
            }
            OsEvent::Fork { parent, child } => {
                let forked = self.process(parent).clone();
                let parent = owner(forked.id);
                let id = self.kernel.fork(forked.id).expect("the process lives");
                self.log.push(ProcessEvent::Fork { parent, child: owner(id) });
                self.end(child, &mut operations);
                self.by_pid.insert(child, ReplayedProcess { id, ..forked });
            }
            OsEvent::Exec { pid } | OsEvent::Exit { pid } => self.end(pid, &mut operations),
        }
        Ok(operations.iter().map(request).collect())
    }

    fn fault(
        &mut self,
        pid: u32,
        page: u64,
        kind: FaultKind,
        operations: &mut Vec<MemoryOperation>,
    ) -> Result<(), os_alloc_sim::Fault> {
        let pages_per_unit = u64::from(self.kernel.frame_set().grain_frames());
        let (unit, within) = (page / pages_per_unit, page % pages_per_unit);
        let ReplayedProcess { id, units, shown } = self.process(pid);
        let (id, mut known) = (*id, units.get(&unit).copied());
        let was_shown = !shown.insert(page);
        let is_unmapped = was_shown && matches!(kind, FaultKind::WriteAbsent | FaultKind::ReadAbsent);
        let is_alone =
            (0..pages_per_unit).all(|other| other == within || !shown.contains(&(unit * pages_per_unit + other)));
        if is_unmapped
            && is_alone
            && let Some(unmapped) = known.take()
        {
            self.kernel.unmap(id, unmapped, pages_per_unit, operations)?;
        }
        let is_new = known.is_none();
        let first = if let Some(first) = known {
            first
        } else {
            let first = self.kernel.map(id, pages_per_unit, PageSize::Small)?;
            self.process(pid).units.insert(unit, first);
            first
        };
        let mapped = first + within;
        if is_new && matches!(kind, FaultKind::ReadAbsent | FaultKind::WriteProtected) {
            let frame = Frame(self.kernel.map_cached(id, mapped)?.0 - within as u32);
            self.cached += pages_per_unit;
            for at in 0..pages_per_unit {
                let (page, frame) = (first + at, frame.plus(at as u32));
                self.log.push(ProcessEvent::Found { owner: owner(id), page, frame });
            }
        }
        if kind != FaultKind::ReadAbsent {
            let is_cleared = is_unmapped && !is_new;
            let frame = if is_cleared {
                self.kernel.clear(id, mapped, operations)?
            } else {
                self.kernel.write(id, mapped, operations)?
            };
            let frame = stored_to(frame);
            operations.retain(is_executed);
            self.log.kernel_requests(operations.len() - usize::from(is_cleared));
            if is_cleared {
                self.cleared += 1;
                self.log.push(ProcessEvent::Store { owner: owner(id), address: mapped * FRAME_BYTES });
            }
            self.log.push(ProcessEvent::Mark { owner: owner(id), page: mapped, frame });
        }
        Ok(())
    }

    /// The process with this pid, which starts if it does not exist.
    fn process(&mut self, pid: u32) -> &mut ReplayedProcess {
        let kernel = &mut self.kernel;
        self.by_pid.entry(pid).or_insert_with(|| ReplayedProcess::new(kernel.spawn()))
    }

    /// Frees the pages of a process, if it exists.
    fn end(&mut self, pid: u32, operations: &mut Vec<MemoryOperation>) {
        if let Some(ReplayedProcess { id, .. }) = self.by_pid.remove(&pid) {
            self.compare(id);
            self.log.push(ProcessEvent::End { owner: owner(id) });
            self.kernel.exit(id, operations).expect("the process lives");
        }
    }

    /// Compares the pages of a process with its frames.
    fn compare(&mut self, process: ProcessId) {
        let (true, Some(space)) = (self.log.is_kept(), self.kernel.address_space(process)) else { return };
        let frames = space.pages().collect();
        self.log.push(ProcessEvent::Compare { owner: owner(process), frames });
    }

    /// Compares all processes.
    pub(super) fn compare_all(&mut self) {
        self.kernel.processes().into_iter().for_each(|process| self.compare(process));
    }

    /// Returns the counts.
    pub(super) fn into_report(self) -> PageReport {
        let RecordedProcesses { settings, kernel, before, cached, cleared, .. } = self;
        let allocator = kernel.report();
        let (copied, zeroed) = (allocator.traffic.copies().frames(), allocator.traffic.zeroings().frames());
        let in_use = before.free - kernel.allocator().free_frames();
        PageReport {
            settings,
            utilization_before: before.utilization,
            fragmentation_before: before.fragmentation,
            appeared: cached,
            copied,
            filled: zeroed,
            freed: cached + copied + zeroed - cleared - in_use,
            copies_in_part: 0,
            fills_in_part: 0,
            fills_of_other_values: 0,
            allocator,
        }
    }
}

#[cfg(test)]
mod tests {
    use dram_spec::address::MapPreset;
    use dram_spec::{AddressMap, Density, System, Width};
    use os_alloc_sim::{CopyUnit, Policy, ZeroOnFree};

    use super::*;

    fn processes() -> RecordedProcesses {
        of_units(1, MapPreset::RowInterleaved, CopyUnit::Page)
    }

    fn of_units(channels: u64, preset: MapPreset, copy_unit: CopyUnit) -> RecordedProcesses {
        let map = AddressMap::preset(System::paper(channels, Density::Gb1, Width::X16).geometry, preset);
        let policy = Policy::Sequential;
        let settings = AllocatorSettings { policy, seed: 1, utilization: 0.0, fragmentation: 0.0, copy_unit };
        RecordedProcesses::new(settings, settings.memory(&map).unwrap().into_kernel(ZeroOnFree::Off))
    }

    const fn fault(pid: u32, address: u64, kind: FaultKind) -> OsEvent {
        OsEvent::Fault { pid, address: PhysicalAddress(address), kind }
    }

    /// The sequential allocator hands out frames by ascending address.
    #[test]
    fn the_operations_of_a_forking_program_are_those_by_hand() {
        use FaultKind::{ReadAbsent, WriteAbsent, WriteProtected};
        let mut processes = processes();
        let zero = |frame: u64| Operation::Init { dst: PhysicalAddress(frame << 12), bytes: 4096, value: 0 };
        let copy = |src: u64, dst: u64| Operation::Copy {
            src: PhysicalAddress(src << 12),
            dst: PhysicalAddress(dst << 12),
            bytes: 4096,
        };
        let steps: [(OsEvent, &[Operation]); 15] = [
            (fault(1, 0x7fff_0000_1010, WriteAbsent), &[zero(0)]),
            (fault(1, 0x7fff_0000_2000, WriteAbsent), &[zero(1)]),
            // The page cache keeps frame 2, so that a write copies it.
            (fault(1, 0x40_0000, ReadAbsent), &[]),
            (fault(1, 0x40_0ff8, WriteProtected), &[copy(2, 3)]),
            (OsEvent::Fork { parent: 1, child: 2 }, &[]),
            (fault(2, 0x7fff_0000_1000, WriteProtected), &[copy(0, 4)]),
            // The frame has no other user any more.
            (fault(1, 0x7fff_0000_1000, WriteProtected), &[]),
            (fault(1, 0x7fff_0000_2000, WriteProtected), &[copy(1, 5)]),
            // A page of the page cache that was present without a recorded fault.
            (fault(2, 0x60_0000, WriteProtected), &[copy(6, 7)]),
            // Absent again: the page was unmapped, and its frame 4 freed.
            (fault(2, 0x7fff_0000_1000, WriteAbsent), &[zero(4)]),
            (OsEvent::Exit { pid: 2 }, &[]),
            // Frames 1, 4 and 7 are free now.
            (fault(3, 0, WriteAbsent), &[zero(1)]),
            (OsEvent::Exec { pid: 1 }, &[]),
            (fault(1, 0, WriteAbsent), &[zero(0)]),
            (OsEvent::Exit { pid: 9 }, &[]),
        ];
        for (event, expected) in steps {
            assert_eq!(processes.play(event).unwrap(), expected, "{event:?}");
        }
        let report = processes.into_report();
        assert_eq!((report.appeared, report.copied, report.filled), (2, 4, 5));
        // In use: the page cache's frames 2 and 6, and a page each of processes 1 and 3.
        assert_eq!(report.freed, 11 - 4);
    }

    /// Units of two pages: the frames of a unit are handed out, copied and zeroed together.
    #[test]
    fn faults_of_neighbors_share_a_unit() {
        use FaultKind::{ReadAbsent, WriteAbsent, WriteProtected};
        let mut processes = of_units(2, MapPreset::LineInterleaved, CopyUnit::RowSet);
        let zero = |frame: u64, pages: u64| Operation::Init {
            dst: PhysicalAddress(frame << 12),
            bytes: pages * 4096,
            value: 0,
        };
        let copy = |src: u64, dst: u64| Operation::Copy {
            src: PhysicalAddress(src << 12),
            dst: PhysicalAddress(dst << 12),
            bytes: 8192,
        };
        let steps: [(OsEvent, &[Operation]); 13] = [
            // The page is the second of its unit.
            (fault(1, 0x1000, WriteAbsent), &[zero(0, 2)]),
            (fault(1, 0x0000, WriteAbsent), &[]),
            (fault(1, 0x2000, WriteAbsent), &[zero(2, 2)]),
            (fault(1, 0x6000, ReadAbsent), &[]),
            (fault(1, 0x7000, WriteProtected), &[copy(4, 6)]),
            (OsEvent::Fork { parent: 1, child: 2 }, &[]),
            (fault(2, 0x0000, WriteProtected), &[copy(0, 8)]),
            (fault(2, 0x1000, WriteProtected), &[]),
            // Absent again, beside a page in use: zeroed in place, in the child after a copy.
            (fault(1, 0x1000, WriteAbsent), &[zero(1, 1)]),
            (fault(2, 0x6000, WriteAbsent), &[copy(6, 10), zero(10, 1)]),
            // Absent again, and the only page of its unit: the unit 2 keeps its parent as its user.
            (fault(2, 0x2000, WriteAbsent), &[zero(12, 2)]),
            (OsEvent::Exit { pid: 2 }, &[]),
            (fault(3, 0, WriteAbsent), &[zero(8, 2)]),
        ];
        for (event, expected) in steps {
            assert_eq!(processes.play(event).unwrap(), expected, "{event:?}");
        }
        let report = processes.into_report();
        // Pages of the page cache; of three copies; of four zeroed units, and two zeroed in place.
        assert_eq!((report.appeared, report.copied, report.filled), (2, 6, 10));
        // In use: units 0, 2, 4 and 6, and that of process 3; units 8, 10 and 12 were freed.
        assert_eq!(report.freed, 6);
    }

    #[test]
    fn a_pid_that_is_used_again_begins_without_pages() {
        let mut processes = processes();
        for _ in 0..3 {
            assert_eq!(processes.play(fault(1, 0, FaultKind::WriteAbsent)).unwrap().len(), 1);
            assert!(processes.play(OsEvent::Fork { parent: 1, child: 2 }).unwrap().is_empty());
            assert_eq!(processes.play(fault(2, 0, FaultKind::WriteProtected)).unwrap().len(), 1);
            assert!(processes.play(OsEvent::Exit { pid: 1 }).unwrap().is_empty());
        }
    }
}
