//! Requests that have been taken and are not delivered.

use std::ops::{Index, IndexMut};

use dram_core::Line as Bytes;
use dram_spec::{Cycle, Cycles, LINE_BYTES, PhysicalAddress};
use rowclone::{Mechanism, Operation};

use crate::access::{Access, Kind};
use crate::done::{ALONE, Alone, Done, DoneList};
use crate::request::{CommandCounts, Completion, Counted, Request, SegmentTally};

/// Whole lines, by the addresses of their first bytes; the end is not among them.
pub(crate) type Lines = std::ops::Range<u64>;

/// The lines that hold a byte of a range.
pub(crate) fn lines(address: PhysicalAddress, bytes: u64) -> Lines {
    address.0 / LINE_BYTES * LINE_BYTES..(address.0 + bytes).next_multiple_of(LINE_BYTES)
}

/// What is kept of a copy, an initialisation, or a write of parts of lines.
#[derive(Debug)]
pub(crate) struct Job {
    reads: Lines,
    writes: Lines,
    pub(crate) fully_planned: bool,
    /// Segments planned and not finished.
    pub(crate) segments_left: usize,
    /// Queued accesses that it must not overtake.
    pub(crate) waits_for: usize,
    segments: SegmentTally,
}

impl Job {
    fn new(operation: &Operation) -> Job {
        let reads = operation.src().map_or(0..0, |src| lines(src, operation.bytes()));
        Job {
            reads,
            writes: lines(operation.target(), operation.bytes()),
            fully_planned: false,
            segments_left: 0,
            waits_for: 0,
            segments: SegmentTally::default(),
        }
    }

    /// Whether an access of that line would see, or undo, what it does.
    pub(crate) fn conflicts(&self, kind: crate::access::Kind, line: u64) -> bool {
        self.writes.contains(&line) || (kind == crate::access::Kind::Write && self.reads.contains(&line))
    }

    /// A part of it was given to a mechanism.
    pub(crate) fn tally(&mut self, mechanism: Mechanism, reason: &'static str, bytes: u64) {
        self.segments.add(mechanism, reason, bytes);
    }
}

/// The commands issued for a request, of the kinds that may be.
#[derive(Clone, Copy, Debug, Default)]
struct Issued([u32; 7]);

impl Issued {
    fn counts(self) -> CommandCounts {
        let [activates, copy_activates, dropped_activates, precharges, reads, writes, transfers] =
            self.0.map(u64::from);
        CommandCounts {
            activates,
            copy_activates,
            dropped_activates,
            precharges,
            reads,
            writes,
            transfers,
            ..CommandCounts::default()
        }
    }
}

/// A request that has been taken and is not delivered.
#[derive(Debug)]
pub(crate) struct Outstanding {
    pub(crate) request: Request,
    /// Its place among the requests taken.
    pub(crate) order: u64,
    /// Lines that have not been accepted, or not been served. None of a job.
    pub(crate) lines_left: u64,
    /// What is kept of a job.
    pub(crate) job: Option<Box<Job>>,
    /// Never, before there is one.
    first_command: Cycle,
    done: Cycle,
    commands: Issued,
    data: Option<Vec<u8>>,
}

impl Outstanding {
    /// What is done when its request arrives.
    fn new(request: Request) -> Outstanding {
        Outstanding {
            order: 0,
            lines_left: 0,
            job: None,
            first_command: Cycle::NEVER,
            done: request.arrival,
            commands: Issued::default(),
            data: None,
            request,
        }
    }

    pub(crate) fn job_mut(&mut self) -> &mut Job {
        self.job.as_mut().expect("only jobs have segments")
    }

    /// A read's bytes are kept for its source.
    pub(crate) fn keep_data(&mut self, bytes: u64) {
        self.data = Some(Vec::with_capacity(bytes as usize));
    }

    pub(crate) fn issued(&mut self, at: Cycle, command: Counted) {
        self.issued_often(at, command, 1);
    }

    /// So many commands of a kind, the first of them at `at`.
    #[inline]
    pub(crate) fn issued_often(&mut self, at: Cycle, command: Counted, count: u16) {
        self.first_command = self.first_command.min(at);
        // The kinds are in the order of [`Issued::counts`]; the rest is never issued for a request.
        self.commands.0[command as usize] += u32::from(count);
    }

    pub(crate) fn lasts_until(&mut self, instant: Cycle) {
        self.done = self.done.max(instant);
    }

    /// When it is done, once nothing of it is left to do.
    pub(crate) fn is_done(&self) -> Option<Cycle> {
        let working = self.job.as_ref().is_some_and(|job| !job.fully_planned || job.segments_left > 0);
        (self.lines_left == 0 && !working).then_some(self.done)
    }

    /// A line of a read arrived.
    pub(crate) fn receive(&mut self, line: PhysicalAddress, bytes: &Bytes) {
        let start = self.request.operation.target();
        let Some(data) = &mut self.data else { return };
        data.resize(self.request.operation.bytes() as usize, 0);
        // Only a part of the first and the last line may belong to the read.
        let (from, to) = (line.0.max(start.0), (line.0 + LINE_BYTES).min(start.0 + data.len() as u64));
        if from < to {
            let within = |base: u64| (from - base) as usize..(to - base) as usize;
            data[within(start.0)].copy_from_slice(&bytes[within(line.0)]);
        }
    }

    /// The bytes that a write of whole lines writes to one of them; zeros where it carries none.
    pub(crate) fn payload(&self, line: PhysicalAddress) -> Bytes {
        let offset = (line.0 - self.request.operation.target().0) as usize;
        let bytes = self.request.payload.as_deref().and_then(|bytes| bytes.get(offset..)?.first_chunk());
        bytes.copied().unwrap_or([0; LINE_BYTES as usize])
    }

    /// From its arrival to when it is done.
    pub(crate) fn response(&self) -> Cycles {
        self.done.since(self.request.arrival)
    }

    /// What its source hears of it.
    pub(crate) fn complete_job(&mut self) -> Completion {
        let job = self.job.take();
        let served = job.map(|job| Box::new(job.segments));
        Completion { served, ..self.complete() }
    }

    /// The same of a read or a write of whole lines.
    #[expect(clippy::inline_always, reason = "what a source does not look at, is then not made")]
    #[inline(always)]
    pub(crate) fn complete(&mut self) -> Completion {
        Completion {
            id: self.request.id,
            operation: self.request.operation,
            arrival: self.request.arrival,
            first_command: Some(self.first_command).filter(|&at| at < Cycle::NEVER),
            done: self.done,
            commands: self.commands.counts(),
            served: None,
            // Most have none.
            data: if self.data.is_some() { self.data.take() } else { None },
        }
    }
}

/// All requests in progress that have slots, and all that are done. A slot keeps what was in it until it is used again.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    slots: Vec<Outstanding>,
    free: Vec<u32>,
    done: DoneList,
}

impl Requests {
    /// A read or a write of whole lines that was taken, the `order`-th; its payload is taken.
    #[inline]
    pub(crate) fn insert(&mut self, request: &mut Request, order: u64, lines: &Lines) -> u32 {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => self.another(request),
        };
        let new = &mut self.slots[slot as usize];
        (new.first_command, new.done, new.commands) = (Cycle::NEVER, request.arrival, Issued::default());
        (new.order, new.lines_left) = (order, (lines.end - lines.start) / LINE_BYTES);
        (new.request.id, new.request.arrival) = (request.id, request.arrival);
        new.request.operation = request.operation;
        // Most carry none, and none is left over.
        if request.payload.is_some() || new.request.payload.is_some() {
            new.request.payload = request.payload.take();
        }
        slot
    }

    /// Any other request.
    pub(crate) fn insert_job(&mut self, request: &mut Request, order: u64) -> u32 {
        let job = Box::new(Job::new(&request.operation));
        let slot = self.insert(request, order, &(0..0));
        self.slots[slot as usize].job = Some(job);
        slot
    }

    /// One more slot.
    #[cold]
    fn another(&mut self, request: &Request) -> u32 {
        self.slots.push(Outstanding::new(request.clone()));
        self.slots.len() as u32 - 1
    }

    /// A RD or WR at `now` serves a line of a read or of a write, up to `at`.
    #[inline]
    pub(crate) fn line_served(&mut self, access: &Access, kind: Kind, now: Cycle, at: Cycle) {
        if access.request == ALONE {
            self.done.push_served(at, access, kind, now);
        } else {
            self.line_of_many_served(access, kind, now, at);
        }
    }

    /// The same of a request that has a slot.
    #[inline(never)]
    fn line_of_many_served(&mut self, access: &Access, kind: Kind, now: Cycle, at: Cycle) {
        let request = &mut self.slots[access.request as usize];
        let first = access.first_command.min(now);
        request.issued_often(first, Counted::Activate, access.row_commands.activates());
        request.issued_often(first, Counted::Precharge, access.row_commands.precharges());
        request.issued(now, if kind == Kind::Read { Counted::Read } else { Counted::Write });
        request.lasts_until(at);
        request.lines_left -= 1;
        self.settle(access.request);
    }

    /// A read of one line, which has no slot, was answered without a command.
    pub(crate) fn forwarded(&mut self, alone: Alone, at: Cycle) {
        self.done.push(Done::forwarded(at, alone));
    }

    /// It is done at a known instant: if so, it joins the others that are.
    pub(crate) fn settle(&mut self, slot: u32) {
        let request = &self.slots[slot as usize];
        if let Some(at) = request.is_done() {
            self.done.push(Done::with_slot(at, request.order, slot));
        }
    }

    /// When the first is done; never, if none will be at a known instant.
    #[inline]
    pub(crate) fn done_at(&self) -> Cycle {
        self.done.at()
    }

    /// The first that is done.
    #[inline]
    pub(crate) fn take_done(&mut self) -> Done {
        self.done.take_first()
    }

    /// A slot may be used again from now on.
    pub(crate) fn free_slot(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// Whether none has a slot, and none is done that has none.
    pub(crate) fn is_empty(&self) -> bool {
        self.free.len() == self.slots.len() && self.done.is_empty()
    }
}

impl Index<u32> for Requests {
    type Output = Outstanding;
    #[inline]
    fn index(&self, slot: u32) -> &Outstanding {
        &self.slots[slot as usize]
    }
}

impl IndexMut<u32> for Requests {
    #[inline]
    fn index_mut(&mut self, slot: u32) -> &mut Outstanding {
        &mut self.slots[slot as usize]
    }
}
