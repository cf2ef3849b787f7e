//! One operation of a run, set against copies over the channel.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dram_spec::{Cycles, LINE_BYTES};
use energy::{Counts, Prices};
use host::{Place, place};
use memctrl::Completion;
use memctrl::policy::copy::{BASELINE, CopyPolicy, explain, reason as reason_of};
use report::figures::by_cause;
use report::{Comparison, OperationRow};
use rowclone::{FPM, Mechanism, Operation, Part};

use crate::CliError;
use crate::experiment;
use crate::input::{Scenario, SystemConfig};

/// Channel copies on an idle memory, simulated once each.
pub(super) struct References<'a> {
    system: &'a SystemConfig,
    prices: &'a Prices,
    stop: &'a Arc<AtomicBool>,
    known: BTreeMap<String, (Cycles, f64)>,
}

impl<'a> References<'a> {
    /// Of a system; none simulated yet.
    pub(super) fn new(system: &'a SystemConfig, prices: &'a Prices, stop: &'a Arc<AtomicBool>) -> Self {
        References { system, prices, stop, known: BTreeMap::new() }
    }

    /// Latency and energy (nJ, above standby) of the operation over the channel.
    fn channel(&mut self, operation: Operation) -> Result<(Cycles, f64), CliError> {
        let key = operation.to_string();
        if let Some(known) = self.known.get(&key) {
            return Ok(*known);
        }
        let (completion, commands) = experiment::alone(self.system, self.prices, BASELINE, operation, self.stop)?;
        let latency = completion.latency();
        let energy = self.prices.operation(&commands).operation().nj();
        self.known.insert(key, (latency, energy));
        Ok((latency, energy))
    }

    /// Sets a latency and an energy against the channel's.
    fn compare(&mut self, channel: Operation, latency: Cycles, nj: f64) -> Result<Comparison, CliError> {
        let (channel_latency, channel_nj) = self.channel(channel)?;
        Ok(Comparison {
            latency_cycles: channel_latency.0,
            energy_nj: channel_nj,
            speedup: channel_latency.0 as f64 / latency.0 as f64,
            energy_ratio: channel_nj / nj,
        })
    }

    /// The pair in one bank that the published baseline copies; for a zeroing, itself.
    fn same_bank(&self, operation: Operation) -> Option<Operation> {
        match operation {
            Operation::Copy { dst, bytes, .. } => {
                let src = place(&self.system.planner, Place::SameBank, dst, bytes).ok()?;
                Some(Operation::Copy { src, dst, bytes })
            }
            Operation::Init { .. } => Some(operation),
            Operation::Read { .. } | Operation::Write { .. } => None,
        }
    }
}

/// How an operation went, and against what.
///
/// # Errors
/// The run was stopped.
pub(super) fn operation_row(
    label: String,
    scenario: &Scenario,
    prices: &Prices,
    policy: &'static dyn CopyPolicy,
    (completion, commands): (&Completion, &Counts),
    references: &mut References<'_>,
) -> Result<OperationRow, CliError> {
    let operation = completion.operation;
    let energy = prices.operation(commands);
    let (latency, nj) = (completion.latency(), energy.operation().nj());
    let compared = matches!(operation, Operation::Copy { .. } | Operation::Init { .. }) && latency.0 > 0;
    let same_pair = compared.then_some(operation);
    let same_bank = same_pair.and_then(|operation| references.same_bank(operation));
    let mut against =
        |channel: Option<Operation>| channel.map(|channel| references.compare(channel, latency, nj)).transpose();
    let (against_same_pair, against_same_bank) = (against(same_pair)?, against(same_bank)?);
    let (reasons, mend) = why(scenario, policy, completion);
    Ok(OperationRow {
        label,
        mechanism: experiment::mechanisms(completion),
        reasons,
        mend,
        arrival_cycle: completion.arrival.0,
        latency_cycles: latency.0,
        latency_ns: scenario.system.system.clock().ns(latency),
        energy_nj: nj,
        energy_by_cause_nj: by_cause(&energy),
        channel_bytes: (commands.reads + commands.writes) * LINE_BYTES,
        against_same_pair,
        against_same_bank,
    })
}

/// Why the parts of a copy or an initialisation were served as they were, and what the user could change so that FPM serves them: of each
/// mechanism and reason the first sentence, for parts differ in their numbers. Nothing of a read or a write.
fn why(scenario: &Scenario, policy: &'static dyn CopyPolicy, completion: &Completion) -> (Vec<String>, Vec<String>) {
    let (mut reasons, mut mend) = (BTreeMap::new(), BTreeMap::new());
    if matches!(completion.operation, Operation::Read { .. } | Operation::Write { .. }) {
        return (Vec::new(), Vec::new());
    }
    for block in scenario.system.planner.blocks(&completion.operation) {
        for part in block.parts() {
            for chosen in chosen(policy, part, completion) {
                let key = (Reverse(chosen), reason_of(policy, part, chosen));
                reasons.entry(key).or_insert_with(|| format!("{}: {}", chosen.name(), explain(policy, part, chosen)));
            }
            if policy.admits().contains(&FPM)
                && let Err(reason) = part.allows(FPM)
                && let Some(help) = reason.mend()
            {
                mend.entry(reason.name()).or_insert_with(|| format!("{reason}: {help}"));
            }
        }
    }
    (reasons.into_values().collect(), mend.into_values().collect())
}

/// What a part was given; of a policy that weighs, all that the tally of the operation leaves possible.
fn chosen(policy: &'static dyn CopyPolicy, part: &Part, completion: &Completion) -> Vec<Mechanism> {
    if !policy.weighs() {
        return vec![policy.preferred(part)];
    }
    let taken = completion.parts().0.keys().filter(|(mechanism, reason)| {
        part.allows(*mechanism).is_ok() && reason_of(policy, part, *mechanism) == *reason
    });
    taken.map(|(mechanism, _)| *mechanism).collect()
}
