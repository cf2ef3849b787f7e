//! Port of a channel: its threads in order of dispatch, their beginning and preemption, and their
//! next steps.

use dram_spec::{BankIndex, BankSet, Cause, Command, Cycle, Cycles, PerBank, Row, SourceId};
use rowclone::{Run, RunWrite, StepList};

use super::preemption::{Situation, Surroundings, TermEnd, may_begin, term_end};
use super::row_step::{RowOrder, RowStep};
use super::thread::{ColumnStep, Phase, Thread};
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

/// Lines that column commands moved over the channel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MovedLines {
    Read(Run),
    Written(RunWrite),
}

/// Threads of a channel.
#[derive(Debug)]
pub(crate) struct Port {
    /// Threads by slot.
    threads: Box<[Option<Thread>]>,
    /// Slots in use in order of dispatch, and free slots.
    order: Vec<u8>,
    vacant: Vec<u8>,
    /// Banks with which threads are not done, and the number of threads for each.
    remaining: BankSet,
    users: PerBank<u8>,
    /// Banks held by threads.
    held: BankSet,
    /// Cycle in which a thread last released each bank.
    released: PerBank<Option<Cycle>>,
    /// Next row step of the thread that holds each bank; valid for the banks in `stepping`.
    row_steps: PerBank<RowStep>,
    stepping: BankSet,
    /// Threads with a next column step, oldest first.
    columns: Vec<ColumnContender>,
    term: Option<Cycles>,
    /// Incremented by every change of threads that may affect their beginning and preemption.
    version: u64,
    /// Inputs of the last update, besides the ends of terms.
    seen: Option<(u64, Situation)>,
    /// Cycle at which the next term ends.
    next_term_end: Cycle,
    /// Threads preempted for reads, and for refresh, since the last [`Self::take_preempted`].
    preempted: (u64, u64),
    /// Memory of the steps of threads that are done.
    pub(crate) spare: Vec<StepList>,
}

/// The banks that threads have released, and since when they had held each.
type Released = Vec<(BankIndex, Cycle)>;

/// Effect of a row step of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowStepDone {
    /// Slot of its program in the front end.
    pub(crate) program: u32,
    /// Slot of the thread.
    pub(crate) slot: u8,
    /// Cycle since which the thread has held the bank, if it releases the bank.
    pub(crate) released_since: Option<Cycle>,
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

impl Port {
    /// Maximum number of threads per channel.
    pub(crate) const SLOTS: usize = 32;

    /// The port of a channel.
    pub(crate) fn new(term: Option<Cycles>) -> Port {
        Port {
            threads: (0..Port::SLOTS).map(|_| None).collect(),
            order: Vec::with_capacity(Port::SLOTS),
            vacant: (0..Port::SLOTS as u8).rev().collect(),
            remaining: BankSet::EMPTY,
            users: PerBank::new(0),
            held: BankSet::EMPTY,
            released: PerBank::new(None),
            row_steps: PerBank::new(RowStep::NONE),
            stepping: BankSet::EMPTY,
            columns: Vec::new(),
            term,
            version: 0,
            seen: None,
            next_term_end: Cycle::NEVER,
            preempted: (0, 0),
            spare: Vec::new(),
        }
    }

    pub(crate) fn has_room(&self) -> bool {
        self.order.len() < Port::SLOTS
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.order.is_empty()
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

    /// Records that a thread released a bank.
    pub(crate) fn released(&mut self, bank: BankIndex, now: Cycle) {
        self.released[bank] = Some(now);
    }

    /// Threads preempted for reads, and for refresh, since the last call.
    pub(crate) fn take_preempted(&mut self) -> (u64, u64) {
        std::mem::take(&mut self.preempted)
    }

    /// Adds a thread; returns its slot.
    pub(crate) fn push(&mut self, thread: Thread) -> u8 {
        let slot = self.vacant.pop().expect("the port has room");
        // A thread does not begin while an earlier thread is not done with one of its banks.
        self.version += u64::from(!self.remaining.intersects(thread.remaining()));
        self.remaining = self.remaining.union(thread.remaining());
        for bank in thread.remaining() {
            self.users[bank] += 1;
        }
        self.threads[usize::from(slot)] = Some(thread);
        self.order.push(slot);
        slot
    }

    #[inline]
    fn thread(&self, slot: u8) -> &Thread {
        self.threads[usize::from(slot)].as_ref().expect("a slot in use")
    }

    #[inline]
    fn thread_mut(&mut self, slot: u8) -> &mut Thread {
        self.threads[usize::from(slot)].as_mut().expect("a slot in use")
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
    pub(crate) fn row_command(&self, bank: BankIndex) -> (Command, Cause) {
        let step = &self.row_steps[bank];
        (step.command, self.thread(step.slot).cause())
    }

    /// Threads with a next column step, oldest first.
    #[inline]
    pub(crate) fn columns(&self) -> &[ColumnContender] {
        &self.columns
    }

    /// Next column step of a thread of [`Self::columns`], if the arrival of its data is known.
    #[inline]
    pub(crate) fn column_step(&self, slot: u8) -> Option<ColumnStep> {
        self.thread(slot).column_step()
    }

    /// Source of a thread's request.
    pub(crate) fn source(&self, slot: u8) -> SourceId {
        self.thread(slot).origin.source
    }

    /// Next column command of a thread, and its cause.
    #[inline]
    pub(crate) fn column_command(&self, slot: u8) -> (Command, Cause) {
        let thread = self.thread(slot);
        (thread.column_step().expect("the thread has a column step").command, thread.cause())
    }

    /// Reports that data for the writes of a program arrives at a cycle. Its thread had this slot,
    /// and may be done.
    pub(crate) fn data_arrives(&mut self, (slot, program): (u8, u32), at: Cycle) {
        if let Some(thread) = self.threads[usize::from(slot)].as_mut().filter(|thread| thread.origin.slot == program) {
            thread.data_arrives(at);
        }
    }

    /// Updates the state after the next row command in a bank.
    pub(crate) fn row_issued(&mut self, bank: BankIndex, open: Option<Row>) -> RowStepDone {
        let slot = self.row_steps[bank].slot;
        let thread = self.thread_mut(slot);
        let is_released = thread.row_issued(bank, open);
        let (program, since, remaining) = (thread.origin.slot, thread.begun(), thread.remaining());
        let (is_left, is_done) = (!remaining.contains(bank), remaining.is_empty());
        // In a rank that is urgent, a thread may now be preempted.
        let is_urgent = self.seen.is_some_and(|(_, situation)| remaining.intersects(situation.urgent));
        self.version += u64::from(is_released || is_urgent);
        self.reschedule(slot);
        if is_released {
            self.held.remove(bank);
            self.stepping.remove(bank);
        }
        if is_done {
            self.spare.extend(self.threads[usize::from(slot)].take().map(Thread::into_steps));
            let place = self.order.iter().position(|&other| other == slot).expect("a slot in use");
            self.order.remove(place);
            self.vacant.push(slot);
        }
        if is_left {
            self.users[bank] -= 1;
            self.remaining.set(bank, self.users[bank] > 0);
        }
        RowStepDone { program, slot, released_since: is_released.then_some(since), is_left, is_done }
    }

    /// Updates the state after column commands of a thread, for one line or some of the
    /// [`Self::steady_lines`], the last at `last`.
    #[inline]
    pub(crate) fn columns_issued(&mut self, slot: u8, lines: u64, last: Cycle) -> ColumnStepDone {
        let thread = self.threads[usize::from(slot)].as_mut().expect("a slot in use");
        let (program, (moved, is_steady)) = (thread.origin.slot, thread.columns_issued(lines));
        // In an urgent rank, a thread that awaits data may now be preempted.
        let is_urgent = self.seen.is_some_and(|(_, situation)| thread.remaining().intersects(situation.urgent));
        // After its first column step, a thread may be preempted if its term has ended.
        let has_ended = !is_steady && thread.term_end() <= last;
        self.version += u64::from(has_ended || is_urgent && thread.awaits_data());
        if !is_steady {
            self.reschedule(slot);
        }
        ColumnStepDone { program, moved }
    }

    /// The lines that a thread moves next as one run.
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

    /// The lines that the latest `count` column commands of a step of a thread moved over the
    /// channel.
    pub(crate) fn moved_lines(&self, slot: u8, count: u16) -> MovedLines {
        self.thread(slot).moved_lines(count)
    }

    /// Updates the next steps of a thread after a change.
    fn reschedule(&mut self, slot: u8) {
        let thread = self.threads[usize::from(slot)].as_ref().expect("a slot in use");
        let (stamp, program, source) = (thread.stamp(), thread.origin.program, thread.origin.source);
        for (place, (bank, step)) in (1_u8..).zip(thread.row_steps()) {
            self.stepping.set(bank, step.is_some());
            if let Some((command, kind)) = step {
                let order = RowOrder { stamp, program, place };
                self.row_steps[bank] = RowStep { command, order, slot, source, kind, ready: Cycle::NEVER };
            }
        }
        let contender = thread.has_column_rows().then_some(ColumnContender { stamp, program, slot });
        let known = self.columns.iter().position(|other| other.slot == slot);
        if known.map(|place| self.columns[place]) != contender {
            known.map(|place| self.columns.remove(place));
            if let Some(contender) = contender {
                let place = self.columns.partition_point(|other| *other < contender);
                self.columns.insert(place, contender);
            }
        }
    }

    /// End of the next term after the cycle of the last update; never without threads.
    #[inline]
    pub(crate) fn next_term_end(&self) -> Cycle {
        if self.is_empty() { Cycle::NEVER } else { self.next_term_end }
    }

    /// Preempts and begins threads, in order of dispatch. Returns the banks that threads released,
    /// and the cycles since which they had held them. A repeated update has no effect unless its
    /// inputs have changed.
    #[inline]
    pub(crate) fn update(&mut self, now: Cycle, situation: Situation, around: &impl Surroundings) -> Released {
        let seen = Some((self.version, situation));
        if self.seen == seen && now < self.next_term_end {
            return Vec::new();
        }
        self.seen = seen;
        self.update_all(now, situation, around)
    }

    fn update_all(&mut self, now: Cycle, situation: Situation, around: &impl Surroundings) -> Vec<(BankIndex, Cycle)> {
        let mut all_released = Vec::new();
        let mut earlier = BankSet::EMPTY;
        let mut is_exempt_known = false;
        let closed = situation.urgent.union(situation.unused);
        self.next_term_end = Cycle::NEVER;
        for place in 0..self.order.len() {
            // A thread holds no bank with which an earlier thread is not done: no further thread
            // runs or can begin.
            if earlier == self.remaining {
                break;
            }
            let slot = self.order[place];
            let thread = self.threads[usize::from(slot)].as_mut().expect("a slot in use");
            let remaining = thread.remaining();
            let is_changed = match thread.phase() {
                Phase::Waiting => {
                    let busy = earlier.union(self.held).union(closed);
                    if remaining.intersects(busy) || !may_begin(thread, remaining, &self.released, around) {
                        earlier = earlier.union(remaining);
                        continue;
                    }
                    thread.begin(now, self.term, |bank| around.open_row(bank));
                    self.held = self.held.union(remaining);
                    true
                }
                Phase::Running => match term_end(thread, is_exempt_known, now, situation, around) {
                    None => false,
                    Some(TermEnd::Time) => {
                        thread.begin_term(now, self.term);
                        true
                    }
                    Some(why) => {
                        *if why == TermEnd::Reads { &mut self.preempted.0 } else { &mut self.preempted.1 } += 1;
                        let (released, since) = (thread.preempt(), thread.begun());
                        self.held = self.held.without(released);
                        self.stepping = self.stepping.without(released);
                        all_released.extend(released.into_iter().map(|bank| (bank, since)));
                        true
                    }
                },
                Phase::Preempted => false,
            };
            is_exempt_known |= thread.awaits_first_column();
            earlier = earlier.union(remaining);
            let end = thread.term_end();
            if end > now {
                self.next_term_end = self.next_term_end.min(end);
            }
            if is_changed {
                self.reschedule(slot);
            }
        }
        all_released
    }
}

#[cfg(test)]
mod tests;
