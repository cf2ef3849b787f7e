//! What one run under one policy did, in the fields that JSON and CSV give and `docs/output.md` documents.

use std::collections::BTreeMap;

use dram_spec::{Clock, Cycles};
use energy::{Cause, EnergyReport};
use memctrl::{Histogram, Stats};
use serde::Serialize;

/// The version of the JSON and CSV fields. It rises when a field changes its name, unit or meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// Latency of a set of operations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LatencyNs {
    /// How many.
    pub count: u64,
    /// ns.
    pub mean: f64,
    /// ns.
    pub p50: f64,
    /// ns.
    pub p99: f64,
    /// ns.
    pub max: f64,
}

impl LatencyNs {
    fn new(histogram: &Histogram, clock: Clock) -> LatencyNs {
        LatencyNs {
            count: histogram.count(),
            mean: histogram.mean() * clock.t_ck_ns(),
            p50: clock.ns(histogram.percentile(50)),
            p99: clock.ns(histogram.percentile(99)),
            max: clock.ns(histogram.max()),
        }
    }
}

/// How many segments a mechanism served, and why nothing better did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SegmentRow {
    /// `channel`, `psm`, `psm2` or `fpm`.
    pub mechanism: &'static str,
    /// Why no better mechanism: a planner's reason, `policy`, or `fastest`.
    pub reason: &'static str,
    /// Segments.
    pub count: u64,
    /// Bytes of operations.
    pub bytes: u64,
}

/// An operation set against copies over the channel on an idle memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The channel's latency, clocks.
    pub latency_cycles: u64,
    /// The channel's energy above standby, nJ.
    pub energy_nj: f64,
    /// Channel latency / this latency.
    pub speedup: f64,
    /// Channel energy / this energy.
    pub energy_ratio: f64,
}

/// One operation of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OperationRow {
    /// `copy 4 KiB same-subarray`.
    pub label: String,
    /// How its segments were served: `fpm`, or `fpm+channel`.
    pub mechanism: String,
    /// Why nothing better did, one reason a mechanism used.
    pub reasons: Vec<String>,
    /// What the user could change to make a better mechanism possible.
    pub mend: Vec<String>,
    /// When it arrived.
    pub arrival_cycle: u64,
    /// From its first command to its end.
    pub latency_cycles: u64,
    /// The same in ns.
    pub latency_ns: f64,
    /// Above standby.
    pub energy_nj: f64,
    /// The same by cause.
    pub energy_by_cause_nj: BTreeMap<String, f64>,
    /// Over the memory channel.
    pub channel_bytes: u64,
    /// Against the channel copy of the same pair of addresses.
    pub against_same_pair: Option<Comparison>,
    /// Against the channel copy of a pair in one bank: the published baseline's pair.
    pub against_same_bank: Option<Comparison>,
}

/// What the second opinions found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// Under which rules the stream was judged: `jedec` or `rowclone`.
    pub dialect: &'static str,
    /// Violations of those rules.
    pub violations: u64,
    /// The first of them.
    pub first_violations: Vec<String>,
    /// Whether the memory is what a flat array would hold.
    pub memory_equal: bool,
    /// Where it first is not.
    pub memory_mismatch: Option<String>,
}

impl CheckReport {
    /// Whether nothing was found.
    pub fn passed(&self) -> bool {
        self.violations == 0 && self.memory_equal
    }
}

/// What a recorded trace held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TraceReport {
    /// The file, as the scenario names it.
    pub file: String,
    /// `C` records played.
    pub copies: u64,
    /// `S` records played.
    pub fills: u64,
    /// `R` records: counted, not played.
    pub accesses: u64,
    /// Of those, with an address outside the memory.
    pub accesses_outside: u64,
    /// Records left out: outside the memory.
    pub skipped_outside: u64,
    /// Records left out: on a reserved row.
    pub skipped_reserved: u64,
    /// The first records left out, by line and reason.
    pub skipped: Vec<String>,
}

/// All that a report is made from.
#[derive(Clone, Debug)]
pub struct RunInputs<'a> {
    /// The policy's name.
    pub policy: &'static str,
    /// The scenario's name.
    pub scenario: &'a str,
    /// One line about the system.
    pub system: &'a str,
    /// The seed.
    pub seed: u64,
    /// The current set's name.
    pub currents: &'a str,
    /// The simulated clock.
    pub clock: Clock,
    /// What the controller counted.
    pub stats: &'a Stats,
    /// What the account priced.
    pub energy: &'a EnergyReport,
    /// The operations, where they are listed one by one.
    pub operations: Vec<OperationRow>,
    /// The trace, where there is one.
    pub trace: Option<TraceReport>,
    /// The second opinions, where they were asked for.
    pub check: Option<CheckReport>,
    /// Copy activations that the chips dropped.
    pub dropped_activations: u64,
    /// What a reader should know before believing a number.
    pub warnings: Vec<String>,
}

/// What one run did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunReport {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// `channel`, `fpm`, `psm` or `rule`.
    pub policy: &'static str,
    /// The scenario file's name.
    pub scenario: String,
    /// One line about the system.
    pub system: String,
    /// The seed of contents and written data.
    pub seed: u64,
    /// The current set.
    pub currents: String,
    /// When everything had drained, clocks.
    pub makespan_cycles: u64,
    /// The same in ns.
    pub makespan_ns: f64,
    /// Operations done.
    pub operations_done: u64,
    /// Latency of copies and initialisations.
    pub copy_latency_ns: LatencyNs,
    /// Latency of reads and writes.
    pub access_latency_ns: LatencyNs,
    /// Everything, background and refresh included, nJ.
    pub energy_nj: f64,
    /// Above standby: no background, no refresh, nJ.
    pub energy_operation_nj: f64,
    /// All of `energy_nj`, by cause.
    pub energy_by_cause_nj: BTreeMap<String, f64>,
    /// I/O and termination, of `energy_operation_nj`; nothing where that is nothing.
    pub channel_share_of_operation_energy: Option<f64>,
    /// Bytes over the memory channels.
    pub channel_bytes: u64,
    /// Commands by kind.
    pub commands: BTreeMap<&'static str, u64>,
    /// Copy activations that the chips dropped.
    pub dropped_activations: u64,
    /// How copies and initialisations were served.
    pub segments: Vec<SegmentRow>,
    /// The operations one by one, where a scenario lists them.
    pub operations: Vec<OperationRow>,
    /// What a recorded trace held.
    pub trace: Option<TraceReport>,
    /// What `--check` found.
    pub check: Option<CheckReport>,
    /// What a reader should know before believing a number.
    pub warnings: Vec<String>,
}

impl RunReport {
    /// Puts the results in their units.
    pub fn new(inputs: RunInputs<'_>) -> RunReport {
        let RunInputs { stats, energy, clock, .. } = inputs;
        let end = Cycles(stats.end.0);
        let segments = stats.whole.segments.0.iter().map(|(&(mechanism, reason), segments)| SegmentRow {
            mechanism: mechanism.name(),
            reason,
            count: segments.count,
            bytes: segments.bytes,
        });
        let commands = &stats.whole.commands;
        RunReport {
            schema_version: SCHEMA_VERSION,
            policy: inputs.policy,
            scenario: inputs.scenario.to_string(),
            system: inputs.system.to_string(),
            seed: inputs.seed,
            currents: inputs.currents.to_string(),
            makespan_cycles: end.0,
            makespan_ns: clock.ns(end),
            operations_done: stats.whole.requests,
            copy_latency_ns: LatencyNs::new(&stats.whole.copy_latency, clock),
            access_latency_ns: LatencyNs::new(&stats.whole.read_latency, clock),
            energy_nj: energy.total().nj(),
            energy_operation_nj: energy.operation().nj(),
            energy_by_cause_nj: by_cause(energy),
            channel_share_of_operation_energy: energy.channel_share(),
            channel_bytes: stats.whole.channel_bytes,
            commands: BTreeMap::from([
                ("ACT", commands.activates),
                ("ACT copy", commands.copy_activates),
                ("ACT dropped", commands.dropped_activates),
                ("PRE", commands.precharges),
                ("RD", commands.reads),
                ("WR", commands.writes),
                ("TRANSFER", commands.transfers),
                ("REF", commands.refreshes),
            ]),
            dropped_activations: inputs.dropped_activations,
            segments: segments.collect(),
            operations: inputs.operations,
            trace: inputs.trace,
            check: inputs.check,
            warnings: inputs.warnings,
        }
    }
}

/// Every cause that energy was spent on, nJ, by its key: `copy_activation`, `read_io`.
pub fn by_cause(energy: &EnergyReport) -> BTreeMap<String, f64> {
    let spent = energy.by_cause().iter().filter(|(_, energy)| energy.0 != 0.0);
    spent.map(|(cause, energy)| (cause_key(*cause), energy.nj())).collect()
}

/// A cause as a key of JSON and CSV.
pub fn cause_key(cause: Cause) -> String {
    let words = cause.name().replace("I/O", "io").replace(',', "");
    words.replace([' ', '-'], "_")
}
