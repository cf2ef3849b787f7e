//! Bulk copies with a bounded number in flight.

use std::fmt;

use dram_spec::Cycle;
use rowclone::Operation;

use super::gap::{Gap, Gaps};
use super::kind::RequestGenerator;
use super::machine::RunningKernel;

/// Next action of a task.
#[derive(Clone, Copy, Debug)]
pub(super) enum TaskStep {
    /// Issue this operation.
    Issue(Operation),
    /// Wait until all issued operations have completed.
    Wait,
    /// The task has ended.
    Done,
}

/// A generator of bulk operations.
pub(super) trait Task: fmt::Debug {
    /// Returns the next step. After [`TaskStep::Wait`], it is called once all operations have
    /// completed.
    fn step(&mut self, machine: &mut RunningKernel) -> TaskStep;
}

/// The requests of a task. At most `window` copies are in flight; writes do not count.
#[derive(Debug)]
pub(super) struct BulkRequests<T> {
    machine: RunningKernel,
    task: T,
    upcoming: TaskStep,
    window: u64,
    /// Requests in flight.
    in_flight: u64,
    /// Copies and zeroings in flight.
    copies: u64,
    gaps: Gaps,
    next: Cycle,
    requests: u64,
}

impl<T: Task + 'static> BulkRequests<T> {
    /// Creates the source at the task's first step.
    pub(super) fn generator(
        machine: RunningKernel,
        task: T,
        window: u64,
        gap: Gap,
        requests: u64,
    ) -> Box<dyn RequestGenerator> {
        let (upcoming, next) = (TaskStep::Wait, Cycle::ZERO);
        let gaps = Gaps::new(gap);
        let mut bulk = BulkRequests { machine, task, upcoming, window, in_flight: 0, copies: 0, gaps, next, requests };
        bulk.advance();
        Box::new(bulk)
    }

    fn advance(&mut self) {
        self.upcoming = self.task.step(&mut self.machine);
        while self.in_flight == 0 && matches!(self.upcoming, TaskStep::Wait) {
            self.upcoming = self.task.step(&mut self.machine);
        }
    }
}

impl<T: Task + 'static> RequestGenerator for BulkRequests<T> {
    fn requests(&self) -> u64 {
        self.requests
    }

    fn machine(&mut self) -> Option<&mut RunningKernel> {
        Some(&mut self.machine)
    }

    fn next_arrival(&self) -> Option<Cycle> {
        match self.upcoming {
            TaskStep::Issue(operation) if self.copies < self.window || !operation.is_copy() => Some(self.next),
            TaskStep::Issue(_) | TaskStep::Wait | TaskStep::Done => None,
        }
    }

    fn take(&mut self, now: Cycle) -> Option<(Option<Cycle>, Operation)> {
        self.next_arrival().filter(|&at| at <= now)?;
        let TaskStep::Issue(operation) = self.upcoming else { return None };
        self.in_flight += 1;
        let mut arrival = Some(self.next);
        if operation.is_copy() {
            self.copies += 1;
        } else if self.gaps.are_zero() {
            // Stores are issued at the rate at which they are accepted: a store not yet accepted is
            // not yet issued.
            self.next = now;
            arrival = None;
        }
        self.next += self.gaps.next();
        self.advance();
        Some((arrival, operation))
    }

    fn complete(&mut self, operation: &Operation, done: Cycle) {
        self.in_flight -= 1;
        if operation.is_copy() {
            if self.copies == self.window {
                self.next = self.next.max(done);
            }
            self.copies -= 1;
        }
        if self.in_flight == 0 && matches!(self.upcoming, TaskStep::Wait) {
            self.next = self.next.max(done);
            self.advance();
        }
    }
}
