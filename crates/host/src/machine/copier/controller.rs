//! Copies and zeroings of the memory controller, with the steps that keep the caches coherent.

use std::sync::Arc;

use dram_spec::PhysicalAddress;
use memctrl::Completion;
use rowclone::Operation;

use super::super::bulk::Bulk;
use super::super::clock::CoreCycle;
use super::super::core::{Advance, Bounds, Core, Work};
use super::super::counters::Purpose;
use super::super::memory::{LineNumber, Memory, Scope, bytes_over_channels};
use super::super::settings::{DirtySource, KernelSettings};
use super::loops::LoopCopies;
use super::{Copier, quiet};
use crate::defects::{Planted, is_planted};

/// Copies and zeroings that the controller executes as one request each, and small copies by a loop.
#[derive(Debug)]
pub(super) struct ControllerCopies {
    dirty_source: DirtySource,
    inserts_zero_lines: bool,
    /// Bytes of the smallest copy of the controller.
    min_bytes: u64,
    loops: LoopCopies,
    /// Core cycles to look up, write back or insert a line.
    cycles_per_line: u64,
    /// The copy or zeroing for which each core waits.
    in_progress: Vec<Option<Bulk>>,
}

/// Lines to be copied in the cache: the destination's line, and the data where contents are modeled.
type InCache = Vec<(LineNumber, Option<Arc<[u8]>>)>;

impl ControllerCopies {
    pub(super) fn new(settings: &KernelSettings, cores: usize) -> ControllerCopies {
        ControllerCopies {
            dirty_source: settings.dirty_source,
            inserts_zero_lines: settings.inserts_zero_lines,
            min_bytes: settings.copier_min_bytes.unwrap_or(0),
            loops: LoopCopies::new(settings),
            cycles_per_line: settings.coherence_cycles_per_line,
            in_progress: vec![None; cores],
        }
    }

    /// Writes dirty source lines back, or collects them to be copied in the cache. Returns the number of
    /// lines looked up and written.
    fn write_source_back(
        &self,
        core: &mut Core,
        memory: &mut Memory,
        (src, bulk): (PhysicalAddress, &Bulk),
        leaves: CoreCycle,
        in_cache: &mut InCache,
    ) -> u64 {
        if is_planted(Planted::NoSourceWriteBack) {
            return 0;
        }
        let size = memory.line_size();
        let is_aligned = size.offset(src) == size.offset(bulk.dst);
        let mut touched = 0;
        for (line, is_whole) in size.lines(src, bulk.bytes) {
            touched += 1;
            let Some((state, data)) = memory.caches.snoop(core.index(), line) else { continue };
            if state.dirty.is_none() {
                continue;
            }
            touched += 1;
            if self.dirty_source == DirtySource::CopyInCache && is_whole && is_aligned {
                let target = size.line(PhysicalAddress(size.address(line).0 - src.0 + bulk.dst.0));
                if memory.caches.has_room(core.index(), target, in_cache.iter().map(|(other, _)| *other)) {
                    in_cache.push((target, data));
                    continue;
                }
            }
            memory.clean(core.index(), line, bulk.purpose(), leaves);
            core.counters.coherence.written_back += 1;
        }
        touched
    }

    /// Copies lines in the cache. A line that these replace leaves at once, before another core requests
    /// it. Until the copy is done, no core may replace them: it would write the destination before the
    /// copy.
    fn copy_in_cache(core: &mut Core, memory: &mut Memory, in_cache: InCache, leaves: CoreCycle) {
        for (line, data) in in_cache {
            let is_inserted = memory.insert(core.index(), line, (Some(Purpose::KernelCopy), data.as_deref()), leaves);
            assert!(is_inserted, "the set of {line:?} had a way");
            memory.caches.hold(core.index(), line, true);
            core.counters.coherence.copied_in_cache += 1;
        }
    }
}

impl Copier for ControllerCopies {
    /// Makes the caches coherent and issues an operation of the controller.
    fn begin(&mut self, core: &mut Core, memory: &mut Memory, bulk: Bulk, bounds: Bounds) -> Advance {
        if bulk.src.is_some() && bulk.bytes < self.min_bytes {
            return self.loops.begin(core, memory, bulk, bounds);
        }
        let at = match quiet(core, memory, &bulk, bounds) {
            Ok(at) => at,
            Err(outcome) => return outcome,
        };
        let leaves = memory.after_lookup(at);
        let (mut touched, mut in_cache) = (0, Vec::new());
        if let Some(src) = bulk.src {
            memory.flush_stores(src, bulk.bytes, leaves);
            touched += self.write_source_back(core, memory, (src, &bulk), leaves, &mut in_cache);
        }
        let invalidated = memory.invalidate(core.index(), (bulk.dst, bulk.bytes), bulk.purpose(), Scope::All, leaves);
        invalidated.add_to(&mut core.counters.coherence);
        touched += invalidated.lookups + invalidated.written_back + in_cache.len() as u64;
        let operation = match bulk.src {
            Some(src) => Operation::Copy { src, dst: bulk.dst, bytes: bulk.bytes },
            None => Operation::Init { dst: bulk.dst, bytes: bulk.bytes, value: 0 },
        };
        let cost = touched * self.cycles_per_line;
        core.delay_until(CoreCycle(at.0 + cost), |stalls| &mut stalls.coherence);
        let counts = &mut core.counters.coherence;
        let starts = bulk.src.into_iter().chain([bulk.dst]);
        counts.lookups += starts.flat_map(|start| memory.line_size().lines(start, bulk.bytes)).count() as u64;
        *(if bulk.src.is_some() { &mut counts.copies } else { &mut counts.zeroings }) += 1;
        if bulk.src.is_none() && is_planted(Planted::NoZeroing) {
            memory.apply(&operation);
            core.add(Work::CopyRest(bulk));
            return Advance::Done;
        }
        if is_planted(Planted::NoWait) {
            memory.copy(core.index(), operation, CoreCycle(leaves.0 + cost + 3_000));
            return Advance::Done;
        }
        core.wait_for_copier();
        self.in_progress[core.index()] = Some(bulk);
        memory.copy(core.index(), operation, CoreCycle(leaves.0 + cost));
        ControllerCopies::copy_in_cache(core, memory, in_cache, leaves);
        Advance::Issued
    }

    /// Inserts clean zero lines for a range that was zeroed in memory, or executes a step of the loop that copies.
    fn proceed(&mut self, core: &mut Core, memory: &mut Memory, rest: Bulk, until: CoreCycle) -> Advance {
        if rest.src.is_some() {
            return self.loops.proceed(core, memory, rest, until);
        }
        let at = match core.quiet_before(until) {
            Ok(at) => at,
            Err(outcome) => return outcome,
        };
        let (size, mut inserted) = (memory.line_size(), 0);
        let data = memory.check.as_ref().map(|_| vec![0; size.bytes() as usize]);
        for (line, _) in size.lines(rest.dst, rest.bytes).filter(|(_, is_whole)| *is_whole) {
            let leaves = memory.after_lookup(at);
            inserted += u64::from(memory.insert(core.index(), line, (None, data.as_deref()), leaves));
        }
        core.counters.coherence.zero_lines += inserted;
        core.delay_until(CoreCycle(at.0 + inserted * self.cycles_per_line), |stalls| &mut stalls.coherence);
        Advance::Done
    }

    fn completed(&mut self, core: &mut Core, memory: &mut Memory, completion: &Completion, at: CoreCycle) {
        let passes = if matches!(completion.operation, Operation::Copy { .. }) { 2 } else { 1 };
        core.counters.controller_copy_bytes += bytes_over_channels(completion) * passes;
        let Some(bulk) = self.in_progress[core.index()].take() else { return };
        core.copier_done(at);
        if bulk.src.is_some() && self.dirty_source == DirtySource::CopyInCache {
            let lines = memory.line_size().lines(bulk.dst, bulk.bytes);
            lines.for_each(|(line, _)| memory.caches.hold(core.index(), line, false));
        }
        if bulk.src.is_none() && self.inserts_zero_lines {
            core.add(Work::CopyRest(bulk));
        }
    }
}
