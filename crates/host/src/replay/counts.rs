//! What a trace held.

use rowclone::PlanError;

/// A record, or a half of one, that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Its line.
    pub line: u64,
    /// Why.
    pub why: PlanError,
}

/// What a trace held, and what of it was played.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceCounts {
    /// All records.
    pub records: u64,
    /// Records of which something was left out.
    pub skipped_records: u64,
    /// Records of reads and of writes.
    pub accesses: u64,
    /// Reads played: a line each, at most one per record.
    pub reads: u64,
    /// Writes played that are records of their own: a line each.
    pub writes: u64,
    /// Writebacks played: a line each, at most one per read.
    pub writebacks: u64,
    /// Copies played.
    pub copies: u64,
    /// Fills played.
    pub fills: u64,
    /// Lines of accesses left out because they lie outside the memory.
    pub accesses_outside: u64,
    /// Lines of accesses left out because they lie on a reserved row.
    pub accesses_reserved: u64,
    /// Copies and fills left out because they reach past the end of the memory.
    pub skipped_outside: u64,
    /// Copies and fills left out because they touch a reserved row.
    pub skipped_reserved: u64,
    /// The first few left out.
    pub skipped: Vec<Skipped>,
}

/// How many of those left out are named; all are counted.
const NAMED: usize = 5;

/// A record of one address, or one of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Access,
    Bulk,
}

impl TraceCounts {
    /// All that was left out: lines of accesses, copies and fills.
    pub(super) const fn left_out(&self) -> u64 {
        self.accesses_outside + self.accesses_reserved + self.skipped_outside + self.skipped_reserved
    }

    pub(super) fn skip(&mut self, line: u64, shape: Shape, why: PlanError) {
        let reserved = matches!(why, PlanError::Reserved { .. });
        let count = match (shape, reserved) {
            (Shape::Access, false) => &mut self.accesses_outside,
            (Shape::Access, true) => &mut self.accesses_reserved,
            (Shape::Bulk, false) => &mut self.skipped_outside,
            (Shape::Bulk, true) => &mut self.skipped_reserved,
        };
        *count += 1;
        if self.skipped.len() < NAMED {
            self.skipped.push(Skipped { line, why });
        }
    }
}
