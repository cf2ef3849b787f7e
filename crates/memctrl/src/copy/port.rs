//! Port of a channel: its threads in order of dispatch, their beginning and preemption, and their
//! next steps.

use std::collections::VecDeque;

use dram_core::KeptKind;
use dram_spec::{BankIndex, BankSet, Command, Cycle, Cycles, IssueCause, PerBank, Row, SourceId};
use rowclone::StepList;

use super::preemption::{Situation, Surroundings, TermEnd, may_begin, term_end};
use super::thread::{MovedLines, PortThread, ThreadPhase};
use super::{CopyProgram, NextCommand, RowStep};
use crate::access::{AccessKind, Stamp};

/// A contender for column commands: a thread whose next column step has its rows open. The oldest
/// is the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ColumnContender {
    pub(crate) stamp: Stamp,
    /// Number of its program over the run.
    program: u64,
    slot: u8,
}

impl ColumnContender {
    /// Slot of the thread.
    #[inline]
    pub(crate) fn slot(&self) -> u8 {
        self.slot
    }
}

/// Threads of a channel.
#[derive(Debug)]
pub(crate) struct CopyPort {
    /// Threads by slot; a free slot has a thread that is done.
    threads: Vec<PortThread>,
    /// Free slots.
    vacant: Vec<u8>,
    /// Threads that wait for no earlier thread, in order of dispatch. They use different banks.
    active: Vec<u8>,
    /// Of these, the threads that may be able to begin since the last update.
    ready: Vec<u8>,
    /// Threads that are not done with each bank, in order of dispatch. A thread begins when it is the
    /// first one in all of its banks.
    queues: PerBank<VecDeque<u8>>,
    /// Banks with which threads are not done.
    remaining: BankSet,
    /// Banks held by threads.
    held: BankSet,
    /// Cycle in which the thread that holds each bank, or last held it, took it.
    held_since: PerBank<Cycle>,
    /// Cycle in which a thread last released each bank.
    released: PerBank<Option<Cycle>>,
    /// Next row step of the thread that holds each bank; valid for the banks in `stepping`.
    row_steps: PerBank<RowStep>,
    stepping: BankSet,
    /// Threads with a next column step, oldest first.
    columns: Vec<ColumnContender>,
    term: Option<Cycles>,
    /// Whether running threads have changed so that they may be preempted.
    is_changed: bool,
    /// Situation of the last update of all active threads.
    seen: Option<Situation>,
    /// Cycle at which the next term ends.
    next_term_end: Cycle,
    /// Whether a running thread is exempt from the end of its term.
    is_any_exempt: bool,
    /// Threads preempted for reads, and for refresh, since the last [`Self::take_preempted`].
    preempted: (u64, u64),
    /// Memory of the steps of threads that are done.
    pub(crate) spare: Vec<StepList>,
}

/// Effect of a row step of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowStepDone {
    /// Slot of its program in the front end.
    pub(crate) program: u32,
    /// Slot of the thread.
    pub(crate) slot: u8,
    /// Whether the thread releases the bank.
    pub(crate) is_released: bool,
    /// Whether the thread is done with the bank.
    pub(crate) is_left: bool,
    /// Whether the thread is done: its slot is free.
    pub(crate) is_done: bool,
}

/// Effect of a column step of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnStepDone {
    /// Slot of its program in the front end.
    pub(crate) program: u32,
    /// Whether the step read or wrote a line over the channel.
    pub(crate) moved: Option<AccessKind>,
}

impl CopyPort {
    /// Maximum number of threads per channel.
    pub(crate) const SLOTS: usize = 32;

    /// The port of a channel.
    pub(crate) fn new(term: Option<Cycles>) -> CopyPort {
        CopyPort {
            threads: Vec::with_capacity(CopyPort::SLOTS),
            vacant: Vec::with_capacity(CopyPort::SLOTS),
            active: Vec::with_capacity(CopyPort::SLOTS),
            ready: Vec::with_capacity(CopyPort::SLOTS),
            queues: PerBank::new(VecDeque::new()),
            remaining: BankSet::EMPTY,
            held: BankSet::EMPTY,
            held_since: PerBank::new(Cycle::ZERO),
            released: PerBank::new(None),
            row_steps: PerBank::new(RowStep::NONE),
            stepping: BankSet::EMPTY,
            columns: Vec::new(),
            term,
            is_changed: false,
            seen: None,
            next_term_end: Cycle::NEVER,
            is_any_exempt: false,
            preempted: (0, 0),
            spare: Vec::new(),
        }
    }

    pub(crate) fn has_room(&self) -> bool {
        self.threads.len() < CopyPort::SLOTS || !self.vacant.is_empty()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    /// Banks with which threads are not done.
    #[inline]
    pub(crate) fn remaining(&self) -> BankSet {
        self.remaining
    }

    /// Banks held by threads.
    #[inline]
    pub(crate) fn held(&self) -> BankSet {
        self.held
    }

    /// Records that a thread released a bank; returns the cycle in which it had taken the bank.
    pub(crate) fn released(&mut self, bank: BankIndex, now: Cycle) -> Cycle {
        self.released[bank] = Some(now);
        self.held_since[bank]
    }

    /// Threads preempted for reads, and for refresh, since the last call.
    pub(crate) fn take_preempted(&mut self) -> (u64, u64) {
        std::mem::take(&mut self.preempted)
    }

    /// Adds a thread. Returns its slot, and whether it waits for earlier threads in all of its banks.
    pub(crate) fn push(&mut self, mut thread: PortThread) -> (u8, bool) {
        let banks = thread.remaining();
        thread.blocked = banks.intersection(self.remaining);
        let (is_active, waits) = (thread.blocked.is_empty(), thread.blocked == banks);
        let slot = if let Some(slot) = self.vacant.pop() {
            self.threads[usize::from(slot)] = thread;
            slot
        } else {
            self.threads.push(thread);
            self.threads.len() as u8 - 1
        };
        if is_active {
            self.active.push(slot);
            self.ready.push(slot);
        }
        self.remaining = self.remaining.union(banks);
        banks.into_iter().for_each(|bank| self.queues[bank].push_back(slot));
        (slot, waits)
    }

    /// Records that the first thread of a bank is done with it.
    fn leave(&mut self, bank: BankIndex) {
        self.queues[bank].pop_front();
        let Some(&next) = self.queues[bank].front() else { return self.remaining.remove(bank) };
        let thread = self.thread_mut(next);
        thread.blocked.remove(bank);
        if thread.blocked.is_empty() {
            let place = self.place_in_order(next);
            self.active.insert(place, next);
            self.ready.push(next);
        }
    }

    /// Place of a thread among the active ones.
    fn place_in_order(&self, slot: u8) -> usize {
        let program = self.thread(slot).origin.program;
        self.active.partition_point(|&other| self.thread(other).origin.program < program)
    }

    #[inline]
    fn thread(&self, slot: u8) -> &PortThread {
        &self.threads[usize::from(slot)]
    }

    #[inline]
    fn thread_mut(&mut self, slot: u8) -> &mut PortThread {
        &mut self.threads[usize::from(slot)]
    }

    /// Banks with a next row step of the thread that holds the bank.
    #[inline]
    pub(crate) fn stepping(&self) -> BankSet {
        self.stepping
    }

    /// The next row step of the thread that holds a bank of [`Self::stepping`].
    #[inline]
    pub(crate) fn row_step(&mut self, bank: BankIndex) -> &mut RowStep {
        &mut self.row_steps[bank]
    }

    /// Next row command of the thread that holds a bank, and its cause.
    #[inline]
    pub(crate) fn row_command(&self, bank: BankIndex) -> (Command, IssueCause) {
        let step = &self.row_steps[bank];
        (step.next.command, self.thread(step.slot).cause())
    }

    /// Threads with a next column step, oldest first.
    #[inline]
    pub(crate) fn columns(&self) -> &[ColumnContender] {
        &self.columns
    }

    /// Next column step of a thread of [`Self::columns`], and from when on its data allows it, if the
    /// arrival of the data is known.
    #[inline]
    pub(crate) fn column_step(&mut self, slot: u8) -> Option<(&mut NextCommand, Cycle)> {
        let thread = self.thread_mut(slot);
        let data_from = thread.data_from()?;
        Some((thread.next_column_mut()?, data_from))
    }

    /// Kind of the next column step of a thread of [`Self::columns`].
    #[inline]
    pub(crate) fn column_kind(&self, slot: u8) -> KeptKind {
        self.thread(slot).next_column().expect("the thread has a column step").kind
    }

    /// Source of a thread's request.
    pub(crate) fn source(&self, slot: u8) -> SourceId {
        self.thread(slot).origin.source
    }

    /// Next column command of a thread, and its cause.
    #[inline]
    pub(crate) fn column_command(&self, slot: u8) -> (Command, IssueCause) {
        let thread = self.thread(slot);
        (thread.next_column().expect("the thread has a column step").command, thread.cause())
    }

    /// Reports that data for the writes of a program arrives at a cycle. Its thread had this slot,
    /// and may be done.
    pub(crate) fn data_arrives(&mut self, (slot, program): (u8, u32), at: Cycle) {
        let thread = self.thread_mut(slot);
        if thread.origin.slot == program {
            thread.data_arrives(at);
        }
    }

    /// Updates the state after the next row command in a bank.
    pub(crate) fn row_issued(&mut self, bank: BankIndex, open: Option<Row>) -> RowStepDone {
        let slot = self.row_steps[bank].slot;
        let thread = self.thread_mut(slot);
        let (place, is_released) = thread.row_issued(bank, open);
        let (program, remaining) = (thread.origin.slot, thread.remaining());
        let (is_left, is_done) = (!remaining.contains(bank), remaining.is_empty());
        // In a rank that is urgent, a thread may now be preempted.
        self.is_changed |= self.seen.is_some_and(|situation| remaining.intersects(situation.urgent));
        self.reschedule_row(slot, place);
        self.reschedule_column(slot);
        if is_released {
            self.held.remove(bank);
            self.stepping.remove(bank);
        }
        if is_left {
            self.leave(bank);
        }
        if is_done {
            self.active.retain(|&other| other != slot);
            let steps = self.thread_mut(slot).take_steps();
            self.spare.push(steps);
            self.vacant.push(slot);
        } else if is_released {
            self.ready.push(slot);
        }
        RowStepDone { program, slot, is_released, is_left, is_done }
    }

    /// Updates the state after column commands of a thread, for one line or some of the
    /// [`Self::steady_lines`], the last at `last`.
    #[inline]
    pub(crate) fn columns_issued(&mut self, slot: u8, lines: u64, last: Cycle) -> ColumnStepDone {
        let thread = &mut self.threads[usize::from(slot)];
        let (program, (moved, is_steady)) = (thread.origin.slot, thread.columns_issued(lines));
        // In an urgent rank, a thread that awaits data may now be preempted.
        let is_urgent = self.seen.is_some_and(|situation| thread.remaining().intersects(situation.urgent));
        // After its first column step, a thread may be preempted if its term has ended.
        let has_ended = !is_steady && thread.term_end() <= last;
        self.is_changed |= has_ended || is_urgent && thread.awaits_data();
        if !is_steady {
            self.reschedule(slot);
        }
        ColumnStepDone { program, moved }
    }

    /// Whether a contender for column commands, which has a turn at `at`, keeps its turns after its next
    /// line: its age remains, or there is no other contender and its term has not ended.
    #[inline]
    pub(crate) fn keeps_turns(&self, slot: u8, at: Cycle, is_any_access: bool) -> bool {
        let thread = self.thread(slot);
        thread.keeps_age() || (self.columns.len() == 1 && !is_any_access && at < thread.term_end())
    }

    /// The lines that a thread moves next as one run, if it keeps its turns.
    #[inline]
    pub(crate) fn steady_lines(&self, slot: u8) -> u64 {
        self.thread(slot).steady_lines()
    }

    /// The earliest cycle in which a thread may affect another channel, if its next column command
    /// is issued at `at` and the others `pitch` apart.
    pub(crate) fn steady_until(&self, slot: u8, at: Cycle, pitch: Cycles) -> Cycle {
        let thread = self.thread(slot);
        let lines = thread.steady_lines();
        if thread.origin.is_alone && lines > 0 { at + pitch * (lines - 1) + Cycles(1) } else { at + pitch * lines }
    }

    /// Banks with which a thread is not done.
    #[inline]
    pub(crate) fn banks_left(&self, slot: u8) -> BankSet {
        self.thread(slot).remaining()
    }

    /// The lines that the latest `count` column commands of a step of a thread moved over the
    /// channel.
    pub(crate) fn moved_lines(&self, slot: u8, count: u16) -> MovedLines {
        self.thread(slot).moved_lines(count)
    }

    /// Updates the next steps of a thread after a change.
    fn reschedule(&mut self, slot: u8) {
        for place in 0..self.thread(slot).banks() {
            self.reschedule_row(slot, place);
        }
        self.reschedule_column(slot);
    }

    /// Updates the next row step of a thread in a bank, by its number in the program.
    fn reschedule_row(&mut self, slot: u8, place: usize) {
        let thread = &self.threads[usize::from(slot)];
        let (bank, step) = thread.row_step(place);
        if !thread.held().contains(bank) {
            return;
        }
        self.stepping.set(bank, step.is_some());
        if let Some((command, kind)) = step {
            let CopyProgram { program, source, .. } = thread.origin;
            let (tie, stamp) = (program << u8::BITS | place as u64, thread.stamp());
            self.row_steps[bank] = RowStep { next: NextCommand::new(command, kind), stamp, tie, slot, source };
        }
    }

    /// Updates the next column step of a thread.
    #[inline]
    fn reschedule_column(&mut self, slot: u8) {
        let thread = self.thread_mut(slot);
        let stamp = thread.next_column().is_some().then(|| thread.stamp());
        if stamp != thread.contends_since {
            self.contend(slot, stamp);
        }
    }

    /// Places a thread among the contenders by its age, or removes it.
    fn contend(&mut self, slot: u8, stamp: Option<Stamp>) {
        let thread = &mut self.threads[usize::from(slot)];
        if std::mem::replace(&mut thread.contends_since, stamp).is_some() {
            self.columns.retain(|other| other.slot != slot);
        }
        if let Some(stamp) = stamp {
            let contender = ColumnContender { stamp, program: thread.origin.program, slot };
            let place = self.columns.partition_point(|other| *other < contender);
            self.columns.insert(place, contender);
        }
    }

    /// End of the next term after the cycle of the last update; never without threads.
    #[inline]
    pub(crate) fn next_term_end(&self) -> Cycle {
        if self.is_empty() { Cycle::NEVER } else { self.next_term_end }
    }

    /// Preempts and begins threads, in order of dispatch. Returns the banks that threads released. A
    /// repeated update has no effect unless its inputs have changed.
    #[inline]
    pub(crate) fn update(&mut self, now: Cycle, situation: Situation, around: &impl Surroundings) -> BankSet {
        if self.is_changed || self.seen != Some(situation) || now >= self.next_term_end {
            self.seen = Some(situation);
            return self.update_all(now, situation, around);
        }
        if !self.ready.is_empty() {
            // The begin of a thread may end the exemption of another one.
            if self.is_any_exempt {
                return self.update_all(now, situation, around);
            }
            let ready = std::mem::take(&mut self.ready);
            for &slot in &ready {
                self.begin(slot, now, situation, around);
            }
            self.ready = ready;
            self.ready.clear();
        }
        BankSet::EMPTY
    }

    /// Begins a thread that waits, if it may begin.
    fn begin(&mut self, slot: u8, now: Cycle, situation: Situation, around: &impl Surroundings) {
        let thread = &mut self.threads[usize::from(slot)];
        let (banks, closed) = (thread.remaining(), situation.urgent.union(situation.unused).union(thread.blocked));
        if thread.phase() == ThreadPhase::Waiting
            && !banks.intersects(closed)
            && may_begin(thread, banks, &self.released, around)
        {
            thread.begin(now, self.term, |bank| around.open_row(bank));
            self.held = self.held.union(banks);
            banks.into_iter().for_each(|bank| self.held_since[bank] = now);
            self.next_term_end = self.next_term_end.min(thread.term_end());
            self.reschedule(slot);
        }
    }

    fn update_all(&mut self, now: Cycle, situation: Situation, around: &impl Surroundings) -> BankSet {
        let mut all_released = BankSet::EMPTY;
        let mut is_exempt_known = false;
        (self.is_changed, self.is_any_exempt, self.next_term_end) = (false, false, Cycle::NEVER);
        self.ready.clear();
        for place in 0..self.active.len() {
            let slot = self.active[place];
            self.begin(slot, now, situation, around);
            let thread = &mut self.threads[usize::from(slot)];
            if thread.phase() == ThreadPhase::Running
                && let Some(why) = term_end(thread, is_exempt_known, now, situation, around)
            {
                if why == TermEnd::Time {
                    thread.begin_term(now, self.term);
                } else {
                    *if why == TermEnd::Reads { &mut self.preempted.0 } else { &mut self.preempted.1 } += 1;
                    let released = thread.preempt();
                    self.held = self.held.without(released);
                    self.stepping = self.stepping.without(released);
                    all_released = all_released.union(released);
                }
                self.reschedule(slot);
            }
            let thread = &self.threads[usize::from(slot)];
            is_exempt_known |= thread.awaits_first_column();
            let end = thread.term_end();
            if end > now {
                self.next_term_end = self.next_term_end.min(end);
            } else {
                self.is_any_exempt = true;
            }
        }
        all_released
    }
}

#[cfg(test)]
mod tests;
