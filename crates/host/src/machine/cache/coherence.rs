//! Steps of coherence: lines are looked up, invalidated, written back, inserted and held.

use std::sync::Arc;

use super::super::counters::{CoherenceCounts, Purpose};
use super::super::settings::WritePolicy;
use super::Caches;
use super::latest::LatestLines;
use super::level::Way;
use super::line::{LineNumber, LineState, Removed};
use super::mshr::User;

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
    /// A line that the caches keep, because its data are on their way to an access.
    pub in_flight: Option<LineNumber>,
}

impl Invalidated {
    /// Asserts that no line was in flight.
    pub fn whole(self) -> Invalidated {
        assert!(self.in_flight.is_none(), "{:x?} is removed while its data are on their way", self.in_flight);
        self
    }

    /// Adds the counts to those of a core.
    pub const fn add_to(&self, counts: &mut CoherenceCounts) {
        counts.invalidated += self.lines;
        counts.written_back += self.written_back;
    }
}

impl Caches {
    fn find(&self, requester: usize, line: LineNumber) -> Option<(usize, Way)> {
        let level = self.level_of(requester);
        self.last_level[level].find(line).map(|way| (level, way))
    }

    /// State and data of a line of a requester's last-level cache, if the cache holds it. Data exist
    /// where contents are modeled.
    pub fn snoop(&self, requester: usize, line: LineNumber) -> Option<(LineState, Option<Arc<[u8]>>)> {
        let (level, way) = self.find(requester, line)?;
        let level = &self.last_level[level];
        Some((level.state(way), level.data(way)))
    }

    /// Whether a line is on its way to accesses of a requester, or held in its last-level cache.
    pub fn is_in_flight(&self, requester: usize, line: LineNumber) -> bool {
        let found = self.find(requester, line);
        found.is_some_and(|(level, way)| self.last_level[level].state(way).is_pending)
            || matches!(self.requesters[requester].mshrs.user(line), Some(User::Accesses(_)))
    }

    /// Writes a dirty line of a requester's last-level cache back on behalf of a purpose; the line becomes
    /// clean.
    pub fn clean(&mut self, requester: usize, line: LineNumber, purpose: Purpose) {
        let Some((level, way)) = self.find(requester, line) else { return };
        let level = &mut self.last_level[level];
        let dirty = level.state_mut(way).dirty.take();
        let removed = Removed { line, dirty, prefetched_for: None, is_copied: false, data: level.data(way) };
        self.write_back(requester, removed, Some(purpose));
    }

    /// Removes lines from caches, on behalf of a requester. Prefetches of them are dropped, and stores to
    /// them leave the write buffers.
    pub fn invalidate(
        &mut self,
        requester: usize,
        lines: impl Iterator<Item = (LineNumber, DirtyData)>,
        scope: Scope,
    ) -> Invalidated {
        let (mut done, own) = (Invalidated::default(), self.level_of(requester));
        let levels: Vec<usize> = (0..self.requesters.len()).map(|requester| self.level_of(requester)).collect();
        let is_concerned = |level: usize| match scope {
            Scope::Own => level == own,
            Scope::Others => level != own,
            Scope::All => true,
        };
        for (line, dirty_data) in lines {
            done.lookups += 1;
            self.flush(line);
            self.drop_prefetches(line, |requester| is_concerned(levels[requester]));
            for level in (0..self.last_level.len()).filter(|level| is_concerned(*level)) {
                let Some(way) = self.last_level[level].find(line) else { continue };
                if self.last_level[level].state(way).is_pending {
                    done.in_flight = Some(line);
                    continue;
                }
                let removed = self.remove(level, way).expect("the way holds the line");
                done.lines += 1;
                if let DirtyData::WrittenBack(purpose) = dirty_data {
                    done.written_back += u64::from(self.write_back(requester, removed, purpose));
                }
            }
        }
        done
    }

    /// Puts a line with its data into a requester's last-level cache; returns whether there was a place.
    pub fn insert(&mut self, requester: usize, line: LineNumber, dirty: Option<Purpose>, data: Option<&[u8]>) -> bool {
        let Some(way) = self.replace(requester, line, LineState { dirty, ..LineState::default() }) else {
            return false;
        };
        if let (Some(place), Some(data)) = (self.data_mut(requester, way), data) {
            place.copy_from_slice(data);
        }
        true
    }

    /// Puts a line that a program has written, and that no cache holds, into an empty place of a
    /// requester's last-level cache, if its set has one and the cache allocates lines of stores; returns
    /// the place.
    pub fn insert_in_empty(&mut self, requester: usize, line: LineNumber, purpose: Purpose) -> Option<Way> {
        let dirty = (self.write == WritePolicy::WriteBack).then_some(purpose);
        let level = self.level_of(requester);
        let level = &mut self.last_level[level];
        if level.find(line).is_some() || !level.allocates_stores() {
            return None;
        }
        let way = level.victim(line).filter(|&way| level.is_empty(way))?;
        level.insert(way, line, LineState { dirty, ..LineState::default() });
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
