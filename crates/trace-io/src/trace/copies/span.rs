//! Ranges of bytes, and tables of recent accesses by their ranges.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::trace::record::Event;

/// A range of bytes that does not pass the last address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: u64,
    /// At least 1.
    pub(super) bytes: u64,
}

impl Span {
    /// The bytes of a read or a write; `None` of other events.
    pub(super) fn of(event: &Event) -> Option<Span> {
        match *event {
            Event::Read { address, bytes, .. } | Event::Write { address, bytes } => Some(match bytes {
                None => Span { start: address.0 / PIECE_BYTES * PIECE_BYTES, bytes: PIECE_BYTES },
                Some(bytes) => Span { start: address.0, bytes: bytes.get().into() },
            }),
            _ => None,
        }
    }

    /// Last byte.
    pub(super) const fn last(self) -> u64 {
        self.start + (self.bytes - 1)
    }

    pub(super) const fn overlaps(self, other: Span) -> bool {
        self.start <= other.last() && other.start <= self.last()
    }

    /// The span of equal size after this one, or before it.
    pub(super) fn beside(self, order: AddressOrder) -> Option<Span> {
        let start = match order {
            AddressOrder::Up => self.start.checked_add(self.bytes),
            AddressOrder::Down => self.start.checked_sub(self.bytes),
        };
        start.filter(|start| start.checked_add(self.bytes - 1).is_some()).map(|start| Span { start, ..self })
    }

    /// Adds a span that begins where this one ends, or ends where this one begins.
    pub(super) fn grow(&mut self, by: Span) {
        self.start = self.start.min(by.start);
        self.bytes += by.bytes;
    }
}

/// Order of the addresses of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressOrder {
    /// Ascending.
    Up,
    /// Descending.
    Down,
}

impl AddressOrder {
    pub(super) const fn opposite(self) -> AddressOrder {
        match self {
            AddressOrder::Up => AddressOrder::Down,
            AddressOrder::Down => AddressOrder::Up,
        }
    }
}

/// Largest piece of an access; also the size of a line.
pub(super) const PIECE_BYTES: u64 = 64;

/// Recent accesses, by first byte: at most one per first byte.
///
/// Those of two windows are kept: the first write of a new run may be a window ago, and its read
/// another one.
#[derive(Debug)]
pub(super) struct Recent {
    window: u64,
    by_start: FxHashMap<u64, SpanEntry>,
    order: VecDeque<(u64, u64)>,
    /// Bitwise or of all first bytes, whose trailing zeros give their alignment.
    starts: u64,
}

/// A recent access.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpanEntry {
    pub(super) bytes: u64,
    /// Number of its piece.
    pub(super) number: u64,
    /// Whether it belongs to a copy.
    pub(super) is_used: bool,
}

impl Recent {
    pub(super) fn new(window: u64) -> Recent {
        Recent { window, by_start: FxHashMap::default(), order: VecDeque::new(), starts: PIECE_BYTES }
    }

    /// Adds a piece, and drops those that left both windows.
    pub(super) fn add(&mut self, at: Span, number: u64) {
        self.starts |= at.start;
        self.by_start.insert(at.start, SpanEntry { bytes: at.bytes, number, is_used: false });
        self.order.push_back((number, at.start));
        while let Some(&(old, start)) = self.order.front()
            && old + 2 * self.window < number
        {
            self.order.pop_front();
            if self.by_start.get(&start).is_some_and(|entry| entry.number == old) {
                self.by_start.remove(&start);
            }
        }
    }

    /// The piece with exactly these bytes that belongs to no copy, if it is in the window before `number`.
    pub(super) fn unused(&self, at: Span, number: u64) -> Option<SpanEntry> {
        let is_match = |entry: &&SpanEntry| {
            entry.bytes == at.bytes && !entry.is_used && entry.number < number && entry.number + self.window >= number
        };
        self.by_start.get(&at.start).filter(is_match).copied()
    }

    /// Marks a piece as part of a copy, unless a later piece has replaced it.
    pub(super) fn set_used(&mut self, start: u64, number: u64) {
        if let Some(entry) = self.by_start.get_mut(&start).filter(|entry| entry.number == number) {
            entry.is_used = true;
        }
    }

    /// Removes each piece that has a byte in the span.
    pub(super) fn remove(&mut self, span: Span) {
        let step = 1 << self.starts.trailing_zeros().min(6);
        let first = span.start.saturating_sub(PIECE_BYTES - 1).next_multiple_of(step);
        if (span.last() - first) / step > self.by_start.len() as u64 {
            self.by_start.retain(|&start, entry| !Span { start, bytes: entry.bytes }.overlaps(span));
            return;
        }
        let mut start = Some(first).filter(|first| *first <= span.last());
        while let Some(at) = start {
            if self.by_start.get(&at).is_some_and(|entry| Span { start: at, bytes: entry.bytes }.overlaps(span)) {
                self.by_start.remove(&at);
            }
            start = at.checked_add(step).filter(|next| *next <= span.last());
        }
    }

    /// First bytes of the pieces, the latest first.
    pub(super) fn latest(&self) -> impl Iterator<Item = u64> {
        self.order.iter().rev().map(|&(_, start)| start)
    }
}
