//! Counts of a trace's records.

use super::arrivals::LateRecords;
use super::error::Unusable;

/// A record, or part of one, that was skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Line number.
    pub line: u64,
    /// Reason.
    pub why: Unusable,
}

/// Counts of a trace's records, played and skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceCounts {
    /// All records.
    pub records: u64,
    /// Records of which at least a part was skipped.
    pub skipped_records: u64,
    /// Records of reads or writes.
    pub accesses: u64,
    /// Reads played, one line each.
    pub reads: u64,
    /// Writes played that are separate records, one line each.
    pub writes: u64,
    /// Writebacks played, one line each; at most one per read.
    pub writebacks: u64,
    /// Copies played.
    pub copies: u64,
    /// Fills played.
    pub fills: u64,
    /// Events of the operating system. Their copies and zeroings count among the copies and fills.
    pub os_events: u64,
    /// Page faults among these events.
    pub page_faults: u64,
    /// Lines of accesses skipped because they lie outside the memory.
    pub accesses_outside: u64,
    /// Lines of accesses skipped because they lie in a reserved row.
    pub accesses_reserved: u64,
    /// Copies and fills skipped because they reach past the end of the memory.
    pub skipped_outside: u64,
    /// Copies and fills skipped because they cover a reserved row.
    pub skipped_reserved: u64,
    /// The first skipped records.
    pub skipped: Vec<Skipped>,
    /// Records whose time precedes that of an earlier record.
    pub late: LateRecords,
    /// Writes whose data the trace has. They are used if contents are modeled, else ignored.
    pub writes_with_data: u64,
}

/// Maximum number of skipped records that are listed. All are counted.
const NAMED: usize = 5;

/// Whether a record has one address or a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordShape {
    Access,
    Bulk,
}

impl TraceCounts {
    pub(super) fn skip(&mut self, line: u64, shape: RecordShape, why: Unusable) {
        let count = match (shape, why.is_reserved()) {
            (RecordShape::Access, false) => &mut self.accesses_outside,
            (RecordShape::Access, true) => &mut self.accesses_reserved,
            (RecordShape::Bulk, false) => &mut self.skipped_outside,
            (RecordShape::Bulk, true) => &mut self.skipped_reserved,
        };
        *count += 1;
        if self.skipped.len() < NAMED {
            self.skipped.push(Skipped { line, why });
        }
    }
}
