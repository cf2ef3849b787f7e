//! Loads and stores of a core: the window, the store buffer, and the lines that they wait for.

use dram_spec::PhysicalAddress;
use trace_io::program::{InstructionClass, Needs};

use super::super::clock::CoreCycle;
use super::super::counters::Purpose;
use super::super::memory::{
    Access, Away, LineSize, LoadOrStore, Lookup, Memory, OnMiss, Port, Response, StoreData, Ticket, Way,
};
use super::pipeline::Slot;
use super::{Advance, Bounds, Core, Stall};

/// Bytes of a program's load or store, unless the line ends before.
const WORD: u64 = 8;

/// Bytes of a program's load or store at an address, in lines of a size.
pub(super) fn word_bytes(address: PhysicalAddress, size: LineSize) -> u64 {
    WORD.min(size.bytes() - size.offset(address))
}

/// Result of an attempt to access a line.
#[derive(Clone, Copy, Debug)]
pub(super) enum Attempt {
    /// The access is done: the way holds the line.
    Hit(Way),
    /// The access can dispatch in a slot, but the caches hold no data of the line.
    Away(Slot, Away),
    /// The access cannot dispatch yet.
    Waits(Advance),
}

impl Core {
    /// The load or store of the program at a physical address, in lines of a size.
    pub fn program_access(&self, address: PhysicalAddress, is_store: bool, size: LineSize) -> Access {
        let kind = if is_store { LoadOrStore::Store(StoreData::Tag) } else { LoadOrStore::Load };
        Access { address, bytes: word_bytes(address, size), kind, purpose: Purpose::Program, on_miss: self.on_miss }
    }

    /// Executes an access to a line.
    pub fn access(&mut self, access: &Access, memory: &mut Memory, bounds: Bounds) -> Advance {
        if !self.is_plain() {
            let is_load = access.kind == LoadOrStore::Load;
            let class = if is_load { InstructionClass::Load } else { InstructionClass::Store };
            return self.issue(access, Needs::class(class), memory, bounds);
        }
        self.access_plainly(access, memory, bounds)
    }

    fn access_plainly(&mut self, access: &Access, memory: &mut Memory, bounds: Bounds) -> Advance {
        let is_past = matches!(access.kind, LoadOrStore::NonTemporal(_));
        let (slot, away) = if is_past || memory.caches.are_hits_requests() {
            let Some(slot) = self.pipeline.next_slot() else { return Advance::Blocked };
            (slot, (!is_past).then(|| memory.caches.look_up(self.index, access)))
        } else {
            match self.hit::<false>(&mut memory.caches.port(self.index), access, bounds) {
                Attempt::Hit(way) => {
                    memory.check_access(self.index, access, way);
                    return Advance::Done;
                }
                Attempt::Away(slot, away) => (slot, Some(away)),
                Attempt::Waits(outcome) => return outcome,
            }
        };
        match (self.cycle_before(slot, bounds.until), away) {
            (Ok(at), Some(away)) => self.access_away(access, &away, (slot, at), memory),
            (Ok(at), None) => self.store_past(access, (slot, at), memory),
            (Err(later), _) => later,
        }
    }

    /// The cycle of a slot in which an access can dispatch that affects others, if it is before `until`. A
    /// line in flight may be there by a later cycle.
    ///
    /// # Errors
    /// The outcome of an attempt whose cycle is later.
    #[inline]
    pub(super) fn cycle_before(&self, slot: Slot, until: CoreCycle) -> Result<CoreCycle, Advance> {
        let at = self.pipeline.cycle(slot);
        if at < until { Ok(at) } else { Err(Advance::Later(at)) }
    }

    /// Executes an access if the caches hold the line, and the access can dispatch before the limit. The loop
    /// over steps has an instance of its own, so that the compiler inlines it there.
    #[inline]
    pub(super) fn hit<const IS_IN_LOOP: bool>(
        &mut self,
        port: &mut Port<'_>,
        access: &Access,
        bounds: Bounds,
    ) -> Attempt {
        let Some(slot) = self.pipeline.next_slot() else { return Attempt::Waits(Advance::Blocked) };
        if slot >= bounds.hit {
            return Attempt::Waits(Advance::Later(self.pipeline.cycle(slot)));
        }
        match port.access::<false>(access) {
            Lookup::Hit { cycles, way } => {
                self.counters.count_instructions(access.purpose, 1);
                self.pipeline.dispatch(slot, Some(if access.kind == LoadOrStore::Load { cycles } else { 0 }));
                Attempt::Hit(way)
            }
            Lookup::Away(away) => Attempt::Away(slot, away),
        }
    }

    /// Executes an access that the port of the core has not executed, in a slot of a cycle.
    pub(super) fn access_away(
        &mut self,
        access: &Access,
        away: &Away,
        (slot, at): (Slot, CoreCycle),
        memory: &mut Memory,
    ) -> Advance {
        let is_past = access.on_miss == OnMiss::Bypass && away.is_absent();
        if is_past && let LoadOrStore::Store(_) = access.kind {
            return self.store_past(&access.whole_line(memory.line_size()), (slot, at), memory);
        }
        let is_load = access.kind == LoadOrStore::Load;
        if let Some(stall) = self.lacks_entry(access, away, memory) {
            return self.stalls(stall);
        }
        match memory.request(self.index, access, away, at, &mut None) {
            Response::LacksLine => return self.stalls(Stall::Mshr),
            Response::LacksWriteEntry => return self.stalls(Stall::StoreBuffer),
            Response::Done(cycles) => {
                self.pipeline.dispatch(slot, Some(if is_load { cycles } else { 0 }));
            }
            Response::Evicts => {
                self.pipeline.dispatch(slot, Some(0));
                self.stores += 1;
            }
            Response::Waits(ticket) if is_load => {
                let entry = self.pipeline.dispatch(slot, None);
                self.awaited.add(ticket, Some((entry, 0)));
            }
            Response::Waits(ticket) => {
                self.pipeline.dispatch(slot, Some(0));
                self.awaited.add(ticket, None);
                self.stores += 1;
            }
        }
        self.counters.count_instructions(access.purpose, 1);
        Advance::Done
    }

    /// Why a store whose line is not there cannot take an entry of the store buffer that it needs, or may need for the
    /// write-back of its victim.
    #[inline]
    pub(super) fn lacks_entry(&self, access: &Access, away: &Away, memory: &Memory) -> Option<Stall> {
        let takes_entry = access.kind != LoadOrStore::Load && memory.caches.needs_entry(access, away);
        if !takes_entry || self.stores < self.settings.store_buffer {
            return None;
        }
        // A store that also lacks an MSHR waits for that first.
        let lacks_mshr = memory.caches.lacks_mshr(self.index, access, away);
        Some(if lacks_mshr { Stall::Mshr } else { Stall::StoreBuffer })
    }

    /// Why a store of a whole line cannot bypass the caches yet.
    pub(super) fn cannot_store_past(&self, access: &Access, memory: &Memory) -> Option<Stall> {
        if memory.caches.is_in_flight(self.index, access.line(memory.line_size())) {
            return Some(Stall::Mshr);
        }
        (self.stores == self.settings.store_buffer).then_some(Stall::StoreBuffer)
    }

    /// A store of a whole line that bypasses the caches, in a slot of a cycle.
    #[inline(never)]
    fn store_past(&mut self, access: &Access, (slot, at): (Slot, CoreCycle), memory: &mut Memory) -> Advance {
        if let Some(stall) = self.cannot_store_past(access, memory) {
            return self.stalls(stall);
        }
        let invalidated = memory.store_past(self.index, access, at, &mut None);
        invalidated.add_to(&mut self.counters.coherence);
        self.stores += 1;
        self.pipeline.dispatch(slot, Some(0));
        self.counters.count_instructions(access.purpose, 1);
        Advance::Done
    }

    pub(super) fn stalls(&mut self, stall: Stall) -> Advance {
        self.stall = Some(stall);
        Advance::Blocked
    }

    /// Delivers the data of a requested line.
    pub fn line_arrived(&mut self, ticket: Ticket, at: CoreCycle) {
        let (loads, stores) = self.awaited.complete(ticket);
        let is_recorded = self.overlap.is_active();
        for (entry, latency) in loads {
            let result = CoreCycle(at.0 + latency);
            self.pipeline.arrive(entry, result);
            if is_recorded {
                self.overlap.line_arrived(at);
                self.overlap.advance(at, result);
            }
        }
        self.stores -= stores;
        self.results_known();
    }

    /// Frees the store buffer entry of a store past the caches, which the controller has accepted.
    pub const fn store_accepted(&mut self) {
        self.stores -= 1;
    }
}
