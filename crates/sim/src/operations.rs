//! Rows of listed operations in reports.

use std::collections::BTreeMap;

use dram_spec::LINE_BYTES;
use energy::Counts;
use host::OperationSpec;
use memctrl::Completion;
use memctrl::policy::copy::{CopyPolicy, FIRST_CHOICE, explain, reason as reason_of};
use rowclone::{FPM, Mechanism, Part};
use serde::{Deserialize, Serialize};

use crate::figures::by_cause;
use crate::quantity::bytes;
use crate::system::MemorySystem;

/// Mechanism, latency and energy of a listed operation.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct OperationRow {
    /// Label, for example `copy 4 KiB same-subarray`.
    pub label: String,
    /// Mechanisms of its segments: `fpm`, or `fpm+channel`.
    pub mechanism: String,
    /// Reasons why no better mechanism served its segments, one per mechanism and reason; none for segments that FPM served.
    pub reasons: Vec<String>,
    /// Changes of the input that make FPM possible.
    pub fix: Vec<String>,
    /// Cycle of its arrival.
    pub arrival_cycle: u64,
    /// Latency in clocks: of a copy or initialization from its first command, of a read or write
    /// from its arrival.
    pub latency_cycles: u64,
    /// Latency in ns.
    pub latency_ns: f64,
    /// Dynamic energy (without background and refresh), nJ.
    pub energy_nj: f64,
    /// Dynamic energy by cause, nJ.
    pub energy_by_cause_nj: BTreeMap<String, f64>,
    /// Bytes transferred over the memory channel.
    pub channel_bytes: u64,
    /// The latency of this operation in the reference run / this latency; none without such a run.
    pub speedup: Option<f64>,
    /// `energy_nj` of this operation in the reference run / this energy; none without such a run.
    pub energy_ratio: Option<f64>,
    /// Comparison with the channel copy within one bank, the baseline of the paper.
    pub against_same_bank: Option<Comparison>,
}

/// Comparison of an operation with a copy over the channel on an idle memory.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Comparison {
    /// Latency of the channel copy in clocks.
    pub latency_cycles: u64,
    /// Dynamic energy of the channel copy (without background and refresh), nJ.
    pub energy_nj: f64,
    /// Latency of the channel copy / latency of the operation.
    pub speedup: f64,
    /// Energy of the channel copy / energy of the operation.
    pub energy_ratio: f64,
}

/// Label of an operation in reports: `copy 4 KiB, same-subarray`.
pub fn label(spec: &OperationSpec) -> String {
    let place = spec.src.map_or(String::new(), |src| format!(", {}", src.name()));
    format!("{} {}{place}", spec.kind.name(), bytes(spec.bytes))
}

/// The mechanisms that served an operation: `fpm+channel`; nothing of a read or a write.
pub fn mechanisms(completion: &Completion) -> String {
    let mut names: Vec<&str> = completion.served.iter().map(|(mechanism, ..)| mechanism.name()).collect();
    names.dedup();
    names.join("+")
}

/// Creates the row of an operation, without comparisons.
pub(crate) fn operation_row(
    system: &MemorySystem,
    policy: &'static dyn CopyPolicy,
    spec: &OperationSpec,
    completion: &Completion,
    commands: &Counts,
) -> OperationRow {
    let energy = system.prices().operation(commands);
    let latency = completion.latency();
    let (reasons, fix) = why(system, policy, completion);
    OperationRow {
        label: label(spec),
        mechanism: mechanisms(completion),
        reasons,
        fix,
        arrival_cycle: completion.arrival.0,
        latency_cycles: latency.0,
        latency_ns: system.system().clock().ns(latency),
        energy_nj: energy.operation().nj(),
        energy_by_cause_nj: by_cause(&energy),
        channel_bytes: (commands.reads + commands.writes) * LINE_BYTES,
        speedup: None,
        energy_ratio: None,
        against_same_bank: None,
    }
}

/// Returns the reasons for the mechanisms of the parts of a copy or an initialization, and the
/// changes of the input that permit FPM. For each mechanism and reason, the sentence of the first
/// part, as parts differ in their numbers. Empty for reads and writes.
fn why(system: &MemorySystem, policy: &'static dyn CopyPolicy, completion: &Completion) -> (Vec<String>, Vec<String>) {
    let (mut reasons, mut fix) = (BTreeMap::new(), BTreeMap::new());
    if !completion.operation.is_copy() {
        return (Vec::new(), Vec::new());
    }
    for block in system.planner().blocks(&completion.operation) {
        for part in block.parts() {
            for chosen in chosen(policy, part, completion) {
                let reason = reason_of(policy, part, chosen);
                if reason == FIRST_CHOICE {
                    continue;
                }
                let key = (chosen, reason);
                reasons.entry(key).or_insert_with(|| format!("{}: {}", chosen.name(), explain(policy, part, chosen)));
            }
            if policy.admits().contains(&FPM)
                && let Err(reason) = part.allows(FPM)
                && let Some(help) = reason.help()
            {
                fix.entry(reason.name()).or_insert_with(|| format!("{reason}: {help}"));
            }
        }
    }
    (reasons.into_values().collect(), fix.into_values().collect())
}

/// Mechanisms of a part. For a policy that weighs mechanisms, all that are consistent with the
/// operation's counts.
fn chosen(policy: &'static dyn CopyPolicy, part: &Part, completion: &Completion) -> Vec<Mechanism> {
    if !policy.weighs() {
        return vec![policy.preferred(part)];
    }
    let taken = completion.served.iter().filter(|&(mechanism, reason, _)| {
        part.allows(mechanism).is_ok() && reason_of(policy, part, mechanism) == reason
    });
    taken.map(|(mechanism, ..)| mechanism).collect()
}
