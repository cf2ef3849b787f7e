//! What a part becomes once its mechanism is chosen: untimed work for banks and channels.

use std::ops::Range;

use dram_spec::{BankId, Channel, Column, LINE_BYTES, Location, PhysicalAddress, Row};

use crate::block::{Block, Direction, Part, Piece};
use crate::{FPM, PSM, PSM2};
use dram_spec::Mechanism;
use dram_spec::Operation;

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
        reads: Vec<Run>,
        /// The lines to write, each once.
        writes: Vec<RunWrite>,
    },
}

impl Work {
    /// How many lines it reads, and how many it writes, over the channel.
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
    /// Its first byte.
    pub address: PhysicalAddress,
    /// Where it lies.
    pub location: Location,
}

/// Lines that follow each other in one row, and lie equally far apart in the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first of them.
    pub first: Line,
    /// How many there are, at least one.
    pub count: u16,
    /// Bytes from a line to the next: 64, unless other channels or banks hold the lines between them.
    pub stride: u64,
}

impl Run {
    /// The line so many further on than the first.
    #[inline]
    pub fn line(&self, number: u16) -> Line {
        let Line { address, location } = self.first;
        let column = Column(location.column.0 + number);
        let address = PhysicalAddress(address.0 + u64::from(number) * self.stride);
        Line { address, location: Location { column, ..location } }
    }

    /// Takes in a later run that follows it in the row, if all lines then lie equally far apart. Returns whether it did.
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

    /// All of them.
    pub fn lines(&self) -> impl DoubleEndedIterator<Item = Line> {
        let run = *self;
        (0..run.count).map(move |number| run.line(number))
    }
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

/// Lines that are written, and the bytes of them that the operation is about: all but some of the first and of the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunWrite {
    /// The lines.
    pub run: Run,
    /// The first byte that changes, of the first line.
    pub from: u16,
    /// The end of those bytes in the last line, at most 64.
    pub to: u16,
}

impl RunWrite {
    /// The line so many further on than the first.
    #[inline]
    pub fn write(&self, number: u16) -> LineWrite {
        LineWrite {
            line: self.run.line(number),
            from: if number == 0 { self.from } else { 0 },
            to: if number + 1 == self.run.count { self.to } else { LINE_BYTES as u16 },
        }
    }

    /// Takes in a later run as [`Run::append`] does, if no byte between them stays as it is.
    pub(crate) fn append(&mut self, next: &RunWrite) -> bool {
        let follows = u64::from(self.to) == LINE_BYTES && next.from == 0 && self.run.append(&next.run);
        if follows {
            self.to = next.to;
        }
        follows
    }

    /// All of them.
    pub fn writes(&self) -> impl Iterator<Item = LineWrite> {
        let write = *self;
        (0..write.run.count).map(move |number| write.write(number))
    }
}

/// Bytes of the memory, by address; the end is not among them.
type Bytes = Range<u64>;

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

    /// The work of one part alone with a mechanism.
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
