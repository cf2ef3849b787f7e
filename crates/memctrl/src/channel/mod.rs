//! A channel: its device, its queues, and four sources of commands, of which the one with the first
//! offer issues the next command.
//!
//! A channel has no reference to other channels or to the front end. It returns the effect of a
//! command as [`IssueEffect`]. The front end queues accesses and threads.

mod accesses;
mod candidates;
mod column_turns;
mod drain;
mod issue;
mod maintenance;
mod offer;
mod row_timeout;
mod service;

use dram_core::{Device, P};
use dram_spec::{BankIndex, BankSet, Cycle, Cycles, EventSink, PerRank, Row, Topology};

#[cfg(feature = "test-api")]
pub use maintenance::yield_from;

pub(crate) use issue::{IssueEffect, ServedAccess, ThreadStep};

use crate::access::{AccessKind, LineAccess};
use crate::config::Config;
use crate::copy::port::CopyPort;
use crate::copy::preemption::{Situation, Surroundings};
use crate::copy::thread::PortThread;
use crate::policy::row::RowPolicy;
use crate::policy::scheduler::{Candidacy, Scheduler};
use crate::queues::Queues;
use crate::stats::counters::Counters;
use crate::stats::{self, Figures};
use accesses::Accesses;
use column_turns::ThreadOffers;
use maintenance::{Due, Maintenance};
use offer::{Choice, Offer, Tier, View};

/// A channel.
#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) id: dram_spec::Channel,
    topology: Topology,
    pub(crate) device: Device,
    queues: Queues,
    accesses: Accesses,
    maintenance: Maintenance,
    pub(crate) port: CopyPort,
    row_policy: RowPolicy,
    /// Whether the row policy offers commands, time changes the order of accesses, or only the oldest
    /// access has a candidate.
    others_offer: bool,
    /// Reads issued in banks that threads were not done with.
    reads_issued: u64,
    /// All banks.
    all: BankSet,
    /// Cycles from RD, and from WR, to the end of its data.
    latencies: [Cycles; 2],
    next: PlannedCommand,
    /// First cycle for which no command has been issued.
    from: Cycle,
    /// End of the last REF, PDX or SRX of each rank.
    usable_from: PerRank<Cycle>,
    pub(crate) counters: Counters,
    /// The latest step of a thread.
    pub(crate) step: ThreadStep,
}

/// The next command, if only time passes.
#[derive(Clone, Copy, Debug)]
struct PlannedCommand {
    /// Cycle of the command; without a command, cycle of the next decision.
    at: Cycle,
    choice: Choice,
    /// End of the run of columns that the command may begin: until then, no other command is
    /// issued and no decision is due.
    run_until: Cycle,
    /// Lower bound of the cycle in which a command affects the front end: the end of that run.
    affects_from: Cycle,
}

/// How far a channel runs alone, and what its caller waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Horizon {
    /// First cycle at which it issues no further command.
    pub(crate) commands: Cycle,
    /// First cycle at which no further command of a run of columns is issued.
    pub(crate) runs: Cycle,
    /// The kind of access whose service the front end waits for.
    pub(crate) awaits: Option<AccessKind>,
    /// Whether it waits for the last access in progress.
    pub(crate) ends: bool,
    /// Whether the readers of commands need the depths of the queues.
    pub(crate) wants_queues: bool,
}

impl Horizon {
    /// Runs to a cycle, for a caller that waits for nothing.
    #[inline]
    pub(crate) const fn until(cycle: Cycle) -> Horizon {
        Horizon { commands: cycle, runs: cycle, awaits: None, ends: true, wants_queues: false }
    }
}

impl PlannedCommand {
    /// No command is decided; the next decision is at `at`.
    #[inline]
    const fn decision(at: Cycle) -> PlannedCommand {
        PlannedCommand { at, choice: Choice::Nothing, run_until: Cycle::ZERO, affects_from: at }
    }
}

impl Channel {
    pub(crate) fn new(id: dram_spec::Channel, device: Device, config: &Config) -> Channel {
        let (topology, timings) = (config.system.geometry.topology(), device.timings());
        Channel {
            id,
            topology,
            queues: Queues::new(),
            accesses: Accesses::new(config, topology),
            maintenance: Maintenance::new(config),
            port: CopyPort::new(config.copy_hold_max),
            row_policy: config.row_policy,
            others_offer: config.row_policy.closes_unneeded()
                || config.scheduler.has_state()
                || config.scheduler.candidacy() == Candidacy::Oldest
                || device.has_exclusion(),
            reads_issued: 0,
            all: topology.indices().collect(),
            latencies: [timings.read_data(), timings.write_latency() + timings.get(P::Burst)],
            next: PlannedCommand::decision(Cycle::ZERO),
            from: Cycle::ZERO,
            usable_from: PerRank::new(Cycle::ZERO),
            counters: Counters::default(),
            step: ThreadStep::default(),
            device,
        }
    }

    pub(crate) fn topology(&self) -> Topology {
        self.topology
    }

    pub(crate) fn queues(&mut self) -> &mut Queues {
        &mut self.queues
    }

    #[inline]
    pub(crate) fn queued(&self) -> &Queues {
        &self.queues
    }

    /// Cycles from a command to the end of the data of an access, at least.
    pub(crate) fn least_latency(&self) -> Cycles {
        self.latencies[0].min(self.latencies[1])
    }

    /// Queues an access that has taken its entry.
    #[inline]
    pub(crate) fn queue(&mut self, access: &LineAccess, now: Cycle) {
        let place = self.queues.queue(access, now);
        let is_hit = self.device.row_in(access.bank) == Some(access.row);
        let free = self.free();
        let changes = self.accesses.queued(place, is_hit, &self.queues, free);
        // A queued access may need the row that the timeout would close.
        if changes || matches!(self.next.choice, Choice::Timeout(_)) {
            self.changed(now);
        }
    }

    /// Reports that copies now wait for some of the queued accesses.
    pub(crate) fn awaited(&mut self, now: Cycle) {
        self.changed(now);
    }

    /// Adds a thread to the port; returns its slot.
    pub(crate) fn add_thread(&mut self, thread: PortThread, now: Cycle) -> u8 {
        let (slot, waits) = self.port.push(thread);
        // A thread that waits for earlier ones in all of its banks changes nothing.
        if !waits {
            self.changed(now);
        }
        slot
    }

    /// Reports that data for the writes of a program arrives at a cycle. `slot` is the slot of its
    /// thread.
    pub(crate) fn data_arrives(&mut self, (slot, program): (u8, u32), at: Cycle, now: Cycle) {
        self.port.data_arrives((slot, program), at);
        self.changed(now);
    }

    /// The scheduler, at the end of a quantum.
    pub(crate) fn end_quantum(&mut self, now: Cycle) -> &mut dyn Scheduler {
        self.changed(now);
        self.accesses.end_quantum()
    }

    /// Discards the next command after a change.
    #[inline]
    fn changed(&mut self, now: Cycle) {
        self.from = self.from.max(now);
        self.next = PlannedCommand::decision(self.from);
    }

    /// Wake-up: the first cycle at which the channel may issue a command or change its state; exact
    /// once it has decided.
    #[inline]
    pub(crate) fn wakes_at(&self) -> Cycle {
        self.next.at
    }

    /// Lower bound of the cycle in which a command of a thread affects the front end.
    #[inline]
    pub(crate) fn affects_from(&self) -> Cycle {
        self.next.affects_from
    }

    /// Runs alone: issues commands up to the horizon, or to the first command that the front end must
    /// know. `done` takes the requests whose completion is not reported.
    #[inline(never)]
    pub(crate) fn advance(
        &mut self,
        horizon: &Horizon,
        done: &mut stats::accesses::AccessTally,
        sink: &mut impl EventSink,
    ) -> Option<(Cycle, IssueEffect)> {
        while self.next.at < horizon.commands {
            let at = self.next.at;
            if matches!(self.next.choice, Choice::Nothing) {
                self.decide();
                continue;
            }
            let outcome = self.issue(horizon, done, sink);
            if !matches!(outcome, IssueEffect::None) {
                return Some((at, outcome));
            }
        }
        None
    }

    /// Decides the next command, from the wake-up on: the first of the offers of four sources.
    #[inline]
    fn decide(&mut self) {
        let from = self.next.at;
        self.from = from;
        let Some((again_at, usable)) = self.only_accesses(from) else { return self.decide_among_sources(from) };
        self.accesses.choose_mode(&self.queues, self.all);
        let (device, queues) = (&self.device, &self.queues);
        let view = View { device, queues, from, free: usable, must: BankSet::EMPTY };
        let (bank, at) = self.accesses.first(&view);
        // A change in a cycle affects the command of that cycle.
        self.next = match bank {
            Some(bank) if at < again_at => {
                PlannedCommand { at, choice: Choice::Access(bank), run_until: Cycle::ZERO, affects_from: at }
            }
            _ => PlannedCommand::decision(again_at),
        };
    }

    /// Until when no source but the accesses has an offer, and the banks that they can use; `None` if
    /// others must be asked.
    #[inline]
    fn only_accesses(&self, from: Cycle) -> Option<(Cycle, BankSet)> {
        let due = self.maintenance.due_for_any_use(from).filter(|_| self.port.is_empty() && !self.others_offer)?;
        Some((due.again_at, due.usable))
    }

    /// [`Self::decide`], if other sources than the accesses may have an offer.
    #[inline(never)]
    fn decide_among_sources(&mut self, from: Cycle) {
        let order_until = self.accesses.update_order(from, &self.queues).min(self.device.advance_to(from));
        if !self.port.is_empty() {
            self.update_threads(from);
        }
        let Due { command, again_at, usable, must, .. } = *self.due(from);
        let free = self.free();
        self.accesses.choose(&self.queues, free);
        let (device, queues) = (&self.device, &self.queues);
        let view = View { device, queues, from, free: free.intersection(usable), must };
        let again_at = again_at.min(order_until);
        self.next = first_of_all(&mut self.port, &mut self.accesses, view, command, self.row_policy, again_at);
    }

    /// Banks that no thread holds.
    #[inline]
    fn free(&self) -> BankSet {
        self.all.without(self.port.held())
    }

    #[inline(always)]
    fn due(&mut self, from: Cycle) -> &Due {
        let (queues, port) = (&self.queues, &self.port);
        let queued = || queues.pending(AccessKind::Read).union(queues.pending(AccessKind::Write));
        self.maintenance.due(&self.device, from, || (queued().union(port.remaining()), port.held()))
    }

    /// Preempts and begins threads.
    #[inline(never)]
    fn update_threads(&mut self, now: Cycle) {
        let Due { urgent, must, .. } = *self.due(now);
        let unused = self.accesses.unused();
        let situation = Situation { reads_issued: self.reads_issued, unused, urgent, must };
        let around = Around { device: &self.device, queues: &self.queues };
        for bank in self.port.update(now, situation, &around) {
            self.bank_released(bank, now);
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
        figures.blocked_by_copies += blocked_by_copies;
        let (for_reads, for_refresh) = self.port.take_preempted();
        figures.preempted_for_reads += for_reads;
        figures.preempted_for_refresh += for_refresh;
        figures.write_drains += self.accesses.take_drains();
        figures.read_queue += self.queues.take_depth(AccessKind::Read, to);
        figures.write_queue += self.queues.take_depth(AccessKind::Write, to);
    }

    /// Records that a thread released a bank.
    fn bank_released(&mut self, bank: BankIndex, now: Cycle) {
        self.accesses.released(bank);
        let since = self.port.released(bank, now);
        if let Some(read) = self.queues.oldest(AccessKind::Read, bank) {
            let rank = self.topology.bank(bank).rank;
            let blocked_from = read.stamp().cycle().max(since).max(self.usable_from[rank]);
            let ready = self.device.precharged(bank);
            self.counters.blocked_by_copies.record(ready.since(blocked_from));
        }
    }
}

/// The first of the offers of all four sources. `command` is that of maintenance, with its rank;
/// `again_at` is when time alone requires another decision.
#[inline(never)]
fn first_of_all(
    port: &mut CopyPort,
    accesses: &mut Accesses,
    view: View<'_>,
    command: Option<(Cycle, u8)>,
    row_policy: RowPolicy,
    again_at: Cycle,
) -> PlannedCommand {
    let again_at = again_at.min(port.next_term_end());
    let (mut first, mut run_until) = offer_with_threads(port, accesses, &view);
    let mut consider = |other: Offer| {
        run_until = run_until.min(other.at);
        if other.precedes(&first) {
            first = other;
        }
    };
    if let Some((at, rank)) = command {
        consider(Offer::new(at, Tier::Maintenance, Choice::Maintenance(rank)));
    }
    if row_policy.closes_unneeded() {
        consider(row_timeout::offer(&view, row_policy));
    }
    let Offer { at, choice, .. } = first;
    let run_until = run_until.min(again_at);
    if at >= again_at {
        return PlannedCommand::decision(again_at);
    }
    let affects_from = match choice {
        Choice::Column(slot) if view.topology().channels > 1 => {
            let pitch = view.device.pitch(port.column_kind(slot));
            port.steady_until(slot, at, pitch).min(run_until).max(at)
        }
        _ => at,
    };
    PlannedCommand { at, choice, run_until, affects_from }
}

/// The first command of threads and accesses, and the end of the run of columns that it may begin.
fn offer_with_threads(port: &mut CopyPort, accesses: &mut Accesses, view: &View<'_>) -> (Offer, Cycle) {
    let queued = view.queues.pending(AccessKind::Read).union(view.queues.pending(AccessKind::Write));
    let is_any_queued = queued.intersects(view.free);
    let claim = if is_any_queued && !port.columns().is_empty() { accesses.claim(view) } else { None };
    let threads = port.offer(view, claim.as_ref(), |source| accesses.copy_key(source));
    let ThreadOffers { mut first, mut others_at, older } = threads;
    if is_any_queued {
        let (access, access_at) = accesses.offer_among(view, &older);
        first = first.or(access);
        others_at = others_at.min(access_at);
    }
    let is_lead = |slot| older.lead.is_some_and(|lead| lead.slot == slot);
    let run_until = match first.choice {
        Choice::Column(slot) if is_lead(slot) && port.keeps_turns(slot, first.at, claim.is_some()) => others_at,
        _ => Cycle::ZERO,
    };
    (first, run_until)
}

/// State of the channel that the threads use.
struct Around<'a> {
    device: &'a Device,
    queues: &'a Queues,
}

impl Surroundings for Around<'_> {
    fn open_row(&self, bank: BankIndex) -> Option<Row> {
        self.device.row_in(bank)
    }

    fn oldest_read(&self, bank: BankIndex) -> Option<Cycle> {
        self.queues.oldest(AccessKind::Read, bank).map(|read| read.stamp().cycle())
    }
}
