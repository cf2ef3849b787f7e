//! The only place where DRAM time moves, for all channels at once.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dram_core::{Cells, Device, Effect};
use dram_spec::{Channel, Command, CommandSink, Cycle, Cycles};
use rowclone::{Blocks, Operation};

use crate::copy::{BankSet, InFlight, Job, Waiting, WaitingLine};
use crate::config::Config;
use crate::refresh;
use crate::request::{CommandCounts, RequestSource};
use crate::segment::{Progress, Stream, Turn};
use crate::stats::Stats;

/// The run was stopped from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupt;

/// The controller of all channels.
pub struct Controller {
    config: Config,
    devices: Vec<Device>,
    /// When each channel is worth another look.
    look_at: Vec<Cycle>,
    next_job: u64,
    jobs: BTreeMap<u64, Job>,
    /// Jobs whose blocks are not all planned, in order of arrival.
    planning: VecDeque<(u64, Blocks)>,
    waiting: WaitingLine,
    in_flight: Vec<InFlight>,
    /// Whether a segment that could not begin before may be able to now: one was planned, a bank came free, a REF went.
    may_begin_more: bool,
    held: BankSet,
    completing: BinaryHeap<Reverse<(Cycle, u64)>>,
    stats: Stats,
    last: Option<Cycle>,
    every_cycle: bool,
}

/// Segments that may wait at once, over all channels: enough to find work for idle banks, few enough to scan when one comes
/// free. What comes later is not planned before.
const WAITING_MOST: usize = 128;

/// Column accesses of older segments whose rows are open and whose turn it is: a younger one must not push them back.
#[derive(Clone, Copy, Debug, Default)]
struct Ahead {
    /// A RD or WR waits for the data bus.
    data_bus: bool,
    /// Ranks, as a mask, where a RD or WR waits.
    bursts: u8,
    /// Ranks, as a mask, where a TRANSFER waits.
    transfers: u8,
}

impl Ahead {
    fn wait_for(&mut self, command: &Command) {
        let rank = 1 << command.rank();
        match command {
            Command::Read { .. } | Command::Write { .. } => {
                self.data_bus = true;
                self.bursts |= rank;
            }
            Command::Transfer { .. } => self.transfers |= rank,
            _ => {}
        }
    }

    /// Whether the command would go on a bus, the channel's or a rank's own, that an older access waits for.
    fn delays(self, command: &Command) -> bool {
        let rank = 1 << command.rank();
        match command {
            Command::Read { .. } | Command::Write { .. } => self.data_bus || self.transfers & rank != 0,
            Command::Transfer { .. } => (self.bursts | self.transfers) & rank != 0,
            _ => false,
        }
    }
}

impl Controller {
    /// All banks closed, no request known.
    pub fn new(config: Config) -> Controller {
        let channels = 0..config.system.geometry.channels();
        let cells = |channel| {
            let background = Arc::clone(config.contents.as_ref()?);
            Some(Cells::new(channel, config.system.geometry, background).with_defect(config.defect))
        };
        let devices = channels.map(|channel| Device::new(&config.system, cells(Channel(channel)))).collect::<Vec<_>>();
        Controller {
            look_at: vec![Cycle::ZERO; devices.len()],
            devices,
            config,
            next_job: 0,
            jobs: BTreeMap::new(),
            planning: VecDeque::new(),
            waiting: WaitingLine::new(),
            in_flight: Vec::new(),
            may_begin_more: false,
            held: BankSet::default(),
            completing: BinaryHeap::new(),
            stats: Stats::default(),
            last: None,
            every_cycle: false,
        }
    }

    /// The same controller, which looks at every channel and every waiting segment at every cycle: slow, and the twin that
    /// skipping is compared with.
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
            self.last = Some(now);
            if self.every_cycle {
                self.may_begin_more = true;
                self.look_at.fill(now);
            }
            self.meet_source(source, now);
            while self.begin_segments(now) {
                self.plan(now);
            }
            for channel in 0..self.devices.len() {
                if self.look_at[channel] <= now {
                    self.look_at[channel] = self.issue_on(channel, now, sink);
                }
            }
        }
        let end = self.stats.end;
        self.devices.iter().for_each(|device| device.finish(end));
        sink.finish(end);
        Ok(self.stats.clone())
    }

    /// The device of a channel, to look at its cells after a run.
    pub fn device(&self, channel: Channel) -> &Device {
        &self.devices[usize::from(channel.0)]
    }

    /// The next moment at which anything can happen; nothing once all is done.
    fn next_instant(&self, source: &impl RequestSource) -> Option<Cycle> {
        let floor = self.last.map_or(Cycle::ZERO, |last| last + Cycles(1));
        let arrival = source.next_arrival();
        let completion = self.completing.peek().map(|Reverse((at, _))| *at);
        if arrival.is_none() && completion.is_none() && self.in_flight.is_empty() && self.waiting.is_empty() {
            return None;
        }
        if self.every_cycle {
            return Some(floor);
        }
        let channels = self.look_at.iter().copied().min();
        let next = [arrival, completion, channels].into_iter().flatten().min()?;
        Some(next.max(floor))
    }

    /// Delivers what is done, and takes what arrives, until neither leads to more.
    fn meet_source(&mut self, source: &mut impl RequestSource, now: Cycle) {
        loop {
            let mut moved = false;
            while let Some(&Reverse((at, job))) = self.completing.peek()
                && at <= now
            {
                self.completing.pop();
                let job = self.jobs.remove(&job).expect("a job completes once");
                let completion = job.into_completion();
                self.complete(&completion);
                source.complete(completion);
                moved = true;
            }
            while let Some(request) = source.take(now) {
                let blocks = self.config.planner.blocks(&request.operation);
                self.planning.push_back((self.next_job, blocks));
                self.jobs.insert(self.next_job, Job::new(request, self.config.contents.is_some()));
                self.next_job += 1;
                moved = true;
            }
            self.plan(now);
            if !moved {
                return;
            }
        }
    }

    fn complete(&mut self, completion: &crate::request::Completion) {
        self.stats.end = self.stats.end.max(completion.done);
        let figures = &mut self.stats.whole;
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
        figures.channel_bytes += completion.channel_bytes();
    }

    /// Keeps the waiting line filled.
    fn plan(&mut self, now: Cycle) {
        while self.waiting.len() < WAITING_MOST
            && let Some((id, blocks)) = self.planning.front_mut()
        {
            let id = *id;
            let job = self.jobs.get_mut(&id).expect("a job that is planned is not done");
            let Some(block) = blocks.next() else {
                self.planning.pop_front();
                job.fully_planned = true;
                job.lasts_until(now);
                if let Some(done) = job.take_completion() {
                    self.completing.push(Reverse((done, id)));
                }
                continue;
            };
            let policy = self.config.policy;
            let choices: Vec<_> = block.parts().iter().map(|part| policy.choose(part)).collect();
            for (part, &chosen) in block.parts().iter().zip(&choices) {
                job.tally(chosen, policy.reason(part, chosen), part.bytes());
            }
            for segment in block.segments(&choices, self.config.staging_lines) {
                job.planned(&segment);
                self.waiting.push_back(Waiting::new(id, &segment));
                self.may_begin_more = true;
            }
        }
    }

    /// Begins each segment whose banks are free of others, of earlier claims, and of a refresh that goes first. Says whether any
    /// began: there is then room to plan more.
    fn begin_segments(&mut self, now: Cycle) -> bool {
        if !std::mem::take(&mut self.may_begin_more) {
            return false;
        }
        let waited = self.waiting.len();
        let mut blocked = self.held;
        for (device, channel) in self.devices.iter().zip(0..) {
            for rank in 0..self.config.system.geometry.ranks() {
                if refresh::is_urgent(self.config.refresh, device, rank, now) {
                    blocked.insert_rank(Channel(channel), rank);
                }
            }
        }
        let mut index = 0;
        while index < self.waiting.len() {
            let banks = self.waiting[index].banks;
            if blocked.meets(&banks) {
                index += 1;
            } else {
                let waiting = self.waiting.remove(index).expect("the index is within");
                for stream in &waiting.streams {
                    self.look_at[usize::from(stream.channel.0)] = now;
                }
                self.held.insert_all(&banks);
                self.in_flight.push(waiting.into());
            }
            blocked.insert_all(&banks);
        }
        self.waiting.len() < waited
    }

    /// Issues what goes first on a channel, and says when the channel is worth another look.
    fn issue_on(&mut self, channel: usize, now: Cycle, sink: &mut impl CommandSink) -> Cycle {
        let mut next = Cycle(u64::MAX);
        let yielding = self.yielding(channel, now, &mut next);
        if let Some(command) = self.refresh_command(channel, now, yielding, &mut next) {
            self.issue(channel, now, &command, sink);
            self.may_begin_more = true;
            return now + Cycles(1);
        }
        let Some((segment, stream, turn, command)) = self.segment_command(channel, now, yielding, &mut next) else {
            return next;
        };
        let counts = self.issue(channel, now, &command, sink);
        self.advance(channel, now, (segment, stream, turn), counts);
        now + Cycles(1)
    }

    /// A REF that can go now. Else lowers `next` to when one could, or falls due.
    fn refresh_command(&self, channel: usize, now: Cycle, yielding: u8, next: &mut Cycle) -> Option<Command> {
        let device = &self.devices[channel];
        let id = Channel(channel as u8);
        for rank in 0..self.config.system.geometry.ranks() {
            let ledger = device.refresh(rank);
            let Some(due) = ledger.next_due(now) else { continue };
            *next = (*next).min(due);
            if ledger.owed(now) == 0 {
                continue;
            }
            let must = yielding & (1 << rank) != 0;
            let wanted =
                must || refresh::is_urgent(self.config.refresh, device, rank, now) || !self.is_wanted(id, rank);
            // A segment that has begun goes on until the REF must come; then it yields.
            let in_the_way = if must { device.any_open(rank) } else { self.held.holds_any_of_rank(id, rank) };
            if !wanted || in_the_way {
                continue;
            }
            let command = Command::Refresh { rank };
            let hold = device.earliest(&command).expect("its banks are closed, and no rank is asleep");
            if hold.until <= now {
                return Some(command);
            }
            *next = (*next).min(hold.until);
        }
        None
    }

    /// The ranks of a channel, as a mask, whose segments must yield now. Lowers `next` to when another one must.
    fn yielding(&self, channel: usize, now: Cycle, next: &mut Cycle) -> u8 {
        let device = &self.devices[channel];
        let mut mask = 0;
        for rank in 0..self.config.system.geometry.ranks() {
            match refresh::yield_from(device, rank) {
                Some(from) if from <= now => mask |= 1 << rank,
                Some(from) => *next = (*next).min(from),
                None => {}
            }
        }
        mask
    }

    /// The streams on a channel, the oldest segment's first: with the indices of segment and stream.
    fn streams_on(&self, channel: usize) -> impl Iterator<Item = (usize, usize, &Stream)> {
        self.in_flight.iter().enumerate().filter_map(move |(index, segment)| {
            let here = segment.streams.iter().position(|stream| usize::from(stream.channel.0) == channel)?;
            Some((index, here, &segment.streams[here]))
        })
    }

    /// Whether a segment waits for the rank.
    fn is_wanted(&self, channel: Channel, rank: u8) -> bool {
        self.waiting.iter().any(|waiting| waiting.banks.holds_any_of_rank(channel, rank))
    }

    /// The first command, by the age of segments, that can go now. Else lowers `next` to when one could.
    fn segment_command(
        &self,
        channel: usize,
        now: Cycle,
        yielding: u8,
        next: &mut Cycle,
    ) -> Option<(usize, usize, Turn, Command)> {
        let device = &self.devices[channel];
        let write_latency = device.timings().write_latency();
        if yielding != 0
            && let Some(first) = self.room_for_refresh(channel, now, yielding)
        {
            return Some(first);
        }
        let mut ahead = Ahead::default();
        for (index, here, stream) in self.streams_on(channel) {
            let writable = self.in_flight[index].writable(write_latency);
            for (turn, command, from) in stream.candidates(writable, yielding) {
                if ahead.delays(&command) {
                    ahead.wait_for(&command);
                    continue;
                }
                let hold = device.earliest(&command).expect("a segment opens its rows before it uses them");
                let earliest = hold.until.max(from);
                if earliest <= now {
                    return Some((index, here, turn, command));
                }
                *next = (*next).min(earliest);
                if from <= now {
                    ahead.wait_for(&command);
                }
            }
        }
        None
    }

    /// A row command that can go now in a rank that yields: it goes before all else, for TRANSFERs of other ranks alone can fill
    /// the command bus.
    fn room_for_refresh(&self, channel: usize, now: Cycle, yielding: u8) -> Option<(usize, usize, Turn, Command)> {
        let device = &self.devices[channel];
        let can_go = |command: &Command| device.earliest(command).is_ok_and(|hold| hold.until <= now);
        self.streams_on(channel).find_map(|(index, here, stream)| {
            // Without a time for writes, and where its rank yields, a stream offers row commands alone.
            let rows = stream.candidates(None, u8::MAX).filter(|(_, command, _)| yielding & (1 << command.rank()) != 0);
            rows.map(|(turn, command, _)| (index, here, turn, command)).find(|(_, _, _, command)| can_go(command))
        })
    }

    /// Puts a command on the bus, and counts it.
    fn issue(&mut self, channel: usize, now: Cycle, command: &Command, sink: &mut impl CommandSink) -> CommandCounts {
        let effect = self.devices[channel].issue(now, command);
        sink.push(now, Channel(channel as u8), command);
        let mut counts = CommandCounts::default();
        let count = match (command, effect) {
            (Command::Activate { .. }, Effect::Plain) => &mut counts.activates,
            (Command::Activate { .. }, Effect::Copied { .. }) => &mut counts.copy_activates,
            (Command::Activate { .. }, Effect::Dropped { .. }) => &mut counts.dropped_activates,
            (Command::Precharge { .. } | Command::PrechargeAll { .. }, _) => &mut counts.precharges,
            (Command::Read { .. }, _) => &mut counts.reads,
            (Command::Write { .. }, _) => &mut counts.writes,
            (Command::Transfer { .. }, _) => &mut counts.transfers,
            (Command::Refresh { .. }, _) => &mut counts.refreshes,
            (
                Command::PowerDownEnter { .. }
                | Command::PowerDownExit { .. }
                | Command::SelfRefreshEnter { .. }
                | Command::SelfRefreshExit { .. },
                _,
            ) => unreachable!("no rank is put to sleep yet"),
        };
        *count += 1;
        self.stats.whole.commands += counts;
        counts
    }

    /// The segment goes on; what it is done with, is free again.
    fn advance(
        &mut self,
        channel: usize,
        now: Cycle,
        (index, stream, turn): (usize, usize, Turn),
        counts: CommandCounts,
    ) {
        let device = &mut self.devices[channel];
        let segment = &mut self.in_flight[index];
        let job = self.jobs.get_mut(&segment.job);
        match segment.streams[stream].advance(turn) {
            Progress::Row | Progress::Transfer => {}
            Progress::BankDone(bank) => {
                segment.bank_done(device.ready(bank));
                self.held.remove(Channel(channel as u8), bank);
                self.may_begin_more = true;
            }
            Progress::Read(line) => {
                let arrives = now + device.timings().read_data();
                let bytes = device.read_line(line.location.bank, line.location.column);
                segment.read(arrives, &line, bytes);
                if segment.all_read() {
                    // A write on another channel may have waited for just this line.
                    segment.streams.iter().for_each(|stream| self.look_at[usize::from(stream.channel.0)] = now);
                }
                if let Some(job) = self.jobs.get_mut(&segment.job)
                    && job.is_read()
                {
                    job.reads_left -= 1;
                    job.lasts_until(arrives);
                    if let Some(bytes) = bytes {
                        job.receive(&line, &bytes);
                    }
                }
            }
            Progress::Write(write) => {
                if self.config.contents.is_some()
                    && let Some(job) = &job
                {
                    let bytes = segment.compose(&job.request, &write);
                    device.write_line(write.line.location.bank, write.line.location.column, &bytes);
                }
            }
        }
        self.settle(index, now, counts);
    }

    /// Books the command to its operation; closes the segment, and the operation, that it was the last of.
    fn settle(&mut self, index: usize, now: Cycle, counts: CommandCounts) {
        let segment = &self.in_flight[index];
        let (id, finished) = (segment.job, segment.ready());
        if let Some(job) = self.jobs.get_mut(&id) {
            job.issued(now, counts);
            if let Some(ready) = finished {
                job.segments_left -= 1;
                if !job.is_read() {
                    job.lasts_until(ready);
                }
            }
            if let Some(done) = job.take_completion() {
                self.completing.push(Reverse((done, id)));
            }
        }
        if let Some(ready) = finished {
            self.stats.end = self.stats.end.max(ready);
            self.in_flight.remove(index);
        }
    }
}
