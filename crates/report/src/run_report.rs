//! Report of a run under one policy, with the fields of JSON and CSV; `docs/output.md` documents them.

use rowclone_sim::{MixMetrics, Outcome};
use serde::Serialize;

/// The version of the JSON and CSV fields. It rises when a field changes its name, unit, type or meaning.
pub const SCHEMA_VERSION: u32 = 9;

/// Report of a run.
#[derive(Clone, Debug, Serialize)]
pub struct RunReport {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Origin of the page addresses, if pages are placed: `as-recorded`, or an allocator.
    pub placement: Option<&'static str>,
    /// The scenario file's name.
    pub scenario: String,
    /// Description of the system, in one line.
    pub system: String,
    /// Description of the controller, half a line.
    pub controller: String,
    /// The seed of contents and written data.
    pub seed: u64,
    /// The current set; none if the system has none.
    pub currents: Option<String>,
    /// The background model of energy; none without a current set, and where it is the 1 of the standard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background_rho: Option<f64>,
    /// The command line that runs the scenario again, under all its policies.
    pub rerun: String,
    /// The run to which the ratios refer, as a [`RunReport::label`]; none if it was not run.
    pub reference: Option<String>,
    /// Description of the policy `baseline`, which is the policy of the reference.
    pub baseline: String,
    /// Instructions per cycle of each of several programs alone under the baseline, by core; empty without these runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alone_ipc: Vec<f64>,
    /// Metrics of several programs; none without these runs, or if a program has no instruction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mix: Option<MixMetrics>,
    /// The size from which the device of the policy copies faster than the loop of the kernel; none without a
    /// device, or if it is slower in all sizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub break_even_bytes: Option<u64>,
    /// Outcome of the run.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Warnings about the validity of the figures.
    pub warnings: Vec<String>,
    /// Two lines for a terminal: scenario and system.
    #[serde(skip)]
    pub brief: String,
    /// Copies of a copy unit by programs on cores in their region, where they do nothing else in it.
    #[serde(skip)]
    pub copies: Option<u64>,
    /// Bytes of a row of a rank.
    #[serde(skip)]
    pub row_bytes: u64,
}

/// Text in place of the current set of a system without one.
pub const NO_CURRENT_SET: &str = "no current set";

impl RunReport {
    /// The settings of energy: "currents `8 Gb x8 1600`".
    pub(crate) fn energy_settings(&self) -> String {
        let currents = self.currents.as_ref().map_or(NO_CURRENT_SET.to_owned(), |set| format!("currents `{set}`"));
        let rho = self.background_rho.map(|rho| format!(", background rho {rho}"));
        currents + &rho.unwrap_or_default()
    }

    /// Name of the result among those of a scenario: `rowclone`, or `rowclone/buddy`.
    pub fn label(&self) -> String {
        match self.placement {
            Some(placement) => format!("{}/{placement}", self.outcome.policy),
            None => self.outcome.policy.to_string(),
        }
    }
}

/// The runs to which the ratios of some results refer, in a line: `reference: baseline/buddy, …`.
pub(crate) fn references(reports: &[RunReport]) -> String {
    let mut known: Vec<&str> = Vec::new();
    for reference in reports.iter().filter_map(|report| report.reference.as_deref()) {
        if !known.contains(&reference) {
            known.push(reference);
        }
    }
    let baseline = reports.first().map_or("", |report| &report.baseline);
    match known[..] {
        [] => "no reference was run: there are no ratios".to_owned(),
        [only] => format!("reference: {only}, {baseline}"),
        _ => format!("references, by placement: {}", known.join(", ")),
    }
}
