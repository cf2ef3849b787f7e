//! The outcome of an experiment.

use dram_spec::Cycles;
use energy::ByRequest;
use host::OperationSpec;
use memctrl::Completion;
use memctrl::policy::copy::CopyPolicy;
use memctrl::stats::Stats;
use serde::Serialize;

use crate::allocator_report::AllocatorReport;
use crate::backlog::Backlog;
use crate::check_report::CheckReport;
use crate::epoch_report::EpochReport;
use crate::figures::{FiguresReport, Stretch};
use crate::metered::Measurements;
use crate::operations::{OperationRow, operation_row};
use crate::served::{ServedRow, ServedTally};
use crate::system::MemorySystem;
use crate::trace_report::TraceReport;

/// The outcome of an experiment. It serialises as the fields that `docs/output.md` documents; the values that they are computed from are left out. The default
/// is the outcome of no request.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Outcome {
    /// The name of the copy policy.
    pub policy: &'static str,
    /// When everything had drained, clocks.
    pub makespan_cycles: u64,
    /// The same in ns.
    pub makespan_ns: f64,
    /// The latency that `speedup` compares, clocks: of listed operations the sum of their latencies, of other workloads the makespan.
    pub latency_cycles: u64,
    /// The same in ns.
    pub latency_ns: f64,
    /// The latency under the baseline / this latency; none without a run of the baseline.
    pub speedup: Option<f64>,
    /// The dynamic energy under the baseline / this dynamic energy; none without a run of the baseline.
    pub energy_ratio: Option<f64>,
    /// Where the figures begin: the warm-up before it is left out.
    pub from_cycle: u64,
    /// Requests that had arrived when the last one arrived, and that the controller took later.
    pub backlog_requests: u64,
    /// From the arrival of the last request until the controller took it, clocks.
    pub backlog_wait_cycles: u64,
    /// The same in ns.
    pub backlog_wait_ns: f64,
    /// The figures from `from_cycle` to the end.
    #[serde(flatten)]
    pub figures: FiguresReport,
    /// The same by epochs, where they were asked for.
    pub epochs: Vec<EpochReport>,
    /// How copies, and how initialisations, were served.
    pub served: Vec<ServedRow>,
    /// Copy activations that the chips dropped.
    pub dropped_activations: u64,
    /// The operations one by one, where the workload lists at most [`Outcome::OPERATIONS_MAX`]; without comparisons with the channel.
    pub operations: Vec<OperationRow>,
    /// What the allocator did that placed the pages.
    pub allocator: Option<AllocatorReport>,
    /// What a recorded trace held.
    pub trace: Option<TraceReport>,
    /// What the checks found, where they were asked for.
    pub check: Option<CheckReport>,
    /// The counters of the controller.
    #[serde(skip)]
    pub stats: Stats,
    /// Energy and bus use of the stretches of `stats`.
    #[serde(skip)]
    pub measured: Measurements,
    /// The parts of copies, and of initialisations, by mechanism and reason.
    #[serde(skip)]
    pub served_parts: ServedTally,
    /// The requests that were waiting when the last one arrived.
    #[serde(skip)]
    pub backlog: Backlog,
    /// The completions of listed operations, in the order of the list.
    #[serde(skip)]
    pub completions: Vec<Completion>,
    /// The commands of listed operations, each by its request.
    #[serde(skip)]
    pub commands: Option<ByRequest>,
}

/// What was counted and measured while a source was played.
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
    /// More operations than this are summed up, and not listed one by one.
    pub const OPERATIONS_MAX: usize = 10_000;

    pub(crate) fn new(system: &MemorySystem, policy: &'static dyn CopyPolicy, played: Played) -> Outcome {
        let Played { stats, measured, served, backlog, commands, check, dropped_activations } = played;
        let (clock, channels) = (system.system().clock(), system.system().geometry.channels());
        let stretch = Stretch { cycles: stats.end.since(stats.from), clock, channels };
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
            from_cycle: stats.from.0,
            backlog_requests: backlog.requests,
            backlog_wait_cycles: backlog.wait.0,
            backlog_wait_ns: clock.ns(backlog.wait),
            figures: FiguresReport::new(&stats.whole, &measured.whole, stretch),
            epochs: EpochReport::all(&stats, &measured.epochs, clock, channels),
            served: rows,
            dropped_activations,
            operations: Vec::new(),
            allocator: None,
            trace: None,
            check,
            stats,
            measured,
            served_parts: served,
            backlog,
            completions: Vec::new(),
            commands,
        }
    }

    /// Takes in the completions of listed operations.
    pub(crate) fn list(
        &mut self,
        system: &MemorySystem,
        policy: &'static dyn CopyPolicy,
        specs: &[OperationSpec],
        completions: Vec<Completion>,
    ) {
        if let Some(commands) = self.commands.as_ref().filter(|_| specs.len() <= Outcome::OPERATIONS_MAX) {
            let rows = specs
                .iter()
                .zip(&completions)
                .map(|(spec, completion)| operation_row(system, policy, spec, completion, &commands.of(completion.id)));
            self.operations = rows.collect();
        }
        let latency = Cycles(completions.iter().map(|completion| completion.latency().0).sum());
        (self.latency_cycles, self.latency_ns) = (latency.0, system.system().clock().ns(latency));
        self.completions = completions;
    }
}
