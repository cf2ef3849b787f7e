//! Steps of a program of the kernel, as they are generated.

use std::collections::VecDeque;

use dram_spec::{LINE_BYTES, PhysicalAddress};
use trace_io::program::{DeviceStep, InstructionClass, InstructionKind, Needs, Step};

/// Core cycles of an instruction of work: of three, one is a load that hits an L1 of 4 cycles, and two are integer
/// instructions, and each needs the result of the one before.
const CYCLES_PER_INSTRUCTION: u64 = 2;

/// Steps that a program has generated and not executed.
#[derive(Debug, Default)]
pub(super) struct WorkSteps {
    steps: VecDeque<Step>,
}

impl WorkSteps {
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

    /// Adds work of a number of instructions: a chain of integer instructions, one per core cycle. A chain with the
    /// loads takes the same cycles, and many times as long to simulate.
    pub(super) fn work(&mut self, instructions: u64) {
        if instructions > 0 {
            let kind = InstructionKind::Compute { instructions: instructions * CYCLES_PER_INSTRUCTION };
            let needs = Needs { class: InstructionClass::Integer, after: [1, 0] };
            self.add(Step::Instruction { kind, needs });
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Seven instructions take 14 cycles.
    #[test]
    fn work_is_a_chain_of_integer_instructions() {
        let mut steps = WorkSteps::default();
        steps.work(7);
        steps.work(0);
        let chain = Step::Instruction {
            kind: InstructionKind::Compute { instructions: 14 },
            needs: Needs { class: InstructionClass::Integer, after: [1, 0] },
        };
        let all: Vec<Step> = std::iter::from_fn(|| steps.next()).collect();
        assert_eq!(all, [chain]);
    }
}
