//! The cores' side of a copy engine: the instruction of a copy, its translations, and the copies pending.
//!
//! The engine itself is a device.

use std::collections::{BTreeMap, VecDeque};

use dram_spec::PhysicalAddress;
use dram_spec::address::FRAME_BYTES;
use rowclone::Operation;

use super::super::bulk::Bulk;
use super::super::clock::CoreCycle;
use super::super::core::{Core, Outcome};
use super::super::interconnect::{Agent, CopyId, Message};
use super::super::memory::Memory;
use super::super::settings::{EngineSettings, KernelSettings};
use super::Copier;
use super::loops::LoopCopies;

/// The number of the engine among the devices.
const ENGINE: Agent = Agent::Device(0);

/// Copies by an engine, and zeroings and small copies by a loop.
#[derive(Debug)]
pub(super) struct EngineCopies {
    settings: EngineSettings,
    min_bytes: u64,
    loops: LoopCopies,
    /// Copies that are not complete, with their cores.
    pending: BTreeMap<CopyId, (usize, Bulk)>,
    /// By core: the frames whose translations its copy control unit keeps, the latest used last.
    translations: Vec<VecDeque<u64>>,
    begun: u64,
}

impl EngineCopies {
    pub(super) fn new(settings: &KernelSettings, engine: EngineSettings, cores: usize) -> EngineCopies {
        EngineCopies {
            settings: engine,
            min_bytes: settings.copier_min_bytes,
            loops: LoopCopies::new(settings),
            pending: BTreeMap::new(),
            translations: vec![VecDeque::new(); cores],
            begun: 0,
        }
    }

    /// Core cycles in which the copy control unit of a core translates the addresses of a copy.
    fn translate(&mut self, core: usize, bulk: &Bulk) -> u64 {
        let (kept, settings) = (&mut self.translations[core], &self.settings);
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

impl Copier for EngineCopies {
    fn begin(&mut self, core: &mut Core, memory: &mut Memory, bulk: Bulk, at: CoreCycle) -> Outcome {
        let Some(src) = bulk.src.filter(|_| bulk.bytes >= self.min_bytes) else {
            return self.loops.begin(core, memory, bulk, at);
        };
        if self.pending.len() == self.settings.queue {
            return core.stall_for_device();
        }
        let id = CopyId(self.begun);
        self.begun += 1;
        let leaves = CoreCycle(memory.after_lookup(at).0 + self.translate(core.index(), &bulk));
        memory.apply(&Operation::Copy { src, dst: bulk.dst, bytes: bulk.bytes });
        let copy = Message::Copy { id, core: core.index(), bulk };
        memory.interconnect.post(Agent::Core(core.index()), ENGINE, copy, leaves);
        self.pending.insert(id, (core.index(), bulk));
        core.counters.coherence.copies += 1;
        core.wait_for_copier();
        Outcome::Issued
    }

    fn proceed(&mut self, core: &mut Core, memory: &mut Memory, rest: Bulk, until: CoreCycle) -> Outcome {
        self.loops.proceed(core, memory, rest, until)
    }

    fn received(&mut self, core: &mut Core, _: &mut Memory, message: Message, at: CoreCycle) {
        match message {
            Message::Completed { id, counts, channel_bytes } => {
                self.pending.remove(&id).expect("the core has begun it");
                core.counters.coherence += counts;
                core.counters.controller_copy_bytes += channel_bytes;
                core.copier_done(at);
            }
            Message::Entered(id) => assert!(self.pending.contains_key(&id), "{id:?} is pending"),
            _ => unreachable!("an engine sends no {message:?}"),
        }
    }

    fn pending(&self) -> Vec<(usize, Bulk)> {
        self.pending.values().copied().collect()
    }
}
