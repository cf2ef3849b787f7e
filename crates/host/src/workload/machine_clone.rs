//! Clones of a virtual machine.

use std::collections::VecDeque;

use rowclone::Operation;

use super::bulk::{BulkRequests, Task, TaskStep};
use super::error::WorkloadError;
use super::gap::Gap;
use super::kind::{KindProperties, RequestGenerator, WorkloadKind};
use super::machine::{RunningKernel, Setup, request};
use super::region::positive_multiple;

/// A stopped virtual machine of which several complete copies are made. All clones remain in
/// memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MachineClone {
    /// Memory of the machine in bytes, written before the run: a multiple of 4096.
    pub bytes: u64,
    /// Number of clones, made one after another.
    pub clones: u64,
    /// Maximum number of copies in flight, at least 1.
    pub window: u64,
    /// Minimum time between the arrivals of two copies.
    pub gap: Gap,
}

/// State of a [`MachineClone`].
#[derive(Debug)]
struct Clones {
    left: u64,
    /// Copies of the current clone.
    copies: VecDeque<Operation>,
    wait: bool,
}

impl WorkloadKind for MachineClone {
    fn properties(&self) -> KindProperties {
        KindProperties { name: "clone", gap: self.gap, needs_allocator: true }
    }

    fn generator(&self, setup: &Setup<'_>) -> Result<Box<dyn RequestGenerator>, WorkloadError> {
        let MachineClone { bytes, clones, window, gap } = *self;
        positive_multiple("clones", clones, 1)?;
        positive_multiple("window", window, 1)?;
        let mut machine = RunningKernel::new(setup, bytes)?;
        machine.ensure_free_frames("clones", machine.grains(), clones.saturating_add(1))?;
        machine.fill();
        let requests = clones * machine.grains();
        Ok(BulkRequests::generator(
            machine,
            Clones { left: clones, copies: VecDeque::new(), wait: false },
            window,
            gap,
            requests,
        ))
    }
}

impl Task for Clones {
    fn step(&mut self, machine: &mut RunningKernel) -> TaskStep {
        if let Some(copy) = self.copies.pop_front() {
            self.wait = true;
            return TaskStep::Issue(copy);
        }
        if std::mem::take(&mut self.wait) {
            return TaskStep::Wait;
        }
        if self.left == 0 {
            return TaskStep::Done;
        }
        self.left -= 1;
        let mut operations = Vec::new();
        machine.clone_process(&mut operations).expect("there is room for all clones");
        self.copies = operations.iter().map(request).collect();
        self.step(machine)
    }
}
