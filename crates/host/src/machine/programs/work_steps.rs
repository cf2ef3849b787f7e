//! Steps of a program of the kernel, as they are generated.

use std::collections::VecDeque;

use dram_spec::{LINE_BYTES, PhysicalAddress};
use trace_io::program::{DeviceStep, InstructionClass, InstructionKind, Needs, Step};

/// Stack and local variables, which stay in an L1.
const LOCALS: u64 = 1 << 38;
/// Their words of 8 bytes: 1 KiB.
const LOCAL_WORDS: u64 = 128;

/// Instructions of a group: a load, and two integer instructions.
const GROUP: u64 = 3;

/// Steps that a program has generated and not executed.
#[derive(Debug, Default)]
pub(super) struct WorkSteps {
    steps: VecDeque<Step>,
    /// Words of the local variables that were loaded.
    loaded: u64,
}

impl WorkSteps {
    /// Maps the local variables.
    pub(super) fn new() -> WorkSteps {
        let mut steps = WorkSteps::default();
        steps.present(LOCALS, LOCAL_WORDS * 8);
        steps
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

    /// Adds instructions in groups: a load of a local variable and two integer instructions. Each needs the result of the
    /// one before.
    pub(super) fn work(&mut self, instructions: u64) {
        let after = [1, 0];
        for first in (0..instructions).step_by(GROUP as usize) {
            let address = PhysicalAddress(LOCALS + self.loaded % LOCAL_WORDS * 8);
            self.loaded += 1;
            let needs = Needs { class: InstructionClass::Load, after };
            self.add(Step::Instruction { kind: InstructionKind::Load { address }, needs });
            let integers = (instructions - first).min(GROUP) - 1;
            if integers > 0 {
                let kind = InstructionKind::Compute { instructions: integers };
                self.add(Step::Instruction { kind, needs: Needs { class: InstructionClass::Integer, after } });
            }
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

    /// Seven instructions: two groups, and the load of a third one.
    #[test]
    fn work_is_a_chain_of_loads_and_integer_instructions() {
        let mut steps = WorkSteps::default();
        steps.work(7);
        let load = |word: u64| Step::Instruction {
            kind: InstructionKind::Load { address: PhysicalAddress(LOCALS + word * 8) },
            needs: Needs { class: InstructionClass::Load, after: [1, 0] },
        };
        let two = Step::Instruction {
            kind: InstructionKind::Compute { instructions: 2 },
            needs: Needs { class: InstructionClass::Integer, after: [1, 0] },
        };
        let all: Vec<Step> = std::iter::from_fn(|| steps.next()).collect();
        assert_eq!(all, [load(0), two, load(1), two, load(2)]);
    }
}
