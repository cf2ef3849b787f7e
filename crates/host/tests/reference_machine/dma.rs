//! The DMA engine: rings of descriptors in memory, doorbells, copies, and status lines (`docs/copiers.md`).

mod engine;

use std::collections::VecDeque;

use host::machine::{DmaCompletion, DmaSettings, PageCopier, Purpose};

use crate::access::Kind;
use crate::bulk::Range;
use crate::core::{Address, Data, Piece, Stall, Work};
use crate::machine::ReferenceMachine;
use crate::processes::{PAGE, Processes};
use crate::traffic::Message;
use crate::transfer::{Read, Transfer};

/// Distance of the descriptors of a ring, and of status lines.
const STRIDE: u64 = 128;
const DESCRIPTOR_BYTES: u64 = 32;
const STATUS_BYTES: u64 = 64;

/// Address of an element of an array in frames.
fn element(frames: &[u64], index: usize) -> u64 {
    let offset = index as u64 * STRIDE;
    frames[(offset / PAGE) as usize] + offset % PAGE
}

/// A copy from the start of its set-up until its status is visible.
#[derive(Clone, Copy, Debug)]
struct Descriptor {
    core: usize,
    /// Unique number.
    number: u64,
    src: Range,
    dst: Range,
    /// Index of its slot in the ring of its channel.
    slot: usize,
    /// Whether it is the last one of a doorbell.
    is_last: bool,
}

/// What a channel does with its first descriptor.
#[derive(Debug)]
enum Activity {
    None,
    /// Lines of the descriptor.
    Fetch(Vec<Read>),
    Copy(Transfer),
    /// The controller executes the copy.
    InDram,
}

#[derive(Debug)]
struct Channel {
    /// Frames of its ring.
    ring: Vec<u64>,
    /// The next slot.
    next: usize,
    /// Descriptors of doorbells, in their order.
    queue: VecDeque<Descriptor>,
    activity: Activity,
}

pub struct Dma {
    pub settings: DmaSettings,
    channels: Vec<Channel>,
    /// Frames of the status lines.
    status: Vec<u64>,
    /// Descriptors whose status is not visible, in the order of their set-ups.
    live: Vec<Descriptor>,
    /// Descriptors without a doorbell of each core.
    without_doorbell: Vec<Vec<Descriptor>>,
    /// Doorbells on their way.
    ringing: Vec<(usize, Vec<Descriptor>)>,
    /// Pinned frames, the least recently used one first.
    pinned: Vec<u64>,
    descriptors: u64,
    /// Interrupts of each core that have arrived at other work, and that it has not taken.
    interrupts: Vec<u64>,
    /// Whether each core waits for an interrupt.
    awaits_interrupt: Vec<bool>,
    /// Copies of each core that have begun, and whose end it has not seen.
    unseen: Vec<u64>,
    /// Status lines in flight that are dropped when their data are there.
    stale: Vec<u64>,
}

/// Steps of a core for the engine.
#[derive(Clone, Copy, Debug)]
pub enum DmaWork {
    /// The core writes the doorbell.
    Doorbell,
    /// The core writes the doorbell if it has written enough descriptors.
    DoorbellIfDue,
    /// The core writes the doorbell if there are descriptors without one.
    Issue,
    /// The core waits for all copies that it has begun.
    Wait,
    /// The core loads its status line.
    Load,
    /// The load has dispatched, with what it saw.
    Loaded { has_ended: bool },
    /// The core waits for an interrupt.
    Interrupt,
}

impl Dma {
    pub fn new(copier: PageCopier, processes: &mut Processes, cores: usize) -> Option<Dma> {
        let PageCopier::Dma(settings) = copier else { return None };
        let channels = (0..settings.channels)
            .map(|_| Channel {
                ring: processes.kernel_frames(settings.ring as u64 * STRIDE),
                next: 0,
                queue: VecDeque::new(),
                activity: Activity::None,
            })
            .collect();
        let status = processes.kernel_frames(cores as u64 * STRIDE);
        Some(Dma {
            settings,
            channels,
            status,
            live: Vec::new(),
            without_doorbell: vec![Vec::new(); cores],
            ringing: Vec::new(),
            pinned: Vec::new(),
            descriptors: 0,
            interrupts: vec![0; cores],
            unseen: vec![0; cores],
            awaits_interrupt: vec![false; cores],
            stale: Vec::new(),
        })
    }

    fn channel_of(&self, core: usize) -> usize {
        core % self.channels.len()
    }

    /// Frames of a copy in the order of their use.
    fn frames(src: Range, dst: Range) -> Vec<u64> {
        let of = |range: Range| range.from / PAGE..(range.from + range.bytes).div_ceil(PAGE);
        of(src).chain(of(dst)).collect()
    }

    /// Whether a copy has a slot and places for its pages.
    fn has_place(&self, core: usize, src: Range, dst: Range) -> bool {
        let channel = self.channel_of(core);
        let is_used =
            |copy: &Descriptor| self.channel_of(copy.core) == channel && copy.slot == self.channels[channel].next;
        let mut needed: Vec<u64> = self.live.iter().flat_map(|copy| Dma::frames(copy.src, copy.dst)).collect();
        needed.extend(Dma::frames(src, dst));
        needed.sort_unstable();
        needed.dedup();
        !self.live.iter().any(is_used) && needed.len() <= self.settings.pinned_pages
    }

    /// Pins the pages of a copy that is live; returns pages pinned and unpinned.
    fn pin(&mut self, copy: Descriptor) -> (u64, u64) {
        let (mut pinned, mut unpinned) = (0, 0);
        for frame in Dma::frames(copy.src, copy.dst) {
            let known = self.pinned.len();
            self.pinned.retain(|other| *other != frame);
            pinned += u64::from(self.pinned.len() == known);
            self.pinned.push(frame);
        }
        let needed: Vec<u64> = self.live.iter().flat_map(|copy| Dma::frames(copy.src, copy.dst)).collect();
        while self.pinned.len() > self.settings.pinned_pages {
            let free = self.pinned.iter().position(|frame| !needed.contains(frame));
            self.pinned.remove(free.expect("the copy has places for its pages"));
            unpinned += 1;
        }
        (pinned, unpinned)
    }
}

impl ReferenceMachine {
    fn dma(&mut self) -> &mut Dma {
        self.dma.as_mut().expect("it has copies")
    }

    /// Whether a piece is copied by the DMA engine.
    pub fn is_by_dma(&self, piece: &Piece) -> bool {
        self.dma.is_some() && piece.src.is_some() && piece.bytes >= self.settings.kernel.copier_min_bytes.unwrap_or(0)
    }

    /// Whether a core has begun copies whose end it has not seen.
    pub fn has_begun_copies(&self, at: usize) -> bool {
        self.dma.as_ref().is_some_and(|dma| dma.unseen[at] > 0)
    }

    /// Whether an interrupt has found a core at other work, which has not taken it.
    pub fn has_interrupt(&self, at: usize) -> bool {
        self.dma.as_ref().is_some_and(|dma| dma.interrupts[at] > 0)
    }

    /// A core takes an interrupt.
    pub fn take_interrupt(&mut self, at: usize) {
        self.dma().interrupts[at] -= 1;
        self.cores[at].push_front([Work::Dma(DmaWork::Interrupt)]);
    }

    /// Begins the set-up of a copy, whose pages have frames.
    pub fn set_up(&mut self, at: usize, now: u64, src: Range, dst: Range, end: Option<DmaWork>) -> Result<(), Stall> {
        let dma = self.dma();
        if !dma.has_place(at, src, dst) {
            if dma.without_doorbell[at].is_empty() {
                return Err(Stall::ControllerCopy);
            }
            self.cores[at].push_front([Work::Dma(DmaWork::Doorbell)]);
            return Ok(());
        }
        let settings = dma.settings;
        let channel = dma.channel_of(at);
        let slot = dma.channels[channel].next;
        dma.channels[channel].next = (slot + 1) % settings.ring;
        let copy = Descriptor { core: at, number: dma.descriptors, src, dst, slot, is_last: false };
        dma.descriptors += 1;
        dma.live.push(copy);
        let (pinned, unpinned) = dma.pin(copy);
        let set_up =
            if dma.without_doorbell[at].is_empty() { settings.setup_cycles } else { settings.descriptor_cycles };
        dma.without_doorbell[at].push(copy);
        dma.unseen[at] += 1;
        let address = element(&dma.channels[channel].ring, slot);
        let cycles = set_up + pinned * settings.pin_cycles + unpinned * settings.unpin_cycles;
        let own = self.cache_of(at);
        for line in self.lines(address, DESCRIPTOR_BYTES) {
            self.drop_elsewhere(own, line);
        }
        let core = &mut self.cores[at];
        core.counters.dma.descriptors += 1;
        core.counters.dma.pinned_pages += pinned;
        core.counters.dma.unpinned_pages += unpinned;
        core.counters.coherence.copies += 1;
        core.busy = (now + cycles, Stall::Kernel);
        core.work.pop_front();
        let stores = (0..DESCRIPTOR_BYTES / 8)
            .map(|word| Work::Store(Address::Physical(address + 8 * word), 8, Purpose::KernelData));
        core.push_front(stores.chain(end.map(Work::Dma)).collect::<Vec<_>>());
        Ok(())
    }

    /// Executes a step for the engine; returns whether it dispatched an instruction.
    pub fn execute_dma(&mut self, at: usize, slot: u64, work: DmaWork) -> Result<bool, Stall> {
        let now = slot / self.settings.core.width;
        let settings = self.dma().settings;
        match work {
            DmaWork::DoorbellIfDue => {
                self.cores[at].work.pop_front();
                if self.dma().without_doorbell[at].len() >= settings.doorbell_descriptors {
                    self.cores[at].push_front([Work::Dma(DmaWork::Doorbell)]);
                }
                Ok(false)
            }
            DmaWork::Doorbell => {
                self.wait_until_drained(at, now)?;
                let core = &mut self.cores[at];
                core.counters.dma.doorbells += 1;
                core.busy = (now + settings.doorbell_cycles, Stall::Kernel);
                core.work.pop_front();
                let dma = self.dma();
                let mut copies = std::mem::take(&mut dma.without_doorbell[at]);
                copies.last_mut().expect("it has written descriptors").is_last = true;
                dma.ringing.push((at, copies.clone()));
                for copy in copies {
                    let descriptor = element(&self.dma().channels[copy.core % settings.channels].ring, copy.slot);
                    for range in [copy.src, copy.dst, Range { from: descriptor, bytes: DESCRIPTOR_BYTES }] {
                        self.lines(range.from, range.bytes).for_each(|line| self.empty_entries(now, line));
                    }
                }
                let leaves = now + settings.doorbell_cycles.max(self.settings.last_level.latency);
                self.post(now, leaves, Message::Doorbell { core: at });
                Ok(false)
            }
            DmaWork::Issue => {
                self.cores[at].work.pop_front();
                if !self.dma().without_doorbell[at].is_empty() {
                    self.cores[at].push_front([Work::Dma(DmaWork::Doorbell)]);
                }
                Ok(false)
            }
            DmaWork::Wait => {
                let dma = self.dma();
                if dma.awaits_interrupt[at] {
                    return Err(Stall::ControllerCopy);
                }
                let has_ended = !dma.live.iter().any(|copy| copy.core == at);
                if settings.completion == DmaCompletion::Interrupt && dma.unseen[at] > 0 && self.is_in_progress(at) {
                    return Err(Stall::Kernel);
                }
                let dma = self.dma();
                if dma.unseen[at] == 0 || settings.completion == DmaCompletion::Interrupt && has_ended {
                    dma.unseen[at] = 0;
                    self.cores[at].work.pop_front();
                } else if !dma.without_doorbell[at].is_empty() {
                    self.cores[at].push_front([Work::Dma(DmaWork::Doorbell)]);
                } else if settings.completion == DmaCompletion::Polling {
                    self.cores[at].push_front([Work::Dma(DmaWork::Load)]);
                } else {
                    self.dma().awaits_interrupt[at] = true;
                    return Err(Stall::ControllerCopy);
                }
                Ok(false)
            }
            DmaWork::Interrupt => {
                let core = &mut self.cores[at];
                core.counters.dma.interrupts += 1;
                core.busy = (now + settings.interrupt_cycles, Stall::Kernel);
                core.work.pop_front();
                Ok(false)
            }
            DmaWork::Load => {
                if self.is_in_progress(at) {
                    return Err(Stall::Kernel);
                }
                let has_ended = !self.dma().live.iter().any(|copy| copy.core == at);
                let status = Address::Physical(element(&self.dma().status, at));
                // It takes the place of this work.
                self.kernel_or_plain(at, slot, status, 8, Purpose::KernelData, Kind::Load)?;
                let core = &mut self.cores[at];
                core.counters.dma.polls += 1;
                core.push_front([Work::Dma(DmaWork::Loaded { has_ended })]);
                Ok(true)
            }
            DmaWork::Loaded { has_ended } => {
                let mut waiting = self.cores[at].window.iter().filter(|entry| entry.retired.is_none());
                if let Some(load) = waiting.next_back() {
                    let has_data = matches!(load.data, Data::At(_));
                    return Err(if has_data && !has_ended { Stall::ControllerCopy } else { Stall::Kernel });
                }
                self.cores[at].work.pop_front();
                if has_ended {
                    self.dma().unseen[at] = 0;
                    return Ok(false);
                }
                if settings.completion == DmaCompletion::Polling {
                    self.cores[at].busy = (now + 1 + settings.poll_cycles, Stall::ControllerCopy);
                }
                Ok(false)
            }
        }
    }

    /// Caches other than one lose a line without a count.
    fn drop_elsewhere(&mut self, own: usize, line: u64) {
        self.drop_prefetches(line, Some(own));
        for other in (0..self.caches.len()).filter(|other| *other != own) {
            self.caches[other].remove(line);
            self.leave_l1s(other, line);
        }
    }

    /// Whether a core awaits data, or the end of a store.
    fn is_in_progress(&self, at: usize) -> bool {
        let core = &self.cores[at];
        core.window.iter().any(|entry| !matches!(entry.data, Data::At(_))) || !core.store_buffer.is_empty()
    }
}
