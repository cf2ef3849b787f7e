//! Report of a run under one policy, with the fields of JSON and CSV; `docs/output.md` documents them.

use rowclone_sim::Outcome;
use serde::Serialize;

/// The version of the JSON and CSV fields. It rises when a field changes its name, unit, type or meaning.
pub const SCHEMA_VERSION: u32 = 4;

/// Fields that a report adds to the outcome of a run.
#[derive(Clone, Debug)]
pub struct RunInputs<'a> {
    /// Who placed the pages, where pages are placed: `as-recorded`, or an allocator.
    pub placement: Option<&'static str>,
    /// The scenario's name.
    pub scenario: &'a str,
    /// Description of the system, in one line.
    pub system: &'a str,
    /// Scenario and system in a line of a terminal.
    pub brief: String,
    /// Bytes of a row of a rank.
    pub row_bytes: u64,
    /// Half a line about its controller.
    pub controller: &'a str,
    /// The seed.
    pub seed: u64,
    /// The current set's name.
    pub currents: &'a str,
    /// The command line that runs the scenario again.
    pub rerun: &'a str,
    /// Limits of the numbers of the run.
    pub warnings: Vec<String>,
}

/// Report of a run.
#[derive(Clone, Debug, Serialize)]
pub struct RunReport {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Who placed the pages, where pages are placed: `as-recorded`, or an allocator.
    pub placement: Option<&'static str>,
    /// The scenario file's name.
    pub scenario: String,
    /// Description of the system, in one line.
    pub system: String,
    /// Half a line about its controller.
    pub controller: String,
    /// The seed of contents and written data.
    pub seed: u64,
    /// The current set.
    pub currents: String,
    /// The command line that runs the scenario again, under all its policies.
    pub rerun: String,
    /// Outcome of the run.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Limits of the numbers of the run.
    pub warnings: Vec<String>,
    /// Scenario and system in a line of a terminal.
    #[serde(skip)]
    pub brief: String,
    /// Bytes of a row of a rank.
    #[serde(skip)]
    pub row_bytes: u64,
}

impl RunReport {
    /// The report of an outcome.
    pub fn new(inputs: RunInputs<'_>, outcome: Outcome) -> RunReport {
        let RunInputs { placement, scenario, system, brief, row_bytes, controller, seed, currents, rerun, warnings } =
            inputs;
        RunReport {
            schema_version: SCHEMA_VERSION,
            placement,
            scenario: scenario.to_string(),
            system: system.to_string(),
            controller: controller.to_string(),
            seed,
            currents: currents.to_string(),
            rerun: rerun.to_string(),
            outcome,
            warnings,
            brief,
            row_bytes,
        }
    }

    /// Name of the result among those of a scenario: `rowclone`, or `rowclone/buddy`.
    pub fn label(&self) -> String {
        match self.placement {
            Some(placement) => format!("{}/{placement}", self.outcome.policy),
            None => self.outcome.policy.to_string(),
        }
    }
}
