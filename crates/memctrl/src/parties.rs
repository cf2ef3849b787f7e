//! Who goes first where segments are in flight: of them and of the accesses.

use dram_spec::Cycle;

use crate::access::Accesses;
use crate::ahead::Ahead;
use crate::candidate::Candidate;
use crate::channel::ChannelState;
use crate::copy::{Age, Copying};
use crate::flights::{Column, Run};
use crate::scheduler::{Choice, bits};
use crate::slots::Slots;

/// Who has a column access to make: a segment, or the accesses of the mode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Party {
    age: Age,
    flight: Option<usize>,
}

impl ChannelState {
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
        if let Some(at) = self.run_goes_on(from, usable) {
            return at;
        }
        self.flights.run = None;
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
                self.forget_prepared();
                next
            }
        }
    }

    /// When the oldest segment makes its next column access, from `from` on, where it goes on as it was: that is then prepared.
    #[inline]
    fn run_goes_on(&mut self, from: Cycle, usable: u32) -> Option<Cycle> {
        let Run { place, usable: before, until } = self.flights.run?;
        if usable != before || usable & !self.known != 0 {
            return None;
        }
        let at = self.earliest_next(&self.flights.at(place).access.as_ref()?.next).max(from);
        if at > until {
            return None;
        }
        (self.prepared_at, self.prepared) = (at, Choice::SegmentAccess(place));
        Some(at)
    }

    /// The same where the oldest party is a segment that waits for nothing but the device, and keeps all others back: there are no
    /// TRANSFERs, and no rank must refresh.
    fn first_if_plain(&mut self, from: Cycle, usable: u32) -> Option<(Cycle, Choice)> {
        if self.flights.any_transfers() || self.ranks.iter().any(|rank| rank.must) {
            return None;
        }
        let oldest = self.flights.oldest();
        // The instant above the order: of two that can go at once the older has the smaller key.
        let key = |at: Cycle, order: u64| u128::from(at.0) << 64 | u128::from(order);
        let (mut first, mut choice) = (key(Cycle::NEVER, 0), None);
        let mut age = Age::NONE;
        let mut rows_from = Cycle::NEVER;
        if let Some(place) = oldest {
            let flight = self.flights.at(place);
            let access = flight.access.as_ref()?;
            if access.data_from > from {
                return None;
            }
            // At the same time it goes before row commands.
            first = key(self.earliest_next(&access.next).max(from), 0);
            choice = Some(Choice::SegmentAccess(place));
            age = flight.age;
        }
        for rank in 0..self.ranks.len() {
            let held = self.device.held_by(rank as u8);
            for (bank, row) in self.flights.rows_of(rank) {
                let at = row.next.held_by_banks.max(held.until(row.next.kind)).max(from);
                rows_from = rows_from.min(at);
                let key = key(at, row.order);
                if key < first {
                    (first, choice) = (key, Some(Choice::SegmentRow(bank)));
                }
            }
        }
        for bank in bits(usable) {
            let candidate = &self.next[bank];
            let candidate_age = Age::of(candidate.number());
            if !candidate.is_row() {
                if candidate_age < age {
                    return None;
                }
                continue;
            }
            let at = self.earliest_of(bank, candidate).max(from);
            rows_from = rows_from.min(at);
            let key = key(at, candidate_age.then(0));
            if key < first {
                (first, choice) = (key, Some(Choice::Access(bank)));
            }
        }
        let at = Cycle((first >> 64) as u64);
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
            } else {
                let order = Age::of(candidate.number()).then(0);
                if first.is_none_or(|(other, _)| order < other) {
                    first = Some((order, Choice::Access(bank)));
                }
            }
        }
        first.map(|(_, choice)| choice).ok_or(next)
    }

    /// The row command of the oldest segment that can go, in the ranks asked for, and its order.
    fn first_row_command(&self, now: Cycle, ranks: impl Fn(u8) -> bool, later: &mut Cycle) -> Option<(u64, Choice)> {
        let mut first: Option<(u64, Choice)> = None;
        for rank in (0..self.ranks.len()).filter(|&rank| ranks(rank as u8)) {
            let held = self.device.held_by(rank as u8);
            for (bank, row) in self.flights.rows_of(rank) {
                let until = row.next.held_by_banks.max(held.until(row.next.kind));
                if until > now {
                    *later = (*later).min(until);
                } else if first.is_none_or(|(other, _)| row.order < other) {
                    first = Some((row.order, Choice::SegmentRow(bank)));
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
        for (place, flight) in self.flights.iter() {
            let allowed = |access: &Column| !self.ranks[usize::from(access.next.command.rank())].must;
            if flight.access.as_ref().is_some_and(allowed) {
                parties.push(Party { age: flight.age, flight: Some(place) });
            }
        }
        let columns = usable & self.queues.hits(self.mode);
        let candidates =
            || bits(columns).map(|bank| (bank, &self.next[bank])).filter(|(_, candidate)| !candidate.is_row());
        let command = |candidate: &Candidate| Candidate::command(candidate.kind(), accesses[candidate.entry()].spot);
        if let Some(number) = candidates().map(|(_, candidate)| candidate.number()).min() {
            parties.push(Party { age: Age::of(number), flight: None });
        }
        parties.sort_unstable_by_key(|party| party.age);
        let mut ahead = Ahead::default();
        for party in &*parties {
            if let Some((place, access)) = party.flight.and_then(|place| Some((place, self.flights.at(place).access?)))
            {
                let command = access.next.command;
                if !ahead.keeps_back(&command) {
                    let until = self.earliest_next(&access.next).max(access.data_from);
                    if until <= now {
                        return Some(Choice::SegmentAccess(place));
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
}
