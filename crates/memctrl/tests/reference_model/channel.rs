//! A channel: queues and mode (12-14), and the beginning and preemption of threads (20-22).

use dram_core::{Cells, Device};
use dram_spec::{BankId, Cycles, Row};
use memctrl::Config;

use super::access::{Access, Kind, Stamp};
use super::blocking::blocks;
use super::figures::Recorder;
use super::front::FrontEnd;
use super::rows::Rows;
use super::scheduler::Scheduler;
use super::thread::{State, Thread};

/// State of a bank that is not part of the device.
#[derive(Clone, Debug, Default)]
pub struct Bank {
    /// Kind of access for which an unused row was opened (14).
    pub unused: Option<Kind>,
    /// Accesses served by the open row since its ACT.
    pub served: u32,
    /// Cycle in which a thread last released the bank.
    released: Option<u64>,
}

/// A channel.
pub struct Channel {
    pub id: dram_spec::Channel,
    pub config: Config,
    /// [`Config::longer_hold`].
    pub longer_hold: Cycles,
    pub device: Device,
    pub scheduler: Scheduler,
    pub rows: Rows,
    /// Mode of the write drain.
    pub mode: Kind,
    /// Accesses accepted and not issued, in order of acceptance.
    pub accesses: Vec<Access>,
    /// Port: threads that are not done, in order of dispatch.
    pub threads: Vec<Thread>,
    pub banks: Vec<Bank>,
    /// Banks whose row buffer has moved, and the row of the contents, until the next ACT.
    pub moved: Vec<(BankId, Row)>,
    /// End of the last REF, PDX or SRX of each rank.
    pub recovered: Vec<u64>,
    /// Accesses accepted, and queued, in the present cycle.
    pub accepted: usize,
    pub stamped: u64,
}

impl Channel {
    pub fn new(id: u8, config: &Config, scheduler: &Scheduler, rows: Rows) -> Channel {
        let (id, geometry) = (dram_spec::Channel(id), config.system.geometry);
        let cells = config.contents.clone().map(|contents| Cells::new(id, geometry, contents));
        Channel {
            id,
            device: Device::new(&config.system, cells),
            config: config.clone(),
            longer_hold: config.longer_hold(),
            scheduler: scheduler.clone(),
            rows,
            mode: Kind::Read,
            accesses: Vec::new(),
            threads: Vec::new(),
            banks: vec![Bank::default(); geometry.topology().banks()],
            moved: Vec::new(),
            recovered: vec![0; geometry.ranks().into()],
            accepted: 0,
            stamped: 0,
        }
    }

    /// Entries in use.
    pub fn entries(&self, kind: Kind) -> usize {
        self.accesses.iter().filter(|access| access.kind == kind).count()
    }

    /// Queued accesses of a kind.
    pub fn queued(&self, kind: Kind) -> impl Iterator<Item = &Access> {
        self.accesses.iter().filter(move |access| access.kind == kind && access.is_queued())
    }

    pub fn bank(&mut self, bank: BankId) -> &mut Bank {
        &mut self.banks[self.device.topology().index(bank).get()]
    }

    pub fn unused(&self, bank: BankId) -> Option<Kind> {
        self.banks[self.device.topology().index(bank).get()].unused
    }

    /// Whether no thread holds a bank.
    pub fn is_free(&self, bank: BankId) -> bool {
        self.threads.iter().all(|thread| !thread.held.contains(&bank))
    }

    /// All banks, from rank 0, bank 0.
    pub fn all_banks(&self) -> Vec<BankId> {
        let topology = self.device.topology();
        topology.indices().map(|index| topology.bank(index)).collect()
    }

    /// The oldest access in a free bank, of either kind (14).
    pub fn head(&self) -> Option<&Access> {
        let queued = self.accesses.iter().filter(|access| access.is_queued() && self.is_free(access.place.bank));
        queued.min_by_key(|access| access.stamp)
    }

    /// Changes the mode between reads and writes (12, 13).
    pub fn choose_mode(&mut self, front: &FrontEnd, recorder: &mut Recorder) {
        if self.scheduler.is_fifo() {
            self.mode = self.head().map_or(self.mode, |head| head.kind);
            return;
        }
        let in_free_bank = |kind| self.queued(kind).any(|access| self.is_free(access.place.bank));
        let writes = self.queued(Kind::Write).count();
        let copy_waits = || {
            let waits = |(number, copy)| self.queued(Kind::Write).any(|write| blocks(write, number, copy));
            front.undispatched().any(waits)
        };
        let (low, high) = (self.config.queues.drain_low, self.config.queues.drain_high);
        match self.mode {
            Kind::Read => {
                let drains = || writes >= high || !in_free_bank(Kind::Read) || copy_waits();
                if in_free_bank(Kind::Write) && drains() {
                    self.mode = Kind::Write;
                    recorder.figures.write_drains += 1;
                }
            }
            Kind::Write => {
                let is_low = || writes <= low && in_free_bank(Kind::Read) && !copy_waits();
                if !in_free_bank(Kind::Write) || is_low() {
                    self.mode = Kind::Read;
                }
            }
        }
    }

    /// Preempts running threads and begins waiting ones (20-22).
    pub fn ask_threads(&mut self, now: u64, front: &mut FrontEnd, recorder: &mut Recorder) {
        for at in 0..self.threads.len() {
            match self.threads[at].state {
                State::Waiting if self.may_begin(now, at) => self.begin(now, at, front, recorder),
                State::Running if self.must_yield(now, at, front) => {
                    recorder.figures.preempted_for_refresh += 1;
                    self.preempt(now, at, front, recorder);
                }
                State::Running if self.is_asked(now, at) => {
                    let held = &self.threads[at].held;
                    if self.queued(Kind::Read).any(|read| held.contains(&read.place.bank)) {
                        recorder.figures.preempted_for_reads += 1;
                        self.preempt(now, at, front, recorder);
                    } else {
                        self.set_term(now, at);
                    }
                }
                _ => {}
            }
        }
        self.remove_done(front);
    }

    fn may_begin(&self, now: u64, at: usize) -> bool {
        let thread = &self.threads[at];
        let may_take = |bank: BankId| {
            let released = self.banks[self.device.topology().index(bank).get()].released;
            let since = released.map_or(thread.dispatched, |released| released.max(thread.dispatched));
            let is_before = |read: &Access| read.stamp.is_some_and(|stamp| stamp.cycle <= since);
            self.is_free(bank)
                && self.unused(bank).is_none()
                && self.threads[..at].iter().all(|earlier| !earlier.uses(bank))
                && !self.queued(Kind::Read).any(|read| read.place.bank == bank && is_before(read))
        };
        thread.banks().all(|bank| !self.is_bank_urgent(bank, now) && may_take(bank))
    }

    fn begin(&mut self, now: u64, at: usize, front: &mut FrontEnd, recorder: &mut Recorder) {
        let banks: Vec<BankId> = self.threads[at].banks().collect();
        let thread = &mut self.threads[at];
        (thread.state, thread.held, thread.began, thread.has_moved) = (State::Running, banks.clone(), now, false);
        self.set_term(now, at);
        for bank in banks {
            self.settle(now, at, bank, front, recorder);
        }
    }

    /// Sets the stamp of a thread, and the cycle of its next check.
    fn set_term(&mut self, now: u64, at: usize) {
        self.threads[at].term = Stamp::after_accesses(now);
        self.threads[at].ask_at = self.config.copy_hold_max.map_or(u64::MAX, |hold| now + hold.0);
    }

    /// Whether a thread is preempted for a refresh (21).
    fn must_yield(&self, now: u64, at: usize, front: &FrontEnd) -> bool {
        let thread = &self.threads[at];
        let is_urgent = thread.banks().any(|bank| self.is_bank_urgent(bank, now));
        let data = front.programs[thread.program].data_arrives();
        let waits = is_urgent && thread.writes_next() && data.is_none();
        (waits || self.is_in_rank_that_must(now, thread)) && !thread.is_copying()
    }

    /// Whether a rank of a thread's banks must refresh.
    pub fn is_in_rank_that_must(&self, now: u64, thread: &Thread) -> bool {
        thread.banks().any(|bank| self.must_refresh_bank(bank, now))
    }

    /// Whether a thread is checked in this cycle for preemption by reads (22).
    fn is_asked(&self, now: u64, at: usize) -> bool {
        let is_first =
            |thread: &Thread| thread.state == State::Running && thread.has_column_steps() && !thread.has_moved;
        self.threads[at].has_column_steps()
            && now >= self.threads[at].ask_at
            && self.threads.iter().position(is_first) != Some(at)
    }

    fn preempt(&mut self, now: u64, at: usize, front: &mut FrontEnd, recorder: &mut Recorder) {
        self.threads[at].state = State::Preempted;
        let thread = &self.threads[at];
        let closed = |bank: &BankId| !thread.has_open(*bank, &self.device);
        let closed: Vec<BankId> = thread.held.iter().copied().filter(closed).collect();
        for bank in closed {
            self.release(now, at, bank, front, recorder);
        }
    }

    /// Called after a command of a thread to a bank, or when it takes the bank: completes the steps
    /// that need no command, and releases the bank if the thread is done with it, or is preempted
    /// and the bank closed.
    pub fn settle(&mut self, now: u64, at: usize, bank: BankId, front: &mut FrontEnd, recorder: &mut Recorder) {
        let thread = &mut self.threads[at];
        thread.settle(bank, &self.device);
        let is_closed = self.device.open_row(bank).is_none();
        if !thread.uses(bank) || thread.state == State::Preempted && is_closed {
            self.release(now, at, bank, front, recorder);
        }
    }

    fn release(&mut self, now: u64, at: usize, bank: BankId, front: &mut FrontEnd, recorder: &mut Recorder) {
        let ready = self.device.precharged(self.device.topology().index(bank)).0;
        let thread = &mut self.threads[at];
        thread.held.retain(|held| *held != bank);
        if thread.held.is_empty() {
            thread.state = State::Waiting;
        }
        if !thread.uses(bank) {
            front.bank_done(thread.request, ready);
        }
        let began = thread.began;
        self.bank(bank).released = Some(now);
        let oldest = self.queued(Kind::Read).filter(|read| read.place.bank == bank).filter_map(|read| read.stamp).min();
        if let Some(stamp) = oldest {
            let since = stamp.cycle.max(began).max(self.recovered[usize::from(bank.rank)]);
            recorder.figures.blocked_by_copies.record(dram_spec::Cycles(ready.saturating_sub(since)));
        }
    }

    /// Removes completed threads from the port.
    pub fn remove_done(&mut self, front: &mut FrontEnd) {
        let done = self.threads.iter().filter(|thread| thread.is_done());
        done.for_each(|thread| front.thread_done(thread.request));
        self.threads.retain(|thread| !thread.is_done());
    }
}
