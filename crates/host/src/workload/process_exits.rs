//! Processes on a system that zeroes freed memory.

use std::collections::VecDeque;

use os_alloc_sim::{Generator, ZeroOnFree};

use super::bulk::{BulkRequests, Task, TaskStep};
use super::error::WorkloadError;
use super::gap::Gap;
use super::kind::{KindProperties, RequestGenerator, WorkloadKind};
use super::machine::{RunningKernel, Setup, a_line, request};
use super::region::positive_multiple;

/// Processes that run one after another under zero on free (Linux's `init_on_free=1`). Each writes
/// a line to each of its pages, in order, and exits; all its memory is zeroed before the next
/// process starts. First touches zero no memory, as free memory contains zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessExits {
    /// Memory of each process in bytes, initially untouched: a multiple of 4096.
    pub bytes: u64,
    /// Number of processes.
    pub processes: u64,
    /// Maximum number of zeroings in flight, at least 1.
    pub window: u64,
    /// Minimum time between the arrivals of two requests. With 0, writes arrive when they are
    /// accepted.
    pub gap: Gap,
}

/// State of a [`ProcessExits`].
#[derive(Debug)]
struct Exits {
    /// Processes that have not exited.
    left: u64,
    /// The page to which the process writes next.
    page: u64,
    /// Steps to take before any other.
    queue: VecDeque<TaskStep>,
    generator: Generator,
}

impl WorkloadKind for ProcessExits {
    fn properties(&self) -> KindProperties {
        KindProperties { name: "zero-on-free", gap: self.gap, needs_allocator: true }
    }

    fn generator(&self, setup: &Setup<'_>) -> Result<Box<dyn RequestGenerator>, WorkloadError> {
        let ProcessExits { bytes, processes, window, gap } = *self;
        positive_multiple("processes", processes, 1)?;
        positive_multiple("window", window, 1)?;
        let machine = RunningKernel::with(ZeroOnFree::On, setup, bytes)?;
        let requests = processes.saturating_mul(machine.pages + machine.grains());
        let task = Exits { left: processes, page: 0, queue: VecDeque::new(), generator: Generator::new(setup.seed) };
        Ok(BulkRequests::generator(machine, task, window, gap, requests))
    }
}

impl Task for Exits {
    fn step(&mut self, machine: &mut RunningKernel) -> TaskStep {
        if let Some(step) = self.queue.pop_front() {
            return step;
        }
        if self.left == 0 {
            return TaskStep::Done;
        }
        let mut operations = Vec::new();
        if self.page < machine.pages {
            let line = a_line(&mut self.generator);
            let store = machine.store(machine.process, self.page, line, &mut operations);
            self.page += 1;
            return TaskStep::Issue(store.expect("there is room for a process"));
        }
        machine.exit(machine.process, &mut operations).expect("the process lives");
        self.queue.extend(operations.iter().map(|zeroing| TaskStep::Issue(request(zeroing))));
        self.queue.push_back(TaskStep::Wait);
        (self.left, self.page) = (self.left - 1, 0);
        machine.begin_process();
        self.step(machine)
    }
}
