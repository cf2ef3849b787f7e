//! Dispatch: steps of the program become work, and work becomes instructions in the window.

use host::machine::{Copier, Order, Purpose};
use os_alloc_sim::MemoryOperation;
use trace_io::program::Step;

use crate::cache::Line;
use crate::core::{Address, BufferedStore, Data, Instruction, Piece, Stall, Work};
use crate::machine::{LINE, PlainMachine};
use crate::processes::PAGE;

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
                if matches!(step, Step::Map { .. } | Step::Filled { .. } | Step::Run { .. }) {
                    self.wait_until_drained(at, now)?;
                }
                self.cores[at].steps.pop_front();
                self.begin(at, step);
                continue;
            };
            if self.execute(at, slot, work)? {
                return Ok(());
            }
        }
    }

    /// Ends a program when its last instruction has retired.
    fn end(&mut self, at: usize, now: u64) -> Result<(), Stall> {
        let core = &mut self.cores[at];
        if core.has_retired(now, self.settings.core.width) {
            core.ended = Some(now);
        }
        Err(Stall::Uncounted)
    }

    /// Turns a step into work, or executes it if it takes no time.
    fn begin(&mut self, at: usize, step: Step) {
        let program = Purpose::Program;
        let core = &mut self.cores[at];
        match step {
            Step::Compute { instructions } => core.work.push_back(Work::Compute(instructions, program)),
            Step::Load { address } => core.work.push_back(Work::Load(Address::Virtual(address.0), program)),
            Step::Store { address } => core.work.push_back(Work::Store(Address::Virtual(address.0), program)),
            Step::Copy { dst, src, bytes } => {
                core.count(program);
                core.work.extend(pieces(Address::Virtual(dst.0), Some(Address::Virtual(src.0)), bytes));
            }
            Step::Zero { address, bytes } => {
                core.count(program);
                core.work.extend(pieces(Address::Virtual(address.0), None, bytes));
            }
            Step::Map { address, bytes } => self.processes.map(at, address.0, bytes),
            Step::Filled { address, bytes } => self.fill(at, address.0, bytes),
            Step::Fork { child } => core.work.push_back(Work::Fork(child)),
            Step::Run { process } => self.processes.run(at, process),
            Step::Exit => core.work.push_back(Work::Exit),
            Step::Present { .. } | Step::Renew { .. } => {
                unreachable!("memory traces need these steps, and no test has one")
            }
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
            Work::Load(address, purpose) => self.load_or_store(at, slot, address, purpose, false),
            Work::Store(address, purpose) => self.load_or_store(at, slot, address, purpose, true),
            Work::Bypass(address, purpose) => self.store_around_the_cache(at, slot, address, purpose),
            Work::Piece(piece) => self.begin_piece(at, now, piece).map(|()| false),
            Work::Fork(child) => {
                self.wait_until_drained(at, now)?;
                let pages = self.processes.fork(at, child);
                self.take_kernel_time(at, now, pages);
                Ok(false)
            }
            Work::Exit => {
                self.wait_until_drained(at, now)?;
                let pages = self.processes.exit(at);
                self.take_kernel_time(at, now, pages);
                Ok(false)
            }
            Work::InsertZeros { first, lines } => {
                self.cores[at].work.pop_front();
                self.insert_zeros(at, now, first, lines);
                Ok(false)
            }
        }
    }

    fn take_kernel_time(&mut self, at: usize, now: u64, pages: u64) {
        let cycles = pages * self.settings.kernel.page_table_cycles;
        let core = &mut self.cores[at];
        core.work.pop_front();
        core.busy = (now + cycles, Stall::Kernel);
    }

    pub fn wait_until_drained(&self, at: usize, now: u64) -> Result<(), Stall> {
        let core = &self.cores[at];
        let is_drained = core.has_retired(now, self.settings.core.width) && core.store_buffer.is_empty();
        if is_drained { Ok(()) } else { Err(Stall::Kernel) }
    }

    fn check_window(&self, at: usize) -> Result<(), Stall> {
        let is_full = self.cores[at].window.len() as u64 == self.settings.core.window;
        if is_full { Err(Stall::Window) } else { Ok(()) }
    }

    fn enter(&mut self, at: usize, slot: u64, data: Data, purpose: Purpose) -> Result<(), Stall> {
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
        let operations = self.processes.fault(at, address, is_store);
        let core = &mut self.cores[at];
        core.counters.faults += 1;
        core.busy = (now + self.settings.kernel.fault_cycles, Stall::Kernel);
        let work: Vec<Work> = operations.into_iter().flat_map(of_kernel).collect();
        core.push_front(work);
        Ok(None)
    }

    fn load_or_store(
        &mut self,
        at: usize,
        slot: u64,
        address: Address,
        purpose: Purpose,
        is_store: bool,
    ) -> Result<bool, Stall> {
        let now = slot / self.settings.core.width;
        let Some(physical) = self.physical(at, now, address, is_store)? else { return Ok(false) };
        self.check_window(at)?;
        let data = self.access(at, slot, physical / LINE, purpose, is_store)?;
        self.enter(at, slot, data, purpose)?;
        let core = &mut self.cores[at];
        core.work.pop_front();
        if !is_store {
            core.blocking_load = data;
        }
        Ok(true)
    }

    /// Accesses a line in the caches; returns when the data of a load are there.
    fn access(&mut self, at: usize, slot: u64, line: u64, purpose: Purpose, is_store: bool) -> Result<Data, Stall> {
        let (shared, width) = (self.cache_of(at), self.settings.core.width);
        let (cache, core) = (&mut self.caches[shared], &mut self.cores[at]);
        let is_buffer_full = is_store && core.store_buffer.len() == self.settings.core.store_buffer;
        let found = cache.get(line).map(|found| found.is_in_flight);
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
        if let Some(l1) = &mut core.l1 {
            if l1.get(line).is_some() {
                l1.touch(line);
            } else {
                l1.insert(Line { number: line, is_in_flight: false, dirty: None });
            }
        }
        if !is_store {
            return Ok(of_load);
        }
        cache.get(line).expect("it was found or inserted").dirty.get_or_insert(purpose);
        if found != Some(false) {
            core.store_buffer.push(BufferedStore::Line(line));
        }
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

    fn store_around_the_cache(
        &mut self,
        at: usize,
        slot: u64,
        address: Address,
        purpose: Purpose,
    ) -> Result<bool, Stall> {
        let now = slot / self.settings.core.width;
        let Some(physical) = self.physical(at, now, address, true)? else { return Ok(false) };
        self.check_window(at)?;
        let (line, shared) = (physical / LINE, self.cache_of(at));
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
        self.enter(at, slot, Data::At(slot), purpose)?;
        self.cores[at].work.pop_front();
        Ok(true)
    }

    /// A range that the program wrote before the run.
    fn fill(&mut self, at: usize, address: u64, bytes: u64) {
        for page in address / PAGE..=(address + bytes - 1) / PAGE {
            if self.processes.translate(at, page * PAGE, true).is_none() {
                self.processes.fault(at, page * PAGE, true);
            }
        }
        // The lines written last, as many as fit in each set, where the cache has empty ways.
        let (shared, dirty) = (self.cache_of(at), Some(Purpose::Program));
        let mut last = Vec::new();
        for line in (address / LINE..=(address + bytes - 1) / LINE).rev() {
            let number = self.processes.translate(at, line * LINE, true).expect("it has a frame") / LINE;
            let cache = &self.caches[shared];
            let in_set = last.iter().filter(|other| cache.set_of(**other) == cache.set_of(number)).count();
            if in_set < self.settings.last_level.ways {
                last.push(number);
            }
        }
        for number in last.into_iter().rev() {
            let cache = &mut self.caches[shared];
            if cache.get(number).is_none() && cache.has_empty_way(number) {
                cache.insert(Line { number, is_in_flight: false, dirty });
            }
        }
    }

    /// The loop or the controller that copies or zeroes.
    pub fn copier(&self) -> Copier {
        self.settings.kernel.copier
    }
}

/// The pieces of a range: each lies in one page of the destination, and of the source.
fn pieces(dst: Address, src: Option<Address>, bytes: u64) -> Vec<Work> {
    let mut found = Vec::new();
    let mut done = 0;
    while done < bytes {
        let (dst, src) = (dst.plus(done), src.map(|src| src.plus(done)));
        let room = |address: Address| PAGE - address.value() % PAGE;
        let bytes = (bytes - done).min(room(dst)).min(src.map_or(PAGE, room));
        found.push(Work::Piece(Piece { dst, src, bytes }));
        done += bytes;
    }
    found
}

/// A copy or a zeroing that a fault requires.
fn of_kernel(operation: MemoryOperation) -> Vec<Work> {
    let at = |frame: os_alloc_sim::Frame| Address::Physical(frame.address().0);
    let (dst, src, frames) = match operation {
        MemoryOperation::Copy { src, dst, frames, .. } => (at(dst), Some(at(src)), frames),
        MemoryOperation::Zero { dst, frames, .. } => (at(dst), None, frames),
    };
    vec![Work::Piece(Piece { dst, src, bytes: u64::from(frames) * PAGE })]
}
