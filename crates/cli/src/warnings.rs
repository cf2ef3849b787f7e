//! What to know about a run before believing its numbers.

use dram_spec::Cycle;

use crate::experiment::VariantRun;
use crate::input::{Scenario, Variant, Workload};

/// Of one run of a scenario, the most general first.
pub fn of_run(scenario: &Scenario, variant: Variant, run: &VariantRun) -> Vec<String> {
    let (currents, geometry) = (&scenario.system.currents, scenario.system.system.geometry);
    let mut warnings = Vec::new();
    if currents.density() != geometry.density() {
        warnings.push(format!(
            "the currents `{}` are of {} chips, and the system has {} chips: its energies are those of another part",
            currents.name(),
            currents.density(),
            geometry.density()
        ));
    }
    if run.stats.whole.requests == 0 && run.stats.end < Cycle::ZERO + scenario.warm_up {
        warnings.push("nothing was counted: the run was over before its warm-up was".to_string());
    } else if run.stats.whole.requests == 0 {
        warnings.push("nothing was played: the trace holds no record that this memory can take".to_string());
    }
    if matches!(scenario.workload, Workload::Trace(_)) {
        warnings.push(
            "no last-level cache is modelled: every recorded access, copy and zeroing goes to memory".to_string(),
        );
    }
    if run.dropped_activations > 0 {
        warnings.push(format!(
            "{}: {} copy activations were dropped by the chips",
            variant.label("/"),
            run.dropped_activations
        ));
    }
    warnings
}
