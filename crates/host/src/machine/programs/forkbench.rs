//! The paper's forkbench as a program.

use dram_spec::address::FRAME_BYTES;
use dram_spec::{LINE_BYTES, PhysicalAddress};
use os_alloc_sim::Generator;
use trace_io::program::Step;

use super::steps::{Program, Steps};

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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn steps(mut program: Box<dyn Program>) -> Vec<Step> {
        std::iter::from_fn(|| program.next_step().unwrap()).collect()
    }

    const BENCH: Forkbench = Forkbench { bytes: 16 * 4096, updates: 2_000, seed: 7 };

    /// 2,000 updates draw each of the 16 x 64 lines of the memory with a probability of 86 %, and no
    /// other byte. An update computes, then loads and stores one line.
    #[test]
    fn updates_are_of_random_lines_of_random_pages() {
        let start = Forkbench::START.0;
        let all = steps(BENCH.program());
        let head = [
            Step::Map { address: Forkbench::START, bytes: 65_536 },
            Step::Filled { address: Forkbench::START, bytes: 65_536 },
            Step::Fork { child: 2 },
            Step::Run { process: 2 },
        ];
        assert_eq!(all[..4], head);
        assert_eq!((all.len(), all.last()), (4 + 3 * 2_000 + 1, Some(&Step::Exit)));
        let mut lines = BTreeSet::new();
        for update in all[4..all.len() - 1].chunks(3) {
            let [Step::Compute { instructions: 30 }, Step::Load { address }, store] = update else {
                panic!("{update:?}");
            };
            assert_eq!(*store, Step::Store { address: *address });
            assert!((start..start + 65_536).contains(&address.0) && address.0 % 64 == 0, "{address:?}");
            lines.insert((address.0 - start) / 64);
        }
        assert!((840..=910).contains(&lines.len()), "{}", lines.len());
        let pages: BTreeSet<u64> = lines.iter().map(|line| line / 64).collect();
        let places: BTreeSet<u64> = lines.iter().map(|line| line % 64).collect();
        assert_eq!((pages.len(), places.len()), (16, 64));
    }

    /// A page and a line are drawn for each update, in this order.
    #[test]
    fn the_seed_determines_the_updates() {
        let mut generator = Generator::new(7);
        let mut drawn = || {
            let (page, line) = (u64::from(generator.below(16)), u64::from(generator.below(64)));
            PhysicalAddress(Forkbench::START.0 + page * 4096 + line * 64)
        };
        let all = steps(BENCH.program());
        for update in all[4..all.len() - 1].chunks(3) {
            assert_eq!(update[1], Step::Load { address: drawn() });
        }
        assert_ne!(all, steps(Forkbench { seed: 8, ..BENCH }.program()));
    }

    /// 1,024 lines of 8 words: a store, and 7 more instructions.
    #[test]
    fn the_initialization_stores_each_word() {
        let all = steps(BENCH.program_with_initialization());
        let rest = steps(BENCH.program());
        assert_eq!(all[0], rest[0]);
        for (line, stores) in (0..1_024).zip(all[1..].chunks(2)) {
            let address = PhysicalAddress(Forkbench::START.0 + 64 * line);
            assert_eq!(stores, [Step::Store { address }, Step::Compute { instructions: 7 }]);
        }
        assert_eq!(all[1 + 2 * 1_024..], rest[2..], "nothing is filled before");
    }
}
