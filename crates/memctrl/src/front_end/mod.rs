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
use bookings::{Estimator, Present};
use completions::Completions;
use copies::{DispatchQueue, Programs};
use data::Unreported;
use hazards::{Blocked, Hazards};
use in_flight::InFlightTable;
use recorder::Recorder;

use crate::access::{Access, AccessKind};
use crate::channel::{Channel, Outcome, Served};
use crate::config::Config;
use crate::copy::CopyProgram;
use crate::copy::thread::Thread;
use crate::policy::copy::{CopyPolicy, Outlook, reason};
use crate::price::PriceTable;
use crate::request::Completion;
use crate::stats::Parts;

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
    programs: Programs,
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
            programs: Programs::default(),
            choices: Vec::new(),
            spare: Vec::new(),
            estimator: Estimator::new(config, channels),
            recorder: Recorder::new(config),
        }
    }

    /// Whether a copy is not completely dispatched.
    pub(crate) fn has_copies_to_dispatch(&self) -> bool {
        !self.dispatch.order.is_empty()
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
        if slot >= Access::UNREPORTED {
            return self.recorder.accesses.unreported_done(kind, arrival, done);
        }
        let in_flight = self.in_flight.get_mut(slot);
        in_flight.lasts_until(done);
        in_flight.lines_left -= 1;
        if in_flight.lines_left == 0 {
            let (due, accepted) = (in_flight.done(), in_flight.accepted);
            self.completions.push(due, accepted, slot);
        }
    }

    /// Applies the effect of a channel's command. Returns the next cycle in which the front end
    /// acts on it, if any.
    #[inline]
    pub(crate) fn observe(&mut self, channels: &mut [Channel], index: usize, at: Cycle, outcome: Outcome) -> Cycle {
        match outcome {
            Outcome::None => Cycle::NEVER,
            Outcome::Entry => at + Cycles(1),
            Outcome::Access(served) => self.observe_access(&mut channels[index], at, &served),
            Outcome::Step => self.observe_step(channels, index, at).min(self.wakes_at(at)),
        }
    }

    #[inline]
    fn observe_access(&mut self, channel: &mut Channel, at: Cycle, served: &Served) -> Cycle {
        let Served { place, done } = *served;
        let queued = channel.queued().get(place);
        let Access { kind, slot, arrival, address, .. } = queued.access;
        let (is_awaited, next) = (queued.is_awaited, at + Cycles(1));
        if slot < Access::UNREPORTED {
            self.in_flight.get_mut(slot).commanded(queued.first_command.min(at));
        }
        if self.has_contents {
            let access = queued.access;
            self.move_data(channel, &access);
        }
        if is_awaited && self.access_gone(kind, address) {
            self.dispatch.next = next;
        }
        if slot < Access::UNREPORTED {
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

    #[inline(never)]
    fn observe_step(&mut self, channels: &mut [Channel], index: usize, at: Cycle) -> Cycle {
        let step = channels[index].step;
        let slot = step.program;
        let copy = self.programs.get_mut(slot).copy;
        let in_flight = self.in_flight.get_mut(copy);
        in_flight.commanded(at);
        if let Some(ready) = step.bank_ready {
            in_flight.lasts_until(ready);
        }
        if let Some((AccessKind::Read, arrives)) = step.moved {
            self.data_arrives(channels, (index, at), slot, (step.lines, arrives));
        }
        if step.moved.is_some() && self.has_contents {
            self.move_lines(&mut channels[index], &step);
        }
        if !step.is_done {
            return Cycle::NEVER;
        }
        let next = at + Cycles(1);
        let mut wakes_at = Cycle::NEVER;
        if self.dispatch.waits_for_port == Some(channels[index].id) {
            self.dispatch.next = next;
            wakes_at = next;
        }
        if self.programs.get_mut(slot).thread_done() {
            self.programs.done(slot);
            let in_flight = self.in_flight.get_mut(copy);
            let state = in_flight.copy.as_mut().expect("a program belongs to a copy");
            state.programs_left -= 1;
            if state.programs_left == 0 && state.is_dispatched {
                let (due, accepted) = (in_flight.done(), in_flight.accepted);
                self.completions.push(due, accepted, copy);
                wakes_at = wakes_at.min(due);
            }
        }
        wakes_at
    }

    /// Records that a program has read lines, and when the data of the last arrives.
    #[inline]
    fn data_arrives(&mut self, channels: &mut [Channel], (index, at): (usize, Cycle), slot: u32, lines: (u32, Cycle)) {
        if let Some((threads, arrives)) = self.programs.get_mut(slot).data_arrives(channels[index].id, lines) {
            for (channel, thread) in threads {
                channels[usize::from(channel.0)].data_arrives((thread, slot), arrives, at);
            }
        }
    }

    /// Dispatches programs, in the order of copies, while ports have free slots.
    #[inline(never)]
    pub(crate) fn dispatch(&mut self, channels: &mut [Channel], now: Cycle) {
        self.dispatch.next = Cycle::NEVER;
        self.dispatch.waits_for_port = None;
        while let Some(&slot) = self.dispatch.order.front() {
            if self.in_flight.get(slot).copy.as_ref().is_none_or(|copy| copy.waits_for > 0) {
                return;
            }
            if !self.dispatch_copy(slot, channels, now) {
                return;
            }
            self.dispatch.order.pop_front();
        }
    }

    /// Dispatches a copy; returns whether it is completely dispatched.
    fn dispatch_copy(&mut self, slot: u32, channels: &mut [Channel], now: Cycle) -> bool {
        loop {
            while let Some(program) = self.dispatch.planned.get(self.dispatch.dispatched) {
                let is_full = |thread: &&rowclone::Thread| !channels[usize::from(thread.channel.0)].port.has_room();
                if let Some(thread) = program.threads.iter().find(is_full) {
                    self.dispatch.waits_for_port = Some(thread.channel);
                    return false;
                }
                self.start(slot, channels, now);
            }
            if !self.plan_block(slot, channels, now) {
                break;
            }
        }
        let in_flight = self.in_flight.get_mut(slot);
        let copy = in_flight.copy.as_mut().expect("copies are dispatched");
        copy.is_dispatched = true;
        if copy.programs_left == 0 {
            in_flight.lasts_until(now + Cycles(1));
            let (due, accepted) = (in_flight.done(), in_flight.accepted);
            self.completions.push(due, accepted, slot);
        }
        true
    }

    /// Plans the next block of a copy; returns whether there was one.
    fn plan_block(&mut self, slot: u32, channels: &mut [Channel], now: Cycle) -> bool {
        let copy = self.in_flight.get_mut(slot).copy.as_mut().expect("copies are planned");
        // A choice that depends on the state of the memory is made for each channel.
        let most = if self.copy_policy.weighs() { 1 } else { u64::MAX };
        let Some((block, alike)) = copy.blocks.take_next(most) else { return false };
        let present = Present { estimator: &self.estimator, channels, now };
        let (prices, staging_lines) = (self.prices.as_ref(), self.staging_lines);
        let outlook = Outlook { forecast: &present, prices, staging_lines };
        self.choices.clear();
        for (index, part) in block.parts().iter().enumerate() {
            let chosen = self.copy_policy.choose(block, index, &outlook);
            let reason = reason(self.copy_policy, part, chosen);
            copy.tally.add(chosen, reason, Parts { count: alike, bytes: alike * part.bytes() });
            self.choices.push(chosen);
        }
        let planned = &mut self.dispatch.planned;
        planned.clear();
        block.programs_in(&mut self.spare, &self.choices, self.staging_lines, |program| planned.push(program));
        let programs = planned.len();
        for shift in (1..alike).map(|number| block.shift(number)) {
            for index in 0..programs {
                planned.push(shift.program(&planned[index], &mut self.spare));
            }
        }
        copy.programs_left += planned.len() as u32;
        self.dispatch.dispatched = 0;
        if self.copy_policy.weighs() {
            for program in planned.iter() {
                self.estimator.book(program, channels, now);
            }
        }
        true
    }

    /// Adds the threads of the next planned program to its channels.
    fn start(&mut self, copy: u32, channels: &mut [Channel], now: Cycle) {
        let program = &mut self.dispatch.planned[self.dispatch.dispatched];
        self.dispatch.dispatched += 1;
        let in_flight = self.in_flight.get(copy);
        let (request, source) = (in_flight.id, in_flight.source);
        let number = self.programs.dispatched;
        let slot = self.programs.begin(copy, program, self.has_contents);
        let gate = self.programs.get_mut(slot).gate();
        let (mechanism, is_alone) = (program.mechanism, program.threads.len() == 1);
        let origin = CopyProgram { request, source, mechanism, program: number, slot, is_alone };
        for thread in &mut program.threads {
            let (id, channel) = (thread.channel, &mut channels[usize::from(thread.channel.0)]);
            let write_latency = channel.device.timings().write_latency();
            let steps = std::mem::take(&mut thread.steps);
            let thread = Thread::new(origin, steps, gate.clone(), channel.topology(), write_latency, now);
            self.spare.extend(channel.port.spare.pop());
            let thread = channel.add_thread(thread, now);
            self.programs.get_mut(slot).thread_added(id, thread);
        }
    }
}
