//! The only place where DRAM time moves, for all channels at once; but for runs of lines (`progress`). `docs/controller.md` has its rules.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dram_core::{Cells, Device};
use dram_spec::address::Locator;
use dram_spec::{Channel, Command, CommandSink, Cycle, Cycles, Queued, Refresh};
use rowclone::Blocks;

use crate::access::{self, Accesses, Entry, Kind};
use crate::channel::ChannelState;
use crate::config::Config;
use crate::copy::{BankSet, Copying};
use crate::estimate::Estimator;
use crate::flight::Waiting;
use crate::intake::{Blocked, Incoming, State};
use crate::outstanding::Requests;
use crate::recorder::Recorder;
use crate::request::{Counted, RequestSource};
use crate::scheduler::Choice;

use crate::slots::Slots;
use crate::spot::Spot;
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
    pub(crate) counter: u64,
    /// Requests taken so far.
    pub(crate) taken: u64,
    pub(crate) outstanding: Requests,
    pub(crate) accesses: Accesses,
    /// Accesses that wait for jobs, in the order in which they were accepted.
    pub(crate) blocked: Vec<Blocked>,
    /// The request that is being accepted, and whether there is one.
    pub(crate) incoming: Incoming,
    pub(crate) state: State,
    pub(crate) locator: Locator<Spot>,
    /// Whether it could not be, and nothing has happened since that would change that.
    pub(crate) is_held_up: bool,
    /// Jobs that wait for accesses.
    pub(crate) waiters: Vec<(Entry, u32)>,
    /// Jobs in progress, in the order in which they were accepted.
    pub(crate) jobs: Vec<u32>,
    /// Jobs whose blocks are not all planned.
    pub(crate) planning: VecDeque<(u32, Blocks)>,
    pub(crate) estimator: Estimator,
    pub(crate) segments: Slots<Copying>,
    /// Segments that have not begun, or have given way, by place.
    pub(crate) waiting: Vec<Waiting>,
    /// The banks that they use.
    pub(crate) waiting_banks: BankSet,
    /// Segments in flight, by place.
    pub(crate) in_flight: Vec<u32>,
    /// Whether a segment may be able to begin that was not before.
    pub(crate) may_begin: bool,
    /// When the next term of a segment may end.
    pub(crate) terms_end: Cycle,
    /// When that is, or a rank must next be made free; not later than either.
    pub(crate) gives_way_at: Cycle,
    /// Whether a command has made room for what comes in.
    pub(crate) made_room: bool,
    pub(crate) recorder: Recorder,
    /// The cycle after the last instant.
    pub(crate) next_from: Cycle,
    pub(crate) every_cycle: bool,
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
            entries: [queues.read_entries as u64, queues.write_entries as u64],
            counter: 0,
            taken: 0,
            outstanding: Requests::default(),
            accesses: Accesses::default(),
            blocked: Vec::new(),
            incoming: Incoming::default(),
            state: State::Idle,
            locator: Locator::default(),
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
            terms_end: Cycle::NEVER,
            gives_way_at: Cycle::ZERO,
            made_room: false,
            recorder: Recorder::new(&config),
            next_from: Cycle::ZERO,
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
        while let Some(mut now) = self.next_instant(source) {
            assert!(now >= self.next_from, "time must move forward: {now:?}, and not before {:?}", self.next_from);
            if stop.load(Ordering::Relaxed) {
                return Err(Interrupt);
            }
            self.next_from = now + Cycles(1);
            self.meet_source(source, now);
            if now >= self.gives_way_at || self.every_cycle {
                self.give_way(now);
            }
            if self.may_begin || self.every_cycle {
                self.plan_and_begin(now);
            }
            for channel in 0..self.channels.len() {
                if self.every_cycle || self.channels[channel].look_at <= now {
                    let took_in;
                    (now, took_in) = self.visit(channel, now, source, sink);
                    if took_in {
                        // What came in waits for the next instant, as where it is taken in below.
                        break;
                    }
                }
            }
            if std::mem::take(&mut self.made_room) {
                self.take_in(source, now);
            }
            self.recorder.end_instant();
        }
        let end = Cycle(self.next_from.0.saturating_sub(1));
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
    #[inline]
    fn next_instant(&self, source: &impl RequestSource) -> Option<Cycle> {
        let mut next = self.terms_end;
        // What is held up in intake waits for a command, or for the delivery of a job; its source is not asked before, and hears in time
        // of what else is done.
        if self.state == State::Idle {
            let arrival = source.next_arrival();
            if arrival.is_none() && self.outstanding.is_empty() && self.accesses.is_empty() {
                return None;
            }
            next = next.min(arrival.unwrap_or(Cycle::NEVER)).min(self.outstanding.done_at());
        } else if !self.jobs.is_empty() {
            next = next.min(self.outstanding.done_at());
        }
        if self.every_cycle || self.may_begin {
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
            self.outstanding
        );
        Some(next.max(self.next_from))
    }

    /// Delivers what is done, and takes what arrives, until neither leads to more.
    #[inline]
    fn meet_source(&mut self, source: &mut impl RequestSource, now: Cycle) {
        loop {
            while self.outstanding.done_at() <= now {
                self.deliver(source, now);
            }
            self.recorder.advance_to(now, now);
            if self.is_held_up || !self.take_in(source, now) {
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
        if (channel.may_turn || self.every_cycle) && channel.turn() {
            self.recorder.figures.drains += u64::from(channel.mode == access::Kind::Write);
        }
        if self.every_cycle {
            channel.forget_prepared();
        }
        let (mut from, mut took_in) = (now, false);
        let next = loop {
            let mut channel = &mut self.channels[index];
            if channel.prepared_at == now {
                took_in = false;
                match channel.prepared {
                    Choice::Access(bank) => {
                        (now, took_in) = self.issue_for_accesses(index, now, bank, source, sink);
                    }
                    Choice::SegmentAccess(place) => now = self.issue_segment_access(index, now, place, sink),
                    choice => self.issue_choice(index, now, choice, sink),
                }
                from = now + Cycles(1);
                self.next_from = from;
                channel = &mut self.channels[index];
                if now >= channel.must_from {
                    self.may_begin |= channel.ask_must(now);
                    self.gives_way_at = self.gives_way_at.min(channel.must_from);
                }
                if channel.should_turn() {
                    break from;
                }
            }
            let at = channel.foresee(from, &self.accesses, &self.segments, self.config.staging_lines);
            if at > now {
                if from > now && self.is_alone_until(index, at) {
                    self.recorder.end_instant();
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
        (now, took_in)
    }

    /// Whether no other channel is due at this instant.
    #[inline]
    pub(crate) fn is_last_due(&self, index: usize, now: Cycle) -> bool {
        !self.every_cycle
            && (self.channels.len() == 1
                || self.channels.iter().enumerate().all(|(other, channel)| other == index || now < channel.look_at))
    }

    /// Whether nothing happens before `at`, nor then, but what the channel has prepared.
    #[inline]
    fn is_alone_until(&self, index: usize, at: Cycle) -> bool {
        self.channels[index].prepared_at == at && at < self.alone_before(index)
    }

    /// Before which instant nothing happens but on that channel.
    #[inline]
    pub(crate) fn alone_before(&self, index: usize) -> Cycle {
        // Its source is not asked while intake is held up, and hears late of accesses that are done.
        if self.made_room || !self.is_held_up || self.may_begin || self.every_cycle {
            return Cycle::ZERO;
        }
        let mut before = self.gives_way_at.min(self.channels[index].must_from).min(self.recorder.until());
        if !self.jobs.is_empty() {
            before = before.min(self.outstanding.done_at());
        }
        // Most often there is no other.
        if self.channels.len() > 1 {
            let others = self.channels.iter().enumerate().filter(|&(other, _)| other != index);
            before = others.fold(before, |before, (_, other)| before.min(other.look_at));
        }
        before
    }

    /// Issues a rank's own command, or one for a segment.
    fn issue_choice(&mut self, index: usize, now: Cycle, choice: Choice, sink: &mut impl CommandSink) {
        match choice {
            Choice::Access(_) | Choice::SegmentAccess(_) => unreachable!("they have their own ways"),
            Choice::Upkeep(command) => {
                self.issue(index, now, &command, sink);
                self.may_begin |= matches!(command, Command::Refresh { .. });
            }
            Choice::SegmentRow(bank) => self.issue_segment_row(index, now, bank, sink),
        }
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
        let counted = channel.issue(now, command, &self.config, &mut self.accesses);
        sink.push(now, channel.id, command);
        self.recorder.figures.commands.count(counted);
        self.tell_queues(index, now, None, sink);
        counted
    }

    /// What is left in the queues of a channel after a command, and after an access that it served.
    #[inline]
    pub(crate) fn tell_queues(&self, index: usize, now: Cycle, served: Option<Kind>, sink: &mut impl CommandSink) {
        if sink.wants_queues() {
            let (channel, levels) = (self.channels[index].id, &self.recorder.levels);
            let [reads, writes] =
                [Kind::Read, Kind::Write].map(|kind| levels.of(channel, kind) - u64::from(served == Some(kind)));
            sink.queued(now, channel, Queued { reads, writes });
        }
    }

    /// There is room for what comes in.
    pub(crate) fn made_room(&mut self) {
        self.made_room = true;
        self.is_held_up = false;
    }
}
