//! Segments: the untimed work of a part by its selected mechanism, for banks and channels.

use std::ops::Range;

use dram_spec::{BankId, Channel, Column, LINE_BYTES, Location, PhysicalAddress, Row};

use crate::block::{Block, Direction, Part, Piece};
use crate::{FPM, PSM, PSM2};
use dram_spec::Mechanism;
use dram_spec::Operation;

/// Untimed work that occupies its banks until it is complete there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Mechanism of the work.
    pub mechanism: Mechanism,
    /// Bytes of the operation in the segment.
    pub bytes: u64,
    /// Index of the part in its block; for several parts over the channel, index of the longest.
    pub part: usize,
    /// Work to execute.
    pub work: Work,
}

/// Work of a segment.
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
        /// Row that is overwritten completely.
        dst: Row,
    },
    /// One TRANSFER per line.
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
    /// Two TRANSFERs per line: from the source column to the destination column of the temporary
    /// row, and from there to the same column of the destination row.
    Psm2 {
        /// The channel.
        channel: Channel,
        /// The bank and row read.
        src: (BankId, Row),
        /// Bank and temporary row: another bank of the same rank.
        temporary: (BankId, Row),
        /// The bank and row written: the source's bank.
        dst: (BankId, Row),
        /// Source and destination column of each line, in any order.
        columns: Vec<(Column, Column)>,
    },
    /// Bursts over the channel: all reads, then all writes.
    ///
    /// Of a copy, the byte written at address `a` is the byte read at `a - dst + src`.
    Channel {
        /// Lines to read, each once, by rising address, or by falling address if the writes are.
        /// They include each partially written line, whose other bytes are merged.
        reads: Vec<Run>,
        /// Lines to write, each once.
        writes: Vec<RunWrite>,
    },
}

impl Work {
    /// Lines read and lines written over the channel.
    pub fn lines(&self) -> (usize, usize) {
        match self {
            Work::Fpm { .. } | Work::Psm { .. } | Work::Psm2 { .. } => (0, 0),
            Work::Channel { reads, writes } => {
                let count = |run: &Run| usize::from(run.count);
                (reads.iter().map(count).sum(), writes.iter().map(|write| count(&write.run)).sum())
            }
        }
    }
}

/// A line of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Address of the first byte.
    pub address: PhysicalAddress,
    /// Location of the line.
    pub location: Location,
}

/// Lines with consecutive columns in one row, at equal distances in the address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// First line.
    pub first: Line,
    /// Number of lines, at least one.
    pub count: u16,
    /// Bytes from a line to the next: 64, unless the lines between them lie in other channels or
    /// banks.
    pub stride: u64,
}

impl Run {
    /// Line number `number` of the run, from 0.
    #[inline]
    pub fn line(&self, number: u16) -> Line {
        let Line { address, location } = self.first;
        let column = Column(location.column.0 + number);
        let address = PhysicalAddress(address.0 + u64::from(number) * self.stride);
        Line { address, location: Location { column, ..location } }
    }

    /// Appends a run that follows directly in the row, if all lines then have equal distances.
    /// Returns whether it did.
    pub(crate) fn append(&mut self, next: &Run) -> bool {
        let end = self.line(self.count);
        let Some(beyond) = next.first.address.0.checked_sub(end.address.0) else { return false };
        let stride = self.stride + beyond;
        let is_even = (self.count == 1 || beyond == 0) && (next.count == 1 || next.stride == stride);
        let follows = is_even && next.first.location == end.location;
        if follows {
            (self.count, self.stride) = (self.count + next.count, stride);
        }
        follows
    }

    /// All lines of the run.
    pub fn lines(&self) -> impl DoubleEndedIterator<Item = Line> {
        let run = *self;
        (0..run.count).map(move |number| run.line(number))
    }
}

/// A line to write, and the bytes of the line that the operation changes.
///
/// The burst always writes the whole line: x4 chips have no data mask, and a processor's cache
/// merges whole lines. Bytes outside `from..to` were read before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineWrite {
    /// The line.
    pub line: Line,
    /// First byte of the line that changes.
    pub from: u16,
    /// End of the changed bytes, at most 64.
    pub to: u16,
}

/// Lines to write, and the bytes that the operation changes: all except for bytes at the start of
/// the first line and at the end of the last line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunWrite {
    /// The lines.
    pub run: Run,
    /// First changed byte of the first line.
    pub from: u16,
    /// End of the changed bytes in the last line, at most 64.
    pub to: u16,
}

impl RunWrite {
    /// Line number `number` of the run, from 0.
    #[inline]
    pub fn write(&self, number: u16) -> LineWrite {
        LineWrite {
            line: self.run.line(number),
            from: if number == 0 { self.from } else { 0 },
            to: if number + 1 == self.run.count { self.to } else { LINE_BYTES as u16 },
        }
    }

    /// Appends a later run like [`Run::append`], if no byte between the two runs is unchanged.
    pub(crate) fn append(&mut self, next: &RunWrite) -> bool {
        let follows = u64::from(self.to) == LINE_BYTES && next.from == 0 && self.run.append(&next.run);
        if follows {
            self.to = next.to;
        }
        follows
    }

    /// All lines of the run.
    pub fn writes(&self) -> impl Iterator<Item = LineWrite> {
        let write = *self;
        (0..write.run.count).map(move |number| write.write(number))
    }
}

/// Bytes of the memory, by address; the end is not among them.
type Bytes = Range<u64>;

impl Block {
    /// Segments of the block with a mechanism per part.
    ///
    /// Each part copied in DRAM is one segment. All parts over the channel are merged, sorted by
    /// address, and divided into segments of at most `staging_lines` written lines (of a read: read
    /// lines). Whole lines from one channel to another are not divided.
    ///
    /// # Panics
    ///
    /// If there is not one choice per part, if a part does not allow its choice, or if
    /// `staging_lines` is 0.
    pub fn segments(&self, choices: &[Mechanism], staging_lines: usize) -> Vec<Segment> {
        assert_eq!(choices.len(), self.parts.len(), "one mechanism a part");
        assert!(staging_lines > 0, "a copy over the channel needs room for a line");
        let mut segments = Vec::with_capacity(self.parts.len());
        let mut by_channel: Vec<(usize, &Part)> = Vec::new();
        for (index, (part, &mechanism)) in self.parts.iter().zip(choices).enumerate() {
            match part.work_in_dram(mechanism) {
                Some(work) => segments.push(Segment { mechanism, bytes: part.bytes, part: index, work }),
                None => by_channel.push((index, part)),
            }
        }
        if let Some(&(part, _)) = by_channel.iter().max_by_key(|(index, part)| (part.bytes, usize::MAX - index)) {
            let pieces = by_channel.iter().flat_map(|(_, part)| &part.pieces);
            let mut targets = joined(pieces.map(|piece| piece.dst..piece.dst + piece.bytes).collect());
            if self.direction == Direction::Descending {
                targets = targets.iter().rev().flat_map(|bytes| by_line(bytes).rev()).collect();
            }
            // From one channel to another, each line is written as it arrives: the buffer bounds what is on its way, and
            // not the segment.
            let from = by_channel[0].1.src.map(|src| src.channel);
            let crosses = from.is_some_and(|from| {
                let across = |part: &Part| part.src.is_some_and(|src| src.channel == from && part.dst.channel != from);
                by_channel.iter().all(|(_, part)| across(part))
            });
            let most = if crosses { usize::MAX } else { staging_lines };
            segments.extend(chunks(targets, most).iter().map(|targets| self.channel_segment(part, targets)));
        }
        segments
    }

    /// Segments of one part alone with a mechanism.
    ///
    /// # Panics
    ///
    /// As [`Block::segments`], and if there is no such part.
    pub fn segments_of(&self, part: usize, mechanism: Mechanism, staging_lines: usize) -> Vec<Segment> {
        let alone = Block { parts: vec![self.parts[part].clone()], ..self.clone() };
        alone.segments(&[mechanism], staging_lines)
    }

    fn channel_segment(&self, part: usize, targets: &[Bytes]) -> Segment {
        let bytes = targets.iter().map(|target| target.end - target.start).sum();
        let (reads, writes) = match self.operation {
            Operation::Read { .. } => (targets.iter().flat_map(|target| self.runs(target)).collect(), Vec::new()),
            Operation::Copy { .. } | Operation::Init { .. } | Operation::Write { .. } => {
                let mut writes = Vec::with_capacity(targets.len());
                for target in targets {
                    writes.extend(self.writes(target));
                }
                (self.reads_for(targets), writes)
            }
        };
        Segment { mechanism: Mechanism::CHANNEL, bytes, part, work: Work::Channel { reads, writes } }
    }

    /// The source lines of some writes, and the lines that must be merged.
    fn reads_for(&self, targets: &[Bytes]) -> Vec<Run> {
        let mut needed = Vec::with_capacity(targets.len() + 1);
        for target in targets {
            if let Some(src) = self.operation.src() {
                let source = |byte: u64| byte - self.operation.target().0 + src.0;
                needed.push(whole_lines(&(source(target.start)..source(target.end))));
            }
            let ragged = [target.start, target.end].into_iter().filter(|end| !end.is_multiple_of(LINE_BYTES));
            needed.extend(ragged.map(|end| whole_lines(&(end..end))));
        }
        let needed = joined(needed);
        let rising = needed.iter().flat_map(|bytes| self.runs(bytes));
        if self.direction == Direction::Ascending {
            return rising.collect();
        }
        let rising: Vec<Run> = rising.collect();
        rising
            .iter()
            .rev()
            .flat_map(|run| run.lines().rev())
            .map(|first| Run { first, count: 1, stride: LINE_BYTES })
            .collect()
    }

    /// The lines that hold a byte of a range, run by run.
    fn runs(&self, bytes: &Bytes) -> impl Iterator<Item = Run> {
        let Bytes { start, end } = whole_lines(bytes);
        let step = self.shared.map.run_bytes();
        let mut address = start;
        std::iter::from_fn(move || {
            let next = end.min((address / step + 1) * step);
            let first = PhysicalAddress(address);
            let count = (next.checked_sub(address)? / LINE_BYTES) as u16;
            address = next;
            let located = || self.shared.map.locate(first).expect("the operation was checked to lie in the memory");
            (count > 0).then(|| Run { first: Line { address: first, location: located() }, count, stride: LINE_BYTES })
        })
    }

    /// The same as they are written.
    fn writes(&self, bytes: &Bytes) -> impl Iterator<Item = RunWrite> {
        let Bytes { start, end } = *bytes;
        self.runs(bytes).map(move |run| {
            let first = run.first.address.0;
            let last = first + u64::from(run.count - 1) * LINE_BYTES;
            let from = start.max(first) - first;
            RunWrite { run, from: from as u16, to: (end - last).min(LINE_BYTES) as u16 }
        })
    }
}

/// The lines that hold a byte of a range; of an empty one, the line that it cuts in two, if it does.
fn whole_lines(bytes: &Bytes) -> Bytes {
    bytes.start / LINE_BYTES * LINE_BYTES..bytes.end.next_multiple_of(LINE_BYTES)
}

/// A range, line by line.
fn by_line(bytes: &Bytes) -> impl DoubleEndedIterator<Item = Bytes> {
    let Bytes { start, end } = *bytes;
    let lines = start / LINE_BYTES..end.div_ceil(LINE_BYTES);
    lines.map(move |line| start.max(line * LINE_BYTES)..end.min((line + 1) * LINE_BYTES))
}

/// All bytes of some ranges, by rising address: those that touch are one.
fn joined(mut ranges: Vec<Bytes>) -> Vec<Bytes> {
    ranges.sort_unstable_by_key(|bytes| bytes.start);
    ranges.dedup_by(|next, before| {
        let touches = next.start <= before.end;
        if touches {
            before.end = before.end.max(next.end);
        }
        touches
    });
    ranges
}

/// Ranges, cut so that no chunk of them is about more than so many lines.
fn chunks(ranges: Vec<Bytes>, most: usize) -> Vec<Vec<Bytes>> {
    let lines = |Bytes { start, end }: &Bytes| end.div_ceil(LINE_BYTES) - start / LINE_BYTES;
    if ranges.iter().map(lines).sum::<u64>() <= most as u64 {
        return vec![ranges];
    }
    let mut chunks = Vec::new();
    let (mut chunk, mut room) = (Vec::new(), most);
    for Bytes { mut start, end } in ranges {
        while start < end {
            let taken = lines(&(start..end)).min(room as u64);
            let next = end.min((start / LINE_BYTES + taken) * LINE_BYTES);
            chunk.push(start..next);
            room -= taken as usize;
            start = next;
            if room == 0 {
                chunks.push(std::mem::take(&mut chunk));
                room = most;
            }
        }
    }
    if !chunk.is_empty() {
        chunks.push(chunk);
    }
    chunks
}

impl Part {
    /// What it takes to do the part without the channel; `None` for a choice of the channel.
    fn work_in_dram(&self, mechanism: Mechanism) -> Option<Work> {
        if let Err(reason) = self.allows(mechanism) {
            panic!("{} was chosen for a part of {} that does not allow it: {reason}", mechanism.name(), self.dst);
        }
        let (channel, dst) = (self.dst.channel, (self.dst.bank, self.dst.row));
        let columns = || self.pieces.iter().flat_map(Piece::columns).collect();
        if mechanism == FPM {
            self.routes.fpm.ok().map(|src| Work::Fpm { channel, bank: self.dst.bank, src, dst: self.dst.row })
        } else if mechanism == PSM {
            self.routes.psm.ok().map(|src| Work::Psm { channel, src, dst, columns: columns() })
        } else if mechanism == PSM2 {
            let work = |(src, temporary)| Work::Psm2 { channel, src, temporary, dst, columns: columns() };
            self.routes.psm2.ok().map(work)
        } else {
            None
        }
    }
}
