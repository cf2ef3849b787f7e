//! How requests come in.

use dram_spec::{Channel, Cycle, LINE_BYTES, PhysicalAddress};
use rowclone::Operation;

use crate::access::{Access, Entry, Kind};
use crate::channel::ChannelState;
use crate::done::{ALONE, Alone};
use crate::engine::Controller;
use crate::front_end::FrontEnd;
use crate::joining::News;
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

/// What is left of what comes in, after the lines of one channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// What waits for room or for others, or has not arrived.
    Waits,
    /// What may come in now: a line of another channel, or a job.
    GoesElsewhere,
}

/// A request that is being accepted. Of a job, its slot alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming {
    pub(crate) slot: u32,
    /// What is kept of it, where it has no slot.
    pub(crate) alone: Alone,
    pub(crate) kind: Kind,
    /// The line to be accepted next.
    pub(crate) line: u64,
    /// Where it lies.
    pub(crate) spot: Spot,
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
    pub(crate) fn access(&self) -> Access {
        Access::new(self.kind, self.slot, self.alone, PhysicalAddress(self.line), self.spot)
    }
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
                    let (left, any) = front.take_lines(channel, source, now);
                    moved |= any;
                    if left == Left::Waits {
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
        let alone = Alone::new(request.id, request.arrival, self.taken, address, bytes);
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
    /// any was taken.
    #[inline(never)]
    pub(crate) fn take_lines(
        &mut self,
        channel: &mut ChannelState,
        source: &mut impl RequestSource,
        now: Cycle,
    ) -> (Left, bool) {
        let mut news = News::default();
        let left = self.take_each_line(channel, source, now, &mut news);
        channel.hear(news, now);
        (left, news.is_any)
    }

    #[inline]
    fn take_each_line(
        &mut self,
        channel: &mut ChannelState,
        source: &mut impl RequestSource,
        now: Cycle,
        news: &mut News,
    ) -> Left {
        while self.state == State::Lines && self.incoming.spot.channel() == channel.id {
            if !self.accept_line(channel, now, news) {
                self.is_held_up = true;
                return Left::Waits;
            }
            news.is_any = true;
            if !self.goes_on() {
                self.state = State::Idle;
                let Some(request) = &mut source.take(now) else { return Left::Waits };
                self.enter(request);
            }
        }
        Left::GoesElsewhere
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
        let number = self.number();
        let incoming = &self.incoming;
        let (kind, spot) = (incoming.kind, incoming.spot);
        self.accesses[entry] = Access { number, queued: now, ..incoming.access() };
        channel.join(&mut self.accesses, entry, kind, spot, now);
        !self.goes_on()
    }

    /// A line of a read or of a write is accepted, if it can be.
    #[inline]
    fn accept_line(&mut self, channel: &mut ChannelState, now: Cycle, news: &mut News) -> bool {
        let (kind, id) = (self.incoming.kind, self.incoming.spot.channel());
        let full = self.is_full(id, kind);
        if !self.incoming.wants_room {
            // Another access may go to the same line, one of the other kind: for a read, one that answers it. (Without jobs, none is
            // blocked.)
            if !self.jobs.is_empty() || channel.queues.may_hold(kind.other(), self.incoming.line) {
                let incoming = self.incoming;
                return self.accept_among_others(channel, &incoming, full, now);
            }
        }
        if full {
            self.incoming.wants_room = true;
            return false;
        }
        self.recorder.levels.enter(id, kind, now);
        let number = self.number();
        let incoming = &self.incoming;
        let entry = self.accesses.insert(|| Access { number, queued: now, ..incoming.access() });
        channel.queue_among_others(&mut self.accesses, entry, (kind, incoming.spot), now, news);
        true
    }
}
