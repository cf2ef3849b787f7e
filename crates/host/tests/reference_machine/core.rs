//! A core: instructions in the window, lines in flight, stores in the buffer, and the work to come.

use std::collections::{BTreeMap, VecDeque};

use host::machine::{CoreCounters, CoreSettings, MachineSettings, PrefetchCounts, Purpose};
use trace_io::program::{InstructionClass, InstructionKind, Needs, Step};

use crate::deferred::Deferred;
use crate::dma::DmaWork;
use crate::engine::Copy;
use crate::levels::Levels;
use crate::pipeline::Wants;
use crate::prefetch::Prefetcher;
use crate::write_buffer::Entry;

/// The slot in which the data of an instruction are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    At(u64),
    /// With a line in flight.
    Line(u64),
    /// When a deferred access has taken place.
    Deferred(u64),
    /// When a message about a copy arrives.
    Copy(u64),
    /// When its operands are there.
    Operands,
}

/// An entry of the window.
#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    pub dispatched: u64,
    /// Its result.
    pub data: Data,
    pub retired: Option<u64>,
    /// None of the instruction of a copy.
    pub wants: Option<Wants>,
    /// The slot in which it begins, once a unit is chosen.
    pub begin: Option<u64>,
    /// Its number among the instructions of the program.
    pub number: Option<u64>,
    /// Whether it has an entry of the load/store queue.
    pub is_queued: bool,
}

/// An entry of the store buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferedStore {
    /// Waits for a line in flight.
    Line(u64),
    /// A write of a line that the controller has not accepted: of a non-temporal store, or of the victim of a store of
    /// a whole line.
    Write(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    Virtual(u64),
    Physical(u64),
}

impl Address {
    pub fn plus(self, bytes: u64) -> Address {
        match self {
            Address::Virtual(at) => Address::Virtual(at + bytes),
            Address::Physical(at) => Address::Physical(at + bytes),
        }
    }

    pub fn value(self) -> u64 {
        let (Address::Virtual(at) | Address::Physical(at)) = self;
        at
    }
}

/// A part of a copy or, without a source, of a zeroing, within a page of each range.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    pub dst: Address,
    pub src: Option<Address>,
    pub bytes: u64,
}

impl Piece {
    pub fn purpose(&self) -> Purpose {
        if self.src.is_some() { Purpose::KernelCopy } else { Purpose::KernelZero }
    }
}

/// Work of a core, in program order.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    Compute(u64, Purpose),
    /// An instruction of a class or with operands.
    Instruction(InstructionKind, Needs),
    Load(Address, Purpose),
    /// With the number of its bytes, of which those in the first line count.
    Store(Address, u64, Purpose),
    /// A store of a whole line that reads nothing.
    StoreLine(Address, Purpose),
    /// A store of a whole line that bypasses the cache.
    Bypass(Address, Purpose),
    Piece(Piece),
    /// A piece of a copy for whose end the core does not wait, and whether it is the last one.
    Begin(Piece, bool),
    /// A switch to a process.
    Run(u32),
    /// A step for the DMA engine.
    Dma(DmaWork),
    /// Gives the network adapter a buffer: header and payload.
    Post(u64, u64),
    /// Waits for packets.
    Await,
    /// Sends a packet: port, address and bytes.
    Send(usize, u64, u64),
    /// Time of the kernel.
    Time(u64),
    Fork(u32),
    /// An `unmap` or a `discard`: address, bytes, and whether it unmaps.
    Release(u64, u64, bool),
    /// A `move`: both addresses, and bytes.
    Move(u64, u64, u64),
    Exit,
    /// Inserts clean zero lines.
    InsertZeros {
        first: u64,
        lines: u64,
    },
}

/// Why a core dispatches nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stall {
    Window,
    Mshr,
    StoreBuffer,
    Kernel,
    Coherence,
    ControllerCopy,
    PendingCopy,
    LoadStoreQueue,
    Idle,
    Operand,
    Unit,
    /// The program has ended, or waits without a cause that is counted.
    Uncounted,
}

pub struct Core {
    pub settings: CoreSettings,
    /// Instructions of the program that have dispatched, and the first one whose result may not be there.
    pub numbered: u64,
    pub operands_from: u64,
    /// Occupied units of a class in a cycle.
    pub occupied: BTreeMap<(InstructionClass, u64), u64>,
    /// The cycle in which an instruction has dispatched alone.
    pub alone: Option<u64>,
    pub steps: VecDeque<Step>,
    pub work: VecDeque<Work>,
    /// Oldest first.
    pub window: VecDeque<Instruction>,
    /// Lines requested from memory.
    pub mshrs: Vec<u64>,
    pub store_buffer: Vec<BufferedStore>,
    /// Result of the last load of an in-order core.
    pub blocking_load: Data,
    /// Whether misses of its program take no place in the caches.
    pub is_uncached: bool,
    /// Its L1 and L2.
    pub levels: Levels,
    /// Its write buffer, oldest entry first, and the number of the next entry.
    pub write_buffer: Vec<Entry>,
    /// The prefetchers of the L1, the L2 and the last level.
    pub prefetchers: [Prefetcher; 3],
    pub entries: u64,
    /// Nothing is dispatched before this cycle, for this reason.
    pub busy: (u64, Stall),
    /// Whether a copy or a zeroing by the controller is in progress.
    pub waits_for_copy: bool,
    /// Lines copied in the cache by that copy.
    pub copied: Vec<u64>,
    /// Deferred accesses, oldest first, and the number of the next one.
    pub deferred: Vec<Deferred>,
    pub deferrals: u64,
    /// Copies that are not complete.
    pub pending: Vec<Copy>,
    /// Pages whose translations its copy control unit has, least recently used first.
    translations: Vec<u64>,
    /// Cycle in which its last copy leaves.
    pub last_command: u64,
    /// Slots since the last dispatch in which the window was full.
    pub window_slots: u64,
    pub counters: CoreCounters,
    pub ended: Option<u64>,
}

impl Core {
    pub fn new(steps: Vec<Step>, settings: &MachineSettings, is_uncached: bool) -> Core {
        Core {
            settings: settings.core,
            numbered: 0,
            operands_from: 0,
            occupied: BTreeMap::new(),
            alone: None,
            steps: steps.into(),
            work: VecDeque::new(),
            window: VecDeque::new(),
            mshrs: Vec::new(),
            store_buffer: Vec::new(),
            blocking_load: Data::At(0),
            is_uncached,
            levels: Levels::new(settings, is_uncached),
            write_buffer: Vec::new(),
            prefetchers: Default::default(),
            entries: 0,
            busy: (0, Stall::Uncounted),
            waits_for_copy: false,
            copied: Vec::new(),
            deferred: Vec::new(),
            deferrals: 0,
            pending: Vec::new(),
            translations: Vec::new(),
            last_command: 0,
            window_slots: 0,
            counters: CoreCounters::default(),
            ended: None,
        }
    }

    /// Frees entries of instructions that retired at least a cycle ago, and retires the next one.
    pub fn retire(&mut self, slot: u64, width: u64) {
        self.window.retain(|entry| entry.retired.is_none_or(|at| at + width > slot));
        let next = self.window.iter_mut().find(|entry| entry.retired.is_none());
        if let Some(entry) = next
            && matches!(entry.data, Data::At(at) if at.max(entry.dispatched + width) <= slot)
        {
            entry.retired = Some(slot);
        }
    }

    /// Whether all earlier instructions have retired in earlier cycles.
    pub fn has_retired(&self, cycle: u64, width: u64) -> bool {
        self.window.iter().all(|entry| entry.retired.is_some_and(|at| at / width < cycle))
    }

    /// Records that a line arrived.
    pub fn arrive(&mut self, line: u64, slot: u64) {
        self.mshrs.retain(|other| *other != line);
        self.store_buffer.retain(|entry| *entry != BufferedStore::Line(line));
        self.receive(Data::Line(line), slot);
    }

    /// Records that what instructions waited for is there.
    pub fn receive(&mut self, awaited: Data, slot: u64) {
        for entry in self.window.iter_mut().filter(|entry| entry.data == awaited) {
            let latency = entry.wants.map_or(0, |wants| self.settings.classes.of(wants.class).latency);
            entry.data = Data::At(slot + latency * self.settings.width);
            // The last load of an in-order core.
            if self.blocking_load == awaited {
                self.blocking_load = entry.data;
            }
        }
        self.choose_units();
    }

    /// Lines in flight, and lines of stores in the store buffer.
    pub fn lines_on_the_way(&self) -> impl Iterator<Item = u64> {
        // Non-temporal stores leave before the copy.
        let buffered = self.store_buffer.iter().filter_map(|entry| match entry {
            BufferedStore::Line(line) => Some(*line),
            BufferedStore::Write(_) => None,
        });
        let deferred = self.deferred.iter().map(|deferred| deferred.access.line);
        self.mshrs.iter().copied().chain(buffered).chain(deferred)
    }

    /// Translates an address of a page for a copy; returns whether the translation is missing.
    pub fn misses_translation(&mut self, page: u64, entries: usize) -> bool {
        let found = self.translations.iter().position(|other| *other == page);
        if let Some(at) = found {
            self.translations.remove(at);
        } else if self.translations.len() == entries {
            self.translations.remove(0);
        }
        self.translations.push(page);
        found.is_none()
    }

    /// Counts an instruction of the program or of the kernel.
    pub fn count(&mut self, purpose: Purpose) {
        match purpose {
            Purpose::Program => self.counters.instructions += 1,
            _ => self.counters.kernel_instructions += 1,
        }
    }

    /// Whether the program has ended, and the lines of its stores are there.
    pub fn is_over(&self) -> bool {
        let waits_for_line = self.store_buffer.iter().any(|entry| matches!(entry, BufferedStore::Line(_)));
        self.ended.is_some() && !waits_for_line
    }

    /// Counts an event of a prefetch, until the program has ended.
    pub fn count_prefetch(&mut self, count: fn(&mut PrefetchCounts) -> &mut u64) {
        if !self.is_over() {
            *count(&mut self.counters.prefetches) += 1;
        }
    }

    /// Counts a slot without instruction. Slots in which the window is full count for what the
    /// instruction lacks afterwards, if anything.
    pub fn stall(&mut self, cause: Stall) {
        let stalls = &mut self.counters.stalls;
        let counter = match cause {
            Stall::Window => {
                self.window_slots += 1;
                return;
            }
            Stall::Uncounted => return,
            Stall::Operand => {
                stalls.operand += 1;
                return;
            }
            Stall::Unit => {
                stalls.unit += 1;
                return;
            }
            Stall::LoadStoreQueue => &mut stalls.load_store_queue,
            Stall::Mshr => &mut stalls.mshr,
            Stall::StoreBuffer => &mut stalls.store_buffer,
            Stall::Kernel => &mut stalls.kernel,
            Stall::Coherence => &mut stalls.coherence,
            Stall::ControllerCopy => &mut stalls.controller_copy,
            Stall::PendingCopy => &mut stalls.pending_copy,
            Stall::Idle => &mut stalls.idle,
        };
        *counter += 1 + std::mem::take(&mut self.window_slots);
    }

    /// Puts work before all other.
    pub fn push_front(&mut self, work: impl IntoIterator<Item = Work, IntoIter: DoubleEndedIterator>) {
        work.into_iter().rev().for_each(|item| self.work.push_front(item));
    }
}
