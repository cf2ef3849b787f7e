//! Copies and zeroings: loops through the caches, or operations of the controller with the steps
//! that keep the caches coherent.

use dram_spec::address::FRAME_BYTES;
use dram_spec::{LINE_BYTES, Mechanism, PhysicalAddress};
use memctrl::Completion;
use rowclone::Operation;

use super::cache::{LineNumber, LineState, Removed};
use super::clock::CoreCycle;
use super::coherence_check::StoreData;
use super::core::{Access, AccessKind, Bulk, Stall, Work};
use super::counters::Purpose;
use super::processes::ProgramFault;
use super::settings::{Copier, DirtySource};
use super::{Machine, Outcome};
use crate::decisions::{Decided, Decisions};

/// Lines that a range overlaps, and whether the range covers each as a whole.
fn lines(address: PhysicalAddress, bytes: u64) -> impl Iterator<Item = (LineNumber, bool)> {
    let (start, end) = (address.0, address.0 + bytes);
    (start / LINE_BYTES..end.div_ceil(LINE_BYTES)).map(move |line| {
        let is_whole = line * LINE_BYTES >= start && (line + 1) * LINE_BYTES <= end;
        (LineNumber(line), is_whole)
    })
}

impl Machine {
    /// Executes the next part of a `memcopy` or `meminit`, which lies in one copy unit of each range;
    /// the arguments become those of the rest.
    #[cold]
    pub(super) fn virtual_bulk(
        &mut self,
        index: usize,
        src: Option<&mut PhysicalAddress>,
        dst: &mut PhysicalAddress,
        bytes: &mut u64,
        until: CoreCycle,
    ) -> Result<Outcome, ProgramFault> {
        let all = Bulk { src: src.as_deref().copied(), dst: *dst, bytes: *bytes };
        // The frames of a unit are consecutive, and become present and writable together.
        let next = all.next_part(self.processes.pages_per_unit() * FRAME_BYTES);
        if next.bytes > FRAME_BYTES {
            for start in next.src.into_iter().chain([next.dst]) {
                self.processes.require_mapped(index, start, next.bytes)?;
            }
        }
        let from = match next.src {
            Some(src) => match self.translate(index, src, false)? {
                None => return self.page_fault(index, src, false, until),
                found => found,
            },
            None => None,
        };
        let Some(to) = self.translate(index, next.dst, true)? else {
            return self.page_fault(index, next.dst, true, until);
        };
        self.copied(index, next.src, next.dst, next.bytes);
        let core = &mut self.cores[index];
        core.work.push(Work::Bulk(Bulk { src: from, dst: to, bytes: next.bytes }));
        let Some(rest) = all.without(next) else {
            core.counters.instructions += 1;
            return Ok(Outcome::Done);
        };
        (*dst, *bytes) = (rest.dst, rest.bytes);
        if let (Some(src), Some(rest)) = (src, rest.src) {
            *src = rest;
        }
        Ok(Outcome::Part)
    }

    /// Begins a copy or zeroing of physical memory.
    pub(super) fn begin_bulk(&mut self, index: usize, bulk: Bulk, until: CoreCycle) -> Outcome {
        let Some(at) = self.quiet_cycle(index) else { return Outcome::Blocked };
        if at >= until {
            return Outcome::Later(at);
        }
        let core = &mut self.cores[index];
        core.counters.stalls.kernel += core.pipeline.delay_until(at);
        match self.settings.kernel.copier {
            Copier::CachedLoop | Copier::NoFetchLoop | Copier::NonTemporalLoop => {
                let other = |cache: &usize| *cache != self.cache_of(index);
                let others: Vec<usize> = (0..self.caches.len()).filter(other).collect();
                self.invalidate(index, &bulk, &others, at);
                self.cores[index].work.push(Work::Loop(bulk));
                Outcome::Done
            }
            Copier::Controller => self.begin_in_dram(index, bulk, at),
        }
    }

    /// Executes the next step of a copy loop, which lies in one destination line and one source line.
    pub(super) fn loop_step(&mut self, index: usize, bulk: Bulk) -> Outcome {
        let next @ Bulk { src, dst, bytes } = bulk.next_part(LINE_BYTES);
        let purpose = bulk.purpose();
        let data = src.map_or(StoreData::Zero, StoreData::CopyOf);
        let kind = match self.settings.kernel.copier {
            Copier::NonTemporalLoop if bytes == LINE_BYTES => AccessKind::NonTemporal(data),
            Copier::NoFetchLoop if bytes == LINE_BYTES => AccessKind::WholeLine(data),
            _ => AccessKind::Store(data),
        };
        let words = bytes.div_ceil(self.settings.kernel.word_bytes);
        let work = &mut self.cores[index].work;
        work.extend(bulk.without(next).map(Work::Loop));
        // The words after the first of a line find it in the L1 or in flight: they take a slot.
        let mut access = |address, kind| {
            if words > 1 {
                work.push(Work::Run { count: words - 1, purpose });
            }
            work.push(Work::Access(Access { address, bytes, kind, purpose }));
        };
        access(dst, kind);
        if let Some(src) = src {
            access(src, AccessKind::Load);
        }
        Outcome::Done
    }

    /// Makes the caches coherent and issues an operation of the controller.
    fn begin_in_dram(&mut self, index: usize, bulk: Bulk, at: CoreCycle) -> Outcome {
        let mut touched = 0;
        let mut in_cache = Vec::new();
        let leaves = self.after_lookup(at);
        if let Some(src) = bulk.src {
            touched += self.write_back_source(index, src, &bulk, leaves, &mut in_cache);
        }
        let all: Vec<usize> = (0..self.caches.len()).collect();
        touched += self.invalidate(index, &bulk, &all, leaves);
        touched += in_cache.len() as u64;
        let operation = match bulk.src {
            Some(src) => Operation::Copy { src, dst: bulk.dst, bytes: bulk.bytes },
            None => Operation::Init { dst: bulk.dst, bytes: bulk.bytes, value: 0 },
        };
        if let Some(check) = &mut self.check {
            check.apply(&operation);
        }
        let cost = touched * self.settings.kernel.coherence_cycles_per_line;
        let core = &mut self.cores[index];
        core.counters.stalls.coherence += core.pipeline.delay_until(CoreCycle(at.0 + cost));
        let counts = &mut core.counters.coherence;
        counts.lookups +=
            bulk.src.into_iter().chain([bulk.dst]).flat_map(|from| lines(from, bulk.bytes)).count() as u64;
        match bulk.src {
            Some(_) => counts.copies += 1,
            None => counts.zeroings += 1,
        }
        if bulk.src.is_none() && !Decided::zeroes_memory() {
            core.work.push(Work::InsertZeros(bulk));
            return Outcome::Done;
        }
        if !Decided::waits_for_copy() {
            self.outbox.send(index, CoreCycle(leaves.0 + cost + 3_000), operation, None, false);
            return Outcome::Done;
        }
        core.stall = Some(Stall::Controller(bulk));
        self.outbox.send(index, CoreCycle(leaves.0 + cost), operation, None, false);
        // A line that these replace leaves at once, before another core requests it. Until the copy is
        // done, no core may replace them: it would write the destination before the copy.
        for (line, data) in in_cache {
            let removed = Removed { line, dirty: Some(Purpose::KernelCopy), data };
            let is_inserted = self.insert_line(index, &removed, leaves);
            assert!(is_inserted, "the set of {line:?} had a way");
            self.set_pending(index, line, true);
            self.cores[index].counters.coherence.copied_in_cache += 1;
        }
        Outcome::Issued
    }

    /// Writes dirty source lines back, or collects them to be copied in the cache. Returns the
    /// lines looked up and written.
    fn write_back_source(
        &mut self,
        index: usize,
        src: PhysicalAddress,
        bulk: &Bulk,
        at: CoreCycle,
        in_cache: &mut Vec<(LineNumber, Option<dram_core::Line>)>,
    ) -> u64 {
        if !Decided::writes_source_back() {
            return 0;
        }
        let cache = self.cache_of(index);
        let is_aligned = src.0 % LINE_BYTES == bulk.dst.0 % LINE_BYTES;
        let mut touched = 0;
        for (line, is_whole) in lines(src, bulk.bytes) {
            touched += 1;
            let Some(way) = self.caches[cache].find(line) else { continue };
            let data = self.caches[cache].data_mut(way).copied();
            let Some(dirty) = self.caches[cache].state(way).dirty else { continue };
            touched += 1;
            if self.settings.kernel.dirty_source == DirtySource::CopyInCache && is_whole && is_aligned {
                let target = LineNumber::of(PhysicalAddress(line.address().0 - src.0 + bulk.dst.0));
                let is_there = |(other, _): &&(LineNumber, _)| self.caches[cache].share_set(*other, target);
                if in_cache.iter().filter(is_there).count() < self.caches[cache].places(target) {
                    in_cache.push((target, data));
                    continue;
                }
            }
            self.caches[cache].state_mut(way).dirty = None;
            self.write_back(index, &Removed { line, dirty: Some(dirty), data }, Some(bulk.purpose()), at);
            self.cores[index].counters.coherence.written_back += 1;
        }
        touched
    }

    /// Removes the destination's lines from caches. A dirty line that the operation covers in part
    /// is written back first. Returns the lines looked up and written.
    pub(super) fn invalidate(&mut self, index: usize, bulk: &Bulk, caches: &[usize], at: CoreCycle) -> u64 {
        if !Decided::invalidates_destination() {
            return 0;
        }
        let mut touched = 0;
        for (line, is_whole) in lines(bulk.dst, bulk.bytes) {
            touched += 1;
            for &cache in caches {
                let Some(way) = self.caches[cache].find(line) else { continue };
                let Some(removed) = self.remove(cache, way) else { continue };
                self.cores[index].counters.coherence.invalidated += 1;
                if !is_whole && self.write_back(index, &removed, Some(bulk.purpose()), at) {
                    touched += 1;
                    self.cores[index].counters.coherence.written_back += 1;
                }
            }
        }
        touched
    }

    /// Puts a line into a core's last-level cache; returns whether there was a way for it.
    fn insert_line(&mut self, index: usize, new: &Removed, at: CoreCycle) -> bool {
        let state = LineState { is_pending: false, dirty: new.dirty };
        let Some(way) = self.replace(index, new.line, state, at) else { return false };
        let cache = self.cache_of(index);
        if let (Some(place), Some(data)) = (self.caches[cache].data_mut(way), new.data) {
            *place = data;
        }
        true
    }

    /// Sets whether a line of a core's last-level cache, if it is there, must keep its place.
    fn set_pending(&mut self, index: usize, line: LineNumber, is_pending: bool) {
        let cache = self.cache_of(index);
        if let Some(way) = self.caches[cache].find(line) {
            self.caches[cache].state_mut(way).is_pending = is_pending;
        }
    }

    /// Continues after a copy or zeroing of the controller.
    pub(super) fn bulk_done(&mut self, index: usize, at: CoreCycle, completion: &Completion) {
        let core = &mut self.cores[index];
        let passes = if matches!(completion.operation, Operation::Copy { .. }) { 2 } else { 1 };
        let channel = completion.served.iter().filter(|(mechanism, _, _)| *mechanism == Mechanism::CHANNEL);
        core.counters.controller_copy_bytes += channel.map(|(_, _, parts)| parts.bytes * passes).sum::<u64>();
        let Some(Stall::Controller(bulk)) = core.stall else { return };
        core.stall = None;
        core.counters.stalls.controller_copy += core.pipeline.delay_until(at);
        if bulk.src.is_some() && self.settings.kernel.dirty_source == DirtySource::CopyInCache {
            lines(bulk.dst, bulk.bytes).for_each(|(line, _)| self.set_pending(index, line, false));
        }
        let core = &mut self.cores[index];
        if bulk.src.is_none() && self.settings.kernel.inserts_zero_lines {
            core.work.push(Work::InsertZeros(bulk));
        }
    }

    /// Inserts clean zero lines for a range that was zeroed in memory.
    pub(super) fn insert_zeros(&mut self, index: usize, bulk: Bulk, until: CoreCycle) -> Outcome {
        let Some(at) = self.quiet_cycle(index) else { return Outcome::Blocked };
        if at >= until {
            return Outcome::Later(at);
        }
        let mut inserted = 0;
        for (line, _) in lines(bulk.dst, bulk.bytes).filter(|(_, is_whole)| *is_whole) {
            let data = self.check.is_some().then_some([0; LINE_BYTES as usize]);
            inserted += u64::from(self.insert_line(index, &Removed { line, dirty: None, data }, self.after_lookup(at)));
        }
        let cost = inserted * self.settings.kernel.coherence_cycles_per_line;
        let core = &mut self.cores[index];
        core.counters.coherence.zero_lines += inserted;
        core.counters.stalls.coherence += core.pipeline.delay_until(CoreCycle(at.0 + cost));
        Outcome::Done
    }
}
