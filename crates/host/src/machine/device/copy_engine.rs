//! A copy engine in the controller's hub (Zhao et al., ICCD 2005).
//!
//! The engine executes one copy at a time, in the order of their commands. It reads the lines of the source
//! into a stream buffer, and snoops the caches meanwhile; each part of a line of the destination is written
//! once its data are there. With copies in DRAM it snoops all lines, and then requests the copy from the
//! controller. `docs/copiers.md` has the steps and their times.

use std::collections::VecDeque;
use std::sync::Arc;

use dram_spec::{Operation, PhysicalAddress};
use memctrl::Completion;

use super::super::bulk::{Bulk, CopyId};
use super::super::clock::CoreCycle;
use super::super::counters::CoherenceCounts;
use super::super::interconnect::{Agent, Message, Requester};
use super::super::memory::{LineNumber, LineSize, Memory, bytes_over_channels};
use super::super::settings::{EngineMode, EngineSettings};
use super::Device;
use crate::decisions::{Decided, Decisions};

/// A copy engine.
#[derive(Debug)]
pub(super) struct CopyEngine {
    settings: EngineSettings,
    device: usize,
    /// Copies, of which the first is in progress.
    copies: VecDeque<Copy>,
}

/// A copy.
#[derive(Debug)]
struct Copy {
    id: CopyId,
    requester: Requester,
    bulk: Bulk,
    line_size: LineSize,
    /// From when the caches' answers to the snoop of all lines are known, in mode `async`.
    entered: CoreCycle,
    /// Lines of the source, in the order in which they are read.
    reads: Vec<Read>,
    /// Parts of lines of the destination, in the order in which they are written.
    writes: Vec<Write>,
    /// Lines that were requested.
    requested: usize,
    /// Parts that were written.
    written: usize,
    /// Requests of the writes that the controller has not accepted.
    unaccepted: VecDeque<u64>,
    counts: CoherenceCounts,
    /// Bytes that crossed the memory channels.
    channel_bytes: u64,
}

/// A line of the source.
#[derive(Debug)]
struct Read {
    line: LineNumber,
    /// The cycle in which the data are there, as far as the caches decide.
    ready: CoreCycle,
    /// Whether memory has answered.
    has_answer: bool,
    /// Whether a cache passes the data.
    is_passed: bool,
    data: Option<Arc<[u8]>>,
}

/// A part of a line of the destination.
#[derive(Debug)]
struct Write {
    src: PhysicalAddress,
    dst: PhysicalAddress,
    bytes: u64,
    /// The first and the last of the reads that it needs.
    reads: (usize, usize),
}

impl Copy {
    fn new(id: CopyId, requester: Requester, bulk: Bulk, line_size: LineSize, entered: CoreCycle) -> Copy {
        let (mut reads, mut writes) = (Vec::<Read>::new(), Vec::new());
        let mut rest = Some(bulk);
        while let Some(bulk) = rest {
            let part = bulk.next_line_of_destination(line_size.bytes());
            rest = bulk.without(part);
            let Bulk { src: Some(src), dst, bytes } = part else { unreachable!("an engine has a source") };
            let (first, last) = (line_size.line(src), line_size.line(PhysicalAddress(src.0 + bytes - 1)));
            let is_backward = rest.is_some_and(|rest| rest.dst == bulk.dst);
            let order = if is_backward { [last, first] } else { [first, last] };
            let indices = order.map(|line| {
                let near = reads.len().saturating_sub(2);
                let found = reads[near..].iter().position(|read| read.line == line);
                if found.is_none() {
                    reads.push(Read { line, ready: CoreCycle(0), has_answer: false, is_passed: false, data: None });
                }
                found.map_or(reads.len() - 1, |place| near + place)
            });
            writes.push(Write { src, dst, bytes, reads: (indices[0].min(indices[1]), indices[0].max(indices[1])) });
        }
        Copy {
            id,
            requester,
            bulk,
            line_size,
            entered,
            reads,
            writes,
            requested: 0,
            written: 0,
            unaccepted: VecDeque::new(),
            counts: CoherenceCounts::default(),
            channel_bytes: 0,
        }
    }

    /// The message of its end.
    const fn completed(&self) -> Message {
        Message::Completed { id: self.id, counts: self.counts, channel_bytes: self.channel_bytes }
    }

    /// Lines of the stream buffer that are free again: those that no part needs whose write was not accepted.
    fn freed(&self) -> usize {
        let accepted = self.written - self.unaccepted.len();
        self.writes.get(accepted).map_or(self.reads.len(), |write| write.reads.0)
    }

    /// Bytes of a part, where contents are modeled.
    fn payload(&self, write: &Write) -> Option<Arc<[u8]>> {
        let (first, last) = write.reads;
        let mut bytes = Vec::with_capacity(write.bytes as usize);
        for address in (write.src.0..write.src.0 + write.bytes).map(PhysicalAddress) {
            let read = self.reads[first..=last].iter().find(|read| read.line == self.line_size.line(address));
            let line = read.expect("the part needs it").data.as_ref()?;
            bytes.push(line[self.line_size.offset(address) as usize]);
        }
        Some(bytes.into())
    }
}

impl CopyEngine {
    pub(super) const fn new(device: usize, settings: EngineSettings) -> CopyEngine {
        CopyEngine { settings, device, copies: VecDeque::new() }
    }

    /// Proceeds with the first copy as far as possible at a cycle.
    fn proceed(&mut self, at: CoreCycle, memory: &mut Memory) {
        let Some(copy) = self.copies.front_mut() else { return };
        if copy.requested < copy.reads.len() {
            if self.settings.is_in_dram {
                copy.request_in_dram(at, &self.settings, memory);
            } else {
                self.read(at, memory);
            }
        }
        if !self.settings.is_in_dram {
            self.write(at, memory);
        }
    }

    /// Requests lines of the source for which the stream buffer has room.
    fn read(&mut self, at: CoreCycle, memory: &mut Memory) {
        let Some(copy) = self.copies.front_mut() else { return };
        while copy.requested < copy.reads.len() && copy.requested < copy.freed() + self.settings.buffer_lines {
            let ready = copy.read_next(at, &self.settings, memory);
            memory.interconnect.post(Agent::Device(self.device), Agent::Device(self.device), Message::Continue, ready);
        }
        if !Decided::completes_after_writes() && copy.requested == copy.reads.len() {
            let completed = copy.completed();
            memory.interconnect.post(Agent::Device(self.device), Agent::Core(copy.requester.core), completed, at);
        }
    }

    /// Writes parts of the destination whose data are there.
    fn write(&mut self, at: CoreCycle, memory: &mut Memory) {
        let Some(copy) = self.copies.front_mut() else { return };
        while let Some(write) = copy.writes.get(copy.written) {
            let needed = &copy.reads[write.reads.0..=write.reads.1];
            if write.reads.1 >= copy.requested || needed.iter().any(|read| !read.has_answer || read.ready > at) {
                break;
            }
            let operation = Operation::Write { address: write.dst, bytes: write.bytes };
            copy.channel_bytes += write.bytes;
            let number = memory.device_request(copy.requester, at, operation, copy.payload(write));
            copy.unaccepted.push_back(number);
            copy.written += 1;
        }
    }

    /// Ends the first copy at a cycle, and begins the next one.
    fn end(&mut self, at: CoreCycle, memory: &mut Memory) {
        let copy = self.copies.pop_front().expect("it is in progress");
        if Decided::completes_after_writes() && Decided::reports_completion() {
            let to = Agent::Core(copy.requester.core);
            memory.interconnect.post(Agent::Device(self.device), to, copy.completed(), at);
        }
        self.proceed(at, memory);
    }
}

impl Copy {
    /// The cycle in which the caches' answer to a snoop that begins at a cycle is known.
    fn known(&self, at: CoreCycle, settings: &EngineSettings, memory: &mut Memory) -> CoreCycle {
        match settings.mode {
            EngineMode::Async => at.max(self.entered),
            EngineMode::SyncFifo | EngineMode::SyncCpuFirst => memory.interconnect.snooped(at),
        }
    }

    /// Requests the next line of the source, and snoops it and the lines of the destination that it
    /// completes. Returns the cycle in which the caches' answers, and the lines that they pass, are there.
    fn read_next(&mut self, at: CoreCycle, settings: &EngineSettings, memory: &mut Memory) -> CoreCycle {
        let (number, purpose, requester) = (self.requested, self.bulk.purpose(), self.requester);
        self.requested += 1;
        let (line, bytes) = (self.reads[number].line, self.line_size.bytes());
        self.channel_bytes += bytes;
        let address = self.line_size.address(line);
        memory.device_request(requester, at, Operation::Read { address, bytes }, None);
        let known = self.known(at, settings, memory);
        let snooped = memory.snoop_for_read(requester, line, purpose, &mut self.counts, known);
        let mut ready = snooped.at;
        for write in self.writes.iter().filter(|write| write.reads.1 == number) {
            let known = self.known(at, settings, memory);
            let range = (write.dst, write.bytes);
            ready = ready.max(memory.snoop_for_write(requester, range, purpose, &mut self.counts, known));
        }
        let read = &mut self.reads[number];
        (read.ready, read.is_passed, read.data) = (ready, snooped.is_dirty, snooped.data);
        ready
    }

    /// Snoops all lines, and requests the copy from the controller.
    fn request_in_dram(&mut self, at: CoreCycle, settings: &EngineSettings, memory: &mut Memory) {
        let (purpose, requester) = (self.bulk.purpose(), self.requester);
        let mut ready = at;
        for number in 0..self.reads.len() {
            let known = self.known(at, settings, memory);
            let line = self.reads[number].line;
            ready = ready.max(memory.snoop_for_read(requester, line, purpose, &mut self.counts, known).at);
        }
        for number in 0..self.writes.len() {
            let known = self.known(at, settings, memory);
            let range = (self.writes[number].dst, self.writes[number].bytes);
            ready = ready.max(memory.snoop_for_write(requester, range, purpose, &mut self.counts, known));
        }
        self.requested = self.reads.len();
        let Bulk { src, dst, bytes } = self.bulk;
        let operation = Operation::Copy { src: src.expect("an engine has a source"), dst, bytes };
        memory.device_request(requester, ready, operation, None);
    }
}

impl Device for CopyEngine {
    fn receive(&mut self, message: Message, at: CoreCycle, memory: &mut Memory) {
        if let Message::Copy { id, core, bulk } = message {
            let (own, core_agent) = (Agent::Device(self.device), Agent::Core(core));
            let mut entered = at;
            if self.settings.mode == EngineMode::Async {
                entered = memory.interconnect.snooped(at);
                memory.interconnect.post(own, core_agent, Message::Entered(id), entered);
            }
            self.copies.push_back(Copy::new(
                id,
                Requester { core, device: Some(self.device) },
                bulk,
                memory.line_size(),
                entered,
            ));
        }
        self.proceed(at, memory);
    }

    fn accepted(&mut self, request: u64, at: CoreCycle, memory: &mut Memory) {
        let Some(copy) = self.copies.front_mut() else { return };
        // Others are reads, and dirty lines that caches have passed.
        if copy.unaccepted.front() != Some(&request) {
            return;
        }
        copy.unaccepted.pop_front();
        if copy.unaccepted.is_empty() && copy.written == copy.writes.len() {
            self.end(at, memory);
        } else {
            self.proceed(at, memory);
        }
    }

    fn completed(&mut self, completion: &Completion, at: CoreCycle, memory: &mut Memory) {
        let Some(copy) = self.copies.front_mut() else { return };
        match completion.operation {
            Operation::Read { address, .. } => {
                let line = copy.line_size.line(address);
                let read = copy.reads.iter_mut().find(|read| read.line == line && !read.has_answer);
                let read = read.expect("the copy in progress requested it");
                read.has_answer = true;
                if !read.is_passed {
                    read.data = completion.data.as_deref().map(Arc::from);
                }
                self.proceed(at, memory);
            }
            Operation::Copy { .. } => {
                copy.channel_bytes += 2 * bytes_over_channels(completion);
                self.end(at, memory);
            }
            Operation::Write { .. } | Operation::Init { .. } => {}
        }
    }
}
