//! Processes that begin and end on a system that zeroes memory when it is freed.

use std::collections::VecDeque;

use os_alloc_sim::{Generator, ZeroOnFree};
use rowclone::Planner;

use crate::allocator_settings::AllocatorSettings;

use super::bulk::{Bulk, Step, Task};
use super::error::WorkloadError;
use super::gap::Gap;
use super::machine::{Machine, request, write_a_line};
use super::region::some;

/// Processes run one after another under zero on free (Linux's `init_on_free=1`). Each writes a line to each of its pages, in
/// order, and exits; all of its memory is zeroed, and then the next process begins. A first touch zeroes nothing, because all
/// free memory holds zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessExits {
    /// The memory of each process, none of it touched before: a multiple of 4096.
    pub bytes: u64,
    /// Processes.
    pub processes: u64,
    /// Zeroings under way at once, at most: at least 1.
    pub window: u64,
    /// Between the arrivals of two requests, at least. With 0, writes arrive as they can be taken.
    pub gap: Gap,
}

/// What is left to do of a [`ProcessExits`].
#[derive(Debug)]
pub(super) struct Exits {
    /// Processes that have not ended.
    left: u64,
    /// The page that the process writes to next.
    page: u64,
    /// What follows before anything else.
    queue: VecDeque<Step>,
    generator: Generator,
}

impl ProcessExits {
    pub(super) fn source(
        &self,
        workload: &'static str,
        planner: &Planner,
        allocator: Option<&AllocatorSettings>,
        seed: u64,
    ) -> Result<Bulk<Exits>, WorkloadError> {
        let ProcessExits { bytes, processes, window, gap } = *self;
        some("processes", processes, 1)?;
        some("window", window, 1)?;
        let machine = Machine::with(ZeroOnFree::On, workload, planner, allocator, bytes)?;
        let requests = processes.saturating_mul(machine.pages + machine.grains());
        let task = Exits { left: processes, page: 0, queue: VecDeque::new(), generator: Generator::new(seed) };
        Ok(Bulk::new(machine, task, window, gap, requests))
    }
}

impl Task for Exits {
    fn step(&mut self, machine: &mut Machine) -> Step {
        if let Some(step) = self.queue.pop_front() {
            return step;
        }
        if self.left == 0 {
            return Step::Done;
        }
        let mut operations = Vec::new();
        if self.page < machine.pages {
            let frame = machine.kernel.write(machine.process, self.page, &mut operations);
            self.page += 1;
            return Step::Issue(write_a_line(frame.expect("there is room for a process"), &mut self.generator));
        }
        machine.kernel.exit(machine.process, &mut operations).expect("the process lives");
        self.queue.extend(operations.iter().map(|zeroing| Step::Issue(request(zeroing))));
        self.queue.push_back(Step::Wait);
        (self.left, self.page) = (self.left - 1, 0);
        machine.begin_process();
        self.step(machine)
    }
}
