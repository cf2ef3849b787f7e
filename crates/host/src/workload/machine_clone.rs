//! Clones of a virtual machine.

use std::collections::VecDeque;

use rowclone::{Operation, Planner};

use crate::allocator_settings::AllocatorSettings;

use super::bulk::{Bulk, Step, Task};
use super::error::WorkloadError;
use super::gap::Gap;
use super::machine::{Machine, request};
use super::region::some;

/// A virtual machine stands still and is copied, all of it and several times. All clones live on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineClone {
    /// The memory of the machine, which it has filled before the run: a multiple of 4096.
    pub bytes: u64,
    /// Clones, one after another.
    pub clones: u64,
    /// Copies under way at once, at most: at least 1.
    pub window: u64,
    /// Between the arrivals of two copies, at least.
    pub gap: Gap,
}

/// What is left to do of a [`MachineClone`].
#[derive(Debug)]
pub(super) struct Clones {
    left: u64,
    /// The copies of the clone that is being made.
    copies: VecDeque<Operation>,
    wait: bool,
}

impl MachineClone {
    pub(super) fn source(
        &self,
        workload: &'static str,
        planner: &Planner,
        allocator: Option<&AllocatorSettings>,
    ) -> Result<Bulk<Clones>, WorkloadError> {
        let MachineClone { bytes, clones, window, gap } = *self;
        some("clones", clones, 1)?;
        some("window", window, 1)?;
        let mut machine = Machine::new(workload, planner, allocator, bytes)?;
        machine.assure_room("clones", machine.grains(), clones.saturating_add(1))?;
        machine.fill();
        let requests = clones * machine.grains();
        Ok(Bulk::new(machine, Clones { left: clones, copies: VecDeque::new(), wait: false }, window, gap, requests))
    }
}

impl Task for Clones {
    fn step(&mut self, machine: &mut Machine) -> Step {
        if let Some(copy) = self.copies.pop_front() {
            self.wait = true;
            return Step::Issue(copy);
        }
        if std::mem::take(&mut self.wait) {
            return Step::Wait;
        }
        if self.left == 0 {
            return Step::Done;
        }
        self.left -= 1;
        let mut operations = Vec::new();
        machine.kernel.clone_machine(machine.process, &mut operations).expect("there is room for all clones");
        self.copies = operations.iter().map(request).collect();
        self.step(machine)
    }
}
