//! What a recorded trace held, and what of it was played.

use host::ReplayOutcome;
use serde::Serialize;

/// What a recorded trace held.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceReport {
    /// The file, as the scenario names it.
    pub file: String,
    /// All records.
    pub records: u64,
    /// Records that were left out, in whole or in part.
    pub skipped_records: u64,
    /// The same as a share of all records, 0 to 1.
    pub skipped_share: f64,
    /// Records of reads and of writes.
    pub accesses: u64,
    /// Reads of lines played.
    pub reads: u64,
    /// Writes of lines played that are records of their own.
    pub writes: u64,
    /// Writebacks of lines played.
    pub writebacks: u64,
    /// Records of copies played.
    pub copies: u64,
    /// Records of zeroings and fills played.
    pub fills: u64,
    /// Lines of accesses left out: outside the memory.
    pub accesses_outside: u64,
    /// Lines of accesses left out: on a reserved row.
    pub accesses_reserved: u64,
    /// Copies and fills left out: outside the memory.
    pub skipped_outside: u64,
    /// Copies and fills left out: on a reserved row.
    pub skipped_reserved: u64,
    /// The first records left out, by line and reason.
    pub skipped: Vec<String>,
    /// What became of its pages, where an allocator placed them.
    pub pages: Option<TracePages>,
}

/// The records of a trace, as tables for programs give them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceTally {
    /// All records.
    pub records: u64,
    /// Records that were left out, in whole or in part.
    pub skipped_records: u64,
}

impl TraceReport {
    /// The report of a trace that was played.
    pub(crate) fn new(name: String, outcome: &ReplayOutcome) -> TraceReport {
        let ReplayOutcome { counts, pages } = outcome;
        let tally = TraceTally { records: counts.records, skipped_records: counts.skipped_records };
        TraceReport {
            file: name,
            records: tally.records,
            skipped_records: tally.skipped_records,
            skipped_share: tally.skipped_share(),
            accesses: counts.accesses,
            reads: counts.reads,
            writes: counts.writes,
            writebacks: counts.writebacks,
            copies: counts.copies,
            fills: counts.fills,
            accesses_outside: counts.accesses_outside,
            accesses_reserved: counts.accesses_reserved,
            skipped_outside: counts.skipped_outside,
            skipped_reserved: counts.skipped_reserved,
            skipped: counts.skipped.iter().map(|skipped| format!("line {}: {}", skipped.line, skipped.why)).collect(),
            pages: pages.as_ref().map(|pages| TracePages {
                appeared: pages.appeared,
                copied: pages.copied,
                filled: pages.filled,
                freed: pages.freed,
                copies_in_part: pages.copies_in_part,
                fills_in_part: pages.fills_in_part,
                fills_of_other_values: pages.fills_of_other_values,
            }),
        }
    }

    /// Its records.
    pub const fn tally(&self) -> TraceTally {
        TraceTally { records: self.records, skipped_records: self.skipped_records }
    }
}

impl TraceTally {
    /// The share of the records that were left out, 0 to 1.
    pub fn skipped_share(self) -> f64 {
        self.skipped_records as f64 / self.records.max(1) as f64
    }
}

/// What became of the pages of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TracePages {
    /// Frames handed out to pages at their first appearance, other than as a whole destination.
    pub appeared: u64,
    /// Frames handed out to destinations of copies.
    pub copied: u64,
    /// Frames handed out to destinations of fills.
    pub filled: u64,
    /// Frames freed: the earlier ones of destinations.
    pub freed: u64,
    /// Copies of parts of pages, and within one range: not in the allocator's tallies.
    pub copies_in_part: u64,
    /// Fills of parts of pages: not in the tallies.
    pub fills_in_part: u64,
    /// Fills of whole pages with another value than zero: not in the tallies.
    pub fills_of_other_values: u64,
}
