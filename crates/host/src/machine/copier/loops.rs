//! Loops of the kernel, which copy and zero through the caches.

use dram_spec::PhysicalAddress;

use super::super::bulk::Bulk;
use super::super::clock::CoreCycle;
use super::super::core::{Advance, Bounds, Core, Work};
use super::super::memory::{Access, LoadOrStore, Memory, OnMiss, Scope, StoreData};
use super::super::settings::{CopyLoop, KernelSettings, StringStores};
use super::stream::{Body, Strings};
use super::{Copier, quiet};

/// A loop of loads and stores.
#[derive(Debug)]
pub(super) struct LoopCopies {
    settings: KernelSettings,
    /// By core.
    progress: Vec<LoopProgress>,
}

/// Where the loop of a core is.
#[derive(Clone, Copy, Debug, Default)]
enum LoopProgress {
    /// In a loop by lines.
    #[default]
    Lines,
    /// In its body; bytes of the block of the source that were loaded and that are not copied.
    Body { loaded: u64 },
    /// Before the first word of a string instruction.
    Start,
    /// In the words of a string instruction.
    Words { is_fast: bool },
    /// In the bytes that are left.
    Bytes,
}

impl LoopCopies {
    pub(super) const fn new(settings: &KernelSettings) -> LoopCopies {
        LoopCopies { settings: *settings, progress: Vec::new() }
    }

    /// The loop by lines that zeroes, and that copies between overlapping ranges.
    const fn by_lines(&self) -> CopyLoop {
        match self.settings.copy_loop {
            CopyLoop::Cached
            | CopyLoop::String
            | CopyLoop::Integer
            | CopyLoop::FloatBlock
            | CopyLoop::SimdBlock
            | CopyLoop::Avx2 => CopyLoop::Cached,
            CopyLoop::NoFetch => CopyLoop::NoFetch,
            CopyLoop::FastString | CopyLoop::RepMovsb => match self.settings.loops.fast_string_stores {
                StringStores::Fetch => CopyLoop::Cached,
                StringStores::NoFetch => CopyLoop::NoFetch,
            },
            CopyLoop::NonTemporal | CopyLoop::NonTemporalBlock => CopyLoop::NonTemporal,
        }
    }

    /// The first part of the loop that copies.
    fn first(&self, bulk: &Bulk, line_bytes: u64) -> LoopProgress {
        let Some(src) = bulk.src else { return LoopProgress::Lines };
        let overlaps = src.0 < bulk.dst.0 + bulk.bytes && bulk.dst.0 < src.0 + bulk.bytes;
        if overlaps || CopyLoop::BY_LINES.contains(&self.settings.copy_loop) {
            return LoopProgress::Lines;
        }
        let takes = |body: Body| body.takes(src, bulk.dst, bulk.bytes);
        let has_body = Body::of(&self.settings, line_bytes).is_some_and(takes);
        if has_body { LoopProgress::Body { loaded: 0 } } else { LoopProgress::Start }
    }

    /// A step of a loop by lines, which lies in one destination line and one source line.
    fn step_of_lines(&self, core: &mut Core, line_bytes: u64, rest: Bulk) {
        let next @ Bulk { src, dst, bytes } = rest.next_part(line_bytes);
        let purpose = rest.purpose();
        let data = src.map_or(StoreData::Zero, StoreData::CopyOf);
        let kind = match self.by_lines() {
            CopyLoop::NonTemporal if bytes == line_bytes => LoadOrStore::NonTemporal(data),
            CopyLoop::NoFetch if bytes == line_bytes => LoadOrStore::WholeLine(data),
            _ => LoadOrStore::Store(data),
        };
        let words = bytes.div_ceil(self.settings.word_bytes);
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
            access(src, LoadOrStore::Load);
        }
    }

    /// The next instructions of a copy; returns the bytes that they copy, and where the loop is then.
    fn next_instructions(
        &self,
        progress: LoopProgress,
        (src, dst, bytes): (PhysicalAddress, PhysicalAddress, u64),
        line_bytes: u64,
    ) -> (Vec<Work>, u64, LoopProgress) {
        let strings = Strings::of(&self.settings, line_bytes);
        match progress {
            LoopProgress::Body { loaded } => {
                let body = Body::of(&self.settings, line_bytes).expect("the loop has a body");
                if bytes < body.unroll() {
                    return (Vec::new(), 0, LoopProgress::Start);
                }
                if loaded < body.unroll()
                    && let Some(block) = body.block(bytes)
                {
                    return (body.load_block(src, block), 0, LoopProgress::Body { loaded: block });
                }
                let loaded = loaded.saturating_sub(body.unroll());
                (body.iteration(src, dst, bytes), body.unroll(), LoopProgress::Body { loaded })
            }
            LoopProgress::Start => {
                let is_fast = strings.is_fast(bytes);
                (vec![Work::Time(strings.start(is_fast))], 0, LoopProgress::Words { is_fast })
            }
            LoopProgress::Words { is_fast } => {
                let (works, copied) = strings.words(is_fast, src, dst, bytes);
                match (copied, strings.starts_again()) {
                    (0, true) => (vec![Work::Time(strings.start(false))], 0, LoopProgress::Bytes),
                    (0, false) => (Vec::new(), 0, LoopProgress::Bytes),
                    _ => (works, copied, progress),
                }
            }
            LoopProgress::Bytes => (strings.bytes(src, dst, bytes), bytes, progress),
            LoopProgress::Lines => unreachable!("a loop by lines has steps"),
        }
    }
}

impl Copier for LoopCopies {
    fn begin(&mut self, core: &mut Core, memory: &mut Memory, bulk: Bulk, bounds: Bounds) -> Advance {
        let at = match quiet(core, memory, &bulk, bounds) {
            Ok(at) => at,
            Err(outcome) => return outcome,
        };
        let (range, leaves) = ((bulk.dst, bulk.bytes), memory.after_lookup(at));
        let invalidated = memory.invalidate(core.index(), range, bulk.purpose(), Scope::Others, leaves);
        invalidated.add_to(&mut core.counters.coherence);
        if self.progress.len() <= core.index() {
            self.progress.resize_with(core.index() + 1, LoopProgress::default);
        }
        self.progress[core.index()] = self.first(&bulk, memory.line_size().bytes());
        core.add(Work::CopyRest(bulk));
        Advance::Done
    }

    fn proceed(&mut self, core: &mut Core, memory: &mut Memory, rest: Bulk, _: CoreCycle) -> Advance {
        let (line_bytes, progress) = (memory.line_size().bytes(), self.progress[core.index()]);
        let (Some(src), false) = (rest.src, matches!(progress, LoopProgress::Lines)) else {
            self.step_of_lines(core, line_bytes, rest);
            return Advance::Done;
        };
        let (works, copied, progress) = self.next_instructions(progress, (src, rest.dst, rest.bytes), line_bytes);
        self.progress[core.index()] = progress;
        // A string instruction that has no bytes left still starts.
        let is_last = copied == rest.bytes && matches!(progress, LoopProgress::Bytes);
        if !is_last {
            let plus = |start: PhysicalAddress| PhysicalAddress(start.0 + copied);
            core.add(Work::CopyRest(Bulk { src: Some(plus(src)), dst: plus(rest.dst), bytes: rest.bytes - copied }));
        }
        works.into_iter().rev().for_each(|work| core.add(work));
        Advance::Done
    }
}
