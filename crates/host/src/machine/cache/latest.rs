//! The lines of a range that a cache holds once a program has written the range.

use rustc_hash::FxHashMap;

use super::line::LineNumber;

/// The latest lines of a range that fit into an empty cache; they are added latest first.
#[derive(Debug)]
pub struct LatestLines {
    ways: usize,
    sets: u64,
    per_set: FxHashMap<u64, usize>,
    lines: Vec<LineNumber>,
}

impl LatestLines {
    /// No lines, for a cache of some sets.
    pub(super) fn new(sets: u64, ways: usize) -> LatestLines {
        LatestLines { ways, sets, per_set: FxHashMap::default(), lines: Vec::new() }
    }

    /// Whether no further line has a place.
    pub fn is_full(&self) -> bool {
        self.lines.len() as u64 == self.sets * self.ways as u64
    }

    /// Adds a line if it has a place.
    pub fn add(&mut self, line: LineNumber) {
        let used = self.per_set.entry(line.0 % self.sets).or_default();
        if *used < self.ways {
            *used += 1;
            self.lines.push(line);
        }
    }

    /// The lines, latest last.
    pub fn into_lines(self) -> impl Iterator<Item = LineNumber> {
        self.lines.into_iter().rev()
    }
}
