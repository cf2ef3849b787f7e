//! What one run under one policy did, in the fields that JSON and CSV give and `docs/output.md` documents.

use std::collections::BTreeMap;

use dram_spec::{Clock, Cycles};
use memctrl::stats::Parts;
use memctrl::stats::{PartTally, Stats};
use rowclone::Mechanism;
use serde::Serialize;

use crate::allocator_report::AllocatorReport;
use crate::figures::{FiguresReport, Measured, Stretch};

/// The version of the JSON and CSV fields. It rises when a field changes its name, unit, type or meaning.
pub const SCHEMA_VERSION: u32 = 3;

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
    /// Of a copy or initialisation from its first command, of a read or write from its arrival, to its end.
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

/// The requests that were waiting to be taken by the controller when the last one arrived. Where the offered load exceeds the service
/// rate, they grow with the length of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Requests of the run.
    pub offered: u64,
    /// How many of them had arrived when the last one arrived, and were taken later. Above 8000, at most 0.02 % too large.
    pub requests: u64,
    /// From the arrival of the last request until it was taken.
    pub wait: Cycles,
}

/// What a recorded trace held.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceReport {
    /// The file, as the scenario names it.
    pub file: String,
    /// All records.
    pub records: u64,
    /// Records that were left out, in whole or in part.
    pub skipped_records: u64,
    /// The same as a share of all records, 0 to 1.
    pub skipped_share: f64,
    /// Records of reads and of writes.
    pub accesses: u64,
    /// Reads of lines played.
    pub reads: u64,
    /// Writes of lines played that are records of their own.
    pub writes: u64,
    /// Writebacks of lines played.
    pub writebacks: u64,
    /// Records of copies played.
    pub copies: u64,
    /// Records of zeroings and fills played.
    pub fills: u64,
    /// Lines of accesses left out: outside the memory.
    pub accesses_outside: u64,
    /// Lines of accesses left out: on a reserved row.
    pub accesses_reserved: u64,
    /// Copies and fills left out: outside the memory.
    pub skipped_outside: u64,
    /// Copies and fills left out: on a reserved row.
    pub skipped_reserved: u64,
    /// The first records left out, by line and reason.
    pub skipped: Vec<String>,
    /// What became of its pages, where an allocator placed them.
    pub pages: Option<TracePages>,
}

/// The records of a trace, as tables for programs give them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceTally {
    /// All records.
    pub records: u64,
    /// Records that were left out, in whole or in part.
    pub skipped_records: u64,
}

impl TraceReport {
    /// Its records.
    pub const fn tally(&self) -> TraceTally {
        TraceTally { records: self.records, skipped_records: self.skipped_records }
    }
}

impl TraceTally {
    /// The share of the records that were left out, 0 to 1.
    pub fn skipped_share(self) -> f64 {
        self.skipped_records as f64 / self.records.max(1) as f64
    }
}

/// What became of the pages of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TracePages {
    /// Frames handed out to pages at their first appearance, other than as a whole destination.
    pub appeared: u64,
    /// Frames handed out to destinations of copies.
    pub copied: u64,
    /// Frames handed out to destinations of fills.
    pub filled: u64,
    /// Frames freed: the earlier ones of destinations.
    pub freed: u64,
    /// Copies of parts of pages, and within one range: not in the allocator's tallies.
    pub copies_in_part: u64,
    /// Fills of parts of pages: not in the tallies.
    pub fills_in_part: u64,
    /// Fills of whole pages with another value than zero: not in the tallies.
    pub fills_of_other_values: u64,
}

/// All that a report is made from.
#[derive(Clone, Debug)]
pub struct RunInputs<'a> {
    /// The policy's name.
    pub policy: &'static str,
    /// Who placed the pages, where pages are placed: `as-recorded`, or an allocator.
    pub placement: Option<&'static str>,
    /// The scenario's name.
    pub scenario: &'a str,
    /// One line about the system.
    pub system: &'a str,
    /// Half a line about its controller.
    pub controller: &'a str,
    /// The seed.
    pub seed: u64,
    /// The current set's name.
    pub currents: &'a str,
    /// The command line that runs the scenario again.
    pub rerun: &'a str,
    /// The simulated clock.
    pub clock: Clock,
    /// Channels of the system.
    pub channels: u8,
    /// What the controller counted.
    pub stats: &'a Stats,
    /// Energy and bus use, from where the figures begin.
    pub measured: &'a Measured,
    /// The same for each epoch of `stats`.
    pub measured_epochs: &'a [Measured],
    /// The requests that were waiting when the last one arrived.
    pub backlog: Backlog,
    /// How copies, and how initialisations, were served, each by its name.
    pub served: [(&'static str, &'a PartTally); 2],
    /// The operations, where they are listed one by one.
    pub operations: Vec<OperationRow>,
    /// The allocator, where one places pages.
    pub allocator: Option<AllocatorReport>,
    /// The trace, where there is one.
    pub trace: Option<TraceReport>,
    /// The second opinions, where they were asked for.
    pub check: Option<CheckReport>,
    /// Copy activations that the chips dropped.
    pub dropped_activations: u64,
    /// What a reader should know before believing a number.
    pub warnings: Vec<String>,
}

/// How many segments of copies, or of initialisations, a mechanism served, and why nothing better did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ServedRow {
    /// `copy`, or `init`.
    pub operation: &'static str,
    /// `channel`, `psm`, `psm2` or `fpm`.
    pub mechanism: &'static str,
    /// Why no better mechanism: a planner's reason, `policy`, or `fastest`.
    pub reason: &'static str,
    /// Segments.
    pub count: u64,
    /// Bytes of operations.
    pub bytes: u64,
    /// The same as a share of all bytes of such operations, 0 to 1.
    pub share_of_bytes: f64,
}

impl ServedRow {
    /// The rows of one kind of operation.
    pub fn of(operation: &'static str, tally: &PartTally) -> Vec<ServedRow> {
        let all: u64 = tally.0.values().map(|segments| segments.bytes).sum();
        let row = |(&(mechanism, reason), segments): (&(Mechanism, &'static str), &Parts)| ServedRow {
            operation,
            mechanism: mechanism.name(),
            reason,
            count: segments.count,
            bytes: segments.bytes,
            share_of_bytes: segments.bytes as f64 / all as f64,
        };
        tally.0.iter().map(row).collect()
    }
}

/// A stretch of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EpochReport {
    /// Its first cycle.
    pub from_cycle: u64,
    /// The cycle after its last.
    pub to_cycle: u64,
    /// What was done in it.
    #[serde(flatten)]
    pub figures: FiguresReport,
}

impl EpochReport {
    /// The epochs of a run.
    ///
    /// # Panics
    /// If there is not a measurement for each epoch.
    pub fn all(stats: &Stats, measured: &[Measured], clock: Clock, channels: u8) -> Vec<EpochReport> {
        assert_eq!(stats.epochs.len(), measured.len(), "a measurement for each epoch");
        let stretch = |cycles| Stretch { cycles, clock, channels };
        let epochs = stats.epochs.iter().zip(measured).map(|(epoch, measured)| EpochReport {
            from_cycle: epoch.from.0,
            to_cycle: epoch.to.0,
            figures: FiguresReport::new(&epoch.figures, measured, stretch(epoch.to.since(epoch.from))),
        });
        epochs.collect()
    }
}

/// What one run did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunReport {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The policy's name.
    pub policy: &'static str,
    /// Who placed the pages, where pages are placed: `as-recorded`, or an allocator.
    pub placement: Option<&'static str>,
    /// The scenario file's name.
    pub scenario: String,
    /// One line about the system.
    pub system: String,
    /// Half a line about its controller.
    pub controller: String,
    /// The seed of contents and written data.
    pub seed: u64,
    /// The current set.
    pub currents: String,
    /// The command line that runs the scenario again, under all its policies.
    pub rerun: String,
    /// When everything had drained, clocks.
    pub makespan_cycles: u64,
    /// The same in ns.
    pub makespan_ns: f64,
    /// Where the figures begin: the warm-up before it is left out.
    pub from_cycle: u64,
    /// Requests that had arrived when the last one arrived, and that the controller took later.
    pub backlog_requests: u64,
    /// From the arrival of the last request until the controller took it, clocks.
    pub backlog_wait_cycles: u64,
    /// The same in ns.
    pub backlog_wait_ns: f64,
    /// What was done from `from_cycle` to the end.
    #[serde(flatten)]
    pub figures: FiguresReport,
    /// The same by epochs, where they were asked for.
    pub epochs: Vec<EpochReport>,
    /// How copies, and how initialisations, were served.
    pub served: Vec<ServedRow>,
    /// Copy activations that the chips dropped.
    pub dropped_activations: u64,
    /// The operations one by one, where a scenario lists them.
    pub operations: Vec<OperationRow>,
    /// What the allocator did that placed the pages.
    pub allocator: Option<AllocatorReport>,
    /// What a recorded trace held.
    pub trace: Option<TraceReport>,
    /// What `--check` found.
    pub check: Option<CheckReport>,
    /// What a reader should know before believing a number.
    pub warnings: Vec<String>,
}

impl RunReport {
    /// Puts the results in their units.
    ///
    /// # Panics
    /// If there is not a measurement for each epoch.
    pub fn new(inputs: RunInputs<'_>) -> RunReport {
        let RunInputs { stats, clock, channels, measured_epochs, .. } = inputs;
        let end = Cycles(stats.end.0);
        let whole = Stretch { cycles: stats.end.since(stats.from), clock, channels };
        RunReport {
            schema_version: SCHEMA_VERSION,
            policy: inputs.policy,
            placement: inputs.placement,
            scenario: inputs.scenario.to_string(),
            system: inputs.system.to_string(),
            controller: inputs.controller.to_string(),
            seed: inputs.seed,
            currents: inputs.currents.to_string(),
            rerun: inputs.rerun.to_string(),
            makespan_cycles: end.0,
            makespan_ns: clock.ns(end),
            from_cycle: stats.from.0,
            backlog_requests: inputs.backlog.requests,
            backlog_wait_cycles: inputs.backlog.wait.0,
            backlog_wait_ns: clock.ns(inputs.backlog.wait),
            figures: FiguresReport::new(&stats.whole, inputs.measured, whole),
            epochs: EpochReport::all(stats, measured_epochs, clock, channels),
            served: inputs.served.iter().flat_map(|(operation, tally)| ServedRow::of(operation, tally)).collect(),
            dropped_activations: inputs.dropped_activations,
            operations: inputs.operations,
            allocator: inputs.allocator,
            trace: inputs.trace,
            check: inputs.check,
            warnings: inputs.warnings,
        }
    }

    /// What sets this result apart from the others of a scenario: `rule`, or `rule/buddy`.
    pub fn label(&self) -> String {
        match self.placement {
            Some(placement) => format!("{}/{placement}", self.policy),
            None => self.policy.to_string(),
        }
    }
}
