//! Figures of a time interval, of the whole run or of an epoch, with units in their names.

use std::collections::BTreeMap;

use dram_spec::{Clock, CommandKind, Cycles, Picojoule};
use energy::{Cause, EnergyReport};
use memctrl::policy::copy::FIRST_CHOICE;
use memctrl::stats::{Depth, Figures, Histogram, Outcomes};
use serde::Serialize;

use crate::distribution::Distribution;
use crate::metered::Measured;

/// Row-buffer outcomes of accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RowOutcomes {
    /// Accesses for which neither ACT nor PRE was issued.
    pub row_hits: u64,
    /// Accesses for which an ACT and no PRE was issued.
    pub row_misses: u64,
    /// Accesses for which a PRE was issued.
    pub row_conflicts: u64,
}

impl RowOutcomes {
    /// Number of accesses.
    pub const fn total(&self) -> u64 {
        self.row_hits + self.row_misses + self.row_conflicts
    }
}

impl From<Outcomes> for RowOutcomes {
    fn from(outcomes: Outcomes) -> RowOutcomes {
        let Outcomes { hits, misses, conflicts } = outcomes;
        RowOutcomes { row_hits: hits, row_misses: misses, row_conflicts: conflicts }
    }
}

/// Occupancy of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct QueueDepth {
    /// Mean entries in use, over time and channels; none in an empty interval.
    pub mean_entries: Option<f64>,
    /// Maximum of the entries in use at the end of a cycle; none in an empty interval.
    pub max_entries: Option<u64>,
}

/// Parts served by a mechanism for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PartRow {
    /// Name of the mechanism ([`rowclone::MECHANISMS`]).
    pub mechanism: &'static str,
    /// Reason against the first mechanism that the policy admits; none where that mechanism served the parts.
    pub reason: Option<&'static str>,
    /// Number of parts.
    pub count: u64,
    /// Bytes of these parts.
    pub bytes: u64,
}

/// A time interval, its clock and its channels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interval {
    /// Length.
    pub(crate) cycles: Cycles,
    /// Clock.
    pub(crate) clock: Clock,
    /// Channels of the system.
    pub(crate) channels: u8,
}

impl Interval {
    /// A count relative to the clocks of `at_once` parallel resources; `None` for an empty interval.
    fn share(&self, count: u64, at_once: u8) -> Option<f64> {
        let whole = self.cycles.0 * u64::from(at_once);
        (whole > 0).then(|| count as f64 / whole as f64)
    }

    /// Bandwidth in bytes per ns, which is 10^9 bytes per second.
    fn bandwidth(&self, bytes: u64) -> Option<f64> {
        (self.cycles.0 > 0).then(|| bytes as f64 / self.clock.ns(self.cycles))
    }

    fn depth(&self, depth: &Depth, queues: u8) -> QueueDepth {
        let Depth { entry_cycles, most } = *depth;
        QueueDepth { mean_entries: self.share(entry_cycles, queues), max_entries: (self.cycles.0 > 0).then_some(most) }
    }
}

/// Figures of a time interval. `docs/output.md` defines each.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FiguresReport {
    /// Requests done: reads, writes, copies, initializations.
    pub requests: u64,
    /// RD of queued accesses, lines.
    pub reads: RowOutcomes,
    /// WR of queued accesses, lines.
    pub writes: RowOutcomes,
    /// Lines of reads that were answered from a queued write, without a command.
    pub forwarded: u64,
    /// Latency of reads, ns.
    pub read_latency_ns: Distribution<f64>,
    /// Latency of reads, clocks.
    pub read_latency_cycles: Distribution<u64>,
    /// Latency of writes, ns.
    pub write_latency_ns: Distribution<f64>,
    /// Latency of writes, clocks.
    pub write_latency_cycles: Distribution<u64>,
    /// Latency of copies and initializations, from their first command until their last bank can take an ACT again, ns.
    pub copy_latency_ns: Distribution<f64>,
    /// `copy_latency_ns` in clocks.
    pub copy_latency_cycles: Distribution<u64>,
    /// Response of copies and initializations, from their arrival until their last bank can take an ACT again, ns.
    pub copy_response_ns: Distribution<f64>,
    /// `copy_response_ns` in clocks.
    pub copy_response_cycles: Distribution<u64>,
    /// Time for which only a part delayed the oldest waiting read of a bank, ns: one value per release of a bank by a
    /// thread while a read waited for it. It ends when the bank can take an ACT again. It begins with the latest of the
    /// read's arrival in the queue, the start of the part, and the end of the rank's last REF, PDX or SRX (0 if that is
    /// later).
    pub blocked_by_copies_ns: Distribution<f64>,
    /// `blocked_by_copies_ns` in clocks.
    pub blocked_by_copies_cycles: Distribution<u64>,
    /// Threads preempted for a read.
    pub preempted_for_reads: u64,
    /// Threads preempted for a refresh.
    pub preempted_for_refresh: u64,
    /// Write drains begun.
    pub write_drains: u64,
    /// ACT of accesses whose row was closed before any RD or WR.
    pub unused_activates: u64,
    /// Bytes over the memory channels.
    pub channel_bytes: u64,
    /// Channel bytes per time, 10^9 bytes per second; none in an empty interval.
    pub bandwidth_gb_s: Option<f64>,
    /// Share of the time in which a command bus was in use (a TRANSFER takes two clocks), 0 to 1, as the mean over the
    /// channels; none in an empty interval.
    pub command_bus_share: Option<f64>,
    /// Share of the time in which data was on a data bus (four clocks per RD, from CL after it, and per WR, from CWL
    /// after it), 0 to 1, as the mean over the channels; none in an empty interval. A burst across the end of an epoch
    /// counts in both, by its clocks.
    pub data_bus_share: Option<f64>,
    /// Entries of the read queue in use on a channel.
    pub read_queue: QueueDepth,
    /// Entries of the write queue in use on a channel.
    pub write_queue: QueueDepth,
    /// Copies and initializations in progress, over all channels.
    pub copy_queue: QueueDepth,
    /// Number by kind: `ACT`, `ACT copy`, `ACT dropped`, `PRE`, `RD`, `WR`, `TRANSFER`, `RBM hop` (hops of RBMs, if
    /// there are any), `REF`, `REFsb`, `PDE` (into power-down), `SRE` (self-refresh), `PDX or SRX` (out of either).
    pub commands: BTreeMap<&'static str, u64>,
    /// Parts of copies and initializations by mechanism and reason.
    pub parts: Vec<PartRow>,
    /// Total energy, nJ; none without a current set, as every energy.
    pub energy_nj: Option<f64>,
    /// Dynamic energy (without background and refresh), nJ.
    pub dynamic_energy_nj: Option<f64>,
    /// `energy_nj` by cause; causes without energy are left out, and those that are not modeled (I/O of DDR4 and DDR5)
    /// are null. Keys: `activate`, `copy_activation`, `read`, `write`, `transfer`, `mechanism_commands`, `read_io`,
    /// `write_io`, `idle_rank_io`, `refresh`, `active_standby`, `precharged_standby`, `active_power_down`,
    /// `precharge_power_down_fast_exit`, `precharge_power_down_slow_exit`, `self_refresh`.
    pub energy_by_cause_nj: Option<EnergyByCause>,
    /// Sum of the three I/O causes, divided by `dynamic_energy_nj`, 0 to 1; none if `dynamic_energy_nj` is 0, or I/O is
    /// not modeled.
    pub io_share_of_dynamic_energy: Option<f64>,
}

/// Figures of an empty interval: the counts of all commands are 0.
impl Default for FiguresReport {
    fn default() -> FiguresReport {
        let no_time = Interval { cycles: Cycles(0), clock: Clock::of_rate(1), channels: 1 };
        FiguresReport::new(&Figures::default(), &Measured::default(), no_time)
    }
}

impl FiguresReport {
    /// Converts the counts and measurements of an interval to its units.
    pub(crate) fn new(figures: &Figures, measured: &Measured, interval: Interval) -> FiguresReport {
        let Measured { energy, buses } = measured;
        let Interval { clock, channels, .. } = interval;
        let Figures { read_latency: read, write_latency: write, copy_latency: copy, .. } = figures;
        let Figures { copy_response: response, blocked_by_copies: held, .. } = figures;
        let ns = |histogram: &Histogram| Distribution::ns(histogram, clock);
        let parts = figures.parts.iter().map(|(mechanism, reason, parts)| PartRow {
            mechanism: mechanism.name(),
            reason: reason_of(reason),
            count: parts.count,
            bytes: parts.bytes,
        });
        FiguresReport {
            requests: figures.requests,
            reads: figures.reads.into(),
            writes: figures.writes.into(),
            forwarded: figures.forwarded,
            read_latency_ns: ns(read),
            read_latency_cycles: Distribution::cycles(read),
            write_latency_ns: ns(write),
            write_latency_cycles: Distribution::cycles(write),
            copy_latency_ns: ns(copy),
            copy_latency_cycles: Distribution::cycles(copy),
            copy_response_ns: ns(response),
            copy_response_cycles: Distribution::cycles(response),
            blocked_by_copies_ns: ns(held),
            blocked_by_copies_cycles: Distribution::cycles(held),
            preempted_for_reads: figures.preempted_for_reads,
            preempted_for_refresh: figures.preempted_for_refresh,
            write_drains: figures.write_drains,
            unused_activates: figures.unused_activates,
            channel_bytes: figures.channel_bytes,
            bandwidth_gb_s: interval.bandwidth(figures.channel_bytes),
            command_bus_share: interval.share(buses.command.0, channels),
            data_bus_share: interval.share(buses.data.0, channels),
            read_queue: interval.depth(&figures.read_queue, channels),
            write_queue: interval.depth(&figures.write_queue, channels),
            copy_queue: interval.depth(&figures.copy_queue, 1),
            commands: CommandKind::ALL
                .into_iter()
                .map(|kind| (kind, figures.commands[kind]))
                .filter(|&(kind, count)| count > 0 || kind.is_in_all_standards())
                .map(|(kind, count)| (kind.name(), count))
                .collect(),
            parts: parts.collect(),
            energy_nj: energy.as_ref().map(|energy| energy.total().nj()),
            dynamic_energy_nj: energy.as_ref().map(|energy| energy.operation().nj()),
            energy_by_cause_nj: energy.as_ref().map(by_cause),
            io_share_of_dynamic_energy: energy.as_ref().and_then(EnergyReport::channel_share),
        }
    }

    /// Mean latencies of reads, copies (with initializations) and writes, ns.
    pub fn mean_latencies_ns(&self) -> [Option<f64>; 3] {
        [self.read_latency_ns.mean, self.copy_latency_ns.mean, self.write_latency_ns.mean]
    }

    /// Whether the interval has reads or writes.
    pub const fn has_demand(&self) -> bool {
        self.read_latency_cycles.count + self.write_latency_cycles.count + self.forwarded > 0
            || self.reads.total() + self.writes.total() > 0
    }
}

/// The reason in results: none where the best mechanism served.
pub(crate) fn reason_of(reason: &'static str) -> Option<&'static str> {
    (reason != FIRST_CHOICE).then_some(reason)
}

/// Energy by cause in nJ, by key: `copy_activation`, `read_io`. Causes without energy are left out; those
/// whose energy is not modeled are none.
pub type EnergyByCause = BTreeMap<String, Option<f64>>;

pub(crate) fn by_cause(report: &EnergyReport) -> EnergyByCause {
    let known = |(cause, energy): &(Cause, Picojoule)| {
        let is_modeled = report.is_modeled(*cause);
        (energy.0 != 0.0 || !is_modeled).then(|| (cause_key(*cause), is_modeled.then(|| energy.nj())))
    };
    report.by_cause().iter().filter_map(known).collect()
}

/// Key of a cause in JSON and CSV.
pub fn cause_key(cause: Cause) -> String {
    let words = cause.name().replace("I/O", "io").replace(',', "");
    words.replace([' ', '-'], "_")
}

#[cfg(test)]
mod tests;
