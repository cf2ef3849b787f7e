//! The port of a channel: its threads, in order of dispatch, and when they begin and give way.

use dram_spec::{BankIndex, BankSet, Cycle, Cycles, Row};

use super::preemption::{Preemption, preemption};
use super::thread::{Phase, Thread};

/// What the port asks of its channel.
pub(crate) trait Surroundings {
    /// The open row of a bank.
    fn open_row(&self, bank: BankIndex) -> Option<Row>;

    /// The cycle in which the oldest queued read of a bank was queued.
    fn oldest_read(&self, bank: BankIndex) -> Option<Cycle>;

    /// When a thread last released a bank.
    fn released(&self, bank: BankIndex) -> Option<Cycle>;

    /// The banks with an unused row.
    fn unused(&self) -> BankSet;

    /// The banks of ranks in which no thread may begin.
    fn urgent(&self) -> BankSet;

    /// The banks of ranks that must refresh.
    fn must(&self) -> BankSet;
}

/// The threads of a channel.
#[derive(Debug)]
pub(crate) struct Port {
    threads: Vec<Thread>,
    /// The banks that threads are not done with.
    remaining: BankSet,
    /// The banks that threads hold.
    held: BankSet,
    term: Option<Cycles>,
    /// Threads preempted for reads, and for refresh, since the last [`Self::take_preempted`].
    preempted: (u64, u64),
}

/// What [`Port::update`] changed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Update {
    /// Banks that threads released, and since when they had held each.
    pub(crate) released: Vec<(BankIndex, Cycle)>,
}

impl Port {
    /// Threads that a channel has room for.
    pub(crate) const SLOTS: usize = 32;

    pub(crate) fn new(term: Option<Cycles>) -> Port {
        Port { threads: Vec::new(), remaining: BankSet::EMPTY, held: BankSet::EMPTY, term, preempted: (0, 0) }
    }

    pub(crate) fn has_room(&self) -> bool {
        self.threads.len() < Port::SLOTS
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }

    /// The banks that threads are not done with.
    #[inline]
    pub(crate) fn remaining(&self) -> BankSet {
        self.remaining
    }

    /// The banks that threads hold.
    #[inline]
    pub(crate) fn held(&self) -> BankSet {
        self.held
    }

    /// Threads preempted for reads, and for refresh, since the last call.
    pub(crate) fn take_preempted(&mut self) -> (u64, u64) {
        std::mem::take(&mut self.preempted)
    }

    pub(crate) fn push(&mut self, thread: Thread) {
        self.remaining = self.remaining.union(thread.remaining());
        self.threads.push(thread);
    }

    /// The threads that hold a bank, with their places.
    pub(crate) fn running(&self) -> impl Iterator<Item = (usize, &Thread)> {
        self.threads.iter().enumerate().filter(|(_, thread)| thread.phase() != Phase::Waiting)
    }

    pub(crate) fn get(&self, place: usize) -> &Thread {
        &self.threads[place]
    }

    pub(crate) fn get_mut(&mut self, place: usize) -> &mut Thread {
        &mut self.threads[place]
    }

    /// The thread of a program.
    pub(crate) fn of_program(&mut self, slot: u32) -> Option<&mut Thread> {
        self.threads.iter_mut().find(|thread| thread.origin.slot == slot)
    }

    /// A bank was released by a thread.
    pub(crate) fn released(&mut self, place: usize, bank: BankIndex) {
        self.held.remove(bank);
        if !self.threads[place].remaining().contains(bank) {
            let others = self.threads.iter().map(Thread::remaining);
            self.remaining = others.fold(BankSet::EMPTY, BankSet::union);
        }
    }

    /// Removes the thread at a place, which is done.
    pub(crate) fn remove(&mut self, place: usize) -> Thread {
        self.threads.remove(place)
    }

    /// When the next term ends, after a cycle.
    pub(crate) fn next_term_end(&self, after: Cycle) -> Cycle {
        let ends = self.threads.iter().map(Thread::term_end);
        ends.filter(|&end| end > after).min().unwrap_or(Cycle::NEVER)
    }

    /// Preempts and begins threads, in order of dispatch.
    pub(crate) fn update(&mut self, now: Cycle, around: &impl Surroundings) -> Update {
        let mut update = Update::default();
        let mut earlier = BankSet::EMPTY;
        let mut is_exempt_known = false;
        for thread in &mut self.threads {
            let remaining = thread.remaining();
            match thread.phase() {
                Phase::Waiting => {
                    let busy = earlier.union(self.held).union(around.urgent()).union(around.unused());
                    if !remaining.intersects(busy) && may_begin(thread, remaining, around) {
                        thread.begin(now, self.term, |bank| around.open_row(bank));
                        self.held = self.held.union(remaining);
                    }
                }
                Phase::Running => {
                    let is_exempt = !is_exempt_known && thread.awaits_first_column();
                    if let Some(why) = preemption(thread, remaining, is_exempt, self.term, now, around) {
                        *match why {
                            Preemption::Reads => &mut self.preempted.0,
                            Preemption::Refresh => &mut self.preempted.1,
                        } += 1;
                        let released = thread.preempt(|bank| around.open_row(bank));
                        self.held = self.held.without(released);
                        let since = thread.begun();
                        update.released.extend(released.into_iter().map(|bank| (bank, since)));
                    }
                }
                Phase::Preempted => {}
            }
            is_exempt_known |= thread.awaits_first_column();
            earlier = earlier.union(remaining);
        }
        update
    }
}

/// Whether no read goes first in the banks of a thread.
fn may_begin(thread: &Thread, banks: BankSet, around: &impl Surroundings) -> bool {
    banks.into_iter().all(|bank| {
        let since = around.released(bank).map_or(thread.dispatched(), |released| released.max(thread.dispatched()));
        around.oldest_read(bank).is_none_or(|read| read > since)
    })
}

#[cfg(test)]
mod tests;
