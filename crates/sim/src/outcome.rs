//! The outcome of an experiment.

use dram_spec::Cycles;
use energy::ByRequest;
use host::ListedOperation;
use memctrl::Completion;
use memctrl::policy::copy::CopyPolicy;
use memctrl::stats::Stats;
use serde::Serialize;

use crate::allocator_report::AllocatorReport;
use crate::backlog::Backlog;
use crate::check_report::CheckReport;
use crate::cores_report::CoresReport;
use crate::epoch_report::EpochReport;
use crate::figures::{FiguresReport, Interval};
use crate::metered::Measurements;
use crate::operations::{OperationRow, operation_row};
use crate::served::{ServedRow, ServedTally};
use crate::system::MemorySystem;
use crate::trace_report::TraceReport;

/// The outcome of an experiment. It serializes as the fields that `docs/output.md` documents,
/// without the values from which they are computed. The default is the outcome of a run without
/// requests.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Outcome {
    /// Copy policy.
    pub policy: &'static str,
    /// Clocks from cycle 0 to the last delivery.
    pub makespan_cycles: u64,
    /// `makespan_cycles` in ns.
    pub makespan_ns: f64,
    /// The latency that `speedup` compares, clocks: of listed operations the sum of their latencies,
    /// of programs on cores the longest region, of other workloads the makespan.
    pub latency_cycles: u64,
    /// `latency_cycles` in ns.
    pub latency_ns: f64,
    /// The latency of the reference / this latency; none without a run of the reference.
    pub speedup: Option<f64>,
    /// The dynamic energy of the reference / this dynamic energy, of programs on cores the energy
    /// per instruction; none without a run of the reference.
    pub energy_ratio: Option<f64>,
    /// Whether requests arrived at given times: these bound the makespan, and mean latencies compare runs.
    pub fixed_arrivals: bool,
    /// Mean latency of reads of the reference / this mean; none without a run of the reference, or without reads.
    pub read_latency_ratio: Option<f64>,
    /// `read_latency_ratio` of writes.
    pub write_latency_ratio: Option<f64>,
    /// `read_latency_ratio` of copies and initializations.
    pub copy_latency_ratio: Option<f64>,
    /// Start of the figures, clocks: the end of the warm-up, or of the run if it ended earlier.
    pub from_cycle: u64,
    /// Requests of the whole run that had arrived when the last request arrived, and that the controller accepted
    /// later; above 8000 at most 0.02 % too large. Above 8 and above 1 % of the requests, there is a warning: the
    /// offered load exceeds the service rate.
    pub backlog_requests: u64,
    /// Clocks from the arrival of the last request to its acceptance.
    pub backlog_wait_cycles: u64,
    /// `backlog_wait_cycles` in ns.
    pub backlog_wait_ns: f64,
    /// Figures from `from_cycle` to the end.
    #[serde(flatten)]
    pub figures: FiguresReport,
    /// Figures of each epoch, if the scenario has `epoch_cycles`. The last epoch ends with the run and includes its
    /// last cycle.
    pub epochs: Vec<EpochReport>,
    /// Parts of the whole run without the warm-up, separately for copies and initializations.
    pub served: Vec<ServedRow>,
    /// Copy activations of rows in another subarray, in the whole run; the controller issues none.
    pub dropped_activations: u64,
    /// Each operation, if a scenario lists at most 10,000.
    pub operations: Vec<OperationRow>,
    /// Counts of the allocator, if there is one.
    pub allocator: Option<AllocatorReport>,
    /// Counts of a recorded trace.
    pub trace: Option<TraceReport>,
    /// Figures of the interval and of each core (`cores`), if programs ran on cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<CoresReport>,
    /// Results of `--check`.
    pub check: Option<CheckReport>,
    /// Counters of the controller.
    #[serde(skip)]
    pub stats: Stats,
    /// Energy and bus use of the intervals of `stats`.
    #[serde(skip)]
    pub measured: Measurements,
    /// Parts of copies and of initializations, by mechanism and reason.
    #[serde(skip)]
    pub served_parts: ServedTally,
    /// Requests that were waiting when the last one arrived.
    #[serde(skip)]
    pub backlog: Backlog,
    /// Completions of listed operations, in the order of the list.
    #[serde(skip)]
    pub completions: Vec<Completion>,
    /// Command counts of listed operations, by request.
    #[serde(skip)]
    pub commands: Option<ByRequest>,
}

/// Counts and measurements of a run.
pub(crate) struct Played {
    pub(crate) stats: Stats,
    pub(crate) measured: Measurements,
    pub(crate) served: ServedTally,
    pub(crate) backlog: Backlog,
    pub(crate) commands: Option<ByRequest>,
    pub(crate) check: Option<CheckReport>,
    pub(crate) dropped_activations: u64,
}

impl Outcome {
    /// Maximum number of listed operations that are reported individually.
    pub const OPERATIONS_MAX: usize = 10_000;

    pub(crate) fn new(system: &MemorySystem, policy: &'static dyn CopyPolicy, played: Played) -> Outcome {
        let Played { stats, measured, served, backlog, commands, check, dropped_activations } = played;
        let (clock, channels) = (system.system().clock(), system.system().geometry.channels());
        let interval = Interval { cycles: stats.end.since(stats.from), clock, channels };
        let end = Cycles(stats.end.0);
        let mut rows = ServedRow::of("copy", &served.copies);
        rows.extend(ServedRow::of("init", &served.inits));
        Outcome {
            policy: policy.name(),
            makespan_cycles: end.0,
            makespan_ns: clock.ns(end),
            latency_cycles: end.0,
            latency_ns: clock.ns(end),
            speedup: None,
            energy_ratio: None,
            fixed_arrivals: false,
            read_latency_ratio: None,
            write_latency_ratio: None,
            copy_latency_ratio: None,
            from_cycle: stats.from.0,
            backlog_requests: backlog.requests,
            backlog_wait_cycles: backlog.wait.0,
            backlog_wait_ns: clock.ns(backlog.wait),
            figures: FiguresReport::new(&stats.whole, &measured.whole, interval),
            epochs: EpochReport::all(&stats, &measured.epochs, clock, channels),
            served: rows,
            dropped_activations,
            operations: Vec::new(),
            allocator: None,
            trace: None,
            cores: None,
            check,
            stats,
            measured,
            served_parts: served,
            backlog,
            completions: Vec::new(),
            commands,
        }
    }

    /// Ratios of the mean latencies of reads, copies and writes.
    pub fn mean_latency_ratios(&self) -> [Option<f64>; 3] {
        [self.read_latency_ratio, self.copy_latency_ratio, self.write_latency_ratio]
    }

    /// Whether no check failed: those of commands and memory, and those of the loads of cores.
    pub fn passed_checks(&self) -> bool {
        self.check.as_ref().is_none_or(CheckReport::passed) && self.cores.as_ref().is_none_or(CoresReport::passed)
    }

    /// The energy that `energy_ratio` compares, nJ: the dynamic energy, of programs on cores the
    /// energy per instruction; none without a current set.
    pub(crate) fn compared_energy_nj(&self) -> Option<f64> {
        let per_instruction = self.cores.as_ref().and_then(|cores| cores.energy_per_instruction_nj);
        per_instruction.or(self.figures.dynamic_energy_nj)
    }

    /// Adds the completions of listed operations.
    pub(crate) fn list(
        &mut self,
        system: &MemorySystem,
        policy: &'static dyn CopyPolicy,
        listed: &[ListedOperation],
        completions: Vec<Completion>,
    ) {
        if let Some(commands) = self.commands.as_ref().filter(|_| listed.len() <= Outcome::OPERATIONS_MAX) {
            let row = |(listed, completion): (&ListedOperation, &Completion)| {
                operation_row(system, policy, listed.spec(), completion, &commands.of(completion.id))
            };
            self.operations = listed.iter().zip(&completions).map(row).collect();
        }
        let latency = Cycles(completions.iter().map(|completion| completion.latency().0).sum());
        (self.latency_cycles, self.latency_ns) = (latency.0, system.system().clock().ns(latency));
        self.completions = completions;
    }
}

#[cfg(test)]
mod tests {
    use dram_spec::Cycle;
    use memctrl::policy::copy::{FIRST_CHOICE, ROWCLONE};
    use memctrl::stats::{Figures, PartTally, Parts};
    use rowclone::FPM;

    use super::*;
    use crate::SystemBuilder;

    /// Figures from clock 1,000 to 5,000 of DDR3-1066, 7,500 ns: 30,000 bytes are 4 GB/s.
    #[test]
    fn an_outcome_measures_from_the_end_of_the_warm_up_and_lasts_from_the_start() {
        let system = SystemBuilder::default().build().unwrap();
        let part = |count, bytes| PartTally::from_iter([(FPM, FIRST_CHOICE, Parts { count, bytes })]);
        let played = Played {
            stats: Stats {
                from: Cycle(1_000),
                end: Cycle(5_000),
                whole: Figures { channel_bytes: 30_000, requests: 9, ..Figures::default() },
                epochs: Vec::new(),
            },
            measured: Measurements::default(),
            served: ServedTally { copies: part(2, 8_192), inits: part(3, 12_288) },
            backlog: Backlog { offered: 100, requests: 7, wait: Cycles(40) },
            commands: None,
            check: None,
            dropped_activations: 6,
        };
        let outcome = Outcome::new(&system, ROWCLONE, played);
        assert_eq!(outcome.policy, "rowclone");
        assert_eq!((outcome.makespan_cycles, outcome.makespan_ns), (5_000, 9_375.0));
        assert_eq!((outcome.latency_cycles, outcome.latency_ns), (5_000, 9_375.0));
        assert_eq!((outcome.from_cycle, outcome.dropped_activations), (1_000, 6));
        let backlog = (outcome.backlog_requests, outcome.backlog_wait_cycles, outcome.backlog_wait_ns);
        assert_eq!(backlog, (7, 40, 75.0));
        assert_eq!((outcome.figures.requests, outcome.figures.bandwidth_gb_s), (9, Some(4.0)));
        let served = outcome.served.iter().map(|row| (row.operation, row.count, row.bytes, row.share_of_bytes));
        assert_eq!(served.collect::<Vec<_>>(), [("copy", 2, 8_192, 1.0), ("init", 3, 12_288, 1.0)]);
        assert!(outcome.passed_checks() && !outcome.fixed_arrivals);
    }

    #[test]
    fn ratios_of_means_are_those_of_reads_copies_and_writes() {
        let outcome = Outcome {
            read_latency_ratio: Some(2.0),
            copy_latency_ratio: Some(3.0),
            write_latency_ratio: Some(5.0),
            ..Outcome::default()
        };
        assert_eq!(outcome.mean_latency_ratios(), [Some(2.0), Some(3.0), Some(5.0)]);
    }
}
