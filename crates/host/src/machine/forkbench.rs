//! The paper's forkbench as a program.

use dram_spec::address::FRAME_BYTES;
use dram_spec::{LINE_BYTES, PhysicalAddress};
use os_alloc_sim::Generator;
use trace_io::program::Step;

use super::program::{Program, Steps};

/// A process that filled `bytes` forks. The child updates one line of each of `updates` random
/// pages and exits; the parent waits for it.
///
/// A page may be updated more than once, as the paper's text allows: it is copied once. An update
/// loads and stores the line, after [`Forkbench::COMPUTE`] instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forkbench {
    /// Memory of the parent in bytes, a multiple of 4096 (the paper's S).
    pub bytes: u64,
    /// Updates of the child (the paper's N).
    pub updates: u64,
    /// Seed of the random pages.
    pub seed: u64,
}

impl Forkbench {
    /// Instructions before an update, which compute its address.
    pub const COMPUTE: u64 = 30;

    const START: PhysicalAddress = PhysicalAddress(1 << 32);

    /// The program from the fork on; the parent filled its memory before the run.
    pub fn program(self) -> Box<dyn Program> {
        let filled = Step::Filled { address: Forkbench::START, bytes: self.bytes };
        self.after(std::iter::once(filled))
    }

    /// The program with the initialization: the parent stores each word of its memory first.
    pub fn program_with_initialization(self) -> Box<dyn Program> {
        let rest = Step::Compute { instructions: LINE_BYTES / 8 - 1 };
        let lines = (0..self.bytes / LINE_BYTES).map(|line| PhysicalAddress(Forkbench::START.0 + line * LINE_BYTES));
        self.after(lines.flat_map(move |address| [Step::Store { address }, rest]))
    }

    /// The steps of the parent after it mapped its memory, then the fork and the child.
    fn after(self, initialization: impl Iterator<Item = Step> + 'static) -> Box<dyn Program> {
        let map = Step::Map { address: Forkbench::START, bytes: self.bytes };
        let fork = [Step::Fork { child: 2 }, Step::Run { process: 2 }];
        let begin = std::iter::once(map).chain(initialization).chain(fork);
        let mut generator = Generator::new(self.seed);
        let pages = (self.bytes / FRAME_BYTES) as u32;
        let updates = (0..self.updates).flat_map(move |_| {
            let page = u64::from(generator.below(pages));
            let line = u64::from(generator.below((FRAME_BYTES / LINE_BYTES) as u32));
            let address = PhysicalAddress(Forkbench::START.0 + page * FRAME_BYTES + line * LINE_BYTES);
            [Step::Compute { instructions: Forkbench::COMPUTE }, Step::Load { address }, Step::Store { address }]
        });
        Box::new(Steps(begin.chain(updates).chain([Step::Exit])))
    }
}
