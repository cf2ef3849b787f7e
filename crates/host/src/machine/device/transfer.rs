//! A copy through a buffer of a device: lines are read and snooped, and parts of the destination written.

use std::collections::VecDeque;
use std::sync::Arc;

use dram_spec::{Operation, PhysicalAddress};
use memctrl::Completion;

use super::super::bulk::{Bulk, is_backward};
use super::super::clock::CoreCycle;
use super::super::counters::{CoherenceCounts, Purpose};
use super::super::interconnect::{Agent, Message, Requester};
use super::super::memory::{LineNumber, LineSize, Memory, bytes_over_channels};

/// How a device copies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Route {
    /// Whether the controller executes the copies, under its copy policy.
    pub(super) is_in_dram: bool,
    /// Lines of the buffer; at least two.
    pub(super) buffer_lines: usize,
}

/// When the answers of the caches to snoops are known.
#[derive(Clone, Copy, Debug)]
pub(super) enum Snoops {
    /// Each line has a snoop of its own.
    PerLine,
    /// All lines were snooped together, and the answers are known from a cycle on.
    Known(CoreCycle),
}

impl Snoops {
    /// The cycle in which the caches' answer to a snoop that begins at a cycle is known.
    fn known(self, at: CoreCycle, memory: &mut Memory) -> CoreCycle {
        match self {
            Snoops::Known(known) => at.max(known),
            Snoops::PerLine => memory.interconnect.snooped(at),
        }
    }
}

/// A line that a device reads from memory, and snoops meanwhile.
#[derive(Debug)]
pub(super) struct LineRead {
    line: LineNumber,
    size: LineSize,
    /// The cycle in which the data are there, as far as the caches decide.
    ready: CoreCycle,
    /// Whether memory has answered.
    has_answer: bool,
    /// Whether a cache passes the data.
    is_passed: bool,
    /// Where contents are modeled.
    pub(super) data: Option<Arc<[u8]>>,
}

impl LineRead {
    pub(super) const fn new(line: LineNumber, size: LineSize) -> LineRead {
        LineRead { line, size, ready: CoreCycle(0), has_answer: false, is_passed: false, data: None }
    }

    /// Requests the line, and snoops it; the answer of the caches is known at a cycle.
    pub(super) fn request(
        &mut self,
        requester: Requester,
        purpose: Purpose,
        counts: &mut CoherenceCounts,
        (at, known): (CoreCycle, CoreCycle),
        memory: &mut Memory,
    ) {
        let operation = Operation::Read { address: self.size.address(self.line), bytes: self.size.bytes() };
        memory.device_request(requester, at, operation, None);
        let snooped = memory.snoop_for_read(requester, self.line, purpose, counts, (at, known));
        (self.ready, self.is_passed, self.data) = (snooped.at, snooped.is_dirty, snooped.data);
    }

    /// First byte of the line.
    pub(super) fn address(&self) -> PhysicalAddress {
        self.size.address(self.line)
    }

    /// The cycle in which the data are there, as far as the caches decide.
    pub(super) const fn ready(&self) -> CoreCycle {
        self.ready
    }

    /// Whether the data are there at a cycle.
    pub(super) fn is_there(&self, at: CoreCycle) -> bool {
        self.has_answer && self.ready <= at
    }

    /// Accepts the answer of memory, if the line awaits it; returns whether it does.
    pub(super) fn answered(&mut self, completion: &Completion) -> bool {
        let Operation::Read { address, .. } = completion.operation else { return false };
        if self.has_answer || self.line != self.size.line(address) {
            return false;
        }
        self.has_answer = true;
        if !self.is_passed {
            self.data = completion.data.as_deref().map(Arc::from);
        }
        true
    }
}

/// A part of a line of the destination.
#[derive(Debug)]
struct LinePart {
    src: PhysicalAddress,
    dst: PhysicalAddress,
    bytes: u64,
    /// The first and the last of the reads that it needs.
    reads: (usize, usize),
    /// The cycle in which the caches have answered its snoop, and have passed what they pass.
    snooped: CoreCycle,
}

/// A copy in progress.
#[derive(Debug)]
pub(super) struct Transfer {
    requester: Requester,
    bulk: Bulk,
    size: LineSize,
    snoops: Snoops,
    /// Lines of the source, in the order in which they are read.
    reads: Vec<LineRead>,
    /// Parts of lines of the destination, in the order in which they are written.
    writes: Vec<LinePart>,
    /// Lines that were requested.
    requested: usize,
    /// Parts that were written.
    written: usize,
    /// Requests of the writes that the controller has not accepted.
    unaccepted: VecDeque<u64>,
    /// Steps of coherence.
    pub(super) counts: CoherenceCounts,
    /// Bytes that crossed the memory channels.
    pub(super) channel_bytes: u64,
}

impl Transfer {
    pub(super) fn new(requester: Requester, bulk: Bulk, size: LineSize, snoops: Snoops) -> Transfer {
        let (mut reads, mut writes) = (Vec::<LineRead>::new(), Vec::new());
        let mut rest = Some(bulk);
        while let Some(bulk) = rest {
            let part = bulk.next_line_of_destination(size.bytes());
            rest = bulk.without(part);
            let Bulk { src: Some(src), dst, bytes } = part else { unreachable!("a transfer has a source") };
            let (first, last) = (size.line(src), size.line(PhysicalAddress(src.0 + bytes - 1)));
            let is_backward = bulk.src.is_some_and(|src| is_backward(src, bulk.dst, bulk.bytes));
            let order = if is_backward { [last, first] } else { [first, last] };
            let indices = order.map(|line| {
                let near = reads.len().saturating_sub(2);
                let found = reads[near..].iter().position(|read| read.line == line);
                if found.is_none() {
                    reads.push(LineRead::new(line, size));
                }
                found.map_or(reads.len() - 1, |place| near + place)
            });
            let reads = (indices[0].min(indices[1]), indices[0].max(indices[1]));
            writes.push(LinePart { src, dst, bytes, reads, snooped: CoreCycle(0) });
        }
        Transfer {
            requester,
            bulk,
            size,
            snoops,
            reads,
            writes,
            requested: 0,
            written: 0,
            unaccepted: VecDeque::new(),
            counts: CoherenceCounts::default(),
            channel_bytes: 0,
        }
    }

    /// Proceeds as far as possible at a cycle.
    pub(super) fn proceed(&mut self, at: CoreCycle, route: Route, memory: &mut Memory) {
        if route.is_in_dram {
            if !self.is_requested() {
                self.request_in_dram(at, memory);
            }
        } else {
            self.read(at, route.buffer_lines, memory);
            self.write(at, memory);
        }
    }

    /// Whether all lines of the source were requested.
    pub(super) const fn is_requested(&self) -> bool {
        self.requested == self.reads.len()
    }

    /// Whether the controller has accepted all writes.
    pub(super) fn is_written(&self) -> bool {
        self.unaccepted.is_empty() && self.written == self.writes.len()
    }

    /// Learns that the controller has accepted a request; returns whether it is the next write of the
    /// destination. Others are reads, and dirty lines that caches have passed.
    pub(super) fn accepted(&mut self, request: u64) -> bool {
        let is_next = self.unaccepted.front() == Some(&request);
        if is_next {
            self.unaccepted.pop_front();
        }
        is_next
    }

    /// Accepts the data of a line, if the transfer awaits it; returns whether it does.
    pub(super) fn answered(&mut self, completion: &Completion) -> bool {
        self.reads[..self.requested].iter_mut().any(|read| read.answered(completion))
    }

    /// Whether a completion is the end of the copy in DRAM.
    pub(super) fn is_ended_by(&mut self, completion: &Completion) -> bool {
        let Operation::Copy { src, dst, bytes } = completion.operation else { return false };
        let is_ended = self.bulk == Bulk { src: Some(src), dst, bytes };
        if is_ended {
            self.channel_bytes += 2 * bytes_over_channels(completion);
        }
        is_ended
    }

    /// Lines of the buffer that are free again: those that no part needs whose write was not accepted.
    fn freed(&self) -> usize {
        let accepted = self.written - self.unaccepted.len();
        self.writes.get(accepted).map_or(self.reads.len(), |write| write.reads.0)
    }

    /// Bytes of a part, where contents are modeled.
    fn payload(&self, write: &LinePart) -> Option<Arc<[u8]>> {
        let (first, last) = write.reads;
        let mut bytes = Vec::with_capacity(write.bytes as usize);
        for address in (write.src.0..write.src.0 + write.bytes).map(PhysicalAddress) {
            let read = self.reads[first..=last].iter().find(|read| read.line == self.size.line(address));
            let line = read.expect("the part needs it").data.as_ref()?;
            bytes.push(line[self.size.offset(address) as usize]);
        }
        Some(bytes.into())
    }

    /// Requests lines of the source for which the buffer has room.
    fn read(&mut self, at: CoreCycle, buffer_lines: usize, memory: &mut Memory) {
        while !self.is_requested() && self.requested < self.freed() + buffer_lines {
            self.read_next(at, memory);
        }
    }

    /// Writes parts of the destination whose data are there.
    fn write(&mut self, at: CoreCycle, memory: &mut Memory) {
        while let Some(write) = self.writes.get(self.written) {
            let needed = &self.reads[write.reads.0..=write.reads.1];
            let is_requested = write.reads.1 < self.requested;
            if !is_requested || write.snooped > at || needed.iter().any(|read| !read.is_there(at)) {
                break;
            }
            let operation = Operation::Write { address: write.dst, bytes: write.bytes };
            self.channel_bytes += write.bytes;
            let number = memory.device_request(self.requester, at, operation, self.payload(write));
            self.unaccepted.push_back(number);
            self.written += 1;
        }
    }

    /// Requests the next line of the source, and snoops it and the lines of the destination that it
    /// completes. The device continues when the caches have answered, and have passed a line.
    fn read_next(&mut self, at: CoreCycle, memory: &mut Memory) {
        let (number, purpose, requester) = (self.requested, self.bulk.purpose(), self.requester);
        let own = Agent::Device(requester.device.expect("a device copies"));
        self.requested += 1;
        self.channel_bytes += self.size.bytes();
        let known = self.snoops.known(at, memory);
        self.reads[number].request(requester, purpose, &mut self.counts, (at, known), memory);
        memory.interconnect.post_later(own, own, Message::Continue, self.reads[number].ready);
        for write in self.writes.iter_mut().filter(|write| write.reads.1 == number) {
            let known = self.snoops.known(at, memory);
            let range = (write.dst, write.bytes);
            write.snooped = memory.snoop_for_write(requester, range, purpose, &mut self.counts, (at, known));
            memory.interconnect.post_later(own, own, Message::Continue, write.snooped);
        }
    }

    /// Snoops all lines, and requests the copy from the controller.
    fn request_in_dram(&mut self, at: CoreCycle, memory: &mut Memory) {
        let (purpose, requester) = (self.bulk.purpose(), self.requester);
        let mut ready = at;
        for number in 0..self.reads.len() {
            let known = self.snoops.known(at, memory);
            let line = self.reads[number].line;
            ready = ready.max(memory.snoop_for_read(requester, line, purpose, &mut self.counts, (at, known)).at);
        }
        for number in 0..self.writes.len() {
            let known = self.snoops.known(at, memory);
            let range = (self.writes[number].dst, self.writes[number].bytes);
            ready = ready.max(memory.snoop_for_write(requester, range, purpose, &mut self.counts, (at, known)));
        }
        self.requested = self.reads.len();
        let Bulk { src, dst, bytes } = self.bulk;
        let operation = Operation::Copy { src: src.expect("a transfer has a source"), dst, bytes };
        memory.device_request(requester, ready, operation, None);
    }
}
