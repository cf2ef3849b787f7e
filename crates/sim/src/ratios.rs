//! Speedup and energy ratio of a run against the run of the baseline.

use crate::Outcome;

/// What ratios of other runs are computed against: the outcome of the same workload under the baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    latency_cycles: u64,
    energy_nj: f64,
    /// Latency in clocks and dynamic energy in nJ of each listed operation.
    operations: Vec<(u64, f64)>,
}

/// The baseline's value / this value; none where one of them is 0, so that there is nothing to compare.
pub fn ratio(baseline: f64, this: f64) -> Option<f64> {
    (baseline > 0.0 && this > 0.0).then(|| baseline / this)
}

impl Outcome {
    /// This outcome as a reference for those of other policies.
    pub fn reference(&self) -> Reference {
        let operations = self.operations.iter().map(|row| (row.latency_cycles, row.energy_nj));
        Reference {
            latency_cycles: self.latency_cycles,
            energy_nj: self.compared_energy_nj(),
            operations: operations.collect(),
        }
    }

    /// Sets speedup and energy ratio of the run and of each listed operation; `baseline` has the same workload on the same system.
    pub fn compare(&mut self, baseline: &Reference) {
        self.speedup = ratio(baseline.latency_cycles as f64, self.latency_cycles as f64);
        self.energy_ratio = ratio(baseline.energy_nj, self.compared_energy_nj());
        for (row, &(latency, energy)) in self.operations.iter_mut().zip(&baseline.operations) {
            row.speedup = ratio(latency as f64, row.latency_cycles as f64);
            row.energy_ratio = ratio(energy, row.energy_nj);
        }
    }
}

#[cfg(test)]
mod tests {
    use dram_spec::PhysicalAddress;
    use host::{Kind, OperationSpec, Place};
    use memctrl::policy::copy::BASELINE;

    use super::*;
    use crate::{Experiment, SystemBuilder};

    #[test]
    fn the_paper_s_copy_is_compared_with_the_channel() {
        let system = SystemBuilder::default().build().unwrap();
        let spec =
            |kind, src| OperationSpec { kind, src, dst: PhysicalAddress(0x40_0000), bytes: 4096, value: 0, at: None };
        let specs = [spec(Kind::Copy, Some(Place::SameSubarray)), spec(Kind::Zero, None)];
        let run = |policy| Experiment::operations(&system, specs).policy(policy).run().unwrap();
        let (mut fast, slow) = (run(memctrl::policy::copy::ROWCLONE), run(BASELINE));
        assert_eq!((fast.speedup, fast.energy_ratio, fast.operations[0].speedup), (None, None, None));
        fast.compare(&slow.reference());
        // 558 and 286 clocks over the channel, 48 each by FPM.
        assert_eq!(fast.operations[0].speedup, Some(558.0 / 48.0));
        assert_eq!(fast.operations[1].speedup, Some(286.0 / 48.0));
        assert_eq!(fast.speedup, Some((558.0 + 286.0) / 96.0));
        let energy = |outcome: &Outcome| outcome.figures.dynamic_energy_nj;
        assert_eq!(fast.energy_ratio, Some(energy(&slow) / energy(&fast)));
    }

    #[test]
    fn there_is_no_ratio_of_nothing() {
        assert_eq!([ratio(0.0, 1.0), ratio(1.0, 0.0), ratio(0.0, 0.0)], [None; 3]);
        assert_eq!(ratio(3.0, 2.0), Some(1.5));
    }
}
