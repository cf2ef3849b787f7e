//! Checkpoints of a process.

use std::collections::VecDeque;

use os_alloc_sim::{CheckpointId, Generator};
use rowclone::Operation;

use super::bulk::{BulkRequests, Task, TaskStep};
use super::error::WorkloadError;
use super::gap::Gap;
use super::kind::{KindProperties, RequestGenerator, WorkloadKind};
use super::machine::{RunningKernel, Setup, a_line, request};
use super::region::positive_multiple;

/// A process that alternates between writing lines to its memory and being stopped while all its
/// memory is copied. One checkpoint is kept: the preceding one is dropped when the next is
/// complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// Memory of the process in bytes, written before the run: a multiple of 4096.
    pub bytes: u64,
    /// Number of checkpoints.
    pub checkpoints: u64,
    /// Random lines written before each checkpoint.
    pub writes: u64,
    /// Maximum number of copies in flight, at least 1.
    pub window: u64,
    /// Minimum time between the arrivals of two requests. With 0, writes arrive when they are
    /// accepted.
    pub gap: Gap,
}

/// State of a [`Checkpoint`].
#[derive(Debug)]
struct Checkpoints {
    left: u64,
    writes: u64,
    writes_left: u64,
    /// Copies of the current checkpoint.
    copies: VecDeque<Operation>,
    kept: Option<CheckpointId>,
    /// The checkpoint whose copies are being issued.
    issued: Option<CheckpointId>,
    /// The checkpoint whose copies are in flight.
    complete: Option<CheckpointId>,
    generator: Generator,
}

impl WorkloadKind for Checkpoint {
    fn properties(&self) -> KindProperties {
        KindProperties { name: "checkpoint", gap: self.gap, needs_allocator: true }
    }

    fn generator(&self, setup: &Setup<'_>) -> Result<Box<dyn RequestGenerator>, WorkloadError> {
        let Checkpoint { bytes, checkpoints, writes, window, gap } = *self;
        positive_multiple("checkpoints", checkpoints, 1)?;
        positive_multiple("window", window, 1)?;
        let mut machine = RunningKernel::new(setup, bytes)?;
        machine.ensure_free_frames("bytes", machine.grains(), 1 + checkpoints.min(2))?;
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
            generator: Generator::new(setup.seed),
        };
        Ok(BulkRequests::generator(machine, task, window, gap, requests))
    }
}

impl Task for Checkpoints {
    fn step(&mut self, machine: &mut RunningKernel) -> TaskStep {
        if let Some(copy) = self.copies.pop_front() {
            return TaskStep::Issue(copy);
        }
        if let Some(issued) = self.issued.take() {
            self.complete = Some(issued);
            return TaskStep::Wait;
        }
        if let Some(complete) = self.complete.take()
            && let Some(old) = self.kept.replace(complete)
        {
            machine.drop_checkpoint(old).expect("it is kept");
        }
        if self.left == 0 {
            return TaskStep::Done;
        }
        if self.writes_left > 0 {
            self.writes_left -= 1;
            let page = machine.draw_page(&mut self.generator);
            let (process, line) = (machine.process, a_line(&mut self.generator));
            let store = machine.store(process, page, line, &mut Vec::new());
            return TaskStep::Issue(store.expect("the page is there, and not shared"));
        }
        self.left -= 1;
        self.writes_left = self.writes;
        let mut operations = Vec::new();
        self.issued = Some(machine.checkpoint(&mut operations).expect("there is room for two checkpoints"));
        self.copies = operations.iter().map(request).collect();
        self.step(machine)
    }
}
