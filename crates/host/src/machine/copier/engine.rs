//! The cores' side of a copy engine: the instruction of a copy, its translations, and the copies pending.
//!
//! The engine itself is a device.

use std::collections::{BTreeMap, VecDeque};

use dram_spec::PhysicalAddress;
use dram_spec::address::FRAME_BYTES;
use rowclone::Operation;

use super::super::bulk::{Bulk, CopyId};
use super::super::clock::CoreCycle;
use super::super::core::{Advance, Bounds, Core, EntryId};
use super::super::interconnect::{Agent, Message};
use super::super::memory::Memory;
use super::super::settings::{EngineSettings, KernelSettings};
use super::Copier;
use super::loops::LoopCopies;
use crate::defects::{Planted, is_planted};

/// The number of the engine among the devices.
const ENGINE: Agent = Agent::Device(0);

/// Copies by an engine, and zeroings and small copies by a loop.
#[derive(Debug)]
pub(super) struct EngineCopies {
    settings: EngineSettings,
    min_bytes: u64,
    loops: LoopCopies,
    /// Copies that are not complete.
    pending: BTreeMap<CopyId, PendingCopy>,
    /// By core.
    units: Vec<CopyControlUnit>,
    begun: u64,
}

/// The copy control unit of a core.
#[derive(Clone, Debug, Default)]
struct CopyControlUnit {
    /// The frames whose translations it keeps, the latest used last.
    translations: VecDeque<u64>,
    /// The cycle in which the last command leaves.
    free: CoreCycle,
}

impl EngineCopies {
    pub(super) fn new(settings: &KernelSettings, engine: EngineSettings, cores: usize) -> EngineCopies {
        EngineCopies {
            settings: engine,
            min_bytes: settings.copier_min_bytes.unwrap_or(0),
            loops: LoopCopies::new(settings),
            pending: BTreeMap::new(),
            units: vec![CopyControlUnit::default(); cores],
            begun: 0,
        }
    }

    /// Core cycles in which the copy control unit of a core translates the addresses of a copy.
    fn translate(&mut self, core: usize, bulk: &Bulk) -> u64 {
        let (kept, settings) = (&mut self.units[core].translations, &self.settings);
        let mut cycles = 0;
        for PhysicalAddress(address) in bulk.src.into_iter().chain([bulk.dst]) {
            let frame = address / FRAME_BYTES;
            if let Some(place) = kept.iter().position(|other| *other == frame) {
                kept.remove(place);
            } else {
                cycles += settings.tlb_miss_cycles;
                if kept.len() == settings.tlb_entries {
                    kept.pop_front();
                }
            }
            kept.push_back(frame);
        }
        cycles
    }
}

/// A copy that is not complete.
#[derive(Clone, Copy, Debug)]
struct PendingCopy {
    core: usize,
    bulk: Bulk,
    /// Its instruction, until that may retire.
    instruction: Option<EntryId>,
}

impl Copier for EngineCopies {
    fn begin(&mut self, core: &mut Core, memory: &mut Memory, bulk: Bulk, bounds: Bounds) -> Advance {
        let Some(src) = bulk.src.filter(|_| bulk.bytes >= self.min_bytes) else {
            return self.loops.begin(core, memory, bulk, bounds);
        };
        // Until then it waits for a load of an in-order core, or for the window, and not for a copy.
        if !core.has_slot() {
            return Advance::Blocked;
        }
        let (size, index) = (memory.line_size(), core.index());
        let mut lines = [src, bulk.dst].into_iter().flat_map(|start| size.lines(start, bulk.bytes));
        if lines.any(|(line, _)| memory.caches.is_in_flight(index, line) || core.defers_access_to(line)) {
            return core.stall_for_event();
        }
        let is_full = core.pending_copies().len() == self.settings.pending_copies;
        if is_full || self.pending.len() == self.settings.queue {
            return core.stall_for_device();
        }
        let (instruction, at) = match core.dispatch_awaited(bulk.purpose(), bounds) {
            Ok(dispatched) => dispatched,
            Err(outcome) => return outcome,
        };
        core.copy_begins(at);
        core.counters.copy_slots += 1;
        memory.begin_copy(index, &bulk);
        let id = CopyId(self.begun);
        self.begun += 1;
        // A command does not pass an earlier one, whose translations take longer.
        let begin = memory.after_lookup(at).max(self.units[index].free);
        let leaves = CoreCycle(begin.0 + self.translate(index, &bulk));
        self.units[index].free = leaves;
        for start in [src, bulk.dst] {
            memory.flush_stores(start, bulk.bytes, memory.after_lookup(at));
        }
        memory.apply(&Operation::Copy { src, dst: bulk.dst, bytes: bulk.bytes });
        memory.interconnect.post_later(Agent::Core(index), ENGINE, Message::Copy { id, core: index, bulk }, leaves);
        self.pending.insert(id, PendingCopy { core: index, bulk, instruction: Some(instruction) });
        if !is_planted(Planted::IgnoredPendingCopies) {
            core.add_pending_copy(id, bulk, size);
        }
        for start in [src, bulk.dst] {
            memory.caches.bar_prefetches(id.0, size.span(start, bulk.bytes));
        }
        core.counters.coherence.copies += 1;
        Advance::Done
    }

    fn proceed(&mut self, core: &mut Core, memory: &mut Memory, rest: Bulk, until: CoreCycle) -> Advance {
        self.loops.proceed(core, memory, rest, until)
    }

    fn received(&mut self, core: &mut Core, memory: &mut Memory, message: Message, at: CoreCycle) {
        match message {
            Message::Completed { id, counts, channel_bytes } => {
                let PendingCopy { instruction, .. } = self.pending.remove(&id).expect("the core has begun it");
                core.counters.coherence += counts;
                core.counters.controller_copy_bytes += channel_bytes;
                if let Some(instruction) = instruction {
                    core.complete(instruction, at);
                }
                if !is_planted(Planted::IgnoredPendingCopies) {
                    core.copy_completed(id, at);
                }
                core.copy_ends(at);
                memory.caches.admit_prefetches(id.0);
            }
            Message::Entered(id) => {
                let copy = self.pending.get_mut(&id).expect("the core has begun it");
                if let Some(instruction) = copy.instruction.take() {
                    core.complete(instruction, at);
                }
            }
            _ => unreachable!("an engine sends no {message:?}"),
        }
    }

    fn pending(&self) -> Vec<(usize, Bulk)> {
        self.pending.values().map(|copy| (copy.core, copy.bulk)).collect()
    }
}
