//! The table `[allocator]` of a scenario: the placement of pages, and the age of the memory.

use dram_spec::address::FRAME_BYTES;
use host::AllocatorSettings;
use os_alloc_sim::{Age, CopyUnit, FrameMap, Policy};
use rowclone_sim::REFERENCE_ALLOCATOR;
use rowclone_sim::quantity::bytes;

use crate::document::Section;
use crate::key::{Holds, Key};
use crate::{Failure, SystemConfig};

/// Checked settings of the placement of pages.
#[derive(Clone, Debug, PartialEq)]
pub struct AllocatorConfig {
    /// The allocation policies, at least one, each once; the scenario runs once for each.
    pub policies: Vec<Policy>,
    /// The allocator of the reference run.
    pub reference: Policy,
    /// Aging of the memory before the run; none for a memory with all frames free.
    pub age: Option<Age>,
    /// What is allocated and copied as one.
    pub copy_unit: CopyUnit,
}

/// Keys of `[allocator]`.
#[rustfmt::skip]
pub(crate) const KEYS: &[Key] = &[
    Key::new("allocator", Holds::Table, "", "placement of pages, where neither the scenario nor the recording gives it (`allocator.md`)").or(""),
    Key::new("allocator.policies", Holds::Names(|| Policy::NAMES.into()), "[\"buddy\", \"subarray-aware\"]", "the allocators; the scenario runs once for each, under each of `policies`"),
    Key::new("allocator.utilization", Holds::Number(0.0, 1.0), "0.5", "share of the frames in use before the workload; together with `fragmentation`").or("a fresh memory, all free"),
    Key::new("allocator.fragmentation", Holds::Number(0.0, 1.0), "0.5", "Linux's unusable free space index of order 9 before the workload").or("a fresh memory"),
    Key::new("allocator.copy_unit", Holds::Name(|| CopyUnit::NAMES.into()), "\"row-set\"", COPY_UNIT).or("`page`"),
];

/// Keys of `[reference]`.
#[rustfmt::skip]
pub(crate) const REFERENCE_KEYS: &[Key] = &[
    Key::new("reference", Holds::Table, "", "the run to which speedup and energy ratio refer: the policy `baseline` with pages of this allocator (`output.md`)").or(""),
    Key::new("reference.allocator", Holds::Name(|| Policy::NAMES.into()), "\"buddy\"", "the allocator of the reference, which runs for the ratios even where it is not listed; programs on cores have `kernel.baseline_allocator` instead (`cores.md`)").or("`buddy`"),
];

/// Meaning of the key `copy_unit` of an allocator and of a kernel.
pub(crate) const COPY_UNIT: &str = "what is allocated, copied and zeroed as one: a page of 4 KiB, as by Linux, or a \
    row set, the smallest aligned block of pages that fills whole rows (`real-dimms.md`)";

/// That a kernel copies more than a page at once, in a line; none if it copies pages.
pub fn larger_copy_unit(unit: CopyUnit, system: &SystemConfig) -> Option<String> {
    let pages = unit.frames(&FrameMap::new(system.memory.map().clone()));
    let size = bytes(u64::from(pages) * FRAME_BYTES);
    (pages > 1).then(|| format!("copy unit: {}, {pages} pages of 4 KiB = {size}; Linux copies one page", unit.name()))
}

impl AllocatorConfig {
    /// Checks the table `[allocator]`; `reference` is the table `[reference]`, which may be empty.
    pub(crate) fn check(table: &Section<'_>, reference: &Section<'_>) -> Result<AllocatorConfig, Failure> {
        let age = match (table.get("utilization"), table.get("fragmentation")) {
            (None, None) => None,
            (Some(utilization), Some(fragmentation)) => {
                Some(Age::new(utilization, fragmentation).map_err(|error| {
                    let message = error.to_string().replacen(error.key, &table.key(error.key), 1);
                    table.fault(error.key, message).with_help(error.help())
                })?)
            }
            (given, _) => {
                let (there, missing) = match given {
                    Some(_) => ("utilization", "fragmentation"),
                    None => ("fragmentation", "utilization"),
                };
                let message = format!("`allocator.{there}` is given, and `allocator.{missing}` is not");
                let help = format!("add for example `{missing} = 0.5`: an aged memory has both, a fresh one neither");
                return Err(table.fault(there, message).with_help(help));
            }
        };
        let copy_unit = table.get("copy_unit").unwrap_or_default();
        let reference = reference.get("allocator").unwrap_or(REFERENCE_ALLOCATOR);
        Ok(AllocatorConfig { policies: table.of("policies"), reference, age, copy_unit })
    }

    /// The settings of each policy that runs, each with its key; an unlisted reference is last.
    pub(crate) fn all(&self, seed: u64) -> Vec<(&'static str, AllocatorSettings)> {
        let listed = self.policies.iter().map(|&policy| ("allocator.policies", policy));
        let reference =
            Some(("reference.allocator", self.reference)).filter(|_| !self.policies.contains(&self.reference));
        listed.chain(reference).map(|(key, policy)| (key, self.settings(policy, seed))).collect()
    }

    /// The settings of one policy.
    pub fn settings(&self, policy: Policy, seed: u64) -> AllocatorSettings {
        let (utilization, fragmentation) = self.age.map_or((0.0, 0.0), |age| (age.utilization(), age.unusable()));
        AllocatorSettings { policy, seed, utilization, fragmentation, copy_unit: self.copy_unit }
    }
}
