//! Reader of `results.json`, for data that the table of figures does not have.

use std::path::Path;

use report::SCHEMA_VERSION;
use report::page::{Finding, PageCore, Served, Weight};
use rowclone_sim::OperationRow;
use rowclone_sim::quantity::bytes;
use serde::Deserialize;

use rowclone_config::Failure;

/// One result.
#[derive(Debug, Deserialize)]
pub(super) struct RunJson {
    pub(super) schema_version: u32,
    policy: String,
    placement: Option<String>,
    pub(super) scenario: String,
    pub(super) system: String,
    pub(super) controller: String,
    pub(super) currents: Option<String>,
    /// Absent in files of earlier versions.
    pub(super) rerun: Option<String>,
    pub(super) served: Vec<Served>,
    pub(super) operations: Vec<OperationRow>,
    break_even_bytes: Option<u64>,
    cores: Option<CoresJson>,
    check: Option<CheckJson>,
    warnings: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct CoresJson {
    cores: Vec<PageCore>,
}

#[derive(Debug, Deserialize)]
struct CheckJson {
    violations: u64,
    memory_equal: bool,
    memory_mismatch: Option<String>,
}

/// The version alone, which decides whether the rest can be read.
#[derive(Debug, Deserialize)]
struct VersionJson {
    schema_version: u32,
}

/// Reads the results of one scenario.
///
/// # Errors
/// The file is not JSON, is of another version, or a key is missing or has an invalid value.
pub(super) fn read(path: &Path, text: &str) -> Result<Vec<RunJson>, Failure> {
    let again = "run the scenario again with `--out`, and this version of the program";
    let fault = |error: &serde_json::Error| {
        // serde_json puts the location last, and this program puts it first.
        let said = error.to_string();
        let what = said.split(" at line ").next().unwrap_or(&said);
        Failure::new(format!("{}:{}: {what}", path.display(), error.line())).with_help(again)
    };
    let versions: Vec<VersionJson> = serde_json::from_str(text).map_err(|error| fault(&error))?;
    if let Some(other) = versions.iter().find(|result| result.schema_version != SCHEMA_VERSION) {
        let (path, found) = (path.display(), other.schema_version);
        let message = format!("{path}: `schema_version` is {found}, but must be {SCHEMA_VERSION}");
        return Err(Failure::new(message).with_help(again));
    }
    let mut results: Vec<RunJson> = serde_json::from_str(text).map_err(|error| fault(&error))?;
    for result in &mut results {
        let variant = result.variant();
        result.served.iter_mut().for_each(|served| served.run.clone_from(&variant));
    }
    Ok(results)
}

impl RunJson {
    /// The policy, and the placement if there is one.
    pub(super) fn variant(&self) -> String {
        match &self.placement {
            Some(placement) => format!("{}/{placement}", self.policy),
            None => self.policy.clone(),
        }
    }

    /// Sentence on the size from which the device of the policy copies faster than the loop; none without such a size.
    pub(super) fn break_even(&self) -> Option<String> {
        self.break_even_bytes.map(|size| format!("{}: {}", self.variant(), bytes(size)))
    }

    /// Results of the cores, where programs ran on cores.
    pub(super) fn cores(&self) -> impl Iterator<Item = PageCore> {
        let cores = self.cores.iter().flat_map(|cores| &cores.cores);
        cores.map(|core| PageCore { run: self.variant(), ..core.clone() })
    }

    /// Whether the independent checker ran.
    pub(super) fn checked(&self) -> &'static str {
        if self.check.is_some() { "yes, every command and all of memory" } else { "no: `run --check` does it" }
    }

    /// Warnings of the run.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let finding = |weight, text| Finding { weight, text, runs: 1 };
        let mut found: Vec<Finding> = self.warnings.iter().map(|text| finding(Weight::Warning, text.clone())).collect();
        if let Some(CheckJson { violations, memory_equal, memory_mismatch }) = &self.check {
            let variant = self.variant();
            if *violations > 0 {
                found.push(finding(Weight::Violation, format!("{variant}: {violations} commands break a rule")));
            }
            if !memory_equal {
                let where_to = memory_mismatch.as_deref().unwrap_or("memory is not what a flat array holds");
                found.push(finding(Weight::Violation, format!("{variant}: {where_to}")));
            }
        }
        found
    }
}
