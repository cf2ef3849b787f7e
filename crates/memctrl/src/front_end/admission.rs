//! Admission: division of requests into accesses and copies. Rules 2 to 8 of `docs/controller.md`.

use std::ops::Range;

use dram_spec::address::Locator;
use dram_spec::{
    BankIndex, Channel as ChannelId, Column, Cycle, Cycles, LINE_BYTES, Location, Operation, PhysicalAddress, Row,
};

use super::FrontEnd;
use super::hazards::{is_whole_lines, whole_lines};
use crate::access::{AccessKind, LineAccess};
use crate::channel::Channel;
use crate::queues::line_hash;
use crate::request::Request;

/// The request being accepted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    waits: Wait,
    /// The slot of a copy; without it, the request is a read or a write.
    copy: Option<u32>,
    /// Lines of a read or a write that are not accepted.
    lines: WaitingLines,
}

/// The lines of a read or a write that are not accepted.
#[derive(Clone, Copy, Debug)]
struct WaitingLines {
    /// Channel and access of the next line.
    channel: ChannelId,
    access: LineAccess,
    /// Address of the last line.
    last: PhysicalAddress,
    /// Position of the request in the order of acceptance.
    accepted: u64,
}

impl Head {
    /// No request.
    pub(crate) const NONE: Head = Head {
        waits: Wait::Request,
        copy: None,
        lines: WaitingLines { channel: ChannelId(0), access: LineAccess::NONE, last: PhysicalAddress(0), accepted: 0 },
    };

    /// Whether there is no request.
    #[inline]
    pub(crate) fn is_none(&self) -> bool {
        self.waits == Wait::Request
    }

    /// What it waits for.
    #[inline]
    pub(crate) fn waits(&self) -> Wait {
        self.waits
    }

    /// The channel and the kind of access that must be served there before the next line is accepted,
    /// if it waits for that.
    #[inline]
    pub(crate) fn awaits(&self) -> Option<(ChannelId, AccessKind)> {
        match self.waits {
            Wait::Entry => Some((self.lines.channel, self.lines.access.kind)),
            Wait::Read => Some((self.lines.channel, AccessKind::Read)),
            Wait::Request | Wait::NextCycle | Wait::Copy => None,
        }
    }
}

/// What the acceptance of the next line, or of the copy, waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The next request.
    Request,
    /// The next cycle.
    NextCycle,
    /// A free entry of the line's kind on its channel.
    Entry,
    /// The RD of a read of the written line.
    Read,
    /// The delivery of a copy.
    Copy,
}

/// Location of a line.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LineLocation {
    channel: ChannelId,
    bank: BankIndex,
    row: Row,
    column: Column,
}

/// Locator of the lines of requests, which are usually consecutive.
pub(crate) type LineLocator = Locator<LineLocation>;

/// Numbers of accesses accepted by each channel, and of copies accepted by the front end, in a
/// cycle.
#[derive(Debug)]
pub(crate) struct Budget {
    per_cycle: usize,
    /// Latest cycle and number accepted in it, by channel, with the copies last.
    accepted: Vec<(Cycle, usize)>,
}

impl Budget {
    pub(crate) fn new(per_cycle: usize, channels: usize) -> Budget {
        Budget { per_cycle, accepted: vec![(Cycle::NEVER, 0); channels + 1] }
    }

    /// Whether one more can be accepted in this cycle.
    #[inline]
    pub(super) fn has_room(&self, place: usize, now: Cycle) -> bool {
        let (cycle, count) = self.accepted[place];
        cycle != now || count < self.per_cycle
    }

    #[inline]
    pub(super) fn take(&mut self, place: usize, now: Cycle) {
        let (cycle, count) = &mut self.accepted[place];
        *count = if *cycle == now { *count + 1 } else { 1 };
        *cycle = now;
    }

    pub(super) fn copies(&self) -> usize {
        self.accepted.len() - 1
    }
}

impl FrontEnd {
    /// Makes a request the head request, and accepts as much of it as possible in this cycle.
    /// Completions of reads and writes of one line are `reported` or only counted.
    #[inline]
    pub(crate) fn enter(&mut self, request: Request, is_reported: bool, channels: &mut [Channel], now: Cycle) {
        let Request { id, source, arrival, operation, .. } = request;
        let kind = match operation {
            Operation::Read { .. } => AccessKind::Read,
            Operation::Write { address, bytes } if is_whole_lines(address, bytes) => AccessKind::Write,
            Operation::Write { .. } | Operation::Copy { .. } | Operation::Init { .. } => {
                self.head.copy = Some(self.in_flight.insert(request));
                self.head.waits = Wait::NextCycle;
                self.admit(channels, now);
                return;
            }
        };
        let lines = whole_lines(operation.target(), operation.bytes());
        let (address, last) = (PhysicalAddress(lines.start), PhysicalAddress(lines.end - LINE_BYTES));
        // A part of a line is stored in the table.
        let is_part = self.has_contents && operation.bytes() < LINE_BYTES;
        let (slot, accepted) = if is_reported || address != last || is_part {
            self.enter_table(request, lines, kind)
        } else {
            let slot = if self.has_contents { self.unreported.add(request) } else { LineAccess::NO_SLOT };
            self.recorder.accesses.unreported += 1;
            (slot, self.in_flight.next_accepted())
        };
        let arrival = arrival.unwrap_or(Cycle::NEVER);
        let head = &mut self.head;
        (head.copy, head.lines.last, head.lines.accepted) = (None, last, accepted);
        let access = &mut head.lines.access;
        (access.id, access.source, access.kind, access.slot) = (id, source, kind, slot);
        (access.arrival, access.address) = (arrival, address);
        self.locate();
        if self.has_no_entry(&channels[usize::from(self.head.lines.channel.0)]) {
            self.head.waits = Wait::Entry;
        } else {
            self.admit_lines(channels, now);
        }
    }

    /// Adds a read or a write to the requests in flight; returns its slot, and its position in the
    /// order of acceptance.
    fn enter_table(&mut self, request: Request, lines: Range<u64>, kind: AccessKind) -> (u32, u64) {
        let slot = self.in_flight.insert(request);
        let in_flight = self.in_flight.get_mut(slot);
        in_flight.lines_left = ((lines.end - lines.start) / LINE_BYTES) as u32;
        if self.has_contents && kind == AccessKind::Read {
            in_flight.keep_data();
        }
        (slot, in_flight.accepted)
    }

    /// Looks up the location of the next line.
    #[inline]
    fn locate(&mut self) {
        let topology = self.topology;
        let keep = |place: Location| LineLocation {
            channel: place.channel,
            bank: topology.index(place.bank),
            row: place.row,
            column: place.column,
        };
        let lines = &mut self.head.lines;
        let located = self.locator.locate(self.planner.map(), lines.access.address, keep);
        let (LineLocation { channel, bank, row, column }, further) = located.expect("requests lie in the memory");
        let (column, access) = (Column(column.0 + further), &mut lines.access);
        (access.bank, access.row, access.column, access.filter) = (bank, row, column, line_hash(bank, row, column));
        lines.channel = channel;
    }

    /// Accepts as much of the head request as possible in this cycle; returns whether it is
    /// completely accepted.
    #[inline]
    pub(crate) fn admit(&mut self, channels: &mut [Channel], now: Cycle) -> bool {
        if self.head.is_none() {
            return true;
        }
        let Some(slot) = self.head.copy else { return self.admit_lines(channels, now) };
        self.head.waits = self.admit_copy(slot, channels, now);
        let is_accepted = self.head.is_none();
        if is_accepted {
            self.in_flight.get_mut(slot).accepted_at(now);
        }
        is_accepted
    }

    /// Accepts as many lines of the head request as possible in this cycle; returns whether these
    /// were all.
    #[inline(never)]
    fn admit_lines(&mut self, channels: &mut [Channel], now: Cycle) -> bool {
        loop {
            let channel = &mut channels[usize::from(self.head.lines.channel.0)];
            self.head.waits = self.admit_line(channel, now);
            if !self.head.is_none() {
                return false;
            }
            if self.head.lines.access.address == self.head.lines.last {
                return true;
            }
            self.head.lines.access.address.0 += LINE_BYTES;
            self.locate();
        }
    }

    /// Whether the next line needs an entry, and there is none.
    #[inline]
    fn has_no_entry(&self, channel: &Channel) -> bool {
        let access = &self.head.lines.access;
        self.is_full(channel, access.kind) && !self.may_meet(channel, access)
    }

    #[inline]
    fn is_full(&self, channel: &Channel, kind: AccessKind) -> bool {
        channel.queued().entries(kind) >= self.entries[kind as usize]
    }

    /// Accepts the next line; returns what the acceptance of it, or of the next request, waits for.
    #[inline]
    fn admit_line(&mut self, channel: &mut Channel, now: Cycle) -> Wait {
        let LineAccess { kind, address, .. } = self.head.lines.access;
        if self.has_no_entry(channel) {
            return Wait::Entry;
        }
        let (is_full, may_meet) = (self.is_full(channel, kind), self.may_meet(channel, &self.head.lines.access));
        let index = usize::from(channel.id.0);
        if !self.budget.has_room(index, now) {
            return Wait::NextCycle;
        }
        let copies = if self.hazards.copies() == 0 { 0 } else { self.hazards.conflicts(kind, address) };
        if may_meet {
            let access = self.head.lines.access;
            if kind == AccessKind::Read && copies == 0 && self.forward(&access, channel, now) {
                self.budget.take(index, now);
                return Wait::Request;
            }
            if kind == AccessKind::Write && self.is_read_awaited(channel, &access) {
                return Wait::Read;
            }
            if is_full {
                return Wait::Entry;
            }
        }
        self.budget.take(index, now);
        channel.queues().take_entry(kind, now);
        let LineAccess { slot, arrival, .. } = self.head.lines.access;
        self.head.lines.access.arrival = self.accepted(slot, arrival, now);
        let WaitingLines { access, accepted, .. } = &self.head.lines;
        if copies > 0 {
            self.hazards.block(channel.id, *access, *accepted, copies);
        } else {
            channel.queue(access, now);
        }
        Wait::Request
    }

    /// Records that a line was accepted; returns the arrival of its request.
    #[inline]
    fn accepted(&mut self, slot: u32, arrival: Cycle, now: Cycle) -> Cycle {
        if slot < LineAccess::UNREPORTED {
            self.in_flight.get_mut(slot).accepted_at(now);
        }
        arrival.min(now)
    }

    /// Whether an access of the other kind to the line may be queued or blocked; `false` is
    /// certain.
    #[inline]
    fn may_meet(&self, channel: &Channel, access: &LineAccess) -> bool {
        let other = access.kind.other();
        channel.queued().may_hold(other, access.filter) || self.hazards.is_any_blocked()
    }

    /// Whether a read of the line is queued or blocked.
    fn is_read_awaited(&self, channel: &Channel, access: &LineAccess) -> bool {
        channel.queued().newest_of_line(AccessKind::Read, access.bank, access.row, access.column).is_some()
            || self.hazards.newest_blocked(AccessKind::Read, access.address).is_some()
    }

    /// Forwards a read from the newest write of its line that is not issued, if there is one.
    #[inline]
    pub(crate) fn forward(&mut self, access: &LineAccess, channel: &Channel, now: Cycle) -> bool {
        let queued = channel.queued().newest_of_line(AccessKind::Write, access.bank, access.row, access.column);
        let queued = queued.map(|write| write.access);
        let blocked = self.hazards.newest_blocked(AccessKind::Write, access.address).map(|write| write.access);
        // A write that waits for a copy is newer than a queued one, which would wait for it, too.
        let Some(write) = blocked.or(queued) else { return false };
        if self.has_contents {
            let bytes = self.line_of_write(&write);
            self.line_read(access, &bytes);
        }
        self.recorder.figures.forwarded += 1;
        let arrival = self.accepted(access.slot, access.arrival, now);
        self.line_done(access.kind, access.slot, arrival, now + Cycles(1));
        true
    }
}
