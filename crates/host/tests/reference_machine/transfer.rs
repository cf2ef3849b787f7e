//! A copy by a device that reads lines of the source into a buffer and writes them to the destination.

use dram_spec::{Operation, PhysicalAddress};

use crate::bulk::Range;
use crate::dispatch::parts;

/// A read of a line that is snooped meanwhile.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    pub line: u64,
    /// Whether memory has answered.
    has_data: bool,
    /// The cycle in which the caches have answered, and have passed the line if they do.
    pub snooped: u64,
}

impl Read {
    pub fn new(line: u64, snooped: u64) -> Read {
        Read { line, has_data: false, snooped }
    }

    /// Whether the data are there.
    pub fn is_there(&self, now: u64) -> bool {
        self.has_data && self.snooped <= now
    }
}

/// Accepts the data of a line.
pub fn receive(reads: &mut [Read], line: u64) {
    let read = reads.iter_mut().find(|read| read.line == line && !read.has_data);
    read.expect("it was requested").has_data = true;
}

/// A write of a part of a destination line.
#[derive(Clone, Debug)]
struct Part {
    range: Range,
    /// Positions of its reads.
    reads: Vec<usize>,
    /// As of a read.
    snooped: u64,
}

/// What can leave next.
#[derive(Clone, Debug)]
pub enum Next {
    Write(Range),
    /// A read of a line.
    Read {
        at: usize,
        line: u64,
    },
}

impl Next {
    pub fn operation(&self, line_bytes: u64) -> Operation {
        match *self {
            Next::Write(range) => Operation::Write { address: PhysicalAddress(range.from), bytes: range.bytes },
            Next::Read { line, .. } => {
                Operation::Read { address: PhysicalAddress(line * line_bytes), bytes: line_bytes }
            }
        }
    }
}

/// A copy in progress.
#[derive(Debug, Default)]
pub struct Transfer {
    reads: Vec<Read>,
    parts: Vec<Part>,
    /// Reads that have left, writes that have left, and writes that the controller has accepted.
    requested: usize,
    written: usize,
    accepted: usize,
}

impl Transfer {
    /// The writes of a copy, each with the source lines that it needs, and the reads of these lines.
    pub fn new(src: Range, dst: Range, line_bytes: u64) -> Transfer {
        let bytes = dst.bytes;
        let (src, dst) = (src.from, dst.from);
        let mut transfer = Transfer::default();
        let parts = parts(dst, Some(src), bytes, line_bytes, false);
        for (at, &(first, bytes)) in parts.iter().enumerate() {
            let mut lines: Vec<u64> =
                ((src + first) / line_bytes..(src + first + bytes).div_ceil(line_bytes)).collect();
            let next = parts.get(at + 1);
            let whole = parts.iter().map(|(_, bytes)| bytes).sum::<u64>();
            if next.map_or(dst > src && dst < src + whole, |next| next.0 < first) {
                lines.reverse();
            }
            let mut reads = Vec::new();
            for line in lines {
                // One of the last two lines read is still in the buffer.
                let last = transfer.reads.len().saturating_sub(2);
                let earlier = (last..transfer.reads.len()).find(|read| transfer.reads[*read].line == line);
                reads.push(earlier.unwrap_or_else(|| {
                    transfer.reads.push(Read::new(line, 0));
                    transfer.reads.len() - 1
                }));
            }
            transfer.parts.push(Part { range: Range { from: dst + first, bytes }, reads, snooped: 0 });
        }
        transfer
    }

    pub fn reads(&self) -> &[Read] {
        &self.reads
    }

    pub fn read(&mut self, at: usize) -> &mut Read {
        &mut self.reads[at]
    }

    /// The parts of the destination whose last read is one: the position and the range of each.
    pub fn parts_after(&self, read: usize) -> Vec<(usize, Range)> {
        let is_last = |(_, part): &(usize, &Part)| part.reads.iter().max() == Some(&read);
        self.parts.iter().enumerate().filter(is_last).map(|(at, part)| (at, part.range)).collect()
    }

    /// All parts of the destination.
    pub fn parts(&self) -> Vec<Range> {
        self.parts.iter().map(|part| part.range).collect()
    }

    /// The caches have answered the snoop of a part, and have passed what they pass, in a cycle.
    pub fn part_snooped(&mut self, at: usize, snooped: u64) {
        self.parts[at].snooped = snooped;
    }

    /// Lines in the buffer: read, and needed by a write that the controller has not accepted.
    fn buffered(&self) -> usize {
        let left = &self.parts[self.accepted..];
        (0..self.requested).filter(|read| left.iter().any(|part| part.reads.contains(read))).count()
    }

    /// What leaves next, if anything can.
    pub fn next(&mut self, now: u64, buffer_lines: usize) -> Option<Next> {
        if let Some(part) = self.parts.get(self.written)
            && part.snooped <= now
            && part.reads.iter().all(|read| *read < self.requested && self.reads[*read].is_there(now))
        {
            self.written += 1;
            return Some(Next::Write(part.range));
        }
        if self.requested == self.reads.len() || self.buffered() == buffer_lines {
            return None;
        }
        self.requested += 1;
        let at = self.requested - 1;
        Some(Next::Read { at, line: self.reads[at].line })
    }

    /// The data of a line are there.
    pub fn receive(&mut self, line: u64) {
        receive(&mut self.reads, line);
    }

    /// The next part that the controller has to accept.
    pub fn next_accepted(&self) -> Option<Range> {
        self.parts.get(self.accepted).map(|part| part.range)
    }

    /// The controller has accepted a write; returns whether it is the last one.
    pub fn accept(&mut self) -> bool {
        self.accepted += 1;
        self.accepted == self.parts.len()
    }
}
