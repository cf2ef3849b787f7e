//! How requests come in, and how accesses are served.

use dram_spec::{Command, Cycle, Cycles, LINE_BYTES, Location, PhysicalAddress};
use rowclone::Operation;

use crate::access::{Access, Entry, Kind};
use crate::bank_queue::index;
use crate::engine::Controller;
use crate::outstanding::{Outstanding, lines};
use crate::recorder::Level;
use crate::request::{Counted, Request, RequestSource};

/// A request that is being accepted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming {
    slot: u32,
    kind: Option<Kind>,
    next_line: u64,
    end: u64,
    /// Where the next line lies, once that has been asked.
    place: Option<Location>,
}

/// An access that waits for jobs.
#[derive(Clone, Debug)]
pub(crate) struct Blocked {
    entry: Entry,
    /// The slots of the jobs that it conflicts with, and that are not delivered.
    jobs: Vec<u32>,
}

impl Controller {
    /// Takes requests, one after another, as far as they can be accepted. Says whether anything moved.
    pub(crate) fn take_in(&mut self, source: &mut impl RequestSource, now: Cycle) -> bool {
        let mut moved = false;
        loop {
            let mut incoming = match self.incoming.take() {
                Some(incoming) => incoming,
                None => match source.take(now) {
                    Some(request) => self.enter(request),
                    None => return moved,
                },
            };
            let accepted = match incoming.kind {
                None => self.accept_job(incoming.slot, now),
                Some(kind) => {
                    while incoming.next_line < incoming.end && self.accept_line(&mut incoming, kind, now) {
                        incoming.next_line += LINE_BYTES;
                        incoming.place = None;
                        moved = true;
                    }
                    incoming.next_line == incoming.end
                }
            };
            if !accepted {
                self.incoming = Some(incoming);
                self.is_held_up = true;
                return moved;
            }
            moved = true;
        }
    }

    /// A request was taken.
    fn enter(&mut self, request: Request) -> Incoming {
        let whole = lines(request.operation.target(), request.operation.bytes());
        let outstanding = Outstanding::new(request, self.taken, self.config.contents.is_some());
        self.taken += 1;
        let kind = match outstanding.request.operation {
            _ if outstanding.job.is_some() => None,
            Operation::Read { .. } => Some(Kind::Read),
            _ => Some(Kind::Write),
        };
        let slot = self.outstanding.insert(outstanding);
        Incoming { slot, kind, next_line: whole.start, end: whole.end, place: None }
    }

    /// A job joins those in progress, if there is room.
    fn accept_job(&mut self, slot: u32, now: Cycle) -> bool {
        if self.jobs.len() >= self.config.queues.copy_entries {
            return false;
        }
        let request = &mut self.outstanding[slot];
        let job = request.job.as_mut().expect("what is no read and no write of whole lines is a job");
        for entry in self.accesses.in_use() {
            let access = &mut self.accesses[entry];
            if !job.conflicts(access.kind, access.line.0) {
                continue;
            }
            job.waits_for += 1;
            if access.kind == Kind::Write && !access.blocked && !access.waited_for {
                let channel = &mut self.channels[usize::from(access.channel.0)];
                channel.forced += 1;
                channel.look_at = Cycle::ZERO;
            }
            access.waited_for = true;
            self.waiters.push((entry, slot));
        }
        let blocks = self.config.planner.blocks(&request.request.operation);
        self.planning.push_back((slot, blocks));
        self.jobs.push(slot);
        self.recorder.levels.rise(Level::Jobs, now);
        self.may_begin = true;
        true
    }

    /// A line of a read or of a write is accepted, if it can be.
    fn accept_line(&mut self, incoming: &mut Incoming, kind: Kind, now: Cycle) -> bool {
        let line = PhysicalAddress(incoming.next_line);
        let locate = || self.config.planner.map().locate(line).expect("requests lie in the memory");
        let place = *incoming.place.get_or_insert_with(locate);
        let full = self.recorder.levels.of(place.channel, kind) >= self.entries[kind as usize];
        // Another access may go to the same line, one of the other kind: for a read, one that answers it.
        let meets = self.channels[usize::from(place.channel.0)].queues.may_hold(kind.other(), line.0)
            || !self.blocked.is_empty();
        if meets || !self.jobs.is_empty() {
            return self.accept_among_others(incoming.slot, kind, (line, place), full, now);
        }
        if !full {
            self.take_entry(incoming.slot, kind, (line, place), Vec::new(), now);
        }
        !full
    }

    /// The same where another access may go to the line, or a job.
    #[cold]
    fn accept_among_others(
        &mut self,
        slot: u32,
        kind: Kind,
        (line, place): (PhysicalAddress, Location),
        full: bool,
        now: Cycle,
    ) -> bool {
        let conflicting = self.conflicting_jobs(kind, line);
        if kind == Kind::Read && conflicting.is_empty() && self.forward(slot, line, place, now) {
            return true;
        }
        if full || (kind == Kind::Write && self.newest(Kind::Read, line, place).is_some()) {
            return false;
        }
        self.take_entry(slot, kind, (line, place), conflicting, now);
        true
    }

    /// An access takes an entry, and its place in its bank if it waits for no job.
    #[inline]
    fn take_entry(
        &mut self,
        slot: u32,
        kind: Kind,
        (line, place): (PhysicalAddress, Location),
        conflicting: Vec<u32>,
        now: Cycle,
    ) {
        self.recorder.levels.enter(place.channel, kind, now);
        let entry = self.accesses.insert(Access::new(kind, slot, line, place));
        if conflicting.is_empty() {
            self.queue(entry, now);
        } else {
            self.accesses[entry].blocked = true;
            self.blocked.push(Blocked { entry, jobs: conflicting });
        }
    }

    fn conflicting_jobs(&self, kind: Kind, line: PhysicalAddress) -> Vec<u32> {
        let conflicts =
            |slot: &u32| self.outstanding[*slot].job.as_ref().is_some_and(|job| job.conflicts(kind, line.0));
        self.jobs.iter().copied().filter(conflicts).collect()
    }

    /// The newest access of that kind to a line.
    fn newest(&self, kind: Kind, line: PhysicalAddress, place: Location) -> Option<Entry> {
        if self.blocked.is_empty() {
            let queues = &self.channels[usize::from(place.channel.0)].queues;
            return queues.youngest_to(&self.accesses, (kind, place.bank, place.row), line.0);
        }
        // Whatever came after one that is blocked, and goes to the same line, is blocked too.
        let same = |blocked: &&Blocked| {
            let access = &self.accesses[blocked.entry];
            access.kind == kind && access.line == line
        };
        let blocked = self.blocked.iter().rev().find(same).map(|blocked| blocked.entry);
        let queues = &self.channels[usize::from(place.channel.0)].queues;
        blocked.or_else(|| queues.youngest_to(&self.accesses, (kind, place.bank, place.row), line.0))
    }

    /// Answers a read from the newest queued write of its line, if there is one.
    fn forward(&mut self, slot: u32, line: PhysicalAddress, place: Location, now: Cycle) -> bool {
        let Some(write) = self.newest(Kind::Write, line, place) else { return false };
        let bytes = self.outstanding[self.accesses[write].request].payload(line);
        let request = &mut self.outstanding[slot];
        request.receive(line, &bytes);
        request.lasts_until(now + Cycles(1));
        request.lines_left -= 1;
        self.recorder.figures.forwarded += 1;
        self.settle(slot);
        true
    }

    /// An access takes its place in its bank.
    fn queue(&mut self, entry: Entry, now: Cycle) {
        let number = self.number();
        let access = &mut self.accesses[entry];
        access.number = number;
        access.queued = now;
        let channel = &mut self.channels[usize::from(access.channel.0)];
        channel.queue(&mut self.accesses, entry, now);
    }

    /// A job is delivered: what waited for nothing else is accepted again.
    pub(crate) fn release_blocked(&mut self, job: u32, now: Cycle) {
        if self.blocked.is_empty() {
            return;
        }
        for blocked in &mut self.blocked {
            blocked.jobs.retain(|&other| other != job);
        }
        let mut at = 0;
        while at < self.blocked.len() {
            if !self.blocked[at].jobs.is_empty() {
                at += 1;
                continue;
            }
            let entry = self.blocked.remove(at).entry;
            self.accesses[entry].blocked = false;
            let access = &self.accesses[entry];
            let (kind, request, line, place) = (access.kind, access.request, access.line, access.place());
            if kind == Kind::Read && self.forward(request, line, place, now) {
                self.leave(entry, now);
            } else {
                if kind == Kind::Write && self.accesses[entry].waited_for {
                    self.channels[usize::from(place.channel.0)].forced += 1;
                }
                self.queue(entry, now);
            }
        }
    }

    /// An access gives its entry back; who waited for it, goes on.
    fn leave(&mut self, entry: Entry, now: Cycle) -> Access {
        let access = self.accesses.remove(entry);
        self.recorder.levels.leave(access.channel, access.kind, now);
        self.made_room();
        if access.waited_for {
            self.tell_waiters(entry);
        }
        access
    }

    /// Jobs that waited for an access do so no more.
    fn tell_waiters(&mut self, left: Entry) {
        let outstanding = &mut self.outstanding;
        let may_begin = &mut self.may_begin;
        self.waiters.retain(|&(entry, job)| {
            if entry == left {
                let job = outstanding[job].job_mut();
                job.waits_for -= 1;
                *may_begin |= job.waits_for == 0;
            }
            entry != left
        });
    }

    /// A job is delivered: one without segments is done while it waits for accesses, and they need not hurry for it.
    pub(crate) fn wait_no_more(&mut self, delivered: u32, now: Cycle) {
        let waited: Vec<Entry> =
            self.waiters.iter().filter(|(_, job)| *job == delivered).map(|&(entry, _)| entry).collect();
        self.waiters.retain(|&(_, job)| job != delivered);
        for entry in waited {
            let access = &mut self.accesses[entry];
            access.waited_for = self.waiters.iter().any(|&(other, _)| other == entry);
            if !access.waited_for && access.kind == Kind::Write && !access.blocked {
                let channel = &mut self.channels[usize::from(access.channel.0)];
                channel.forced -= 1;
                channel.look_at = channel.look_at.min(now);
            }
        }
    }

    /// A command was issued for an access.
    pub(crate) fn serve(&mut self, channel: usize, now: Cycle, entry: Entry, command: &Command, counted: Counted) {
        let access = &mut self.accesses[entry];
        self.outstanding[access.request].issued(now, counted);
        match command {
            Command::Precharge { .. } => access.closed = true,
            Command::Activate { .. } => access.opened = true,
            _ => self.access_made(channel, now, entry),
        }
    }

    /// The RD or WR of an access was issued.
    fn access_made(&mut self, channel: usize, now: Cycle, entry: Entry) {
        let access = self.leave(entry, now);
        let state = &mut self.channels[channel];
        state.banks[index(access.bank)].served += 1;
        state.vacate(access.bank, now);
        if access.kind == Kind::Write && access.waited_for {
            state.forced -= 1;
        }
        let figures = &mut self.recorder.figures;
        let outcomes = match access.kind {
            Kind::Read => &mut figures.reads,
            Kind::Write => &mut figures.writes,
        };
        match (access.closed, access.opened) {
            (true, _) => outcomes.conflicts += 1,
            (false, true) => outcomes.misses += 1,
            (false, false) => outcomes.hits += 1,
        }
        let request = &mut self.outstanding[access.request];
        let done = match access.kind {
            Kind::Read => {
                if let Some(bytes) = state.device.read_line(access.bank, access.row, access.column) {
                    request.receive(access.line, &bytes);
                }
                now + state.read_data()
            }
            Kind::Write => {
                if self.config.contents.is_some() {
                    let bytes = request.payload(access.line);
                    state.device.write_line(access.bank, access.row, access.column, &bytes);
                }
                now + state.write_data()
            }
        };
        request.lasts_until(done);
        request.lines_left -= 1;
        self.settle(access.request);
        if access.kind == Kind::Read && self.is_waited_for(access.channel, access.bank) {
            self.may_begin = true;
        }
    }
}
