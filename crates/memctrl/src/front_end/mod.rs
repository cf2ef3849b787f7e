//! The front end: converts requests to accesses and programs, and keeps the requests until
//! delivery.

mod admission;
mod bookings;
mod completions;
mod copies;
mod data;
mod durations;
mod hazards;
mod in_flight;
mod recorder;
mod staging;

use std::sync::Arc;

use dram_spec::{Cycle, Cycles, Operation, PhysicalAddress, Topology};
use rowclone::{Mechanism, Planner, StepList};

pub(crate) use admission::Wait;
pub use durations::Durations;

use admission::{Budget, Head, LineLocator};
use bookings::Estimator;
use completions::Completions;
use copies::{DispatchQueue, RunningPrograms};
use data::Unreported;
use hazards::{Blocked, Hazards};
use in_flight::InFlightTable;
use recorder::Recorder;

use crate::access::{AccessKind, LineAccess};
use crate::channel::{Channel, IssueEffect, ServedAccess};
use crate::config::Config;
use crate::policy::copy::CopyPolicy;
use crate::price::PriceTable;
use crate::request::Completion;

/// State shared by all channels.
#[derive(Debug)]
pub(crate) struct FrontEnd {
    planner: Arc<Planner>,
    copy_policy: &'static dyn CopyPolicy,
    prices: Option<PriceTable>,
    staging_lines: usize,
    copy_entries: usize,
    /// Entries per channel, for reads and for writes.
    entries: [u64; 2],
    has_contents: bool,
    topology: Topology,
    locator: LineLocator,
    budget: Budget,
    pub(crate) head: Head,
    pub(crate) in_flight: InFlightTable,
    /// Data of accesses without a slot, if contents are modeled.
    pub(crate) unreported: Unreported,
    /// Whether the run ends with the last request in progress.
    pub(crate) may_end: bool,
    completions: Completions,
    hazards: Hazards,
    dispatch: DispatchQueue,
    programs: RunningPrograms,
    /// The mechanisms of the parts of the block that is planned.
    choices: Vec<Mechanism>,
    /// Memory of the steps of threads that are done.
    spare: Vec<StepList>,
    estimator: Estimator,
    pub(crate) recorder: Recorder,
}

impl FrontEnd {
    pub(crate) fn new(config: &Config, channels: &[Channel]) -> FrontEnd {
        FrontEnd {
            planner: Arc::clone(&config.planner),
            copy_policy: config.copy_policy,
            prices: config.prices,
            staging_lines: config.staging_lines,
            copy_entries: config.queues.copy_entries,
            entries: [config.queues.read_entries as u64, config.queues.write_entries as u64],
            has_contents: config.contents.is_some(),
            topology: config.system.geometry.topology(),
            locator: LineLocator::default(),
            budget: Budget::new(config.queues.admission_per_cycle, channels.len()),
            head: Head::NONE,
            in_flight: InFlightTable::default(),
            unreported: Unreported::default(),
            may_end: true,
            completions: Completions::default(),
            hazards: Hazards::default(),
            dispatch: DispatchQueue::default(),
            programs: RunningPrograms::default(),
            choices: Vec::new(),
            spare: Vec::new(),
            estimator: Estimator::new(config, channels),
            recorder: Recorder::new(config),
        }
    }

    /// Whether no request is in progress.
    #[inline]
    pub(crate) fn is_idle(&self, now: Cycle) -> bool {
        self.recorder.accesses.are_done(now) && self.in_flight.is_empty()
    }

    /// Whether a copy is not delivered.
    #[inline]
    pub(crate) fn has_copies(&self) -> bool {
        self.hazards.copies() > 0
    }

    /// Whether the channels must run in the order of time: the requester or the end of the run waits
    /// for data, or copies may affect several channels.
    #[inline]
    pub(crate) fn needs_order(&self) -> bool {
        self.may_end || !self.in_flight.is_empty() || self.has_copies()
    }

    /// The channel for which alone the head request waits.
    #[inline]
    pub(crate) fn awaited_channel(&self) -> Option<usize> {
        let (channel, _) = self.head.awaits().filter(|_| !self.has_copies())?;
        Some(usize::from(channel.0))
    }

    /// The kind of access whose service the head request waits for on a channel.
    #[inline]
    pub(crate) fn awaited_kind(&self, channel: dram_spec::Channel) -> Option<AccessKind> {
        self.head.awaits().filter(|&(awaited, _)| awaited == channel).map(|(_, kind)| kind)
    }

    /// Wake-up: the first cycle after `now` in which the front end acts without an event, as far as
    /// is known.
    #[inline]
    pub(crate) fn wakes_at(&self, now: Cycle) -> Cycle {
        let retry = match self.head.waits() {
            Wait::NextCycle => now + Cycles(1),
            // A waiting head request is served before the effects of a completion, unless copies
            // are in progress.
            Wait::Entry | Wait::Read | Wait::Copy if !self.has_copies() => return self.recorder.until(),
            _ => Cycle::NEVER,
        };
        let accesses = &self.recorder.accesses;
        let ends = self.may_end && accesses.unreported == 0 && accesses.last_done > now;
        let last_done = if ends { accesses.last_done } else { Cycle::NEVER };
        retry.min(last_done).min(self.completions.next_due()).min(self.dispatch.next).min(self.recorder.until())
    }

    /// Delivers all requests due by `now`; returns whether there were any.
    #[inline]
    pub(crate) fn deliver(&mut self, channels: &mut [Channel], now: Cycle) -> bool {
        let is_any = self.completions.next_due() <= now;
        if is_any {
            self.deliver_due(channels, now);
        }
        is_any
    }

    #[inline(never)]
    fn deliver_due(&mut self, channels: &mut [Channel], now: Cycle) {
        while let Some(slot) = self.completions.deliver(now) {
            self.deliver_one(slot, channels, now);
        }
    }

    /// Whether a delivered request is not taken.
    #[inline]
    pub(crate) fn has_completion(&self) -> bool {
        self.completions.has_delivered()
    }

    /// Takes the completion of the next delivered request, if any.
    #[inline]
    pub(crate) fn take_completion(&mut self) -> Option<Completion> {
        let slot = self.completions.take()?;
        Some(self.in_flight.remove(slot))
    }

    /// Delivers the request in a slot.
    fn deliver_one(&mut self, slot: u32, channels: &mut [Channel], now: Cycle) {
        let in_flight = self.in_flight.get(slot);
        let (done, response) = (in_flight.done(), in_flight.done().since(in_flight.arrival));
        match in_flight.operation {
            Operation::Read { .. } => self.recorder.accesses.done(AccessKind::Read, response, done),
            Operation::Write { .. } => self.recorder.accesses.done(AccessKind::Write, response, done),
            Operation::Copy { .. } | Operation::Init { .. } => {
                let started = in_flight.first_command().unwrap_or(done);
                self.recorder.figures.copy_latency.record(done.since(started));
                self.recorder.figures.copy_response.record(response);
            }
        }
        if let Some(copy) = &in_flight.copy {
            if !matches!(in_flight.operation, Operation::Write { .. }) {
                self.recorder.figures.parts += &copy.tally;
            }
            self.copy_delivered(slot, channels, now);
        }
    }

    #[inline(never)]
    fn copy_delivered(&mut self, slot: u32, channels: &mut [Channel], now: Cycle) {
        self.recorder.copies.leave(now);
        for blocked in self.hazards.copy_delivered(slot) {
            self.release(&blocked, channels, now);
        }
    }

    /// Queues an access that waits for no further copy.
    fn release(&mut self, blocked: &Blocked, channels: &mut [Channel], now: Cycle) {
        let (access, channel) = (blocked.access, &mut channels[usize::from(blocked.channel.0)]);
        if access.kind == AccessKind::Read && self.forward(&access, channel, now) {
            channel.queues().free_entry(AccessKind::Read, now);
            self.access_gone(AccessKind::Read, access.address);
            return;
        }
        channel.queue(&access, now);
        // Copies accepted after it wait for it.
        if self.hazards.waiting_for(access.kind, access.address).next().is_some() {
            channel.queues().await_newest(access.kind, access.bank);
            channel.awaited(now);
        }
    }

    /// Records that an access completes at a cycle.
    #[inline]
    fn line_done(&mut self, kind: AccessKind, slot: u32, arrival: Cycle, done: Cycle) {
        if slot >= LineAccess::UNREPORTED {
            return self.recorder.accesses.unreported_done(kind, arrival, done);
        }
        let in_flight = self.in_flight.get_mut(slot);
        in_flight.lasts_until(done);
        in_flight.lines_left -= 1;
        if in_flight.lines_left == 0 {
            self.completes(slot);
        }
    }

    /// Plans the delivery of a request, all of which is executed. Returns its cycle.
    #[inline(always)]
    fn completes(&mut self, slot: u32) -> Cycle {
        let in_flight = self.in_flight.get(slot);
        self.completions.push(in_flight.done(), in_flight.accepted, slot);
        in_flight.done()
    }

    /// Applies the effect of a channel's command. Returns the next cycle in which the front end
    /// acts on it, if any.
    #[inline]
    pub(crate) fn observe(&mut self, channels: &mut [Channel], index: usize, at: Cycle, outcome: IssueEffect) -> Cycle {
        match outcome {
            IssueEffect::None => Cycle::NEVER,
            IssueEffect::Entry => at + Cycles(1),
            IssueEffect::Access(served) => self.observe_access(&mut channels[index], at, &served),
            IssueEffect::CopyStep => self.observe_step(channels, index, at).min(self.wakes_at(at)),
        }
    }

    #[inline]
    fn observe_access(&mut self, channel: &mut Channel, at: Cycle, served: &ServedAccess) -> Cycle {
        let ServedAccess { place, done } = *served;
        let queued = channel.queued().get(place);
        let LineAccess { kind, slot, arrival, address, .. } = queued.access;
        let (is_awaited, next) = (queued.is_awaited, at + Cycles(1));
        if slot < LineAccess::UNREPORTED {
            self.in_flight.get_mut(slot).commanded(queued.first_command.min(at));
        }
        if self.has_contents {
            let access = queued.access;
            self.move_data(channel, &access);
        }
        if is_awaited && self.access_gone(kind, address) {
            self.dispatch.next = next;
        }
        if slot < LineAccess::UNREPORTED {
            self.line_done(kind, slot, arrival, done);
        }
        if self.awaited_kind(channel.id) == Some(kind) { next } else { self.wakes_at(at) }
    }

    /// Removes an access from the copies that wait for it; returns whether any of these now waits
    /// for no access.
    #[inline(never)]
    fn access_gone(&mut self, kind: AccessKind, line: PhysicalAddress) -> bool {
        let waiting: Vec<u32> = self.hazards.waiting_for(kind, line).collect();
        let mut is_any_free = false;
        for slot in waiting {
            let copy = self.in_flight.get_mut(slot).copy.as_mut().expect("it waits as a copy");
            copy.waits_for -= 1;
            is_any_free |= copy.waits_for == 0;
        }
        is_any_free
    }
}
