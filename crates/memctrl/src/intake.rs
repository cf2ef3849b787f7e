//! How requests come in.

use dram_spec::{Channel, Cycle, Cycles, LINE_BYTES, PhysicalAddress};
use rowclone::Operation;

use crate::access::{Access, Entry, Kind};
use crate::channel::{ChannelState, Joined};
use crate::done::{ALONE, Alone};
use crate::engine::Controller;
use crate::front_end::FrontEnd;
use crate::outstanding::{Lines, lines};
use crate::request::{Request, RequestSource};
use crate::spot::Spot;

/// What comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing: the next request is taken when it arrives.
    Idle,
    /// A read or a write of whole lines.
    Lines,
    /// Any other request.
    Job,
}

/// A queue, seen from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Queue {
    Same,
    Other,
}

/// How much of what comes in was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// All that could be: the rest waits, or has not arrived.
    All,
    /// What comes in goes elsewhere.
    Some,
}

/// A request that is being accepted. Of a job, its slot alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming {
    slot: u32,
    /// What is kept of it, where it has no slot.
    alone: Alone,
    kind: Kind,
    /// The line to be accepted next.
    line: u64,
    /// Where it lies.
    spot: Spot,
    /// The end of its lines.
    end: u64,
    /// Whether its line is known to meet no other access and no job, and waits for nothing but room. It stays so: nothing comes in before
    /// it.
    wants_room: bool,
}

impl Default for Incoming {
    fn default() -> Incoming {
        let (alone, spot) = (Alone::NONE, Spot::default());
        Incoming { slot: 0, alone, kind: Kind::Read, line: 0, spot, end: 0, wants_room: false }
    }
}

impl Incoming {
    /// The access of its line, which is not queued.
    #[inline]
    fn access(&self) -> Access {
        Access::new(self.kind, self.slot, self.alone, PhysicalAddress(self.line), self.spot)
    }
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
            let front = &mut self.front;
            match front.state {
                State::Idle => {
                    let Some(request) = &mut source.take(now) else { return moved };
                    front.enter(request);
                }
                State::Lines => {
                    let channel = &mut self.channels[usize::from(front.incoming.spot.channel().0)];
                    if front.take_lines(channel, source, now, &mut moved) == Taken::All {
                        return moved;
                    }
                }
                State::Job => {
                    if !self.accept_job(now) {
                        self.front.is_held_up = true;
                        return moved;
                    }
                    self.front.state = State::Idle;
                    moved = true;
                }
            }
        }
    }

    /// A job joins those in progress, if there is room.
    fn accept_job(&mut self, now: Cycle) -> bool {
        let front = &mut self.front;
        let slot = front.incoming.slot;
        if front.jobs.len() >= front.config.queues.copy_entries {
            return false;
        }
        let request = &mut front.outstanding[slot];
        let job = request.job.as_mut().expect("what is no read and no write of whole lines is a job");
        for entry in front.accesses.in_use() {
            let access = &mut front.accesses[entry];
            if !job.conflicts(access.kind, access.line.0) {
                continue;
            }
            job.waits_for += 1;
            if access.kind == Kind::Write && !access.blocked && !access.waited_for {
                let channel = &mut self.channels[usize::from(access.spot.channel().0)];
                channel.force();
                channel.look_at = Cycle::ZERO;
            }
            access.waited_for = true;
            front.waiters.push((entry, slot));
        }
        let blocks = front.config.planner.blocks(&request.request.operation);
        self.planning.push_back((slot, blocks));
        front.jobs.push(slot);
        front.recorder.levels.job_enters(now);
        front.may_begin = true;
        true
    }

    /// A job is delivered: what waited for nothing else is accepted again.
    pub(crate) fn release_blocked(&mut self, job: u32, now: Cycle) {
        if self.front.blocked.is_empty() {
            return;
        }
        for blocked in &mut self.front.blocked {
            blocked.jobs.retain(|&other| other != job);
        }
        let mut at = 0;
        while at < self.front.blocked.len() {
            if !self.front.blocked[at].jobs.is_empty() {
                at += 1;
                continue;
            }
            let entry = self.front.blocked.remove(at).entry;
            self.front.accesses[entry].blocked = false;
            let access = &self.front.accesses[entry];
            let &Access { kind, request, alone, line, spot, .. } = access;
            let channel = &mut self.channels[usize::from(spot.channel().0)];
            if kind == Kind::Read && self.front.forward(channel, request, alone, line, spot, now) {
                self.front.leave_unserved(entry, now);
            } else {
                if kind == Kind::Write && self.front.accesses[entry].waited_for {
                    channel.force();
                }
                self.front.queue(channel, entry, now);
            }
        }
    }

    /// A job is delivered: one without segments is done while it waits for accesses, and they need not hurry for it.
    pub(crate) fn wait_no_more(&mut self, delivered: u32, now: Cycle) {
        let waited: Vec<Entry> =
            self.front.waiters.iter().filter(|(_, job)| *job == delivered).map(|&(entry, _)| entry).collect();
        self.front.waiters.retain(|&(_, job)| job != delivered);
        for entry in waited {
            let access = &mut self.front.accesses[entry];
            access.waited_for = self.front.waiters.iter().any(|&(other, _)| other == entry);
            if !access.waited_for && access.kind == Kind::Write && !access.blocked {
                let channel = &mut self.channels[usize::from(access.spot.channel().0)];
                channel.force_no_more();
                channel.look_at = channel.look_at.min(now);
            }
        }
    }
}

impl FrontEnd {
    /// In which queue what comes in waits for nothing but room, where it does: that which a channel serves, or another.
    #[inline]
    pub(crate) fn wants_room_in(&self, channel: &ChannelState) -> Option<Queue> {
        let incoming = &self.incoming;
        let waits = self.state == State::Lines && incoming.wants_room;
        let same_queue = incoming.kind == channel.mode && incoming.spot.channel() == channel.id;
        waits.then_some(if same_queue { Queue::Same } else { Queue::Other })
    }

    /// After [`Self::replace`], takes the next request if need be. Says in which queue of the channel it waits for room, if it does so, and
    /// for nothing else.
    #[inline]
    pub(crate) fn take_next(
        &mut self,
        channel: &ChannelState,
        is_whole: bool,
        source: &mut impl RequestSource,
        now: Cycle,
    ) -> Option<Queue> {
        let before = self.incoming.kind;
        if is_whole {
            let Some(request) = &mut source.take(now) else {
                (self.state, self.is_held_up) = (State::Idle, false);
                return None;
            };
            self.enter(request);
        }
        let incoming = &self.incoming;
        let kind = incoming.kind;
        // The queue in which it took the place of another is as full as it was.
        let is_full = kind == before || self.is_full(channel.id, kind);
        let waits = is_full
            && self.state == State::Lines
            && incoming.spot.channel() == channel.id
            && self.jobs.is_empty()
            && !channel.queues.may_hold(kind.other(), incoming.line);
        (self.incoming.wants_room, self.is_held_up) = (waits, waits);
        waits.then_some(if kind == before { Queue::Same } else { Queue::Other })
    }

    /// Whether a channel has no room for accesses of a kind.
    #[inline]
    fn is_full(&self, id: Channel, kind: Kind) -> bool {
        self.recorder.levels.of(id, kind) >= self.entries[kind as usize]
    }

    /// A request was taken.
    #[expect(clippy::inline_always, reason = "the request is then taken apart where it was made")]
    #[inline(always)]
    fn enter(&mut self, request: &mut Request) {
        let (Operation::Read { address, bytes } | Operation::Write { address, bytes }) = request.operation else {
            return self.enter_job(request);
        };
        let is_read = matches!(request.operation, Operation::Read { .. });
        let whole = lines(address, bytes);
        if !is_read && whole.end - whole.start != bytes {
            return self.enter_job(request);
        }
        let spot = self.spot(whole.start);
        // Of more than a line, nobody asks it for its bytes.
        let alone = Alone::new(request.id, request.arrival, self.taken, address, bytes % 256);
        let is_alone = whole.end - whole.start == LINE_BYTES && self.config.contents.is_none();
        let slot = if is_alone { ALONE } else { self.give_slot(request, &whole) };
        self.taken += 1;
        let kind = if is_read { Kind::Read } else { Kind::Write };
        self.incoming = Incoming { slot, alone, kind, line: whole.start, spot, end: whole.end, wants_room: false };
        self.state = State::Lines;
    }

    /// A read or a write of whole lines was taken that needs a slot.
    #[inline(never)]
    fn give_slot(&mut self, request: &mut Request, whole: &Lines) -> u32 {
        let slot = self.outstanding.insert(request, self.taken, whole);
        if let (Operation::Read { bytes, .. }, Some(_)) = (request.operation, &self.config.contents) {
            self.outstanding[slot].keep_data(bytes);
        }
        slot
    }

    /// A copy, an initialisation or a write of parts of lines was taken.
    #[inline(never)]
    fn enter_job(&mut self, request: &mut Request) {
        self.incoming.slot = self.outstanding.insert_job(request, self.taken);
        self.taken += 1;
        self.state = State::Job;
    }

    #[inline]
    fn spot(&mut self, line: u64) -> Spot {
        let located = self.locator.locate(self.config.planner.map(), PhysicalAddress(line), Spot::from);
        let (first, columns) = located.expect("requests lie in the memory");
        first.further(columns)
    }

    /// Takes lines of a channel, of what comes in and of the requests after it, as far as they can be accepted. Says what is left, and whether
    /// any moved.
    #[inline(never)]
    pub(crate) fn take_lines(
        &mut self,
        channel: &mut ChannelState,
        source: &mut impl RequestSource,
        now: Cycle,
        moved: &mut bool,
    ) -> Taken {
        let mut joined = Joined::default();
        let taken = self.take_each_line(channel, source, now, (moved, &mut joined));
        channel.joined(joined, now);
        taken
    }

    #[inline]
    fn take_each_line(
        &mut self,
        channel: &mut ChannelState,
        source: &mut impl RequestSource,
        now: Cycle,
        (moved, joined): (&mut bool, &mut Joined),
    ) -> Taken {
        while self.state == State::Lines && self.incoming.spot.channel() == channel.id {
            if !self.accept_line(channel, now, joined) {
                self.is_held_up = true;
                return Taken::All;
            }
            *moved = true;
            if !self.goes_on() {
                self.state = State::Idle;
                let Some(request) = &mut source.take(now) else { return Taken::All };
                self.enter(request);
            }
        }
        Taken::Some
    }

    /// A line was accepted: the next one follows, if there is one.
    #[inline]
    fn goes_on(&mut self) -> bool {
        let line = self.incoming.line + LINE_BYTES;
        if line == self.incoming.end {
            return false;
        }
        let spot = self.spot(line);
        self.incoming = Incoming { line, spot, wants_room: false, ..self.incoming };
        true
    }

    /// An access was served: the line that waits for nothing but room in its queue takes its entry. The queue is then as full as it was.
    /// Says whether all lines of its request have come in.
    #[inline]
    pub(crate) fn replace(&mut self, channel: &mut ChannelState, entry: Entry, now: Cycle) -> bool {
        let incoming = &self.incoming;
        let (kind, spot) = (incoming.kind, incoming.spot);
        self.accesses[entry] = Access { number: self.counter, queued: now, ..incoming.access() };
        self.counter += 1;
        channel.queue_while_looking(&mut self.accesses, entry, kind, spot, now);
        !self.goes_on()
    }

    /// A line of a read or of a write is accepted, if it can be.
    #[inline]
    fn accept_line(&mut self, channel: &mut ChannelState, now: Cycle, joined: &mut Joined) -> bool {
        let (kind, id) = (self.incoming.kind, self.incoming.spot.channel());
        let full = self.is_full(id, kind);
        let incoming = &mut self.incoming;
        if !incoming.wants_room {
            // Another access may go to the same line, one of the other kind: for a read, one that answers it. (Without jobs, none is
            // blocked.)
            if !self.jobs.is_empty() || channel.queues.may_hold(kind.other(), incoming.line) {
                let incoming = *incoming;
                return self.accept_among_others(channel, &incoming, full, now);
            }
        }
        if full {
            incoming.wants_room = true;
            return false;
        }
        self.recorder.levels.enter(id, kind, now);
        let number = self.counter;
        self.counter += 1;
        let entry = self.accesses.insert(|| Access { number, queued: now, ..incoming.access() });
        channel.join(&mut self.accesses, entry, (kind, incoming.spot), now, joined);
        true
    }

    /// The same where another access may go to the line, or a job.
    #[inline(never)]
    fn accept_among_others(&mut self, channel: &mut ChannelState, incoming: &Incoming, full: bool, now: Cycle) -> bool {
        let (kind, line, spot) = (incoming.kind, PhysicalAddress(incoming.line), incoming.spot);
        let jobs = self.conflicting_jobs(kind, line);
        if kind == Kind::Read
            && jobs.is_empty()
            && self.forward(channel, incoming.slot, incoming.alone, line, spot, now)
        {
            return true;
        }
        if full || (kind == Kind::Write && self.newest(channel, Kind::Read, line, spot).is_some()) {
            return false;
        }
        self.recorder.levels.enter(spot.channel(), kind, now);
        let entry = self.accesses.insert(|| incoming.access());
        if jobs.is_empty() {
            self.queue(channel, entry, now);
        } else {
            self.accesses[entry].blocked = true;
            self.blocked.push(Blocked { entry, jobs });
        }
        true
    }

    fn conflicting_jobs(&self, kind: Kind, line: PhysicalAddress) -> Vec<u32> {
        let conflicts =
            |slot: &u32| self.outstanding[*slot].job.as_ref().is_some_and(|job| job.conflicts(kind, line.0));
        self.jobs.iter().copied().filter(conflicts).collect()
    }

    /// The newest access of that kind to a line.
    fn newest(&self, channel: &mut ChannelState, kind: Kind, line: PhysicalAddress, spot: Spot) -> Option<Entry> {
        if self.blocked.is_empty() {
            return channel.queues.youngest_to(&self.accesses, kind, spot, line.0);
        }
        // Whatever came after one that is blocked, and goes to the same line, is blocked too.
        let same = |blocked: &&Blocked| {
            let access = &self.accesses[blocked.entry];
            access.kind == kind && access.line == line
        };
        let blocked = self.blocked.iter().rev().find(same).map(|blocked| blocked.entry);
        blocked.or_else(|| channel.queues.youngest_to(&self.accesses, kind, spot, line.0))
    }

    /// Answers a read from the newest queued write of its line, if there is one.
    fn forward(
        &mut self,
        channel: &mut ChannelState,
        slot: u32,
        alone: Alone,
        line: PhysicalAddress,
        spot: Spot,
        now: Cycle,
    ) -> bool {
        let Some(write) = self.newest(channel, Kind::Write, line, spot) else { return false };
        self.recorder.figures.forwarded += 1;
        if slot == ALONE {
            self.outstanding.forwarded(alone, now + Cycles(1));
            return true;
        }
        if self.config.contents.is_some() {
            let bytes = self.outstanding[self.accesses[write].request].payload(line);
            self.outstanding[slot].receive(line, &bytes);
        }
        let request = &mut self.outstanding[slot];
        request.lasts_until(now + Cycles(1));
        request.lines_left -= 1;
        self.outstanding.settle(slot);
        true
    }

    /// An access takes its place in its bank.
    #[inline]
    fn queue(&mut self, channel: &mut ChannelState, entry: Entry, now: Cycle) {
        let number = self.number();
        let access = &mut self.accesses[entry];
        access.number = number;
        access.queued = now;
        let (kind, spot) = (access.kind, access.spot);
        channel.queue(&mut self.accesses, entry, kind, spot, now);
    }
}
