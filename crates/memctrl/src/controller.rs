//! The memory controller: a front end and one or more channels, advanced from event to event.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dram_core::{Cells, Device};
use dram_spec::{Cycle, Cycles, EventSink};

use crate::channel::{Channel, Horizon, IssueEffect};
use crate::config::Config;
use crate::front_end::FrontEnd;
use crate::policy::scheduler::Others;
use crate::queues::Queues;
use crate::request::{Completion, Request, RequestSource};
use crate::stats::Stats;

/// Maximum time that [`Controller::run`] advances between checks for a stop, unless no event occurs
/// for longer.
const STOP_CHECK: Cycles = Cycles(1 << 16);

/// The caller stopped the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run was stopped")]
pub struct Interrupt;

/// What the readers of commands need.
#[derive(Clone, Copy, Debug)]
struct Wants {
    /// The order of time over all channels.
    order: bool,
    /// The depths of the queues.
    queues: bool,
}

impl Wants {
    fn of(sink: &impl EventSink) -> Wants {
        Wants { order: sink.wants_order(), queues: sink.wants_queues() }
    }
}

#[cold]
fn panic_stuck(front: &FrontEnd) -> ! {
    panic!("requests are in progress, but no event can occur: {front:?}")
}

/// The memory controller of all channels.
#[derive(Debug)]
pub struct Controller {
    front: FrontEnd,
    channels: Vec<Channel>,
    /// The present cycle: all commands before it were issued, and none of it.
    now: Cycle,
    /// Quantum of the schedulers, and the end of the present one.
    quantum: Cycles,
    quantum_end: Cycle,
    /// Whether programs may be dispatched in this cycle.
    may_dispatch: bool,
}

impl Controller {
    /// Creates a controller at cycle 0: all banks closed, no request in progress.
    ///
    /// # Panics
    /// If [`Config::check`] finds an error, or if the queues of reads and writes have more than 65,535
    /// entries together.
    pub fn new(config: &Config) -> Controller {
        config.check().unwrap_or_else(|error| panic!("{error}"));
        assert!(config.queues.read_entries + config.queues.write_entries <= Queues::CAPACITY, "{:?}", config.queues);
        let cells = |channel| {
            let background = Arc::clone(config.contents.as_ref()?);
            Some(Cells::new(channel, config.system.geometry, background))
        };
        let ids = (0..config.system.geometry.channels()).map(dram_spec::Channel);
        let channels: Vec<_> = ids.map(|id| Channel::new(id, Device::new(&config.system, cells(id)), config)).collect();
        let front = FrontEnd::new(config, &channels);
        let quantum = config.scheduler.quantum().filter(|_| config.scheduler.has_state()).unwrap_or(Cycles(u64::MAX));
        let quantum_end = Cycle(quantum.0);
        Controller { front, channels, quantum, quantum_end, now: Cycle::ZERO, may_dispatch: false }
    }

    /// The present cycle: all commands before it were issued, and none of it.
    #[inline]
    pub fn now(&self) -> Cycle {
        self.now
    }

    /// Whether [`Self::try_enqueue`] accepts a request now.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.front.head.is_none()
    }

    /// Whether no request is in progress and no completion is left to take.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.front.is_idle(self.now)
    }

    /// Enqueues a request that has arrived by now. [`Planner::check`](rowclone::Planner::check) must permit its
    /// operation.
    ///
    /// # Errors
    /// The request, if its predecessor is not completely accepted.
    ///
    /// # Panics
    /// If the operation reaches past the end of the memory.
    #[inline]
    pub fn try_enqueue(&mut self, request: Request) -> Result<(), Request> {
        if !self.has_room() {
            return Err(request);
        }
        self.enqueue(request, true);
        Ok(())
    }

    /// Enqueues a request that has arrived by now; [`Self::has_room`] must be true.
    #[inline]
    fn enqueue(&mut self, request: Request, is_reported: bool) {
        self.front.enter(request, is_reported, &mut self.channels, self.now);
        self.may_dispatch = true;
    }

    /// Takes the completions delivered since the last call, in order of delivery.
    #[inline]
    pub fn completions(&mut self) -> impl Iterator<Item = Completion> {
        std::iter::from_fn(|| self.front.take_completion())
    }

    /// Lower bound of the next cycle in which the controller delivers a completion or accepts a
    /// waiting request, if no request is enqueued before.
    pub fn next_event(&self) -> Cycle {
        let first = self.channels.iter().map(Channel::wakes_at).min().unwrap_or(Cycle::NEVER);
        let first = first.min(self.quantum_end).min(self.front.wakes_at(self.now)).max(self.now + Cycles(1));
        if self.may_dispatch && self.front.has_copies_to_dispatch() { self.now + Cycles(1) } else { first }
    }

    /// Issues the commands of all cycles before `limit`, but stops at the first cycle in which a
    /// waiting request is completely accepted or, if none waits, in which a completion is
    /// delivered. Returns the cycle reached.
    ///
    /// # Panics
    /// If the device rejects a command as early, which is an error of this crate; or if requests
    /// are in progress but no further event can occur.
    pub fn advance_to(&mut self, limit: Cycle, sink: &mut impl EventSink) -> Cycle {
        self.advance(limit, Wants::of(sink), sink)
    }

    /// [`Self::advance_to`], for a sink with known wants.
    #[inline]
    fn advance(&mut self, limit: Cycle, wants: Wants, sink: &mut impl EventSink) -> Cycle {
        while self.now < limit {
            if std::mem::take(&mut self.may_dispatch) && self.front.has_copies_to_dispatch() {
                self.front.dispatch(&mut self.channels, self.now);
            }
            let until = limit.min(self.front.wakes_at(self.now)).min(self.quantum_end);
            self.now = self.run_channels(until, wants, sink);
            if self.now >= self.quantum_end {
                self.end_quantum();
            }
            if self.begin_cycle() {
                break;
            }
        }
        self.now
    }

    /// Ends a quantum of the schedulers, before the commands of the present cycle.
    #[cold]
    fn end_quantum(&mut self) {
        self.quantum_end += self.quantum;
        let now = self.now;
        let mut schedulers = self.channels.iter_mut().map(|channel| channel.end_quantum(now));
        let first = schedulers.next().expect("there is a channel");
        first.end_quantum(Others(schedulers.collect()));
    }

    /// Issues commands up to `until`, or to the first cycle in which the front end reacts to one.
    /// Returns that cycle.
    #[inline(always)]
    fn run_channels(&mut self, mut until: Cycle, wants: Wants, sink: &mut impl EventSink) -> Cycle {
        // The channel for which the head request waits determines how far the others run.
        if let Some(awaited) = self.front.awaited_channel()
            && !wants.order
        {
            until = self.run_channel(awaited, until, wants, sink);
        }
        if self.channels.len() == 1 || !(wants.order || self.front.needs_order()) {
            for index in 0..self.channels.len() {
                until = self.run_channel(index, until, wants, sink);
            }
        } else {
            until = self.run_in_order(until, wants, sink);
        }
        if until < Cycle::NEVER { until } else { panic_stuck(&self.front) }
    }

    /// Runs a channel that no other one affects.
    #[inline]
    fn run_channel(&mut self, index: usize, mut until: Cycle, wants: Wants, sink: &mut impl EventSink) -> Cycle {
        while self.channels[index].wakes_at() < until {
            until = until.min(self.step(index, Horizon::until(until), wants, sink));
        }
        until
    }

    /// Runs the channel that wakes first, as far as no other one can affect it, then the next.
    #[inline(never)]
    fn run_in_order(&mut self, mut until: Cycle, wants: Wants, sink: &mut impl EventSink) -> Cycle {
        while self.channels.iter().any(|channel| channel.wakes_at() < until) {
            let (index, horizon) = self.earliest_channel(until, wants.order);
            until = until.min(self.step(index, horizon, wants, sink));
        }
        until
    }

    /// Runs a channel up to its horizon, or to a command that concerns the front end. Returns the cycle
    /// in which the front end reacts to it, if any.
    #[inline(always)]
    fn step(&mut self, index: usize, horizon: Horizon, wants: Wants, sink: &mut impl EventSink) -> Cycle {
        let (awaits, ends) = (self.front.awaited_kind(self.channels[index].id), self.front.may_end);
        let horizon = Horizon { awaits, ends, wants_queues: wants.queues, ..horizon };
        match self.channels[index].advance(&horizon, &mut self.front.recorder.accesses, sink) {
            None => Cycle::NEVER,
            Some((at, IssueEffect::Entry)) => at + Cycles(1),
            Some((at, outcome)) => self.front.observe(&mut self.channels, index, at, outcome),
        }
    }

    /// The channel that wakes first, and how far it can run, up to `until`, before another may affect it.
    #[inline(never)]
    fn earliest_channel(&self, until: Cycle, wants_order: bool) -> (usize, Horizon) {
        let (mut first, mut wakes_at, mut next) = (0, self.channels[0].wakes_at(), Cycle::NEVER);
        // When the first channel, and any other one, may affect the front end.
        let (mut affects, mut others_affect) = (self.channels[0].affects_from(), Cycle::NEVER);
        for (index, channel) in self.channels.iter().enumerate().skip(1) {
            let (at, mut from) = (channel.wakes_at(), channel.affects_from());
            if at < wakes_at {
                (first, wakes_at, next) = (index, at, wakes_at);
                std::mem::swap(&mut from, &mut affects);
            } else {
                next = next.min(at);
            }
            others_affect = others_affect.min(from);
        }
        // Of two channels that wake in one cycle, the first one has the first turn.
        let commands = next.max(Cycle(wakes_at.0.saturating_add(1)));
        let (commands, runs) = if wants_order {
            (commands, commands)
        } else if self.front.has_copies() {
            // What copies change on another channel, they change in the order of time.
            (commands, others_affect)
        } else {
            // The requester, or the end of the run, waits for the data of an access.
            let answered = Cycle(next.0.saturating_add(self.channels[first].least_latency().0));
            (answered, answered)
        };
        (first, Horizon { runs: runs.min(until), ..Horizon::until(commands.min(until)) })
    }

    /// The front end's part of a cycle, up to the requests that arrive in it. Returns whether the requester should
    /// look.
    #[inline]
    fn begin_cycle(&mut self) -> bool {
        let now = self.now;
        let waited = !self.front.head.is_none();
        let is_any_delivered = if now >= self.front.recorder.until() {
            self.begin_epoch()
        } else {
            self.front.deliver(&mut self.channels, now)
        };
        self.may_dispatch = true;
        let is_accepted = self.front.admit(&mut self.channels, now);
        if waited { is_accepted } else { is_any_delivered || self.front.is_idle(now) }
    }

    /// Ends the epochs that end by now, and delivers the requests due by now; returns whether there
    /// were any.
    #[cold]
    fn begin_epoch(&mut self) -> bool {
        // Requests due before the end of an epoch count in it, also if they were not delivered then.
        let was_any_delivered = self.front.deliver(&mut self.channels, Cycle(self.now.0.saturating_sub(1)));
        self.front.recorder.advance_to(self.now, &mut self.channels);
        let is_any_delivered = self.front.deliver(&mut self.channels, self.now);
        self.front.recorder.begin_epoch(&mut self.channels);
        was_any_delivered || is_any_delivered
    }

    /// Runs `source` until all requests are delivered.
    ///
    /// # Errors
    /// If `stop` was set; the controller must not be used afterwards.
    ///
    /// # Panics
    /// Those of [`Self::advance_to`].
    pub fn run(
        &mut self,
        source: &mut impl RequestSource,
        sink: &mut impl EventSink,
        stop: &AtomicBool,
    ) -> Result<Stats, Interrupt> {
        let (mut pause, is_reported, wants) = (self.now, source.wants_accesses(), Wants::of(sink));
        loop {
            // The test is inlined, unlike the call: most requests have no completion to take.
            while self.front.has_completion()
                && let Some(completion) = self.front.take_completion()
            {
                source.complete(completion);
            }
            self.front.unreported.report_reads(|id, line| source.data_read(id, line));
            let arrival = loop {
                let arrival = if self.has_room() { source.next_arrival() } else { None };
                if arrival.is_none_or(|at| at > self.now) {
                    break arrival;
                }
                let Some(request) = source.take(self.now) else { break arrival };
                self.enqueue(request, is_reported);
            };
            if arrival.is_none() && self.is_idle() {
                return Ok(self.finish(sink));
            }
            if self.now >= pause {
                if stop.load(Ordering::Relaxed) {
                    return Err(Interrupt);
                }
                pause = self.now + STOP_CHECK;
            }
            self.front.may_end = arrival.is_none() && self.has_room();
            let mut until = arrival.unwrap_or(Cycle::NEVER);
            if until > pause {
                let nothing_until = if self.is_idle() { self.next_event() } else { pause };
                until = until.min(nothing_until.max(pause));
            }
            self.advance(until, wants, sink);
        }
    }

    /// Ends the run in the present cycle, after its commands. Returns the statistics, which
    /// restart.
    pub fn finish(&mut self, sink: &mut impl EventSink) -> Stats {
        let end = self.now;
        self.run_channels(end + Cycles(1), Wants::of(sink), sink);
        self.channels.iter().for_each(|channel| channel.device.finish(end));
        sink.finish(end);
        self.front.recorder.finish(end, &mut self.channels)
    }

    /// Device of a channel, for example to read its cells after a run.
    pub fn device(&self, channel: dram_spec::Channel) -> &Device {
        &self.channels[usize::from(channel.0)].device
    }
}
