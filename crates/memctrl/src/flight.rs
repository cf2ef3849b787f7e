//! Segments on their way: planned, waiting, in flight, giving way.

use dram_spec::{BankId, Channel, Cycle, Cycles};

use crate::copy::{BankSet, Copying};
use crate::engine::Controller;
use crate::spot::index;

/// Segments that may wait at once, over all channels: enough to find work for idle banks, few enough to scan when one comes
/// free. What comes later is not planned before.
const WAITING_MOST: usize = 128;

/// A segment that has not begun, or has given way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    /// Its slot.
    slot: u32,
    /// The banks that it is not done with, of any channel: what is looked at first.
    mask: u32,
    /// The banks that it is not done with.
    banks: BankSet,
}

impl Waiting {
    fn new(slot: u32, banks: BankSet) -> Waiting {
        Waiting { slot, mask: banks.mask(), banks }
    }
}

impl Controller {
    /// Segments whose terms are over, or whose ranks must refresh, give way.
    pub(crate) fn give_way(&mut self, now: Cycle) {
        let mut any_must = false;
        let mut must_from = Cycle::NEVER;
        for channel in &mut self.channels {
            if channel.ask_must(now) {
                channel.look_at = Cycle::ZERO;
                self.front.may_begin = true;
            }
            any_must |= channel.ranks.iter().any(|rank| rank.must);
            must_from = must_from.min(channel.must_from);
        }
        self.front.gives_way_at = must_from.min(self.terms_end);
        if !any_must && now < self.terms_end && !self.front.every_cycle {
            return;
        }
        let mut next_end = Cycle::NEVER;
        // The first of those that have not got anywhere is not asked for reads, whatever its term; so all do in the end.
        let mut spares_one = true;
        for slot in self.in_flight.clone() {
            let segment = &self.segments[slot];
            if segment.giving_way || segment.is_copying_rows() {
                continue;
            }
            let of_rank = |(channel, bank): (Channel, BankId)| {
                self.channels[usize::from(channel.0)].ranks[usize::from(bank.rank)].must
            };
            if segment.banks().iter().any(of_rank) {
                self.front.recorder.figures.broken_off_for_refresh += 1;
                self.break_off(slot, now);
                continue;
            }
            let Some(hold) = self.front.config.copy_hold_max else { continue };
            if !segment.goes_by_lines() {
                continue;
            }
            if !segment.moved && std::mem::take(&mut spares_one) {
                continue;
            }
            if now < segment.term_end {
                next_end = next_end.min(segment.term_end);
                continue;
            }
            let has_reader = |(channel, bank): (Channel, BankId)| {
                self.channels[usize::from(channel.0)].oldest_read(&self.front.accesses, bank).is_some()
            };
            if segment.held().iter().any(has_reader) {
                self.front.recorder.figures.broken_off_for_reads += 1;
                self.break_off(slot, now);
            } else {
                let age = self.front.number();
                let segment = &mut self.segments[slot];
                segment.renew(age);
                segment.term_end = now + hold;
                for stream in &segment.streams {
                    self.channels[usize::from(stream.channel.0)].touch(slot);
                }
                next_end = next_end.min(segment.term_end);
            }
        }
        self.terms_end = next_end;
        self.front.gives_way_at = must_from.min(next_end);
    }

    /// A segment gives way from now on.
    fn break_off(&mut self, slot: u32, now: Cycle) {
        let segment = &mut self.segments[slot];
        segment.giving_way = true;
        let mut released = Vec::new();
        for stream in &mut segment.streams {
            let channel = stream.channel;
            stream.give_way(|bank| released.push((channel, bank)));
            let channel = &mut self.channels[usize::from(channel.0)];
            channel.touch(slot);
            if stream.holds_nothing() {
                channel.flights.leave(slot);
            }
        }
        for (channel, bank) in released {
            self.release(slot, channel, bank, now, now);
        }
        self.return_to_line(slot);
    }

    /// A segment that has given way, and holds nothing any more, waits again.
    pub(crate) fn return_to_line(&mut self, slot: u32) {
        let segment = &self.segments[slot];
        if segment.held() != BankSet::default() {
            return;
        }
        let (place, banks) = (segment.place, *segment.banks());
        self.leave_flight(slot);
        let index = self.waiting.partition_point(|other| self.segments[other.slot].place < place);
        self.waiting.insert(index, Waiting::new(slot, banks));
        self.front.waiting_banks.insert_all(&banks);
        self.front.may_begin = true;
    }

    pub(crate) fn leave_flight(&mut self, slot: u32) {
        if let Some(place) = self.in_flight.iter().position(|&other| other == slot) {
            self.in_flight.remove(place);
        }
        for stream in &self.segments[slot].streams {
            let channel = &mut self.channels[usize::from(stream.channel.0)];
            channel.flights.leave(slot);
            channel.forget_prepared();
        }
    }

    /// A segment lets go of a bank, which can take an ACT at `ready`.
    pub(crate) fn release(&mut self, slot: u32, channel: Channel, bank: BankId, ready: Cycle, now: Cycle) {
        let number = self.front.number();
        let began = self.segments[slot].began;
        let state = &mut self.channels[usize::from(channel.0)];
        state.release(bank, number);
        if let Some(read) = state.oldest_read(&self.front.accesses, bank) {
            let usable = state.ranks[usize::from(bank.rank)].usable_from;
            let since = self.front.accesses[read].queued.max(began).max(usable).min(ready);
            self.front.recorder.figures.held_back.record(ready.since(since));
        }
        self.front.may_begin |= !self.waiting.is_empty();
        self.channels[usize::from(channel.0)].look_at = now;
    }

    /// Plans what there is room for, and begins what can, until no more begins.
    pub(crate) fn plan_and_begin(&mut self, now: Cycle) {
        self.plan(now);
        while std::mem::take(&mut self.front.may_begin) || self.front.every_cycle {
            if !self.begin(now) {
                break;
            }
            self.plan(now);
        }
    }

    /// Keeps the waiting line filled.
    fn plan(&mut self, now: Cycle) {
        while self.waiting.len() < WAITING_MOST
            && let Some((slot, blocks)) = self.planning.front_mut()
        {
            let slot = *slot;
            let Some(block) = blocks.next() else {
                self.planning.pop_front();
                let request = &mut self.front.outstanding[slot];
                request.job_mut().fully_planned = true;
                if request.is_done().is_some() {
                    request.lasts_until(now);
                    self.front.outstanding.settle(slot);
                }
                continue;
            };
            let choices = self.estimator.choose(&self.front.config, &self.channels, &block, now);
            let job = self.front.outstanding[slot].job_mut();
            for (part, &chosen) in block.parts().iter().zip(&choices) {
                job.tally(chosen, self.front.config.policy.reason(part, chosen), part.bytes());
            }
            for segment in block.segments(&choices, self.front.config.staging_lines) {
                self.front.outstanding[slot].job_mut().segments_left += 1;
                self.estimator.book(&self.front.config, &self.channels, &segment.work, now);
                let copying = Copying::new(slot, self.front.number(), &segment);
                for (channel, bank) in copying.banks().iter() {
                    self.channels[usize::from(channel.0)].occupy(bank.rank, now);
                }
                let banks = *copying.banks();
                self.front.waiting_banks.insert_all(&banks);
                let slot = self.segments.insert(copying);
                self.waiting.push(Waiting::new(slot, banks));
                self.front.may_begin = true;
            }
        }
    }

    /// Begins each segment that can. Says whether any began: there is then room to plan more.
    fn begin(&mut self, now: Cycle) -> bool {
        let mut free = self.front.waiting_banks;
        for channel in &self.channels {
            free.remove_banks(channel.id, channel.held);
            let urgent = channel.ranks.iter().filter(|rank| rank.is_urgent(now));
            urgent.for_each(|rank| free.remove_banks(channel.id, 0xFF << (8 * rank.index())));
        }
        // A segment that gives way will be back in the line, before those that came after it: also where it holds a bank no more.
        for &slot in self.in_flight.iter().filter(|&&slot| self.segments[slot].giving_way) {
            free.remove_all(self.segments[slot].banks());
        }
        let (mut at, mut free_mask) = (0, free.mask());
        let count = self.waiting.len();
        while let Some(next) = self.waiting[at..].iter().position(|waits| waits.mask & free_mask != 0) {
            at += next;
            let Waiting { slot, banks, .. } = self.waiting[at];
            if free.holds(&banks) && self.may_go_before_reads(slot, &banks) {
                self.waiting.remove(at);
                self.begin_one(slot, &banks, now);
            } else {
                at += 1;
            }
            free.remove_all(&banks);
            free_mask = free.mask();
        }
        let any = self.waiting.len() < count;
        if any {
            self.front.waiting_banks = BankSet::default();
            for waits in &self.waiting {
                self.front.waiting_banks.insert_all(&waits.banks);
            }
        }
        any
    }

    /// Whether its job waits for nothing, and no read that goes first waits in its banks.
    fn may_go_before_reads(&self, slot: u32, banks: &BankSet) -> bool {
        let segment = &self.segments[slot];
        let goes_first = |(channel, bank): (Channel, BankId)| {
            let state = &self.channels[usize::from(channel.0)];
            let released = state.banks[index(bank)].released;
            let before = segment.place.max(released);
            state.oldest_read(&self.front.accesses, bank).is_some_and(|read| self.front.accesses[read].number < before)
        };
        let waits_for = self.front.outstanding[segment.job].job.as_ref().map_or(0, |job| job.waits_for);
        waits_for == 0 && !banks.iter().any(goes_first)
    }

    fn begin_one(&mut self, slot: u32, banks: &BankSet, now: Cycle) {
        let age = self.front.number();
        let channels = &mut self.channels;
        for (channel, bank) in banks.iter() {
            channels[usize::from(channel.0)].hold(bank);
        }
        let segment = &mut self.segments[slot];
        segment.begin(now, age, |channel, bank| channels[usize::from(channel.0)].device.open_row(bank));
        if let Some(hold) = self.front.config.copy_hold_max {
            segment.term_end = now + hold;
            self.terms_end = self.terms_end.min(now + Cycles(1));
            self.front.gives_way_at = self.front.gives_way_at.min(self.terms_end);
        }
        for (index, stream) in segment.streams.iter().enumerate().filter(|(_, stream)| !stream.is_done()) {
            channels[usize::from(stream.channel.0)].flights.push(slot, index);
        }
        let place = segment.place;
        let at = self.in_flight.partition_point(|&other| self.segments[other].place < place);
        self.in_flight.insert(at, slot);
    }
}
