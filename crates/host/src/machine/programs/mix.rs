//! Programs of the multi-core mixes: copy-intensive and memory-intensive, without an end.
//!
//! The paper names its applications, but gives no figures of their instructions. The constants were
//! chosen before the first run. A copy-intensive program copies or zeroes a page every 8,000
//! instructions, and misses 10 times per 1000 instructions besides: at about one instruction per
//! two cycles, copies then take a fifth of its time, which lies within the published gains of IPC
//! (4 % to 66 %). A memory-intensive program misses 25 times per 1000 instructions, and a quarter
//! of its lines are written.

use dram_spec::address::FRAME_BYTES;
use dram_spec::{LINE_BYTES, PhysicalAddress};
use os_alloc_sim::Generator;
use trace_io::program::Step;

use super::steps::{Program, Steps};

const LINES_PER_PAGE: u32 = (FRAME_BYTES / LINE_BYTES) as u32;

/// Memory that a copy-intensive program reads between its copies, or that a memory-intensive one
/// accesses.
const HEAP: Area = Area { start: 1 << 32, pages: 16_384 };
/// Pages that are copied to or zeroed.
const TARGET: Area = Area { start: 1 << 33, pages: 1024 };
/// Sources of `memcopy`.
const SOURCE: Area = Area { start: 1 << 34, pages: 1024 };

/// Instructions from one copied or zeroed page to the next.
const PAGE_INTERVAL: u64 = 8_000;
/// Instructions from one load of the heap to the next, in a copy-intensive program.
const SPARSE: u64 = 100;
/// Instructions from one line to the next, in a memory-intensive program.
const DENSE: u64 = 40;
/// Pages that a child process updates or allocates before it exits.
const PAGES_PER_CHILD: u32 = 256;
/// Lines of a copied page that are read after the copy.
const READ_BACK: u32 = 16;
/// Consecutive lines of a burst.
const BURST: u32 = 16;

dram_spec::named! {
    /// A program of the mixes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum MixProgram {
        /// A process of 4 MiB forks; the child updates a line of each of 256 random pages and exits.
        Fork = "fork",
        /// A child process allocates 256 pages, writes and reads each line of them, and exits.
        Allocate = "allocate",
        /// Pages of a buffer are copied to another one, where a quarter of each is read.
        Copy = "copy",
        /// Lines of 64 MiB in the order of their addresses.
        Stream = "stream",
        /// Random lines of 64 MiB.
        Random = "random",
        /// Runs of 16 lines at random places of 64 MiB.
        Burst = "burst",
    }
}

impl MixProgram {
    /// The copy-intensive programs.
    pub const COPY_INTENSIVE: [MixProgram; 3] = [MixProgram::Fork, MixProgram::Allocate, MixProgram::Copy];
    /// The memory-intensive programs.
    pub const MEMORY_INTENSIVE: [MixProgram; 3] = [MixProgram::Stream, MixProgram::Random, MixProgram::Burst];

    /// The programs of a mix, of number 0 to 8, by core: copy-intensive ones on even cores,
    /// memory-intensive ones on odd cores. Three mixes contain each program of a kind equally
    /// often, and with two cores nine contain each pair.
    pub fn mix(number: usize, cores: usize) -> Vec<MixProgram> {
        let of = |core: usize| {
            let first = number + core / 2;
            if core.is_multiple_of(2) {
                Self::COPY_INTENSIVE[first % 3]
            } else {
                Self::MEMORY_INTENSIVE[(first + number / 3) % 3]
            }
        };
        (0..cores).map(of).collect()
    }

    /// The steps of the program, with the random numbers of a seed.
    pub fn program(self, seed: u64) -> Box<dyn Program> {
        let areas = match self {
            MixProgram::Fork => vec![HEAP, TARGET],
            MixProgram::Copy => vec![HEAP, TARGET, SOURCE],
            MixProgram::Allocate | MixProgram::Stream | MixProgram::Random | MixProgram::Burst => vec![HEAP],
        };
        let begin = areas.into_iter().flat_map(|area| [area.map(), area.present()]);
        let mut generated = Generated { program: self, generator: Generator::new(seed) };
        Box::new(Steps(begin.chain((0..).flat_map(move |round| generated.round(round)))))
    }
}

/// Consecutive pages.
#[derive(Clone, Copy, Debug)]
struct Area {
    start: u64,
    pages: u32,
}

impl Area {
    const fn page(self, page: u32) -> PhysicalAddress {
        PhysicalAddress(self.start + page as u64 * FRAME_BYTES)
    }

    const fn line(self, line: u32) -> PhysicalAddress {
        PhysicalAddress(self.start + line as u64 * LINE_BYTES)
    }

    const fn lines(self) -> u32 {
        self.pages * LINES_PER_PAGE
    }

    const fn map(self) -> Step {
        Step::Map { address: self.page(0), bytes: self.pages as u64 * FRAME_BYTES }
    }

    const fn present(self) -> Step {
        Step::Present { address: self.page(0), bytes: self.pages as u64 * FRAME_BYTES }
    }
}

/// A program in rounds, each of which accesses one page or one line of its own kind.
#[derive(Debug)]
struct Generated {
    program: MixProgram,
    generator: Generator,
}

impl Generated {
    /// Steps of a round. The rounds come in order.
    fn round(&mut self, round: u64) -> Vec<Step> {
        match self.program {
            MixProgram::Fork | MixProgram::Allocate | MixProgram::Copy => self.page_round(round),
            MixProgram::Stream => self.line_round(round as u32 % HEAP.lines()),
            MixProgram::Random => {
                let line = self.generator.below(HEAP.lines());
                self.line_round(line)
            }
            MixProgram::Burst => {
                let first = self.generator.below(HEAP.lines() / BURST) * BURST;
                (first..first + BURST).flat_map(|line| self.line_round(line)).collect()
            }
        }
    }

    /// A copied or zeroed page, its use, and the instructions up to the next one.
    fn page_round(&mut self, round: u64) -> Vec<Step> {
        let mut steps = Vec::new();
        let in_child = (round % u64::from(PAGES_PER_CHILD)) as u32;
        if self.program != MixProgram::Copy && in_child == 0 {
            if round > 0 {
                steps.extend([Step::Exit, Step::Run { process: 1 }]);
            }
            steps.extend([Step::Fork { child: 2 }, Step::Run { process: 2 }]);
            if self.program == MixProgram::Allocate {
                steps.push(TARGET.map());
            }
        }
        let first = self.generator.below(TARGET.pages) * LINES_PER_PAGE;
        match self.program {
            MixProgram::Fork => {
                let address = TARGET.line(first + self.generator.below(LINES_PER_PAGE));
                steps.extend([Step::Load { address }, Step::Store { address }]);
            }
            MixProgram::Allocate => {
                let lines = (0..LINES_PER_PAGE).map(|line| TARGET.line(in_child * LINES_PER_PAGE + line));
                steps.extend(lines.flat_map(|address| [Step::Store { address }, Step::Load { address }]));
            }
            _ => {
                let src = SOURCE.page(self.generator.below(SOURCE.pages));
                steps.push(Step::Copy { dst: TARGET.line(first), src, bytes: FRAME_BYTES });
                let read = (first..first + READ_BACK).map(|line| Step::Load { address: TARGET.line(line) });
                steps.extend(read);
            }
        }
        for _ in 0..PAGE_INTERVAL / SPARSE {
            let address = HEAP.line(self.generator.below(HEAP.lines()));
            steps.extend([Step::Compute { instructions: SPARSE - 1 }, Step::Load { address }]);
        }
        steps
    }

    /// A line, every fourth of which is written.
    fn line_round(&mut self, line: u32) -> Vec<Step> {
        let address = HEAP.line(line);
        let is_written = self.generator.below(4) == 0;
        let access = if is_written { Step::Store { address } } else { Step::Load { address } };
        vec![Step::Compute { instructions: DENSE - 1 }, access]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixes_balance_the_programs() {
        for cores in [2, 4, 8] {
            let all: Vec<MixProgram> = (0..3).flat_map(|number| MixProgram::mix(number, cores)).collect();
            for program in MixProgram::COPY_INTENSIVE.into_iter().chain(MixProgram::MEMORY_INTENSIVE) {
                assert_eq!(all.iter().filter(|&&other| other == program).count(), cores / 2, "{program:?}");
            }
        }
    }

    #[test]
    fn nine_mixes_of_two_cores_are_all_pairs() {
        let pairs: std::collections::BTreeSet<_> = (0..9).map(|number| MixProgram::mix(number, 2)).collect();
        assert_eq!(pairs.len(), 9);
    }

    /// Instructions, pages copied or zeroed, and lines of the heap of the first steps.
    #[test]
    fn rates_are_those_of_the_constants() {
        for program in MixProgram::COPY_INTENSIVE.into_iter().chain(MixProgram::MEMORY_INTENSIVE) {
            let mut steps = program.program(1);
            let (mut instructions, mut heap) = (0, 0);
            while instructions < 1_000_000 {
                match steps.next_step().unwrap().unwrap() {
                    Step::Compute { instructions: count } => instructions += count,
                    Step::Load { address } | Step::Store { address } => {
                        instructions += 1;
                        heap += u64::from(address < TARGET.page(0));
                    }
                    Step::Copy { .. } => instructions += 1,
                    _ => {}
                }
            }
            let per_1000 = if MixProgram::COPY_INTENSIVE.contains(&program) { 9.8..=10.0 } else { 24.99..=25.01 };
            let found = heap as f64 * 1000.0 / instructions as f64;
            assert!(per_1000.contains(&found), "{program:?}: {found}");
        }
    }
}
