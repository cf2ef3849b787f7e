//! De-duplication of the pages of two virtual machines, and its undoing by writes.

use std::collections::{BTreeSet, VecDeque};

use dram_spec::LINE_BYTES;
use dram_spec::address::FRAME_BYTES;
use os_alloc_sim::{Frame, Generator, ProcessId};
use rowclone::{Operation, Planner};

use crate::allocator_settings::AllocatorSettings;

use super::bulk::{Bulk, Step, Task};
use super::error::WorkloadError;
use super::gap::Gap;
use super::machine::{Machine, line, request, write_a_line};
use super::region::some;

/// Two virtual machines hold the same data, and a scanner like Linux's KSM merges random pages of the second with those of the
/// first. The second machine then writes a line to each of some random pages.
///
/// The scanner goes through these pages in the order of their addresses. It reads a line of either page in turn, all lines of both; then it frees the frame of the second machine's page. A
/// write to a merged page copies it first, and goes on when all before it is done. Where frames share rows and are handed
/// out together, all of them are merged, and copied, with the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deduplication {
    /// The memory of each machine, which it has filled before the run: a multiple of 4096.
    pub bytes: u64,
    /// Pages of 4 KiB that are merged: at most as many as a machine has.
    pub pages: u64,
    /// Pages of 4 KiB that the second machine then writes a line to, each once: at most as many as it has.
    pub writes: u64,
    /// Between the arrivals of two requests, at least. With 0, reads and writes arrive as they can be taken.
    pub gap: Gap,
}

/// What is left to do of a [`Deduplication`].
#[derive(Debug)]
pub(super) struct Merges {
    first: ProcessId,
    /// The first page of each grain to merge, the last first.
    merged: Vec<u64>,
    /// The first page of the grain whose comparing reads are issued.
    compared: Option<u64>,
    /// Pages to write to, the last first.
    written: Vec<u64>,
    /// What follows before anything else.
    queue: VecDeque<Step>,
    generator: Generator,
}

impl Deduplication {
    pub(super) fn source(
        &self,
        workload: &'static str,
        planner: &Planner,
        allocator: Option<&AllocatorSettings>,
        seed: u64,
    ) -> Result<Bulk<Merges>, WorkloadError> {
        let Deduplication { bytes, pages, writes, gap } = *self;
        some("pages", pages, 1)?;
        let mut machine = Machine::new(workload, planner, allocator, bytes)?;
        machine.assure_room("bytes", machine.grains(), 2)?;
        for (key, found) in [("pages", pages), ("writes", writes)] {
            if found > machine.pages {
                return Err(WorkloadError::TooMany { key, found, most: machine.pages });
            }
        }
        machine.fill();
        let first = machine.process;
        machine.begin_process();
        machine.fill();
        let mut generator = Generator::new(seed);
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
        Ok(Bulk::new(machine, task, 1, gap, requests))
    }
}

/// Lines of a grain.
const fn lines(machine: &Machine) -> u64 {
    machine.grain_frames() * FRAME_BYTES / LINE_BYTES
}

impl Merges {
    /// The reads that compare a grain of both machines.
    fn compare(&mut self, machine: &Machine, page: u64) {
        let frame = |process: ProcessId| -> Frame {
            let space = machine.kernel.address_space(process).expect("both machines run");
            space.frame(page).expect("all pages are filled")
        };
        let frames = [frame(self.first), frame(machine.process)];
        for at in 0..lines(machine) {
            let read = |frame| Step::Issue(Operation::Read { address: line(frame, at), bytes: LINE_BYTES });
            self.queue.extend(frames.map(read));
        }
        self.queue.push_back(Step::Wait);
        self.compared = Some(page);
    }

    /// The write of a line, and the copy that it needs.
    fn write(&mut self, machine: &mut Machine, page: u64) {
        let mut operations = Vec::new();
        let frame = machine.kernel.write(machine.process, page, &mut operations);
        let frame = frame.expect("each copy takes a frame that a merge has freed");
        for operation in &operations {
            self.queue.extend([Step::Issue(request(operation)), Step::Wait]);
        }
        self.queue.push_back(Step::Issue(write_a_line(frame, &mut self.generator)));
    }
}

impl Task for Merges {
    fn step(&mut self, machine: &mut Machine) -> Step {
        if let Some(step) = self.queue.pop_front() {
            return step;
        }
        if let Some(page) = self.compared.take() {
            let merged = machine.kernel.deduplicate((self.first, page), (machine.process, page), &mut Vec::new());
            assert_eq!(merged, Ok(true), "both pages have a frame of their own");
        }
        if let Some(page) = self.merged.pop() {
            self.compare(machine, page);
        } else if let Some(page) = self.written.pop() {
            self.write(machine, page);
        }
        self.queue.pop_front().unwrap_or(Step::Done)
    }
}
