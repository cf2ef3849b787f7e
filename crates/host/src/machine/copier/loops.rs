//! Loops of the kernel, which copy and zero through the caches.

use super::super::bulk::Bulk;
use super::super::clock::CoreCycle;
use super::super::core::{Core, Limits, Outcome, Work};
use super::super::memory::{Access, AccessKind, Memory, OnMiss, Scope, StoreData};
use super::super::settings::{CopyLoop, KernelSettings};
use super::{Copier, quiet};

/// A loop of loads and stores.
#[derive(Debug)]
pub(super) struct LoopCopies {
    copy_loop: CopyLoop,
    /// Bytes that an instruction loads or stores.
    word_bytes: u64,
}

impl LoopCopies {
    pub(super) const fn new(settings: &KernelSettings) -> LoopCopies {
        LoopCopies { copy_loop: settings.copy_loop, word_bytes: settings.word_bytes }
    }
}

impl Copier for LoopCopies {
    fn begin(&mut self, core: &mut Core, memory: &mut Memory, bulk: Bulk, limits: Limits) -> Outcome {
        let at = match quiet(core, memory, &bulk, limits) {
            Ok(at) => at,
            Err(outcome) => return outcome,
        };
        let (range, leaves) = ((bulk.dst, bulk.bytes), memory.after_lookup(at));
        let invalidated = memory.invalidate(core.index(), range, bulk.purpose(), Scope::Others, leaves);
        invalidated.add_to(&mut core.counters.coherence);
        core.add(Work::CopyRest(bulk));
        Outcome::Done
    }

    /// A step lies in one destination line and one source line.
    fn proceed(&mut self, core: &mut Core, memory: &mut Memory, rest: Bulk, _: CoreCycle) -> Outcome {
        let line_bytes = memory.line_size().bytes();
        let next @ Bulk { src, dst, bytes } = rest.next_part(line_bytes);
        let purpose = rest.purpose();
        let data = src.map_or(StoreData::Zero, StoreData::CopyOf);
        let kind = match self.copy_loop {
            CopyLoop::NonTemporal if bytes == line_bytes => AccessKind::NonTemporal(data),
            CopyLoop::NoFetch if bytes == line_bytes => AccessKind::WholeLine(data),
            _ => AccessKind::Store(data),
        };
        let words = bytes.div_ceil(self.word_bytes);
        if let Some(rest) = rest.without(next) {
            core.add(Work::CopyRest(rest));
        }
        // The words after the first of a line find it in the L1 or in flight: they take a slot.
        let mut access = |address, kind| {
            if words > 1 {
                core.add(Work::Run { count: words - 1, purpose });
            }
            core.add(Work::Access(Access { address, bytes, kind, purpose, on_miss: OnMiss::Allocate }));
        };
        access(dst, kind);
        if let Some(src) = src {
            access(src, AccessKind::Load);
        }
        Outcome::Done
    }
}
