//! What a part becomes once its mechanism is chosen: untimed work for banks and channels.

use dram_spec::address::Locator;
use dram_spec::{BankId, Channel, Column, LINE_BYTES, Location, PhysicalAddress, Row};

use crate::block::{Block, Direction, Part, Piece};
use crate::mechanism::Mechanism;
use crate::operation::Operation;

/// Untimed work that holds its banks until it is complete in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// How it is done.
    pub mechanism: Mechanism,
    /// Bytes of the operation that it does.
    pub bytes: u64,
    /// Index of the part of the block that it does; where it does several over the channel, of the longest.
    pub part: usize,
    /// What is to be done.
    pub work: Work,
}

/// What a segment does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// A copy activation.
    Fpm {
        /// The channel.
        channel: Channel,
        /// The bank of both rows.
        bank: BankId,
        /// The row copied.
        src: Row,
        /// The row overwritten, all of it.
        dst: Row,
    },
    /// One TRANSFER a line.
    Psm {
        /// The channel.
        channel: Channel,
        /// The bank and row read.
        src: (BankId, Row),
        /// The bank and row written: another bank of the same rank.
        dst: (BankId, Row),
        /// Source and destination column of each line, in any order.
        columns: Vec<(Column, Column)>,
    },
    /// Two TRANSFERs a line. The first goes from the source column to the *destination's* column of the temporary row,
    /// the second from there to the same column of the destination.
    Psm2 {
        /// The channel.
        channel: Channel,
        /// The bank and row read.
        src: (BankId, Row),
        /// The stop-over: another bank of the same rank.
        temporary: (BankId, Row),
        /// The bank and row written: the source's bank.
        dst: (BankId, Row),
        /// Source and destination column of each line, in any order.
        columns: Vec<(Column, Column)>,
    },
    /// Bursts over the channel: all reads, then all writes.
    ///
    /// Of a copy, the byte written at address `a` is the one read at `a - dst + src`.
    Channel {
        /// The lines to read, each once, by rising address, or by falling address where the writes fall. A line that is written in
        /// part is among them, so that the rest of it can be merged.
        reads: Vec<Line>,
        /// The lines to write, each once.
        writes: Vec<LineWrite>,
    },
}

/// A line of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its first byte.
    pub address: PhysicalAddress,
    /// Where it lies.
    pub location: Location,
}

/// A line that is written, and the bytes of it that the operation is about.
///
/// The burst writes the whole line all the same: chips four pins wide have no data mask, and a processor's cache
/// merges whole lines. Where `from..to` is less than the line, the rest is what was read before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineWrite {
    /// The line.
    pub line: Line,
    /// The first byte of the line that changes.
    pub from: u16,
    /// The end of those bytes, at most 64.
    pub to: u16,
}

impl Block {
    /// The work of the block with a mechanism for each part.
    ///
    /// Parts that stay in DRAM make one segment each. All that go over the channel are merged, sorted by address, and
    /// cut into pieces of at most `staging_lines` lines written (of a read: read); but not where whole lines come from
    /// one channel and go to another.
    ///
    /// # Panics
    ///
    /// If there is not one choice a part, if a part does not allow its choice, or if `staging_lines` is 0.
    pub fn segments(&self, choices: &[Mechanism], staging_lines: usize) -> Vec<Segment> {
        assert_eq!(choices.len(), self.parts.len(), "one mechanism a part");
        assert!(staging_lines > 0, "a copy over the channel needs room for a line");
        let mut segments = Vec::new();
        let mut by_channel: Vec<(usize, &Part)> = Vec::new();
        for (index, (part, &mechanism)) in self.parts.iter().zip(choices).enumerate() {
            match part.work_in_dram(mechanism) {
                Some(work) => segments.push(Segment { mechanism, bytes: part.bytes, part: index, work }),
                None => by_channel.push((index, part)),
            }
        }
        if let Some(&(part, _)) = by_channel.iter().max_by_key(|(index, part)| (part.bytes, usize::MAX - index)) {
            let mut writes = self.lines(by_channel.iter().map(|&(_, part)| part));
            if self.direction == Direction::Descending {
                writes.reverse();
            }
            // From one channel to another, each line is written as it arrives: the buffer bounds what is on its way, and
            // not the segment.
            let from = by_channel[0].1.src.map(|src| src.channel);
            let crosses = from.is_some_and(|from| {
                let across = |part: &Part| part.src.is_some_and(|src| src.channel == from && part.dst.channel != from);
                by_channel.iter().all(|(_, part)| across(part))
            });
            let most = if crosses { writes.len().max(1) } else { staging_lines };
            segments.extend(writes.chunks(most).map(|writes| self.channel_segment(part, writes)));
        }
        segments
    }

    /// The work of one part alone with a mechanism.
    ///
    /// # Panics
    ///
    /// As [`Block::segments`], and if there is no such part.
    pub fn segments_of(&self, part: usize, mechanism: Mechanism, staging_lines: usize) -> Vec<Segment> {
        let alone = Block { parts: vec![self.parts[part].clone()], ..self.clone() };
        alone.segments(&[mechanism], staging_lines)
    }

    /// The destination lines of some parts, by rising address.
    fn lines<'a>(&self, parts: impl Iterator<Item = &'a Part>) -> Vec<LineWrite> {
        let mut locator = Locator::default();
        let most = self.parts.iter().map(|part| part.bytes / LINE_BYTES + 2).sum::<u64>();
        let mut lines = Vec::with_capacity(most as usize);
        for piece in parts.flat_map(|part| &part.pieces) {
            let end = piece.dst + piece.bytes;
            let mut address = piece.dst;
            while address < end {
                let base = address / LINE_BYTES * LINE_BYTES;
                let next = end.min(base + LINE_BYTES);
                let line = self.line(&mut locator, base);
                lines.push(LineWrite { line, from: (address - base) as u16, to: (next - base) as u16 });
                address = next;
            }
        }
        lines.sort_unstable_by_key(|write| write.line.address);
        lines
    }

    fn line(&self, locator: &mut Locator<Location>, base: u64) -> Line {
        let address = PhysicalAddress(base);
        let located = locator.locate(&self.shared.map, address, |first| first);
        let (first, columns) = located.expect("the operation was checked to lie in the memory");
        Line { address, location: Location { column: Column(first.column.0 + columns), ..first } }
    }

    fn channel_segment(&self, part: usize, targets: &[LineWrite]) -> Segment {
        let bytes = targets.iter().map(|write| u64::from(write.to - write.from)).sum();
        let (reads, writes) = match self.operation {
            Operation::Read { .. } => (targets.iter().map(|target| target.line).collect(), Vec::new()),
            Operation::Copy { .. } | Operation::Init { .. } | Operation::Write { .. } => {
                (self.reads_for(targets), targets.to_vec())
            }
        };
        Segment { mechanism: Mechanism::Channel, bytes, part, work: Work::Channel { reads, writes } }
    }

    /// The source lines of some writes, and the lines that must be merged.
    fn reads_for(&self, writes: &[LineWrite]) -> Vec<Line> {
        let mut locator = Locator::default();
        let mut reads: Vec<Line> = Vec::with_capacity(writes.len() + 1);
        for &LineWrite { line, from, to } in writes {
            if let Some(src) = self.operation.src() {
                let source = |byte: u16| line.address.0 + u64::from(byte) - self.operation.target().0 + src.0;
                let (first, last) = (source(from) / LINE_BYTES, source(to - 1) / LINE_BYTES);
                reads.extend((first..=last).map(|number| self.line(&mut locator, number * LINE_BYTES)));
            }
            if u64::from(to - from) < LINE_BYTES {
                reads.push(line);
            }
        }
        reads.sort_unstable_by_key(|read| read.address);
        reads.dedup();
        if self.direction == Direction::Descending {
            reads.reverse();
        }
        reads
    }
}

impl Part {
    /// What it takes to do the part without the channel; `None` for a choice of the channel.
    fn work_in_dram(&self, mechanism: Mechanism) -> Option<Work> {
        if let Err(reason) = self.allows(mechanism) {
            panic!("{} was chosen for a part of {} that does not allow it: {reason}", mechanism.name(), self.dst);
        }
        let (channel, dst) = (self.dst.channel, (self.dst.bank, self.dst.row));
        let columns = || self.pieces.iter().flat_map(Piece::columns).collect();
        match mechanism {
            Mechanism::Channel => None,
            Mechanism::Fpm => {
                self.routes.fpm.ok().map(|src| Work::Fpm { channel, bank: self.dst.bank, src, dst: self.dst.row })
            }
            Mechanism::Psm => self.routes.psm.ok().map(|src| Work::Psm { channel, src, dst, columns: columns() }),
            Mechanism::Psm2 => self.routes.psm2.ok().map(|(src, temporary)| Work::Psm2 {
                channel,
                src,
                temporary,
                dst,
                columns: columns(),
            }),
        }
    }
}
