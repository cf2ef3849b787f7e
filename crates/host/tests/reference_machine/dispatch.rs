//! Dispatch: steps of the program become work, and work becomes instructions in the window.

use std::collections::VecDeque;

use host::machine::{Order, PageCopier, Purpose};
use os_alloc_sim::MemoryOperation;
use trace_io::program::{DeviceStep, InstructionClass, InstructionKind, Needs, Step};

use crate::access::{Access, Kind};
use crate::bulk::Range;
use crate::core::{Address, Data, Instruction, Piece, Stall, Work};
use crate::dma::DmaWork;
use crate::machine::ReferenceMachine;
use crate::pipeline::Wants;
use crate::processes::PAGE;

/// Bytes that a load or a store of a program accesses at most.
const WORD: u64 = 8;

impl ReferenceMachine {
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
            let is_there = matches!(self.cores[at].blocking_load, Data::At(there) if there <= slot);
            if self.settings.core.order == Order::InOrder && !is_there {
                return Err(Stall::Uncounted);
            }
            if self.has_interrupt(at) {
                self.check_window(at).map_err(|_| Stall::Kernel)?;
                self.take_interrupt(at);
                continue;
            }
            let Some(work) = self.cores[at].work.front().copied() else {
                let core = &mut self.cores[at];
                let Some(&step) = core.steps.front() else {
                    if self.has_begun_copies(at) {
                        self.cores[at].push_front([Work::Dma(DmaWork::Wait)]);
                        continue;
                    }
                    return self.end(at, now);
                };
                if matches!(step, Step::Filled { .. }) {
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
        let ends_copies = matches!(step, Step::Fork { .. } | Step::Run { .. } | Step::Exit);
        if ends_copies && self.has_begun_copies(at) {
            self.cores[at].work.push_back(Work::Dma(DmaWork::Wait));
        }
        let core = &mut self.cores[at];
        match step {
            Step::Compute { instructions } => core.work.push_back(Work::Compute(instructions, program)),
            Step::Load { address } => core.work.push_back(Work::Load(Address::Virtual(address.0), program)),
            Step::Store { address } => {
                core.work.push_back(Work::Store(Address::Virtual(address.0), WORD, program));
            }
            Step::Copy { dst, src, bytes } => {
                core.count(program);
                core.operands_from = core.numbered;
                core.work.extend(pieces(Address::Virtual(dst.0), Some(Address::Virtual(src.0)), bytes, unit));
            }
            Step::Zero { address, bytes } => {
                core.count(program);
                core.operands_from = core.numbered;
                core.work.extend(pieces(Address::Virtual(address.0), None, bytes, unit));
            }
            Step::Map { address, bytes } => self.processes.map(at, address.0, bytes),
            Step::Filled { address, bytes } => self.fill(at, address.0, bytes),
            Step::Present { address, bytes } => self.give_frames(at, now, address.0, bytes),
            Step::Fork { child } => core.work.push_back(Work::Fork(child)),
            Step::Run { process } => core.work.push_back(Work::Run(process)),
            Step::Exit => core.work.push_back(Work::Exit),
            Step::Share { address, source, bytes } => self.processes.share(at, address.0, source.0, bytes),
            Step::Unmap { address, bytes } => core.work.push_back(Work::Release(address.0, bytes, true)),
            Step::Discard { address, bytes } => core.work.push_back(Work::Release(address.0, bytes, false)),
            Step::Move { from, to, bytes } => core.work.push_back(Work::Move(from.0, to.0, bytes)),
            Step::Device(DeviceStep::Begin { dst, src, bytes }) => {
                core.count(program);
                core.operands_from = core.numbered;
                let pieces = pieces(Address::Virtual(dst.0), Some(Address::Virtual(src.0)), bytes, unit);
                let last = pieces.len() - 1;
                core.work.extend(pieces.into_iter().enumerate().map(|(at, work)| match work {
                    Work::Piece(piece) if self.dma.is_some() => Work::Begin(piece, at == last),
                    other => other,
                }));
            }
            Step::Device(DeviceStep::Issue) => {
                core.work.extend(self.dma.is_some().then_some(Work::Dma(DmaWork::Issue)));
            }
            Step::Device(DeviceStep::Wait) => {
                core.work.extend(self.dma.is_some().then_some(Work::Dma(DmaWork::Wait)));
            }
            Step::Device(DeviceStep::Post { header, payload }) => core.work.push_back(Work::Post(header.0, payload.0)),
            Step::Device(DeviceStep::Await) => core.work.push_back(Work::Await),
            Step::Device(DeviceStep::Send { port, address, bytes }) => {
                core.work.push_back(Work::Send(port as usize, address.0, bytes));
            }
            Step::Renew { .. } => unreachable!("memory traces need this step, and no test has one"),
            Step::Instruction { kind, needs } => core.work.push_back(Work::Instruction(kind, needs)),
        }
    }

    /// Executes work; returns whether it dispatched an instruction.
    fn execute(&mut self, at: usize, slot: u64, work: Work) -> Result<bool, Stall> {
        let now = slot / self.settings.core.width;
        match work {
            Work::Compute(left, purpose) => {
                self.compute(at, slot, purpose, Wants::class(InstructionClass::Integer))?;
                let core = &mut self.cores[at];
                core.work.pop_front();
                if left > 1 {
                    core.work.push_front(Work::Compute(left - 1, purpose));
                }
                Ok(true)
            }
            Work::Instruction(kind, needs) => self.instruction(at, slot, kind, needs),
            Work::Load(address, purpose) => self.kernel_or_plain(at, slot, address, WORD, purpose, Kind::Load),
            Work::Store(address, bytes, purpose) => {
                self.kernel_or_plain(at, slot, address, bytes, purpose, Kind::Store)
            }
            Work::StoreLine(address, purpose) => {
                self.kernel_or_plain(at, slot, address, self.settings.lines.bytes, purpose, Kind::StoreLine)
            }
            Work::Bypass(address, purpose) => {
                self.kernel_or_plain(at, slot, address, self.settings.lines.bytes, purpose, Kind::Bypass)
            }
            Work::Piece(piece) => self.begin_piece(at, slot, piece, Some(DmaWork::Wait)),
            Work::Begin(piece, is_last) => self.begin_piece(at, slot, piece, is_last.then_some(DmaWork::DoorbellIfDue)),
            Work::Dma(work) => self.execute_dma(at, slot, work),
            Work::Fork(child) => {
                self.wait_until_drained(at, now)?;
                self.wait_for_copies(at)?;
                self.cores[at].work.pop_front();
                let pages = self.processes.fork(at, child);
                self.use_kernel_data(at, now, pages, self.settings.kernel.page_table_cycles);
                Ok(false)
            }
            Work::Run(process) => {
                self.wait_until_drained(at, now)?;
                self.cores[at].work.pop_front();
                self.processes.run(at, process);
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
            Work::Release(address, bytes, is_unmapped) => {
                self.wait_until_drained(at, now)?;
                self.wait_for_copies_of(at, address, bytes)?;
                self.cores[at].work.pop_front();
                let pages = self.processes.release(at, address, bytes, is_unmapped);
                self.use_kernel_data(at, now, pages, self.settings.kernel.page_table_cycles);
                Ok(false)
            }
            Work::Move(from, to, bytes) => {
                self.wait_until_drained(at, now)?;
                self.wait_for_copies_of(at, from, bytes)?;
                self.cores[at].work.pop_front();
                let pages = self.processes.move_pages(at, from, to, bytes);
                self.use_kernel_data(at, now, pages, self.settings.kernel.page_table_cycles);
                Ok(false)
            }
            Work::Post(header, payload) => self.post_buffer(at, slot, header, payload),
            Work::Await => self.await_packets(at, slot),
            Work::Send(port, address, bytes) => self.send_packet(at, slot, port, (address, bytes)),
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

    pub fn check_drained(&self, at: usize, now: u64) -> Result<(), Stall> {
        let core = &self.cores[at];
        let is_drained = core.has_retired(now, core.settings.width) && core.store_buffer.is_empty();
        if is_drained { Ok(()) } else { Err(Stall::Kernel) }
    }

    /// Waits for all earlier instructions and stores; the load/store queue is then empty.
    pub fn wait_until_drained(&mut self, at: usize, now: u64) -> Result<(), Stall> {
        self.check_drained(at, now)?;
        let core = &mut self.cores[at];
        core.window.iter_mut().for_each(|entry| entry.is_queued = false);
        Ok(())
    }

    /// Waits until the copies of a core are complete.
    fn wait_for_copies(&self, at: usize) -> Result<(), Stall> {
        if self.cores[at].pending.is_empty() { Ok(()) } else { Err(Stall::Kernel) }
    }

    /// Waits until the copies of a core that read or write frames of a range are complete.
    fn wait_for_copies_of(&mut self, at: usize, address: u64, bytes: u64) -> Result<(), Stall> {
        let frames = self.processes.frames_in(at, address, bytes);
        let mut lines = frames.into_iter().flat_map(|from| Range { from, bytes: PAGE }.lines());
        let pending = &self.cores[at].pending;
        let touches = lines.any(|line| pending.iter().any(|copy| copy.touches(line)));
        if touches { Err(Stall::Kernel) } else { Ok(()) }
    }

    pub fn check_window(&self, at: usize) -> Result<(), Stall> {
        let is_full = self.cores[at].window.len() as u64 == self.settings.core.window;
        if is_full { Err(Stall::Window) } else { Ok(()) }
    }

    /// Enters an instruction without class in the window.
    pub fn enter(&mut self, at: usize, slot: u64, data: Data, purpose: Purpose) -> Result<(), Stall> {
        self.check_window(at)?;
        self.enter_with(at, slot, data, purpose, None, None);
        Ok(())
    }

    /// Enters an instruction in the window that may have begun.
    fn enter_with(
        &mut self,
        at: usize,
        slot: u64,
        data: Data,
        purpose: Purpose,
        wants: Option<Wants>,
        begin: Option<u64>,
    ) {
        let core = &mut self.cores[at];
        core.counters.stalls.window += std::mem::take(&mut core.window_slots);
        let number = (purpose == Purpose::Program).then_some(core.numbered);
        core.numbered += u64::from(number.is_some());
        let is_queued = wants.is_some_and(|wants| wants.class.accesses_memory());
        core.window.push_back(Instruction { dispatched: slot, data, retired: None, wants, begin, number, is_queued });
        core.count(purpose);
        if let Some(wants) = wants {
            if let Some(begin) = begin {
                core.occupy(wants.class, begin);
            }
            if !core.settings.classes.of(wants.class).is_paired {
                core.alone = Some(slot / core.settings.width);
            }
        }
        core.choose_units();
    }

    /// Dispatches an instruction without memory access.
    fn compute(&mut self, at: usize, slot: u64, purpose: Purpose, wants: Wants) -> Result<(), Stall> {
        self.check_window(at)?;
        self.cores[at].check_begin(wants, slot)?;
        self.enter_with(at, slot, Data::Operands, purpose, Some(wants), None);
        Ok(())
    }

    /// Dispatches an instruction of the program with a class or operands.
    fn instruction(&mut self, at: usize, slot: u64, kind: InstructionKind, needs: Needs) -> Result<bool, Stall> {
        let wants = self.cores[at].wants(needs);
        let (address, kind) = match kind {
            InstructionKind::Load { address } => (address, Kind::Load),
            InstructionKind::Store { address } => (address, Kind::Store),
            InstructionKind::Compute { instructions } => {
                self.compute(at, slot, Purpose::Program, wants)?;
                let core = &mut self.cores[at];
                core.work.pop_front();
                if instructions > 1 {
                    let kind = InstructionKind::Compute { instructions: instructions - 1 };
                    core.work.push_front(Work::Instruction(kind, needs));
                }
                return Ok(true);
            }
        };
        self.load_or_store(at, slot, (Address::Virtual(address.0), WORD), Purpose::Program, kind, wants)
    }

    /// Dispatches a load or store of the class of its kind.
    pub fn kernel_or_plain(
        &mut self,
        at: usize,
        slot: u64,
        address: Address,
        bytes: u64,
        purpose: Purpose,
        kind: Kind,
    ) -> Result<bool, Stall> {
        let class = if kind == Kind::Load { InstructionClass::Load } else { InstructionClass::Store };
        self.load_or_store(at, slot, (address, bytes), purpose, kind, Wants::class(class))
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
        if let Some(source) = self.processes.source(at, address) {
            self.wait_for_copies_of(at, source, 1)?;
            self.give_frames(at, now, source, 1);
            self.processes.share_frame(at, address, source);
        }
        let (operation, data) = self.processes.fault(at, address, is_store);
        let core = &mut self.cores[at];
        core.counters.faults += 1;
        core.push_front(operation.map(of_kernel));
        self.use_kernel_data(at, now, vec![data], self.settings.kernel.fault_cycles);
        Ok(None)
    }

    fn load_or_store(
        &mut self,
        at: usize,
        slot: u64,
        (address, bytes): (Address, u64),
        purpose: Purpose,
        kind: Kind,
        wants: Wants,
    ) -> Result<bool, Stall> {
        let now = slot / self.settings.core.width;
        let is_store = kind != Kind::Load;
        let Some(physical) = self.physical(at, now, address, is_store)? else { return Ok(false) };
        self.check_window(at)?;
        let line_bytes = self.settings.lines.bytes;
        let (line, offset) = (physical / line_bytes, physical % line_bytes);
        let access = Access { line, bytes: (offset, bytes.min(line_bytes - offset)), purpose, kind };
        if self.cores[at].is_queue_full() {
            return Err(Stall::LoadStoreQueue);
        }
        self.check_begin(at, slot, access, wants)?;
        let begin = self.cores[at].begin(wants, slot);
        let begins_now = begin.filter(|begin| begin / self.settings.core.width == now);
        let must_defer = self.must_defer(at, line);
        if must_defer && self.settings.core.order == Order::InOrder {
            return Err(Stall::PendingCopy);
        }
        let data = match begins_now {
            Some(begin) if !must_defer => self.access(at, begin, access)?,
            _ => self.defer(at, access),
        };
        let core = &self.cores[at];
        let result = match data {
            Data::Deferred(_) => data,
            _ => core.result(wants.class, !is_store, begin.unwrap_or(slot), data),
        };
        self.enter_with(at, slot, result, purpose, Some(wants), begin);
        let core = &mut self.cores[at];
        core.work.pop_front();
        if !is_store {
            core.blocking_load = result;
        }
        Ok(true)
    }

    /// Why an in-order core cannot begin an access. One that dispatches alone counts a pending copy, and what it lacks
    /// in the caches.
    fn check_begin(&self, at: usize, slot: u64, access: Access, wants: Wants) -> Result<(), Stall> {
        let core = &self.cores[at];
        let Err(cause) = core.check_begin(wants, slot) else { return Ok(()) };
        let is_alone = !core.settings.classes.of(wants.class).is_paired;
        if cause == Stall::Unit && is_alone && core.alone != Some(slot / core.settings.width) {
            let is_first =
                core.window.iter().all(|entry| entry.dispatched / core.settings.width < slot / core.settings.width);
            if is_first && core.with_unit(wants.class, slot) == slot && self.must_defer(at, access.line) {
                return Err(Stall::PendingCopy);
            }
            self.check_access(at, access)?;
        }
        Err(cause)
    }

    /// The loop or the controller that copies or zeroes.
    pub fn copier(&self) -> PageCopier {
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
