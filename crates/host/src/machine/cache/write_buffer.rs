//! The write buffer of a requester: stores on their way to memory past the last-level cache, combined by
//! line.

use std::collections::VecDeque;
use std::ops::Range;

use super::super::counters::Purpose;
use super::super::settings::WriteMerging;
use super::line::LineNumber;

/// Bytes of the largest line.
const BYTES_MAX: u64 = 128;

/// The stores to a line that have not left.
#[derive(Clone, Debug)]
pub(super) struct BufferedLine {
    pub(super) line: LineNumber,
    /// On whose behalf the first of them was made.
    pub(super) purpose: Purpose,
    /// A bit per byte of the line that they write.
    written: u128,
    /// Bytes of the line, where contents are modeled.
    pub(super) data: Option<Box<[u8]>>,
}

impl BufferedLine {
    fn new(line: LineNumber, purpose: Purpose, data: Option<Box<[u8]>>) -> BufferedLine {
        BufferedLine { line, purpose, written: 0, data }
    }

    /// Adds a store.
    fn store(&mut self, offset: u64, bytes: u64, data: Option<&[u8]>) {
        self.written |= mask(bytes) << offset;
        if let (Some(line), Some(data)) = (&mut self.data, data) {
            line[offset as usize..(offset + bytes) as usize].copy_from_slice(data);
        }
    }

    /// The runs of consecutive bytes that are written, as ranges of offsets.
    pub(super) fn runs(&self) -> impl Iterator<Item = Range<u64>> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let rest = self.written.checked_shr(at).filter(|rest| *rest != 0)?;
            let start = at + rest.trailing_zeros();
            let end = start + (self.written >> start).trailing_ones();
            at = end;
            Some(u64::from(start)..u64::from(end))
        })
    }
}

/// A bit per byte of a number of bytes.
const fn mask(bytes: u64) -> u128 {
    if bytes == BYTES_MAX { u128::MAX } else { (1 << bytes) - 1 }
}

/// The write buffer of a requester.
#[derive(Debug)]
pub(super) struct WriteBuffer {
    /// Entries that have not left, oldest first.
    open: VecDeque<BufferedLine>,
    /// Entries that have left, and that the controller has not accepted.
    sent: usize,
    entries: usize,
    merging: WriteMerging,
}

impl WriteBuffer {
    pub(super) const fn new(entries: usize, merging: WriteMerging) -> WriteBuffer {
        WriteBuffer { open: VecDeque::new(), sent: 0, entries, merging }
    }

    pub(super) fn is_full(&self) -> bool {
        self.open.len() + self.sent == self.entries
    }

    /// Whether stores to a line have not left.
    pub(super) fn holds(&self, line: LineNumber) -> bool {
        self.open.iter().any(|entry| entry.line == line)
    }

    /// Whether a store to a line has a place.
    pub(super) fn has_room(&self, line: LineNumber) -> bool {
        !self.is_full() || self.holds(line)
    }

    /// Adds a store of some bytes at an offset of a line; returns the entries that leave. An entry
    /// leaves when all of its line is written; the oldest one leaves when all are in use and none has
    /// left. Without merging, each store is an entry that leaves at once.
    ///
    /// # Panics
    /// If there is no room.
    pub(super) fn store(
        &mut self,
        line: LineNumber,
        line_bytes: u64,
        purpose: Purpose,
        (offset, bytes): (u64, u64),
        data: Option<&[u8]>,
    ) -> Vec<BufferedLine> {
        assert!(self.has_room(line), "the write buffer has room");
        if self.merging == WriteMerging::None {
            let mut entry = BufferedLine::new(line, purpose, data.map(|_| vec![0; line_bytes as usize].into()));
            entry.store(offset, bytes, data);
            self.sent += 1;
            return vec![entry];
        }
        let known = self.open.iter().position(|entry| entry.line == line);
        let place = known.unwrap_or_else(|| {
            let empty = data.map(|_| vec![0; line_bytes as usize].into());
            self.open.push_back(BufferedLine::new(line, purpose, empty));
            self.open.len() - 1
        });
        self.open[place].store(offset, bytes, data);
        let is_whole = self.open[place].written == mask(line_bytes);
        let mut leaving: Vec<BufferedLine> =
            if is_whole { self.open.remove(place) } else { None }.into_iter().collect();
        self.sent += leaving.len();
        if self.is_full() && self.sent == 0 {
            leaving.extend(self.open.pop_front());
            self.sent += 1;
        }
        leaving
    }

    /// The stores to a line leave, if there are any.
    pub(super) fn flush(&mut self, line: LineNumber) -> Option<BufferedLine> {
        let place = self.open.iter().position(|entry| entry.line == line)?;
        self.sent += 1;
        self.open.remove(place)
    }

    /// Frees an entry that the controller has accepted.
    ///
    /// # Panics
    /// If none has left.
    pub(super) fn accepted(&mut self) {
        self.sent = self.sent.checked_sub(1).expect("an entry has left");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(buffer: &mut WriteBuffer, line: u64, offset: u64, bytes: u64) -> Vec<u64> {
        let left = buffer.store(LineNumber(line), 32, Purpose::Program, (offset, bytes), None);
        left.iter().map(|entry| entry.line.0).collect()
    }

    /// Four stores of 8 bytes fill a line of 32 bytes, which leaves; two stores to another line do not.
    #[test]
    fn a_line_leaves_when_all_of_it_is_written() {
        let mut buffer = WriteBuffer::new(4, WriteMerging::Line);
        assert_eq!([0, 24, 16].map(|offset| store(&mut buffer, 5, offset, 8)), [const { Vec::<u64>::new() }; 3]);
        assert_eq!(store(&mut buffer, 6, 0, 4), [0_u64; 0]);
        assert_eq!(store(&mut buffer, 5, 8, 8), [5]);
        assert!(!buffer.holds(LineNumber(5)) && buffer.holds(LineNumber(6)));
    }

    /// The third line takes the last free entry, and the first one leaves; the next ones wait.
    #[test]
    fn the_oldest_entry_leaves_when_all_are_in_use() {
        let mut buffer = WriteBuffer::new(3, WriteMerging::Line);
        assert_eq!((store(&mut buffer, 1, 0, 8), store(&mut buffer, 2, 0, 8)), (vec![], vec![]));
        assert_eq!(store(&mut buffer, 3, 0, 8), [1]);
        assert!(!buffer.has_room(LineNumber(4)) && !buffer.has_room(LineNumber(1)) && buffer.has_room(LineNumber(3)));
        assert_eq!(store(&mut buffer, 3, 8, 8), [0_u64; 0], "the line has an entry");
        buffer.accepted();
        assert_eq!(store(&mut buffer, 4, 0, 8), [2]);
        let mut one = WriteBuffer::new(1, WriteMerging::Line);
        assert_eq!(store(&mut one, 7, 0, 8), [7], "it is also the oldest");
    }

    /// Two stores to one line are two entries, so that the third store waits.
    #[test]
    fn without_merging_each_store_leaves_at_once() {
        let mut buffer = WriteBuffer::new(2, WriteMerging::None);
        assert_eq!((store(&mut buffer, 5, 0, 4), store(&mut buffer, 5, 4, 4)), (vec![5], vec![5]));
        assert!(!buffer.has_room(LineNumber(5)) && !buffer.holds(LineNumber(5)));
        buffer.accepted();
        assert_eq!(store(&mut buffer, 5, 8, 4), [5]);
    }

    #[test]
    fn an_entry_leaves_in_runs_of_consecutive_bytes() {
        let mut buffer = WriteBuffer::new(2, WriteMerging::Line);
        for (offset, bytes) in [(0, 4), (120, 8), (4, 8), (64, 1)] {
            buffer.store(LineNumber(0), 128, Purpose::Program, (offset, bytes), None);
        }
        let entry = buffer.flush(LineNumber(0)).unwrap();
        assert_eq!(entry.runs().collect::<Vec<_>>(), [0..12, 64..65, 120..128]);
    }
}
