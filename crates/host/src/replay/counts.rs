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
    /// `R` records; all records of the all-decimal format.
    pub accesses: u64,
    /// Reads played: a line each, at most one a record.
    pub reads: u64,
    /// Writebacks played: a line each, at most one a record.
    pub writebacks: u64,
    /// `C` records played.
    pub copies: u64,
    /// `S` records played.
    pub fills: u64,
    /// Reads and writebacks left out because they lie outside the memory.
    pub accesses_outside: u64,
    /// Reads and writebacks left out because they lie on a reserved row.
    pub accesses_reserved: u64,
    /// `C` and `S` records left out because they reach past the end of the memory.
    pub skipped_outside: u64,
    /// `C` and `S` records left out because they touch a reserved row.
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
