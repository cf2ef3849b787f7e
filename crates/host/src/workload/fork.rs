//! A fork, and what copy-on-write makes of it.

use std::collections::BTreeSet;

use dram_spec::address::FRAME_BYTES;
use dram_spec::{Cycle, LINE_BYTES};
use os_alloc_sim::{Generator, MemoryOperation, ProcessId, Report};
use rowclone::{Operation, Planner};

use crate::allocator_settings::AllocatorSettings;

use super::error::WorkloadError;
use super::gap::{Gap, Gaps};
use super::machine::{Machine, request, write_a_line, write_line};
use super::region::some;

/// How the memory of a process came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Before the run: what memory holds at reset is what the process wrote. Nothing of it is played or counted.
    Before,
    /// In the run: for each page a zeroing, which the process waits for, and then a write of each of its lines, as fast as they
    /// are taken.
    Played,
}

impl Fill {
    /// Both, by the names that scenarios give them.
    pub const NAMES: [(&'static str, Fill); 2] = [("before", Fill::Before), ("played", Fill::Played)];

    /// The choice of that name.
    pub fn named(name: &str) -> Option<Fill> {
        Self::NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, fill)| fill)
    }
}

/// The paper's `forkbench`: a process with memory forks; the child writes a line to each of some random pages, and exits.
///
/// The first write to a page copies it; the child waits for the copy, then writes its line and goes on. It waits for no write.
/// Where frames share rows and are handed out together, all of them are copied with the first that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fork {
    /// The memory of the parent: a multiple of 4096.
    pub bytes: u64,
    /// Pages of 4 KiB that the child writes to, each once: at most as many as the parent has.
    pub pages: u64,
    /// How the parent's memory came to be.
    pub fill: Fill,
    /// The child's own work between a write and the next.
    pub gap: Gap,
}

/// The requests of a [`Fork`].
#[derive(Debug)]
pub(super) struct ForkSource {
    machine: Machine,
    /// The page that the parent fills, and the line in it that it writes next; nothing once it is filled.
    filling: Option<(u64, u64)>,
    child: Option<ProcessId>,
    /// What the child is to write to, last first.
    pages: Vec<u64>,
    gaps: Gaps,
    generator: Generator,
    /// The next request; nothing while a copy or a zeroing is waited for, or when all is done.
    upcoming: Option<Operation>,
    /// The write that a copy or a zeroing is needed for.
    faulted: Option<Operation>,
    next: Cycle,
    requests: u64,
}

impl Fork {
    pub(super) fn source(
        &self,
        workload: &'static str,
        planner: &Planner,
        allocator: Option<&AllocatorSettings>,
        seed: u64,
    ) -> Result<ForkSource, WorkloadError> {
        let Fork { bytes, pages, fill, gap } = *self;
        some("pages", pages, 1)?;
        let mut machine = Machine::new(workload, planner, allocator, bytes)?;
        if pages > machine.pages {
            return Err(WorkloadError::TooMany { key: "pages", found: pages, most: machine.pages });
        }
        let mut generator = Generator::new(seed);
        let mut written: Vec<u64> = (0..machine.pages).collect();
        generator.shuffle(&mut written);
        written.truncate(pages as usize);
        let copied: BTreeSet<u64> = written.iter().map(|page| page / machine.grain_frames()).collect();
        let copies = copied.len() as u64;
        machine.assure_room("pages", machine.grains() + copies, 1)?;
        let filled = match fill {
            Fill::Before => {
                machine.fill();
                0
            }
            Fill::Played => machine.grains() + machine.pages * (FRAME_BYTES / LINE_BYTES),
        };
        let mut source = ForkSource {
            machine,
            filling: (fill == Fill::Played).then_some((0, 0)),
            child: None,
            pages: written,
            gaps: Gaps::new(gap),
            generator,
            upcoming: None,
            faulted: None,
            next: Cycle::ZERO,
            requests: filled + copies + pages,
        };
        source.advance();
        Ok(source)
    }
}

impl ForkSource {
    pub(super) const fn requests(&self) -> u64 {
        self.requests
    }

    pub(super) fn report(&self) -> Report {
        self.machine.kernel.report()
    }

    pub(super) fn next_arrival(&self) -> Option<Cycle> {
        self.upcoming.map(|_| self.next)
    }

    pub(super) fn take(&mut self, now: Cycle) -> (Cycle, Operation) {
        let operation = self.upcoming.take().expect("it has arrived");
        let mut arrival = self.next;
        if matches!(operation, Operation::Write { .. }) {
            if self.child.is_none() {
                // The parent stores as fast as it can: a store that is not taken yet is not issued.
                arrival = now;
                self.next = now;
            } else {
                self.next += self.gaps.next();
            }
            self.advance();
        }
        (arrival, operation)
    }

    /// The copy or the zeroing that a write waited for is done; nobody waits for writes.
    pub(super) fn complete(&mut self, operation: &Operation, done: Cycle) {
        if matches!(operation, Operation::Copy { .. } | Operation::Init { .. }) {
            self.next = self.next.max(done);
            self.upcoming = self.faulted.take();
        }
    }

    /// Finds the next request.
    fn advance(&mut self) {
        let mut operations = Vec::new();
        let write = match self.filling {
            Some((page, line)) => Some(self.fill(page, line, &mut operations)),
            None => self.write(&mut operations),
        };
        match operations.first() {
            Some(fault) => (self.upcoming, self.faulted) = (Some(request(fault)), write),
            None => self.upcoming = write,
        }
    }

    /// The parent writes a line to its memory.
    fn fill(&mut self, page: u64, line: u64, operations: &mut Vec<MemoryOperation>) -> Operation {
        let Machine { kernel, process, pages } = &mut self.machine;
        let frame = kernel.write(*process, page, operations).expect("there is room for all pages");
        let next = if line + 1 < FRAME_BYTES / LINE_BYTES { (page, line + 1) } else { (page + 1, 0) };
        self.filling = (next.0 < *pages).then_some(next);
        write_line(frame, line)
    }

    /// The child writes to its next page, or exits.
    fn write(&mut self, operations: &mut Vec<MemoryOperation>) -> Option<Operation> {
        let Machine { kernel, process, .. } = &mut self.machine;
        let child = match self.child {
            Some(child) => child,
            None => kernel.fork(*process).expect("the parent lives"),
        };
        self.child = Some(child);
        let Some(page) = self.pages.pop() else {
            kernel.exit(child, operations).expect("the child lives");
            return None;
        };
        let frame = kernel.write(child, page, operations).expect("there is room for all copies");
        Some(write_a_line(frame, &mut self.generator))
    }
}
