//! A copy by a device that reads lines of the source into a buffer and writes them to the destination.

use dram_spec::{Operation, PhysicalAddress};

use crate::bulk::Range;
use crate::dispatch::parts;

/// A read of a source line.
#[derive(Clone, Copy, Debug)]
struct Read {
    line: u64,
    has_data: bool,
}

/// A write of a part of a destination line.
#[derive(Clone, Debug)]
struct Part {
    range: Range,
    /// Positions of its reads.
    reads: Vec<usize>,
}

/// What can leave next.
#[derive(Clone, Debug)]
pub enum Next {
    Write(Range),
    /// A read of a line, with the parts of the destination whose last read it is.
    Read {
        line: u64,
        parts: Vec<Range>,
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
                    transfer.reads.push(Read { line, has_data: false });
                    transfer.reads.len() - 1
                }));
            }
            transfer.parts.push(Part { range: Range { from: dst + first, bytes }, reads });
        }
        transfer
    }

    /// The lines that it reads, and the parts that it writes.
    pub fn lines_and_parts(&self) -> (Vec<u64>, Vec<Range>) {
        (self.reads.iter().map(|read| read.line).collect(), self.parts.iter().map(|part| part.range).collect())
    }

    /// Lines in the buffer: read, and needed by a write that the controller has not accepted.
    fn buffered(&self) -> usize {
        let left = &self.parts[self.accepted..];
        (0..self.requested).filter(|read| left.iter().any(|part| part.reads.contains(read))).count()
    }

    /// What leaves next, if anything can.
    pub fn next(&mut self, buffer_lines: usize) -> Option<Next> {
        if let Some(part) = self.parts.get(self.written)
            && part.reads.iter().all(|read| self.reads[*read].has_data)
        {
            self.written += 1;
            return Some(Next::Write(part.range));
        }
        if self.requested == self.reads.len() || self.buffered() == buffer_lines {
            return None;
        }
        let read = self.requested;
        self.requested += 1;
        let is_last = |part: &&Part| part.reads.iter().max() == Some(&read);
        let parts = self.parts.iter().filter(is_last).map(|part| part.range).collect();
        Some(Next::Read { line: self.reads[read].line, parts })
    }

    /// The data of a line are there.
    pub fn receive(&mut self, line: u64) {
        let read = self.reads.iter_mut().find(|read| read.line == line && !read.has_data);
        read.expect("it was requested").has_data = true;
    }

    /// The controller has accepted a write; returns whether it is the last one.
    pub fn accept(&mut self) -> bool {
        self.accepted += 1;
        self.accepted == self.parts.len()
    }
}
