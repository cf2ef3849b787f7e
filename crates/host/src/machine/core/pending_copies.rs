//! Copies in progress with which the loads and stores that follow them are compared.

use dram_spec::PhysicalAddress;

use super::super::bulk::Bulk;
use super::super::clock::CoreCycle;
use super::super::counters::Purpose;
use super::super::memory::LineNumber;
use super::pipeline::EntryId;
use super::{Core, Limits, Outcome};

/// Number of a copy of a copy engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyId(pub u64);

/// The table of pending copies of a core: it is empty without a copy engine.
#[derive(Debug, Default)]
pub struct PendingCopies {
    copies: Vec<(CopyId, Bulk)>,
}

impl PendingCopies {
    /// Whether no copy is pending.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.copies.is_empty()
    }

    /// Number of pending copies.
    #[cfg_attr(not(test), expect(dead_code, reason = "no copier starts copies that the core does not wait for"))]
    pub const fn len(&self) -> usize {
        self.copies.len()
    }

    /// Whether a line overlaps the source or the destination of a pending copy.
    pub fn touch(&self, line: LineNumber) -> bool {
        self.touched(line).next().is_some()
    }

    /// Pending copies of which the source or the destination overlaps a line.
    pub(super) fn touched(&self, line: LineNumber) -> impl Iterator<Item = CopyId> {
        self.copies.iter().filter(move |(_, bulk)| is_touched(bulk, line)).map(|&(id, _)| id)
    }

    /// Adds a copy.
    pub(super) fn add(&mut self, id: CopyId, bulk: Bulk) {
        self.copies.push((id, bulk));
    }

    /// Removes a copy.
    ///
    /// # Panics
    /// If it is not pending.
    pub(super) fn remove(&mut self, id: CopyId) {
        let place = self.copies.iter().position(|&(other, _)| other == id).expect("the copy is pending");
        self.copies.remove(place);
    }
}

/// What a copy engine needs of a core.
#[cfg_attr(not(test), expect(dead_code, reason = "no copier starts copies that the core does not wait for"))]
impl Core {
    /// Dispatches an instruction of the program whose completion [`Self::complete`] will report: it blocks
    /// retirement, and in an in-order core no dispatch.
    ///
    /// # Errors
    /// The outcome of the attempt, if it cannot dispatch yet.
    pub fn dispatch_awaited(&mut self, limits: Limits) -> Result<EntryId, Outcome> {
        let slot = self.pipeline.next_slot().ok_or(Outcome::Blocked)?;
        let at = self.pipeline.cycle(slot);
        if at >= limits.until {
            return Err(Outcome::Later(at));
        }
        self.counters.count_instructions(Purpose::Program, 1);
        Ok(self.pipeline.dispatch_awaited(slot))
    }

    /// Completes an instruction of [`Self::dispatch_awaited`] at a cycle.
    pub fn complete(&mut self, entry: EntryId, at: CoreCycle) {
        self.pipeline.arrive(entry, at);
        self.results_known();
    }

    /// The copies with which loads and stores are compared.
    pub const fn pending_copies(&self) -> &PendingCopies {
        &self.pending
    }

    /// Lets later loads and stores that touch the source or the destination of a copy wait for its end.
    pub fn add_pending_copy(&mut self, id: CopyId, bulk: Bulk) {
        self.pending.add(id, bulk);
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
        self.deferred.copy_completed(id, at);
    }
}

/// Whether a line overlaps the source or the destination of a copy.
fn is_touched(bulk: &Bulk, line: LineNumber) -> bool {
    let end = |start: PhysicalAddress| PhysicalAddress(start.0 + (bulk.bytes - 1));
    let touches = |start| LineNumber::of(start) <= line && line <= LineNumber::of(end(start));
    bulk.src.is_some_and(touches) || touches(bulk.dst)
}
