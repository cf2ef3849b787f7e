//! Checkpoints of a process.

use std::collections::VecDeque;

use os_alloc_sim::{CheckpointId, Generator};
use rowclone::{Operation, Planner};

use crate::allocator_settings::AllocatorSettings;

use super::bulk::{Bulk, Step, Task};
use super::error::WorkloadError;
use super::gap::Gap;
use super::machine::{Machine, request, write_a_line};
use super::region::some;

/// A process writes lines to its memory, and stops while all of it is copied; again and again. One checkpoint is kept: an older
/// one is dropped when the next is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The memory of the process, which it has filled before the run: a multiple of 4096.
    pub bytes: u64,
    /// Checkpoints.
    pub checkpoints: u64,
    /// Lines that are written before each of them, anywhere in that memory.
    pub writes: u64,
    /// Copies under way at once, at most: at least 1.
    pub window: u64,
    /// Between the arrivals of two requests, at least. With 0, writes arrive as they can be taken.
    pub gap: Gap,
}

/// What is left to do of a [`Checkpoint`].
#[derive(Debug)]
pub(super) struct Checkpoints {
    left: u64,
    writes: u64,
    writes_left: u64,
    /// The copies of the checkpoint that is being made.
    copies: VecDeque<Operation>,
    kept: Option<CheckpointId>,
    /// The one whose copies are not all issued.
    issued: Option<CheckpointId>,
    /// The one that is complete when all copies are.
    complete: Option<CheckpointId>,
    generator: Generator,
}

impl Checkpoint {
    pub(super) fn source(
        &self,
        workload: &'static str,
        planner: &Planner,
        allocator: Option<&AllocatorSettings>,
        seed: u64,
    ) -> Result<Bulk<Checkpoints>, WorkloadError> {
        let Checkpoint { bytes, checkpoints, writes, window, gap } = *self;
        some("checkpoints", checkpoints, 1)?;
        some("window", window, 1)?;
        let mut machine = Machine::new(workload, planner, allocator, bytes)?;
        machine.assure_room("bytes", machine.grains(), 1 + checkpoints.min(2))?;
        machine.fill();
        let requests = checkpoints.saturating_mul(writes.saturating_add(machine.grains()));
        let task = Checkpoints {
            left: checkpoints,
            writes,
            writes_left: writes,
            copies: VecDeque::new(),
            kept: None,
            issued: None,
            complete: None,
            generator: Generator::new(seed),
        };
        Ok(Bulk::new(machine, task, window, gap, requests))
    }
}

impl Task for Checkpoints {
    fn step(&mut self, machine: &mut Machine) -> Step {
        let Machine { kernel, process, .. } = machine;
        if let Some(copy) = self.copies.pop_front() {
            return Step::Issue(copy);
        }
        if let Some(issued) = self.issued.take() {
            self.complete = Some(issued);
            return Step::Wait;
        }
        if let Some(complete) = self.complete.take()
            && let Some(old) = self.kept.replace(complete)
        {
            kernel.drop_checkpoint(old, &mut Vec::new()).expect("it is kept");
        }
        if self.left == 0 {
            return Step::Done;
        }
        if self.writes_left > 0 {
            self.writes_left -= 1;
            let page = machine.draw_page(&mut self.generator);
            let Machine { kernel, process, .. } = machine;
            let frame = kernel.write(*process, page, &mut Vec::new()).expect("the page is there, and not shared");
            return Step::Issue(write_a_line(frame, &mut self.generator));
        }
        self.left -= 1;
        self.writes_left = self.writes;
        let mut operations = Vec::new();
        self.issued = Some(kernel.checkpoint(*process, &mut operations).expect("there is room for two checkpoints"));
        self.copies = operations.iter().map(request).collect();
        self.step(machine)
    }
}
