//! A fork, followed by copy-on-write.

use std::collections::BTreeSet;

use dram_spec::address::FRAME_BYTES;
use dram_spec::{Cycle, LINE_BYTES};
use os_alloc_sim::{Generator, MemoryOperation, ProcessId};
use rowclone::Operation;

use super::error::WorkloadError;
use super::gap::{Gap, Gaps};
use super::kind::{KindProperties, RequestGenerator, WorkloadKind};
use super::machine::{RunningKernel, Setup, a_line, request};
use super::region::positive_multiple;

dram_spec::named! {
    /// When the memory of a process is written.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Fill {
        /// Before the run: the process wrote the contents that the memory has at reset. Nothing is
        /// played or counted.
        #[default]
        Before = "before",
        /// During the run: for each page a zeroing, for which the process waits, and then a write of
        /// each line, at the rate at which writes are taken.
        Played = "played",
    }
}

/// The paper's `forkbench`: a process with memory forks; the child writes a line to each of several
/// random pages, and exits.
///
/// The first write to a page copies the page; the child waits for the copy, but not for writes. If
/// frames that share rows are allocated together, they are copied together at the first write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fork {
    /// Memory of the parent in bytes: a multiple of 4096.
    pub bytes: u64,
    /// Pages of 4 KiB to which the child writes one line each: at most the pages of the parent.
    pub pages: u64,
    /// When the parent's memory is written.
    pub fill: Fill,
    /// Computation of the child between two writes.
    pub gap: Gap,
}

/// The requests of a [`Fork`].
#[derive(Debug)]
struct ForkSource {
    machine: RunningKernel,
    /// The page that the parent fills, and the next line in it; `None` after the last page.
    filling: Option<(u64, u64)>,
    child: Option<ProcessId>,
    /// Pages to which the child writes, last first.
    pages: Vec<u64>,
    gaps: Gaps,
    generator: Generator,
    /// Next request; `None` while the process waits for a copy or a zeroing, and after the last
    /// request.
    upcoming: Option<Operation>,
    /// The write that waits for a copy or a zeroing.
    faulted: Option<Operation>,
    next: Cycle,
    requests: u64,
}

impl WorkloadKind for Fork {
    fn properties(&self) -> KindProperties {
        KindProperties { name: "fork", gap: self.gap, needs_allocator: true }
    }

    fn generator(&self, setup: &Setup<'_>) -> Result<Box<dyn RequestGenerator>, WorkloadError> {
        let Fork { bytes, pages, fill, gap } = *self;
        positive_multiple("pages", pages, 1)?;
        let mut machine = RunningKernel::new(setup, bytes)?;
        if pages > machine.pages {
            return Err(WorkloadError::TooMany { key: "pages", found: pages, most: machine.pages });
        }
        let mut generator = Generator::new(setup.seed);
        let mut written: Vec<u64> = (0..machine.pages).collect();
        generator.shuffle(&mut written);
        written.truncate(pages as usize);
        let copied: BTreeSet<u64> = written.iter().map(|page| page / machine.grain_frames()).collect();
        let copies = copied.len() as u64;
        machine.ensure_free_frames("pages", machine.grains() + copies, 1)?;
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
        Ok(Box::new(source))
    }
}

impl RequestGenerator for ForkSource {
    fn requests(&self) -> u64 {
        self.requests
    }

    fn machine(&mut self) -> Option<&mut RunningKernel> {
        Some(&mut self.machine)
    }

    fn next_arrival(&self) -> Option<Cycle> {
        self.upcoming.map(|_| self.next)
    }

    fn take(&mut self, now: Cycle) -> Option<(Option<Cycle>, Operation)> {
        self.next_arrival().filter(|&at| at <= now)?;
        let operation = self.upcoming.take()?;
        let mut arrival = Some(self.next);
        if matches!(operation, Operation::Write { .. }) {
            if self.child.is_none() {
                // The parent stores at the rate at which stores are accepted: a store not yet
                // accepted is not yet issued.
                arrival = None;
                self.next = now;
            } else {
                self.next += self.gaps.next();
            }
            self.advance();
        }
        Some((arrival, operation))
    }

    /// Reports a completion. A write may wait for a copy or a zeroing; no request waits for a
    /// write.
    fn complete(&mut self, operation: &Operation, done: Cycle) {
        if operation.is_copy() {
            self.next = self.next.max(done);
            self.upcoming = self.faulted.take();
        }
    }
}

impl ForkSource {
    /// Generates the next request.
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

    /// Writes the parent's next line.
    fn fill(&mut self, page: u64, line: u64, operations: &mut Vec<MemoryOperation>) -> Operation {
        let next = if line + 1 < FRAME_BYTES / LINE_BYTES { (page, line + 1) } else { (page + 1, 0) };
        self.filling = (next.0 < self.machine.pages).then_some(next);
        let process = self.machine.process;
        self.machine.store(process, page, line, operations).expect("there is room for all pages")
    }

    /// Writes to the child's next page; after the last page, the child exits.
    fn write(&mut self, operations: &mut Vec<MemoryOperation>) -> Option<Operation> {
        let machine = &mut self.machine;
        let child = match self.child {
            Some(child) => child,
            None => machine.fork(machine.process).expect("the parent lives"),
        };
        self.child = Some(child);
        let Some(page) = self.pages.pop() else {
            machine.exit(child, operations).expect("the child lives");
            return None;
        };
        let line = a_line(&mut self.generator);
        Some(machine.store(child, page, line, operations).expect("there is room for all copies"))
    }
}
