//! Ranges of addresses, equally long and equally far apart: what an operation covers of a row.

use std::ops::Range;

use dram_spec::{Column, LINE_BYTES};
use smallvec::SmallVec;

use crate::step::LineRun;

/// Bytes of the memory, by address; the end is not among them.
pub(crate) type Bytes = Range<u64>;

/// Equally long ranges of addresses, equally far apart. Where there are several, they consist of whole lines, and no
/// two of them touch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stripe {
    /// The first byte.
    pub(crate) start: u64,
    /// Bytes of each range.
    pub(crate) bytes: u64,
    /// From a range to the next one.
    pub(crate) stride: u64,
    /// How many there are, at least one.
    pub(crate) count: u64,
}

/// Destination bytes of one row, in ranges that follow each other there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// The destination addresses.
    pub(crate) dst: Stripe,
    /// The column of the first byte.
    pub(crate) dst_column: Column,
    /// Source column of the first byte; without a source address, the destination column.
    pub(crate) src_column: Column,
}

impl Piece {
    /// Source and destination columns of the whole lines, where a run has `run_lines`.
    pub(crate) fn columns(&self, run_lines: u16) -> impl Iterator<Item = LineRun> {
        let Piece { src_column, dst_column, dst } = *self;
        let (lines, ranges) = ((dst.bytes / LINE_BYTES) as u16, dst.count as u16);
        let (count, runs) = if lines == run_lines { (lines * ranges, 1) } else { (lines, ranges) };
        (0..runs).map(move |run| LineRun { src: src_column, dst: dst_column, count }.after(run * run_lines))
    }
}

/// Stripes, without memory of their own where they are few.
pub(crate) type Stripes = SmallVec<[Stripe; 2]>;

impl From<Bytes> for Stripe {
    fn from(Bytes { start, end }: Bytes) -> Stripe {
        Stripe { start, bytes: end - start, stride: LINE_BYTES, count: 1 }
    }
}

impl Stripe {
    /// The end of the last range.
    pub(crate) const fn end(&self) -> u64 {
        self.start + (self.count - 1) * self.stride + self.bytes
    }

    /// Bytes of all ranges.
    pub(crate) const fn total(&self) -> u64 {
        self.bytes * self.count
    }

    /// Each range.
    pub(crate) fn ranges(self) -> impl DoubleEndedIterator<Item = Bytes> {
        let start = move |number| self.start + number * self.stride;
        (0..self.count).map(move |number| start(number)..start(number) + self.bytes)
    }

    /// The lines that hold a byte of it; of an empty range, the line that it cuts in two, if it does.
    pub(crate) fn whole_lines(&self) -> Stripe {
        let start = self.start / LINE_BYTES * LINE_BYTES;
        Stripe { start, bytes: (self.start + self.bytes).next_multiple_of(LINE_BYTES) - start, ..*self }
    }

    /// Lines that hold a byte of it.
    fn lines(&self) -> u64 {
        self.whole_lines().total() / LINE_BYTES
    }
}

/// All ranges, each by itself.
fn apart(stripes: Stripes) -> Stripes {
    stripes.into_iter().flat_map(Stripe::ranges).map(Stripe::from).collect()
}

/// All bytes of some stripes, by rising address: ranges that touch are one.
pub(crate) fn joined(mut stripes: Stripes) -> Stripes {
    stripes.sort_unstable_by_key(|stripe| stripe.start);
    if stripes.is_sorted_by(|before, next| before.end() < next.start) {
        return stripes;
    }
    let mut ranges = apart(stripes);
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.dedup_by(|next, before| {
        let touches = next.start <= before.end();
        if touches {
            before.bytes = before.end().max(next.end()) - before.start;
        }
        touches
    });
    ranges
}

/// All lines of some stripes, from the last one.
pub(crate) fn falling(stripes: Stripes) -> Stripes {
    apart(stripes).iter().rev().flat_map(|range| by_line(range).rev()).map(Stripe::from).collect()
}

/// A range, line by line.
fn by_line(range: &Stripe) -> impl DoubleEndedIterator<Item = Bytes> {
    let (start, end) = (range.start, range.end());
    let lines = start / LINE_BYTES..end.div_ceil(LINE_BYTES);
    lines.map(move |line| start.max(line * LINE_BYTES)..end.min((line + 1) * LINE_BYTES))
}

/// Passes on stripes, cut into chunks of at most `most` lines.
pub(crate) fn chunks(stripes: Stripes, most: usize, mut pass_on: impl FnMut(&[Stripe])) {
    if stripes.iter().map(Stripe::lines).sum::<u64>() <= most as u64 {
        return pass_on(&stripes);
    }
    let (mut chunk, mut room) = (Stripes::new(), most);
    for Bytes { mut start, end } in stripes.into_iter().flat_map(Stripe::ranges) {
        while start < end {
            let taken = Stripe::from(start..end).lines().min(room as u64);
            let next = end.min((start / LINE_BYTES + taken) * LINE_BYTES);
            chunk.push(Stripe::from(start..next));
            room -= taken as usize;
            start = next;
            if room == 0 {
                pass_on(&chunk);
                chunk.clear();
                room = most;
            }
        }
    }
    if !chunk.is_empty() {
        pass_on(&chunk);
    }
}
