//! Accesses to lines at equal distances.

use dram_spec::{LINE_BYTES, PhysicalAddress};
use rowclone::Operation;

use super::error::WorkloadError;
use super::gap::Gap;
use super::kind::{KindProperties, RequestGenerator, WorkloadKind};
use super::machine::Setup;
use super::pace::Paced;
use super::region::{multiple, positive_multiple};
use super::unreserved::UnreservedRange;

/// A repeated sequence of up to 64 reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Bit `i` is set if access `i` is a write.
    writes: u64,
    turns: u8,
}

impl Pattern {
    /// Reads only: `r`.
    pub const READS: Pattern = Pattern { writes: 0, turns: 1 };
    /// Writes only: `w`.
    pub const WRITES: Pattern = Pattern { writes: 1, turns: 1 };

    /// Parses a pattern of `r` and `w`, such as `rrw`; `None` for other letters, an empty name, or
    /// more than 64 letters.
    pub fn named(name: &str) -> Option<Pattern> {
        let mut pattern = Pattern { writes: 0, turns: 0 };
        for letter in name.chars() {
            let write = match letter {
                'r' => 0,
                'w' => 1,
                _ => return None,
            };
            if pattern.turns == 64 {
                return None;
            }
            pattern.writes |= write << pattern.turns;
            pattern.turns += 1;
        }
        (pattern.turns > 0).then_some(pattern)
    }

    /// Name in scenarios.
    pub fn name(self) -> String {
        (0..self.turns).map(|turn| if self.is_write(turn) { 'w' } else { 'r' }).collect()
    }

    const fn is_write(self, turn: u8) -> bool {
        self.writes >> turn & 1 == 1
    }
}

/// Accesses to the lines of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamAccess {
    /// Each line is read or written, by a repeated pattern.
    Pattern(Pattern),
    /// Each line is read, and then the line at the same offset from `dst` is written: a copy by a
    /// program, two requests per line. Writes do not wait for reads, and carry generated data.
    Copy {
        /// Destination of the first line.
        dst: PhysicalAddress,
    },
}

/// Accesses to lines at equal distances. Lines in reserved rows are skipped and not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// First line: a multiple of 64.
    pub start: PhysicalAddress,
    /// Number of lines.
    pub count: u64,
    /// Distance between lines in bytes: a multiple of 64.
    pub stride_bytes: u64,
    /// Accesses to the lines.
    pub access: StreamAccess,
    /// Time between two arrivals. With 0, each request arrives when it is accepted.
    pub gap: Gap,
}

/// The requests of a [`Stream`].
#[derive(Clone, Debug)]
struct StreamRequests {
    lines: UsableLines,
    start: u64,
    access: StreamAccess,
    turn: u8,
}

/// Iterator over the usable lines.
#[derive(Clone, Debug)]
struct UsableLines {
    at: u64,
    stride: u64,
    /// Number of consecutive usable lines known, from `at` on.
    known: u64,
    src: UnreservedRange,
    /// Offset of the written line, and its usable range.
    dst: Option<(u64, UnreservedRange)>,
}

impl UsableLines {
    /// Whether the line is usable.
    fn is_usable(&mut self) -> bool {
        let at = self.at;
        self.src.contains(at, LINE_BYTES)
            && self.dst.as_mut().is_none_or(|(offset, range)| range.contains(at.wrapping_add(*offset), LINE_BYTES))
    }

    /// Skips to the next usable line, and counts those that follow it; `false` if the memory ends
    /// before.
    #[cold]
    fn skip_to_usable(&mut self, end: u64) -> bool {
        while !self.is_usable() {
            let dst = self.dst.as_ref().map_or(0, |(offset, _)| self.at.wrapping_add(*offset));
            if self.at.max(dst) >= end {
                return false;
            }
            self.at += self.stride;
        }
        let src = self.src.known_from(self.at);
        let dst = self.dst.as_ref().map_or(src, |(offset, range)| range.known_from(self.at.wrapping_add(*offset)));
        self.known = (src.min(dst) - LINE_BYTES) / self.stride + 1;
        true
    }

    /// Advances by at most the number of known lines.
    fn advance(&mut self, lines: u64) {
        self.at += lines * self.stride;
        self.known -= lines;
    }
}

impl WorkloadKind for Stream {
    fn properties(&self) -> KindProperties {
        KindProperties { name: "stream", gap: self.gap, needs_allocator: false }
    }

    fn generator(&self, setup: &Setup<'_>) -> Result<Box<dyn RequestGenerator>, WorkloadError> {
        let (Stream { start, count, stride_bytes: stride, access, gap }, planner) = (*self, setup.planner);
        multiple("start", start.0, LINE_BYTES)?;
        positive_multiple("count", count, 1)?;
        positive_multiple("stride_bytes", stride, LINE_BYTES)?;
        let end = planner.map().usable_end().0;
        let past_end = |key| WorkloadError::PastEnd { key, end: PhysicalAddress(end) };
        let dst = match access {
            StreamAccess::Pattern(_) => None,
            StreamAccess::Copy { dst } => {
                multiple("dst", dst.0, LINE_BYTES)?;
                if dst.0 >= end {
                    return Err(past_end("dst"));
                }
                Some((dst.0.wrapping_sub(start.0), UnreservedRange::new(planner)))
            }
        };
        if start.0 >= end {
            return Err(past_end("start"));
        }
        if stride > end {
            return Err(past_end("stride_bytes"));
        }
        let mut lines = UsableLines { at: start.0, stride, known: 0, src: UnreservedRange::new(planner), dst };
        // Traverses the whole stream, by ranges without reserved rows, to check that it ends within
        // the memory.
        let (mut ahead, mut left) = (lines.clone(), count);
        loop {
            if !ahead.skip_to_usable(end) {
                return Err(past_end("count"));
            }
            if ahead.known >= left {
                break;
            }
            left -= ahead.known;
            ahead.advance(ahead.known);
        }
        lines.skip_to_usable(end);
        let each = if matches!(access, StreamAccess::Copy { .. }) { 2 } else { 1 };
        let accesses = StreamRequests { lines, start: start.0, access, turn: 0 };
        Ok(Paced::generator(accesses, count * each, gap))
    }
}

impl Iterator for StreamRequests {
    type Item = Operation;

    #[inline]
    fn next(&mut self) -> Option<Operation> {
        if self.lines.known == 0 {
            // `generator` has checked that the stream ends within the memory.
            self.lines.skip_to_usable(u64::MAX);
        }
        let (address, bytes) = (PhysicalAddress(self.lines.at), LINE_BYTES);
        Some(match self.access {
            StreamAccess::Pattern(pattern) => {
                let write = pattern.is_write(self.turn);
                self.turn = if self.turn + 1 == pattern.turns { 0 } else { self.turn + 1 };
                self.lines.advance(1);
                if write { Operation::Write { address, bytes } } else { Operation::Read { address, bytes } }
            }
            StreamAccess::Copy { .. } if self.turn == 0 => {
                self.turn = 1;
                Operation::Read { address, bytes }
            }
            StreamAccess::Copy { dst } => {
                self.turn = 0;
                self.lines.advance(1);
                let address = PhysicalAddress(address.0.wrapping_add(dst.0.wrapping_sub(self.start)));
                Operation::Write { address, bytes }
            }
        })
    }
}
