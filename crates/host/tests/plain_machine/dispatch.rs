//! Dispatch: steps of the program become work, and work becomes instructions in the window.

use std::collections::VecDeque;

use host::machine::{Copier, Order, Purpose};
use os_alloc_sim::MemoryOperation;
use trace_io::program::Step;

use crate::bulk::Range;
use crate::cache::Line;
use crate::core::{Address, BufferedStore, Data, Instruction, Piece, Stall, Work};
use crate::machine::{LINE, PlainMachine};
use crate::processes::PAGE;

/// Kind of an access to the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Load,
    Store,
    /// A store of a whole line that reads nothing.
    StoreLine,
    /// A store of a whole line that bypasses the cache.
    Bypass,
}

impl PlainMachine {
    /// Dispatches an instruction, after events that take no time.
    pub fn dispatch(&mut self, at: usize, slot: u64) -> Result<(), Stall> {
        let now = slot / self.settings.core.width;
        loop {
            let core = &mut self.cores[at];
            let (until, cause) = core.busy;
            if now < until {
                return Err(cause);
            }
            if core.waits_for_copy {
                return Err(Stall::ControllerCopy);
            }
            let is_there = matches!(core.blocking_load, Data::At(there) if there <= slot);
            if self.settings.core.order == Order::InOrder && !is_there {
                return Err(Stall::Uncounted);
            }
            let Some(&work) = core.work.front() else {
                let Some(&step) = core.steps.front() else { return self.end(at, now) };
                if matches!(step, Step::Filled { .. } | Step::Run { .. }) {
                    self.wait_until_drained(at, now)?;
                }
                self.cores[at].steps.pop_front();
                self.begin(at, now, step);
                continue;
            };
            if self.execute(at, slot, work)? {
                return Ok(());
            }
        }
    }

    /// Ends a program when its last instruction has retired, and its last copy is complete.
    fn end(&mut self, at: usize, now: u64) -> Result<(), Stall> {
        let core = &mut self.cores[at];
        if core.has_retired(now, self.settings.core.width) && core.pending.is_empty() {
            core.ended = Some(now);
        }
        Err(Stall::Uncounted)
    }

    /// Turns a step into work, or executes it if it takes no time.
    fn begin(&mut self, at: usize, now: u64, step: Step) {
        let program = Purpose::Program;
        let unit = self.processes.unit_bytes();
        let core = &mut self.cores[at];
        match step {
            Step::Compute { instructions } => core.work.push_back(Work::Compute(instructions, program)),
            Step::Load { address } => core.work.push_back(Work::Load(Address::Virtual(address.0), program)),
            Step::Store { address } => core.work.push_back(Work::Store(Address::Virtual(address.0), program)),
            Step::Copy { dst, src, bytes } => {
                core.count(program);
                core.work.extend(pieces(Address::Virtual(dst.0), Some(Address::Virtual(src.0)), bytes, unit));
            }
            Step::Zero { address, bytes } => {
                core.count(program);
                core.work.extend(pieces(Address::Virtual(address.0), None, bytes, unit));
            }
            Step::Map { address, bytes } => self.processes.map(at, address.0, bytes),
            Step::Filled { address, bytes } => self.fill(at, address.0, bytes),
            Step::Present { address, bytes } => self.give_frames(at, now, address.0, bytes),
            Step::Fork { child } => core.work.push_back(Work::Fork(child)),
            Step::Run { process } => self.processes.run(at, process),
            Step::Exit => core.work.push_back(Work::Exit),
            Step::Device(_) => unreachable!("no test has a device"),
            Step::Renew { .. } => unreachable!("memory traces need this step, and no test has one"),
            Step::Instruction { .. } => unreachable!("no test has classes or operands"),
        }
    }

    /// Executes work; returns whether it dispatched an instruction.
    fn execute(&mut self, at: usize, slot: u64, work: Work) -> Result<bool, Stall> {
        let now = slot / self.settings.core.width;
        match work {
            Work::Compute(left, purpose) => {
                self.enter(at, slot, Data::At(slot), purpose)?;
                let core = &mut self.cores[at];
                core.work.pop_front();
                if left > 1 {
                    core.work.push_front(Work::Compute(left - 1, purpose));
                }
                Ok(true)
            }
            Work::Load(address, purpose) => self.load_or_store(at, slot, address, purpose, Kind::Load),
            Work::Store(address, purpose) => self.load_or_store(at, slot, address, purpose, Kind::Store),
            Work::StoreLine(address, purpose) => self.load_or_store(at, slot, address, purpose, Kind::StoreLine),
            Work::Bypass(address, purpose) => self.load_or_store(at, slot, address, purpose, Kind::Bypass),
            Work::Piece(piece) => self.begin_piece(at, slot, piece),
            Work::Fork(child) => {
                self.wait_until_drained(at, now)?;
                self.wait_for_copies(at)?;
                self.cores[at].work.pop_front();
                let pages = self.processes.fork(at, child);
                self.use_kernel_data(at, now, pages, self.settings.kernel.page_table_cycles);
                Ok(false)
            }
            Work::Exit => {
                self.wait_until_drained(at, now)?;
                self.wait_for_copies(at)?;
                self.cores[at].work.pop_front();
                let pages = self.processes.exit(at);
                self.use_kernel_data(at, now, pages, self.settings.kernel.page_table_cycles);
                Ok(false)
            }
            Work::Time(cycles) => {
                if cycles > 0 {
                    self.check_window(at)?;
                }
                let core = &mut self.cores[at];
                core.work.pop_front();
                core.busy = (now + cycles, Stall::Kernel);
                Ok(false)
            }
            Work::InsertZeros { first, lines } => {
                self.cores[at].work.pop_front();
                self.insert_zeros(at, now, first, lines);
                Ok(false)
            }
        }
    }

    pub fn wait_until_drained(&self, at: usize, now: u64) -> Result<(), Stall> {
        let core = &self.cores[at];
        let is_drained = core.has_retired(now, self.settings.core.width) && core.store_buffer.is_empty();
        if is_drained { Ok(()) } else { Err(Stall::Kernel) }
    }

    /// Waits until the copies of a core are complete.
    fn wait_for_copies(&self, at: usize) -> Result<(), Stall> {
        if self.cores[at].pending.is_empty() { Ok(()) } else { Err(Stall::Kernel) }
    }

    fn check_window(&self, at: usize) -> Result<(), Stall> {
        let is_full = self.cores[at].window.len() as u64 == self.settings.core.window;
        if is_full { Err(Stall::Window) } else { Ok(()) }
    }

    pub fn enter(&mut self, at: usize, slot: u64, data: Data, purpose: Purpose) -> Result<(), Stall> {
        self.check_window(at)?;
        let core = &mut self.cores[at];
        core.counters.stalls.window += std::mem::take(&mut core.window_slots);
        core.window.push_back(Instruction { dispatched: slot, data, retired: None });
        core.count(purpose);
        Ok(())
    }

    /// The physical address of an access; without one, the fault begins once the core has drained.
    pub fn physical(&mut self, at: usize, now: u64, address: Address, is_store: bool) -> Result<Option<u64>, Stall> {
        let address = match address {
            Address::Physical(address) => return Ok(Some(address)),
            Address::Virtual(address) => address,
        };
        if let Some(physical) = self.processes.translate(at, address, is_store) {
            return Ok(Some(physical));
        }
        self.wait_until_drained(at, now)?;
        if let Some(frame) = self.processes.frame(at, address) {
            let unit = self.processes.unit_bytes();
            let frames = Range { from: frame / unit * unit, bytes: unit };
            if self.cores[at].pending.iter().any(|copy| frames.lines().any(|line| copy.touches(line))) {
                return Err(Stall::Kernel);
            }
        }
        let (operation, data) = self.processes.fault(at, address, is_store);
        let core = &mut self.cores[at];
        core.counters.faults += 1;
        core.push_front([of_kernel(operation)]);
        self.use_kernel_data(at, now, vec![data], self.settings.kernel.fault_cycles);
        Ok(None)
    }

    fn load_or_store(
        &mut self,
        at: usize,
        slot: u64,
        address: Address,
        purpose: Purpose,
        kind: Kind,
    ) -> Result<bool, Stall> {
        let now = slot / self.settings.core.width;
        let is_store = kind != Kind::Load;
        let Some(physical) = self.physical(at, now, address, is_store)? else { return Ok(false) };
        self.check_window(at)?;
        let line = physical / LINE;
        let data = if self.must_defer(at, line) {
            if self.settings.core.order == Order::InOrder {
                return Err(Stall::PendingCopy);
            }
            self.defer(at, line, purpose, kind)
        } else {
            self.access(at, slot, line, purpose, kind)?
        };
        self.enter(at, slot, data, purpose)?;
        let core = &mut self.cores[at];
        core.work.pop_front();
        if !is_store {
            core.blocking_load = data;
        }
        Ok(true)
    }

    /// Accesses a line in the caches; returns when the data of a load are there.
    pub fn access(&mut self, at: usize, slot: u64, line: u64, purpose: Purpose, kind: Kind) -> Result<Data, Stall> {
        if kind == Kind::Bypass {
            return self.store_around_the_cache(at, slot, line, purpose);
        }
        let is_store = kind != Kind::Load;
        let (shared, width) = (self.cache_of(at), self.settings.core.width);
        let (cache, core) = (&mut self.caches[shared], &mut self.cores[at]);
        let is_buffer_full = is_store && core.store_buffer.len() == self.settings.core.store_buffer;
        let found = cache.get(line).map(|found| found.is_in_flight);
        if found.is_none() && core.is_uncached && purpose == Purpose::Program {
            return self.access_past_the_cache(at, slot, line, kind);
        }
        if found.is_none() && kind == Kind::StoreLine {
            return self.allocate(at, slot, line, purpose);
        }
        if found.is_none() && core.mshrs.len() == self.settings.core.mshrs {
            return Err(Stall::Mshr);
        }
        if found != Some(false) && is_buffer_full {
            return Err(Stall::StoreBuffer);
        }
        if found.is_none() && !cache.has_place(line) {
            return Err(Stall::Mshr);
        }
        let in_l1 = core.l1.as_mut().is_some_and(|l1| l1.get(line).is_some());
        let of_load = match found {
            Some(false) => {
                core.counters.of(purpose).hits += 1;
                core.counters.of(purpose).l1_hits += u64::from(in_l1);
                Data::At(slot + width * core.l1.as_ref().filter(|_| in_l1).map_or(cache.latency, |l1| l1.latency))
            }
            Some(true) => {
                core.counters.of(purpose).merged += 1;
                Data::Line(line)
            }
            None => {
                core.counters.of(purpose).misses += 1;
                core.mshrs.push(line);
                let leaves = slot / width + cache.latency;
                self.insert(at, leaves, Line { number: line, is_in_flight: true, dirty: None });
                self.read(at, leaves, line);
                Data::Line(line)
            }
        };
        let (cache, core) = (&mut self.caches[shared], &mut self.cores[at]);
        if found != Some(false) || !in_l1 {
            cache.touch(line);
        }
        core.put_in_l1(line);
        if !is_store {
            return Ok(of_load);
        }
        cache.get(line).expect("it was found or inserted").dirty.get_or_insert(purpose);
        if found != Some(false) {
            core.store_buffer.push(BufferedStore::Line(line));
        }
        Ok(Data::At(slot))
    }

    /// Accesses a line of a program that was recorded behind the last-level cache.
    fn access_past_the_cache(&mut self, at: usize, slot: u64, line: u64, kind: Kind) -> Result<Data, Stall> {
        let leaves = slot / self.settings.core.width + self.settings.last_level.latency;
        let core = &mut self.cores[at];
        let is_in_flight = core.mshrs.contains(&line);
        if kind == Kind::Load {
            if is_in_flight {
                core.counters.of(Purpose::Program).merged += 1;
                return Ok(Data::Line(line));
            }
            if core.mshrs.len() == self.settings.core.mshrs {
                return Err(Stall::Mshr);
            }
            core.counters.of(Purpose::Program).misses += 1;
            core.mshrs.push(line);
            self.read(at, leaves, line);
            return Ok(Data::Line(line));
        }
        if is_in_flight {
            return Err(Stall::Mshr);
        }
        if core.store_buffer.len() == self.settings.core.store_buffer {
            return Err(Stall::StoreBuffer);
        }
        core.counters.of(Purpose::Program).non_temporal += 1;
        self.bypass(at, leaves, line);
        Ok(Data::At(slot))
    }

    /// Gives a stored line a place, without a request.
    fn allocate(&mut self, at: usize, slot: u64, line: u64, purpose: Purpose) -> Result<Data, Stall> {
        let shared = self.cache_of(at);
        if !self.caches[shared].has_place(line) {
            return Err(Stall::Mshr);
        }
        let leaves = slot / self.settings.core.width + self.caches[shared].latency;
        self.insert(at, leaves, Line { number: line, is_in_flight: false, dirty: Some(purpose) });
        let core = &mut self.cores[at];
        core.put_in_l1(line);
        core.counters.of(purpose).allocated += 1;
        Ok(Data::At(slot))
    }

    /// Inserts a line in the last-level cache; a dirty victim is written back.
    pub fn insert(&mut self, at: usize, leaves: u64, line: Line) {
        let shared = self.cache_of(at);
        let Some(victim) = self.caches[shared].insert(line) else { return };
        self.leave_l1s(shared, victim.number);
        if let Some(purpose) = victim.dirty {
            self.cores[at].counters.of(purpose).write_backs += 1;
            self.write(at, leaves, victim.number);
        }
    }

    /// Removes a line from the L1s above a last-level cache.
    pub fn leave_l1s(&mut self, shared: usize, line: u64) {
        for core in 0..self.cores.len() {
            if self.cache_of(core) == shared
                && let Some(l1) = &mut self.cores[core].l1
            {
                l1.remove(line);
            }
        }
    }

    fn store_around_the_cache(&mut self, at: usize, slot: u64, line: u64, purpose: Purpose) -> Result<Data, Stall> {
        let now = slot / self.settings.core.width;
        let shared = self.cache_of(at);
        if self.caches[shared].get(line).is_some_and(|line| line.is_in_flight) {
            return Err(Stall::Mshr);
        }
        if self.cores[at].store_buffer.len() == self.settings.core.store_buffer {
            return Err(Stall::StoreBuffer);
        }
        if self.caches[shared].remove(line).is_some() {
            self.leave_l1s(shared, line);
            self.cores[at].counters.coherence.invalidated += 1;
        }
        self.cores[at].counters.of(purpose).non_temporal += 1;
        let latency = self.caches[shared].latency;
        self.bypass(at, now + latency, line);
        Ok(Data::At(slot))
    }

    /// The loop or the controller that copies or zeroes.
    pub fn copier(&self) -> Copier {
        self.settings.kernel.copier
    }
}

/// The parts of a range in the order of a `memmove`, as offsets and sizes: each lies in one block of
/// the destination and, if `cuts_source`, of the source.
pub fn parts(dst: u64, src: Option<u64>, bytes: u64, block: u64, cuts_source: bool) -> Vec<(u64, u64)> {
    let is_cut = |at: &u64| {
        (dst + at).is_multiple_of(block) || cuts_source && src.is_some_and(|src| (src + at).is_multiple_of(block))
    };
    let mut cuts: Vec<u64> = (1..bytes).filter(is_cut).collect();
    cuts.insert(0, 0);
    cuts.push(bytes);
    let mut left: VecDeque<(u64, u64)> = cuts.windows(2).map(|ends| (ends[0], ends[1] - ends[0])).collect();
    let mut found = Vec::new();
    while let (Some(&(first, _)), Some(&(last, size))) = (left.front(), left.back()) {
        let rest = last + size - first;
        let starts_in_source = src.is_some_and(|src| dst > src && dst < src + rest);
        found.extend(if starts_in_source { left.pop_back() } else { left.pop_front() });
    }
    found
}

/// The pieces of a range: each lies in one copy unit of the destination, and of the source.
fn pieces(dst: Address, src: Option<Address>, bytes: u64, unit: u64) -> Vec<Work> {
    let piece = |(first, bytes)| Piece { dst: dst.plus(first), src: src.map(|src| src.plus(first)), bytes };
    let parts = parts(dst.value(), src.map(Address::value), bytes, unit, true);
    parts.into_iter().map(|part| Work::Piece(piece(part))).collect()
}

/// A copy or a zeroing that a fault requires.
fn of_kernel(operation: MemoryOperation) -> Work {
    let at = |frame: os_alloc_sim::Frame| Address::Physical(frame.address().0);
    let (dst, src, frames) = match operation {
        MemoryOperation::Copy { src, dst, frames, .. } => (at(dst), Some(at(src)), frames),
        MemoryOperation::Zero { dst, frames, .. } => (at(dst), None, frames),
    };
    Work::Piece(Piece { dst, src, bytes: u64::from(frames) * PAGE })
}
