//! The only place where DRAM time moves, for all channels at once. `docs/controller.md` has its rules.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dram_core::{Cells, Device, P};
use dram_spec::{Channel, Command, CommandSink, Cycle, Cycles, LINE_BYTES, Refresh};
use rowclone::{Blocks, Operation};

use crate::access::{Accesses, Entry};
use crate::channel::ChannelState;
use crate::config::Config;
use crate::copy::{BankSet, Copying};
use crate::estimate::Estimator;
use crate::intake::{Blocked, Incoming};
use crate::outstanding::Requests;
use crate::recorder::Recorder;
use crate::request::{Completion, Counted, RequestSource};
use crate::scheduler::Choice;
use crate::segment::{Progress, Turn};
use crate::slots::Slots;
use crate::stats::Stats;

/// The run was stopped from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupt;

/// The controller of all channels.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a reason to look at something, raised in one place and taken in another"
)]
pub struct Controller {
    pub(crate) config: Config,
    pub(crate) channels: Vec<ChannelState>,
    /// How many entries a channel has for reads and for writes.
    pub(crate) entries: [u64; 2],
    /// The next sequence number.
    counter: u64,
    /// Requests taken so far.
    pub(crate) taken: u64,
    pub(crate) outstanding: Requests,
    pub(crate) accesses: Accesses,
    /// Accesses that wait for jobs, in the order in which they were accepted.
    pub(crate) blocked: Vec<Blocked>,
    /// The request that is being accepted.
    pub(crate) incoming: Option<Incoming>,
    /// Whether it could not be, and nothing has happened since that would change that.
    pub(crate) is_held_up: bool,
    /// Jobs that wait for accesses.
    pub(crate) waiters: Vec<(Entry, u32)>,
    /// Jobs in progress, in the order in which they were accepted.
    pub(crate) jobs: Vec<u32>,
    /// Jobs whose blocks are not all planned.
    pub(crate) planning: VecDeque<(u32, Blocks)>,
    estimator: Estimator,
    pub(crate) segments: Slots<Copying>,
    /// Segments that have not begun, or have given way, by place.
    waiting: Vec<u32>,
    waiting_banks: BankSet,
    /// Segments in flight, by place.
    in_flight: Vec<u32>,
    /// Whether a segment may be able to begin that was not before.
    pub(crate) may_begin: bool,
    /// When the next term of a segment may end.
    terms_end: Cycle,
    /// When that is, or a rank must next be made free; not later than either.
    gives_way_at: Cycle,
    /// Whether a command has made room for what comes in.
    made_room: bool,
    /// What is done or will be, and when: by that, then in the order in which the requests were taken; with its slot.
    completing: VecDeque<(Cycle, u64, u32)>,
    pub(crate) recorder: Recorder,
    last: Option<Cycle>,
    every_cycle: bool,
}

/// Segments that may wait at once, over all channels: enough to find work for idle banks, few enough to scan when one comes
/// free. What comes later is not planned before.
const WAITING_MOST: usize = 128;

impl Controller {
    /// All banks closed, no request known.
    ///
    /// # Panics
    /// Where the settings contradict each other: watermarks out of order, a queue, a term or an epoch of nothing, sleep without
    /// refresh, or `least-energy` without prices.
    pub fn new(config: Config) -> Controller {
        let queues = config.queues;
        assert!(queues.drain_low < queues.drain_high && queues.drain_high <= queues.write_entries, "{queues:?}");
        assert!(queues.read_entries > 0 && queues.copy_entries > 0 && config.staging_lines > 0, "{queues:?}");
        assert!(config.epoch != Some(Cycles(0)) && config.copy_hold_max != Some(Cycles(0)), "at least a cycle");
        let sleeps = config.power.power_down_after.is_some() || config.power.self_refresh_after.is_some();
        assert!(!sleeps || config.system.refresh != Refresh::Off, "a rank that sleeps is woken by its refreshes");
        let cells = |channel| {
            let background = Arc::clone(config.contents.as_ref()?);
            Some(Cells::new(channel, config.system.geometry, background).with_defect(config.defect))
        };
        let channels = (0..config.system.geometry.channels()).map(Channel);
        let channels = channels.map(|id| ChannelState::new(id, Device::new(&config.system, cells(id)), &config));
        Controller {
            channels: channels.collect(),
            entries: [queues.read_entries as u64, queues.write_entries as u64],
            counter: 0,
            taken: 0,
            outstanding: Requests::default(),
            accesses: Accesses::default(),
            blocked: Vec::new(),
            incoming: None,
            is_held_up: false,
            waiters: Vec::new(),
            jobs: Vec::new(),
            planning: VecDeque::new(),
            estimator: Estimator::new(&config),
            segments: Slots::default(),
            waiting: Vec::new(),
            waiting_banks: BankSet::default(),
            in_flight: Vec::new(),
            may_begin: false,
            terms_end: Cycle(u64::MAX),
            gives_way_at: Cycle::ZERO,
            made_room: false,
            completing: VecDeque::new(),
            recorder: Recorder::new(&config),
            last: None,
            every_cycle: false,
            config,
        }
    }

    /// The same controller, which looks at everything at every cycle: slow, and what skipping is compared with.
    #[must_use]
    pub fn visiting_every_cycle(self) -> Controller {
        Controller { every_cycle: true, ..self }
    }

    /// Plays `source` until everything has drained, and tells `sink` each command.
    ///
    /// # Errors
    /// `stop` was raised; the run is then in pieces, and of no use.
    ///
    /// # Panics
    /// Where the device finds a command early: a bug of this crate.
    pub fn run(
        &mut self,
        source: &mut impl RequestSource,
        sink: &mut impl CommandSink,
        stop: &AtomicBool,
    ) -> Result<Stats, Interrupt> {
        while let Some(now) = self.next_instant(source) {
            assert!(self.last < Some(now), "time must move forward: {:?}, then {now:?}", self.last);
            if stop.load(Ordering::Relaxed) {
                return Err(Interrupt);
            }
            self.recorder.advance_to(now);
            self.last = Some(now);
            self.meet_source(source, now);
            if now >= self.gives_way_at || self.every_cycle {
                self.give_way(now);
            }
            if self.may_begin || self.every_cycle {
                self.plan_and_begin(now);
            }
            for channel in 0..self.channels.len() {
                if self.every_cycle || self.channels[channel].look_at <= now {
                    self.visit(channel, now, sink);
                }
            }
            if std::mem::take(&mut self.made_room) {
                self.take_in(source, now);
            }
        }
        let end = self.last.unwrap_or_default();
        self.channels.iter().for_each(|channel| channel.device.finish(end));
        sink.finish(end);
        let recorder = std::mem::replace(&mut self.recorder, Recorder::new(&self.config));
        Ok(recorder.finish(end))
    }

    /// The device of a channel, to look at its cells after a run.
    pub fn device(&self, channel: Channel) -> &Device {
        &self.channels[usize::from(channel.0)].device
    }

    /// The next sequence number.
    pub(crate) fn number(&mut self) -> u64 {
        self.counter += 1;
        self.counter - 1
    }

    /// The next moment at which anything can happen; nothing once all is done.
    fn next_instant(&self, source: &impl RequestSource) -> Option<Cycle> {
        let floor = self.last.map_or(Cycle::ZERO, |last| last + Cycles(1));
        // What is held up in intake waits for a command, or for a delivery.
        let arrival = if self.incoming.is_none() { source.next_arrival() } else { None };
        if arrival.is_none() && self.outstanding.is_empty() {
            return None;
        }
        if self.every_cycle || self.may_begin {
            return Some(floor);
        }
        let mut next = arrival.unwrap_or(Cycle(u64::MAX)).min(self.terms_end);
        if let Some(&(at, _, _)) = self.completing.front() {
            next = next.min(at);
        }
        for channel in &self.channels {
            next = next.min(channel.look_at);
        }
        assert!(
            next < Cycle(u64::MAX),
            "nothing can happen any more, and requests are in progress: {:?}",
            self.outstanding
        );
        Some(next.max(floor))
    }

    /// Delivers what is done, and takes what arrives, until neither leads to more.
    fn meet_source(&mut self, source: &mut impl RequestSource, now: Cycle) {
        loop {
            let mut moved = false;
            while let Some(&(at, _, slot)) = self.completing.front()
                && at <= now
            {
                self.completing.pop_front();
                self.deliver(source, slot, now);
                moved = true;
            }
            moved |= !self.is_held_up && self.take_in(source, now);
            if !moved {
                return;
            }
        }
    }

    fn deliver(&mut self, source: &mut impl RequestSource, slot: u32, now: Cycle) {
        if self.outstanding[slot].job.is_some() {
            self.jobs.retain(|&job| job != slot);
            self.recorder.levels.jobs -= 1;
            self.is_held_up = false;
            self.release_blocked(slot, now);
        }
        let completion = self.outstanding[slot].complete();
        self.outstanding.free(slot);
        self.record(&completion);
        source.complete(completion);
    }

    fn record(&mut self, completion: &Completion) {
        let figures = &mut self.recorder.figures;
        figures.requests += 1;
        let response = completion.done.since(completion.arrival);
        match completion.operation {
            Operation::Copy { .. } | Operation::Init { .. } => {
                figures.copy_latency.record(completion.latency());
                figures.copy_response.record(response);
                figures.segments += &completion.segments;
            }
            Operation::Read { .. } => figures.read_latency.record(response),
            Operation::Write { .. } => figures.write_latency.record(response),
        }
    }

    /// A request may be done: then it is delivered in time.
    pub(crate) fn settle(&mut self, slot: u32) {
        let request = &self.outstanding[slot];
        if let Some(done) = request.is_done() {
            let new = (done, request.order, slot);
            if self.completing.back().is_none_or(|last| *last < new) {
                self.completing.push_back(new);
            } else {
                let place = self.completing.partition_point(|other| *other < new);
                self.completing.insert(place, new);
            }
        }
    }

    /// Segments whose terms are over, or whose ranks must refresh, give way.
    fn give_way(&mut self, now: Cycle) {
        let mut any_must = false;
        let mut must_from = Cycle(u64::MAX);
        for channel in &mut self.channels {
            if channel.ask_must(now) {
                channel.look_at = Cycle::ZERO;
                self.may_begin = true;
            }
            any_must |= channel.ranks.iter().any(|rank| rank.must);
            must_from = must_from.min(channel.must_from);
        }
        self.gives_way_at = must_from.min(self.terms_end);
        if !any_must && now < self.terms_end && !self.every_cycle {
            return;
        }
        let mut next_end = Cycle(u64::MAX);
        // One of those that have not got anywhere does, whatever its term; so all do in the end.
        let is_stuck = |slot: &u32| {
            let segment = &self.segments[*slot];
            !segment.moved && !segment.giving_way && segment.goes_by_lines()
        };
        let first_stuck = self.in_flight.iter().copied().find(is_stuck);
        for slot in self.in_flight.clone() {
            let segment = &self.segments[slot];
            if segment.giving_way || segment.is_copying_rows() {
                continue;
            }
            let of_rank = |(channel, bank): (Channel, dram_spec::BankId)| {
                self.channels[usize::from(channel.0)].ranks[usize::from(bank.rank)].must
            };
            if segment.banks().iter().any(of_rank) {
                self.recorder.figures.broken_off_for_refresh += 1;
                self.break_off(slot, now);
                continue;
            }
            let Some(hold) = self.config.copy_hold_max else { continue };
            if !segment.goes_by_lines() || first_stuck == Some(slot) {
                continue;
            }
            if now < segment.term_end {
                next_end = next_end.min(segment.term_end);
                continue;
            }
            let has_reader = |(channel, bank): (Channel, dram_spec::BankId)| {
                self.channels[usize::from(channel.0)].oldest_read(bank).is_some()
            };
            if segment.held().iter().any(has_reader) {
                self.recorder.figures.broken_off_for_reads += 1;
                self.break_off(slot, now);
            } else {
                let age = self.number();
                let segment = &mut self.segments[slot];
                segment.renew(age);
                segment.term_end = now + hold;
                for stream in &segment.streams {
                    self.channels[usize::from(stream.channel.0)].look_at = Cycle::ZERO;
                }
                next_end = next_end.min(segment.term_end);
            }
        }
        self.terms_end = next_end;
        self.gives_way_at = must_from.min(next_end);
    }

    /// A segment gives way from now on.
    fn break_off(&mut self, slot: u32, now: Cycle) {
        let segment = &mut self.segments[slot];
        segment.giving_way = true;
        let mut released = Vec::new();
        for stream in &mut segment.streams {
            let channel = stream.channel;
            stream.give_way(|bank| released.push((channel, bank)));
            self.channels[usize::from(channel.0)].look_at = Cycle::ZERO;
        }
        for (channel, bank) in released {
            self.release(slot, channel, bank, now, now);
        }
        self.return_to_line(slot);
    }

    /// A segment that has given way, and holds nothing any more, waits again.
    fn return_to_line(&mut self, slot: u32) {
        let segment = &self.segments[slot];
        if segment.held() != BankSet::default() {
            return;
        }
        let (place, banks) = (segment.place, segment.banks());
        self.leave_flight(slot);
        let index = self.waiting.partition_point(|&other| self.segments[other].place < place);
        self.waiting.insert(index, slot);
        self.waiting_banks.insert_all(&banks);
        self.may_begin = true;
    }

    fn leave_flight(&mut self, slot: u32) {
        self.in_flight.retain(|&other| other != slot);
        for stream in &self.segments[slot].streams {
            self.channels[usize::from(stream.channel.0)].segments.retain(|&(other, _)| other != slot);
        }
    }

    /// A segment lets go of a bank, which can take an ACT at `ready`.
    fn release(&mut self, slot: u32, channel: Channel, bank: dram_spec::BankId, ready: Cycle, now: Cycle) {
        let number = self.number();
        let began = self.segments[slot].began;
        let state = &mut self.channels[usize::from(channel.0)];
        state.release(bank, number);
        if let Some(read) = state.oldest_read(bank) {
            let usable = state.ranks[usize::from(bank.rank)].usable_from;
            let since = self.accesses[read].queued.max(began).max(usable).min(ready);
            self.recorder.figures.held_back.record(ready.since(since));
        }
        self.may_begin |= !self.waiting.is_empty();
        self.channels[usize::from(channel.0)].look_at = now;
    }

    /// Plans what there is room for, and begins what can, until no more begins.
    fn plan_and_begin(&mut self, now: Cycle) {
        self.plan(now);
        while std::mem::take(&mut self.may_begin) || self.every_cycle {
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
                let request = &mut self.outstanding[slot];
                request.job_mut().fully_planned = true;
                if request.is_done().is_some() {
                    request.lasts_until(now);
                    self.settle(slot);
                }
                continue;
            };
            let (choices, reasons) = self.estimator.choose(&self.config, &self.channels, &block, now);
            let job = self.outstanding[slot].job_mut();
            for ((part, &chosen), reason) in block.parts().iter().zip(&choices).zip(reasons) {
                job.tally(chosen, reason, part.bytes());
            }
            for segment in block.segments(&choices, self.config.staging_lines) {
                self.outstanding[slot].job_mut().segments_left += 1;
                self.estimator.book(&self.config, &self.channels, &segment.work, now);
                let copying = Copying::new(slot, self.number(), &segment);
                for (channel, bank) in copying.banks().iter() {
                    self.channels[usize::from(channel.0)].occupy(bank, now);
                }
                self.waiting_banks.insert_all(&copying.banks());
                let slot = self.segments.insert(copying);
                self.waiting.push(slot);
                self.may_begin = true;
            }
        }
    }

    /// Begins each segment that can. Says whether any began: there is then room to plan more.
    fn begin(&mut self, now: Cycle) -> bool {
        let mut taken = BankSet::default();
        for channel in &self.channels {
            crate::scheduler::bits(channel.held)
                .for_each(|bank| taken.insert(channel.id, crate::bank_queue::bank_at(bank)));
            let urgent = channel.ranks.iter().filter(|rank| rank.is_urgent(now));
            urgent.for_each(|rank| taken.insert_rank(channel.id, rank.index()));
        }
        let waited = std::mem::take(&mut self.waiting);
        let count = waited.len();
        self.waiting_banks = BankSet::default();
        for slot in waited {
            let banks = self.segments[slot].banks();
            if !taken.meets(&banks) && self.may_go_before_reads(slot, &banks) {
                self.begin_one(slot, &banks, now);
            } else {
                self.waiting_banks.insert_all(&banks);
                self.waiting.push(slot);
            }
            taken.insert_all(&banks);
        }
        self.waiting.len() < count
    }

    /// Whether its job waits for nothing, and no read that goes first waits in its banks.
    fn may_go_before_reads(&self, slot: u32, banks: &BankSet) -> bool {
        let segment = &self.segments[slot];
        let goes_first = |(channel, bank): (Channel, dram_spec::BankId)| {
            let state = &self.channels[usize::from(channel.0)];
            let released = state.banks[crate::bank_queue::index(bank)].released;
            let before = segment.place.max(released);
            state.oldest_read(bank).is_some_and(|read| self.accesses[read].number < before)
        };
        let waits_for = self.outstanding[segment.job].job.as_ref().map_or(0, |job| job.waits_for);
        waits_for == 0 && !banks.iter().any(goes_first)
    }

    fn begin_one(&mut self, slot: u32, banks: &BankSet, now: Cycle) {
        let age = self.number();
        let channels = &mut self.channels;
        for (channel, bank) in banks.iter() {
            channels[usize::from(channel.0)].hold(bank);
        }
        let segment = &mut self.segments[slot];
        segment.begin(now, age, |channel, bank| channels[usize::from(channel.0)].device.open_row(bank));
        if let Some(hold) = self.config.copy_hold_max {
            segment.term_end = now + hold;
            self.terms_end = self.terms_end.min(now + Cycles(1));
            self.gives_way_at = self.gives_way_at.min(self.terms_end);
        }
        for (index, stream) in segment.streams.iter().enumerate().filter(|(_, stream)| !stream.is_done()) {
            channels[usize::from(stream.channel.0)].segments.push((slot, index));
        }
        let place = segment.place;
        let at = self.in_flight.partition_point(|&other| self.segments[other].place < place);
        self.in_flight.insert(at, slot);
    }

    /// Issues what goes first on a channel, and finds out when it is worth another look.
    fn visit(&mut self, index: usize, now: Cycle, sink: &mut impl CommandSink) {
        let channel = &mut self.channels[index];
        if channel.turn() {
            self.recorder.figures.drains += u64::from(channel.mode == crate::access::Kind::Write);
        }
        let staging = self.config.staging_lines;
        let found = match channel.prepared {
            Some((at, choice)) if at == now && !self.every_cycle => Ok(choice),
            _ => channel.choose(now, &self.accesses, &self.segments, staging),
        };
        let next = match found {
            Err(next) => next,
            Ok(choice) => {
                self.issue(index, now, choice, sink);
                let channel = &mut self.channels[index];
                self.may_begin |= channel.ask_must(now);
                self.gives_way_at = self.gives_way_at.min(channel.must_from);
                channel.foresee(now + Cycles(1), &self.accesses, &self.segments, staging)
            }
        };
        let channel = &mut self.channels[index];
        let must = channel.must_from;
        let turns = if channel.turns_to().is_some() { now + Cycles(1) } else { next };
        channel.look_at = next.min(turns).min(must.max(now + Cycles(1)));
    }

    fn issue(&mut self, index: usize, now: Cycle, choice: Choice, sink: &mut impl CommandSink) {
        let (Choice::Upkeep(command) | Choice::Access(_, command) | Choice::Segment { command, .. }) = choice;
        let channel = &mut self.channels[index];
        if let Choice::Access(entry, Command::Read { .. } | Command::Write { .. }) = choice {
            channel.queues.remove(&mut self.accesses, entry);
        }
        let counted = channel.issue(now, &command, &self.config);
        sink.push(now, channel.id, &command);
        let figures = &mut self.recorder.figures;
        figures.commands.count(counted);
        figures.command_bus += Cycles(1);
        match counted {
            Counted::Read | Counted::Write => {
                figures.channel_bytes += LINE_BYTES;
                figures.data_bus += channel.device.timings().get(P::Burst);
            }
            Counted::Transfer => figures.command_bus += Cycles(1),
            _ => {}
        }
        match choice {
            Choice::Upkeep(command) => self.may_begin |= matches!(command, Command::Refresh { .. }),
            Choice::Access(entry, command) => self.serve(index, now, entry, &command, counted),
            Choice::Segment { slot, stream, turn, .. } => self.advance(index, now, (slot, stream, turn), counted),
        }
    }

    /// The segment goes on; what it is done with, is free again.
    fn advance(&mut self, index: usize, now: Cycle, (slot, stream, turn): (u32, usize, Turn), counted: Counted) {
        let channel = &mut self.channels[index];
        let segment = &mut self.segments[slot];
        let request = &mut self.outstanding[segment.job];
        request.issued(now, counted);
        let mut wakes_others = false;
        if let Turn::Access = turn {
            // With its first access it gets younger, on its other channels too.
            wakes_others = !std::mem::replace(&mut segment.moved, true);
            let soonest = segment.term_end.max(now + Cycles(1));
            self.terms_end = self.terms_end.min(soonest);
            self.gives_way_at = self.gives_way_at.min(self.terms_end);
        }
        match segment.streams[stream].advance(turn, segment.giving_way) {
            Progress::Row | Progress::Transfer => {}
            Progress::Released(bank) => {
                let ready = channel.device.ready(bank);
                segment.bank_closed(ready);
                if !segment.streams[stream].banks().any(|other| other == bank) {
                    channel.vacate(bank, now);
                }
                let id = channel.id;
                self.release(slot, id, bank, ready, now);
                return self.finish_segment(slot);
            }
            Progress::Read(line) => {
                let arrives = now + channel.read_data();
                let bytes = channel.device.read_line(line.location.bank, line.location.row, line.location.column);
                wakes_others |= segment.read(arrives, &line, bytes);
            }
            Progress::Write(write) => {
                if self.config.contents.is_some() {
                    let bytes = segment.compose(&request.request, &write);
                    let at = write.line.location;
                    channel.device.write_line(at.bank, at.row, at.column, &bytes);
                }
                wakes_others |= segment.written();
            }
        }
        if wakes_others {
            for stream in &segment.streams {
                self.channels[usize::from(stream.channel.0)].look_at = Cycle::ZERO;
            }
        }
    }

    /// A bank of a segment was released: perhaps it is done, or has given way.
    fn finish_segment(&mut self, slot: u32) {
        let segment = &self.segments[slot];
        let job = segment.job;
        if let Some(ready) = segment.ready() {
            self.leave_flight(slot);
            self.segments.remove(slot);
            let request = &mut self.outstanding[job];
            request.lasts_until(ready);
            request.job_mut().segments_left -= 1;
            self.settle(job);
        } else if segment.giving_way {
            self.return_to_line(slot);
        }
    }

    /// Whether a segment that waits may have waited for a read of this bank.
    pub(crate) fn is_waited_for(&self, channel: Channel, bank: dram_spec::BankId) -> bool {
        self.waiting_banks.of(channel) & (1 << crate::bank_queue::index(bank)) != 0
    }

    /// There is room for what comes in.
    pub(crate) fn made_room(&mut self) {
        self.made_room = true;
        self.is_held_up = false;
    }
}
