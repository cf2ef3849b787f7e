//! Speedup and energy ratio of a run against its reference.
//!
//! The reference of a run is the run of its requests under the policy `baseline`, with pages placed
//! by the reference allocator where an allocator places them. It does not depend on the allocator of
//! the run, so that the cost of an allocator shows in the ratios.

use os_alloc_sim::Policy;

use crate::Outcome;

/// The reference allocator unless another one is chosen: the one of Linux.
pub const REFERENCE_ALLOCATOR: Policy = Policy::Buddy;

/// Figures of a reference run, against which ratios are computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    latency_ns: f64,
    energy_nj: Option<f64>,
    /// Mean latencies of reads, copies and writes.
    mean_latencies_ns: [Option<f64>; 3],
    /// Latency in clocks and dynamic energy in nJ of each listed operation.
    operations: Vec<(u64, Option<f64>)>,
}

/// The value of the reference / this value; none where one of them is 0.
pub fn ratio(reference: f64, this: f64) -> Option<f64> {
    (reference > 0.0 && this > 0.0).then(|| reference / this)
}

/// As [`ratio`]; none without energies.
fn energy_ratio(reference: Option<f64>, this: Option<f64>) -> Option<f64> {
    ratio(reference?, this?)
}

impl Outcome {
    /// Figures of this run as a reference of other runs.
    pub fn reference(&self) -> Reference {
        let operations = self.operations.iter().map(|row| (row.latency_cycles, row.energy_nj));
        Reference {
            latency_ns: self.latency_ns,
            energy_nj: self.compared_energy_nj(),
            mean_latencies_ns: self.figures.mean_latencies_ns(),
            operations: operations.collect(),
        }
    }

    /// Sets all ratios of the run and of each listed operation; `reference` has the
    /// same requests on the same system.
    pub fn compare(&mut self, reference: &Reference) {
        self.speedup = ratio(reference.latency_ns, self.latency_ns);
        self.energy_ratio = energy_ratio(reference.energy_nj, self.compared_energy_nj());
        let means = self.figures.mean_latencies_ns();
        let of = |kind: usize| ratio(reference.mean_latencies_ns[kind]?, means[kind]?);
        (self.read_latency_ratio, self.copy_latency_ratio, self.write_latency_ratio) = (of(0), of(1), of(2));
        for (row, &(latency, energy)) in self.operations.iter_mut().zip(&reference.operations) {
            row.speedup = ratio(latency as f64, row.latency_cycles as f64);
            row.energy_ratio = energy_ratio(energy, row.energy_nj);
        }
    }
}

#[cfg(test)]
mod tests {
    use dram_spec::PhysicalAddress;
    use host::workload::{Fill, Fork, Gap, Settings};
    use host::{AllocatorSettings, OperationKind, OperationSpec, Place};
    use memctrl::policy::copy::BASELINE;
    use os_alloc_sim::CopyUnit;

    use super::*;
    use crate::{Experiment, Requests, SystemBuilder};

    #[test]
    fn the_paper_s_copy_is_compared_with_the_channel() {
        let system = SystemBuilder::default().build().unwrap();
        let spec =
            |kind, src| OperationSpec { kind, src, dst: PhysicalAddress(0x40_0000), bytes: 4096, value: 0, at: None };
        let specs = [spec(OperationKind::Copy, Some(Place::SameSubarray)), spec(OperationKind::Zero, None)];
        let of = || Experiment::operations(&system, specs).unwrap();
        let mut fast = of().run().unwrap();
        let slow = of().reference(REFERENCE_ALLOCATOR).run().unwrap();
        assert_eq!((fast.speedup, fast.energy_ratio, fast.operations[0].speedup), (None, None, None));
        fast.compare(&slow.reference());
        // 558 and 286 clocks over the channel, 48 each by FPM.
        assert_eq!(fast.operations[0].speedup, Some(558.0 / 48.0));
        assert_eq!(fast.operations[1].speedup, Some(286.0 / 48.0));
        assert_eq!(fast.speedup, Some((558.0 + 286.0) / 96.0));
        let energy = |outcome: &Outcome| outcome.figures.dynamic_energy_nj;
        assert_eq!(fast.energy_ratio, Some(energy(&slow).unwrap() / energy(&fast).unwrap()));
    }

    /// A child writes 16 of 64 pages. The reference has the frames of the reference allocator, whatever those of the
    /// run are.
    #[test]
    fn a_reference_has_pages_of_the_reference_allocator() {
        let system = SystemBuilder::default().build().unwrap();
        let fork = Fork { bytes: 64 << 12, pages: 16, fill: Fill::Before, gap: Gap::ZERO };
        let experiment = |policy| {
            let allocator = AllocatorSettings {
                policy,
                seed: 1,
                utilization: 0.0,
                fragmentation: 0.0,
                copy_unit: CopyUnit::RowSet,
            };
            Experiment::new(&system, Requests::Made { settings: Settings::new(fork), allocator: Some(allocator) })
        };
        let channel = |policy| experiment(policy).policy(BASELINE).run().unwrap().makespan_cycles;
        for (listed, reference) in [
            (Policy::SubarrayAware, Policy::Buddy),
            (Policy::Buddy, Policy::Buddy),
            (Policy::SubarrayAware, Policy::SubarrayAware),
        ] {
            let of = experiment(listed).reference(reference);
            assert_eq!(of.policy, BASELINE);
            assert_eq!(of.run().unwrap().makespan_cycles, channel(reference), "{listed:?}");
        }
        assert_ne!(channel(Policy::SubarrayAware), channel(Policy::Buddy), "the allocator has a cost of its own");
    }

    /// Reads of 60 and 40 ns, copies of 900 and 300 ns, writes of 70 and 10 ns: 1.5, 3 and 7.
    #[test]
    fn mean_latencies_of_a_kind_are_compared_with_their_kind() {
        let outcome = |[read, copy, write]: [f64; 3], latency_ns| {
            let mut outcome = Outcome { latency_ns, ..Outcome::default() };
            let figures = &mut outcome.figures;
            figures.read_latency_ns.mean = Some(read);
            figures.copy_latency_ns.mean = Some(copy);
            figures.write_latency_ns.mean = Some(write);
            outcome
        };
        let mut this = outcome([40.0, 300.0, 10.0], 50.0);
        this.compare(&outcome([60.0, 900.0, 70.0], 400.0).reference());
        assert_eq!((this.speedup, this.read_latency_ratio), (Some(8.0), Some(1.5)));
        assert_eq!((this.copy_latency_ratio, this.write_latency_ratio), (Some(3.0), Some(7.0)));
        this.compare(&Outcome::default().reference());
        assert_eq!((this.speedup, this.mean_latency_ratios()), (None, [None; 3]), "nothing to compare with");
    }

    #[test]
    fn there_is_no_ratio_of_nothing() {
        assert_eq!([ratio(0.0, 1.0), ratio(1.0, 0.0), ratio(0.0, 0.0)], [None; 3]);
        assert_eq!(ratio(3.0, 2.0), Some(1.5));
    }
}
