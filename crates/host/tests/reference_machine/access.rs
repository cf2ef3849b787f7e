//! Accesses of a core to the caches.

use dram_spec::{Operation, PhysicalAddress};
use host::machine::{Purpose, StoreMiss, WritePolicy};

use crate::cache::Line;
use crate::core::{BufferedStore, Data, Stall};
use crate::machine::ReferenceMachine;
use crate::traffic::{Holds, Sender};

/// Kind of an access to the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Load,
    Store,
    /// A store of a whole line that reads nothing.
    StoreLine,
    /// A store of a whole line that bypasses the cache.
    Bypass,
}

/// An access to a line.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub line: u64,
    /// Offset and number of its bytes in the line.
    pub bytes: (u64, u64),
    pub purpose: Purpose,
    pub kind: Kind,
}

impl ReferenceMachine {
    /// Accesses a line in the caches; returns when the data of a load are there.
    pub fn access(&mut self, at: usize, slot: u64, access: Access) -> Result<Data, Stall> {
        let Access { line, purpose, kind, .. } = access;
        if kind == Kind::Bypass {
            return self.store_around_the_cache(at, slot, access);
        }
        let is_store = kind != Kind::Load;
        let shared = self.cache_of(at);
        let found = self.caches[shared].get(line).map(|found| found.is_in_flight);
        if found.is_none() && self.cores[at].is_uncached && purpose == Purpose::Program {
            return self.access_past_the_cache(at, slot, access);
        }
        if found.is_none() && is_store && self.settings.last_level.store_miss == StoreMiss::NoAllocate {
            return self.pass(at, slot, access);
        }
        if found.is_none() && kind == Kind::StoreLine {
            return self.allocate(at, slot, access);
        }
        if found.is_none() && self.awaits_stale_prefetch(at, line) {
            return Err(Stall::Mshr);
        }
        let writes_through = is_store && self.settings.lines.write == WritePolicy::WriteThrough;
        self.check_resources(at, access, found, writes_through)?;
        let is_first_use = self.use_prefetched(shared, line);
        let requests = self.observe(at, access, found, is_first_use);
        let data = self.look_up(at, slot, access, found);
        let core = &mut self.cores[at];
        if core.levels.first_with(line).is_none() || found == Some(true) {
            self.caches[shared].touch(line);
        }
        core.levels.serve(line, is_store);
        let now = slot / self.settings.core.width;
        if !is_store {
            self.prefetch(at, now, requests);
            return Ok(data);
        }
        if writes_through {
            self.buffer_store(at, slot / self.settings.core.width, access, found.is_none());
        } else {
            self.caches[shared].get(line).expect("it was found or inserted").dirty.get_or_insert(purpose);
        }
        if found != Some(false) {
            self.cores[at].store_buffer.push(BufferedStore::Line(line));
        }
        self.prefetch(at, now, requests);
        Ok(Data::At(slot))
    }

    /// What an access needs that the last-level cache serves, or whose line it requests.
    fn check_resources(
        &self,
        at: usize,
        Access { line, kind, .. }: Access,
        found: Option<bool>,
        writes_through: bool,
    ) -> Result<(), Stall> {
        let (cache, core) = (&self.caches[self.cache_of(at)], &self.cores[at]);
        let is_buffer_full = kind != Kind::Load && core.store_buffer.len() == self.settings.core.store_buffer;
        let is_prefetched = self.prefetch_of(at, line).is_some();
        if found.is_none() && !is_prefetched && core.mshrs.len() == self.settings.core.mshrs {
            return Err(Stall::Mshr);
        }
        if found != Some(false) && is_buffer_full {
            return Err(Stall::StoreBuffer);
        }
        if found.is_none() && !cache.has_place(line) {
            return Err(Stall::Mshr);
        }
        if writes_through && !self.has_entry(at, line, found.is_none()) {
            return Err(Stall::StoreBuffer);
        }
        Ok(())
    }

    /// What an access lacks in the caches and buffers.
    pub fn check_access(&self, at: usize, access: Access) -> Result<(), Stall> {
        let Access { line, purpose, kind, .. } = access;
        let (cache, core) = (&self.caches[self.cache_of(at)], &self.cores[at]);
        let found = cache.find(line).map(|found| found.is_in_flight);
        let is_buffer_full = core.store_buffer.len() == self.settings.core.store_buffer;
        let writes_through = self.settings.lines.write == WritePolicy::WriteThrough;
        let past_the_cache = found.is_none() && core.is_uncached && purpose == Purpose::Program;
        let (lacks_mshr, lacks_entry) = if kind == Kind::Bypass {
            (found == Some(true), is_buffer_full)
        } else if past_the_cache && kind == Kind::Load {
            let is_on_its_way = core.mshrs.contains(&line) || self.prefetch_of(at, line).is_some();
            (!is_on_its_way && core.mshrs.len() == self.settings.core.mshrs, false)
        } else if past_the_cache {
            (core.mshrs.contains(&line) || self.has_joined_prefetch(at, line), is_buffer_full)
        } else if found.is_none() && kind != Kind::Load && cache.shape.store_miss == StoreMiss::NoAllocate {
            (false, !self.has_entry(at, line, false))
        } else if found.is_none() && kind == Kind::StoreLine && is_buffer_full {
            (false, true)
        } else if found.is_none() && kind == Kind::StoreLine {
            (!cache.has_place(line), writes_through && !self.has_entry(at, line, false))
        } else {
            return self.check_resources(at, access, found, writes_through && kind != Kind::Load);
        };
        match (lacks_mshr, lacks_entry) {
            (true, _) => Err(Stall::Mshr),
            (false, true) => Err(Stall::StoreBuffer),
            (false, false) => Ok(()),
        }
    }

    /// Finds a line, or requests it.
    fn look_up(&mut self, at: usize, slot: u64, access: Access, found: Option<bool>) -> Data {
        let width = self.settings.core.width;
        let (line, last_level) = (access.line, self.settings.last_level);
        let core = &mut self.cores[at];
        let counts = core.counters.of(access.purpose);
        match found {
            Some(false) => {
                let level = core.levels.first_with(line);
                counts.hits += 1;
                counts.l1_hits += u64::from(level.is_some_and(|level| level.number == 1));
                counts.l2_hits += u64::from(level.is_some_and(|level| level.number == 2));
                Data::At(slot + width * level.map_or(last_level.latency, |level| level.cache.shape.latency))
            }
            Some(true) => {
                counts.merged += 1;
                Data::Line(line)
            }
            None => {
                let leaves = slot / width + last_level.latency;
                let in_flight = Line { is_in_flight: true, ..Line::clean(line) };
                if self.join_prefetch(at, line) {
                    self.cores[at].counters.of(access.purpose).merged += 1;
                    self.insert(at, leaves, in_flight);
                    return Data::Line(line);
                }
                let core = &mut self.cores[at];
                core.counters.of(access.purpose).misses += 1;
                core.mshrs.push(line);
                self.empty_entry(at, slot / width, line);
                self.read(at, leaves, line);
                self.insert(at, leaves, in_flight);
                Data::Line(line)
            }
        }
    }

    /// Accesses a line of a program that was recorded behind the last-level cache.
    fn access_past_the_cache(&mut self, at: usize, slot: u64, access: Access) -> Result<Data, Stall> {
        let Access { line, kind, .. } = access;
        let now = slot / self.settings.core.width;
        let leaves = now + self.settings.last_level.latency;
        let core = &mut self.cores[at];
        let is_in_flight = core.mshrs.contains(&line);
        let has_joined_prefetch = self.has_joined_prefetch(at, line);
        if kind == Kind::Load {
            if self.awaits_stale_prefetch(at, line) {
                return Err(Stall::Mshr);
            }
            let joins_prefetch = self.join_prefetch(at, line);
            let core = &mut self.cores[at];
            if is_in_flight || joins_prefetch {
                core.counters.of(Purpose::Program).merged += 1;
                return Ok(Data::Line(line));
            }
            if core.mshrs.len() == self.settings.core.mshrs {
                return Err(Stall::Mshr);
            }
            core.counters.of(Purpose::Program).misses += 1;
            core.mshrs.push(line);
            self.empty_entry(at, now, line);
            self.read(at, leaves, line);
            return Ok(Data::Line(line));
        }
        if is_in_flight || has_joined_prefetch {
            return Err(Stall::Mshr);
        }
        if self.cores[at].store_buffer.len() == self.settings.core.store_buffer {
            return Err(Stall::StoreBuffer);
        }
        self.cores[at].counters.of(Purpose::Program).non_temporal += 1;
        self.empty_entry(at, now, line);
        self.drop_prefetches(line, None);
        self.bypass(at, leaves, line);
        Ok(Data::At(slot))
    }

    /// Sends a store to memory whose line is not there.
    fn pass(&mut self, at: usize, slot: u64, access: Access) -> Result<Data, Stall> {
        if !self.has_entry(at, access.line, false) {
            return Err(Stall::StoreBuffer);
        }
        self.drop_prefetches(access.line, None);
        let (now, requests) = (slot / self.settings.core.width, self.observe(at, access, None, false));
        self.cores[at].counters.of(access.purpose).passed += 1;
        self.buffer_store(at, now, access, false);
        self.prefetch(at, now, requests);
        Ok(Data::At(slot))
    }

    /// Gives a stored line a place, without a request.
    fn allocate(&mut self, at: usize, slot: u64, access: Access) -> Result<Data, Stall> {
        let Access { line, purpose, .. } = access;
        let (shared, now) = (self.cache_of(at), slot / self.settings.core.width);
        let writes_through = self.settings.lines.write == WritePolicy::WriteThrough;
        if self.cores[at].store_buffer.len() == self.settings.core.store_buffer {
            return Err(Stall::StoreBuffer);
        }
        if !self.caches[shared].has_place(line) {
            return Err(Stall::Mshr);
        }
        if writes_through && !self.has_entry(at, line, false) {
            return Err(Stall::StoreBuffer);
        }
        let leaves = now + self.settings.last_level.latency;
        let dirty = (!writes_through).then_some(purpose);
        self.drop_prefetches(line, None);
        let requests = self.observe(at, access, None, false);
        let holds = Holds::EntryOfVictim { core: at };
        if let Some(victim) =
            self.insert_for(at, leaves, Line { dirty, ..Line::clean(line) }, (holds, self.settings.last_level.ways))
        {
            self.cores[at].store_buffer.push(BufferedStore::Write(victim));
        }
        let core = &mut self.cores[at];
        core.levels.serve(line, true);
        core.counters.of(purpose).allocated += 1;
        if writes_through {
            self.buffer_store(at, now, access, false);
        }
        self.prefetch(at, now, requests);
        Ok(Data::At(slot))
    }

    /// Inserts a line in the last-level cache; a dirty victim is written back.
    pub fn insert(&mut self, at: usize, leaves: u64, line: Line) {
        self.insert_within(at, leaves, line, self.settings.last_level.ways);
    }

    /// Inserts a line in one of the first ways of its set.
    pub fn insert_within(&mut self, at: usize, leaves: u64, line: Line, ways: usize) {
        self.insert_for(at, leaves, line, (Holds::Nothing, ways));
    }

    /// The same, with the entry that the write-back occupies; returns the line of a dirty victim.
    fn insert_for(&mut self, at: usize, leaves: u64, line: Line, (holds, ways): (Holds, usize)) -> Option<u64> {
        let shared = self.cache_of(at);
        let victim = self.caches[shared].insert_within(line, ways)?;
        self.leave_l1s(shared, victim.number);
        let purpose = victim.dirty?;
        self.cores[at].counters.of(purpose).write_backs += u64::from(!self.cores[at].is_over());
        let (address, bytes) = (PhysicalAddress(victim.number * self.settings.lines.bytes), self.settings.lines.bytes);
        self.push(Sender::Core(at), leaves, Operation::Write { address, bytes }, holds);
        Some(victim.number)
    }

    /// Removes a line from the levels above a last-level cache.
    pub fn leave_l1s(&mut self, shared: usize, line: u64) {
        for core in 0..self.cores.len() {
            if self.cache_of(core) == shared {
                self.cores[core].levels.remove(line);
            }
        }
    }

    fn store_around_the_cache(&mut self, at: usize, slot: u64, access: Access) -> Result<Data, Stall> {
        let Access { line, purpose, .. } = access;
        let now = slot / self.settings.core.width;
        let shared = self.cache_of(at);
        if self.caches[shared].get(line).is_some_and(|line| line.is_in_flight) {
            return Err(Stall::Mshr);
        }
        if self.cores[at].store_buffer.len() == self.settings.core.store_buffer {
            return Err(Stall::StoreBuffer);
        }
        self.empty_entry(at, now, line);
        self.drop_prefetches(line, None);
        if self.caches[shared].remove(line).is_some() {
            self.leave_l1s(shared, line);
            self.cores[at].counters.coherence.invalidated += 1;
        }
        self.cores[at].counters.of(purpose).non_temporal += 1;
        self.bypass(at, now + self.settings.last_level.latency, line);
        Ok(Data::At(slot))
    }
}
