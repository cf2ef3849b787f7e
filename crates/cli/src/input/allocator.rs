//! The table `[allocator]` of a scenario: who places its pages, and how old the memory is.

use host::AllocatorSettings;
use os_alloc_sim::{Age, Policy, Units};
use serde::Deserialize;

use crate::CliError;

use super::document::Document;
use super::scenario::Workload;

/// How pages are placed, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct AllocatorConfig {
    /// Under which policies to run the scenario: at least one, each once.
    pub policies: Vec<Policy>,
    /// How old the memory is; fresh, and all free, where it is not said.
    pub age: Option<Age>,
    /// What becomes of frames that share rows.
    pub units: Units,
}

/// As the file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawAllocator {
    policies: Vec<String>,
    utilisation: Option<f64>,
    fragmentation: Option<f64>,
    units: Option<String>,
}

impl RawAllocator {
    pub(super) fn check(&self, document: &Document, workload: &Workload) -> Result<AllocatorConfig, CliError> {
        let RawAllocator { policies, utilisation, fragmentation, units } = self;
        let age = match (utilisation, fragmentation) {
            (None, None) => None,
            (Some(utilisation), Some(fragmentation)) => {
                Some(Age::new(*utilisation, *fragmentation).map_err(|error| {
                    let key = format!("allocator.{}", error.key);
                    let message = error.to_string().replacen(error.key, &key, 1);
                    document.fault(&key, message).with_help(error.help())
                })?)
            }
            (given, _) => {
                let (there, missing) = match given {
                    Some(_) => ("utilisation", "fragmentation"),
                    None => ("fragmentation", "utilisation"),
                };
                let message = format!("`allocator.{there}` is given, and `allocator.{missing}` is not");
                let help = format!("add for example `{missing} = 0.5`: an aged memory has both, a fresh one neither");
                return Err(document.fault(&format!("allocator.{there}"), message).with_help(help));
            }
        };
        Ok(AllocatorConfig {
            policies: document.choices("allocator.policies", policies, &Policy::ALL.map(|it| (it.name(), it)))?,
            age,
            units: check_units(document, units.as_deref(), workload)?,
        })
    }
}

/// Frames of a trace are handed out one by one: a recorded copy of 4 KiB renews its page, and not the page beside it.
fn check_units(document: &Document, found: Option<&str>, workload: &Workload) -> Result<Units, CliError> {
    let of_trace = matches!(workload, Workload::Trace(_));
    let units = match found {
        None if of_trace => Units::Marked,
        None => Units::Together,
        Some(found) => document.choice("allocator.units", found, &Units::ALL.map(|it| (it.name(), it)))?,
    };
    if of_trace && units == Units::Together {
        let message = "`allocator.units` is \"together\", but the pages of a trace are handed out one by one";
        let help = "leave it out, or write `units = \"marked\"`";
        return Err(document.fault("allocator.units", message).with_help(help));
    }
    Ok(units)
}

impl AllocatorConfig {
    /// One of its policies, with all that goes with it.
    pub fn settings(&self, policy: Policy, seed: u64) -> AllocatorSettings {
        let (utilisation, fragmentation) = self.age.map_or((0.0, 0.0), |age| (age.utilisation(), age.unusable()));
        AllocatorSettings { policy, seed, utilisation, fragmentation, units: self.units }
    }
}
