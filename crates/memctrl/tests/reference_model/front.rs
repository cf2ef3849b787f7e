//! The front end: deliveries (1) and admission (2-8).

use dram_spec::{Cycle, LINE_BYTES, Operation, PhysicalAddress};
use memctrl::{Completion, Config, Request, RequestSource};

use super::access::{Access, Kind, Stamp};
use super::blocking::{conflicts, whole_lines};
use super::channel::Channel;
use super::copies::Copy;
use super::estimate::Bookings;
use super::figures::Recorder;
use super::programs::ProgramRun;

/// A request since it was taken from its source; its number is its index.
pub struct Pending {
    pub request: Request,
    /// First line of a read or write that is not accepted, and the end of its lines.
    next_line: u64,
    end: u64,
    /// Its arrival; without one, the cycle in which its first line, or the copy, was accepted.
    arrival: Option<u64>,
    /// Whether it is completely accepted.
    pub is_accepted: bool,
    /// Accesses that are accepted, and neither issued nor forwarded.
    outstanding: usize,
    first_command: Option<Cycle>,
    /// Completion of all accesses issued or forwarded.
    pub done: u64,
    is_delivered: bool,
    /// Data of a read.
    data: Vec<u8>,
    /// State of a copy.
    pub copy: Option<Copy>,
}

impl Pending {
    fn new(request: Request) -> Pending {
        let lines = whole_lines(request.operation.target().0, request.operation.bytes());
        let bytes = if let Operation::Read { bytes, .. } = request.operation { bytes as usize } else { 0 };
        Pending {
            copy: Copy::of(&request.operation),
            next_line: lines.start,
            end: lines.end,
            arrival: request.arrival.map(|at| at.0),
            is_accepted: false,
            outstanding: 0,
            first_command: None,
            done: 0,
            is_delivered: false,
            data: vec![0; bytes],
            request,
        }
    }

    /// A copy that is accepted and not delivered.
    pub fn undelivered_copy(&self) -> Option<&Copy> {
        self.copy.as_ref().filter(|_| self.is_accepted && !self.is_delivered)
    }

    fn is_complete(&self) -> bool {
        self.is_accepted && self.outstanding == 0 && self.copy.as_ref().is_none_or(Copy::is_complete)
    }

    /// Records the data of a line of a read, which completes at `done`.
    fn read_line(&mut self, line: u64, data: Option<&[u8]>, done: u64) {
        self.done = self.done.max(done);
        self.outstanding -= 1;
        let first = self.request.operation.target().0;
        for (address, byte) in (line..).zip(data.unwrap_or_default()) {
            if let Some(place) = address.checked_sub(first).and_then(|at| self.data.get_mut(at as usize)) {
                *place = *byte;
            }
        }
    }
}

/// Requests, programs, and bookings of estimates.
pub struct FrontEnd {
    pub config: Config,
    pub requests: Vec<Pending>,
    /// All requests before this one are delivered.
    delivered: usize,
    pub programs: Vec<ProgramRun>,
    pub bookings: Bookings,
}

impl FrontEnd {
    pub fn new(config: &Config) -> FrontEnd {
        let (requests, programs, bookings) = (Vec::new(), Vec::new(), Bookings::new(config));
        FrontEnd { config: config.clone(), requests, delivered: 0, programs, bookings }
    }

    /// The requests that are not delivered, by number.
    pub fn left(&self) -> impl Iterator<Item = (usize, &Pending)> {
        self.requests.iter().enumerate().skip(self.delivered).filter(|(_, pending)| !pending.is_delivered)
    }

    /// Whether every request is delivered.
    pub fn is_idle(&self) -> bool {
        self.left().next().is_none()
    }

    /// Requests that are not delivered, for a message.
    pub fn describe(&self) -> String {
        self.left()
            .map(|(number, pending)| format!("{number}: {}", pending.request.operation))
            .collect::<Vec<_>>()
            .join("; ")
    }

    pub fn undelivered_copies(&self) -> usize {
        self.left().filter(|(_, pending)| pending.undelivered_copy().is_some()).count()
    }

    /// Delivers due requests, by due cycle, then by order of acceptance (1).
    pub fn deliver(&mut self, now: u64, source: &mut impl RequestSource, recorder: &mut Recorder) {
        let is_due = |pending: &Pending| pending.is_complete() && pending.done <= now;
        let mut due: Vec<usize> = self.left().filter(|(_, it)| is_due(it)).map(|(number, _)| number).collect();
        due.sort_by_key(|&at| (self.requests[at].done, at));
        for number in due {
            let has_data = self.config.contents.is_some();
            let pending = &mut self.requests[number];
            pending.is_delivered = true;
            let Request { id, source: from, operation, .. } = pending.request;
            let is_read = matches!(operation, Operation::Read { .. });
            let is_write = matches!(operation, Operation::Write { .. });
            let copy = pending.copy.as_ref().filter(|_| !is_write);
            let completion = Completion {
                id,
                source: from,
                operation,
                arrival: Cycle(pending.arrival.expect("it was accepted")),
                first_command: pending.first_command,
                done: Cycle(pending.done),
                served: copy.map(|copy| copy.tally.clone()).unwrap_or_default(),
                data: (is_read && has_data).then(|| std::mem::take(&mut pending.data)),
            };
            recorder.delivered(&completion);
            source.complete(completion);
        }
        let first = self.left().next().map(|(number, _)| number);
        self.delivered = first.unwrap_or(self.requests.len());
    }

    /// Queues accesses that wait no longer (2), then accepts requests (3-8).
    pub fn admit(
        &mut self,
        now: u64,
        source: &mut impl RequestSource,
        channels: &mut [Channel],
        recorder: &mut Recorder,
    ) {
        for channel in channels.iter_mut() {
            (channel.accepted, channel.stamped) = (0, 0);
            let mut at = 0;
            // The accesses of a channel are in order of acceptance.
            while at < channel.accesses.len() {
                if channel.accesses[at].is_queued() || self.waits(&channel.accesses[at]) {
                    at += 1;
                } else if self.answer(now, channel, at, recorder) {
                    channel.accesses.remove(at);
                } else {
                    channel.accesses[at].stamp = Some(channel.next_stamp(now));
                    at += 1;
                }
            }
        }
        let mut copies = 0;
        loop {
            if self.requests.last().is_none_or(|pending| pending.is_accepted) {
                let Some(request) = source.take(Cycle(now)) else { return };
                self.requests.push(Pending::new(request));
            }
            let number = self.requests.len() - 1;
            if !(if self.requests[number].copy.is_some() {
                self.accept_copy(now, number, &mut copies)
            } else {
                self.accept_line(now, number, channels, recorder)
            }) {
                return;
            }
        }
    }

    fn accept_copy(&mut self, now: u64, number: usize, accepted: &mut usize) -> bool {
        let queues = &self.config.queues;
        if *accepted == queues.admission_per_cycle || self.undelivered_copies() == queues.copy_entries {
            return false;
        }
        *accepted += 1;
        self.requests[number].is_accepted = true;
        self.requests[number].arrival.get_or_insert(now);
        true
    }

    /// Accepts the next line of a read or write, if possible.
    fn accept_line(&mut self, now: u64, number: usize, channels: &mut [Channel], recorder: &mut Recorder) -> bool {
        let access = self.next_access(number);
        let channel = &mut channels[usize::from(access.place.channel.0)];
        let (queues, kind) = (&self.config.queues, access.kind);
        let entries = if kind == Kind::Read { queues.read_entries } else { queues.write_entries };
        let unissued_read = |other: &Access| other.kind == Kind::Read && other.line == access.line;
        if channel.accepted == queues.admission_per_cycle
            || kind == Kind::Write && channel.accesses.iter().any(unissued_read)
        {
            return false;
        }
        let waits = self.waits(&access);
        let is_answered = kind == Kind::Read && !waits && channel.newest_write(access.line).is_some();
        if !is_answered && channel.entries(kind) == entries {
            return false;
        }
        channel.accepted += 1;
        let pending = &mut self.requests[number];
        pending.outstanding += 1;
        pending.arrival.get_or_insert(now);
        pending.next_line += LINE_BYTES;
        pending.is_accepted = pending.next_line == pending.end;
        channel.accesses.push(access);
        let at = channel.accesses.len() - 1;
        if is_answered {
            self.answer(now, channel, at, recorder);
            channel.accesses.pop();
        } else if !waits {
            channel.accesses[at].stamp = Some(channel.next_stamp(now));
        }
        true
    }

    fn next_access(&self, number: usize) -> Access {
        let Pending { request, next_line: line, .. } = &self.requests[number];
        let kind = if matches!(request.operation, Operation::Read { .. }) { Kind::Read } else { Kind::Write };
        let payload = |bytes: &[u8]| {
            let at = (line - request.operation.target().0) as usize;
            bytes[at..at + LINE_BYTES as usize].try_into().expect("a write covers whole lines")
        };
        Access {
            request: number,
            id: request.id,
            source: request.source,
            kind,
            line: *line,
            place: self.config.planner.map().locate(PhysicalAddress(*line)).expect("it was checked"),
            stamp: None,
            activated: false,
            precharged: false,
            data: request.payload.as_deref().filter(|_| kind == Kind::Write).map(payload),
        }
    }

    /// Whether an access waits for a copy accepted before it (6).
    fn waits(&self, access: &Access) -> bool {
        let before = self.left().take_while(|(number, _)| *number < access.request);
        before
            .filter_map(|(_, pending)| pending.undelivered_copy())
            .any(|copy| conflicts(copy, access.kind, access.line))
    }

    /// Forwards a read from the write queue, if that contains its line (7).
    fn answer(&mut self, now: u64, channel: &Channel, at: usize, recorder: &mut Recorder) -> bool {
        let read = &channel.accesses[at];
        let Some(write) = channel.newest_write(read.line).filter(|_| read.kind == Kind::Read) else { return false };
        let data = write.data.as_ref().map(|line| &line[..]);
        self.requests[read.request].read_line(read.line, data, now + 1);
        recorder.figures.forwarded += 1;
        true
    }

    /// Records a command for a request.
    pub fn issued_for(&mut self, number: usize, now: u64) {
        self.requests[number].first_command.get_or_insert(Cycle(now));
    }

    /// Records the RD or WR of an access, whose data ends at `done`.
    pub fn served(&mut self, access: &Access, data: Option<&[u8]>, done: u64) {
        self.requests[access.request].read_line(access.line, data, done);
    }
}

impl Channel {
    /// The newest write of a line, blocked or queued.
    fn newest_write(&self, line: u64) -> Option<&Access> {
        self.accesses.iter().rfind(|access| access.kind == Kind::Write && access.line == line)
    }

    fn next_stamp(&mut self, now: u64) -> Stamp {
        self.stamped += 1;
        Stamp { cycle: now, order: self.stamped }
    }
}
