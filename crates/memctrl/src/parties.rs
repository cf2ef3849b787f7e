//! Segments in flight on a channel: what each would do next, kept until something happens to it, and who of them and of the
//! accesses goes first.

use dram_core::Kind;
use dram_spec::{Command, Cycle};

use crate::access::Accesses;
use crate::ahead::Ahead;
use crate::channel::ChannelState;
use crate::copy::{Age, Copying};
use crate::scheduler::{Candidate, Choice, bits};
use crate::segment::Turn;
use crate::slots::Slots;
use crate::spot::MOST_BANKS;

/// The segments that hold banks of a channel, each by its place here.
#[derive(Debug, Default)]
pub(crate) struct Flights {
    all: Vec<Flight>,
    /// Places, as a mask, of those that something has happened to since they were last looked at. There are no more of them than banks.
    stale: u32,
    /// Places, as a mask, with a row command that could come next.
    with_rows: u32,
    /// Those whose next column access is a TRANSFER.
    with_transfers: u32,
    /// The oldest with a column access, and whether that is known.
    oldest: Option<usize>,
    oldest_is_known: bool,
    /// Whether the oldest goes on, and for how long.
    run: Option<Run>,
}

/// A segment that goes first with its column accesses, while nothing happens but these.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Its place.
    place: usize,
    /// The banks, as a mask, whose accesses may have a command: none of them has an older RD or WR.
    usable: u32,
    /// When the first row command can go, at the earliest: column accesses go up to then.
    until: Cycle,
}

impl Flights {
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// One more, which holds banks that no other does.
    pub(crate) fn push(&mut self, slot: u32, stream: usize) {
        assert!(self.all.len() < MOST_BANKS, "each holds a bank");
        self.all.push(Flight { slot, stream, age: (0, 0), access: None, rows: Vec::new() });
        self.touch_all();
    }

    /// The segment in a slot holds no bank of the channel any more.
    pub(crate) fn leave(&mut self, slot: u32) {
        self.all.retain(|flight| flight.slot != slot);
        self.touch_all();
    }

    /// All places that are used, as a mask.
    fn there(&self) -> u32 {
        ((1_u64 << self.all.len()) - 1) as u32
    }

    /// What any of them would do next may be another now.
    pub(crate) fn touch_all(&mut self) {
        self.stale = u32::MAX;
        self.oldest_is_known = false;
        self.run = None;
    }

    /// Something has happened that any of them may hear of.
    pub(crate) fn stop_run(&mut self) {
        self.run = None;
    }

    /// What one of them would do next, may be another now. Whose it is: the slot, and the stream.
    pub(crate) fn touch(&mut self, place: usize) -> (u32, usize) {
        self.stale |= 1 << place;
        (self.all[place].slot, self.all[place].stream)
    }
}

/// A segment in flight, as far as it goes over one channel.
#[derive(Debug)]
struct Flight {
    /// Its slot.
    slot: u32,
    /// Which of its streams this is.
    stream: usize,
    age: Age,
    /// The column access that comes next, once its rows are open and its data is on the way.
    access: Option<Column>,
    /// The row commands that could come next.
    rows: Vec<Next>,
}

/// A command that could come next.
#[derive(Clone, Copy, Debug)]
struct Next {
    turn: Turn,
    command: Command,
    /// What its rank holds back.
    kind: Kind,
    /// Until when its banks hold it back.
    held_by_banks: Cycle,
}

/// A column access, and from when on its data allows it.
#[derive(Clone, Copy, Debug)]
struct Column {
    next: Next,
    data_from: Cycle,
}

/// Who has a column access to make: a segment, or the accesses of the mode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Party {
    age: Age,
    flight: Option<usize>,
}

impl ChannelState {
    /// Finds out what segments would do next, where that is not known.
    #[inline]
    fn look_at_flights(&mut self, segments: &Slots<Copying>, staging_lines: usize) {
        let stale = std::mem::take(&mut self.flights.stale);
        for place in bits(stale & self.flights.there()) {
            self.look_at_flight(place, segments, staging_lines);
        }
    }

    fn look_at_flight(&mut self, place: usize, segments: &Slots<Copying>, staging_lines: usize) {
        let ChannelState { flights, device, .. } = self;
        let flight = &mut flights.all[place];
        let segment = &segments[flight.slot];
        let next = |turn: Turn, command: Command| {
            // A rank that sleeps is woken by its own command; then this is asked again.
            let held = device.held_in_banks(&command);
            let (kind, held_by_banks) = held.unwrap_or((Kind::Pre, Cycle::NEVER));
            Next { turn, command, kind, held_by_banks }
        };
        let stream = &segment.streams[flight.stream];
        let before = (flight.age, flight.access.is_some());
        flight.age = segment.age();
        flight.access = None;
        if let (false, Some((kind, command))) = (segment.giving_way, stream.next_access()) {
            let from = segment.from(kind, device.timings().write_latency(), staging_lines);
            flight.access = from.map(|data_from| Column { next: next(Turn::Access, command), data_from });
        }
        if before != (flight.age, flight.access.is_some()) {
            flights.oldest_is_known = false;
        }
        flight.rows.clear();
        flight.rows.extend(stream.row_commands(segment.giving_way).map(|(turn, command)| next(turn, command)));
        let bit = 1 << place;
        let is_transfer = flight.access.as_ref().is_some_and(|access| access.next.kind == Kind::Transfer);
        flights.with_transfers = flights.with_transfers & !bit | u32::from(is_transfer) << place;
        flights.with_rows = flights.with_rows & !bit | u32::from(!flight.rows.is_empty()) << place;
    }

    /// The oldest segment with a column access.
    #[inline]
    fn oldest_flight(&mut self) -> Option<usize> {
        let Flights { all, oldest, oldest_is_known, .. } = &mut self.flights;
        if !std::mem::replace(oldest_is_known, true) {
            let with_access = all.iter().enumerate().filter(|(_, flight)| flight.access.is_some());
            *oldest = with_access.min_by_key(|(_, flight)| flight.age).map(|(place, _)| place);
        }
        *oldest
    }

    /// When a segment's command can go.
    #[inline]
    fn earliest_next(&self, next: &Next) -> Cycle {
        next.held_by_banks.max(self.device.held_by(next.command.rank()).until(next.kind))
    }

    fn choice_of(flight: usize, next: &Next) -> Choice {
        Choice::Segment { flight, turn: next.turn, command: next.command }
    }

    /// Prepares what goes first, from `from` on, where segments are in flight, and says when that is; or prepares nothing, and says when
    /// to ask again.
    pub(crate) fn first_of_all(
        &mut self,
        from: Cycle,
        usable: u32,
        accesses: &Accesses,
        segments: &Slots<Copying>,
        staging_lines: usize,
    ) -> Cycle {
        if let Some(at) = self.run_goes_on(from, usable, segments) {
            return at;
        }
        self.flights.stop_run();
        self.find_candidates(usable, accesses);
        self.look_at_flights(segments, staging_lines);
        if let Some((at, choice)) = self.first_if_plain(from, usable) {
            (self.prepared_at, self.prepared) = (at, choice);
            return at;
        }
        match self.first_at(from, usable, accesses) {
            Ok(choice) => {
                (self.prepared_at, self.prepared) = (from, choice);
                from
            }
            Err(next) => {
                self.prepared_at = Cycle::NEVER;
                next
            }
        }
    }

    /// When the oldest segment makes its next column access, from `from` on, where it goes on as it was: that is then prepared.
    #[inline]
    fn run_goes_on(&mut self, from: Cycle, usable: u32, segments: &Slots<Copying>) -> Option<Cycle> {
        let Run { place, usable: before, until } = self.flights.run?;
        if self.flights.stale & self.flights.there() != 1 << place || usable != before || usable & !self.known != 0 {
            return None;
        }
        let flight = &mut self.flights.all[place];
        let command = segments[flight.slot].next_alike(flight.stream)?;
        let next = &mut flight.access.as_mut()?.next;
        let (Command::Read { bank, .. } | Command::Write { bank, .. }) = command else { return None };
        next.held_by_banks = self.device.held_by_bank(bank, next.kind);
        let at = next.held_by_banks.max(self.device.held_by(bank.rank).until(next.kind)).max(from);
        if at > until {
            return None;
        }
        next.command = command;
        self.flights.stale = 0;
        (self.prepared_at, self.prepared) = (at, ChannelState::choice_of(place, next));
        Some(at)
    }

    /// The same where the oldest party is a segment that waits for nothing but the device, and keeps all others back: there are no
    /// TRANSFERs, and no rank must refresh.
    fn first_if_plain(&mut self, from: Cycle, usable: u32) -> Option<(Cycle, Choice)> {
        let there = self.flights.there();
        if self.flights.with_transfers & there != 0 || self.ranks.iter().any(|rank| rank.must) {
            return None;
        }
        let oldest = self.oldest_flight();
        let mut rows_from = Cycle::NEVER;
        let (age, mut first) = match oldest.map(|place| (place, &self.flights.all[place])) {
            None => ((2, 0), (Cycle::NEVER, (0, 0), None)),
            Some((place, flight)) => {
                let access = flight.access.as_ref()?;
                if access.data_from > from {
                    return None;
                }
                let at = self.earliest_next(&access.next).max(from);
                // At the same time it goes before row commands.
                (flight.age, (at, (0, 0), Some(ChannelState::choice_of(place, &access.next))))
            }
        };
        for place in bits(self.flights.with_rows & there) {
            let flight = &self.flights.all[place];
            for next in &flight.rows {
                let at = self.earliest_next(next).max(from);
                rows_from = rows_from.min(at);
                if (at, flight.age) < (first.0, first.1) || first.2.is_none() {
                    first = (at, flight.age, Some(ChannelState::choice_of(place, next)));
                }
            }
        }
        for bank in bits(usable) {
            let candidate = &self.next[bank];
            let candidate_age = (1, candidate.number());
            if !candidate.is_row() {
                if candidate_age < age {
                    return None;
                }
                continue;
            }
            let at = self.earliest_of(bank, candidate).max(from);
            rows_from = rows_from.min(at);
            if (at, candidate_age) < (first.0, first.1) || first.2.is_none() {
                first = (at, candidate_age, Some(Choice::Access(bank)));
            }
        }
        let (at, _, choice) = first;
        if let (Some(place), true) = (oldest, at <= rows_from && at < Cycle::NEVER) {
            self.flights.run = Some(Run { place, usable, until: rows_from });
        }
        choice.filter(|_| at < Cycle::NEVER).map(|choice| (at, choice))
    }

    /// What goes at `now` where segments are in flight; else an instant at which something might.
    fn first_at(&mut self, now: Cycle, usable: u32, accesses: &Accesses) -> Result<Choice, Cycle> {
        let mut next = Cycle::NEVER;
        if self.ranks.iter().any(|rank| rank.must) {
            let musts = |rank: u8| self.ranks[usize::from(rank)].must;
            if let Some((_, choice)) = self.first_row_command(now, musts, &mut next) {
                return Ok(choice);
            }
        }
        let mut parties = std::mem::take(&mut self.parties);
        let found = self.first_column_access(now, usable, accesses, &mut parties, &mut next);
        parties.clear();
        self.parties = parties;
        if let Some(choice) = found {
            return Ok(choice);
        }
        let mut first = self.first_row_command(now, |_| true, &mut next);
        for bank in bits(usable) {
            let candidate = &self.next[bank];
            if !candidate.is_row() {
                continue;
            }
            let until = self.earliest_of(bank, candidate);
            if until > now {
                next = next.min(until);
            } else if first.is_none_or(|(age, _)| (1, candidate.number()) < age) {
                first = Some(((1, candidate.number()), Choice::Access(bank)));
            }
        }
        first.map(|(_, choice)| choice).ok_or(next)
    }

    /// The row command of the oldest segment that can go, in the ranks asked for.
    fn first_row_command(&self, now: Cycle, ranks: impl Fn(u8) -> bool, later: &mut Cycle) -> Option<(Age, Choice)> {
        let mut first: Option<(Age, Choice)> = None;
        for (index, flight) in self.flights.all.iter().enumerate() {
            for next in flight.rows.iter().filter(|next| ranks(next.command.rank())) {
                let until = self.earliest_next(next);
                if until > now {
                    *later = (*later).min(until);
                } else if first.is_none_or(|(other, _)| flight.age < other) {
                    first = Some((flight.age, ChannelState::choice_of(index, next)));
                }
            }
        }
        first
    }

    /// The column access that goes first, of the segments and of the accesses.
    fn first_column_access(
        &self,
        now: Cycle,
        usable: u32,
        accesses: &Accesses,
        parties: &mut Vec<Party>,
        next: &mut Cycle,
    ) -> Option<Choice> {
        for (index, flight) in self.flights.all.iter().enumerate() {
            let allowed = |access: &Column| !self.ranks[usize::from(access.next.command.rank())].must;
            if flight.access.as_ref().is_some_and(allowed) {
                parties.push(Party { age: flight.age, flight: Some(index) });
            }
        }
        let columns = usable & self.queues.hits(self.mode);
        let candidates =
            || bits(columns).map(|bank| (bank, &self.next[bank])).filter(|(_, candidate)| !candidate.is_row());
        let command = |candidate: &Candidate| candidate.command(accesses[candidate.entry()].spot);
        if let Some(number) = candidates().map(|(_, candidate)| candidate.number()).min() {
            parties.push(Party { age: (1, number), flight: None });
        }
        parties.sort_unstable_by_key(|party| party.age);
        let mut ahead = Ahead::default();
        for party in &*parties {
            if let Some((index, access)) = party.flight.and_then(|index| Some((index, self.flights.all[index].access?)))
            {
                let command = access.next.command;
                if !ahead.keeps_back(&command) {
                    let until = self.earliest_next(&access.next).max(access.data_from);
                    if until <= now {
                        return Some(ChannelState::choice_of(index, &access.next));
                    }
                    *next = (*next).min(until);
                }
                if access.data_from <= now {
                    ahead.wait_for(&command);
                }
                continue;
            }
            let mut first: Option<(u64, usize)> = None;
            for (bank, candidate) in candidates().filter(|(_, candidate)| !ahead.keeps_back(&command(candidate))) {
                let until = self.earliest_of(bank, candidate);
                if until > now {
                    *next = (*next).min(until);
                } else if first.is_none_or(|(order, _)| candidate.order < order) {
                    first = Some((candidate.order, bank));
                }
            }
            if let Some((_, bank)) = first {
                return Some(Choice::Access(bank));
            }
            candidates().for_each(|(_, candidate)| ahead.wait_for(&command(candidate)));
        }
        None
    }

    /// What the segment in a slot would do next, may be another now; so may be who goes first.
    pub(crate) fn touch(&mut self, slot: u32) {
        for place in (0..self.flights.all.len()).filter(|&place| self.flights.all[place].slot == slot) {
            self.flights.stale |= 1 << place;
        }
        self.flights.stop_run();
        self.prepared_at = Cycle::NEVER;
        self.look_at = Cycle::ZERO;
    }
}
