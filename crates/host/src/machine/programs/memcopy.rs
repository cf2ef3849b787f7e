//! A program that copies a buffer, part of whose source is dirty in the cache.

use dram_spec::{LINE_BYTES, PhysicalAddress};
use trace_io::program::Step;

use super::super::settings::Region;
use super::steps::{Program, Steps};

/// A process that stores to a share of the lines of a buffer, and then copies the buffer to another
/// one with an instruction `memcopy` per copy unit.
///
/// Both buffers have frames before the run, and no line of them is in a cache. Before each copy, the
/// unit of the destination gets new frames, as for a copy of its source. The measured region
/// begins when the stores are over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memcopy {
    /// Size of the buffer, a multiple of 4096. Dirty lines beyond the size of the last-level cache
    /// are written back before the region.
    pub bytes: u64,
    /// Share of the lines of the source that are dirty, 0 to 1.
    pub dirty_share: f64,
}

impl Memcopy {
    /// Instructions between the last store and the first copy. They end after the misses of all
    /// stores in a store buffer of the usual size.
    pub const PAUSE: u64 = 30_000;

    const SRC: u64 = 1 << 32;
    const DST: u64 = 1 << 33;

    /// The region of the copies: all after the stores and the pause.
    pub fn region(self) -> Region {
        Region { warm_up: self.dirty_lines() + Memcopy::PAUSE, instructions: None }
    }

    /// Number of dirty lines: the share of all lines, rounded to a whole number.
    #[expect(clippy::cast_sign_loss, reason = "the share is not negative")]
    pub fn dirty_lines(self) -> u64 {
        (self.lines() as f64 * self.dirty_share).round() as u64
    }

    const fn lines(self) -> u64 {
        self.bytes / LINE_BYTES
    }

    /// Whether the program stores to a line of the source. The dirty lines are spread evenly: of
    /// the first `n` lines, `n * dirty / lines`, rounded down, are dirty.
    fn is_dirty(self, line: u64) -> bool {
        let before = |line: u64| u128::from(line) * u128::from(self.dirty_lines()) / u128::from(self.lines());
        before(line + 1) > before(line)
    }

    /// The program, for a kernel with copy units of this size: 4096 bytes times a power of two.
    pub fn program(self, unit: u64) -> Box<dyn Program> {
        let at = PhysicalAddress;
        let begin = [Memcopy::SRC, Memcopy::DST].into_iter().flat_map(move |address| {
            let (address, bytes) = (at(address), self.bytes);
            [Step::Map { address, bytes }, Step::Present { address, bytes }]
        });
        let dirty = (0..self.lines()).filter(move |&line| self.is_dirty(line));
        let stores = dirty.map(move |line| Step::Store { address: at(Memcopy::SRC + line * LINE_BYTES) });
        let copies = (0..self.bytes.div_ceil(unit)).flat_map(move |number| {
            let (first, bytes) = (number * unit, unit.min(self.bytes - number * unit));
            let (dst, src) = (at(Memcopy::DST + first), at(Memcopy::SRC + first));
            [Step::Renew { page: dst, source: src, bytes }, Step::Copy { dst, src, bytes }]
        });
        let pause = Step::Compute { instructions: Memcopy::PAUSE };
        Box::new(Steps(begin.chain(stores).chain([pause]).chain(copies)))
    }
}

#[cfg(test)]
mod tests {
    use dram_spec::address::FRAME_BYTES;

    use super::*;

    /// Dirty lines of each page, and all instructions before the region.
    fn dirty(bytes: u64, dirty_share: f64) -> (Vec<u64>, u64) {
        let bench = Memcopy { bytes, dirty_share };
        let (mut program, mut of_page, mut instructions) =
            (bench.program(FRAME_BYTES), vec![0; (bytes / FRAME_BYTES) as usize], 0);
        let mut copies = Vec::new();
        while let Some(step) = program.next_step().unwrap() {
            match step {
                Step::Store { address } => {
                    of_page[((address.0 - Memcopy::SRC) / FRAME_BYTES) as usize] += 1;
                    instructions += 1;
                    assert!(copies.is_empty(), "all stores precede all copies");
                }
                Step::Compute { instructions: count } => instructions += count,
                Step::Copy { dst, src, bytes } => copies.push((dst.0 - Memcopy::DST, src.0 - Memcopy::SRC, bytes)),
                _ => {}
            }
        }
        let pages = (0..bytes / FRAME_BYTES).map(|page| (page * FRAME_BYTES, page * FRAME_BYTES, FRAME_BYTES));
        assert_eq!(copies, pages.collect::<Vec<_>>());
        assert_eq!(bench.region().warm_up, instructions);
        (of_page, bench.dirty_lines())
    }

    /// A buffer of three pages, in units of two.
    #[test]
    fn copies_are_of_whole_units_and_a_rest() {
        let mut program = Memcopy { bytes: 3 * 4096, dirty_share: 0.0 }.program(8192);
        let mut found = Vec::new();
        while let Some(step) = program.next_step().unwrap() {
            if matches!(step, Step::Renew { .. } | Step::Copy { .. }) {
                found.push(step);
            }
        }
        let at = |start: u64, first: u64| PhysicalAddress(start + first);
        let expected = [(0, 8192), (8192, 4096)].map(|(first, bytes)| {
            let (dst, src) = (at(Memcopy::DST, first), at(Memcopy::SRC, first));
            [Step::Renew { page: dst, source: src, bytes }, Step::Copy { dst, src, bytes }]
        });
        assert_eq!(found, expected.as_flattened());
    }

    #[test]
    fn dirty_lines_are_exact_and_spread_evenly() {
        assert_eq!(dirty(3 * 4096, 0.0), (vec![0; 3], 0));
        assert_eq!(dirty(3 * 4096, 0.25), (vec![16; 3], 48));
        assert_eq!(dirty(3 * 4096, 1.0), (vec![64; 3], 192));
        // A tenth of 640 lines: 6.4 per page.
        let (of_page, all) = dirty(10 * 4096, 0.1);
        assert_eq!((of_page.iter().sum::<u64>(), all), (64, 64));
        assert!(of_page.iter().all(|count| (6..=7).contains(count)), "{of_page:?}");
    }
}
