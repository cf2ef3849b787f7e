//! Admission: division of requests into accesses and copies. Rules 2 to 8 of `docs/controller.md`.

use dram_spec::address::Locator;
use dram_spec::{
    BankIndex, Channel as ChannelId, Column, Cycle, Cycles, LINE_BYTES, Location, Operation, PhysicalAddress, Row,
};

use super::FrontEnd;
use super::hazards::{CopyLines, is_whole_lines, whole_lines};
use crate::channel::{Access, AccessKind, Channel, QueuedAccess, line_hash};
use crate::request::Request;

/// The request being accepted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    /// Reason why it waits.
    pub(crate) waits: Wait,
    work: Work,
}

/// Remainder of a request to accept.
#[derive(Clone, Copy, Debug)]
enum Work {
    /// Lines of a read or a write: the next line, and the number of the last.
    Lines(NextLine, u32),
    /// A copy, by its slot.
    Copy(u32),
}

/// The line to accept next.
#[derive(Clone, Copy, Debug)]
struct NextLine {
    address: PhysicalAddress,
    channel: ChannelId,
    access: Access,
}

/// Reason why the head request waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The next cycle.
    NextCycle,
    /// A free entry of a kind on a channel.
    Entry(ChannelId, AccessKind),
    /// The RD of a read of the written line, on a channel.
    Read(ChannelId),
    /// The delivery of a copy.
    Copy,
}

/// Location of a line.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    channel: ChannelId,
    bank: BankIndex,
    row: Row,
    column: Column,
}

/// Locator of the lines of requests, which are usually consecutive.
pub(crate) type LineLocator = Locator<Place>;

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
    fn has_room(&self, place: usize, now: Cycle) -> bool {
        let (cycle, count) = self.accepted[place];
        cycle != now || count < self.per_cycle
    }

    #[inline]
    fn take(&mut self, place: usize, now: Cycle) {
        let (cycle, count) = &mut self.accepted[place];
        *count = if *cycle == now { *count + 1 } else { 1 };
        *cycle = now;
    }

    fn copies(&self) -> usize {
        self.accepted.len() - 1
    }
}

impl FrontEnd {
    /// Makes a request the head request.
    #[inline]
    pub(crate) fn enter(&mut self, request: Request) {
        let (operation, id, source) = (request.operation, request.id, request.source);
        let slot = self.in_flight.insert(request);
        let kind = match operation {
            Operation::Read { .. } => AccessKind::Read,
            Operation::Write { address, bytes } if is_whole_lines(address, bytes) => AccessKind::Write,
            Operation::Write { .. } | Operation::Copy { .. } | Operation::Init { .. } => {
                self.head = Some(Head { work: Work::Copy(slot), waits: Wait::NextCycle });
                return;
            }
        };
        let lines = whole_lines(operation.target(), operation.bytes());
        let count = ((lines.end - lines.start) / LINE_BYTES) as u32;
        let in_flight = self.in_flight.get_mut(slot);
        in_flight.lines_left = count;
        if self.has_contents && kind == AccessKind::Read {
            in_flight.keep_data();
        }
        let (bank, row, column) = (BankIndex::default(), Row(0), Column(0));
        let access = Access { id, slot, line: 0, kind, source, bank, row, column, filter: 0 };
        let next = NextLine { address: PhysicalAddress(lines.start), channel: ChannelId(0), access };
        self.head = Some(Head { work: Work::Lines(self.located(next), count - 1), waits: Wait::NextCycle });
    }

    /// The line with the location of its address.
    #[inline]
    fn located(&mut self, line: NextLine) -> NextLine {
        let topology = self.topology;
        let keep = |place: Location| Place {
            channel: place.channel,
            bank: topology.index(place.bank),
            row: place.row,
            column: place.column,
        };
        let located = self.locator.locate(self.planner.map(), line.address, keep);
        let (Place { channel, bank, row, column }, further) = located.expect("requests lie in the memory");
        let column = Column(column.0 + further);
        let filter = line_hash(bank, row, column);
        NextLine { channel, access: Access { row, column, bank, filter, ..line.access }, ..line }
    }

    /// Accepts as much of the head request as possible in this cycle; returns whether it is
    /// completely accepted.
    #[inline]
    pub(crate) fn admit(&mut self, channels: &mut [Channel], now: Cycle) -> bool {
        loop {
            let Some(Head { work, .. }) = &self.head else { return true };
            let (slot, waits) = match work {
                Work::Copy(slot) => (*slot, self.admit_copy(*slot, channels, now)),
                Work::Lines(line, _) => {
                    let (slot, channel) = (line.access.slot, &mut channels[usize::from(line.channel.0)]);
                    match self.obstacle(line, channel, now) {
                        Some(waits) => (slot, Some(waits)),
                        None => (slot, self.admit_line(*line, channel, now)),
                    }
                }
            };
            if let (Some(waits), Some(head)) = (waits, &mut self.head) {
                head.waits = waits;
                return false;
            }
            self.in_flight.get_mut(slot).accepted_at(now);
            self.next_line();
        }
    }

    /// Advances the head request to its next line, if any.
    #[inline]
    fn next_line(&mut self) {
        match &self.head {
            Some(Head { work: Work::Lines(line, last), .. }) if line.access.line < *last => {
                let (address, number, last) = (line.address.0 + LINE_BYTES, line.access.line + 1, *last);
                let access = Access { line: number, ..line.access };
                let next = NextLine { address: PhysicalAddress(address), access, ..*line };
                self.head = Some(Head { waits: Wait::NextCycle, work: Work::Lines(self.located(next), last) });
            }
            _ => self.head = None,
        }
    }

    /// The reason why entries, or the accesses of the cycle, prevent the acceptance of a line, if
    /// any.
    #[inline]
    fn obstacle(&self, line: &NextLine, channel: &Channel, now: Cycle) -> Option<Wait> {
        let NextLine { channel: id, access, .. } = line;
        if self.is_full(channel, access.kind) && !self.may_meet(channel, access) {
            Some(Wait::Entry(*id, access.kind))
        } else if !self.budget.has_room(usize::from(id.0), now) {
            Some(Wait::NextCycle)
        } else {
            None
        }
    }

    #[inline]
    fn is_full(&self, channel: &Channel, kind: AccessKind) -> bool {
        channel.queued().entries(kind) >= self.entries[kind as usize]
    }

    /// Accepts a line without an [obstacle](Self::obstacle), or returns why it waits.
    #[inline]
    fn admit_line(&mut self, line: NextLine, channel: &mut Channel, now: Cycle) -> Option<Wait> {
        let NextLine { address, channel: id, access } = line;
        let (kind, index) = (access.kind, usize::from(id.0));
        let copies = if self.hazards.copies() == 0 { 0 } else { self.hazards.conflicts(kind, address) };
        if self.may_meet(channel, &access) {
            if kind == AccessKind::Read && copies == 0 && self.forward(&access, channel, address, now) {
                self.budget.take(index, now);
                return None;
            }
            if kind == AccessKind::Write && self.is_read_awaited(channel, &access, address) {
                return Some(Wait::Read(id));
            }
            if self.is_full(channel, kind) {
                return Some(Wait::Entry(id, kind));
            }
        }
        self.budget.take(index, now);
        channel.queues().take_entry(kind, now);
        if copies > 0 {
            let accepted = self.in_flight.get(access.slot).accepted;
            self.hazards.block(id, access, address, accepted, copies);
        } else {
            channel.queue(&access, now);
        }
        None
    }

    /// Whether an access of the other kind to the line may be queued or blocked; `false` is
    /// certain.
    #[inline]
    fn may_meet(&self, channel: &Channel, access: &Access) -> bool {
        let other = access.kind.other();
        channel.queued().may_hold(other, access.filter) || self.hazards.is_any_blocked()
    }

    /// Whether a read of the line is queued or blocked.
    fn is_read_awaited(&self, channel: &Channel, access: &Access, line: PhysicalAddress) -> bool {
        channel.queued().newest_of_line(AccessKind::Read, access.bank, access.row, access.column).is_some()
            || self.hazards.newest_blocked(AccessKind::Read, line).is_some()
    }

    /// Forwards a read from the newest write of its line in the write queue, if there is one.
    #[inline]
    pub(crate) fn forward(&mut self, access: &Access, channel: &Channel, line: PhysicalAddress, now: Cycle) -> bool {
        let queued = channel.queued().newest_of_line(AccessKind::Write, access.bank, access.row, access.column);
        let queued = queued.map(QueuedAccess::slot);
        let blocked = self.hazards.newest_blocked(AccessKind::Write, line).map(|write| write.access.slot);
        let Some(write) = self.newest(queued, blocked) else { return false };
        if self.has_contents {
            let bytes = self.line_of_write(write, line);
            self.in_flight.get_mut(access.slot).line_read(line, &bytes);
        }
        self.recorder.figures.forwarded += 1;
        self.line_done(access.slot, now + Cycles(1));
        true
    }

    /// The later accepted of the requests in two slots.
    fn newest(&self, one: Option<u32>, other: Option<u32>) -> Option<u32> {
        [one, other].into_iter().flatten().max_by_key(|&slot| self.in_flight.get(slot).accepted)
    }

    /// Accepts a copy, or returns why it waits.
    #[inline(never)]
    fn admit_copy(&mut self, slot: u32, channels: &mut [Channel], now: Cycle) -> Option<Wait> {
        if self.hazards.copies() >= self.copy_entries {
            return Some(Wait::Copy);
        }
        let place = self.budget.copies();
        if !self.budget.has_room(place, now) {
            return Some(Wait::NextCycle);
        }
        self.budget.take(place, now);
        let (operation, accepted) = (self.in_flight.get(slot).operation, self.in_flight.get(slot).accepted);
        let lines = CopyLines::new(&operation);
        let mut waits_for = 0;
        for channel in channels {
            for kind in [AccessKind::Read, AccessKind::Write] {
                let in_flight = &self.in_flight;
                let line = |access: &QueuedAccess| in_flight.get(access.slot()).line(access.line());
                let found = channel.queues().await_where(kind, |access| lines.conflicts(kind, line(access)));
                waits_for += found as u32;
                if found > 0 {
                    // The write drain serves writes for which a copy waits.
                    channel.changed(now);
                }
            }
        }
        waits_for += self.hazards.copy_accepted(slot, accepted, lines);
        let blocks = self.planner.blocks(&operation);
        self.in_flight.begin_copy(slot, blocks, waits_for);
        self.recorder.copies.enter(now);
        self.dispatch.order.push_back(slot);
        None
    }
}
