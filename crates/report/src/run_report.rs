//! What one run under one policy did, in the fields that JSON and CSV give and `docs/output.md` documents.

use rowclone_sim::{
    AllocatorReport, CheckReport, EpochReport, FiguresReport, OperationRow, Outcome, ServedRow, TraceReport,
};
use serde::Serialize;

/// The version of the JSON and CSV fields. It rises when a field changes its name, unit, type or meaning.
pub const SCHEMA_VERSION: u32 = 3;

/// What a report adds to the outcome of a run.
#[derive(Clone, Debug)]
pub struct RunInputs<'a> {
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
    /// What a reader should know before believing a number.
    pub warnings: Vec<String>,
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
    /// The report of an outcome.
    pub fn new(inputs: RunInputs<'_>, outcome: Outcome) -> RunReport {
        let RunInputs { placement, scenario, system, controller, seed, currents, rerun, warnings } = inputs;
        RunReport {
            schema_version: SCHEMA_VERSION,
            policy: outcome.policy,
            placement,
            scenario: scenario.to_string(),
            system: system.to_string(),
            controller: controller.to_string(),
            seed,
            currents: currents.to_string(),
            rerun: rerun.to_string(),
            makespan_cycles: outcome.makespan_cycles,
            makespan_ns: outcome.makespan_ns,
            from_cycle: outcome.from_cycle,
            backlog_requests: outcome.backlog_requests,
            backlog_wait_cycles: outcome.backlog_wait_cycles,
            backlog_wait_ns: outcome.backlog_wait_ns,
            figures: outcome.figures,
            epochs: outcome.epochs,
            served: outcome.served,
            dropped_activations: outcome.dropped_activations,
            operations: outcome.operations,
            allocator: outcome.allocator,
            trace: outcome.trace,
            check: outcome.check,
            warnings,
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
