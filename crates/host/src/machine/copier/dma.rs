//! The cores' side of a DMA engine: descriptors, doorbells, pinned pages, and the wait for the end.
//!
//! The engine itself is a device. A copy is a piece of physical memory and has a descriptor; a doorbell announces all
//! descriptors that the core has written.

use std::collections::VecDeque;

use dram_spec::PhysicalAddress;
use dram_spec::address::FRAME_BYTES;
use rowclone::Operation;

use super::super::bulk::{Bulk, CopyId};
use super::super::clock::CoreCycle;
use super::super::core::{Advance, Bounds, Core, Stall, Work};
use super::super::counters::Purpose;
use super::super::interconnect::{Agent, Descriptor, Message};
use super::super::memory::{Access, LoadOrStore, Memory, OnMiss, Scope, StoreData};
use super::super::settings::{DmaCompletion, DmaSettings, KernelSettings};
use super::loops::LoopCopies;
use super::pinned_pages::PinnedPages;
use super::{Copier, quiet};

/// The number of the engine among the devices.
const ENGINE: Agent = Agent::Device(0);

/// Bytes of each of the stores of a descriptor: command and size, source, destination, and the next one.
const FIELD_BYTES: [u64; 4] = [8; 4];

/// Copies by a DMA engine, and zeroings and small copies by a loop.
#[derive(Debug)]
pub(super) struct DmaCopies {
    settings: DmaSettings,
    min_bytes: u64,
    loops: LoopCopies,
    rings: Vec<Ring>,
    cores: Vec<OfCore>,
    pages: PinnedPages,
    begun: u64,
    /// The first copy that a core gave up, and the core.
    given_up: Option<(usize, Bulk)>,
}

/// The ring of a channel.
#[derive(Debug)]
struct Ring {
    /// Address of each descriptor, and whether it is in use.
    slots: Vec<(PhysicalAddress, bool)>,
    /// The slot of the next descriptor.
    next: usize,
}

/// Copies of a core.
#[derive(Debug)]
struct OfCore {
    channel: usize,
    /// The line that the engine writes at the end.
    status: PhysicalAddress,
    phase: DmaPhase,
    /// Descriptors that are written, and that no doorbell has announced.
    unrung: Vec<Descriptor>,
    /// The latest copy that was begun since the core last waited.
    begun: Option<Bulk>,
    /// Descriptors that a doorbell has announced, and whose end is not visible.
    rung: VecDeque<Descriptor>,
    /// Whether the status line changed in memory while it was in flight.
    is_status_stale: bool,
}

/// What a core does next for its copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DmaPhase {
    /// It writes the doorbell, and then waits for the end or continues.
    Ring { waits: bool },
    /// It begins to wait.
    Wait,
    /// It is to load the status line, having waited since a cycle.
    Poll { since: CoreCycle },
    /// It dispatches this load.
    Load { since: CoreCycle },
    /// The load is to retire.
    Loaded { since: CoreCycle, is_complete: bool },
    /// It waits for an interrupt, or takes it.
    Interrupted,
    /// Nothing.
    Idle,
}

/// Bytes from a descriptor, or a status line, to the next one: the largest line of a cache.
const SLOT_BYTES: u64 = 128;

/// Page frames of the rings, and of the status lines.
pub(super) fn frames(settings: &DmaSettings, cores: usize) -> usize {
    settings.channels * frames_of(settings.ring) + frames_of(cores)
}

const fn frames_of(lines: usize) -> usize {
    (lines as u64 * SLOT_BYTES).div_ceil(FRAME_BYTES) as usize
}

/// A line of some frames.
const fn line_of(frames: &[PhysicalAddress], number: usize) -> PhysicalAddress {
    let offset = number as u64 * SLOT_BYTES;
    PhysicalAddress(frames[(offset / FRAME_BYTES) as usize].0 + offset % FRAME_BYTES)
}

impl DmaCopies {
    pub(super) fn new(
        settings: &KernelSettings,
        dma: DmaSettings,
        cores: usize,
        frames: &[PhysicalAddress],
    ) -> DmaCopies {
        let (of_rings, of_cores) = frames.split_at(dma.channels * frames_of(dma.ring));
        let ring = |frames: &[PhysicalAddress]| Ring {
            slots: (0..dma.ring).map(|slot| (line_of(frames, slot), false)).collect(),
            next: 0,
        };
        let core = |core: usize| OfCore {
            channel: core % dma.channels,
            status: line_of(of_cores, core),
            phase: DmaPhase::Idle,
            unrung: Vec::new(),
            begun: None,
            rung: VecDeque::new(),
            is_status_stale: false,
        };
        DmaCopies {
            settings: dma,
            min_bytes: settings.copier_min_bytes.unwrap_or(0),
            loops: LoopCopies::new(settings),
            rings: of_rings.chunks(frames_of(dma.ring)).map(ring).collect(),
            cores: (0..cores).map(core).collect(),
            pages: PinnedPages::new(dma.pinned_pages),
            begun: 0,
            given_up: None,
        }
    }

    /// Sets up the descriptor of a copy at a cycle, and lets the core store it. If the ring is full, or too many
    /// pages are in use, `None`: the core then announces its descriptors first, or waits.
    fn describe(&mut self, core: &mut Core, memory: &mut Memory, bulk: Bulk, at: CoreCycle) -> Option<()> {
        let of_core = &mut self.cores[core.index()];
        let ring = &mut self.rings[of_core.channel];
        let (address, is_in_use) = ring.slots[ring.next];
        let changes = if is_in_use { None } else { self.pages.pin(&bulk) }?;
        ring.slots[ring.next].1 = true;
        ring.next = (ring.next + 1) % ring.slots.len();
        let settings = &self.settings;
        let setup = if of_core.unrung.is_empty() { settings.setup_cycles } else { settings.descriptor_cycles };
        let cycles = setup + changes.pinned * settings.pin_cycles + changes.unpinned * settings.unpin_cycles;
        core.delay_until(CoreCycle(at.0 + cycles), |stalls| &mut stalls.kernel);
        let counts = &mut core.counters.dma;
        counts.descriptors += 1;
        counts.pinned_pages += changes.pinned;
        counts.unpinned_pages += changes.unpinned;
        core.counters.coherence.copies += 1;
        let lines = memory.line_size().lines(address, FIELD_BYTES.iter().sum()).map(|(line, _)| line);
        memory.flush_others(core.index(), lines, memory.after_lookup(at));
        let src = bulk.src.expect("a DMA engine has a source");
        memory.apply(&Operation::Copy { src, dst: bulk.dst, bytes: bulk.bytes });
        let (id, status) = (CopyId(self.begun), of_core.status);
        self.begun += 1;
        of_core.unrung.push(Descriptor { id, core: core.index(), bulk, address, status, is_last: false });
        Some(())
    }

    /// Attempts to set up the descriptor of a copy, which is the work `again` where there is no room for it yet.
    ///
    /// # Errors
    /// The outcome, if no descriptor is set up: the loop copies, or the core waits.
    fn describe_or_wait(
        &mut self,
        core: &mut Core,
        memory: &mut Memory,
        bulk: Bulk,
        again: Work,
        bounds: Bounds,
    ) -> Result<(), Advance> {
        if bulk.src.is_none() || bulk.bytes < self.min_bytes {
            return Err(self.loops.begin(core, memory, bulk, bounds));
        }
        let at = quiet(core, memory, &bulk, bounds)?;
        match self.describe(core, memory, bulk, at) {
            Some(()) => Ok(()),
            None => Err(self.make_room(core, bulk, again)),
        }
    }

    /// Adds the stores of the latest descriptor to the work of a core.
    fn store_descriptor(&self, core: &mut Core) {
        let Descriptor { address, .. } = self.cores[core.index()].unrung.last().expect("it is written");
        let mut end = address.0 + FIELD_BYTES.iter().sum::<u64>();
        for bytes in FIELD_BYTES.into_iter().rev() {
            end -= bytes;
            let (address, kind) = (PhysicalAddress(end), LoadOrStore::Store(StoreData::Tag));
            let (purpose, on_miss) = (Purpose::KernelData, OnMiss::Allocate);
            core.add(Work::Access(Access { address, bytes, kind, purpose, on_miss }));
        }
    }

    /// Lets a core write the doorbell before work that finds no room for its descriptor or its pages; without
    /// descriptors to announce, the core waits.
    fn make_room(&mut self, core: &mut Core, bulk: Bulk, work: Work) -> Advance {
        let of_core = &mut self.cores[core.index()];
        if of_core.unrung.is_empty() {
            return core.stall_for_device();
        }
        of_core.phase = DmaPhase::Ring { waits: false };
        core.add(work);
        core.add(Work::CopyRest(bulk));
        Advance::Done
    }

    /// Writes the doorbell at a cycle.
    fn ring(&mut self, core: &mut Core, memory: &mut Memory, at: CoreCycle) {
        let of_core = &mut self.cores[core.index()];
        let leaves = CoreCycle(at.0 + self.settings.doorbell_cycles);
        core.delay_until(leaves, |stalls| &mut stalls.kernel);
        core.counters.dma.doorbells += 1;
        of_core.unrung.last_mut().expect("there is a descriptor").is_last = true;
        let (own, channel) = (Agent::Core(core.index()), of_core.channel);
        for Descriptor { address, bulk, .. } in &of_core.unrung {
            let ranges = bulk.src.into_iter().chain([bulk.dst]).map(|start| (start, bulk.bytes));
            for (start, bytes) in ranges.chain([(*address, FIELD_BYTES.iter().sum())]) {
                memory.flush_stores(start, bytes, memory.after_lookup(at));
            }
        }
        let leaves = leaves.max(memory.after_lookup(at));
        for descriptor in of_core.unrung.drain(..) {
            memory.interconnect.post_later(own, ENGINE, Message::Described { channel, descriptor }, leaves);
            of_core.rung.push_back(descriptor);
        }
        core.interrupts_due += u64::from(self.settings.completion == DmaCompletion::Interrupt);
        memory.interconnect.post_later(own, ENGINE, Message::Doorbell { channel, core: core.index() }, leaves);
    }

    /// Begins to wait for all copies of a core at a cycle.
    fn wait_for_all(&mut self, core: &mut Core, bulk: Bulk, at: CoreCycle) -> Advance {
        let of_core = &mut self.cores[core.index()];
        match self.settings.completion {
            DmaCompletion::Polling => {
                of_core.phase = DmaPhase::Poll { since: at };
                core.add(Work::CopyRest(bulk));
                Advance::Done
            }
            // All interrupts have come.
            DmaCompletion::Interrupt if of_core.rung.is_empty() => {
                of_core.phase = DmaPhase::Idle;
                Advance::Done
            }
            DmaCompletion::Interrupt => {
                of_core.phase = DmaPhase::Interrupted;
                core.add(Work::CopyRest(bulk));
                core.wait_for_copier();
                Advance::Issued
            }
        }
    }

    /// Loads the status line, and then looks at it.
    fn load_status(&mut self, core: &mut Core, bulk: Bulk, since: CoreCycle) {
        let of_core = &mut self.cores[core.index()];
        of_core.phase = DmaPhase::Load { since };
        core.counters.dma.polls += 1;
        core.add(Work::CopyRest(bulk));
        // No bytes are compared: the load may be on its way when the engine writes the line.
        let (address, purpose, on_miss) = (of_core.status, Purpose::KernelData, OnMiss::Allocate);
        core.add(Work::Access(Access { address, bytes: 0, kind: LoadOrStore::Load, purpose, on_miss }));
    }

    /// Looks at the status line, whose load has dispatched, and goes on when it retires.
    fn loaded(
        &mut self,
        core: &mut Core,
        memory: &mut Memory,
        bulk: Bulk,
        (since, is_complete): (CoreCycle, bool),
        until: CoreCycle,
    ) -> Advance {
        let of_core = &mut self.cores[core.index()];
        if of_core.is_status_stale && core.is_settled() {
            of_core.is_status_stale = false;
            memory.drop_line(core.index(), memory.line_size().line(of_core.status), Scope::Own);
        }
        let cause = if is_complete { Stall::Drain } else { Stall::Copier };
        let at = match core.go_on_after_retirement(until, cause) {
            Ok(at) => at,
            Err(outcome) => return outcome,
        };
        if is_complete {
            of_core.phase = DmaPhase::Idle;
            return Advance::Done;
        }
        if self.settings.completion == DmaCompletion::Interrupt {
            return self.wait_for_all(core, bulk, at);
        }
        of_core.phase = DmaPhase::Poll { since };
        core.add(Work::CopyRest(bulk));
        if at.0 + 1 - since.0 >= self.settings.timeout_cycles {
            self.given_up.get_or_insert((core.index(), bulk));
            core.wait_for_copier();
            return Advance::Issued;
        }
        core.delay_until(CoreCycle(at.0 + 1 + self.settings.poll_cycles), |stalls| &mut stalls.controller_copy);
        Advance::Done
    }
}

impl Copier for DmaCopies {
    fn begin(&mut self, core: &mut Core, memory: &mut Memory, bulk: Bulk, bounds: Bounds) -> Advance {
        if let Err(outcome) = self.describe_or_wait(core, memory, bulk, Work::Copy(bulk), bounds) {
            return outcome;
        }
        let of_core = &mut self.cores[core.index()];
        (of_core.phase, of_core.begun) = (DmaPhase::Ring { waits: true }, None);
        core.add(Work::CopyRest(bulk));
        self.store_descriptor(core);
        Advance::Done
    }

    fn begin_piece(
        &mut self,
        core: &mut Core,
        memory: &mut Memory,
        (bulk, is_last): (Bulk, bool),
        bounds: Bounds,
    ) -> Advance {
        if let Err(outcome) = self.describe_or_wait(core, memory, bulk, Work::Begin { bulk, is_last }, bounds) {
            return outcome;
        }
        let of_core = &mut self.cores[core.index()];
        of_core.begun = Some(bulk);
        if is_last && of_core.unrung.len() >= self.settings.doorbell_descriptors {
            of_core.phase = DmaPhase::Ring { waits: false };
            core.add(Work::CopyRest(bulk));
        }
        self.store_descriptor(core);
        Advance::Done
    }

    fn has_begun(&self, core: usize) -> bool {
        self.cores[core].begun.is_some()
    }

    fn issue(&mut self, core: &mut Core) -> Advance {
        let of_core = &mut self.cores[core.index()];
        if let Some(Descriptor { bulk, .. }) = of_core.unrung.last() {
            of_core.phase = DmaPhase::Ring { waits: false };
            core.add(Work::CopyRest(*bulk));
        }
        Advance::Done
    }

    fn wait(&mut self, core: &mut Core, until: CoreCycle) -> Advance {
        let of_core = &mut self.cores[core.index()];
        let Some(bulk) = of_core.begun else { return Advance::Done };
        if !of_core.unrung.is_empty() {
            core.add(Work::Wait);
            return self.issue(core);
        }
        match core.settled_before(until) {
            Ok(at) => {
                of_core.begun = None;
                core.begin_copy();
                self.wait_for_all(core, bulk, at)
            }
            Err(outcome) => outcome,
        }
    }

    fn proceed(&mut self, core: &mut Core, memory: &mut Memory, rest: Bulk, until: CoreCycle) -> Advance {
        let of_core = &mut self.cores[core.index()];
        let begin = match of_core.phase {
            DmaPhase::Idle => return self.loops.proceed(core, memory, rest, until),
            DmaPhase::Load { since } => {
                of_core.phase = DmaPhase::Loaded { since, is_complete: of_core.rung.is_empty() };
                core.add(Work::CopyRest(rest));
                return Advance::Done;
            }
            DmaPhase::Loaded { since, is_complete } => {
                return self.loaded(core, memory, rest, (since, is_complete), until);
            }
            DmaPhase::Ring { .. } => core.quiet_before(until),
            DmaPhase::Wait | DmaPhase::Poll { .. } | DmaPhase::Interrupted => core.settled_before(until),
        };
        let at = match begin {
            Ok(at) => at,
            Err(outcome) => return outcome,
        };
        match of_core.phase {
            DmaPhase::Ring { waits } => {
                of_core.phase = if waits { DmaPhase::Wait } else { DmaPhase::Idle };
                self.ring(core, memory, at);
                if waits {
                    core.add(Work::CopyRest(rest));
                }
            }
            DmaPhase::Poll { since } => self.load_status(core, rest, since),
            DmaPhase::Interrupted => {
                core.delay_until(CoreCycle(at.0 + self.settings.interrupt_cycles), |stalls| &mut stalls.kernel);
                core.counters.dma.interrupts += 1;
                of_core.phase = DmaPhase::Poll { since: at };
                core.add(Work::CopyRest(rest));
            }
            _ => return self.wait_for_all(core, rest, at),
        }
        Advance::Done
    }

    fn received(&mut self, core: &mut Core, memory: &mut Memory, message: Message, at: CoreCycle) {
        let of_core = &mut self.cores[core.index()];
        match message {
            Message::StatusWritten { id, counts, channel_bytes } => {
                let is_complete = |descriptor: &&Descriptor| descriptor.id <= id;
                let complete = of_core.rung.iter().take_while(is_complete).count();
                for Descriptor { bulk, address, .. } in of_core.rung.drain(..complete) {
                    let slots = &mut self.rings[of_core.channel].slots;
                    slots.iter_mut().find(|(slot, _)| *slot == address).expect("a slot of the ring").1 = false;
                    self.pages.release(&bulk);
                }
                of_core.is_status_stale |=
                    memory.caches.is_in_flight(core.index(), memory.line_size().line(of_core.status));
                core.counters.coherence += counts;
                core.counters.controller_copy_bytes += channel_bytes;
            }
            Message::Interrupt if of_core.phase == DmaPhase::Interrupted => {
                core.interrupts_due -= 1;
                core.copier_done(at);
            }
            // It interrupts other work.
            Message::Interrupt => {
                core.interrupts_due -= 1;
                core.counters.dma.interrupts += 1;
                core.add(Work::Interrupt { at, cycles: self.settings.interrupt_cycles });
            }
            _ => unreachable!("a DMA engine sends no {message:?}"),
        }
    }

    fn given_up(&self) -> Option<(usize, Bulk)> {
        self.given_up
    }

    fn pending(&self) -> Vec<(usize, Bulk)> {
        let all = self.cores.iter().enumerate();
        all.flat_map(|(core, of_core)| of_core.rung.iter().map(move |descriptor| (core, descriptor.bulk))).collect()
    }
}
