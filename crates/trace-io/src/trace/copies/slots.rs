//! Pieces of accesses that have not left the search.

use std::collections::VecDeque;

use super::report::CopyReport;
use super::span::Span;
use crate::trace::record::{Event, Record};

/// Pieces by number, in order.
#[derive(Debug, Default)]
pub(super) struct Slots {
    slots: VecDeque<Slot>,
    /// Number of the oldest piece.
    oldest: u64,
}

/// A piece of an access, or another record.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) record: Record,
    pub(super) line: u64,
    /// Whether the trace says that it writes zeros only.
    pub(super) is_zero: bool,
    /// Whether the trace has the data that it writes.
    pub(super) has_data: bool,
    pub(super) fate: Fate,
}

/// What leaves in the place of a piece.
#[derive(Debug)]
pub(super) enum Fate {
    /// The piece.
    Kept,
    /// Nothing: it is a part of a copy or a fill.
    Dropped,
    /// A copy or a fill.
    Replaced(Box<Event>),
}

impl Slots {
    /// Number of the next piece.
    pub(super) fn next(&self) -> u64 {
        self.oldest + self.held()
    }

    /// Number of the oldest piece.
    pub(super) const fn oldest(&self) -> u64 {
        self.oldest
    }

    /// Number of pieces held.
    pub(super) fn held(&self) -> u64 {
        self.slots.len() as u64
    }

    pub(super) fn push(&mut self, slot: Slot) {
        self.slots.push_back(slot);
    }

    /// Takes the oldest piece, of which there must be one.
    pub(super) fn pop(&mut self) -> Slot {
        self.oldest += 1;
        self.slots.pop_front().expect("a piece is held")
    }

    fn get(&mut self, number: u64) -> &mut Slot {
        &mut self.slots[(number - self.oldest) as usize]
    }

    /// Line of a piece, and whether it writes zeros only.
    pub(super) fn line_of(&mut self, number: u64) -> (u64, bool) {
        let slot = self.get(number);
        (slot.line, slot.is_zero)
    }

    /// Drops a piece, which belongs to a copy or a fill.
    pub(super) fn drop(&mut self, number: u64, report: &mut CopyReport) {
        let slot = self.get(number);
        if matches!(slot.fate, Fate::Kept) {
            slot.fate = Fate::Dropped;
            report.replaced(bytes_of(&slot.record.event));
        }
    }

    /// Puts a copy or a fill in the place of its last write.
    pub(super) fn replace(&mut self, number: u64, event: Event, report: &mut CopyReport) {
        let slot = self.get(number);
        report.replaced(bytes_of(&slot.record.event));
        slot.fate = Fate::Replaced(Box::new(event));
    }
}

fn bytes_of(event: &Event) -> u64 {
    Span::of(event).map_or(0, |span| span.bytes)
}
