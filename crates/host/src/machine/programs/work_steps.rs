//! Steps of a program of the kernel, as they are generated.

use std::collections::VecDeque;

use dram_spec::{LINE_BYTES, PhysicalAddress};
use trace_io::program::{DeviceStep, Step};

/// Steps that a program has generated and not executed.
#[derive(Debug, Default)]
pub(super) struct WorkSteps {
    steps: VecDeque<Step>,
}

impl WorkSteps {
    /// No steps.
    pub(super) fn new() -> WorkSteps {
        WorkSteps::default()
    }

    /// Removes the first step.
    pub(super) fn next(&mut self) -> Option<Step> {
        self.steps.pop_front()
    }

    pub(super) fn add(&mut self, step: Step) {
        self.steps.push_back(step);
    }

    pub(super) fn device(&mut self, step: DeviceStep) {
        self.add(Step::Device(step));
    }

    /// Adds instructions.
    pub(super) fn work(&mut self, instructions: u64) {
        if instructions > 0 {
            self.add(Step::Compute { instructions });
        }
    }

    /// Maps pages, which have frames.
    pub(super) fn present(&mut self, address: u64, bytes: u64) {
        if bytes > 0 {
            let address = PhysicalAddress(address);
            self.steps.extend([Step::Map { address, bytes }, Step::Present { address, bytes }]);
        }
    }

    /// Loads and stores a number of lines from an address on.
    pub(super) fn touch(&mut self, first: u64, lines: u64) {
        for address in (0..lines).map(|line| PhysicalAddress(first + line * LINE_BYTES)) {
            self.steps.extend([Step::Load { address }, Step::Store { address }]);
        }
    }
}
