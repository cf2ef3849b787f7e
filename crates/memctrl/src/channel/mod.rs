//! A channel: its device, its queues, its threads, and the decision on the next command.
//!
//! A channel has no reference to other channels or to the front end. It returns the effect of a
//! command as [`Outcome`]. The front end queues accesses and threads, and requests the commands in
//! time order.

mod access;
mod arbiter;
mod bank;
mod candidate;
mod contenders;
mod drain;
mod issue;
mod maintenance;
mod queues;

use dram_core::{Device, Kind, P};
use dram_spec::{BankIndex, BankSet, Cycle, Cycles, PerRank, Row, Topology};

pub use access::{AccessKind, QueuedAccess, Stamp};
#[cfg(feature = "test-api")]
pub use maintenance::yield_from;
pub use queues::Queues;

pub(crate) use access::{Access, RowOutcome};
pub(crate) use issue::{Outcome, Served, ThreadStep};
pub(crate) use queues::{Rows, chain, line_hash};

use crate::config::Config;
use crate::copy::port::Port;
use crate::copy::preemption::{Situation, Surroundings};
use crate::copy::thread::Thread;
use crate::policy::scheduler::{Changes, Reads, RowState, Scheduler};
use crate::stats::Figures;
use crate::stats::counters::Counters;
use arbiter::{Choice, Decision};
use bank::Banks;
use drain::WriteDrain;
use maintenance::{Maintenance, Upkeep};

/// A channel.
#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) id: dram_spec::Channel,
    topology: Topology,
    pub(crate) device: Device,
    queues: Queues,
    banks: Banks,
    drain: WriteDrain,
    scheduler: Box<dyn Scheduler>,
    /// Whether the scheduler is strict, and whether it has state.
    is_strict: bool,
    has_state: bool,
    /// Settings of the row policy.
    closes_after_last: bool,
    closes_after: Option<Cycles>,
    maintenance: Maintenance,
    pub(crate) port: Port,
    /// Reads issued in banks that threads were not done with.
    reads_issued: u64,
    /// All banks.
    all: BankSet,
    /// Cycles from RD, and from WR, to the end of its data.
    read_latency: Cycles,
    write_latency: Cycles,
    /// The present decision; after a change it only specifies when to decide again.
    decision: Decision,
    /// First cycle for which no command has been issued.
    from: Cycle,
    /// End of the last REF, PDX or SRX of each rank.
    usable_from: PerRank<Cycle>,
    pub(crate) counters: Counters,
}

impl Channel {
    pub(crate) fn new(id: dram_spec::Channel, device: Device, config: &Config) -> Channel {
        let topology = config.system.geometry.topology();
        Channel {
            id,
            topology,
            queues: Queues::new(),
            banks: Banks::new(topology),
            drain: WriteDrain::new(config.queues.drain_high, config.queues.drain_low),
            scheduler: config.scheduler.clone(),
            is_strict: config.scheduler.is_strict(),
            has_state: config.scheduler.has_state(),
            closes_after_last: config.row_policy.closes_after_last_access(),
            closes_after: config.row_policy.closes_after(),
            maintenance: Maintenance::new(config),
            port: Port::new(config.copy_hold_max),
            reads_issued: 0,
            all: topology.indices().collect(),
            read_latency: device.timings().read_data(),
            write_latency: device.timings().write_latency() + device.timings().get(P::Burst),
            decision: Decision::outstanding(Cycle::ZERO),
            from: Cycle::ZERO,
            usable_from: PerRank::new(Cycle::ZERO),
            counters: Counters::default(),
            device,
        }
    }

    pub(crate) fn topology(&self) -> Topology {
        self.topology
    }

    pub(crate) fn queues(&mut self) -> &mut Queues {
        &mut self.queues
    }

    pub(crate) fn queued(&self) -> &Queues {
        &self.queues
    }

    /// Queues an access that has taken its entry.
    pub(crate) fn queue(&mut self, access: &Access, now: Cycle) {
        let bank = access.bank;
        let queued = self.queues.queue(access, now);
        let state = self.banks.get(bank);
        // The candidate remains valid unless the new access precedes the one of the candidate.
        let candidate = self.banks.candidate(bank);
        let row = || RowState { is_hit: self.device.row_in(bank) == Some(queued.row()), served: state.served() };
        let is_preferred = !self.banks.is_current(bank)
            || (candidate.kind == queued.kind() && self.scheduler.priority(queued, row()) < candidate.priority);
        if is_preferred {
            self.banks.changed(bank);
        }
        let stands = || self.decision.outlives_queueing() && !(self.has_state && self.scheduler.awaits_reads());
        if is_preferred || !stands() || self.drain.is_due(&self.queues, self.free()) {
            self.changed(now);
        }
    }

    /// Adds a thread to the port; returns its slot.
    pub(crate) fn add_thread(&mut self, thread: Thread, now: Cycle) -> u8 {
        self.changed(now);
        self.port.push(thread)
    }

    /// Reports that data for the writes of a program arrives at a cycle. `slot` is the slot of its
    /// thread.
    pub(crate) fn data_arrives(&mut self, (slot, program): (u8, u32), at: Cycle, now: Cycle) {
        self.port.data_arrives((slot, program), at);
        self.changed(now);
    }

    /// Invalidates the decision after a change.
    pub(crate) fn changed(&mut self, now: Cycle) {
        self.from = self.from.max(now);
        self.decision = Decision::outstanding(self.from);
    }

    /// Wake-up: the first cycle at which the channel may issue a command or change its state; exact
    /// once it has decided.
    #[inline]
    pub(crate) fn wakes_at(&self) -> Cycle {
        self.decision.at
    }

    /// Whether a command is decided.
    #[inline]
    pub(crate) fn has_command(&self) -> bool {
        !matches!(self.decision.choice, Choice::Nothing)
    }

    /// Decides the next command, from the wake-up on.
    pub(crate) fn decide(&mut self) {
        let from = self.wakes_at();
        self.from = from;
        if self.has_state && self.scheduler.update(from, Reads(&self.queues)) == Changes::All {
            self.banks.all_changed();
        }
        if !self.port.is_empty() {
            let Upkeep { urgent, must, .. } = *self.upkeep(from);
            self.update_port(from, urgent, must);
        }
        let Upkeep { command, again_at, usable, must, .. } = *self.upkeep(from);
        if self.drain.update(&self.queues, self.free()) {
            self.banks.all_changed();
        }
        let mut decision = self.arbitrate(from, command, usable, must);
        let next_update = if self.has_state { self.scheduler.next_update() } else { Cycle::NEVER };
        decision.bound(again_at.min(next_update).min(self.port.next_term_end()));
        self.decision = decision;
    }

    /// Banks that no thread holds.
    #[inline]
    fn free(&self) -> BankSet {
        self.all.without(self.port.held())
    }

    #[inline]
    fn upkeep(&mut self, from: Cycle) -> &Upkeep {
        let (queues, port) = (&self.queues, &self.port);
        let queued = || queues.pending(AccessKind::Read).union(queues.pending(AccessKind::Write));
        self.maintenance.upkeep(&self.device, from, || (queued().union(port.remaining()), port.held()))
    }

    /// Preempts and begins threads; `urgent` and `must` are the banks of urgent ranks and of ranks
    /// that must refresh.
    #[inline]
    fn update_port(&mut self, now: Cycle, urgent: BankSet, must: BankSet) {
        let unused = self.banks.unused(AccessKind::Read).union(self.banks.unused(AccessKind::Write));
        let situation = Situation { reads_issued: self.reads_issued, unused, urgent, must };
        let around = Around { device: &self.device, queues: &self.queues, banks: &self.banks };
        for (bank, since) in self.port.update(now, situation, &around) {
            self.bank_released(bank, since, now);
        }
    }

    /// Moves the counts up to `to` to `figures`.
    pub(crate) fn take_figures(&mut self, figures: &mut Figures, to: Cycle) {
        let counters = std::mem::take(&mut self.counters);
        let Counters { commands, reads, writes, blocked_by_copies, unused_activates } = counters;
        figures.commands += commands;
        figures.reads += reads;
        figures.writes += writes;
        figures.unused_activates += unused_activates;
        figures.blocked_by_copies.merge(&blocked_by_copies);
        let (for_reads, for_refresh) = self.port.take_preempted();
        figures.preempted_for_reads += for_reads;
        figures.preempted_for_refresh += for_refresh;
        figures.write_drains += self.drain.take_drains();
        figures.read_queue += self.queues.take_depth(AccessKind::Read, to);
        figures.write_queue += self.queues.take_depth(AccessKind::Write, to);
    }

    /// Records that a thread released a bank that it had held since `since`.
    fn bank_released(&mut self, bank: BankIndex, since: Cycle, now: Cycle) {
        self.banks.released(bank, now);
        if let Some(read) = self.queues.oldest(AccessKind::Read, bank) {
            let rank = self.banks.get(bank).id().rank;
            let blocked_from = read.stamp().cycle().max(since).max(self.usable_from[rank]);
            let ready = self.device.bank_hold(bank, Kind::Act).until();
            self.counters.blocked_by_copies.record(ready.since(blocked_from));
        }
    }
}

/// State of the channel that the threads use.
struct Around<'a> {
    device: &'a Device,
    queues: &'a Queues,
    banks: &'a Banks,
}

impl Surroundings for Around<'_> {
    fn open_row(&self, bank: BankIndex) -> Option<Row> {
        self.device.row_in(bank)
    }

    fn oldest_read(&self, bank: BankIndex) -> Option<Cycle> {
        self.queues.oldest(AccessKind::Read, bank).map(|read| read.stamp().cycle())
    }

    fn released(&self, bank: BankIndex) -> Option<Cycle> {
        self.banks.get(bank).released()
    }
}
