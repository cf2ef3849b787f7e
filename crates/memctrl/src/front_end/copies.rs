//! Copies in progress and their programs: dispatch, data, and completion. Rules 9 to 11 of
//! `docs/controller.md`.

use std::collections::VecDeque;

use dram_spec::{Cycle, Cycles, Operation};
use rowclone::{Blocks, Planner, Program};

use super::FrontEnd;
use super::admission::Wait;
use super::bookings::Present;
use super::hazards::CopyLines;
use super::staging::Staging;
use crate::access::{AccessKind, QueuedAccess};
use crate::channel::Channel;
use crate::copy::thread::PortThread;
use crate::copy::{CopyProgram, DataGate};
use crate::policy::copy::{Outlook, reason};
use crate::stats::{PartTally, Parts};

/// State of a copy in addition to its request.
#[derive(Debug)]
pub(crate) struct CopyState {
    /// Number of accesses for which the copy waits.
    pub(crate) waits_for: u32,
    /// Blocks that are not planned.
    pub(crate) blocks: Blocks,
    /// Whether all programs are dispatched.
    pub(crate) is_dispatched: bool,
    /// Number of programs planned and not completed.
    pub(crate) programs_left: u32,
    pub(crate) tally: PartTally,
}

impl CopyState {
    /// Begins a copy, in the place of one that is done if there is one: its programs were dispatched, and its tally
    /// was taken.
    fn begin(done: Option<Box<CopyState>>, planner: &Planner, operation: Operation, waits_for: u32) -> Box<CopyState> {
        let Some(mut copy) = done else {
            let (blocks, tally) = (planner.blocks(&operation), PartTally::default());
            return Box::new(CopyState { waits_for, blocks, is_dispatched: false, programs_left: 0, tally });
        };
        copy.blocks.restart(operation);
        (copy.waits_for, copy.is_dispatched, copy.programs_left) = (waits_for, false, 0);
        copy
    }
}

/// A dispatched program.
#[derive(Debug)]
pub(crate) struct RunningProgram {
    /// Slot of its copy.
    pub(crate) copy: u32,
    /// Channel of each thread, and its slot there.
    threads: Vec<(dram_spec::Channel, u8)>,
    threads_left: u32,
    /// Whether each line is written when its own data has arrived, instead of waiting for all
    /// lines.
    is_pipelined: bool,
    /// Number of lines not yet read.
    unread: u32,
    /// Arrival of the last line so far.
    arrives: Cycle,
    /// Lines read, if contents are modeled.
    pub(crate) staging: Option<Staging>,
}

impl RunningProgram {
    /// A program of the copy in a slot begins; `threads` and `staging` are empty.
    fn new(
        copy: u32,
        program: &Program,
        threads: Vec<(dram_spec::Channel, u8)>,
        staging: Option<Staging>,
    ) -> RunningProgram {
        RunningProgram {
            copy,
            threads,
            threads_left: program.threads.len() as u32,
            is_pipelined: program.is_pipelined(),
            unread: program.lines_read(),
            arrives: Cycle::ZERO,
            staging,
        }
    }

    /// Condition for the writes of its threads.
    pub(crate) fn gate(&self) -> DataGate {
        if self.is_pipelined {
            DataGate::Each(VecDeque::new())
        } else {
            DataGate::All((self.unread == 0).then_some(Cycle::ZERO))
        }
    }

    /// Records the slot of a thread.
    pub(crate) fn thread_added(&mut self, channel: dram_spec::Channel, slot: u8) {
        self.threads.push((channel, slot));
    }

    /// Records that a thread is done; returns whether the program is.
    pub(crate) fn thread_done(&mut self) -> bool {
        self.threads_left -= 1;
        self.threads_left == 0
    }

    /// Records that lines read by a channel arrive, the last at a cycle. Returns the threads whose
    /// writes wait for them, and the arrival of all data for which they wait.
    pub(crate) fn data_arrives(
        &mut self,
        reader: dram_spec::Channel,
        (lines, at): (u32, Cycle),
    ) -> Option<(impl Iterator<Item = (dram_spec::Channel, u8)>, Cycle)> {
        self.unread -= lines;
        self.arrives = self.arrives.max(at);
        let is_pipelined = self.is_pipelined;
        let writes = move |&(channel, _): &(dram_spec::Channel, u8)| !is_pipelined || channel != reader;
        let is_known = is_pipelined || self.unread == 0;
        is_known.then(|| (self.threads.iter().copied().filter(writes), if is_pipelined { at } else { self.arrives }))
    }
}

/// Dispatched programs, by slot.
#[derive(Debug, Default)]
pub(crate) struct RunningPrograms {
    /// Slots of programs; a free slot has a program that is done.
    slots: Vec<RunningProgram>,
    free: Vec<u32>,
    /// Programs dispatched over the run.
    pub(crate) dispatched: u64,
}

impl RunningPrograms {
    /// A program of the copy in a slot begins. Returns its own slot.
    pub(crate) fn begin(&mut self, copy: u32, program: &Program, has_contents: bool) -> u32 {
        self.dispatched += 1;
        let Some(slot) = self.free.pop() else {
            let staging = has_contents.then(Staging::default);
            self.slots.push(RunningProgram::new(copy, program, Vec::new(), staging));
            return self.slots.len() as u32 - 1;
        };
        let place = &mut self.slots[slot as usize];
        let (mut threads, mut staging) = (std::mem::take(&mut place.threads), place.staging.take());
        threads.clear();
        staging.iter_mut().for_each(Staging::clear);
        *place = RunningProgram::new(copy, program, threads, staging);
        slot
    }

    pub(crate) fn get_mut(&mut self, slot: u32) -> &mut RunningProgram {
        &mut self.slots[slot as usize]
    }

    /// A program is done.
    pub(crate) fn done(&mut self, slot: u32) {
        self.free.push(slot);
    }
}

/// Copies that are not completely dispatched, in order.
#[derive(Debug)]
pub(crate) struct DispatchQueue {
    pub(crate) order: VecDeque<u32>,
    /// Programs of the last planned blocks of the first copy. Dispatched programs have no steps left.
    pub(crate) planned: Vec<Program>,
    /// Number of planned programs that are dispatched.
    pub(crate) dispatched: usize,
    /// The channel for whose port the next program waits.
    pub(crate) waits_for_port: Option<dram_spec::Channel>,
    /// Cycle of the next attempt to dispatch; never if it waits for a command.
    pub(crate) next: Cycle,
}

impl Default for DispatchQueue {
    fn default() -> DispatchQueue {
        let (order, planned) = (VecDeque::new(), Vec::new());
        DispatchQueue { order, planned, dispatched: 0, waits_for_port: None, next: Cycle::NEVER }
    }
}

impl FrontEnd {
    /// Whether a copy is not completely dispatched.
    #[inline]
    pub(crate) fn has_copies_to_dispatch(&self) -> bool {
        !self.dispatch.order.is_empty()
    }

    /// Accepts a copy; returns what the acceptance of it, or of the next request, waits for.
    #[inline(never)]
    pub(super) fn admit_copy(&mut self, slot: u32, channels: &mut [Channel], now: Cycle) -> Wait {
        if self.hazards.copies() >= self.copy_entries {
            return Wait::Copy;
        }
        let place = self.budget.copies();
        if !self.budget.has_room(place, now) {
            return Wait::NextCycle;
        }
        self.budget.take(place, now);
        let (operation, accepted) = (self.in_flight.get(slot).operation, self.in_flight.get(slot).accepted);
        let lines = CopyLines::new(&operation);
        let mut waits_for = 0;
        for channel in channels {
            for kind in [AccessKind::Read, AccessKind::Write] {
                let conflicts = |access: &QueuedAccess| lines.conflicts(kind, access.access.address);
                let found = channel.queues().await_where(kind, conflicts);
                waits_for += found as u32;
                if found > 0 {
                    // The write drain serves writes for which a copy waits.
                    channel.awaited(now);
                }
            }
        }
        waits_for += self.hazards.copy_accepted(slot, accepted, lines);
        let copy = CopyState::begin(self.in_flight.copies_done.pop(), &self.planner, operation, waits_for);
        self.in_flight.get_mut(slot).copy = Some(copy);
        self.recorder.copies.enter(now);
        self.dispatch.order.push_back(slot);
        Wait::Request
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
                let is_full = |thread: &&rowclone::CopyThread| !channels[usize::from(thread.channel.0)].port.has_room();
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
            self.completes(slot);
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

    /// Starts a program in cycle 0, as the only one of the copy in a slot.
    pub(super) fn start_alone(&mut self, slot: u32, program: Program, channels: &mut [Channel]) {
        let mut copy = CopyState::begin(None, &self.planner, self.in_flight.get(slot).operation, 0);
        (copy.is_dispatched, copy.programs_left) = (true, 1);
        self.in_flight.get_mut(slot).copy = Some(copy);
        self.dispatch.planned.push(program);
        self.start(slot, channels, Cycle::ZERO);
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
            let thread = PortThread::new(origin, steps, gate.clone(), channel.topology(), write_latency, now);
            self.spare.extend(channel.port.spare.pop());
            let thread = channel.add_thread(thread, now);
            self.programs.get_mut(slot).thread_added(id, thread);
        }
    }

    #[inline(never)]
    pub(super) fn observe_step(&mut self, channels: &mut [Channel], index: usize, at: Cycle) -> Cycle {
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
            let state = self.in_flight.get_mut(copy).copy.as_mut().expect("a program belongs to a copy");
            state.programs_left -= 1;
            if state.programs_left == 0 && state.is_dispatched {
                wakes_at = wakes_at.min(self.completes(copy));
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
}

#[cfg(test)]
mod tests;
