//! Flat memory: the reference that the cells are compared with.

use std::ops::Range;
use std::sync::Arc;

use dram_core::LineBytes;
use dram_spec::{LINE_BYTES, PhysicalAddress};
use os_alloc_sim::Frame;
use rowclone::Operation;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::contents::{BLOCK_LINES, Contents};

/// A flat array of bytes. It stores the lines that operations wrote; all other lines have their
/// [`Contents`] at reset.
pub struct FlatMemory {
    pub(crate) contents: Contents,
    pub(crate) written: WrittenLines,
}

/// Contents of a line.
#[derive(Clone, Debug)]
pub(crate) enum Held {
    /// The contents at reset of the line with this number.
    AtReset(u64),
    /// These 64 bytes; copies of the line, and the request that wrote it, share them.
    Bytes(Arc<[u8]>),
}

/// Data that a read must return: the flat memory's contents when the read arrived.
pub(crate) enum Expected {
    /// Data of a read of one line, without a copy of its bytes.
    Line(Held),
    Bytes(Vec<u8>),
}

/// Lines by number (the address divided by 64), in blocks of 64 lines.
#[derive(Default)]
pub(crate) struct WrittenLines {
    /// By number of their first line, divided by 64.
    blocks: FxHashMap<u64, LineBlock>,
    count: u64,
}

/// An aligned block of 64 lines, some of which were written.
#[derive(Clone)]
pub(crate) struct LineBlock {
    /// Number of the block whose contents at reset are those of the lines that are not stored. If
    /// it is another block, all lines of this one were written.
    origin: u64,
    /// Bit mask of the stored lines.
    present: u64,
    /// The stored lines, in order.
    lines: SmallVec<[Held; 1]>,
}

impl LineBlock {
    fn of(origin: u64) -> LineBlock {
        LineBlock { origin, present: 0, lines: SmallVec::new() }
    }

    fn index(&self, bit: u64) -> usize {
        (self.present & (bit - 1)).count_ones() as usize
    }

    /// The line with this number, which must lie in the block, if it is stored.
    pub(crate) fn stored(&self, line: u64) -> Option<&Held> {
        let bit = 1 << (line % BLOCK_LINES);
        (self.present & bit != 0).then(|| &self.lines[self.index(bit)])
    }

    /// The line whose contents at reset are those of a line that is not stored.
    pub(crate) fn source(&self, line: u64) -> u64 {
        self.origin * BLOCK_LINES + line % BLOCK_LINES
    }

    /// Whether no line of the block is stored.
    pub(crate) const fn stores_nothing(&self) -> bool {
        self.present == 0
    }

    fn held(&self, line: u64) -> Held {
        self.stored(line).cloned().unwrap_or_else(|| Held::AtReset(self.source(line)))
    }

    /// Number of written lines, if the block has this number.
    const fn written(&self, number: u64) -> u64 {
        if self.origin == number { self.present.count_ones() as u64 } else { BLOCK_LINES }
    }

    /// Stores a line; returns whether it is the first time.
    fn insert(&mut self, line: u64, held: Held) -> bool {
        let bit = 1 << (line % BLOCK_LINES);
        let is_new = self.present & bit == 0;
        if self.present < bit {
            self.lines.push(held);
        } else if is_new {
            self.lines.insert(self.index(bit), held);
        } else {
            let index = self.index(bit);
            self.lines[index] = held;
        }
        self.present |= bit;
        is_new
    }
}

impl WrittenLines {
    /// The block of a line, if any line of the block was written.
    pub(crate) fn block(&self, line: u64) -> Option<&LineBlock> {
        self.blocks.get(&(line / BLOCK_LINES))
    }

    fn held(&self, line: u64) -> Held {
        self.block(line).map_or(Held::AtReset(line), |block| block.held(line))
    }

    fn insert(&mut self, line: u64, held: Held) {
        let number = line / BLOCK_LINES;
        let block = self.blocks.entry(number).or_insert(LineBlock::of(number));
        let is_new = block.insert(line, held) && block.origin == number;
        self.count += u64::from(is_new);
    }

    fn insert_block(&mut self, number: u64, block: LineBlock) {
        self.count += block.written(number);
        let before = self.blocks.insert(number, block);
        self.count -= before.map_or(0, |before| before.written(number));
    }

    /// Stores the contents of `count` lines from `first` on.
    fn fill(&mut self, first: u64, count: u64, held: &Held) {
        for (block, lines) in blocks(first, count) {
            if lines.end - lines.start == BLOCK_LINES {
                let lines = SmallVec::from_elem(held.clone(), BLOCK_LINES as usize);
                self.insert_block(block, LineBlock { present: u64::MAX, lines, ..LineBlock::of(block) });
            } else {
                lines.for_each(|line| self.insert(line, held.clone()));
            }
        }
    }

    /// Copies lines that lie in one block of the destination.
    fn copy_within_block(&mut self, src: u64, dst: u64, count: u64) {
        if count == BLOCK_LINES && src.is_multiple_of(BLOCK_LINES) {
            let block = self.block(src).cloned().unwrap_or(LineBlock::of(src / BLOCK_LINES));
            return self.insert_block(dst / BLOCK_LINES, block);
        }
        let held: Vec<_> = (src..src + count).map(|line| self.held(line)).collect();
        held.into_iter().zip(dst..).for_each(|(held, line)| self.insert(line, held));
    }

    /// Copies `count` lines, block by block of the destination.
    fn copy(&mut self, src: u64, dst: u64, count: u64) {
        let copy = |(_, lines): (u64, Range<u64>)| {
            self.copy_within_block(lines.start - dst + src, lines.start, lines.end - lines.start);
        };
        // Where the ranges overlap, no line is overwritten before it is copied.
        if dst < src { blocks(dst, count).for_each(copy) } else { blocks(dst, count).rev().for_each(copy) }
    }

    /// Number of written lines.
    pub(crate) const fn len(&self) -> u64 {
        self.count
    }

    /// Passes on the written lines by number, in no particular order.
    pub(crate) fn for_each(&self, mut pass_on: impl FnMut(u64, &Held)) {
        for (&number, block) in &self.blocks {
            for line in number * BLOCK_LINES..(number + 1) * BLOCK_LINES {
                match block.stored(line) {
                    Some(held) => pass_on(line, held),
                    None if block.origin != number => pass_on(line, &Held::AtReset(block.source(line))),
                    None => {}
                }
            }
        }
    }
}

/// The blocks that `count` lines from `first` on overlap, by number, and the lines in each.
fn blocks(first: u64, count: u64) -> impl DoubleEndedIterator<Item = (u64, Range<u64>)> {
    let end = first + count;
    let lines = move |block| first.max(block * BLOCK_LINES)..end.min((block + 1) * BLOCK_LINES);
    (first / BLOCK_LINES..end.div_ceil(BLOCK_LINES)).map(move |block| (block, lines(block)))
}

/// The lines that a range overlaps, by number, and the bytes of each within the range.
pub(crate) fn lines(address: PhysicalAddress, bytes: u64) -> impl Iterator<Item = (u64, Range<usize>)> {
    let end = address.0 + bytes;
    (address.0 / LINE_BYTES..end.div_ceil(LINE_BYTES)).map(move |line| {
        let base = line * LINE_BYTES;
        (line, (address.0.max(base) - base) as usize..(end.min(base + LINE_BYTES) - base) as usize)
    })
}

/// The line that these bytes are.
pub(crate) fn line_in(bytes: &[u8]) -> &LineBytes {
    bytes.try_into().expect("a line has 64 bytes")
}

/// Whether a range with these addresses and this length consists of whole lines.
fn is_whole_lines<const N: usize>(numbers: [u64; N]) -> bool {
    numbers.iter().all(|number| number.is_multiple_of(LINE_BYTES))
}

impl FlatMemory {
    /// Creates a memory at reset.
    pub fn new(contents: Contents) -> FlatMemory {
        FlatMemory { contents, written: WrittenLines::default() }
    }

    /// Reads `bytes` bytes from `address`.
    pub fn read(&self, address: PhysicalAddress, bytes: u64) -> Vec<u8> {
        let mut read = Vec::with_capacity(bytes as usize);
        for (line, part) in lines(address, bytes) {
            read.extend_from_slice(&self.line(line)[part]);
        }
        read
    }

    /// Stores `bytes` from `address`.
    pub fn write(&mut self, address: PhysicalAddress, bytes: &[u8]) {
        let mut rest = bytes;
        for (line, part) in lines(address, bytes.len() as u64) {
            let (now, later) = rest.split_at(part.len());
            let is_whole = part.len() as u64 == LINE_BYTES;
            let mut new = if is_whole { [0; LINE_BYTES as usize] } else { self.line(line) };
            new[part].copy_from_slice(now);
            self.written.insert(line, Held::Bytes(Arc::new(new)));
            rest = later;
        }
    }

    /// Stores the bytes of a write from `address`, without a copy if they are one line.
    pub(crate) fn write_shared(&mut self, address: PhysicalAddress, bytes: &Arc<[u8]>) {
        if is_whole_lines([address.0]) && bytes.len() as u64 == LINE_BYTES {
            self.written.insert(address.0 / LINE_BYTES, Held::Bytes(Arc::clone(bytes)));
        } else {
            self.write(address, bytes);
        }
    }

    fn fill(&mut self, address: PhysicalAddress, bytes: u64, value: u8) {
        if is_whole_lines([address.0, bytes]) {
            let filled = Arc::new([value; LINE_BYTES as usize]);
            self.written.fill(address.0 / LINE_BYTES, bytes / LINE_BYTES, &Held::Bytes(filled));
        } else {
            self.write(address, &vec![value; bytes as usize]);
        }
    }

    fn copy(&mut self, src: PhysicalAddress, dst: PhysicalAddress, bytes: u64) {
        if is_whole_lines([src.0, dst.0, bytes]) {
            self.written.copy(src.0 / LINE_BYTES, dst.0 / LINE_BYTES, bytes / LINE_BYTES);
        } else {
            let moved = self.read(src, bytes);
            self.write(dst, &moved);
        }
    }

    /// Applies an operation; returns the data of a read. `payload` is the data of a write.
    pub fn apply(&mut self, operation: &Operation, payload: Option<&[u8]>) -> Option<Vec<u8>> {
        match *operation {
            Operation::Copy { src, dst, bytes } => self.copy(src, dst, bytes),
            Operation::Init { dst, bytes, value } => self.fill(dst, bytes, value),
            Operation::Read { address, bytes } => return Some(self.read(address, bytes)),
            Operation::Write { address, .. } => self.write(address, payload.unwrap_or_default()),
        }
        None
    }

    /// Whether no line of a frame was written.
    pub(crate) fn is_at_reset(&self, frame: Frame) -> bool {
        self.written.block(frame.address().0 / LINE_BYTES).is_none()
    }

    /// Data that a read arriving now must return.
    pub(crate) fn expected(&self, address: PhysicalAddress, bytes: u64) -> Expected {
        if bytes == LINE_BYTES && is_whole_lines([address.0]) {
            let line = address.0 / LINE_BYTES;
            Expected::Line(self.written.held(line))
        } else {
            Expected::Bytes(self.read(address, bytes))
        }
    }

    /// Offset of the first byte in which a read's data differ from the expected data.
    pub(crate) fn difference(&self, expected: &Expected, found: &[u8]) -> Option<usize> {
        let line;
        let expected: &[u8] = match expected {
            Expected::Line(held) => {
                line = self.bytes(held);
                &line
            }
            Expected::Bytes(bytes) => bytes,
        };
        if expected == found {
            return None;
        }
        Some((0..expected.len()).find(|&at| found.get(at) != Some(&expected[at])).unwrap_or(expected.len()))
    }

    fn line(&self, line: u64) -> LineBytes {
        self.bytes(&self.written.held(line))
    }

    fn bytes(&self, held: &Held) -> LineBytes {
        match held {
            Held::AtReset(line) => self.contents.line_at(*line),
            Held::Bytes(bytes) => *line_in(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use dram_spec::address::MapPreset;
    use dram_spec::{AddressMap, Density, System, Width};
    use proptest::prelude::*;

    use super::*;

    /// Four blocks of lines.
    const BYTES: u64 = 16_384;

    fn arb_operation() -> impl Strategy<Value = Operation> {
        let range = || (0..BYTES, 1..=BYTES).prop_map(|(from, bytes)| (PhysicalAddress(from), bytes.min(BYTES - from)));
        let whole = |(from, bytes): (PhysicalAddress, u64)| {
            let from = PhysicalAddress(from.0 / LINE_BYTES * LINE_BYTES);
            (from, bytes.next_multiple_of(LINE_BYTES).min(BYTES - from.0))
        };
        let range = || prop_oneof![range(), range().prop_map(whole)];
        let copy = (range(), range()).prop_map(|((src, a), (dst, b))| Operation::Copy { src, dst, bytes: a.min(b) });
        let init = (range(), any::<u8>()).prop_map(|((dst, bytes), value)| Operation::Init { dst, bytes, value });
        prop_oneof![
            copy,
            init,
            range().prop_map(|(address, bytes)| Operation::Write { address, bytes }),
            range().prop_map(|(address, bytes)| Operation::Read { address, bytes }),
        ]
    }

    proptest! {
        #[test]
        fn it_holds_what_an_array_of_bytes_holds(operations in proptest::collection::vec(arb_operation(), 1..20)) {
            let system = System::paper(1, Density::Gb1, Width::X8);
            let contents = Contents::new(1, AddressMap::preset(system.geometry, MapPreset::RowInterleaved));
            let mut array: Vec<u8> = (0..BYTES / LINE_BYTES).flat_map(|line| contents.line_at(line)).collect();
            let mut flat = FlatMemory::new(contents.clone());
            for (operation, index) in operations.iter().zip(0..) {
                let range = |from: PhysicalAddress, bytes: u64| from.0 as usize..(from.0 + bytes) as usize;
                let payload = contents.payload(index, BYTES);
                let (mut data, mut expected) = (None, None);
                match *operation {
                    Operation::Copy { src, dst, bytes } => array.copy_within(range(src, bytes), dst.0 as usize),
                    Operation::Init { dst, bytes, value } => array[range(dst, bytes)].fill(value),
                    Operation::Read { address, bytes } => expected = Some(array[range(address, bytes)].to_vec()),
                    Operation::Write { address, bytes } => {
                        data = Some(&payload[..bytes as usize]);
                        array[range(address, bytes)].copy_from_slice(&payload[..bytes as usize]);
                    }
                }
                prop_assert_eq!(flat.apply(operation, data), expected);
            }
            prop_assert_eq!(flat.read(PhysicalAddress(0), BYTES), array);
        }
    }
}
