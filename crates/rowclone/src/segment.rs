//! Segments: the untimed work of a part by its selected mechanism, for banks and channels.

use dram_spec::{BankId, Channel, Column, LINE_BYTES, Location, PhysicalAddress, Row};

use crate::block::{Block, Direction, Part};
use crate::stripe::{Bytes, Stripe, chunks, falling, joined};
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
        /// Source and destination columns of the lines, in any order.
        columns: Vec<ColumnRun>,
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
        /// Source and destination columns of the lines, in any order.
        columns: Vec<ColumnRun>,
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

/// Lines that follow each other in a source row and in a destination row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnRun {
    /// The first column of the source.
    pub src: Column,
    /// The first column of the destination.
    pub dst: Column,
    /// Lines.
    pub count: u16,
}

impl ColumnRun {
    /// Returns the same number of lines, some columns further on.
    pub(crate) const fn after(self, columns: u16) -> ColumnRun {
        ColumnRun { src: Column(self.src.0 + columns), dst: Column(self.dst.0 + columns), ..self }
    }

    /// Takes in a run that follows it. Returns whether it does.
    pub(crate) fn append(&mut self, next: ColumnRun) -> bool {
        let end = self.after(self.count);
        let follows = (next.src, next.dst) == (end.src, end.dst);
        if follows {
            self.count += next.count;
        }
        follows
    }
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
        // Of the parts that go over the channel: the longest, the bytes of all, and whether all come from one other channel.
        let mut longest: Option<(usize, &Part)> = None;
        let (mut targets, mut crosses) = (Vec::new(), true);
        for (index, (part, &mechanism)) in self.parts.iter().zip(choices).enumerate() {
            if let Some(work) = part.work_in_dram(mechanism, self.shared.map.run_bytes()) {
                segments.push(Segment { mechanism, bytes: part.bytes, part: index, work });
                continue;
            }
            let from = longest.unwrap_or((index, part)).1.src().map(|src| src.channel);
            crosses &= from.is_some_and(|from| from != part.dst.channel) && part.src().map(|src| src.channel) == from;
            targets.extend(part.pieces.iter().map(|piece| piece.dst));
            if longest.is_none_or(|(_, longest)| longest.bytes < part.bytes) {
                longest = Some((index, part));
            }
        }
        if let Some((part, _)) = longest {
            let mut targets = joined(targets);
            if self.direction == Direction::Descending {
                targets = falling(targets);
            }
            // From one channel to another, each line is written as it arrives: the buffer bounds what is on its way, and
            // not the segment.
            let most = if crosses { usize::MAX } else { staging_lines };
            chunks(targets, most, |targets| segments.push(self.channel_segment(part, targets)));
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

    fn channel_segment(&self, part: usize, targets: &[Stripe]) -> Segment {
        let bytes = targets.iter().map(Stripe::total).sum();
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for target in targets {
            match self.operation {
                Operation::Read { .. } => self.runs(target, |run| reads.push(run)),
                Operation::Copy { .. } | Operation::Init { .. } | Operation::Write { .. } => {
                    self.runs(target, |run| writes.push(write(target, run)));
                }
            }
        }
        if !matches!(self.operation, Operation::Read { .. }) {
            reads = self.reads_for(targets);
        }
        Segment { mechanism: Mechanism::CHANNEL, bytes, part, work: Work::Channel { reads, writes } }
    }

    /// The source lines of some writes, and the lines that must be merged.
    fn reads_for(&self, targets: &[Stripe]) -> Vec<Run> {
        let mut needed = Vec::with_capacity(targets.len() + 1);
        for target in targets {
            if let Some(src) = self.operation.src() {
                needed
                    .push(Stripe { start: target.start - self.operation.target().0 + src.0, ..*target }.whole_lines());
            }
            let ragged = [target.start, target.end()].into_iter().filter(|end| !end.is_multiple_of(LINE_BYTES));
            needed.extend(ragged.map(|end| Stripe::from(end..end).whole_lines()));
        }
        let mut rising = Vec::with_capacity(needed.len());
        for stripe in joined(needed) {
            self.runs(&stripe, |run| rising.push(run));
        }
        if self.direction == Direction::Ascending {
            return rising;
        }
        let falling = rising.iter().rev().flat_map(|run| run.lines().rev());
        falling.map(|first| Run { first, count: 1, stride: LINE_BYTES }).collect()
    }

    /// Passes on the lines that hold a byte of a stripe, run by run.
    fn runs(&self, stripe: &Stripe, mut pass_on: impl FnMut(Run)) {
        let lines = stripe.whole_lines();
        let step = self.shared.map.run_bytes();
        // Where runs of the map are lines, those of a stripe are one run here; longer ranges have a run each.
        let is_one = lines.bytes == LINE_BYTES && step == LINE_BYTES;
        let (ranges, together) = if is_one { (1, lines.count) } else { (lines.count, 1) };
        for Bytes { start, end } in lines.ranges().take(ranges as usize) {
            let mut address = start;
            while address < end {
                let next = end.min((address / step + 1) * step);
                let location = self.shared.map.locate(PhysicalAddress(address));
                let location = location.expect("the operation was checked to lie in the memory");
                let count = (together * (next - address) / LINE_BYTES) as u16;
                let stride = if together > 1 { lines.stride } else { LINE_BYTES };
                pass_on(Run { first: Line { address: PhysicalAddress(address), location }, count, stride });
                address = next;
            }
        }
    }
}

/// A run of a stripe as it is written.
fn write(target: &Stripe, run: Run) -> RunWrite {
    let (first, last) = (run.first.address.0, run.line(run.count - 1).address.0);
    let from = target.start.max(first) - first;
    RunWrite { run, from: from as u16, to: (target.end() - last).min(LINE_BYTES) as u16 }
}

impl Part {
    /// What it takes to do the part without the channel, under a map of such runs; `None` for a choice of the channel.
    fn work_in_dram(&self, mechanism: Mechanism, run_bytes: u64) -> Option<Work> {
        if let Err(reason) = self.allows(mechanism) {
            panic!("{} was chosen for a part of {} that does not allow it: {reason}", mechanism.name(), self.dst);
        }
        let (channel, dst) = (self.dst.channel, (self.dst.bank, self.dst.row));
        let run_lines = (run_bytes / LINE_BYTES) as u16;
        let columns = || self.pieces.iter().flat_map(|piece| piece.columns(run_lines)).collect();
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
