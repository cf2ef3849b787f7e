//! The table `[allocator]` of a scenario: the placement of pages, and the age of the memory.

use host::AllocatorSettings;
use os_alloc_sim::{Age, Policy, Units};
use rowclone_sim::REFERENCE_ALLOCATOR;

use crate::key::{Holds, Key};
use crate::scenario::Workload;
use crate::section::Section;
use crate::{Failure, names};

/// Checked settings of the placement of pages.
#[derive(Clone, Debug, PartialEq)]
pub struct AllocatorConfig {
    /// The allocation policies, at least one, each once; the scenario runs once for each.
    pub policies: Vec<Policy>,
    /// The allocator of the reference run.
    pub reference: Policy,
    /// Aging of the memory before the run; none for a memory with all frames free.
    pub age: Option<Age>,
    /// Allocation of frames that share rows.
    pub units: Units,
}

/// Keys of `[allocator]`.
#[rustfmt::skip]
pub(crate) const KEYS: &[Key] = &[
    Key::new("allocator", Holds::Table, "", "placement of pages, where neither the scenario nor the recording gives it (`allocator.md`)").or(""),
    Key::new("allocator.policies", Holds::Names(|| names(&policies())), "[\"buddy\", \"subarray-aware\"]", "the allocators; the scenario runs once for each, under each of `policies`"),
    Key::new("allocator.utilization", Holds::Number(0.0, 1.0), "0.5", "share of the frames in use before the workload; together with `fragmentation`").or("a fresh memory, all free"),
    Key::new("allocator.fragmentation", Holds::Number(0.0, 1.0), "0.5", "Linux's unusable free space index of order 9 before the workload").or("a fresh memory"),
    Key::new("allocator.units", Holds::Name(|| names(&units())), "\"together\"", "how frames that share rows are handed out: together, as one page, or one by one; pages of a trace are always `marked`").or("`together`; of a trace `marked`"),
];

/// Keys of `[reference]`.
#[rustfmt::skip]
pub(crate) const REFERENCE_KEYS: &[Key] = &[
    Key::new("reference", Holds::Table, "", "the run to which speedup and energy ratio refer: the policy `baseline` with pages of this allocator (`output.md`)").or(""),
    Key::new("reference.allocator", Holds::Name(|| names(&policies())), "\"buddy\"", "the allocator of the reference, which runs for the ratios even where it is not listed; programs on cores have `kernel.baseline_allocator` instead (`cores.md`)").or("`buddy`"),
];

fn policies() -> Vec<(&'static str, Policy)> {
    Policy::ALL.map(|it| (it.name(), it)).into()
}

fn units() -> Vec<(&'static str, Units)> {
    Units::ALL.map(|it| (it.name(), it)).into()
}

impl AllocatorConfig {
    /// Checks the table `[allocator]`; `reference` is the table `[reference]`, which may be empty.
    pub(crate) fn check(
        table: &Section<'_>,
        reference: &Section<'_>,
        workload: &Workload,
    ) -> Result<AllocatorConfig, Failure> {
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
        // Frames of a trace are allocated one by one: a recorded copy of 4 KiB replaces its page, not the adjacent page.
        let of_trace = matches!(workload, Workload::Trace(_));
        let units = table.choice("units", &units()).unwrap_or(if of_trace { Units::Marked } else { Units::Together });
        if of_trace && units == Units::Together {
            let message = "`allocator.units` is \"together\", but the pages of a trace are handed out one by one";
            return Err(table.fault("units", message).with_help("leave it out, or write `units = \"marked\"`"));
        }
        let reference = reference.choice("allocator", &policies()).unwrap_or(REFERENCE_ALLOCATOR);
        Ok(AllocatorConfig { policies: table.choices("policies", &policies()), reference, age, units })
    }

    /// The settings of each policy that runs, the reference last, each with its key.
    pub(crate) fn all(&self, seed: u64) -> Vec<(&'static str, AllocatorSettings)> {
        let listed = self.policies.iter().map(|&policy| ("allocator.policies", policy));
        let reference =
            Some(("reference.allocator", self.reference)).filter(|_| !self.policies.contains(&self.reference));
        listed.chain(reference).map(|(key, policy)| (key, self.settings(policy, seed))).collect()
    }

    /// The settings of one policy.
    pub fn settings(&self, policy: Policy, seed: u64) -> AllocatorSettings {
        let (utilization, fragmentation) = self.age.map_or((0.0, 0.0), |age| (age.utilization(), age.unusable()));
        AllocatorSettings { policy, seed, utilization, fragmentation, units: self.units }
    }
}
