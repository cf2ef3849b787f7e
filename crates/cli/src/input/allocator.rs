//! The table `[allocator]` of a scenario: who places its pages, and how old the memory is.

use dram_spec::AddressMap;
use os_alloc_sim::{Age, FrameMap, FrameSet, Policy, Units, ZeroOnFree};
use serde::Deserialize;

use crate::CliError;

use super::document::Document;

/// How pages are placed, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct AllocatorConfig {
    /// Under which policies to run the scenario: at least one, each once.
    pub policies: Vec<Policy>,
    /// What becomes of frames that share a row.
    pub units: Units,
    /// How old the memory is; fresh, and all free, where it is not said.
    pub age: Option<Age>,
    /// Whether freed frames are zeroed.
    pub zero_on_free: ZeroOnFree,
}

/// As the file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawAllocator {
    policies: Vec<String>,
    units: Option<String>,
    utilisation: Option<f64>,
    fragmentation: Option<f64>,
    zero_on_free: Option<bool>,
}

impl RawAllocator {
    pub(super) fn check(&self, document: &Document) -> Result<AllocatorConfig, CliError> {
        let RawAllocator { policies, units, utilisation, fragmentation, zero_on_free } = self;
        let units = match units {
            Some(found) => document.choice("allocator.units", found, &Units::ALL.map(|units| (units.name(), units)))?,
            None => Units::default(),
        };
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
            units,
            age,
            zero_on_free: if zero_on_free.unwrap_or(false) { ZeroOnFree::On } else { ZeroOnFree::Off },
        })
    }
}

impl AllocatorConfig {
    /// That each policy can hand out the units of this map.
    pub(super) fn check_units(&self, document: &Document, map: &AddressMap) -> Result<(), CliError> {
        let map = FrameMap::new(map.clone());
        let set = FrameSet::new(&map, self.units);
        for (index, policy) in self.policies.iter().enumerate() {
            policy.allocator(&map, &set, 0).map_err(|error| {
                let key = format!("allocator.policies.{index}");
                document.fault(&key, format!("`{key}`: {error}")).with_help(error.help())
            })?;
        }
        Ok(())
    }
}
