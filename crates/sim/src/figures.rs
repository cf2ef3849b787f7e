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
    /// Accesses whose row was open.
    pub row_hits: u64,
    /// Accesses whose bank was closed.
    pub row_misses: u64,
    /// Accesses to a bank with another row open.
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
    /// Mean entries over time; `None` for an empty interval.
    pub mean_entries: Option<f64>,
    /// Maximum entries; `None` for an empty interval.
    pub max_entries: Option<u64>,
}

/// Parts served by a mechanism for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PartRow {
    /// Name of the mechanism ([`rowclone::MECHANISMS`]).
    pub mechanism: &'static str,
    /// Why no better mechanism: a planner's reason, or the policy's; none where FPM served.
    pub reason: Option<&'static str>,
    /// Parts.
    pub count: u64,
    /// Bytes of operations.
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
    /// Completed requests of all kinds.
    pub requests: u64,
    /// Reads served by a RD.
    pub reads: RowOutcomes,
    /// Writes served by a WR.
    pub writes: RowOutcomes,
    /// Lines of reads forwarded from a queued write.
    pub forwarded: u64,
    /// Latency of reads, from arrival to the end of their data, in ns.
    pub read_latency_ns: Distribution<f64>,
    /// Latency of reads in clocks.
    pub read_latency_cycles: Distribution<u64>,
    /// Latency of writes, from arrival to the end of their data, in ns.
    pub write_latency_ns: Distribution<f64>,
    /// Latency of writes in clocks.
    pub write_latency_cycles: Distribution<u64>,
    /// Latency of copies and initializations, from their first command until their last bank is
    /// ready, in ns.
    pub copy_latency_ns: Distribution<f64>,
    /// Latency of copies and initializations in clocks.
    pub copy_latency_cycles: Distribution<u64>,
    /// Latency of copies and initializations, from arrival until their last bank is ready, in ns.
    pub copy_response_ns: Distribution<f64>,
    /// Latency of copies and initializations from arrival, in clocks.
    pub copy_response_cycles: Distribution<u64>,
    /// How long each blocked read waited for a copy.
    pub blocked_by_copies_ns: Distribution<f64>,
    /// The same in clocks.
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
    /// Bandwidth of all channels together, 10^9 bytes per second.
    pub bandwidth_gb_s: Option<f64>,
    /// Share of the time in which a command bus was in use; mean of the channels.
    pub command_bus_share: Option<f64>,
    /// Share of the time in which a data bus was in use; mean of the channels.
    pub data_bus_share: Option<f64>,
    /// Occupancy of a channel's read queue.
    pub read_queue: QueueDepth,
    /// Occupancy of a channel's write queue.
    pub write_queue: QueueDepth,
    /// Copies and initializations in progress in all channels.
    pub copy_queue: QueueDepth,
    /// Commands by kind.
    pub commands: BTreeMap<&'static str, u64>,
    /// Parts of copies and initializations by mechanism and reason.
    pub parts: Vec<PartRow>,
    /// Total energy in nJ, including background and refresh; none without a current set, as the next two.
    pub energy_nj: Option<f64>,
    /// Dynamic energy (without background and refresh), nJ.
    pub dynamic_energy_nj: Option<f64>,
    /// All of `energy_nj`, by cause.
    pub energy_by_cause_nj: Option<EnergyByCause>,
    /// Share of I/O and termination in `dynamic_energy_nj`, 0 to 1; none if the dynamic energy is 0, or
    /// that of I/O is not modeled.
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
