//! Dispatch of instructions that have operands, limited units or limited entries of the load/store queue, and
//! the accesses that they defer.

use std::collections::VecDeque;

use trace_io::program::{InstructionClass, Needs};

use super::super::clock::CoreCycle;
use super::super::counters::Purpose;
use super::super::memory::{Access, Executed, LoadOrStore, Lookup, Memory, OnMiss, Response, Ticket};
use super::super::settings::Order;
use super::deferred::{DeferredAccess, DeferredInstruction, Operands};
use super::pipeline::{EntryId, Pipeline, Slot};
use super::{Advance, Bounds, Core, Stall};

/// Loads and stores in the window, at most as many as the load/store queue has entries.
#[derive(Debug)]
pub(super) struct LoadStoreQueue {
    /// `None` for no limit.
    size: Option<usize>,
    /// For each of the latest loads and stores, the number of instructions that the core has dispatched, less those
    /// that have entered the window from this one on.
    entries: VecDeque<u64>,
}

impl LoadStoreQueue {
    pub(super) const fn new(size: Option<usize>) -> LoadStoreQueue {
        LoadStoreQueue { size, entries: VecDeque::new() }
    }

    /// The first slot in which an entry is free after the core has dispatched some instructions; `None` if that
    /// depends on awaited data.
    fn free(&self, pipeline: &Pipeline, dispatched: u64) -> Option<Slot> {
        match self.entries.front() {
            Some(&oldest) if Some(self.entries.len()) == self.size => pipeline.entry_free(dispatched - oldest),
            _ => Some(Slot(0)),
        }
    }

    /// Frees all entries: an event of the kernel or a piece of a copy begins.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }

    /// Counts an instruction that takes no entry of the window.
    pub(super) fn count_without_entry(&mut self) {
        self.entries.iter_mut().for_each(|dispatched| *dispatched += 1);
    }

    /// Adds the next instruction, in the place of the oldest one if the queue is full.
    fn push(&mut self, dispatched: u64) {
        let Some(size) = self.size else { return };
        if self.entries.len() == size {
            self.entries.pop_front();
        }
        self.entries.push_back(dispatched);
    }
}

/// When the next instruction dispatches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dispatch {
    /// First slot apart from the window.
    next: Slot,
    /// First slot in which the window has an entry.
    window: Slot,
    /// First slot in which the load/store queue has an entry, too.
    queue: Slot,
    /// The slot of the dispatch.
    slot: Slot,
    /// First slot between in which an operand is not there, and the slot in which all are.
    operand: (Slot, Slot),
    operands: Operands,
}

impl Dispatch {
    /// Slots before one in which the instruction waits for operands, and for units, with an entry of the window and
    /// of the load/store queue.
    fn waits(&self, until: Slot) -> (u64, u64) {
        let before = |Slot(from): Slot, to: Slot| to.min(until).0.saturating_sub(from);
        let operand = before(self.operand.0, self.operand.1);
        (operand, before(self.queue, self.slot) - operand)
    }
}

/// Result of an access to the caches.
enum CacheAnswer {
    /// The access is done; its result is there in a slot.
    Done(Slot),
    /// The data of the load are awaited.
    Awaits(Ticket),
    /// The access cannot be accepted yet.
    Refused(Stall),
    /// The access affects others, and its cycle is too late.
    Later,
}

impl Core {
    /// Dispatches instructions of a class without memory access before the limit, up to a boundary of the
    /// region; `count` is the number of those left.
    pub fn run_class(&mut self, count: &mut u64, needs: Needs, purpose: Purpose, bounds: Bounds) -> Advance {
        let most = if purpose == Purpose::Program { self.boundary - self.counters.instructions } else { u64::MAX };
        let end = *count - most.min(*count);
        let mut earlier = None;
        while *count > end {
            let repeated = self.repeat(&mut earlier, *count - end, (needs, purpose), bounds.run);
            if repeated > 0 {
                *count -= repeated;
                continue;
            }
            let dispatch = match self.next_dispatch(needs, purpose, bounds.run) {
                Ok(dispatch) => dispatch,
                Err(outcome) => return outcome,
            };
            self.dispatch_compute(needs.class, &dispatch);
            self.counters.count_instructions(purpose, 1);
            *count -= 1;
            if !self.deferred.is_empty() {
                // The bounds depend on deferred instructions.
                break;
            }
        }
        if *count == 0 { Advance::Done } else { Advance::Part }
    }

    /// Executes an access to a line under the rules for classes, operands and pending copies.
    pub fn issue(&mut self, access: &Access, needs: Needs, memory: &mut Memory, bounds: Bounds) -> Advance {
        self.away = None;
        if let Some(at) = self.retry_at {
            self.end_stall(at);
        }
        let dispatch = match self.next_dispatch(needs, access.purpose, bounds.hit) {
            Ok(dispatch) => dispatch,
            Err(outcome) => return outcome,
        };
        let (slot, line) = (dispatch.slot, access.line(memory.line_size()));
        let is_in_order = self.settings.order == Order::InOrder;
        if is_in_order && self.pending.touch(line) {
            return self.stalls_at(&dispatch, Stall::PendingCopy);
        }
        let begin = self.begin(needs.class, &dispatch);
        let is_now = begin.is_some_and(|begin| self.pipeline.cycle(begin) == self.pipeline.cycle(slot));
        let Some(begin) = begin.filter(|_| is_now && !self.pending.touch(line) && !self.deferred.has_access_to(line))
        else {
            self.defer(access, needs.class, &dispatch, memory);
            return Advance::Done;
        };
        let served = self.serve(access, needs.class, &mut None, begin, memory, bounds.until);
        let latency = self.units.latency(needs.class);
        let (entry, result) = match served {
            CacheAnswer::Later => return self.dispatches_later(dispatch),
            CacheAnswer::Refused(stall) => return self.refused(&dispatch, needs.class, stall),
            CacheAnswer::Done(result) => {
                (self.enter(needs.class, &dispatch, |it| it.dispatch_with_result(slot, result)), Some(result))
            }
            CacheAnswer::Awaits(ticket) => {
                let entry = self.enter(needs.class, &dispatch, |it| it.dispatch_awaited(slot));
                self.awaited.add(ticket, Some((entry, latency)));
                (entry, None)
            }
        };
        self.pipeline.occupy(&mut self.units, needs.class, begin, slot);
        if access.kind == LoadOrStore::Load {
            self.pipeline.block_on(entry, result);
        }
        self.record_advance(begin, result);
        self.counters.count_instructions(access.purpose, 1);
        Advance::Done
    }

    /// When the next instruction dispatches, if that is before a limit.
    fn next_dispatch(&mut self, needs: Needs, purpose: Purpose, limit: Slot) -> Result<Dispatch, Advance> {
        let Some(window) = self.pipeline.next_slot() else { return Err(Advance::Blocked) };
        let mut queue = window;
        if needs.class.accesses_memory() {
            match self.queue.free(&self.pipeline, self.counters.dispatched()) {
                Some(free) => queue = queue.max(free),
                None => return Err(self.stalls(Stall::LoadStoreQueue)),
            }
        }
        let operands = self.operands(needs, purpose);
        let next = Slot(self.pipeline.position());
        let mut dispatch = Dispatch { next, window, queue, slot: queue, operand: (queue, queue), operands };
        if self.settings.order == Order::InOrder && !self.wait_in_order(needs.class, &mut dispatch) {
            return Err(self.stalls(Stall::Operand));
        }
        if dispatch.slot < limit { Ok(dispatch) } else { Err(self.dispatches_later(dispatch)) }
    }

    /// Moves a dispatch of an in-order core to the slot in which the instruction begins; returns whether it is
    /// known.
    fn wait_in_order(&self, class: InstructionClass, dispatch: &mut Dispatch) -> bool {
        let is_alone = !self.settings.classes.of(class).is_paired;
        let width = self.pipeline.width();
        let fitting = |Slot(slot)| Slot(if is_alone { slot.next_multiple_of(width) } else { slot });
        let before = fitting(dispatch.slot.max(self.not_with_previous));
        let there = before.max(dispatch.operands.from);
        dispatch.operand = (before, there);
        dispatch.slot = self.pipeline.begin(&self.units, class, fitting(there));
        dispatch.operands.are_known()
    }

    /// The results for which the next instruction waits. Those of instructions before a kernel event, a
    /// `memcopy` or a `meminit` are there. The operands of a copy loop are instructions of the loop.
    fn operands(&self, needs: Needs, purpose: Purpose) -> Operands {
        let mut operands = Operands::default();
        let is_of_program = purpose == Purpose::Program;
        let since = if is_of_program { self.counters.instructions - self.quiet_at } else { u64::MAX };
        let distances = needs.after.map(u64::from);
        for (distance, awaited) in distances.into_iter().zip(&mut operands.awaited) {
            if (1..=since).contains(&distance)
                && let Some(entry) = self.pipeline.entry_before(distance)
            {
                match self.pipeline.result(entry) {
                    Some(result) => operands.from = operands.from.max(result),
                    None => *awaited = Some(entry),
                }
            }
        }
        operands
    }

    /// The slot in which a dispatched instruction begins, if the results that it needs are known.
    fn begin(&self, class: InstructionClass, dispatch: &Dispatch) -> Option<Slot> {
        let from = dispatch.slot.max(dispatch.operands.from);
        dispatch.operands.are_known().then(|| self.pipeline.begin(&self.units, class, from))
    }

    /// Dispatches an instruction, and counts the slots before it.
    fn enter(
        &mut self,
        class: InstructionClass,
        dispatch: &Dispatch,
        enter: impl FnOnce(&mut Pipeline) -> EntryId,
    ) -> EntryId {
        let Dispatch { next, window, queue, slot, .. } = *dispatch;
        let is_queue_full = window < queue;
        if is_queue_full {
            self.counters.stalls.load_store_queue += queue.0 - next.0;
        }
        self.pass(dispatch, if is_queue_full { next } else { window });
        if class.accesses_memory() {
            self.queue.push(self.counters.dispatched());
        }
        self.record_advance(slot, Some(self.pipeline.plus(slot, 1)));
        if !self.settings.classes.of(class).is_paired {
            self.not_with_previous = self.pipeline.plus(slot, 1);
        }
        enter(&mut self.pipeline)
    }

    /// Passes the slots before a dispatch: those before `window` because the window was full.
    fn pass(&mut self, dispatch: &Dispatch, window: Slot) {
        let (operand, unit) = dispatch.waits(dispatch.slot);
        self.counters.stalls.operand += operand;
        self.counters.stalls.unit += unit;
        self.pipeline.pass(window, dispatch.slot);
    }

    /// Keeps what the next instruction waits for, until its dispatch or an interrupt.
    fn dispatches_later(&mut self, dispatch: Dispatch) -> Advance {
        self.waiting = Some(dispatch);
        Advance::Later(self.pipeline.cycle(dispatch.slot))
    }

    /// Passes the slots before an interrupt in which the next instruction has waited for an entry of the load/store
    /// queue, operands or units. It may have waited for the window before, or have dispatched.
    pub(super) fn pass_waits(&mut self, until: Slot) {
        let next = Slot(self.position());
        let Some(dispatch) = self.waiting.take().filter(|dispatch| dispatch.next == next) else { return };
        let Dispatch { window, queue, .. } = dispatch;
        let (operand, unit) = dispatch.waits(until);
        let in_queue = if window < queue { queue.min(until).0.saturating_sub(next.0) } else { 0 };
        self.counters.stalls.load_store_queue += in_queue;
        self.counters.stalls.operand += operand;
        self.counters.stalls.unit += unit;
        self.pipeline.delay_to(Slot(next.0 + in_queue + operand + unit));
    }

    /// Stalls before a dispatch. Slots in which the window was full count for the cause.
    fn stalls_at(&mut self, dispatch: &Dispatch, stall: Stall) -> Advance {
        let Dispatch { next, window, queue, .. } = *dispatch;
        let stalls = &mut self.counters.stalls;
        *(if window < queue { &mut stalls.load_store_queue } else { stall.slots(stalls) }) += queue.0 - next.0;
        self.pass(dispatch, next);
        self.stalls(stall)
    }

    /// Stalls before the dispatch of an access that the caches refuse. In a later cycle in which an out-of-order
    /// core has no unit for the access, the instruction dispatches and begins after its dispatch.
    fn refused(&mut self, dispatch: &Dispatch, class: InstructionClass, stall: Stall) -> Advance {
        let blocked = self.stalls_at(dispatch, stall);
        let CoreCycle(at) = self.pipeline.cycle(dispatch.slot);
        if self.settings.order == Order::OutOfOrder {
            self.retry_at = self.units.first_busy(class, at + 1).map(CoreCycle);
        }
        self.retry_at.map_or(blocked, Advance::Later)
    }

    fn dispatch_compute(&mut self, class: InstructionClass, dispatch: &Dispatch) {
        let slot = dispatch.slot;
        let Some(begin) = self.begin(class, dispatch) else {
            let entry = self.enter(class, dispatch, |it| it.dispatch_awaited(slot));
            let operands = dispatch.operands;
            let operands = Operands { from: operands.from.max(slot), ..operands };
            self.deferred.push(DeferredInstruction { entry, class, operands, begin: None, access: None });
            return;
        };
        self.pipeline.occupy(&mut self.units, class, begin, slot);
        let result = self.pipeline.plus(begin, self.units.latency(class));
        self.enter(class, dispatch, |it| it.dispatch_with_result(slot, result));
        self.record_advance(begin, Some(result));
    }

    /// Dispatches a load or store that accesses the caches later.
    fn defer(&mut self, access: &Access, class: InstructionClass, dispatch: &Dispatch, memory: &mut Memory) {
        let slot = dispatch.slot;
        let begin = self.begin(class, dispatch);
        if let Some(begin) = begin {
            self.pipeline.occupy(&mut self.units, class, begin, slot);
        }
        let entry = self.enter(class, dispatch, |it| it.dispatch_awaited(slot));
        let executed = memory.execute(access);
        let line = access.line(memory.line_size());
        let copies = self.pending.touched(line).collect();
        let is_behind = self.deferred.has_access_to(line);
        let deferred = DeferredAccess { access: *access, line, executed, copies, is_behind, is_refused: false };
        let operands = Operands { from: dispatch.operands.from.max(slot), ..dispatch.operands };
        self.deferred.push(DeferredInstruction { entry, class, operands, begin, access: Some(deferred) });
        self.counters.count_instructions(access.purpose, 1);
    }

    /// Accesses the caches in a slot.
    fn serve(
        &mut self,
        access: &Access,
        class: InstructionClass,
        executed: &mut Option<Box<Executed>>,
        slot: Slot,
        memory: &mut Memory,
        until: CoreCycle,
    ) -> CacheAnswer {
        let (at, latency) = (self.pipeline.cycle(slot), self.units.latency(class));
        let is_load = access.kind == LoadOrStore::Load;
        let stored = self.pipeline.plus(slot, latency.max(1));
        if let LoadOrStore::NonTemporal(_) = access.kind {
            return self.serve_past(access, executed, (at, until), memory, stored);
        }
        // Where hits are requests, they are made in the order of all accesses.
        let lookup = if memory.caches.are_hits_requests() {
            Lookup::Away(memory.caches.look_up(self.index, access))
        } else {
            memory.caches.port(self.index).access::<true>(access)
        };
        let away = match lookup {
            Lookup::Hit { cycles, way } => {
                memory.perform(self.index, access, executed.take(), way);
                return CacheAnswer::Done(if is_load { self.pipeline.plus(slot, cycles + latency) } else { stored });
            }
            Lookup::Away(away) => away,
        };
        if at >= until {
            return CacheAnswer::Later;
        }
        let is_past = access.on_miss == OnMiss::Bypass && away.is_absent();
        if is_past && let LoadOrStore::Store(_) = access.kind {
            return self.serve_past(&access.whole_line(memory.line_size()), executed, (at, until), memory, stored);
        }
        if let Some(stall) = self.lacks_entry(access, &away, memory) {
            return CacheAnswer::Refused(stall);
        }
        match memory.request(self.index, access, &away, at, executed) {
            Response::LacksLine => CacheAnswer::Refused(Stall::Mshr),
            Response::LacksWriteEntry => CacheAnswer::Refused(Stall::StoreBuffer),
            Response::Done(cycles) if is_load => CacheAnswer::Done(self.pipeline.plus(slot, cycles + latency)),
            Response::Done(_) => CacheAnswer::Done(stored),
            Response::Evicts => {
                self.stores += 1;
                CacheAnswer::Done(stored)
            }
            Response::Waits(ticket) if is_load => CacheAnswer::Awaits(ticket),
            Response::Waits(ticket) => {
                self.awaited.add(ticket, None);
                self.stores += 1;
                CacheAnswer::Done(stored)
            }
        }
    }

    /// Stores a whole line past the caches.
    fn serve_past(
        &mut self,
        access: &Access,
        executed: &mut Option<Box<Executed>>,
        (at, until): (CoreCycle, CoreCycle),
        memory: &mut Memory,
        stored: Slot,
    ) -> CacheAnswer {
        if at >= until {
            return CacheAnswer::Later;
        }
        if let Some(stall) = self.cannot_store_past(access, memory) {
            return CacheAnswer::Refused(stall);
        }
        memory.store_past(self.index, access, at, executed).add_to(&mut self.counters.coherence);
        self.stores += 1;
        CacheAnswer::Done(stored)
    }

    /// Attempts the deferred accesses of the first cycle that has any, if it is before a cycle; returns whether
    /// there were any.
    pub fn attempt_deferred(&mut self, memory: &mut Memory, until: CoreCycle) -> bool {
        let (at, mut place) = self.deferred.first_access(&self.pipeline);
        if at >= until {
            return false;
        }
        let mut next = at;
        while next == at {
            self.attempt_access(place, at, memory);
            (next, place) = self.deferred.first_access(&self.pipeline);
        }
        self.end_stall(at);
        true
    }

    fn attempt_access(&mut self, place: usize, at: CoreCycle, memory: &mut Memory) {
        let it = self.deferred.attempt(place, at);
        let (entry, class, begin) = (it.entry, it.class, it.begin.expect("its operands are known"));
        let deferred = it.access.as_mut().expect("it is an access");
        let (access, mut executed) = (deferred.access, deferred.executed.take());
        let slot = begin.max(self.pipeline.first_slot(at));
        match self.serve(&access, class, &mut executed, slot, memory, CoreCycle::NEVER) {
            CacheAnswer::Refused(_) => {
                let deferred = self.deferred.attempt(place, at).access.as_mut().expect("it is an access");
                (deferred.executed, deferred.is_refused) = (executed, true);
                return;
            }
            CacheAnswer::Later => unreachable!("no cycle is too late"),
            CacheAnswer::Awaits(ticket) => {
                self.awaited.add(ticket, Some((entry, self.units.latency(class))));
                self.record_advance(slot, None);
            }
            CacheAnswer::Done(result) => {
                self.pipeline.resolve(entry, result);
                self.record_advance(slot, Some(result));
            }
        }
        self.deferred.remove(place);
        self.results_known();
    }

    /// Lets instructions begin whose operands have become known.
    #[inline]
    pub(super) fn results_known(&mut self) {
        if !self.deferred.is_empty() {
            self.deferred.results_known(&mut self.pipeline, &mut self.units, &mut self.overlap);
        }
    }

    /// Records, while copies are pending, that an instruction advances from a slot on until its result is there;
    /// without a result, until its line arrives.
    #[inline]
    fn record_advance(&mut self, begin: Slot, result: Option<Slot>) {
        if self.overlap.is_active() {
            let begin = self.pipeline.cycle(begin);
            match result {
                Some(result) => self.overlap.advance(begin, self.pipeline.cycle(result)),
                None => self.overlap.await_line(begin),
            }
        }
    }

    /// Bounds within which no instruction dispatches in or after the cycle of the first deferred access, nor
    /// ahead of an event for which an instruction waits.
    #[cold]
    pub(super) fn bounds_beside_deferred(&self, Bounds { run, hit, until }: Bounds) -> Bounds {
        let now = self.pipeline.first_slot(until);
        let (first, _) = self.deferred.first_access(&self.pipeline);
        let run = if self.deferred.awaits_event() { now } else { run };
        let hit = if self.deferred.awaits_event() || !self.pending.is_empty() { now } else { hit };
        let limit = if first == CoreCycle::NEVER { Slot(u64::MAX) } else { self.pipeline.first_slot(first) };
        Bounds { run: run.min(limit), hit: hit.min(limit), until: until.min(first) }
    }
}
