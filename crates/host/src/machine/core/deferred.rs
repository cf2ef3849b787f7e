//! Instructions that wait in the window for operands, and loads and stores that access the caches later than
//! they dispatch.

use std::cell::Cell;
use std::collections::VecDeque;

use trace_io::program::InstructionClass;

use super::super::bulk::CopyId;
use super::super::clock::CoreCycle;
use super::super::memory::{Access, Executed, LineNumber};
use super::overlap::Overlap;
use super::pipeline::{EntryId, Pipeline, Slot};
use super::units::Units;

/// Operands of an instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Operands {
    /// The first slot in which the results that are known are there.
    pub(super) from: Slot,
    /// Instructions whose results are awaited.
    pub(super) awaited: [Option<EntryId>; 2],
}

impl Operands {
    /// Whether the first slot in which all results are there is known.
    pub(super) const fn are_known(&self) -> bool {
        matches!(self.awaited, [None, None])
    }

    /// Takes over the results that have become known.
    fn update(&mut self, pipeline: &Pipeline) {
        for awaited in &mut self.awaited {
            if let Some(result) = awaited.and_then(|entry| pipeline.result(entry)) {
                self.from = self.from.max(result);
                *awaited = None;
            }
        }
    }
}

/// An instruction of the window that has not begun, or has not accessed the caches.
#[derive(Debug)]
pub(super) struct DeferredInstruction {
    pub(super) entry: EntryId,
    pub(super) class: InstructionClass,
    pub(super) operands: Operands,
    /// The slot in which it begins, once its operands are known.
    pub(super) begin: Option<Slot>,
    /// Its access; none of an instruction without memory access.
    pub(super) access: Option<DeferredAccess>,
}

/// An access that the caches have not accepted.
#[derive(Debug)]
pub(super) struct DeferredAccess {
    pub(super) access: Access,
    pub(super) line: LineNumber,
    /// Where contents are modeled.
    pub(super) executed: Option<Box<Executed>>,
    /// Pending copies for which it waits.
    pub(super) copies: Vec<CopyId>,
    /// Whether an older access to its line has not been accepted.
    pub(super) is_behind: bool,
    /// Whether the caches have refused it since the last event that may change that.
    pub(super) is_refused: bool,
}

/// The deferred instructions of a core, in program order.
#[derive(Debug, Default)]
pub(super) struct Deferred {
    instructions: VecDeque<DeferredInstruction>,
    /// Cycle of the last access or event: later attempts are not earlier.
    now: CoreCycle,
    /// Answer of `first_access` since the last change.
    first: Cell<Option<(CoreCycle, usize)>>,
}

impl Deferred {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.instructions.is_empty()
    }

    pub(super) fn push(&mut self, instruction: DeferredInstruction) {
        if instruction.can_access().is_some() {
            self.first.take();
        }
        self.instructions.push_back(instruction);
    }

    /// Whether an access to a line has not been accepted.
    pub(super) fn has_access_to(&self, line: LineNumber) -> bool {
        self.instructions.iter().any(|it| it.line() == Some(line))
    }

    /// Whether an instruction waits for an event at a cycle that is not known.
    pub(super) fn awaits_event(&self) -> bool {
        self.instructions
            .iter()
            .any(|it| it.begin.is_none() || it.access.as_ref().is_some_and(|it| it.is_refused || !it.copies.is_empty()))
    }

    /// Whether the caches have refused an access.
    pub(super) fn has_refused(&self) -> bool {
        self.instructions.iter().any(|it| it.access.as_ref().is_some_and(|it| it.is_refused))
    }

    /// Cycle and place in the list of the first access that can be attempted; [`CoreCycle::NEVER`] without one.
    pub(super) fn first_access(&self, pipeline: &Pipeline) -> (CoreCycle, usize) {
        if let Some(first) = self.first.get() {
            return first;
        }
        let mut first = (CoreCycle::NEVER, 0);
        // The first slot of the cycle of `first`, so that most are compared without a division.
        let mut earlier = Slot(u64::MAX);
        for (place, instruction) in self.instructions.iter().enumerate() {
            let Some(begin) = instruction.can_access().filter(|begin| *begin < earlier) else { continue };
            first = (pipeline.cycle(begin).max(self.now), place);
            if first.0 == self.now {
                break;
            }
            earlier = pipeline.first_slot(first.0);
        }
        self.first.set(Some(first));
        first
    }

    /// The access at a place of the list, which is attempted at a cycle.
    pub(super) fn attempt(&mut self, place: usize, at: CoreCycle) -> &mut DeferredInstruction {
        self.now = at;
        self.first.take();
        &mut self.instructions[place]
    }

    /// Removes an access that the caches have accepted.
    pub(super) fn remove(&mut self, place: usize) {
        self.first.take();
        let line = self.instructions.remove(place).and_then(|it| it.line());
        let mut younger = self.instructions.range_mut(place..).filter_map(|it| it.access.as_mut());
        if let Some(next) = younger.find(|it| Some(it.line) == line) {
            next.is_behind = false;
        }
    }

    /// Attempts refused accesses again, from a cycle on.
    pub(super) fn retry(&mut self, at: CoreCycle) {
        self.now = self.now.max(at);
        self.first.take();
        self.instructions.iter_mut().filter_map(|it| it.access.as_mut()).for_each(|it| it.is_refused = false);
    }

    /// Ends the wait for a pending copy at a cycle. Returns the oldest instruction if it has waited for this copy
    /// alone.
    pub(super) fn copy_completed(&mut self, id: CopyId, at: CoreCycle) -> Option<EntryId> {
        self.now = self.now.max(at);
        self.first.take();
        let waited = self.instructions.front().filter(|it| it.access.as_ref().is_some_and(|it| it.copies == [id]));
        let entry = waited.map(|it| it.entry);
        let accesses = self.instructions.iter_mut().filter_map(|it| it.access.as_mut());
        accesses.for_each(|it| it.copies.retain(|&copy| copy != id));
        entry
    }

    /// Lets instructions begin whose operands have become known. The results of those without memory access
    /// become known.
    pub(super) fn results_known(&mut self, pipeline: &mut Pipeline, units: &mut Units, overlap: &mut Overlap) {
        // An instruction needs the results of older ones only: one pass finds all.
        self.instructions.retain_mut(|it| {
            if it.begin.is_some() {
                return true;
            }
            it.operands.update(pipeline);
            if !it.operands.are_known() {
                return true;
            }
            let begin = pipeline.begin(units, it.class, it.operands.from);
            pipeline.occupy(units, it.class, begin, Slot(0));
            it.begin = Some(begin);
            self.first.take();
            if it.access.is_none() {
                let result = pipeline.plus(begin, units.latency(it.class));
                pipeline.resolve(it.entry, result);
                if overlap.is_active() {
                    overlap.advance(pipeline.cycle(begin), pipeline.cycle(result));
                }
            }
            it.access.is_some()
        });
    }
}

impl DeferredInstruction {
    /// The slot from which its access can be attempted, unless it waits.
    fn can_access(&self) -> Option<Slot> {
        let access = self.access.as_ref()?;
        let waits = access.is_refused || access.is_behind || !access.copies.is_empty();
        if waits { None } else { self.begin }
    }

    /// The line that it accesses.
    fn line(&self) -> Option<LineNumber> {
        self.access.as_ref().map(|it| it.line)
    }
}
