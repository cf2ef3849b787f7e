//! A channel: its device, its queues, its threads, and the decision which command goes next.
//!
//! A channel knows no other channel and no front end. It reports what a command did as [`Outcome`]; the front end queues
//! accesses and threads, and asks in time order for the next command.

mod access;
mod arbiter;
mod bank;
mod candidate;
mod drain;
mod issue;
mod maintenance;
mod queues;

use std::sync::Arc;

use dram_core::{Device, Kind, P};
use dram_spec::{BankIndex, BankSet, Cycle, Cycles, Row, Topology};

pub use access::{AccessKind, QueuedAccess, Stamp};
#[cfg(feature = "test-api")]
pub use maintenance::yield_from;
pub use queues::Queues;

pub(crate) use access::{Access, RowCommands};
pub(crate) use issue::{Outcome, Served, ThreadStep};

use crate::config::Config;
use crate::copy::port::{Port, Surroundings};
use crate::copy::thread::Thread;
use crate::policy::row::RowPolicy;
use crate::policy::scheduler::{Changes, Reads, RowState, Scheduler};
use crate::stats::Figures;
use crate::stats::counters::Counters;
use arbiter::{Choice, Decision};
use bank::{Bank, Cached};
use drain::WriteDrain;
use maintenance::{Maintenance, Upkeep};

/// One channel.
#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) id: dram_spec::Channel,
    topology: Topology,
    pub(crate) device: Device,
    queues: Queues,
    banks: Box<[Bank]>,
    drain: WriteDrain,
    scheduler: Box<dyn Scheduler>,
    row_policy: Arc<dyn RowPolicy>,
    maintenance: Maintenance,
    pub(crate) port: Port,
    /// Rises with everything that can change the candidates of all banks.
    shared_version: u64,
    /// All banks.
    all: BankSet,
    /// The banks with an unused row that was opened for a read, and for a write.
    unused_reads: BankSet,
    unused_writes: BankSet,
    /// From a RD, and from a WR, to the end of its data.
    read_latency: Cycles,
    write_latency: Cycles,
    /// The decision that stands, if nothing has changed since it was made.
    decision: Option<Decision>,
    /// The first cycle for which no command has been decided.
    from: Cycle,
    /// When the last REF, PDX or SRX of each rank was over.
    usable_from: Box<[Cycle]>,
    pub(crate) counters: Counters,
}

impl Channel {
    pub(crate) fn new(id: dram_spec::Channel, device: Device, config: &Config) -> Channel {
        let topology = config.system.geometry.topology();
        Channel {
            id,
            topology,
            queues: Queues::new(topology.banks()),
            banks: topology.indices().map(|index| Bank::new(topology.bank(index).rank)).collect(),
            drain: WriteDrain::new(config.queues.drain_high, config.queues.drain_low),
            scheduler: config.scheduler.clone(),
            row_policy: Arc::clone(&config.row_policy),
            maintenance: Maintenance::new(config),
            port: Port::new(config.copy_hold_max),
            shared_version: 1,
            all: topology.indices().collect(),
            unused_reads: BankSet::EMPTY,
            unused_writes: BankSet::EMPTY,
            read_latency: device.timings().read_data(),
            write_latency: device.timings().write_latency() + device.timings().get(P::Burst),
            decision: None,
            from: Cycle::ZERO,
            usable_from: vec![Cycle::ZERO; topology.ranks.into()].into(),
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

    /// Queues an access that has its entry.
    #[inline]
    pub(crate) fn queue(&mut self, access: &Access, now: Cycle) {
        let bank = access.bank;
        let queued = self.queues.queue(access, now);
        let state = &self.banks[bank.get()];
        let row = RowState { is_hit: self.device.row_in(bank) == Some(queued.row()), served: state.served() };
        // The candidate stays as it is unless the new access goes before the one that it is for.
        let is_preferred = match state.candidate(self.shared_version) {
            Cached::Valid(Some(candidate)) => {
                candidate.kind == queued.kind() && self.scheduler.priority(queued, row) < candidate.access.priority
            }
            Cached::Valid(None) | Cached::Outdated => true,
        };
        if is_preferred {
            self.banks[bank.get()].changed();
        }
        let stands =
            self.decision.is_some_and(|decision| decision.outlives_queueing()) && !self.scheduler.awaits_reads();
        if is_preferred || !stands || self.drain.is_due(&self.queues, self.free()) {
            self.decision = None;
        }
        self.from = self.from.max(now);
    }

    /// Takes a thread into the port.
    pub(crate) fn add_thread(&mut self, thread: Thread, now: Cycle) {
        self.port.push(thread);
        self.changed(now);
    }

    /// Something has changed that a decision rests on.
    pub(crate) fn changed(&mut self, now: Cycle) {
        self.decision = None;
        self.from = self.from.max(now);
    }

    /// The first cycle at which the channel may issue a command or change by itself: exact once it has decided.
    #[inline]
    pub(crate) fn wakes_at(&self) -> Cycle {
        self.decision.map_or(self.from, |decision| decision.at)
    }

    /// Whether a command is decided.
    #[inline]
    pub(crate) fn has_command(&self) -> bool {
        self.decision.is_some_and(|decision| !matches!(decision.choice, Choice::Nothing))
    }

    /// Decides which command goes next, from the cycle on in which the channel wakes.
    pub(crate) fn decide(&mut self) {
        let from = self.wakes_at();
        self.from = from;
        if self.scheduler.update(from, Reads(&self.queues)) == Changes::All {
            self.shared_version += 1;
        }
        let mut upkeep = self.upkeep(from);
        if !self.port.is_empty() {
            self.update_port(from, &upkeep);
            upkeep = self.upkeep(from);
        }
        if self.drain.update(&self.queues, self.free()) {
            self.shared_version += 1;
        }
        let mut decision = self.arbitrate(from, &upkeep);
        decision.bound(upkeep.again_at.min(self.scheduler.next_update()).min(self.port.next_term_end(from)));
        self.decision = Some(decision);
    }

    /// The banks that no thread holds.
    #[inline]
    fn free(&self) -> BankSet {
        self.all.without(self.port.held())
    }

    /// The banks with an unused row that was opened for an access of a kind.
    #[inline]
    fn unused(&self, kind: AccessKind) -> BankSet {
        match kind {
            AccessKind::Read => self.unused_reads,
            AccessKind::Write => self.unused_writes,
        }
    }

    #[inline]
    fn upkeep(&mut self, from: Cycle) -> Upkeep {
        let busy = self.queues.pending(AccessKind::Read).union(self.queues.pending(AccessKind::Write));
        let busy = busy.union(self.port.remaining());
        self.maintenance.upkeep(&self.device, from, busy, self.port.held())
    }

    fn update_port(&mut self, now: Cycle, upkeep: &Upkeep) {
        let around = Around {
            device: &self.device,
            queues: &self.queues,
            banks: &self.banks,
            unused: self.unused_reads.union(self.unused_writes),
            urgent: upkeep.urgent,
            must: upkeep.must,
        };
        let update = self.port.update(now, &around);
        for (bank, since) in update.released {
            self.bank_released(bank, since, now);
        }
    }

    /// Moves what was counted into figures.
    pub(crate) fn take_figures(&mut self, figures: &mut Figures) {
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
    }

    /// A thread that has held a bank since `since` has released it.
    fn bank_released(&mut self, bank: BankIndex, since: Cycle, now: Cycle) {
        self.banks[bank.get()].was_released(now);
        if let Some(read) = self.queues.oldest(AccessKind::Read, bank) {
            let rank = usize::from(self.banks[bank.get()].rank());
            let blocked_from = read.stamp().cycle().max(since).max(self.usable_from[rank]);
            let ready = self.device.bank_hold(bank, Kind::Act).until();
            self.counters.blocked_by_copies.record(ready.since(blocked_from));
        }
    }
}

/// What the threads see of their channel.
struct Around<'a> {
    device: &'a Device,
    queues: &'a Queues,
    banks: &'a [Bank],
    unused: BankSet,
    urgent: BankSet,
    must: BankSet,
}

impl Surroundings for Around<'_> {
    fn open_row(&self, bank: BankIndex) -> Option<Row> {
        self.device.row_in(bank)
    }

    fn oldest_read(&self, bank: BankIndex) -> Option<Cycle> {
        self.queues.oldest(AccessKind::Read, bank).map(|read| read.stamp().cycle())
    }

    fn released(&self, bank: BankIndex) -> Option<Cycle> {
        self.banks[bank.get()].released()
    }

    fn unused(&self) -> BankSet {
        self.unused
    }

    fn urgent(&self) -> BankSet {
        self.urgent
    }

    fn must(&self) -> BankSet {
        self.must
    }
}
