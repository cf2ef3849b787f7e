//! Report of a run under one policy, with the fields of JSON and CSV; `docs/output.md` documents them.

use rowclone_sim::{MixMetrics, Outcome};
use serde::Serialize;

/// The version of the JSON and CSV fields. It rises when a field changes its name, unit, type or meaning.
pub const SCHEMA_VERSION: u32 = 9;

/// Report of a run.
#[derive(Clone, Debug, Serialize)]
pub struct RunReport {
    /// Version of the fields.
    pub schema_version: u32,
    /// Placement of pages: `as-recorded`, an allocator (`sequential`, `random`, `buddy`, `subarray-aware`,
    /// `bank-aware`), or none where the scenario gives the addresses.
    pub placement: Option<&'static str>,
    /// Name of the scenario file.
    pub scenario: String,
    /// Description of the system in one line.
    pub system: String,
    /// Scheduler, row policy and queues.
    pub controller: String,
    /// Seed of memory contents and written data.
    pub seed: u64,
    /// The current set; none without one (CSV: `no current set`).
    pub currents: Option<String>,
    /// Background model of energy, 0 to 1; only in JSON, and only where it or the default of the standard is not 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background_rho: Option<f64>,
    /// The command line that runs the scenario again, under all its policies.
    pub rerun: String,
    /// The run to which the ratios refer, as policy and placement: `baseline/buddy`; none if it was not run.
    pub reference: Option<String>,
    /// What the policy `baseline` does: copies over the memory channel; with cores, a loop of the kernel.
    pub baseline: String,
    /// Only of several programs: instructions per cycle of each alone under the baseline, by core.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alone_ipc: Vec<f64>,
    /// Only of several programs: `weighted_speedup`, `instruction_throughput`, `harmonic_speedup`, `maximum_slowdown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mix: Option<MixMetrics>,
    /// The size from which the device of the policy copies faster than the loop of the kernel; none without a
    /// device, or if it is slower in all sizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub break_even_bytes: Option<u64>,
    /// Outcome of the run.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Limits of the validity of the figures.
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

/// Result of a passed `--check`. It compares virtual addresses as well if an allocator placed the pages of processes.
pub(crate) fn memory_equal(is_virtual: bool) -> &'static str {
    if is_virtual {
        "memory equals that of a plain memcpy, also as each process reads it at its virtual addresses"
    } else {
        "memory equals that of a plain memcpy"
    }
}
