//! The adaptive per-thread least-attained-service scheduler.

use dram_spec::{Cycle, Cycles, SourceId};

use super::{BySource, Changes, Key, Others, Reads, RowState, Scheduler, Service, Setting};
use crate::access::{AccessKind, QueuedAccess, Stamp};

/// ATLAS: over long quanta, the source that has attained the least service is served first.
///
/// The service of a source is the bank time ([`super::bank_time`]) of the commands for its accesses and
/// copies, summed over the banks of all channels. At the end of a quantum, total = bias x total +
/// (1 - bias) x service of the quantum, rounded down to a cycle. Order of reads: those queued for
/// more than the threshold, then the smaller total of the source, then row hits, then the oldest.
/// Sources with equal totals are not distinguished. Writes are ordered as of a source without
/// service, and row commands of copies by their source.
///
/// Source: Kim et al., "ATLAS: A Scalable and High-Performance Scheduling Algorithm for Multiple
/// Memory Controllers", HPCA 2010.
#[derive(Clone, Debug)]
pub struct Atlas {
    quantum: Cycles,
    threshold: Cycles,
    bias: u64,
    /// Service of the present quantum on this channel, in cycles.
    service: BySource<u64>,
    /// Total at the end of the last quantum, in cycles.
    totals: BySource<u64>,
    /// Cycle up to which ages were compared with the threshold, and the next to do so.
    compared: Cycle,
    compare_next: Cycle,
}

impl Atlas {
    /// The paper's quantum of 10,000,000 core cycles and its threshold of 100,000, in memory clocks of the default
    /// machine, whose cores have 6 cycles per memory clock, and its weight of the total before a quantum.
    pub const DEFAULT: Atlas = Atlas::new(Cycles(1_666_667), Cycles(16_667), 875);

    /// Creates the scheduler with a quantum of at least one cycle, and a bias of at most 1000.
    pub const fn new(quantum: Cycles, threshold: Cycles, bias: u64) -> Atlas {
        Atlas {
            quantum,
            threshold,
            bias,
            service: BySource::new(),
            totals: BySource::new(),
            compared: Cycle::ZERO,
            compare_next: Cycle::ZERO,
        }
    }

    fn fields(is_over: bool, total: u64, is_hit: bool) -> Key {
        Key::EQUAL.first_if(is_over).rank(total, 62).first_if(is_hit)
    }

    fn total(&self, source: SourceId) -> u64 {
        self.totals.get(source).copied().unwrap_or(0)
    }

    /// First cycle in which an access has waited for more than the threshold.
    fn over_at(&self, stamp: Stamp) -> Cycle {
        stamp.cycle() + self.threshold + Cycles(1)
    }
}

impl Scheduler for Atlas {
    fn name(&self) -> &'static str {
        "atlas"
    }

    fn summary(&self) -> String {
        let Atlas { quantum, threshold, bias, .. } = self;
        format!("atlas, quantum {quantum} clocks, threshold {threshold} clocks, bias {bias}/1000")
    }

    fn about(&self) -> &'static str {
        "ATLAS (Kim et al., HPCA 2010)"
    }

    fn settings(&self) -> &'static [Setting] {
        const {
            &[
                Setting::clocks(
                    "atlas_quantum_cycles",
                    "clocks after which sources are ordered by their attained service; at least tRC + tRCD + 4 \
                        (10,000,000 core cycles at 6 per clock)",
                ),
                Setting::clocks(
                    "atlas_threshold_cycles",
                    "clocks of waiting after which a read goes before all others (100,000 core cycles at 6 per clock)",
                ),
                Setting::count(
                    "atlas_bias",
                    (0, 1000),
                    "thousandths of the total service that remain at the end of a quantum",
                ),
            ]
        }
    }

    fn values(&self) -> Vec<u64> {
        vec![self.quantum.0, self.threshold.0, self.bias]
    }

    fn set_values(&mut self, values: &[u64]) {
        *self = Atlas::new(Cycles(values[0]), Cycles(values[1]), values[2]);
    }

    fn key(&self, access: &QueuedAccess, row: RowState) -> Key {
        match access.kind() {
            AccessKind::Read => {
                let is_over = self.over_at(access.stamp()) <= self.compared;
                Atlas::fields(is_over, self.total(access.source()), row.is_hit)
            }
            AccessKind::Write => Atlas::fields(false, 0, row.is_hit),
        }
    }

    fn copy_key(&self, source: SourceId) -> Key {
        Atlas::fields(false, self.total(source), false)
    }

    fn serve(&mut self, service: &Service<'_>) -> Changes {
        *self.service.entry(service.source) += service.bank_time.0;
        Changes::None
    }

    fn update(&mut self, now: Cycle, reads: Reads<'_>) -> Changes {
        if now < self.compare_next {
            return Changes::None;
        }
        self.compared = now;
        let over = reads.iter().map(|read| self.over_at(read.stamp())).filter(|at| *at > now);
        // Later reads are queued after `now`.
        self.compare_next = over.min().unwrap_or(now + self.threshold + Cycles(1));
        Changes::All
    }

    fn next_update(&self) -> Cycle {
        self.compare_next
    }

    fn quantum(&self) -> Option<Cycles> {
        Some(self.quantum)
    }

    fn end_quantum(&mut self, mut others: Others<'_>) {
        for other in others.iter_mut::<Atlas>() {
            for (source, service) in other.service.0.drain(..) {
                *self.service.entry(source) += service;
            }
        }
        for (source, _) in &self.service.0 {
            self.totals.entry(*source);
        }
        for (source, total) in &mut self.totals.0 {
            let service = self.service.get(*source).copied().unwrap_or(0);
            *total = (self.bias * *total + (1000 - self.bias) * service) / 1000;
        }
        self.service.0.clear();
        for other in others.iter_mut::<Atlas>() {
            other.totals.clone_from(&self.totals);
        }
    }
}
