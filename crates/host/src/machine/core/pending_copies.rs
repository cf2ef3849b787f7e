//! Copies in progress with which the loads and stores that follow them are compared.

use std::ops::Range;

use super::super::bulk::{Bulk, CopyId};
use super::super::clock::CoreCycle;
use super::super::counters::Purpose;
use super::super::memory::{LineNumber, LineSize};
use super::pipeline::EntryId;
use super::{Advance, Bounds, Core, NextAct, Stall};

/// The table of pending copies of a core: it is empty without a copy engine.
#[derive(Debug, Default)]
pub struct PendingCopies {
    copies: Vec<(CopyId, [Range<LineNumber>; 2])>,
}

impl PendingCopies {
    /// Whether no copy is pending.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.copies.is_empty()
    }

    /// Number of pending copies.
    pub const fn len(&self) -> usize {
        self.copies.len()
    }

    /// Whether a line overlaps the source or the destination of a pending copy.
    pub fn touch(&self, line: LineNumber) -> bool {
        self.touched(line).next().is_some()
    }

    /// Whether a range of lines overlaps the source or the destination of a pending copy.
    pub fn overlap(&self, lines: &Range<LineNumber>) -> bool {
        let overlaps = |other: &Range<LineNumber>| other.start < lines.end && lines.start < other.end;
        self.copies.iter().flat_map(|(_, ranges)| ranges).any(overlaps)
    }

    /// Pending copies of which the source or the destination overlaps a line.
    pub(super) fn touched(&self, line: LineNumber) -> impl Iterator<Item = CopyId> {
        let touched = move |(id, ranges): &(CopyId, [Range<LineNumber>; 2])| {
            ranges.iter().any(|lines| lines.contains(&line)).then_some(*id)
        };
        self.copies.iter().filter_map(touched)
    }

    /// Adds a copy.
    pub(super) fn add(&mut self, id: CopyId, Bulk { src, dst, bytes }: Bulk, size: LineSize) {
        self.copies.push((id, [src.unwrap_or(dst), dst].map(|start| size.span(start, bytes))));
    }

    /// Removes a copy.
    ///
    /// # Panics
    /// If it is not pending.
    pub(super) fn remove(&mut self, id: CopyId) {
        let place = self.copies.iter().position(|(other, _)| *other == id).expect("the copy is pending");
        self.copies.remove(place);
    }
}

/// What a copy engine needs of a core.
impl Core {
    /// Whether the slot in which the next instruction can dispatch is known.
    pub fn has_slot(&self) -> bool {
        self.pipeline.next_slot().is_some()
    }

    /// Dispatches an instruction whose completion [`Self::complete`] will report: it blocks
    /// retirement, and no dispatch. Returns its entry and its cycle.
    ///
    /// # Errors
    /// The outcome of the attempt, if it cannot dispatch yet.
    pub fn dispatch_awaited(&mut self, purpose: Purpose, bounds: Bounds) -> Result<(EntryId, CoreCycle), Advance> {
        let slot = self.pipeline.next_slot().ok_or(Advance::Blocked)?;
        let at = self.pipeline.cycle(slot);
        if at >= bounds.until {
            return Err(Advance::Later(at));
        }
        self.counters.count_instructions(purpose, 1);
        // Operands are not named across it.
        self.quiet_at = self.counters.instructions;
        self.away = None;
        Ok((self.pipeline.dispatch_awaited(slot), at))
    }

    /// Whether no instruction dispatches until one retires: the window or the load/store queue is full, the program
    /// has ended, or an event of the kernel waits.
    fn waits_for_retirement(&self) -> bool {
        match self.stall {
            Some(stall) => matches!(stall, Stall::Drain | Stall::LoadStoreQueue),
            None => {
                !self.pipeline.is_blocked() && (self.next == NextAct::Blocked || self.pipeline.next_slot().is_none())
            }
        }
    }

    /// Counts the slots before a cycle in which nothing dispatched because the oldest instruction waited for a copy.
    fn count_wait_for_copy(&mut self, until: CoreCycle) {
        if self.waits_for_retirement() {
            let from = self.pipeline.position().max(self.pipeline.oldest_since());
            self.counters.copy_slots += self.pipeline.first_slot(until).0.saturating_sub(from);
        }
    }

    /// Completes an instruction of [`Self::dispatch_awaited`] at a cycle.
    pub fn complete(&mut self, entry: EntryId, at: CoreCycle) {
        if self.pipeline.is_oldest(entry) {
            self.count_wait_for_copy(at);
        }
        self.pipeline.arrive(entry, at);
        self.results_known();
    }

    /// Counts the cycles from the dispatch of a copy's instruction in a cycle on. Instructions in progress advance,
    /// as far as they do not wait for operands.
    pub fn copy_begins(&mut self, at: CoreCycle) {
        if self.overlap.begin(at, self.awaited.loads()) {
            for result in self.pipeline.results_after(self.pipeline.first_slot(at)) {
                self.overlap.advance(at, self.pipeline.cycle(result));
            }
        }
    }

    /// Counts the cycles of a copy up to its completion at a cycle.
    pub fn copy_ends(&mut self, at: CoreCycle) {
        self.overlap.end(at);
    }

    /// The copies with which loads and stores are compared.
    pub const fn pending_copies(&self) -> &PendingCopies {
        &self.pending
    }

    /// Lets later loads and stores that touch the source or the destination of a copy wait for its end.
    pub fn add_pending_copy(&mut self, id: CopyId, bulk: Bulk, size: LineSize) {
        self.pending.add(id, bulk, size);
    }

    /// Whether an access to a line has been dispatched, and the caches have not accepted it.
    pub fn defers_access_to(&self, line: LineNumber) -> bool {
        self.deferred.has_access_to(line)
    }

    /// Ends the wait of loads and stores for a copy at a cycle.
    ///
    /// # Panics
    /// If the copy is not pending.
    pub fn copy_completed(&mut self, id: CopyId, at: CoreCycle) {
        self.pending.remove(id);
        self.copies_end = at;
        let waited = self.deferred.copy_completed(id, at);
        if waited.is_some_and(|entry| self.pipeline.is_oldest(entry)) {
            self.count_wait_for_copy(at);
        }
    }
}
