//! Steps of coherence: lines are looked up, invalidated, written back, inserted and held.

use dram_core::Line;

use super::super::counters::{CoherenceCounts, Purpose};
use super::Caches;
use super::latest::LatestLines;
use super::level::Way;
use super::line::{LineNumber, LineState, Removed, WriteBack};

/// Caches that a step concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Those of the requester.
    Own,
    /// Private caches of other requesters.
    Others,
    /// All.
    All,
}

/// What becomes of the data of a dirty line that is invalidated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirtyData {
    /// They are lost.
    Discarded,
    /// They are written back, on behalf of a purpose or else of the one that made the line dirty.
    WrittenBack(Option<Purpose>),
}

/// Counts of an invalidation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Invalidated {
    /// Lines looked up.
    pub lookups: u64,
    /// Lines that caches held.
    pub lines: u64,
    /// Lines written back.
    pub written_back: u64,
}

impl Invalidated {
    /// Adds the counts to those of a core.
    pub const fn add_to(&self, counts: &mut CoherenceCounts) {
        counts.invalidated += self.lines;
        counts.written_back += self.written_back;
    }
}

/// Result of an insertion.
#[derive(Debug)]
#[must_use = "a dirty line must be written to memory"]
pub enum Inserted {
    /// All lines of the set are in flight.
    Refused,
    /// The line has a place; the line that it replaces must be written to memory, if it was dirty.
    Replaced(Option<WriteBack>),
}

impl Caches {
    fn find(&self, requester: usize, line: LineNumber) -> Option<(usize, Way)> {
        let level = self.level_of(requester);
        self.last_level[level].find(line).map(|way| (level, way))
    }

    /// State and data of a line of a requester's last-level cache, if the cache holds it. Data exist
    /// where contents are modeled.
    pub fn snoop(&mut self, requester: usize, line: LineNumber) -> Option<(LineState, Option<Line>)> {
        let (level, way) = self.find(requester, line)?;
        let level = &mut self.last_level[level];
        Some((level.state(way), level.data_mut(way).copied()))
    }

    /// Whether a line is on its way to a requester, or held in its last-level cache.
    pub fn is_in_flight(&self, requester: usize, line: LineNumber) -> bool {
        let found = self.find(requester, line);
        found.is_some_and(|(level, way)| self.last_level[level].state(way).is_pending)
            || self.is_requested(requester, line)
    }

    /// Makes a dirty line of a requester's last-level cache clean; returns its write-back, which counts
    /// for a purpose.
    pub fn clean(&mut self, requester: usize, line: LineNumber, purpose: Purpose) -> Option<WriteBack> {
        let (level, way) = self.find(requester, line)?;
        let level = &mut self.last_level[level];
        let dirty = level.state_mut(way).dirty.take();
        let removed = Removed { line, dirty, data: level.data_mut(way).copied() };
        self.written_back(requester, Some(removed), Some(purpose))
    }

    /// Removes lines from caches, on behalf of a requester; returns the write-backs in the order of the
    /// lines.
    pub fn invalidate(
        &mut self,
        requester: usize,
        lines: impl Iterator<Item = (LineNumber, DirtyData)>,
        scope: Scope,
    ) -> (Invalidated, Vec<WriteBack>) {
        let (mut done, mut write_backs) = (Invalidated::default(), Vec::new());
        let own = self.level_of(requester);
        for (line, dirty_data) in lines {
            done.lookups += 1;
            for level in 0..self.last_level.len() {
                let is_concerned = match scope {
                    Scope::Own => level == own,
                    Scope::Others => level != own,
                    Scope::All => true,
                };
                let Some(way) = self.last_level[level].find(line).filter(|_| is_concerned) else { continue };
                let removed = self.remove(level, way);
                done.lines += 1;
                if let DirtyData::WrittenBack(purpose) = dirty_data {
                    write_backs.extend(self.written_back(requester, removed, purpose));
                }
            }
        }
        done.written_back = write_backs.len() as u64;
        (done, write_backs)
    }

    /// Puts a line with its data into a requester's last-level cache.
    pub fn insert(
        &mut self,
        requester: usize,
        line: LineNumber,
        dirty: Option<Purpose>,
        data: Option<Line>,
    ) -> Inserted {
        let state = LineState { is_pending: false, dirty };
        let Some((way, removed)) = self.replace(requester, line, state) else { return Inserted::Refused };
        if let (Some(place), Some(data)) = (self.data_mut(requester, way), data) {
            *place = data;
        }
        Inserted::Replaced(self.written_back(requester, removed, None))
    }

    /// Puts a dirty line that no cache holds into an empty place of a requester's last-level cache, if
    /// its set has one; returns the place.
    pub fn insert_in_empty(&mut self, requester: usize, line: LineNumber, dirty: Purpose) -> Option<Way> {
        let level = self.level_of(requester);
        let level = &mut self.last_level[level];
        if level.find(line).is_some() {
            return None;
        }
        let way = level.victim(line).filter(|&way| level.is_empty(way))?;
        level.insert(way, line, LineState { is_pending: false, dirty: Some(dirty) });
        Some(way)
    }

    /// No lines yet, of those that a requester's last-level cache holds after a program has written a
    /// range.
    pub fn latest_lines(&self) -> LatestLines {
        self.last_level[0].latest_lines()
    }

    /// Whether a line can be inserted beside others, which have not been inserted yet.
    pub fn has_room(&self, requester: usize, line: LineNumber, others: impl Iterator<Item = LineNumber>) -> bool {
        let level = &self.last_level[self.level_of(requester)];
        others.filter(|&other| level.share_set(other, line)).count() < level.places(line)
    }

    /// Sets whether a line of a requester's last-level cache, if it is there, must keep its place, as
    /// a line in flight.
    pub fn hold(&mut self, requester: usize, line: LineNumber, is_held: bool) {
        if let Some((level, way)) = self.find(requester, line) {
            self.last_level[level].state_mut(way).is_pending = is_held;
        }
    }
}
