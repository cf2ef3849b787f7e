//! State of a core.

use std::collections::VecDeque;

use dram_spec::PhysicalAddress;
use dram_spec::address::FRAME_BYTES;
use os_alloc_sim::Frame;
use trace_io::program::Step;

use super::Outcome;
use super::cache::{Cache, LineNumber, Way};
use super::clock::CoreCycle;
use super::coherence_check::{Deferred, StoreData};
use super::counters::{CoreCounters, Purpose};
use super::pipeline::{EntryId, Pipeline, Slot};
use super::program::{Program, StepsAhead};
use super::region::Marks;

/// Work of a core between steps of its program, or between parts of a step.
#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    /// Instructions of a copy loop without memory access.
    Run { count: u64, purpose: Purpose },
    /// A load or store of a copy loop.
    Access(Access),
    /// A copy or zeroing of physical memory.
    Bulk(Bulk),
    /// The rest of a copy loop.
    Loop(Bulk),
    /// Pages of an event of the kernel: for each its time, and accesses to some of the data in
    /// [`Core::kernel_data`].
    Pages { pages: u64, cycles: u64, data: u64 },
    /// Time of the kernel.
    Kernel { cycles: u64 },
    /// Insertion of clean zero lines.
    InsertZeros(Bulk),
}

/// Kind of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AccessKind {
    Load,
    Store(StoreData),
    /// A store of a whole line, which needs no data from memory.
    WholeLine(StoreData),
    /// A store of a whole line that bypasses the cache.
    NonTemporal(StoreData),
}

/// An access to a part of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) address: PhysicalAddress,
    pub(super) bytes: u64,
    pub(super) kind: AccessKind,
    pub(super) purpose: Purpose,
}

/// A copy, or without a source a zeroing, of physical memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bulk {
    pub(super) src: Option<PhysicalAddress>,
    pub(super) dst: PhysicalAddress,
    pub(super) bytes: u64,
}

impl Bulk {
    pub(super) const fn purpose(&self) -> Purpose {
        if self.src.is_some() { Purpose::KernelCopy } else { Purpose::KernelZero }
    }

    /// The part to execute next, which lies within a block of `block` bytes (a page or a line) of
    /// each range: the first one or, if the destination begins within the source, the last one.
    /// The result of all parts is then that of `memmove`.
    pub(super) fn next_part(&self, block: u64) -> Bulk {
        let Bulk { src, dst, bytes } = *self;
        let starts = || src.into_iter().chain([dst]);
        if src.is_some_and(|src| is_backward(src, dst, bytes)) {
            let part = starts().map(|start| (start.0 + (bytes - 1)) % block + 1).fold(bytes, u64::min);
            let plus = |start: PhysicalAddress| PhysicalAddress(start.0 + (bytes - part));
            return Bulk { src: src.map(plus), dst: plus(dst), bytes: part };
        }
        Bulk { bytes: starts().map(|start| block - start.0 % block).fold(bytes, u64::min), ..*self }
    }

    /// The rest without its first or last part; `None` if that is all.
    pub(super) fn without(&self, part: Bulk) -> Option<Bulk> {
        let bytes = self.bytes - part.bytes;
        let first = if part.dst == self.dst { part.bytes } else { 0 };
        let plus = |start: PhysicalAddress| PhysicalAddress(start.0 + first);
        (bytes > 0).then(|| Bulk { src: self.src.map(plus), dst: plus(self.dst), bytes })
    }
}

/// Whether a copy goes from its end to its beginning: its destination begins within its source.
pub(super) fn is_backward(src: PhysicalAddress, dst: PhysicalAddress, bytes: u64) -> bool {
    src < dst && dst.0 - src.0 < bytes
}

/// A line requested from memory.
#[derive(Debug)]
pub(super) struct Mshr {
    pub(super) line: LineNumber,
    /// Its way in the last-level cache, if it takes one.
    pub(super) way: Option<Way>,
    /// Loads that wait for the line.
    pub(super) loads: Vec<EntryId>,
    /// Stores that wait for the line, in the store buffer.
    pub(super) stores: usize,
    /// Accesses to execute on the data, where contents are modeled.
    pub(super) deferred: Vec<Deferred>,
}

/// When a core acts next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    At(CoreCycle),
    /// After a completion.
    Blocked,
    /// Never: its program has ended.
    Ended,
}

/// What a core waits for, apart from the data of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stall {
    Mshr,
    StoreBuffer,
    /// Instructions, lines and stores in progress, before a request to the kernel or a copy.
    Drain,
    /// A copy or zeroing of the controller.
    Controller(Bulk),
}

/// A core and its program.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) program: Box<dyn Program>,
    pub(super) marks: Marks,
    pub(super) pipeline: Pipeline,
    /// The next steps, the first of which may have begun.
    pub(super) steps: StepsAhead,
    /// Work before the rest of the step, last first.
    pub(super) work: Vec<Work>,
    /// Addresses and sizes of the data of the kernel that are left of [`Work::Pages`].
    pub(super) kernel_data: VecDeque<(PhysicalAddress, u64)>,
    /// The first step, if it was found to be an access to a line that is not in the cache.
    pub(super) away: Option<Away>,
    pub(super) mshrs: Vec<Mshr>,
    /// Store buffer entries in use.
    pub(super) stores: usize,
    /// Whether misses of its program take no place in the caches.
    pub(super) is_uncached: bool,
    pub(super) l1: Option<Cache>,
    pub(super) translations: Translations,
    pub(super) counters: CoreCounters,
    pub(super) stall: Option<Stall>,
    pub(super) next: Next,
}

/// Slots before which a core may execute actions without effect on others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Instructions without memory access.
    pub(super) run: Slot,
    /// Accesses to lines of its last-level cache.
    pub(super) hit: Slot,
}

/// Why a core executes no further step alone.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pause {
    /// The first step is the access of [`Core::away`], which can dispatch in a slot.
    Away(Slot),
    /// The first step waits.
    Waits(Outcome),
    /// The first step is another one, or its page is not known, or there is none.
    Step,
    /// The first step is after a boundary of the region.
    Boundary,
}

/// A load or store of the program to a line that is not in the last-level cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct Away {
    pub(super) access: Access,
    /// The place to which the line is on its way.
    pub(super) way: Option<Way>,
    /// Changes of the cache before the lookup.
    changes: u64,
}

/// Result of an access of the last-level cache.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lookup {
    /// The access is done: the way holds the line.
    Hit(Way),
    /// The access can dispatch in a slot, but the line is not there, or in flight to the way.
    Away(Slot, Option<Way>),
    /// The access cannot dispatch yet.
    Waits(Outcome),
}

impl Core {
    /// Executes steps up to the next boundary of the region, and up to the first one that waits,
    /// that affects others, or that is neither instructions without memory access nor an access to a
    /// line of its last-level cache.
    #[inline(never)]
    pub(super) fn run_steps(&mut self, cache: &mut Cache, limits: Limits) -> Pause {
        self.away = None;
        while let Some(step) = self.steps.first() {
            if self.counters.instructions >= self.marks.next {
                return Pause::Boundary;
            }
            let (address, kind) = match step {
                Step::Compute { mut instructions } => {
                    match self.run_instructions(&mut instructions, Purpose::Program, limits.run) {
                        Outcome::Done => self.steps.advance(),
                        Outcome::Part => self.steps.replace(Step::Compute { instructions }),
                        waits => return Pause::Waits(waits),
                    }
                    continue;
                }
                Step::Load { address } => (address, AccessKind::Load),
                Step::Store { address } => (address, AccessKind::Store(StoreData::Tag)),
                _ => return Pause::Step,
            };
            let Some(address) = self.translations.find(address, kind != AccessKind::Load) else { return Pause::Step };
            // The number of bytes matters where contents are modeled.
            let access = Access { address, bytes: 0, kind, purpose: Purpose::Program };
            match self.hit(cache, &access, limits.hit) {
                Lookup::Hit(_) => self.steps.advance(),
                Lookup::Away(slot, way) => {
                    self.away = Some(Away { access, way, changes: cache.changes() });
                    return Pause::Away(slot);
                }
                Lookup::Waits(outcome) => return Pause::Waits(outcome),
            }
        }
        Pause::Step
    }

    /// Repeats the access of [`Core::away`], if there is one and the cache still lacks its line.
    pub(super) fn retry(&self, cache: &Cache, limits: Limits) -> Option<Pause> {
        let Away { way, changes, .. } = self.away?;
        if changes != cache.changes() || way.is_some_and(|way| !cache.state(way).is_pending) {
            return None;
        }
        Some(match self.pipeline.next_slot() {
            Some(slot) if slot < limits.hit => Pause::Away(slot),
            Some(slot) => Pause::Waits(Outcome::Later(self.pipeline.cycle(slot))),
            None => Pause::Waits(Outcome::Blocked),
        })
    }

    /// Dispatches instructions without memory access before a slot, up to a boundary of the region;
    /// `count` is the number of those left.
    #[inline]
    pub(super) fn run_instructions(&mut self, count: &mut u64, purpose: Purpose, limit: Slot) -> Outcome {
        let Some(slot) = self.pipeline.next_slot() else { return Outcome::Blocked };
        if slot >= limit {
            return Outcome::Later(self.pipeline.cycle(slot));
        }
        let most = if purpose == Purpose::Program { self.marks.next - self.counters.instructions } else { u64::MAX };
        let mut some = most.min(*count);
        if some > limit.0 - slot.0 {
            // As many slots as the cycles before the limit have, the current one included.
            some = some.min((limit.0 - slot.0).next_multiple_of(self.pipeline.width()));
        }
        let done = self.pipeline.run(some);
        self.counters.count_instructions(purpose, done);
        *count -= done;
        if *count == 0 { Outcome::Done } else { Outcome::Part }
    }

    /// Executes an access if its line is in the last-level cache, and the access can dispatch before a
    /// slot.
    pub(super) fn hit(&mut self, cache: &mut Cache, access: &Access, limit: Slot) -> Lookup {
        let Some(slot) = self.pipeline.next_slot() else { return Lookup::Waits(Outcome::Blocked) };
        if slot >= limit {
            return Lookup::Waits(Outcome::Later(self.pipeline.cycle(slot)));
        }
        let found = cache.find(LineNumber::of(access.address));
        let Some(way) = found.filter(|&way| !cache.state(way).is_pending) else { return Lookup::Away(slot, found) };
        self.counters.count_instructions(access.purpose, 1);
        self.counters.of(access.purpose).hits += 1;
        let latency = if let Some(latency) = self.l1_access(access) {
            self.counters.of(access.purpose).l1_hits += 1;
            latency
        } else {
            cache.touch(way);
            cache.latency()
        };
        self.pipeline.dispatch(slot, Some(if access.kind == AccessKind::Load { latency } else { 0 }));
        cache.mark_dirty(way, access);
        Lookup::Hit(way)
    }

    /// Looks up the L1, and puts the line into it; returns the latency of a hit.
    #[inline]
    pub(super) fn l1_access(&mut self, access: &Access) -> Option<u64> {
        let l1 = self.l1.as_mut()?;
        l1.take(LineNumber::of(access.address)).then(|| l1.latency())
    }
}

/// Frame of a page, and whether a store may use it.
#[derive(Clone, Copy, Debug)]
struct Translation {
    page: u64,
    frame: Frame,
    is_writable: bool,
}

/// Frames of recently used pages of the running process.
#[derive(Debug)]
pub(super) struct Translations {
    entries: Box<[Option<Translation>]>,
}

impl Translations {
    /// Pages of 64 MiB.
    const ENTRIES: usize = 1 << 14;

    pub(super) fn new() -> Translations {
        Translations { entries: vec![None; Self::ENTRIES].into() }
    }

    /// Physical address of a virtual one, if the page is known and allows the access.
    #[inline]
    pub(super) fn find(&self, address: PhysicalAddress, is_store: bool) -> Option<PhysicalAddress> {
        let page = address.0 / FRAME_BYTES;
        let known = self.entries[page as usize % Self::ENTRIES].as_ref()?;
        (known.page == page && (known.is_writable || !is_store)).then(|| within(known.frame, address))
    }

    pub(super) fn insert(&mut self, address: PhysicalAddress, (frame, is_writable): (Frame, bool)) {
        let page = address.0 / FRAME_BYTES;
        self.entries[page as usize % Self::ENTRIES] = Some(Translation { page, frame, is_writable });
    }

    pub(super) fn clear(&mut self) {
        self.entries.fill(None);
    }
}

/// Physical address of a virtual one whose page has a frame.
pub(super) const fn within(frame: Frame, address: PhysicalAddress) -> PhysicalAddress {
    PhysicalAddress(frame.address().0 + address.0 % FRAME_BYTES)
}
