//! De-duplication of the pages of two virtual machines, and its reversal by writes.

use std::collections::{BTreeSet, VecDeque};

use dram_spec::LINE_BYTES;
use dram_spec::address::FRAME_BYTES;
use os_alloc_sim::{Frame, Generator, ProcessId};
use rowclone::Operation;

use super::bulk::{BulkRequests, Task, TaskStep};
use super::error::WorkloadError;
use super::gap::Gap;
use crate::virtual_memory::ProcessEvent;

use super::kind::{KindProperties, RequestGenerator, WorkloadKind};
use super::machine::{RunningKernel, Setup, a_line, line, owner, request};
use super::region::positive_multiple;

/// Two virtual machines with equal data: a scanner like Linux's KSM merges random pages of the
/// second with those of the first. The second machine then writes a line to each of several random
/// pages.
///
/// The scanner processes these pages in address order. It reads all lines of both pages,
/// alternately; then it frees the frame of the second machine's page. A write to a merged page
/// copies the page first, and waits until all preceding requests have completed. If frames that
/// share rows are allocated together, they are merged and copied together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deduplication {
    /// Memory of each machine in bytes, written before the run: a multiple of 4096.
    pub bytes: u64,
    /// Pages of 4 KiB to merge: at most the pages of a machine.
    pub pages: u64,
    /// Pages of 4 KiB to which the second machine then writes one line each: at most the pages of a
    /// machine.
    pub writes: u64,
    /// Minimum time between the arrivals of two requests. With 0, reads and writes arrive when they
    /// are accepted.
    pub gap: Gap,
}

/// State of a [`Deduplication`].
#[derive(Debug)]
struct Merges {
    first: ProcessId,
    /// First page of each grain to merge, last first.
    merged: Vec<u64>,
    /// First page of the grain whose lines are being compared.
    compared: Option<u64>,
    /// Pages to write to, last first.
    written: Vec<u64>,
    /// Steps to take before any other.
    queue: VecDeque<TaskStep>,
    generator: Generator,
}

impl WorkloadKind for Deduplication {
    fn properties(&self) -> KindProperties {
        KindProperties { name: "dedup", gap: self.gap, needs_allocator: true }
    }

    fn generator(&self, setup: &Setup<'_>) -> Result<Box<dyn RequestGenerator>, WorkloadError> {
        let Deduplication { bytes, pages, writes, gap } = *self;
        positive_multiple("pages", pages, 1)?;
        let mut machine = RunningKernel::new(setup, bytes)?;
        machine.ensure_free_frames("bytes", machine.grains(), 2)?;
        for (key, found) in [("pages", pages), ("writes", writes)] {
            if found > machine.pages {
                return Err(WorkloadError::TooMany { key, found, most: machine.pages });
            }
        }
        machine.fill();
        let first = machine.process;
        machine.begin_process();
        machine.fill();
        let mut generator = Generator::new(setup.seed);
        let [merged, written] = [pages, writes].map(|count| {
            let mut drawn: Vec<u64> = (0..machine.pages).collect();
            generator.shuffle(&mut drawn);
            drawn.truncate(count as usize);
            drawn
        });
        let grains = |pages: &[u64]| -> BTreeSet<u64> {
            pages.iter().map(|page| page / machine.grain_frames() * machine.grain_frames()).collect()
        };
        let (shared, copied) = (grains(&merged), grains(&written));
        let copies = shared.intersection(&copied).count() as u64;
        let requests = shared.len() as u64 * 2 * lines(&machine) + copies + writes;
        let merged = shared.into_iter().rev().collect();
        let task = Merges { first, merged, compared: None, written, queue: VecDeque::new(), generator };
        Ok(BulkRequests::generator(machine, task, 1, gap, requests))
    }
}

/// Lines per grain.
const fn lines(machine: &RunningKernel) -> u64 {
    machine.grain_frames() * FRAME_BYTES / LINE_BYTES
}

impl Merges {
    /// Queues the reads that compare a grain of both machines.
    fn compare(&mut self, machine: &mut RunningKernel, page: u64) {
        let frame = |process: ProcessId| -> Frame {
            let space = machine.kernel.address_space(process).expect("both machines run");
            space.frame(page).expect("all pages are filled")
        };
        let frames = [frame(self.first), frame(machine.process)];
        for at in 0..lines(machine) {
            let read = |frame| TaskStep::Issue(Operation::Read { address: line(frame, at), bytes: LINE_BYTES });
            self.queue.extend(frames.map(read));
            for process in [self.first, machine.process] {
                let address = page * FRAME_BYTES + at * LINE_BYTES;
                machine.log.push(ProcessEvent::Load { owner: owner(process), address });
            }
        }
        self.queue.push_back(TaskStep::Wait);
        self.compared = Some(page);
    }

    /// Queues the write of a line, after the copy that it requires, if any.
    fn write(&mut self, machine: &mut RunningKernel, page: u64) {
        let mut operations = Vec::new();
        let line = a_line(&mut self.generator);
        let store = machine.store(machine.process, page, line, &mut operations);
        let store = store.expect("each copy takes a frame that a merge has freed");
        for operation in &operations {
            self.queue.extend([TaskStep::Issue(request(operation)), TaskStep::Wait]);
        }
        self.queue.push_back(TaskStep::Issue(store));
    }
}

impl Task for Merges {
    fn step(&mut self, machine: &mut RunningKernel) -> TaskStep {
        if let Some(step) = self.queue.pop_front() {
            return step;
        }
        if let Some(page) = self.compared.take() {
            let merged = machine.kernel.deduplicate((self.first, page), (machine.process, page), &mut Vec::new());
            assert_eq!(merged, Ok(true), "both pages have a frame of their own");
            for page in page..page + machine.grain_frames() {
                let [kept, merged] = [self.first, machine.process].map(|process| (owner(process), page));
                machine.log.push(ProcessEvent::Merge { kept, merged });
            }
        }
        if let Some(page) = self.merged.pop() {
            self.compare(machine, page);
        } else if let Some(page) = self.written.pop() {
            self.write(machine, page);
        }
        self.queue.pop_front().unwrap_or(TaskStep::Done)
    }
}
