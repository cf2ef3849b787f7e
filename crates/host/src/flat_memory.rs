//! Flat memory: the reference that the cells are compared with.

use std::sync::Arc;

use dram_core::Line;
use dram_spec::{LINE_BYTES, PhysicalAddress};
use os_alloc_sim::Frame;
use rowclone::Operation;
use rustc_hash::FxHashMap;

pub use crate::contents::Contents;

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
    /// These bytes; copies of the line share them.
    Bytes(Arc<Line>),
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
    blocks: FxHashMap<u64, Block>,
    count: usize,
}

/// The stored lines of an aligned block of 64 lines.
#[derive(Default)]
pub(crate) struct Block {
    /// Bit mask of the stored lines.
    present: u64,
    /// The stored lines, in order.
    lines: Vec<Held>,
}

pub(crate) const BLOCK_LINES: u64 = 64;

impl Block {
    fn index(&self, bit: u64) -> usize {
        (self.present & (bit - 1)).count_ones() as usize
    }

    /// The line with this number, which must lie in the block.
    pub(crate) fn get(&self, line: u64) -> Option<&Held> {
        let bit = 1 << (line % BLOCK_LINES);
        (self.present & bit != 0).then(|| &self.lines[self.index(bit)])
    }
}

impl WrittenLines {
    /// The block of a line, if any line of the block is stored.
    pub(crate) fn block(&self, line: u64) -> Option<&Block> {
        self.blocks.get(&(line / BLOCK_LINES))
    }

    fn get(&self, line: u64) -> Option<&Held> {
        self.block(line)?.get(line)
    }

    /// The contents of `count` lines, the first of which is number `first`.
    fn held(&self, first: u64, count: u64) -> Vec<Held> {
        let mut block = self.block(first);
        let held = |line| {
            if line % BLOCK_LINES == 0 {
                block = self.block(line);
            }
            block.and_then(|block| block.get(line)).cloned().unwrap_or(Held::AtReset(line))
        };
        (first..first + count).map(held).collect()
    }

    fn insert(&mut self, line: u64, held: Held) {
        let bit = 1 << (line % BLOCK_LINES);
        let block = self.blocks.entry(line / BLOCK_LINES).or_default();
        let index = block.index(bit);
        if block.present & bit == 0 {
            block.present |= bit;
            block.lines.insert(index, held);
            self.count += 1;
        } else {
            block.lines[index] = held;
        }
    }

    /// Stores consecutive lines from `first`, whole blocks at once.
    fn insert_all(&mut self, first: u64, held: &[Held]) {
        let (mut line, mut rest) = (first, held);
        while let [next, others @ ..] = rest {
            if line.is_multiple_of(BLOCK_LINES) && rest.len() >= BLOCK_LINES as usize {
                let (lines, later) = rest.split_at(BLOCK_LINES as usize);
                let before = self.blocks.insert(line / BLOCK_LINES, Block { present: u64::MAX, lines: lines.to_vec() });
                self.count += lines.len() - before.map_or(0, |before| before.lines.len());
                (line, rest) = (line + BLOCK_LINES, later);
            } else {
                self.insert(line, next.clone());
                (line, rest) = (line + 1, others);
            }
        }
    }

    /// Number of stored lines.
    pub(crate) const fn len(&self) -> usize {
        self.count
    }

    /// The stored lines by number, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &Held)> {
        self.blocks.iter().flat_map(|(number, block)| {
            let lines = number * BLOCK_LINES..(number + 1) * BLOCK_LINES;
            lines.filter_map(|line| Some((line, block.get(line)?)))
        })
    }
}

/// The lines that a range overlaps, by number, and the bytes of each within the range.
fn lines(address: PhysicalAddress, bytes: u64) -> impl Iterator<Item = (u64, std::ops::Range<usize>)> {
    let end = address.0 + bytes;
    (address.0 / LINE_BYTES..end.div_ceil(LINE_BYTES)).map(move |line| {
        let base = line * LINE_BYTES;
        (line, (address.0.max(base) - base) as usize..(end.min(base + LINE_BYTES) - base) as usize)
    })
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

    fn fill(&mut self, address: PhysicalAddress, bytes: u64, value: u8) {
        if is_whole_lines([address.0, bytes]) {
            let filled = Arc::new([value; LINE_BYTES as usize]);
            let lines = vec![Held::Bytes(filled); (bytes / LINE_BYTES) as usize];
            self.written.insert_all(address.0 / LINE_BYTES, &lines);
        } else {
            self.write(address, &vec![value; bytes as usize]);
        }
    }

    fn copy(&mut self, src: PhysicalAddress, dst: PhysicalAddress, bytes: u64) {
        if is_whole_lines([src.0, dst.0, bytes]) {
            let moved = self.written.held(src.0 / LINE_BYTES, bytes / LINE_BYTES);
            self.written.insert_all(dst.0 / LINE_BYTES, &moved);
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
            Expected::Line(self.written.get(line).cloned().unwrap_or(Held::AtReset(line)))
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

    fn line(&self, line: u64) -> Line {
        self.written.get(line).map_or_else(|| self.contents.line_at(line), |held| self.bytes(held))
    }

    fn bytes(&self, held: &Held) -> Line {
        match held {
            Held::AtReset(line) => self.contents.line_at(*line),
            Held::Bytes(bytes) => **bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use dram_spec::address::Preset;
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
            let contents = Contents::new(1, AddressMap::preset(system.geometry, Preset::RowInterleaved));
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
