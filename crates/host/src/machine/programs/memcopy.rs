//! A program that copies or zeroes a buffer, beside a working set, and then reads a part of it.

use dram_spec::address::FRAME_BYTES;
use dram_spec::{LINE_BYTES, PhysicalAddress};
use trace_io::program::Step;

use super::super::settings::Region;
use super::steps::{Program, Steps};

dram_spec::named! {
    /// What the program does with its buffer.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum BufferOperation {
        /// It copies another buffer there.
        #[default]
        Copy = "copy",
        /// It zeroes the buffer.
        Zero = "zero",
    }
}

dram_spec::named! {
    /// Lines of the source before the copies.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum SourceState {
        /// No line of the source is in a cache, apart from the dirty ones.
        #[default]
        Cold = "cold",
        /// The program has loaded each line.
        Warm = "warm",
        /// The program has stored to each line.
        Dirty = "dirty",
    }
}

dram_spec::named! {
    /// Whether the region ends with loads of the working set, and in which order.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum ReadAgain {
        /// Without.
        #[default]
        No = "no",
        /// From the first line to the last, as before the copies.
        Forward = "forward",
        /// From the last line to the first.
        Backward = "backward",
    }
}

/// A process that prepares the lines of a source, loads its working set, copies the source to a destination with an
/// instruction `memcopy` per copy unit, and loads a share of the destination's lines.
///
/// All buffers have frames before the run, and no line of them is in a cache. Before each copy, the
/// unit of the destination gets new frames, as for a copy of its source. The measured region
/// begins when the preparation is over.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Memcopy {
    /// Whether it copies or zeroes.
    pub operation: BufferOperation,
    /// Size of the buffer, at least 1. Dirty lines beyond the size of the last-level cache
    /// are written back before the region.
    pub bytes: u64,
    /// Lines of the source that are not dirty by `dirty_share`.
    pub source: SourceState,
    /// Share of the lines of the source that are dirty, 0 to 1; all with [`SourceState::Dirty`].
    pub dirty_share: f64,
    /// Share of the lines of the destination that are loaded after the copies, 0 to 1.
    pub read_share: f64,
    /// Bytes of the working set, of which whole lines count.
    pub working_set_bytes: u64,
    /// Loads of the working set at the end.
    pub read_again: ReadAgain,
}

/// Whether a line is one of a number of lines that are spread evenly: of the first `n` lines,
/// `n * chosen / lines` are chosen, rounded down.
fn is_chosen(line: u64, chosen: u64, lines: u64) -> bool {
    let before = |line: u64| u128::from(line) * u128::from(chosen) / u128::from(lines);
    before(line + 1) > before(line)
}

impl Memcopy {
    /// Instructions between the preparation and the first copy. They end after the misses of all
    /// stores in a store buffer of the usual size.
    pub const PAUSE: u64 = 30_000;

    const SRC: u64 = 1 << 32;
    const DST: u64 = 1 << 33;
    const WORKING_SET: u64 = 1 << 34;

    /// Copies of a cold buffer, of which nothing is read, without a working set.
    pub const fn new(bytes: u64) -> Memcopy {
        Memcopy {
            operation: BufferOperation::Copy,
            bytes,
            source: SourceState::Cold,
            dirty_share: 0.0,
            read_share: 0.0,
            working_set_bytes: 0,
            read_again: ReadAgain::No,
        }
    }

    /// The region of the copies: all after the preparation and the pause.
    pub fn region(self) -> Region {
        let prepared = if self.loads_source() { self.lines() } else { self.dirty_lines() };
        Region { warm_up: prepared + self.working_set_lines() + Memcopy::PAUSE, instructions: None }
    }

    /// Whether the region has nothing but copies.
    pub fn is_copies_alone(self) -> bool {
        self.operation == BufferOperation::Copy && self.read_lines() == 0 && self.read_again == ReadAgain::No
    }

    /// Number of dirty lines: the share of all lines, rounded to a whole number.
    pub fn dirty_lines(self) -> u64 {
        match (self.operation, self.source) {
            (BufferOperation::Zero, _) => 0,
            (BufferOperation::Copy, SourceState::Dirty) => self.lines(),
            (BufferOperation::Copy, SourceState::Cold | SourceState::Warm) => self.share_of_lines(self.dirty_share),
        }
    }

    /// Number of lines of the destination that are loaded afterwards, as rounded as the dirty ones.
    pub fn read_lines(self) -> u64 {
        self.share_of_lines(self.read_share)
    }

    #[expect(clippy::cast_sign_loss, reason = "the share is not negative")]
    fn share_of_lines(self, share: f64) -> u64 {
        (self.lines() as f64 * share).round() as u64
    }

    /// Whether lines that are not dirty are loaded.
    fn loads_source(self) -> bool {
        self.operation == BufferOperation::Copy && self.source == SourceState::Warm
    }

    const fn lines(self) -> u64 {
        self.bytes.div_ceil(LINE_BYTES)
    }

    const fn working_set_lines(self) -> u64 {
        self.working_set_bytes / LINE_BYTES
    }

    /// Bytes of the pages of a buffer: at least a copy unit, which gets its frames as a whole.
    const fn mapped(self, unit: u64) -> u64 {
        if self.bytes < unit { unit } else { self.bytes.next_multiple_of(FRAME_BYTES) }
    }

    /// Steps before the region.
    fn preparation(self, unit: u64) -> impl Iterator<Item = Step> {
        let at = PhysicalAddress;
        let has_source = self.operation == BufferOperation::Copy;
        let areas = [
            (Memcopy::SRC, if has_source { self.mapped(unit) } else { 0 }),
            (Memcopy::DST, self.mapped(unit)),
            (Memcopy::WORKING_SET, self.working_set_bytes.next_multiple_of(FRAME_BYTES)),
        ];
        let begin = areas.into_iter().filter(|(_, bytes)| *bytes > 0).flat_map(move |(address, bytes)| {
            let address = at(address);
            [Step::Map { address, bytes }, Step::Present { address, bytes }]
        });
        let (dirty, loads) = (self.dirty_lines(), self.loads_source());
        let source = (0..self.lines()).filter_map(move |line| {
            let address = at(Memcopy::SRC + line * LINE_BYTES);
            if is_chosen(line, dirty, self.lines()) {
                return Some(Step::Store { address });
            }
            loads.then_some(Step::Load { address })
        });
        let pause = Step::Compute { instructions: Memcopy::PAUSE };
        begin.chain(source).chain((0..self.working_set_lines()).map(working_set_load)).chain([pause])
    }

    /// The copies or zeroings, one per copy unit.
    fn operations(self, unit: u64) -> impl Iterator<Item = Step> {
        (0..self.bytes.div_ceil(unit)).flat_map(move |number| {
            let (first, bytes) = (number * unit, unit.min(self.bytes - number * unit));
            let [dst, src] = [Memcopy::DST, Memcopy::SRC].map(|start| PhysicalAddress(start + first));
            let renewed = unit.min(self.mapped(unit) - first);
            let copy = [Step::Renew { page: dst, source: src, bytes: renewed }, Step::Copy { dst, src, bytes }];
            let zero = Step::Zero { address: dst, bytes };
            let is_copy = self.operation == BufferOperation::Copy;
            copy.into_iter().filter(move |_| is_copy).chain((!is_copy).then_some(zero))
        })
    }

    /// The program, for a kernel with copy units of this size: 4096 bytes times a power of two.
    pub fn program(self, unit: u64) -> Box<dyn Program> {
        let (lines, read) = (self.lines(), self.read_lines());
        let reads = (0..lines).filter(move |&line| is_chosen(line, read, lines));
        let reads = reads.map(|line| Step::Load { address: PhysicalAddress(Memcopy::DST + line * LINE_BYTES) });
        let working_set = self.working_set_lines();
        let again = (0..working_set).filter_map(move |line| match self.read_again {
            ReadAgain::No => None,
            ReadAgain::Forward => Some(working_set_load(line)),
            ReadAgain::Backward => Some(working_set_load(working_set - 1 - line)),
        });
        Box::new(Steps(self.preparation(unit).chain(self.operations(unit)).chain(reads).chain(again)))
    }
}

/// The load of a line of the working set.
const fn working_set_load(line: u64) -> Step {
    Step::Load { address: PhysicalAddress(Memcopy::WORKING_SET + line * LINE_BYTES) }
}

#[cfg(test)]
mod tests {
    use dram_spec::address::FRAME_BYTES;

    use super::*;

    /// Dirty lines of each page, and all instructions before the region.
    fn dirty(bytes: u64, dirty_share: f64) -> (Vec<u64>, u64) {
        let bench = Memcopy { dirty_share, ..Memcopy::new(bytes) };
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
        let mut program = Memcopy::new(3 * 4096).program(8192);
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

    /// All steps but maps, with addresses relative to their buffer, `s`, `d` or `w`, in lines.
    fn listed(bench: Memcopy, unit: u64) -> Vec<String> {
        let place = |address: PhysicalAddress| {
            let buffers = [('w', Memcopy::WORKING_SET), ('d', Memcopy::DST), ('s', Memcopy::SRC)];
            let (name, start) = buffers.into_iter().find(|(_, start)| address.0 >= *start).unwrap();
            format!("{name}{}", (address.0 - start) / LINE_BYTES)
        };
        let mut program = bench.program(unit);
        let steps = std::iter::from_fn(|| program.next_step().unwrap());
        let text = steps.filter_map(|step| match step {
            Step::Load { address } => Some(format!("load {}", place(address))),
            Step::Store { address } => Some(format!("store {}", place(address))),
            Step::Copy { dst, src, bytes } => Some(format!("copy {} {} {bytes}", place(dst), place(src))),
            Step::Zero { address, bytes } => Some(format!("zero {} {bytes}", place(address))),
            Step::Renew { page, bytes, .. } => Some(format!("renew {} {bytes}", place(page))),
            Step::Compute { instructions } => Some(format!("compute {instructions}")),
            _ => None,
        });
        text.collect()
    }

    /// Five lines, two of them dirty: of the first 1, 2, 3, 4, 5 lines 0, 0, 1, 1, 2. Half of five lines is 2.5,
    /// rounded to 3: of the first 1 to 5 lines 0, 1, 1, 2, 3.
    #[test]
    fn a_small_copy_has_a_unit_of_frames_and_its_destination_is_read() {
        let bench = Memcopy {
            source: SourceState::Warm,
            dirty_share: 0.4,
            read_share: 0.5,
            working_set_bytes: 128,
            read_again: ReadAgain::Backward,
            ..Memcopy::new(300)
        };
        let expected = [
            "load s0",
            "load s1",
            "store s2",
            "load s3",
            "store s4",
            "load w0",
            "load w1",
            "compute 30000",
            "renew d0 8192",
            "copy d0 s0 300",
            "load d1",
            "load d3",
            "load d4",
            "load w1",
            "load w0",
        ];
        assert_eq!(listed(bench, 8192), expected);
        assert_eq!(bench.region().warm_up, 30_007);
        assert!(!bench.is_copies_alone());
        let cold = listed(Memcopy { source: SourceState::Cold, read_again: ReadAgain::Forward, ..bench }, 8192);
        assert_eq!(cold[..3], ["store s2", "store s4", "load w0"]);
        assert_eq!(cold[cold.len() - 2..], ["load w0", "load w1"]);
        let dirty = Memcopy { source: SourceState::Dirty, dirty_share: 0.0, ..Memcopy::new(100) };
        assert_eq!(listed(dirty, 4096)[..3], ["store s0", "store s1", "compute 30000"]);
        assert_eq!(dirty.region().warm_up, 30_002);
    }

    #[test]
    fn a_zeroing_has_no_source() {
        let bench = Memcopy {
            operation: BufferOperation::Zero,
            source: SourceState::Warm,
            dirty_share: 1.0,
            read_share: 1.0,
            ..Memcopy::new(4096 + 64)
        };
        let steps = listed(bench, 4096);
        assert_eq!(steps[..3], ["compute 30000", "zero d0 4096", "zero d64 64"]);
        assert_eq!((steps.len(), bench.region().warm_up), (3 + 65, 30_000));
    }
}
