//! Loads and stores: translation, caches, MSHRs and the store buffer.

use std::sync::Arc;

use dram_spec::{LINE_BYTES, PhysicalAddress};
use memctrl::Completion;
use rowclone::Operation;

use super::cache::{LineNumber, LineState, Removed, Way};
use super::clock::CoreCycle;
use super::coherence_check::StoreData;
use super::core::{Access, AccessKind, Bulk, Lookup, Mshr, Stall};
use super::counters::Purpose;
use super::pipeline::Slot;
use super::processes::ProgramFault;
use super::{Machine, Outcome, Sharing};
use crate::decisions::{Decided, Decisions};

/// Bytes of a program's load or store, unless the line ends before.
const WORD: u64 = 8;

impl Machine {
    /// Executes a load or store of the program.
    #[inline]
    pub(super) fn touch(
        &mut self,
        index: usize,
        address: PhysicalAddress,
        is_store: bool,
        until: CoreCycle,
    ) -> Result<Outcome, ProgramFault> {
        let Some(physical) = self.translate(index, address, is_store)? else {
            return self.page_fault(index, address, is_store, until);
        };
        let kind = if is_store { AccessKind::Store(StoreData::Tag) } else { AccessKind::Load };
        let bytes = WORD.min(LINE_BYTES - address.0 % LINE_BYTES);
        let access = Access { address: physical, bytes, kind, purpose: Purpose::Program };
        let outcome = self.access(index, &access, until);
        if self.check.is_some() && matches!(outcome, Outcome::Done) {
            self.executed(index, address, physical, bytes, is_store);
        }
        Ok(outcome)
    }

    /// The physical address of a virtual one; `None` if the access faults.
    #[inline]
    pub(super) fn translate(
        &mut self,
        index: usize,
        address: PhysicalAddress,
        is_store: bool,
    ) -> Result<Option<PhysicalAddress>, ProgramFault> {
        match self.cores[index].translations.find(address, is_store) {
            Some(physical) => Ok(Some(physical)),
            None => self.look_up(index, address, is_store),
        }
    }

    /// The physical address of a virtual one by the page table, which the translations then know.
    #[cold]
    fn look_up(
        &mut self,
        index: usize,
        address: PhysicalAddress,
        is_store: bool,
    ) -> Result<Option<PhysicalAddress>, ProgramFault> {
        let found = self.processes.frame(index, address, is_store)?;
        let stored_to = |frame| if is_store { Decided::stored_to(frame) } else { frame };
        let found = found.map(|(frame, is_writable)| (stored_to(frame), is_writable));
        if let Some(entry) = found {
            self.cores[index].translations.insert(address, entry);
        }
        Ok(found.map(|(frame, _)| super::core::within(frame, address)))
    }

    /// Executes an access to a line.
    pub(super) fn access(&mut self, index: usize, access: &Access, until: CoreCycle) -> Outcome {
        let limit = self.limits(index, until).hit;
        let cache = self.cache_of(index);
        let (core, cache) = (&mut self.cores[index], &mut self.caches[cache]);
        if let AccessKind::NonTemporal(data) = access.kind {
            let Some(slot) = core.pipeline.next_slot() else { return Outcome::Blocked };
            return self.non_temporal(index, access, data, (slot, until));
        }
        match core.hit(cache, access, limit) {
            Lookup::Hit(way) => {
                if let (Some(check), Some(data)) = (&mut self.check, cache.data_mut(way)) {
                    let access = check.execute(access);
                    check.access(index, data, &access);
                }
                Outcome::Done
            }
            Lookup::Away(slot, way) => self.access_away(index, access, way, (slot, until)),
            Lookup::Waits(outcome) => outcome,
        }
    }

    /// Executes an access to a line that is not in the last-level cache, but may be on its way to a
    /// place.
    #[inline]
    pub(super) fn access_away(
        &mut self,
        index: usize,
        access: &Access,
        found: Option<Way>,
        (slot, until): (Slot, CoreCycle),
    ) -> Outcome {
        let core = &self.cores[index];
        // A line in flight may be there by then.
        if slot >= core.pipeline.first_slot(until) {
            return Outcome::Later(core.pipeline.cycle(slot));
        }
        let is_uncached = core.is_uncached && access.purpose == Purpose::Program && found.is_none();
        if is_uncached && let AccessKind::Store(data) = access.kind {
            let line = Access { address: LineNumber::of(access.address).address(), bytes: LINE_BYTES, ..*access };
            return self.non_temporal(index, &line, data, (slot, until));
        }
        let stall = match found {
            Some(way) => self.merge(index, access, Some(way), slot),
            None if matches!(access.kind, AccessKind::WholeLine(_)) => self.allocate(index, access, slot),
            None if is_uncached && self.is_in_flight(index, access) => self.merge(index, access, None, slot),
            None => self.miss(index, access, !is_uncached, slot),
        };
        if stall.is_some() {
            self.cores[index].stall = stall;
            return Outcome::Blocked;
        }
        self.cores[index].counters.count_instructions(access.purpose, 1);
        Outcome::Done
    }

    /// Whether a core has requested the line of an access.
    fn is_in_flight(&self, index: usize, access: &Access) -> bool {
        self.cores[index].mshrs.iter().any(|mshr| mshr.line == LineNumber::of(access.address))
    }

    /// An access to a line whose data are on their way, to a place in the cache or past it.
    #[inline(never)]
    fn merge(&mut self, index: usize, access: &Access, way: Option<Way>, slot: Slot) -> Option<Stall> {
        let is_load = access.kind == AccessKind::Load;
        if !is_load && self.cores[index].stores == self.settings.core.store_buffer {
            return Some(Stall::StoreBuffer);
        }
        if let Some(way) = way {
            let cache = self.cache_of(index);
            self.cores[index].l1_access(access);
            self.caches[cache].touch(way);
            self.caches[cache].mark_dirty(way, access);
        }
        let deferred = self.check.as_mut().map(|check| check.execute(access));
        let core = &mut self.cores[index];
        core.counters.of(access.purpose).merged += 1;
        let entry = core.pipeline.dispatch(slot, if is_load { None } else { Some(0) });
        let line = LineNumber::of(access.address);
        let mshr = core.mshrs.iter_mut().find(|mshr| mshr.line == line).expect("a program shares no line with others");
        if is_load {
            mshr.loads.push(entry);
        } else {
            mshr.stores += 1;
            core.stores += 1;
        }
        mshr.deferred.extend(deferred);
        None
    }

    /// An access to a line that the cache does not hold, which is requested. An uncached access is a
    /// load.
    #[inline(never)]
    fn miss(&mut self, index: usize, access: &Access, is_cached: bool, slot: Slot) -> Option<Stall> {
        let is_load = access.kind == AccessKind::Load;
        let core = &self.cores[index];
        if core.mshrs.len() == self.settings.core.mshrs {
            return Some(Stall::Mshr);
        }
        if !is_load && core.stores == self.settings.core.store_buffer {
            return Some(Stall::StoreBuffer);
        }
        let line = LineNumber::of(access.address);
        let at = self.after_lookup(core.pipeline.cycle(slot));
        let mut way = None;
        if is_cached {
            let state = LineState { is_pending: true, dirty: (!is_load).then_some(access.purpose) };
            way = self.replace(index, line, state, at);
            if way.is_none() {
                return Some(Stall::Mshr);
            }
            self.cores[index].l1_access(access);
        }
        let deferred = self.check.as_mut().map(|check| check.execute(access));
        let core = &mut self.cores[index];
        core.counters.of(access.purpose).misses += 1;
        let entry = core.pipeline.dispatch(slot, if is_load { None } else { Some(0) });
        let (loads, stores) = if is_load { (vec![entry], 0) } else { (Vec::new(), 1) };
        core.stores += stores;
        core.mshrs.push(Mshr { line, way, loads, stores, deferred: deferred.into_iter().collect() });
        let read = Operation::Read { address: line.address(), bytes: LINE_BYTES };
        self.outbox.send(index, at, read, None, false);
        None
    }

    /// A store of a whole line that the cache does not hold, which takes a place without a request.
    #[inline(never)]
    fn allocate(&mut self, index: usize, access: &Access, slot: Slot) -> Option<Stall> {
        let (line, shared) = (LineNumber::of(access.address), self.cache_of(index));
        let at = self.after_lookup(self.cores[index].pipeline.cycle(slot));
        let state = LineState { is_pending: false, dirty: Some(access.purpose) };
        let Some(way) = self.replace(index, line, state, at) else { return Some(Stall::Mshr) };
        let (core, cache) = (&mut self.cores[index], &mut self.caches[shared]);
        core.l1_access(access);
        core.counters.of(access.purpose).allocated += 1;
        core.pipeline.dispatch(slot, Some(0));
        if let (Some(check), Some(data)) = (&mut self.check, cache.data_mut(way)) {
            let access = check.execute(access);
            check.access(index, data, &access);
        }
        None
    }

    /// A store of a whole line that bypasses the cache.
    #[inline(never)]
    fn non_temporal(
        &mut self,
        index: usize,
        access: &Access,
        data: StoreData,
        (slot, until): (Slot, CoreCycle),
    ) -> Outcome {
        let at = self.cores[index].pipeline.cycle(slot);
        if at >= until {
            return Outcome::Later(at);
        }
        let cache = self.cache_of(index);
        let is_pending = |way| self.caches[cache].state(way).is_pending;
        let found = self.caches[cache].find(LineNumber::of(access.address));
        if found.is_some_and(is_pending) || self.is_in_flight(index, access) {
            self.cores[index].stall = Some(Stall::Mshr);
            return Outcome::Blocked;
        }
        if self.cores[index].stores == self.settings.core.store_buffer {
            self.cores[index].stall = Some(Stall::StoreBuffer);
            return Outcome::Blocked;
        }
        // The store replaces a copy of the line in the core's own cache.
        let line = Bulk { src: None, dst: access.address, bytes: access.bytes };
        self.invalidate(index, &line, &[cache], at);
        let payload = self.check.as_mut().map(|check| check.store(access.address, access.bytes, data).into());
        let core = &mut self.cores[index];
        core.stores += 1;
        core.pipeline.dispatch(slot, Some(0));
        core.counters.of(access.purpose).non_temporal += 1;
        let write = Operation::Write { address: access.address, bytes: access.bytes };
        let at = self.after_lookup(at);
        self.outbox.send(index, at, write, payload, true);
        self.cores[index].counters.count_instructions(access.purpose, 1);
        Outcome::Done
    }

    /// The cycle in which a request leaves the last-level cache after an access.
    pub(super) fn after_lookup(&self, at: CoreCycle) -> CoreCycle {
        CoreCycle(at.0 + self.settings.last_level.latency)
    }

    /// Puts a line in a core's last-level cache; returns its way, if there was one for it.
    pub(super) fn replace(&mut self, index: usize, line: LineNumber, state: LineState, at: CoreCycle) -> Option<Way> {
        let cache = self.cache_of(index);
        let way = self.caches[cache].victim(line)?;
        if let Some(removed) = self.remove(cache, way) {
            self.write_back(index, &removed, None, at);
        }
        self.caches[cache].insert(way, line, state);
        Some(way)
    }

    /// Removes a line from a last-level cache and from the L1s above it.
    pub(super) fn remove(&mut self, cache: usize, way: Way) -> Option<Removed> {
        let removed = self.caches[cache].remove(way)?;
        let is_shared = self.settings.sharing == Sharing::Shared;
        for (index, core) in self.cores.iter_mut().enumerate() {
            if let Some(l1) = core.l1.as_mut().filter(|_| is_shared || index == cache)
                && let Some(way) = l1.find(removed.line)
            {
                l1.remove(way);
            }
        }
        Some(removed)
    }

    /// Writes a line to memory if it was dirty; returns whether it was. `purpose` replaces the
    /// purpose that made the line dirty.
    pub(super) fn write_back(
        &mut self,
        index: usize,
        removed: &Removed,
        purpose: Option<Purpose>,
        at: CoreCycle,
    ) -> bool {
        let Some(dirty) = removed.dirty else { return false };
        self.cores[index].counters.of(purpose.unwrap_or(dirty)).write_backs += 1;
        let payload = removed.data.map(|data| Arc::from(&data[..]));
        let write = Operation::Write { address: removed.line.address(), bytes: LINE_BYTES };
        self.outbox.send(index, at, write, payload, false);
        true
    }

    /// Delivers the data of a requested line.
    pub(super) fn line_arrived(&mut self, index: usize, at: CoreCycle, completion: &Completion) {
        let line = LineNumber::of(completion.operation.target());
        let cache = self.cache_of(index);
        let core = &mut self.cores[index];
        let place = core.mshrs.iter().position(|mshr| mshr.line == line).expect("the line was requested");
        let mshr = core.mshrs.swap_remove(place);
        core.stores -= mshr.stores;
        for entry in mshr.loads {
            core.pipeline.arrive(entry, at);
        }
        let mut uncached = [0; LINE_BYTES as usize];
        let data = match mshr.way {
            Some(way) => {
                self.caches[cache].state_mut(way).is_pending = false;
                self.caches[cache].data_mut(way)
            }
            None => Some(&mut uncached),
        };
        if let (Some(check), Some(data)) = (&mut self.check, data) {
            data.copy_from_slice(completion.data.as_deref().expect("contents are modeled"));
            mshr.deferred.iter().for_each(|access| check.access(index, data, access));
        }
    }
}
