//! The only place where DRAM time moves, for all channels at once; but for commands of accesses (`serve`) and runs of lines (`progress`). `docs/controller.md` has its rules.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dram_core::{Cells, Device};
use dram_spec::{Channel, Command, CommandSink, Cycle, Cycles, Refresh};
use rowclone::Blocks;

use crate::access;
use crate::channel::ChannelState;
use crate::config::Config;
use crate::copy::Copying;
use crate::estimate::Estimator;
use crate::flight::Waiting;
use crate::front_end::FrontEnd;
use crate::intake::{Left, State};
use crate::recorder::Recorder;
use crate::request::{Counted, RequestSource};
use crate::scheduler::Choice;
use crate::slots::Slots;
use crate::stats::Stats;

/// The run was stopped from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupt;

/// The controller of all channels.
pub struct Controller {
    /// What all channels share.
    pub(crate) front: FrontEnd,
    pub(crate) channels: Vec<ChannelState>,
    /// Jobs whose blocks are not all planned.
    pub(crate) planning: VecDeque<(u32, Blocks)>,
    pub(crate) estimator: Estimator,
    pub(crate) segments: Slots<Copying>,
    /// Segments that have not begun, or have given way, by place.
    pub(crate) waiting: Vec<Waiting>,
    /// Segments in flight, by place.
    pub(crate) in_flight: Vec<u32>,
    /// When the next term of a segment may end.
    pub(crate) terms_end: Cycle,
    /// The cycle after the last instant.
    pub(crate) next_from: Cycle,
}

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
            planning: VecDeque::new(),
            estimator: Estimator::new(&config),
            segments: Slots::default(),
            waiting: Vec::new(),
            in_flight: Vec::new(),
            terms_end: Cycle::NEVER,
            next_from: Cycle::ZERO,
            front: FrontEnd::new(config),
        }
    }

    /// The same controller, which looks at everything at every cycle: slow, and what skipping is compared with.
    #[must_use]
    pub fn visiting_every_cycle(mut self) -> Controller {
        self.front.every_cycle = true;
        self
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
        while let Some(mut now) = self.next_instant(source) {
            assert!(now >= self.next_from, "time must move forward: {now:?}, and not before {:?}", self.next_from);
            if stop.load(Ordering::Relaxed) {
                return Err(Interrupt);
            }
            self.next_from = now + Cycles(1);
            self.meet_source(source, now);
            if now >= self.front.gives_way_at || self.front.every_cycle {
                self.give_way(now);
            }
            if self.front.may_begin || self.front.every_cycle {
                self.plan_and_begin(now);
            }
            for channel in 0..self.channels.len() {
                if self.front.every_cycle || self.channels[channel].look_at <= now {
                    let took_in;
                    (now, took_in) = self.visit(channel, now, source, sink);
                    if took_in {
                        // What came in waits for the next instant, as where it is taken in below.
                        break;
                    }
                }
            }
            if std::mem::take(&mut self.front.made_room) {
                self.take_in(source, now);
            }
            self.front.recorder.end_instant();
        }
        let end = Cycle(self.next_from.0.saturating_sub(1));
        self.channels.iter().for_each(|channel| channel.device.finish(end));
        sink.finish(end);
        let recorder = std::mem::replace(&mut self.front.recorder, Recorder::new(&self.front.config));
        Ok(recorder.finish(end))
    }

    /// The device of a channel, to look at its cells after a run.
    pub fn device(&self, channel: Channel) -> &Device {
        &self.channels[usize::from(channel.0)].device
    }

    /// The next moment at which anything can happen; nothing once all is done.
    #[inline]
    fn next_instant(&self, source: &impl RequestSource) -> Option<Cycle> {
        let mut next = self.terms_end;
        // What is held up in intake waits for a command, or for the delivery of a job; its source is not asked before, and hears in time
        // of what else is done.
        if self.front.state == State::Idle {
            let arrival = source.next_arrival();
            if arrival.is_none() && self.front.outstanding.is_empty() && self.front.accesses.is_empty() {
                return None;
            }
            next = next.min(arrival.unwrap_or(Cycle::NEVER)).min(self.front.outstanding.done_at());
        } else if !self.front.jobs.is_empty() {
            next = next.min(self.front.outstanding.done_at());
        }
        if self.front.every_cycle || self.front.may_begin {
            return Some(self.next_from);
        }
        // There is always a first; most often no other.
        if let Some((first, others)) = self.channels.split_first() {
            next = next.min(first.look_at);
            for channel in others {
                next = next.min(channel.look_at);
            }
        }
        assert!(
            next < Cycle::NEVER,
            "nothing can happen any more, and requests are in progress: {:?}",
            self.front.outstanding
        );
        Some(next.max(self.next_from))
    }

    /// Delivers what is done, and takes what arrives, until neither leads to more.
    #[inline]
    fn meet_source(&mut self, source: &mut impl RequestSource, now: Cycle) {
        loop {
            while self.front.outstanding.done_at() <= now {
                self.deliver(source, now);
            }
            self.front.recorder.advance_to(now, now);
            if self.front.is_held_up || !self.take_in(source, now) {
                return;
            }
        }
    }

    /// Issues what goes first on a channel, and finds out when it is worth another look. Where nothing else happens before that, it goes
    /// on there at once. Says which instant it has come to, and whether it has taken in what comes in.
    #[inline]
    fn visit(
        &mut self,
        index: usize,
        mut now: Cycle,
        source: &mut impl RequestSource,
        sink: &mut impl CommandSink,
    ) -> (Cycle, bool) {
        let channel = &mut self.channels[index];
        if (channel.may_turn || self.front.every_cycle) && channel.turn() {
            self.front.recorder.figures.drains += u64::from(channel.mode == access::Kind::Write);
        }
        if self.front.every_cycle {
            channel.forget_prepared();
        }
        let (mut from, mut left, mut others) = (now, None, self.others_due(index));
        let next = loop {
            let mut channel = &mut self.channels[index];
            if channel.prepared_at == now {
                if let Choice::Access(bank) = channel.prepared {
                    (now, left) = self.front.go_on(channel, others, (now, bank), source, sink);
                    if left == Some(Left::GoesElsewhere) {
                        self.take_in(source, now);
                        others = self.others_due(index);
                    }
                } else {
                    left = None;
                    now = self.issue_choice(index, now, others, sink);
                    others = self.others_due(index);
                }
                from = now + Cycles(1);
                self.next_from = from;
                channel = &mut self.channels[index];
                if now >= channel.must_from {
                    self.front.may_begin |= channel.ask_must(now);
                    self.front.gives_way_at = self.front.gives_way_at.min(channel.must_from);
                }
                if channel.should_turn() {
                    break from;
                }
            }
            // Accesses that went on alone have found out what goes next, where they broke off before it.
            let at = if from > now && channel.prepared_at < Cycle::NEVER {
                channel.prepared_at
            } else {
                channel.foresee(from, &self.front.accesses, &self.segments, self.front.config.staging_lines)
            };
            if at > now {
                if from > now && self.is_alone_until(index, others, at) {
                    self.front.recorder.end_instant();
                    (now, from, self.next_from) = (at, at, at + Cycles(1));
                    continue;
                }
                let channel = &mut self.channels[index];
                let turns = from == now && channel.should_turn();
                break if turns { now + Cycles(1) } else { at };
            }
        };
        let channel = &mut self.channels[index];
        channel.look_at = next.min(channel.must_from.max(now + Cycles(1)));
        (now, left.is_some())
    }

    /// When another channel is next due; at once, where everything is looked at.
    #[inline]
    fn others_due(&self, index: usize) -> Cycle {
        if self.front.every_cycle {
            return Cycle::ZERO;
        }
        // Most often there is no other.
        if self.channels.len() == 1 {
            return Cycle::NEVER;
        }
        let others = self.channels.iter().enumerate().filter(|&(other, _)| other != index);
        others.fold(Cycle::NEVER, |due, (_, other)| due.min(other.look_at))
    }

    /// Whether nothing happens before `at`, nor then, but what the channel has prepared.
    #[inline]
    fn is_alone_until(&self, index: usize, others: Cycle, at: Cycle) -> bool {
        let channel = &self.channels[index];
        channel.prepared_at == at && at < self.front.alone_before(channel, others)
    }

    /// Issues what is prepared, a rank's own command or one for a segment. Says to which instant it has come.
    fn issue_choice(&mut self, index: usize, now: Cycle, others: Cycle, sink: &mut impl CommandSink) -> Cycle {
        match self.channels[index].prepared {
            Choice::Access(_) => unreachable!("they have their own way"),
            Choice::SegmentAccess(place) => return self.issue_segment_access(index, now, place, others, sink),
            Choice::SegmentRow(bank) => self.issue_segment_row(index, now, bank, sink),
            Choice::Upkeep(command) => {
                self.issue(index, now, &command, sink);
                self.front.may_begin |= matches!(command, Command::Refresh { .. });
            }
        }
        now
    }

    /// Puts a command on the bus that is no RD or WR, and no access's.
    pub(crate) fn issue(
        &mut self,
        index: usize,
        now: Cycle,
        command: &Command,
        sink: &mut impl CommandSink,
    ) -> Counted {
        let channel = &mut self.channels[index];
        let counted = channel.issue(now, command, &self.front.config, &mut self.front.accesses);
        sink.push(now, channel.id, command);
        self.front.recorder.figures.commands.count(counted);
        self.front.tell_queues(channel.id, now, None, sink);
        counted
    }
}
