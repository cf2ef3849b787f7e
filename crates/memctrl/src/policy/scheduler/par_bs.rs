//! Parallelism-aware batch scheduling.

use std::collections::BTreeMap;

use dram_spec::{BankIndex, Cycle, SourceId};

use super::{BySource, Changes, Key, Reads, RowState, Scheduler, Service, Setting};
use crate::access::{AccessKind, QueuedAccess, Stamp};

/// PAR-BS: serves reads in batches, and within a batch source by source, so that a source's reads
/// of several banks are served in parallel.
///
/// When no marked read is left, the oldest reads of each source in each bank are marked, up to
/// `marking_cap`. Sources are ranked by their largest number of marked reads in one bank, the
/// smallest first (the max rule), then by their total of marked reads, then by their number.
/// Priority: marked reads, then row hits, then the better rank, then age. Writes are ordered as
/// under FR-FCFS.
///
/// Source: Mutlu and Moscibroda, "Parallelism-Aware Batch Scheduling", ISCA 2008.
#[derive(Clone, Debug)]
pub struct ParBs {
    marking_cap: usize,
    marked: Vec<Stamp>,
    ranks: BySource<u64>,
}

impl ParBs {
    /// The paper's marking cap, in reads per source and bank.
    pub const DEFAULT: ParBs = ParBs::new(5);

    /// Creates the scheduler with a marking cap of at least one read.
    pub const fn new(marking_cap: usize) -> ParBs {
        ParBs { marking_cap, marked: Vec::new(), ranks: BySource::new() }
    }

    fn fields(is_marked: bool, is_hit: bool, rank: u64) -> Key {
        Key::EQUAL.first_if(is_marked).first_if(is_hit).rank(rank, u16::BITS)
    }

    fn begin_batch(&mut self, reads: Reads<'_>) {
        let mut marked: BTreeMap<(SourceId, BankIndex), usize> = BTreeMap::new();
        for read in reads.iter() {
            let count = marked.entry((read.source(), read.bank())).or_default();
            if *count < self.marking_cap {
                *count += 1;
                self.marked.push(read.stamp());
            }
        }
        let mut loads: BTreeMap<SourceId, (usize, usize)> = BTreeMap::new();
        for ((source, _), count) in marked {
            let (most, total) = loads.entry(source).or_default();
            *most = (*most).max(count);
            *total += count;
        }
        let mut order: Vec<_> = loads.into_iter().map(|(source, load)| (load, source)).collect();
        order.sort_unstable();
        self.ranks.0 = (0..).zip(order).map(|(rank, (_, source))| (source, rank)).collect();
    }
}

impl Scheduler for ParBs {
    fn name(&self) -> &'static str {
        "par-bs"
    }

    fn summary(&self) -> String {
        format!("par-bs, marking cap {}", self.marking_cap)
    }

    fn about(&self) -> &'static str {
        "PAR-BS (Mutlu and Moscibroda, ISCA 2008)"
    }

    fn settings(&self) -> &'static [Setting] {
        const { &[Setting::count("par_bs_marking_cap", (1, 4096), "reads per source and bank in a batch")] }
    }

    fn values(&self) -> Vec<u64> {
        vec![self.marking_cap as u64]
    }

    fn set_values(&mut self, values: &[u64]) {
        *self = ParBs::new(values[0] as usize);
    }

    fn key(&self, access: &QueuedAccess, row: RowState) -> Key {
        if access.kind() == AccessKind::Write {
            return ParBs::fields(true, row.is_hit, 0);
        }
        let is_marked = self.marked.contains(&access.stamp());
        // A source that arrived after the batch began has the last rank.
        let rank = self.ranks.get(access.source()).copied().unwrap_or(u64::MAX);
        ParBs::fields(is_marked, row.is_hit, rank)
    }

    fn copy_key(&self, _: SourceId) -> Key {
        ParBs::fields(true, false, 0)
    }

    fn serve(&mut self, service: &Service<'_>) -> Changes {
        if let Some(read) = service.completed_read() {
            self.marked.retain(|stamp| *stamp != read.stamp());
        }
        Changes::None
    }

    fn awaits_reads(&self) -> bool {
        self.marked.is_empty()
    }

    fn update(&mut self, _: Cycle, reads: Reads<'_>) -> Changes {
        if !self.marked.is_empty() || reads.is_empty() {
            return Changes::None;
        }
        self.begin_batch(reads);
        Changes::All
    }
}
