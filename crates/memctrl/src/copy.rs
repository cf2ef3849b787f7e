//! Operations in progress, and their segments: waiting, in flight, with the data on its way over the channel.

use std::collections::VecDeque;

use dram_core::Line as Bytes;
use dram_spec::{BankId, Channel, Cycle, Cycles, LINE_BYTES, PhysicalAddress};
use rowclone::{Line, LineWrite, Mechanism, Operation, Segment};
use rustc_hash::FxHashMap;

use crate::request::{CommandCounts, Completion, Request, SegmentTally};
use crate::segment::{Stream, streams};

/// A set of banks of the whole system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BankSet([u64; 4]);

impl BankSet {
    fn place(channel: Channel, bank: BankId) -> (usize, u64) {
        let index = (usize::from(channel.0) * 4 + usize::from(bank.rank)) * 8 + usize::from(bank.bank);
        (index / 64, 1 << (index % 64))
    }

    pub(crate) fn insert(&mut self, channel: Channel, bank: BankId) {
        let (word, bit) = Self::place(channel, bank);
        self.0[word] |= bit;
    }

    pub(crate) fn remove(&mut self, channel: Channel, bank: BankId) {
        let (word, bit) = Self::place(channel, bank);
        self.0[word] &= !bit;
    }

    pub(crate) fn insert_rank(&mut self, channel: Channel, rank: u8) {
        let (word, first) = Self::place(channel, BankId { rank, bank: 0 });
        self.0[word] |= 0xFF * first;
    }

    pub(crate) fn holds_any_of_rank(&self, channel: Channel, rank: u8) -> bool {
        let (word, first) = Self::place(channel, BankId { rank, bank: 0 });
        self.0[word] & (0xFF * first) != 0
    }

    pub(crate) fn meets(&self, other: &BankSet) -> bool {
        self.0.iter().zip(other.0).any(|(a, b)| a & b != 0)
    }

    pub(crate) fn insert_all(&mut self, other: &BankSet) {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a |= b);
    }
}

/// An operation that has arrived and is not done.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) request: Request,
    pub(crate) fully_planned: bool,
    completing: bool,
    /// Segments planned and not finished.
    pub(crate) segments_left: usize,
    /// Lines of a read still to be read.
    pub(crate) reads_left: usize,
    first_command: Option<Cycle>,
    done: Cycle,
    commands: CommandCounts,
    segments: SegmentTally,
    data: Option<Vec<u8>>,
}

impl Job {
    pub(crate) fn new(request: Request, keeps_data: bool) -> Job {
        let data = match request.operation {
            Operation::Read { bytes, .. } if keeps_data => Some(vec![0; bytes as usize]),
            _ => None,
        };
        Job {
            done: request.arrival,
            request,
            fully_planned: false,
            completing: false,
            segments_left: 0,
            reads_left: 0,
            first_command: None,
            commands: CommandCounts::default(),
            segments: SegmentTally::default(),
            data,
        }
    }

    pub(crate) fn is_read(&self) -> bool {
        matches!(self.request.operation, Operation::Read { .. })
    }

    /// When it is done, once that is known; said once.
    pub(crate) fn take_completion(&mut self) -> Option<Cycle> {
        let left = if self.is_read() { self.reads_left } else { self.segments_left };
        if self.completing || !self.fully_planned || left > 0 {
            return None;
        }
        self.completing = true;
        Some(self.done)
    }

    /// A part of it was given to a mechanism.
    pub(crate) fn tally(&mut self, mechanism: Mechanism, reason: &'static str, bytes: u64) {
        self.segments.add(mechanism, reason, bytes);
    }

    pub(crate) fn planned(&mut self, segment: &Segment) {
        self.segments_left += 1;
        if self.is_read()
            && let rowclone::Work::Channel { reads, .. } = &segment.work
        {
            self.reads_left += reads.len();
        }
    }

    pub(crate) fn issued(&mut self, at: Cycle, counts: CommandCounts) {
        self.first_command.get_or_insert(at);
        self.commands += counts;
    }

    pub(crate) fn lasts_until(&mut self, instant: Cycle) {
        self.done = self.done.max(instant);
    }

    /// A line of a read arrived.
    pub(crate) fn receive(&mut self, line: &Line, bytes: &Bytes) {
        let (Some(data), Operation::Read { address, .. }) = (&mut self.data, self.request.operation) else { return };
        for (byte, at) in bytes.iter().zip(line.address.0..) {
            if let Some(slot) = at.checked_sub(address.0).and_then(|offset| data.get_mut(offset as usize)) {
                *slot = *byte;
            }
        }
    }

    pub(crate) fn into_completion(self) -> Completion {
        Completion {
            id: self.request.id,
            operation: self.request.operation,
            arrival: self.request.arrival,
            first_command: self.first_command,
            done: self.done,
            commands: self.commands,
            segments: self.segments,
            data: self.data,
        }
    }
}

/// A segment that has been planned and has not begun.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) job: u64,
    pub(crate) streams: Vec<Stream>,
    pub(crate) banks: BankSet,
    reads: usize,
}

impl Waiting {
    pub(crate) fn new(job: u64, segment: &Segment) -> Waiting {
        let streams = streams(&segment.work);
        let mut banks = BankSet::default();
        for stream in &streams {
            stream.banks().for_each(|bank| banks.insert(stream.channel, bank));
        }
        let reads = match &segment.work {
            rowclone::Work::Channel { reads, .. } => reads.len(),
            _ => 0,
        };
        Waiting { job, streams, banks, reads }
    }
}

/// The segments that wait, in the order in which they must reach each bank.
pub(crate) type WaitingLine = VecDeque<Waiting>;

/// A segment that has begun: it holds its banks until their last precharge.
#[derive(Debug)]
pub(crate) struct InFlight {
    pub(crate) job: u64,
    pub(crate) streams: Vec<Stream>,
    /// Lines still to be read before the first may be written.
    reads_left: usize,
    /// When the last of the lines read so far has arrived.
    data_arrived: Cycle,
    /// When the last of the banks that it is done with could take an ACT again.
    ready: Cycle,
    /// The staging buffer, by line address; empty where contents are not modelled.
    staged: FxHashMap<PhysicalAddress, Bytes>,
}

impl From<Waiting> for InFlight {
    fn from(waiting: Waiting) -> InFlight {
        InFlight {
            job: waiting.job,
            streams: waiting.streams,
            reads_left: waiting.reads,
            data_arrived: Cycle::ZERO,
            ready: Cycle::ZERO,
            staged: FxHashMap::default(),
        }
    }
}

impl InFlight {
    /// A bank is closed for good, and can take an ACT again at `ready`.
    pub(crate) fn bank_done(&mut self, ready: Cycle) {
        self.ready = self.ready.max(ready);
    }

    /// When the last bank that it used can take an ACT again, once it is done.
    pub(crate) fn ready(&self) -> Option<Cycle> {
        self.streams.iter().all(Stream::is_done).then_some(self.ready)
    }

    /// Whether all its lines have been read, or are on their way.
    pub(crate) fn all_read(&self) -> bool {
        self.reads_left == 0
    }

    /// When a WR may be issued so that its data is there: nothing before all lines are on their way.
    pub(crate) fn writable(&self, write_latency: Cycles) -> Option<Cycle> {
        (self.reads_left == 0).then(|| Cycle(self.data_arrived.0.saturating_sub(write_latency.0)))
    }

    pub(crate) fn read(&mut self, arrives: Cycle, line: &Line, bytes: Option<Bytes>) {
        self.reads_left -= 1;
        self.data_arrived = self.data_arrived.max(arrives);
        if let Some(bytes) = bytes {
            self.staged.insert(line.address, bytes);
        }
    }

    /// The line that a WR puts on the bus: the operation's bytes, merged into what was read of a partial line.
    pub(crate) fn compose(&self, request: &Request, write: &LineWrite) -> Bytes {
        let base = write.line.address;
        let mut line = self.staged.get(&base).copied().unwrap_or([0; LINE_BYTES as usize]);
        for offset in write.from..write.to {
            let at = base.0 + u64::from(offset);
            line[usize::from(offset)] = match &request.operation {
                Operation::Copy { src, dst, .. } => self.staged_byte(PhysicalAddress(src.0 + (at - dst.0))),
                Operation::Init { value, .. } => *value,
                Operation::Write { address, .. } => {
                    request.payload.as_ref().map_or(0, |payload| payload[(at - address.0) as usize])
                }
                Operation::Read { .. } => unreachable!("a read writes no line"),
            };
        }
        line
    }

    fn staged_byte(&self, at: PhysicalAddress) -> u8 {
        let offset = at.0 % LINE_BYTES;
        self.staged[&PhysicalAddress(at.0 - offset)][offset as usize]
    }
}
