//! The memory controller: a front end and one channel each, stepped from event to event.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dram_core::{Cells, Device};
use dram_spec::{Cycle, Cycles, EventSink, Refresh};

use crate::channel::{Channel, Outcome, Queues};
use crate::config::Config;
use crate::front_end::FrontEnd;
use crate::request::{Completion, Request, RequestSource};
use crate::stats::Stats;

/// How long [`Controller::run`] goes on, at most, before it looks whether it was stopped; unless nothing happens for longer.
const STOP_CHECK: Cycles = Cycles(1 << 16);

/// The run was stopped from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupt;

impl std::error::Error for Interrupt {}

impl std::fmt::Display for Interrupt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the run was stopped")
    }
}

/// The controller of all channels.
#[derive(Debug)]
pub struct Controller {
    front: FrontEnd,
    channels: Vec<Channel>,
    /// All commands before this cycle were issued, and none of it.
    now: Cycle,
    /// Whether programs may be dispatched in this cycle.
    may_dispatch: bool,
    /// The slots of requests that were delivered and not taken.
    completed: VecDeque<u32>,
}

impl Controller {
    /// All banks closed, no request known, at cycle 0.
    ///
    /// # Panics
    /// If the settings contradict each other: watermarks out of order, a queue, a term or an epoch of nothing, power-down without
    /// refresh.
    pub fn new(config: &Config) -> Controller {
        let queues = config.queues;
        assert!(queues.drain_low < queues.drain_high && queues.drain_high <= queues.write_entries, "{queues:?}");
        assert!(queues.read_entries > 0 && queues.copy_entries > 0 && queues.admission_per_cycle > 0, "{queues:?}");
        assert!(queues.read_entries + queues.write_entries <= Queues::CAPACITY, "{queues:?}");
        assert!(config.staging_lines > 0, "a copy over the channel needs room for a line");
        assert!(config.epoch != Some(Cycles(0)) && config.copy_hold_max != Some(Cycles(0)), "at least a cycle");
        let sleeps = config.power.power_down_after.is_some() || config.power.self_refresh_after.is_some();
        assert!(!sleeps || config.system.refresh != Refresh::Off, "power-down needs refresh to end in time");
        let cells = |channel| {
            let background = Arc::clone(config.contents.as_ref()?);
            let cells = Cells::new(channel, config.system.geometry, background);
            #[cfg(feature = "test-api")]
            let cells = cells.with_defect(config.defect);
            Some(cells)
        };
        let ids = (0..config.system.geometry.channels()).map(dram_spec::Channel);
        let channels: Vec<_> = ids.map(|id| Channel::new(id, Device::new(&config.system, cells(id)), config)).collect();
        let front = FrontEnd::new(config, &channels);
        Controller { front, channels, now: Cycle::ZERO, may_dispatch: false, completed: VecDeque::new() }
    }

    /// The present cycle: all commands before it were issued, and none of it.
    #[inline]
    pub fn now(&self) -> Cycle {
        self.now
    }

    /// Whether [`Self::try_enqueue`] takes a request now.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.front.head.is_none()
    }

    /// Whether no request is in progress, and none is to be delivered.
    pub fn is_idle(&self) -> bool {
        self.front.is_idle()
    }

    /// Takes a request that has arrived by now.
    ///
    /// # Errors
    /// The request, if the one before it is not wholly accepted.
    ///
    /// # Panics
    /// If the planner's check refuses the operation.
    #[inline]
    pub fn try_enqueue(&mut self, request: Request) -> Result<(), Request> {
        if !self.has_room() {
            return Err(request);
        }
        self.enqueue(request);
        Ok(())
    }

    /// Takes a request that has arrived by now; there is room for it.
    #[expect(clippy::inline_always, reason = "a request that is moved in memory costs as much as making it")]
    #[inline(always)]
    fn enqueue(&mut self, request: Request) {
        self.front.enter(request);
        self.front.admit(&mut self.channels, self.now);
        self.may_dispatch = true;
    }

    /// Takes the requests that were delivered and not taken before, in order of delivery.
    #[inline]
    pub fn completions(&mut self) -> impl Iterator<Item = Completion> {
        std::iter::from_fn(|| self.completed.pop_front().map(|slot| self.front.take(slot)))
    }

    /// The earliest cycle after now in which the controller may deliver a completion or accept a request that waits, if nothing is enqueued
    /// before: a lower bound.
    pub fn next_event(&self) -> Cycle {
        let first = self.channels.iter().map(Channel::wakes_at).min().unwrap_or(Cycle::NEVER);
        let first = first.min(self.front.wakes_at(self.now)).max(self.now + Cycles(1));
        if self.may_dispatch && self.front.has_copies_to_dispatch() { self.now + Cycles(1) } else { first }
    }

    /// Issues the commands of all cycles before `limit`; but stops at the first cycle in which a request that waited has been
    /// accepted, or, if none waits, in which a completion is delivered. Returns the cycle reached.
    ///
    /// # Panics
    /// If the device finds a command early: a bug of this crate. If requests are in progress and nothing can happen any more.
    pub fn advance_to(&mut self, limit: Cycle, sink: &mut impl EventSink) -> Cycle {
        while self.now < limit {
            if std::mem::take(&mut self.may_dispatch) && self.front.has_copies_to_dispatch() {
                self.front.dispatch(&mut self.channels, self.now);
            }
            let until = limit.min(self.front.wakes_at(self.now));
            self.now = self.run_channels(until, sink);
            if self.begin_cycle() {
                break;
            }
        }
        self.now
    }

    /// Issues commands in the order of cycles, up to `until` or the first cycle in which the front end acts on one.
    #[inline]
    fn run_channels(&mut self, mut until: Cycle, sink: &mut impl EventSink) -> Cycle {
        loop {
            let (index, at) = self.first_channel();
            if at >= until {
                assert!(until < Cycle::NEVER, "requests are in progress, and nothing can happen: {:?}", self.front);
                return until;
            }
            let channel = &mut self.channels[index];
            if !channel.has_command() {
                channel.decide();
                continue;
            }
            let outcome = channel.issue(sink);
            if !matches!(outcome, Outcome::None) {
                until = until.min(self.front.observe(&mut self.channels, index, at, outcome));
                until = until.min(self.front.wakes_at(at));
            }
        }
    }

    /// The channel that wakes first, and when.
    #[inline]
    fn first_channel(&self) -> (usize, Cycle) {
        let mut first = (0, self.channels[0].wakes_at());
        for (index, channel) in self.channels.iter().enumerate().skip(1) {
            let at = channel.wakes_at();
            if at < first.1 {
                first = (index, at);
            }
        }
        first
    }

    /// The front end's part of a cycle, up to the requests that arrive in it. Returns whether the requester should look.
    #[expect(clippy::inline_always, reason = "it is a part of each step of a run")]
    #[inline(always)]
    fn begin_cycle(&mut self) -> bool {
        let now = self.now;
        let waited = self.front.head.is_some();
        let delivered = self.completed.len();
        let begins_epoch = now >= self.front.recorder.until();
        if begins_epoch {
            // What was due before the end of an epoch counts in it, although nothing has asked for it since.
            self.deliver(Cycle(now.0.saturating_sub(1)));
            self.front.recorder.advance_to(now, &mut self.channels);
        }
        self.deliver(now);
        if begins_epoch {
            self.front.recorder.begin_epoch();
        }
        self.may_dispatch = true;
        let is_accepted = self.front.admit(&mut self.channels, now);
        if waited { is_accepted } else { self.completed.len() > delivered }
    }

    /// Delivers what is due by `by`.
    #[inline]
    fn deliver(&mut self, by: Cycle) {
        while let Some(slot) = self.front.deliver(&mut self.channels, by) {
            self.completed.push_back(slot);
        }
    }

    /// Plays `source` until everything is delivered.
    ///
    /// # Errors
    /// `stop` was raised; the controller is then of no further use.
    ///
    /// # Panics
    /// As [`Self::advance_to`].
    pub fn run(
        &mut self,
        source: &mut impl RequestSource,
        sink: &mut impl EventSink,
        stop: &AtomicBool,
    ) -> Result<Stats, Interrupt> {
        let mut pause = self.now;
        loop {
            while let Some(slot) = self.completed.pop_front() {
                source.complete(self.front.take(slot));
            }
            while self.has_room() && source.next_arrival().is_some_and(|at| at <= self.now) {
                let Some(request) = source.take(self.now) else { break };
                self.enqueue(request);
            }
            let arrival = if self.has_room() { source.next_arrival() } else { None };
            if arrival.is_none() && self.is_idle() {
                return Ok(self.finish(sink));
            }
            if self.now >= pause {
                if stop.load(Ordering::Relaxed) {
                    return Err(Interrupt);
                }
                pause = self.now + STOP_CHECK;
            }
            let mut until = arrival.unwrap_or(Cycle::NEVER);
            if until > pause {
                let nothing_until = if self.is_idle() { self.next_event() } else { pause };
                until = until.min(nothing_until.max(pause));
            }
            self.advance_to(until, sink);
        }
    }

    /// Ends the run in the present cycle, whose commands are issued. Returns the statistics, which begin anew.
    pub fn finish(&mut self, sink: &mut impl EventSink) -> Stats {
        let end = self.now;
        self.run_channels(end + Cycles(1), sink);
        self.channels.iter().for_each(|channel| channel.device.finish(end));
        sink.finish(end);
        self.front.recorder.finish(end, &mut self.channels)
    }

    /// The device of a channel, to look at its cells after a run.
    pub fn device(&self, channel: dram_spec::Channel) -> &Device {
        &self.channels[usize::from(channel.0)].device
    }
}
