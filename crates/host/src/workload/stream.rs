//! Lines one after another.

use dram_spec::{Cycle, LINE_BYTES, PhysicalAddress};
use rowclone::{Operation, Planner};

use super::error::WorkloadError;
use super::gap::Gap;
use super::pace::Pace;
use super::region::{multiple, some};
use super::sound::Sound;

/// Reads and writes in turn, up to 64 of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Bit `i` is set where turn `i` writes.
    writes: u64,
    turns: u8,
}

impl Pattern {
    /// Nothing but reads: `r`.
    pub const READS: Pattern = Pattern { writes: 0, turns: 1 };
    /// Nothing but writes: `w`.
    pub const WRITES: Pattern = Pattern { writes: 1, turns: 1 };

    /// The pattern of that name: `r` and `w` in the order of the turns, such as `rrw`; nothing where it has other letters, no
    /// turn, or more than 64.
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

    /// As scenarios write it.
    pub fn name(self) -> String {
        (0..self.turns).map(|turn| if self.is_write(turn) { 'w' } else { 'r' }).collect()
    }

    const fn is_write(self, turn: u8) -> bool {
        self.writes >> turn & 1 == 1
    }
}

/// What is done to the lines of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Each is read or written, by a pattern that is repeated.
    Pattern(Pattern),
    /// Each is read, and then one is written that lies as far from `dst` as it does from the start of the stream: a copy
    /// by a program, two requests a line. What is written waits for nothing that is read, and is data of its own.
    Copy {
        /// Where the first line is written.
        dst: PhysicalAddress,
    },
}

/// Lines at equal distances. Those that lie on a reserved row are passed over, and do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The first line: a multiple of 64.
    pub start: PhysicalAddress,
    /// Lines.
    pub count: u64,
    /// From one line to the next, in bytes: a multiple of 64.
    pub stride: u64,
    /// What is done to them.
    pub access: Access,
    /// Between the arrivals of two requests; 0: each arrives when it can be taken.
    pub gap: Gap,
}

/// The requests of a [`Stream`].
#[derive(Clone, Debug)]
pub(super) struct StreamSource {
    lines: Lines,
    left: u64,
    start: u64,
    access: Access,
    turn: u8,
    pace: Pace,
    requests: u64,
}

/// Walks over the lines.
#[derive(Clone, Debug)]
struct Lines {
    at: u64,
    stride: u64,
    /// Lines from here on, this one included, that are known to be of use.
    known: u64,
    src: Sound,
    /// What to add for the line that is written, and where that may lie.
    dst: Option<(u64, Sound)>,
}

impl Lines {
    /// Whether the line may be used.
    fn is_sound(&mut self) -> bool {
        let at = self.at;
        self.src.holds(at, LINE_BYTES)
            && self.dst.as_mut().is_none_or(|(offset, sound)| sound.holds(at.wrapping_add(*offset), LINE_BYTES))
    }

    /// Passes over lines until one may be used, and looks how many do from there; `false` where the memory ends before.
    #[cold]
    fn settle(&mut self, end: u64) -> bool {
        while !self.is_sound() {
            let dst = self.dst.as_ref().map_or(0, |(offset, _)| self.at.wrapping_add(*offset));
            if self.at.max(dst) >= end {
                return false;
            }
            self.at += self.stride;
        }
        let src = self.src.known_from(self.at);
        let dst = self.dst.as_ref().map_or(src, |(offset, sound)| sound.known_from(self.at.wrapping_add(*offset)));
        self.known = (src.min(dst) - LINE_BYTES) / self.stride + 1;
        true
    }

    /// Goes so many lines on, no more than are known.
    fn advance(&mut self, lines: u64) {
        self.at += lines * self.stride;
        self.known -= lines;
    }
}

impl Stream {
    pub(super) fn source(&self, planner: &Planner) -> Result<StreamSource, WorkloadError> {
        let Stream { start, count, stride, access, gap } = *self;
        multiple("start", start.0, LINE_BYTES)?;
        some("count", count, 1)?;
        some("stride", stride, LINE_BYTES)?;
        let end = planner.map().geometry().bytes();
        let past_end = |key| WorkloadError::PastEnd { key, end: PhysicalAddress(end) };
        let dst = match access {
            Access::Pattern(_) => None,
            Access::Copy { dst } => {
                multiple("dst", dst.0, LINE_BYTES)?;
                if dst.0 >= end {
                    return Err(past_end("dst"));
                }
                Some((dst.0.wrapping_sub(start.0), Sound::new(planner)))
            }
        };
        if start.0 >= end {
            return Err(past_end("start"));
        }
        if stride > end {
            return Err(past_end("stride"));
        }
        let mut lines = Lines { at: start.0, stride, known: 0, src: Sound::new(planner), dst };
        // The whole way, from one reserved row to the next, to see whether it leads past the end.
        let (mut way, mut left) = (lines.clone(), count);
        loop {
            if !way.settle(end) {
                return Err(past_end("count"));
            }
            if way.known >= left {
                break;
            }
            left -= way.known;
            way.advance(way.known);
        }
        lines.settle(end);
        let each = if matches!(access, Access::Copy { .. }) { 2 } else { 1 };
        Ok(StreamSource {
            lines,
            left: count,
            start: start.0,
            access,
            turn: 0,
            pace: Pace::new(gap),
            requests: count * each,
        })
    }
}

impl StreamSource {
    pub(super) const fn requests(&self) -> u64 {
        self.requests
    }

    pub(super) fn next_arrival(&self) -> Option<Cycle> {
        (self.left > 0).then_some(self.pace.next())
    }

    #[inline]
    pub(super) fn take(&mut self, now: Cycle) -> (Cycle, Operation) {
        let (address, bytes) = (PhysicalAddress(self.lines.at), LINE_BYTES);
        let operation = match self.access {
            Access::Pattern(pattern) => {
                let write = pattern.is_write(self.turn);
                self.turn = if self.turn + 1 == pattern.turns { 0 } else { self.turn + 1 };
                self.advance();
                if write { Operation::Write { address, bytes } } else { Operation::Read { address, bytes } }
            }
            Access::Copy { .. } if self.turn == 0 => {
                self.turn = 1;
                Operation::Read { address, bytes }
            }
            Access::Copy { dst } => {
                self.turn = 0;
                self.advance();
                Operation::Write {
                    address: PhysicalAddress(address.0.wrapping_add(dst.0.wrapping_sub(self.start))),
                    bytes,
                }
            }
        };
        (self.pace.arrive(now), operation)
    }

    fn advance(&mut self) {
        self.left -= 1;
        self.lines.advance(1);
        if self.lines.known == 0 && self.left > 0 {
            // The end was looked for before the first request.
            self.lines.settle(u64::MAX);
        }
    }
}
