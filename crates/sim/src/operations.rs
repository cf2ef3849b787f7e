//! Rows of listed operations in reports.

use std::collections::BTreeMap;

use dram_spec::{CommandCounts, CommandKind, LINE_BYTES};
use host::OperationSpec;
use memctrl::Completion;
use memctrl::policy::copy::{CopyPolicy, FIRST_CHOICE, explain, reason as reason_of};
use rowclone::{FPM, Mechanism, Part};
use serde::{Deserialize, Serialize};

use crate::figures::{EnergyByCause, by_cause};
use crate::quantity::bytes;
use crate::system::MemorySystem;

/// Mechanism, latency and energy of a listed operation.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct OperationRow {
    /// Kind, size and placement: `copy 4 KiB, same-subarray`.
    pub label: String,
    /// Mechanisms of its parts: `fpm`, or `fpm+channel`.
    pub mechanism: String,
    /// Reasons of its parts, in sentences; none for parts that the first choice of the policy served, and for a read or
    /// a write.
    pub reasons: Vec<String>,
    /// Changes of the input with which FPM serves it.
    pub fix: Vec<String>,
    /// Cycle of its arrival.
    pub arrival_cycle: u64,
    /// Latency in clocks: of a copy or initialization from its first command, of a read or write
    /// from its arrival.
    pub latency_cycles: u64,
    /// Latency in ns.
    pub latency_ns: f64,
    /// Dynamic energy of the commands issued for it, nJ; none without a current set.
    pub energy_nj: Option<f64>,
    /// `energy_nj` by cause.
    pub energy_by_cause_nj: Option<EnergyByCause>,
    /// Channel bytes of its commands.
    pub channel_bytes: u64,
    /// The latency of this operation in the reference run / this latency; none without such a run.
    pub speedup: Option<f64>,
    /// `energy_nj` of this operation in the reference run / this energy; none without such a run.
    pub energy_ratio: Option<f64>,
    /// Comparison with the channel copy of a pair in one bank of an idle memory, as in the published baseline; none
    /// also where the memory has no such pair of that size.
    pub against_same_bank: Option<Comparison>,
}

/// Comparison of an operation with a copy over the channel on an idle memory.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Comparison {
    /// Latency of the channel copy in clocks.
    pub latency_cycles: u64,
    /// Dynamic energy of the channel copy (without background and refresh), nJ; none without a current set.
    pub energy_nj: Option<f64>,
    /// Latency of the channel copy / latency of the operation.
    pub speedup: f64,
    /// Energy of the channel copy / energy of the operation; none without a current set.
    pub energy_ratio: Option<f64>,
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
    commands: &CommandCounts,
) -> OperationRow {
    let energy = system.prices().map(|prices| prices.operation(commands));
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
        energy_nj: energy.as_ref().map(|energy| energy.operation().nj()),
        energy_by_cause_nj: energy.as_ref().map(by_cause),
        channel_bytes: (commands[CommandKind::Read] + commands[CommandKind::Write]) * LINE_BYTES,
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

#[cfg(test)]
mod tests {
    use dram_spec::{Cycle, PhysicalAddress, RequestId, SourceId};
    use host::{OperationKind, Place};
    use memctrl::policy::copy::ROWCLONE;
    use memctrl::stats::{PartTally, Parts};
    use rowclone::Operation;

    use super::*;
    use crate::SystemBuilder;

    /// A copy that arrives at 100, begins at 120 and is done at 168: its latency is 48 clocks of 1.875
    /// ns. 3 RD and 5 WR move 8 lines of 64 bytes; a TRANSFER moves none over the channel.
    #[test]
    fn a_row_has_the_latency_from_the_first_command_and_the_bytes_of_the_channel() {
        let system = SystemBuilder::default().build().unwrap();
        let (src, dst) = (PhysicalAddress(0x40_0000), PhysicalAddress(0x41_0000));
        let spec = OperationSpec {
            kind: OperationKind::Copy,
            src: Some(Place::Address(src)),
            dst,
            bytes: 4096,
            value: 0,
            at: None,
        };
        let completion = Completion {
            id: RequestId(0),
            source: SourceId(0),
            operation: Operation::Copy { src, dst, bytes: 4096 },
            arrival: Cycle(100),
            first_command: Some(Cycle(120)),
            done: Cycle(168),
            served: PartTally::from_iter([
                (FPM, FIRST_CHOICE, Parts { count: 1, bytes: 2_048 }),
                (Mechanism::CHANNEL, "a", Parts { count: 1, bytes: 1_024 }),
                (Mechanism::CHANNEL, "b", Parts { count: 1, bytes: 1_024 }),
            ]),
            data: None,
        };
        let counts = CommandCounts::default()
            .with(CommandKind::Activate, 1)
            .with(CommandKind::Read, 3)
            .with(CommandKind::Write, 5)
            .with(CommandKind::Transfer, 7);
        let row = operation_row(&system, ROWCLONE, &spec, &completion, &counts);
        assert_eq!((row.arrival_cycle, row.latency_cycles, row.latency_ns), (100, 48, 90.0));
        assert_eq!((row.channel_bytes, row.mechanism.as_str()), (512, "fpm+channel"));
        let each = |kind| system.prices().unwrap().events().total(kind).0;
        let pj = each(CommandKind::Activate)
            + 7.0 * each(CommandKind::Transfer)
            + 3.0 * each(CommandKind::Read)
            + 5.0 * each(CommandKind::Write);
        let (nj, by_cause) = (row.energy_nj.unwrap(), row.energy_by_cause_nj.unwrap());
        assert!((nj / (pj / 1e3) - 1.0).abs() < 1e-12, "{nj} nJ, {pj} pJ");
        assert!((by_cause.values().flatten().sum::<f64>() / nj - 1.0).abs() < 1e-12);
    }
}
